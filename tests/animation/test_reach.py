"""Configurations in which functions have wanted values: reached, nearest, within limits, with closed loops."""

import itertools

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from animation.functions import planar_chain
from lane import long_run
from varichain import animation as an
from varichain.animation import reach


def chain_of_ten():
    """Ten links of 0.1 m, slightly bent, and the position of the tip."""
    m = planar_chain(10, length=0.1)
    s = m.state()
    s.q = 0.1 * np.ones(10)
    return (
        m,
        s,
        vc.AnimationSpace(m, {"tip": an.point("rod 10", (0.1, 0, 0))[:2], "first": an.coordinate("phi 1") ** 2}),
    )


def test_a_chain_reaches_a_point():
    """A chain of ten reaches a point, also with its first joint held by a square at zero."""
    _, s, space = chain_of_ten()
    found = reach(space, s, {"tip": [0.3, 0.5]})
    assert found.is_reached and found.distance < 1e-8
    assert np.allclose(space.value(found.state)[:2], [0.3, 0.5], atol=1e-8)
    held = reach(space, s, {"tip": [0.3, 0.5], "first": 0.0})
    assert held.is_reached and abs(held.state["phi 1"].q) < 1e-8
    kept = reach(space, s, {"tip": [0.3, 0.5]}, hold=["phi 1"])
    assert kept.is_reached and kept.state["phi 1"].q == s["phi 1"].q


def test_unreachable_points_have_a_nearest_configuration():
    """A point beyond reach is looked at by a straight chain, and the distance that is left is the true one."""
    _, s, space = chain_of_ten()
    target = np.array([0.9, 1.2])
    found = reach(space, s, {"tip": target})
    assert not found.is_reached
    assert np.linalg.norm(found.errors["tip"]) == pytest.approx(np.linalg.norm(target) - 1.0, abs=1e-6)
    assert np.abs(found.state.q[1:]).max() < 1e-3
    assert "not reached" in repr(found)


def test_limits_are_kept():
    """Joints stay in their ranges, where a target asks for more; bounds of functions are kept."""
    m, s, space = chain_of_ten()
    for joint in m.joints:
        m.edit_joint(joint.name, limits=(-0.2, 0.2))
    found = reach(space, s, {"tip": [0.2, 0.1]})
    assert not found.is_reached and not vc.limit_excess(m, found.state) and found.excess <= 1e-9
    far = reach(space, s, {"tip": [0.2, 0.1]}, limits=False)
    assert far.is_reached and vc.limit_excess(m, far.state)
    low = reach(space, s, {"tip": [0.9, 0.3]}, at_most={"first": 0.01})
    assert low.is_reached and abs(low.state["phi 1"].q) <= 0.1 + 1e-7


def figure_space(m):
    """Frames of hands, the centre of mass, the gaze and the posture of a figure."""
    return vc.AnimationSpace(
        m,
        {
            "left": an.point("left grip"),
            "right": an.point("right grip"),
            "feet": an.stack([an.point("left foot"), an.point("right foot")]),
            "balance": an.center_of_mass()[:2],
            "height": an.point("head")[2],
            "gaze": an.direction("head", "x"),
            "palm": an.rotation("left hand", seen_from=vc.Frame("ground", vc.Pose(rotation_vector=(0.3, 0, 0)))),
        },
    )


@long_run
def test_a_figure_reaches_with_its_limits():
    """A figure of 40 freedoms takes up a posture that hands, feet, balance and palm define; joints stay in range."""
    m = vc.figures.human40()
    s = m.state()
    space = figure_space(m)
    u = dict(zip(space.functions, (space.value(s)[where] for where in space.slices.values()), strict=True))
    targets = {
        "left": u["left"] + (0.25, 0.05, 0.3),
        "feet": u["feet"].reshape(2, 3),
        "balance": u["balance"] + (0.02, 0.01),
        "height": float(u["height"][0] - 0.1),
        "palm": np.zeros(3),
    }
    found = reach(space, s, targets, tries=3)
    assert found.is_reached, found
    assert not vc.limit_excess(m, found.state)


