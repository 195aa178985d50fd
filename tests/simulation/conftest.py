"""Which tests of whole runs plain Python is spared."""

from lane import long_run

# Reference problems and orders of convergence: thousands of steps, minutes in plain Python.
LONG = (
    *(
        "books",
        "closure",
        "conservation",
        "convergence",
        "determinism",
        "dropping_chain",
        "energy_account",
        "iftomm",
        "killed_runs",
    ),
    *("modelica", "resuming", "slider_crank", "tolerance"),
)


def pytest_collection_modifyitems(items):
    """Mark the long ones; the compiled lane runs them all."""
    for item in items:
        if item.path.stem.removeprefix("test_") in LONG and item.path.parent.name == "simulation":
            item.add_marker(long_run)
