"""The two-legged walker: free to fall to all sides, it walks, in both engines."""

from itertools import pairwise

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from varichain.scenarios import walker
from varichain.scenarios.two_leg_walk import Walk
from varichain.scenarios.two_legs import STAND, angles, stand, turned, two_legged
from varichain.spatial.rotation import rotation_vector_from_matrix

pytestmark = long_run

FIRM = ("hard", "soft", "sandy", "rigid")


def upright(epoch):
    """Cosine of the largest tilt of the trunk from the vertical."""
    _, x, y, _ = epoch.q[:, :4].T
    return float((1.0 - 2.0 * (x * x + y * y)).min())


def has_fallen(epoch):
    """Whether the trunk was ever below 0.8 of its height at the start, or tilted by more than ten degrees."""
    return epoch.q[:, 6].min() < 0.8 * epoch.q[0, 6] or upright(epoch) < np.cos(np.radians(10.0))


def test_it_steps():
    """Two and a half seconds: left and right foot bear in turn, one is in the air, and the trunk goes ahead."""
    epoch = walker(legs=2).run(2.5).epochs[0]
    assert not has_fallen(epoch) and epoch.q[-1, 4] > 0.4 and abs(epoch.q[-1, 5]) < 0.1
    walking = epoch.time > 0.65
    left, right = (epoch.sinkage[walking][:, own].any(axis=1) for own in (slice(0, 4), slice(4, 8)))
    assert not (~left & ~right).any(), "it does not run"
    assert (left & ~right).mean() > 0.2 and (right & ~left).mean() > 0.2
    lifts = np.count_nonzero(np.diff(left.astype(int)) == -1) + np.count_nonzero(np.diff(right.astype(int)) == -1)
    assert lifts >= 4


@pytest.fixture(scope="module")
def traces():
    """Ten seconds on each ground but mud, in which it staggers: whether it falls there, the last digits decide."""
    return {ground: walker(legs=2, ground=ground).run() for ground in FIRM}


@pytest.mark.long
def test_ten_seconds_on_every_ground(traces):
    """Ten seconds without a fall, straight ahead, on hard, soft and sandy ground and on a rigid floor."""
    for trace in traces.values():
        epoch = trace.epochs[0]
        assert trace.outcome == "complete" and not has_fallen(epoch)
        assert epoch.q[-1, 4] > 2.0 and np.abs(epoch.q[:, 5]).max() < 0.2


@pytest.mark.long
def test_speed_and_sinkage(traces):
    """Speed falls and sinkage grows from hard to soft to sandy ground; rigid links are as fast within 3 %."""
    ways = {ground: trace.epochs[0].q[-1, 4] for ground, trace in traces.items()}
    assert all(later < earlier for earlier, later in pairwise(ways[ground] for ground in FIRM[:3]))
    depths = [traces[ground].epochs[0].sinkage for ground in FIRM[:3]]
    means = [depth[depth > 0.0].mean() for depth in depths]
    assert means[0] < 1e-4 and means == sorted(means)
    assert ways["rigid"] == pytest.approx(ways["hard"], rel=0.03)


@pytest.mark.long
@pytest.mark.parametrize(
    "change",
    [{"push": 3.0}, {"shock": 2.0}, {"drop": 0.3}, {"stride": 0.0}],
    ids=["push", "shock", "drop", "spot"],
)
def test_it_bears_shocks(change):
    """Pushed, with a foot knocked back, dropped, or on the spot, it does not fall in six seconds."""
    trace = walker(legs=2, **change).run(6.0)
    if "drop" in change:
        assert trace.epochs[0].q[:, 6].min() > 0.8 * STAND and upright(trace.epochs[0]) > 0.99
    else:
        assert not any(map(has_fallen, trace.epochs))


def test_soles_are_where_the_angles_say():
    """Angles of a leg put a level foot where it is wanted."""
    m = two_legged()
    s = stand(m, 0.0)
    goal = np.array([0.1, 0.05, -0.42])
    roll, pitch, knee, *ankle = angles(goal)
    s["left hip"].orientation = rotation_vector_from_matrix(turned(roll, pitch))
    s["left knee"].q, s["left ankle"].q = knee, ankle
    foot = vc.pose(m, s, "left foot")
    assert np.abs(foot.p - vc.pose(m, s, "left thigh").p - goal).max() < 1e-12
    assert np.abs(foot.R - np.eye(3)).max() < 1e-12


def test_torques_depend_on_time_and_state_alone():
    """The controller has no memory: asked in any order it answers alike."""
    m = two_legged()
    s = stand(m, 0.0)
    law, other = Walk(m, s, 0.12, 1.3, 0.05), Walk(m, s, 0.12, 1.3, 0.05)
    times = (0.1, 0.7, 1.1, 3.0)
    first = []
    for t in times:
        s.time = t
        first.append(law(m, s))
    for t, found in zip(reversed(times), reversed(first), strict=True):
        s.time = t
        again = other(m, s)
        assert all(np.array_equal(found[name], again[name]) for name in found)


def test_other_numbers_of_legs_are_refused():
    """Four legs or two."""
    with pytest.raises(vc.InputError, match="'legs' must be one of 4, 2, not 3"):
        walker(legs=3)
