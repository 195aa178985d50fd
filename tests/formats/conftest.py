"""Which tests of robot files plain Python is spared."""

from lane import long_run


def pytest_collection_modifyitems(items):
    """Ninety robots with their mass matrices are for the compiled lane."""
    for item in items:
        if item.path.stem == "test_real_robots":
            item.add_marker(long_run)
