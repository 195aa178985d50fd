"""What tests of kernels share."""

import pytest

from copies import copy_package


@pytest.fixture
def sources(tmp_path):
    """Folder with a copy of the package's sources, which may be edited."""
    return copy_package(tmp_path / "sources")
