"""The walk: the figures of normal gait, feet that stand still while they bear, joints inside their limits."""

from math import degrees

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from scenario_checks import DRIFT, counts, place, worst_excess
from varichain import figures
from varichain.errors import InputError
from varichain.scenarios import summary, walk
from varichain.scenarios.gait import NORMAL, STAND, Gait
from varichain.scenarios.walk import add_toes

EXACT = 1e-12
"""Closed formulas."""

YIELDS = 1.5e-3
"""[m] that a leg may be shorter than planned where it is nearly straight: see `gait`."""

PLACED = 1e-9
"""[m] and [1]: toes stay where the joint angles at samples put them; there are ten closures to rounding."""

STEP, LENGTH, TOUCH = 0.54, 0.72, 3e-4
"""[s], [m] and [m]: of the scenario, and below what height a sole counts as on the floor."""

HALF = NORMAL.half
"""Steps from a heel's coming down to the change of weight."""

STEADY = range(3, 8)
"""Footprints in the middle of the walk."""


@pytest.fixture(scope="module")
def gait():
    """Of eight steps."""
    m = figures.human40()
    add_toes(m)
    return Gait(m, 8, LENGTH, STEP, 0.04)


def test_legs(gait):
    """The closed-form leg puts the foot where it is wanted, and turns its toes down as wanted."""
    m, s = gait.m, gait.m.state()
    for phase in (-0.5, 0.3, 2.2, 2.5, 3.1, 4.4, 5.0, 8.5):
        s["pelvis"].pose = m.link("pelvis").at.inverse() @ gait.pelvis(phase)
        for joint, value in gait.joints(phase).items():
            if np.ndim(value):
                s[joint].orientation = value
            else:
                s[joint].q = value
        for side in ("left", "right"):
            wanted, toes = gait.foot(side, phase)
            found = vc.pose(m, s, f"{side} foot")
            assert np.abs(found.p - wanted).max() < YIELDS
            assert np.abs(found.R - vc.Pose(rpy=(0.0, toes, 0.0)).R).max() < EXACT
            assert np.abs(vc.pose(m, s, f"{side} toes").R - np.eye(3)).max() < EXACT


@pytest.mark.parametrize("k", [2, 3])
def test_feet_move_smoothly(gait, k):
    """Where a foot comes down and where it goes up its path has no corner: velocities on both sides agree."""
    side = "right" if k % 2 else "left"
    for phase in (k - HALF, k + 1.0 + HALF):
        before, at, after = (np.append(*gait.foot(side, phase + d)) for d in (-1e-5, 0.0, 1e-5))
        assert np.abs((after - at) - (at - before)).max() < 1e-7  # [m], [rad]: accelerations times a step squared


def test_too_long_steps():
    """A step that the legs cannot make is refused, and so is a walk of less than three steps."""
    with pytest.raises(InputError, match="too long"):
        walk(length=1.1)
    with pytest.raises(InputError, match="'steps' must be from 3 to 100"):
        walk(steps=2)


@pytest.fixture(scope="module")
def trace():
    """The whole walk."""
    return walk().run()


@long_run
def test_ten_steps_without_drift(trace):
    """The toes of each of ten feet are fixed flat on the floor, a step length ahead, with next to no impact."""
    told = summary(walk(), trace)
    assert counts(told) == 11 * [(48, 42)]
    assert told["energy_drift"] < DRIFT
    start = {side: _toes(trace.epochs[0], 0, side) for side in ("left", "right")}
    for k, epoch in enumerate(trace.epochs[1:], start=1):
        side = "right" if k % 2 else "left"
        assert epoch.slots.loops == (f"{side} stance",)
        expected = start[side] + ((min(k, 9) - 0.5) * LENGTH, 0.0, 0.0)
        for i in (0, len(epoch) // 2, -1):
            assert np.abs(_toes(epoch, i, side) - expected).max() < YIELDS
            assert np.abs(_toes(epoch, i, side) - _toes(epoch, 0, side)).max() < PLACED  # still while it bears
        assert abs(trace.epochs[k - 1].event["energy_lost"]) < 0.1  # [J] of some seventy


def _toes(epoch, i, side):
    return vc.pose(epoch.mechanism, epoch.state(i), f"{side} toes").p


@long_run
def test_it_begins_and_ends_standing(trace):
    """At both ends the feet are side by side, nothing moves, and the pelvis is level above them."""
    for epoch, i in ((trace.epochs[0], 0), (trace.epochs[-1], -1)):
        left, right, heel, toe = (
            place(epoch, i, name) for name in ("left sole", "right sole", "left heel", "left toe")
        )
        pelvis = vc.pose(epoch.mechanism, epoch.state(i), "pelvis")
        assert abs(left[0] - right[0]) < YIELDS and abs(left[2]) < YIELDS and abs(right[2]) < YIELDS
        assert heel[0] < pelvis.p[0] < toe[0] and np.abs(pelvis.R - np.eye(3)).max() < YIELDS
        assert np.abs(epoch.state(i).v).max() < PLACED


@long_run
def test_figures_of_normal_gait(trace):
    """Bob, pelvic rotation and list, knee, arms and double support are those of normal gait [PERRY], [WINTER]."""
    times = np.arange(_time(STEADY[0]), _time(STEADY[-1]), 0.004)
    states = [(trace.epoch_at(t).mechanism, trace.at(t)) for t in times]
    pelvis = [vc.pose(m, s, "pelvis") for m, s in states]
    assert 0.03 < np.ptp([X.p[2] for X in pelvis]) < 0.05  # [m]
    turned = np.degrees([np.arctan2(X.R[1, 0], X.R[0, 0]) for X in pelvis])
    dropped = np.degrees([np.arcsin(X.R[2, 1]) for X in pelvis])
    assert all(4.0 < x < 8.0 for x in (turned.max(), -turned.min()))
    assert all(3.0 < x < 6.0 for x in (dropped.max(), -dropped.min()))
    for k in STEADY:
        landed = trace.at(_time(k - HALF))
        side = "right" if k % 2 else "left"
        assert 0.0 < degrees(landed[f"{side} knee"].q) < 5.0
    knees = np.degrees([s["left knee"].q for _, s in states])
    assert 55.0 < knees.max() < 72.0 and knees.min() > 0.0
    hands = [(vc.pose(m, s, "left grip").p - vc.pose(m, s, "left upper arm").p)[0] for m, s in states]
    assert min(hands) < -0.15 and max(hands) > 0.15  # [m]
    low = np.array([[_lowest(m, s, side) < TOUCH for side in ("left", "right")] for m, s in states])
    n_changes = len(STEADY) - 1
    share = low.all(axis=1).mean() * (times[-1] - times[0]) / (2.0 * STEP) / n_changes
    assert 0.10 < share < 0.12 and low.any(axis=1).all()


def _time(phase):
    return (phase + STAND) * STEP


def _lowest(m, s, side):
    """Height of the lower of heel and toe [m]."""
    return min(vc.pose(m, s, f"{side} {end}").p[2] for end in ("heel", "toe"))


@long_run
def test_walk_inside_limits(trace):
    """The gait is inside the limits of the joints, no foot goes through the floor, and the floor pushes."""
    assert worst_excess(trace) == 0.0
    weight = 70.0 * 9.81
    for epoch in trace.epochs:
        for side in ("left", "right"):
            for end in ("heel", "toe"):
                assert min(place(epoch, i, f"{side} {end}")[2] for i in range(len(epoch))) > -1e-3  # [m]
        up = epoch["loop_forces"][:, 0, 5]
        assert up.min() > 0.5 * weight and up.max() < 2.0 * weight
