"""Limits that cannot be simulated are refused before the run, by name."""

import math

import pytest

import varichain as vc
from moving import slider, started


def test_a_start_outside_hard_limits_is_refused():
    """A state beyond a limit is a LimitError that tells how far, and begins where limits are soft or off."""
    m = slider(limits=(-0.1, 0.1))
    s = started(m, {"rail": 0.25})
    with pytest.raises(vc.LimitError, match=r"rail by 0.15") as caught:
        vc.simulate(m, s, 1.0)
    assert caught.value.excess["rail"] == pytest.approx(0.15)
    for limits in ("soft", "off"):
        vc.simulate(m, s, 0.1, limits=limits, step=0.05)


def test_a_start_a_rounding_outside_is_at_the_limit():
    """A state that is beyond a limit by less than 1e-9 counts as at it."""
    m = slider(limits=(0.0, 1.0))
    trace = vc.simulate(m, started(m, {"rail": -5e-10}), 0.1, step=0.05)
    assert trace.final.q[0] == 0.0


@pytest.mark.parametrize("limits", ["hard ", None, 3.0, {"stiffness": 1.0}])
def test_unknown_limits_are_refused(limits):
    """limits must be one of the words or SoftLimits."""
    m = slider()
    with pytest.raises(vc.InputError, match=r"limits must be 'hard', 'soft', 'off'"):
        vc.simulate(m, m.state(), 1.0, limits=limits)


@pytest.mark.parametrize("numbers", [(0.0, 1.0), (-1.0, 1.0), (1.0, -1.0), (math.nan, 1.0), (1.0, math.inf)])
def test_impossible_soft_limits_are_refused(numbers):
    """Stiffness must be positive, damping not negative, both finite."""
    with pytest.raises(vc.InputError, match=r"SoftLimits"):
        vc.SoftLimits(*numbers)


def test_a_cone_without_width_is_refused():
    """A swing of zero has no direction to push along."""
    m = vc.Mechanism("ball")
    joint = vc.Spherical(name="hip", limits=vc.SwingTwist(swing=1e-6))
    m.add_link("thigh", joint=joint, inertia=vc.Inertia.sphere(1.0, 0.1))
    with pytest.raises(vc.InputError, match=r"cannot be simulated; use a revolute"):
        vc.simulate(m, m.state(), 1.0)
