"""The inchworm: its figure, its gait, its walks to goals, and the race."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import compiled_only
from varichain import figures
from varichain.scenarios import inchworm, race
from varichain.scenarios.worm_gait import Place, Worm
from varichain.scenarios.worm_walk import Walk

SPAN, STRIDE, RADIUS = 0.03, 0.012, 0.001


def standing(at=(0.0, 0.0), heading=0.0):
    """Worm and state, as an arch."""
    m = figures.inchworm()
    s = m.state()
    figures.arch_up(m, s, SPAN, at, heading)
    return Worm(m, "", SPAN, 0.004, (3, 7), 0.5), s


def test_figure_and_arch():
    """24 velocities; both ends lie flat on the ground, so far apart; freedoms as in the paper's count."""
    worm, s = standing((0.01, -0.02), 0.7)
    m = worm.model
    assert m.n_v == 24 and sum(link.inertia.mass for link in m.links) == pytest.approx(0.01)
    ends = [vc.pose(m, s, m.frame(name)) for name in ("rear", "front")]
    assert np.linalg.norm(ends[1].p - ends[0].p) == pytest.approx(SPAN, abs=1e-14)
    assert ends[0].p[2] == RADIUS and ends[1].p[2] == pytest.approx(RADIUS, abs=1e-14)
    assert ends[1].R[2, 0] == pytest.approx(0.0, abs=1e-14)
    assert worm.place(s, "front").heading == pytest.approx(0.7)
    m.connect("segment 1", "ground", vc.Fixed(), state=s)
    assert vc.mobility(m, s).n_independent == 18
    m.connect("segment 10", "ground", vc.Fixed(), state=s)
    assert vc.mobility(m, s).n_independent == 12


def test_refusals():
    """Arches that the segments are too short for, and numbers out of range."""
    with pytest.raises(vc.InputError, match="span must be from"):
        figures.arch(10, 0.005, 0.051)
    with pytest.raises(vc.InputError, match="segments"):
        figures.inchworm(3)
    with pytest.raises(vc.InputError, match="strides"):
        inchworm(strides=0)


@compiled_only
def test_planned_stride():
    """The ends of both phases are within 1e-5 m of where they shall be, the other end stays, and the shape returns."""
    worm, s = standing()
    front = worm.place(s, "front")
    ahead = worm.phase(s, "front", front.ahead(STRIDE), SPAN + STRIDE, steps=25)
    stretched = worm.state(ahead.states[-1])
    assert worm.place(stretched, "front").distance(SPAN + STRIDE, 0.0) < 1e-5
    assert worm.place(stretched, "rear").distance(0.0, 0.0) < 1e-12
    follows = worm.phase(stretched, "rear", Place(STRIDE, 0.0, 0.0), SPAN, steps=25)
    end = worm.state(follows.states[-1])
    assert worm.place(end, "rear").distance(STRIDE, 0.0) < 1e-5
    assert np.abs(end.q[7:] - s.q[7:]).max() < 1e-3
    heights = [vc.pose(worm.model, worm.state(one), f"segment {k}").p[2] for one in ahead.states for k in range(1, 11)]
    assert min(heights) > RADIUS - 1e-6


def walked(goal, obstacles=(), most=40):
    """Places of the front that the planner takes, as if each stride succeeded."""
    worm, s = standing()
    walk = Walk(worm, [goal], [0.006, 0.009, STRIDE], obstacles, tolerance=1e-3)
    for _ in range(most):
        if worm.place(s, "front").distance(*goal) < 1e-3:
            return walk.taken
        place = walk.best(s)
        walk.taken.append(place)
        rear = place.ahead(-SPAN)
        figures.arch_up(worm.model, s, SPAN, (rear.x, rear.y), rear.heading)
    raise AssertionError(f"{goal} is not reached: {walk.taken[-3:]}")


