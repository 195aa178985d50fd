"""The walk."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from scenario_checks import DRIFT, counts, place, worst_excess
from varichain import figures
from varichain.errors import InputError
from varichain.scenarios import summary, walk
from varichain.scenarios.gait import Gait

EXACT = 1e-12
"""Closed formulas; arccosines of almost straight legs lose some digits."""

PLACED = 1e-9
"""[m] and [1]: feet come down where the joint angles at samples put them; there are ten closures to rounding."""


def test_legs():
    """The closed-form leg puts the foot where it is wanted, and turns its toes down as wanted."""
    m = figures.human40()
    gait, s = Gait(m, 4, 0.42, 0.5, 0.1), m.state()
    for phase in (0.0, 0.3, 0.5, 1.0, 1.7, 2.2, 4.0):
        s["pelvis"].pose = m.link("pelvis").at.inverse() @ vc.Pose(p=gait.pelvis(phase))
        for joint, value in gait.joints(phase).items():
            if np.ndim(value):
                s[joint].orientation = value
            else:
                s[joint].q = value
        for side in ("left", "right"):
            wanted, toes = gait.foot(side, phase)
            found = vc.pose(m, s, f"{side} foot")
            assert np.abs(found.p - wanted).max() < EXACT
            assert np.abs(found.R - vc.Pose(rpy=(0.0, toes, 0.0)).R).max() < EXACT


def test_phase():
    """The phase runs from 0 to the number of steps, and `time` is its inverse."""
    gait = Gait(figures.human40(), 5, 0.4, 0.5, 0.1)
    assert (gait.phase(0.0), gait.phase(gait.end), gait.phase(gait.end + 1.0)) == (0.0, 5.0, 5.0)
    for phase in (0.2, 1.0, 2.5, 3.0, 4.9):
        assert gait.phase(gait.time(phase)) == pytest.approx(phase, abs=1e-12)


def test_too_long_steps():
    """A step that the legs cannot make is refused."""
    with pytest.raises(InputError, match="too long"):
        walk(length=0.9)


@long_run
def test_ten_steps_without_drift():
    """Each of ten feet comes down flat on the floor, a step length ahead, with no blow, and the pelvis is upright."""
    scenario = walk()
    trace = scenario.run()
    told = summary(scenario, trace)
    assert counts(told) == 11 * [(46, 40)]
    assert told["energy_drift"] < DRIFT
    first = {side: place(trace.epochs[0], 0, f"{side} sole") for side in ("left", "right")}
    for k, epoch in enumerate(trace.epochs[1:], start=1):
        side = "right" if k % 2 else "left"
        assert epoch.slots.loops == (f"{side} stance",)
        expected = first[side] + ((k if side == "left" else k + 1) * 0.42, 0.0, 0.0)
        assert np.abs(place(epoch, 0, f"{side} sole") - expected).max() < PLACED
        sole = vc.pose(epoch.mechanism, epoch.state(0), *epoch.mechanism.frame(f"{side} sole"))
        assert np.abs(sole.R - np.eye(3)).max() < PLACED
        pelvis = vc.pose(epoch.mechanism, epoch.state(0), "pelvis")
        assert np.abs(pelvis.R - np.eye(3)).max() < PLACED
        assert pelvis.p[0] == pytest.approx((k - 0.5) * 0.42, abs=PLACED)
    assert np.abs(trace.final.v).max() < PLACED


@long_run
def test_walk_inside_limits():
    """The gait is inside the limits of the joints, no foot goes through the floor, and the ground pushes."""
    trace = walk().run()
    assert worst_excess(trace) == 0.0
    for epoch in trace.epochs:
        for side in ("left", "right"):
            for end in ("heel", "toe"):
                assert min(place(epoch, i, f"{side} {end}")[2] for i in range(len(epoch))) > -1e-3  # [m]
        assert epoch["loop_forces"][:, 0, 5].min() > 0.0
