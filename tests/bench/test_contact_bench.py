"""Contact beside MuJoCo: both figures are the same one before they touch the floor."""

import numpy as np
import pytest

from lane import long_run
from varichain.bench.contact_costs import _falling, _mujoco, _ours


@long_run
@pytest.mark.parametrize("has_limits", [False, True])
def test_both_figures_fall_alike(has_limits):
    """Until it touches the floor, MuJoCo's figure is where ours is: shapes, masses and damping are the same."""
    m, s = _falling()
    ours, theirs = (way(m, s, 0.2, has_limits)() for way in (_ours, _mujoco))
    assert ours.shape == theirs.shape
    assert np.abs(ours - theirs).max() < 2e-3  # steps of 1 ms, semi-implicit there: g h t / 2 of 1 mm
