"""Held joints: the user sets their coordinates and velocities, and the others follow."""

import numpy as np
import pytest

import varichain as vc
from linkages import moving, slider_crank, turned_to

ROUNDING = 1e-11


def test_project_keeps_what_is_held():
    """The crank keeps its velocity to the bit; the others are those that mobility derives from it."""
    m = slider_crank()
    s = turned_to(m, 1.0)
    s["crank"].v = 300.0
    assert abs(vc.project(m, s)["crank"].v - 300.0) > 10.0  # without hold, nearest in the metric of the masses
    held = vc.project(m, s, hold=["crank"])
    assert held["crank"].v == 300.0 and held["crank"].q == s["crank"].q
    np.testing.assert_allclose(held.v, moving(m, s, "crank", 300.0).v, atol=300 * ROUNDING)
    assert np.array_equal(vc.project(m, s, hold=(name for name in ("crank",))).v, held.v)  # any iterable of names
    assert s["rod"].v == 0.0  # the state given is not changed


def test_assemble_keeps_velocities_of_held_joints():
    """A crank that is held and moves: its velocity stays, and the others follow."""
    m = slider_crank()
    s = turned_to(m, 1.0)
    s["slider"].q += 0.05
    s["crank"].v = 2.0
    found = vc.assemble(m, s, hold=["crank"]).state
    assert (found["crank"].q, found["crank"].v) == (1.0, 2.0)
    np.testing.assert_allclose(found.v, moving(m, found, "crank", 2.0).v, atol=ROUNDING)
    assert vc.assemble(m, s).state["crank"].v == 2.0  # without hold, velocities are as they were


def test_held_joints_that_contradict_are_an_error():
    """Crank and slider cannot both be held at velocities that do not fit."""
    m = slider_crank()
    s = turned_to(m, 1.0)
    s["crank"].v, s["slider"].v = 1.0, 5.0
    with pytest.raises(vc.AssemblyError, match=r"velocities of the joints to hold .* 'pin' opens with .*hold fewer"):
        vc.project(m, s, hold=["crank", "slider"])
    with pytest.raises(vc.UnknownNameError, match="crnk"):
        vc.project(m, s, hold=["crnk"])
    with pytest.raises(vc.InputError, match="list of joint names"):
        vc.project(m, s, hold="crank")