def test_loops_stay_closed():
    """A figure on a bar moves its torso as told, and its hands stay on the bar; a four-bar's point finds its angle."""
    m, s = closed_zoo.bar_figure()
    space = vc.AnimationSpace(m, {"torso": an.point("torso")})
    target = space.value(s) + np.array([0.03, -0.02, 0.04])
    found = reach(space, s, {"torso": target}, limits=False)
    assert found.is_reached
    assert max(loop.gap for loop in vc.loop_states(m, found.state).values()) < 1e-9
    m, s = closed_zoo.four_bar()
    space = vc.AnimationSpace(m, {"x": an.point("coupler")[0]})
    found = reach(space, s, {"x": space.value(s)[0] + 0.1})
    assert found.is_reached and max(one.gap for one in vc.loop_states(m, found.state).values()) < 1e-9


def test_errors_fall_monotonously():
    """Each step leaves the sum of squares smaller: more steps are never worse."""
    _, s, space = chain_of_ten()
    left = [np.linalg.norm(reach(space, s, {"tip": [2.0, 1.0]}, most_steps=n).errors["tip"]) for n in range(1, 15)]
    assert all(a >= b - 1e-15 for a, b in itertools.pairwise(left))


def test_same_start_same_result():
    """Reaching is deterministic, with random starts too."""
    _, s, space = chain_of_ten()
    one, two = (reach(space, s, {"tip": [1.5, 0.0]}, tries=3) for _ in range(2))
    assert np.array_equal(one.state.q, two.state.q) and one.tries == 3


@long_run
def test_other_starts_lead_out_of_dead_ends():
    """With narrow ranges some ways end at a limit: goals that one start misses are reached from others."""
    m = planar_chain(4)
    for joint in m.joints:
        m.edit_joint(joint.name, limits=(-1.2, 1.2))
    s, goal, rng = m.state(), m.state(), np.random.default_rng(0)
    s.q = np.full(4, 0.5)
    turn = sum(an.coordinate(joint.name) for joint in m.joints[1:])
    space = vc.AnimationSpace(m, {"tip": an.point("rod 4", (1, 0, 0))[:2], "turn": turn + an.coordinate("phi 1")})
    reached = {1: 0, 40: 0}
    for _ in range(30):
        goal.q = rng.uniform(-1.2, 1.2, 4)
        x, y, angle = space.value(goal)
        for tries in reached:
            found = reach(space, s, {"tip": [x, y], "turn": angle}, tries=tries)
            reached[tries] += found.is_reached
            assert not vc.limit_excess(m, found.state)
    assert reached[40] == 30 > reached[1]


REFUSED = {
    "an unknown function": (lambda space, s: reach(space, s, {"tap": 0.0}), vc.UnknownNameError, "tap"),
    "another shape": (lambda space, s: reach(space, s, {"tip": [0.0] * 3}), vc.InputError, "tip"),
    "nothing": (lambda space, s: reach(space, s, {}), vc.InputError, "at least one"),
    "importance of nothing": (
        lambda space, s: reach(space, s, {"tip": [0, 0]}, {"first": 1.0}),
        vc.InputError,
        "first",
    ),
    "bounds that contradict": (
        lambda space, s: reach(space, s, {"tip": [0, 0]}, at_least={"first": 1.0}, at_most={"first": 0.0}),
        vc.InputError,
        "at least 1 and at most 0",
    ),
    "an unknown joint": (lambda space, s: reach(space, s, {"tip": [0, 0]}, hold=["phi 99"]), vc.UnknownNameError, "99"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(what):
    """What cannot be meant is refused by name before anything moves."""
    _, s, space = chain_of_ten()
    call, error, words = REFUSED[what]
    with pytest.raises(error, match=words):
        call(space, s)
