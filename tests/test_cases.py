"""Tests of which not all cases are run each time."""

from pathlib import Path

import pytest

from cases import A_FEW, LONG_IN_PLAIN_PYTHON


@pytest.mark.parametrize("name", [*A_FEW, *LONG_IN_PLAIN_PYTHON])
def test_there_is_such_a_test(name):
    """Every entry names a test that there is; a few cases are at least one."""
    path, _, function = name.partition("::")
    assert f"def {function}(" in (Path(__file__).parent / path).read_text()
    assert A_FEW.get(name, 1) >= 1