@compiled_only
@pytest.mark.parametrize("n", [4, pytest.param(20, marks=pytest.mark.long)])
def test_goals_in_all_directions(n):
    """Random goals around the worm, most of them beside or behind it, are reached within 2 mm."""
    random = np.random.default_rng(0)
    for _ in range(n):
        angle, distance = random.uniform(-math.pi, math.pi), random.uniform(0.05, 0.15)
        goal = (distance * math.cos(angle), distance * math.sin(angle))
        assert walked(goal)[-1].distance(*goal) < 2e-3


@compiled_only
def test_obstacles_are_gone_around():
    """A disc between worm and goal is never touched; discs on all sides are an error."""
    x, y, radius = 0.075, 0.0, 0.006
    taken = walked((0.12, 0.0), [(x, y, radius)])
    assert all(place.distance(x, y) > radius + 2 * RADIUS for place in taken)
    worm, s = standing()
    ring = [(0.045 * math.cos(a) + SPAN, 0.045 * math.sin(a), 0.04) for a in np.linspace(-2, 2, 5)]
    with pytest.raises(vc.InputError, match="stuck"):
        Walk(worm, [(0.2, 0.0)], [STRIDE], ring).best(s)


@compiled_only
def test_a_run_follows_the_plan():
    """A stride by torque functions and springs: ends within 1e-5 m, loops within 1e-9, nothing below ground."""
    scenario = inchworm(strides=1)
    trace = scenario.run()
    assert [len(epoch.mechanism.virtual_links) for epoch in trace.epochs] == [1, 1, 1]
    m = trace.epochs[-1].mechanism
    front = vc.pose(m, trace.final, m.frame("front")).p
    assert front == pytest.approx((SPAN + STRIDE, 0.0, RADIUS), abs=1e-5)
    assert max(epoch.closure.max() for epoch in trace.epochs) < 1e-9
    for epoch in trace.epochs:
        for i in range(0, len(epoch), 10):
            heights = [vc.pose(epoch.mechanism, epoch.state(i), f"segment {k}").p[2] for k in range(1, 11)]
            assert min(heights) > RADIUS - 1e-5
    assert trace.energy_error < 1e-4
    again = scenario.run()
    assert np.array_equal(again.final.q, trace.final.q)


@compiled_only
@pytest.mark.parametrize("options", [{"heavier": 0.2}, {"push": 0.1}])
def test_what_the_plan_does_not_know(options):
    """20 % more mass, or a tenth of the weight sideways, and the front comes to the goal within 2 mm."""
    trace = inchworm(goal_x=0.042, strides=3, **options).run()
    assert trace.outcome == "stopped" and trace.message == "all worms are there"
    m = trace.epochs[-1].mechanism
    assert np.hypot(*(vc.pose(m, trace.final, m.frame("front")).p[:2] - (0.042, 0.0))) < 2e-3


@pytest.mark.long
@compiled_only
def test_race():
    """Three worms stride at the same time, and each has gone its own way."""
    trace = race(strides=1).run()
    u = trace.epochs[-1].u[-1].reshape(3, 2)
    assert u[:, 0] == pytest.approx((0.012, 0.0104, 0.00864), abs=2e-5)
    assert u[:, 1] == pytest.approx((0.03, 0.0, -0.03), abs=2e-5)


@pytest.mark.long
@compiled_only
def test_ten_strides():
    """Ten strides with an accurate method: the books balance to 1e-6, ends are in place, the shape returns."""
    trace = inchworm(goal_x=1.0, strides=10).run(method="rk45", step=5e-3, tolerance=1e-8)
    assert trace.energy_error < 1e-6
    m, s = trace.epochs[-1].mechanism, trace.final
    assert vc.pose(m, s, m.frame("front")).p == pytest.approx((0.15, 0.0, RADIUS), abs=1e-5)
    assert np.abs(s.q[7:] - trace.epochs[0].state(0).q[7:]).max() < 1e-3
