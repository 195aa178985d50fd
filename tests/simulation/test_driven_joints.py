"""Joints that follow a motion: where they are, and the forces that it takes."""

import math

import numpy as np
import pytest
from scipy.interpolate import CubicSpline, PPoly

import varichain as vc
from closed_zoo import four_bar
from lane import long_run
from moving import account, rods, started

EXACT = 1e-9


def swing(t, size=0.5, rate=3.0):
    """A smooth motion."""
    return size * np.sin(rate * t)


def splined(f, end=3.0):
    """The spline of a function, on which a joint is driven, with the function's velocity at its start."""
    t = np.linspace(0.0, end, 200)
    slope = float(f(np.array([1e-5]))[0] - f(np.array([-1e-5]))[0]) / 2e-5
    return CubicSpline(t, f(t), bc_type=((1, slope), "not-a-knot"))


def on(motion, m, s=None):
    """State on a motion."""
    s = m.state() if s is None else s
    motion.set_state(m, s)
    return s


@long_run
def test_an_open_chain_is_driven_with_the_torques_of_inverse_dynamics():
    """Both joints of an arm follow their motion to the bit, and `holding` is what inverse dynamics gives."""
    m = rods(2)
    motion = vc.Motion({"0": splined(swing), "1": splined(lambda t: 0.3 - 0.3 * np.cos(2 * t))})
    trace = vc.simulate(m, on(motion, m), 1.0, motion=motion, step=0.01)
    for i in (0, 37, 100):
        s = trace.epochs[0].state(i)
        t = s.time
        assert (s["0"].q, s["1"].q) == (motion.q(t)["0"], motion.q(t)["1"])
        expected = vc.inverse_dynamics(m, s, motion.a(t)).tau
        assert trace.epochs[0]["holding"][i] == pytest.approx(expected, abs=EXACT)
    # rk4 integrates the power over pieces of a spline whose third derivative jumps: of order three
    coarse, fine = (
        np.abs(account(vc.simulate(m, on(motion, m), 1.0, motion=motion, method="rk4", step=step))).max()
        for step in (0.01, 0.002)
    )
    assert coarse < 1e-4 and fine < coarse / 25.0


@long_run
def test_a_driven_joint_carries_a_free_one():
    """With one joint driven, the other moves as forward dynamics says under the holding torque."""
    m = rods(2)
    motion = vc.Motion({"0": splined(swing)})
    trace = vc.simulate(m, on(motion, m), 1.0, motion=motion, step=0.01)
    for i in (1, 50, 100):
        s = trace.epochs[0].state(i)
        a = vc.forward_dynamics(m, s, trace.epochs[0]["holding"][i]).a
        assert a[0] == pytest.approx(float(motion.a(s.time)["0"]), abs=1e-7)
    assert trace.epochs[0]["holding"][:, 1] == pytest.approx(np.zeros(101), abs=0.0)


@long_run
def test_a_closed_chain_is_driven_by_one_crank():
    """A four-bar driven at its crank: loops stay closed, and the torque is that of inverse dynamics at the crank."""
    m, s = four_bar()
    crank = m.joints[0].name
    start = float(s[crank].q)
    motion = vc.Motion({crank: splined(lambda t: start + 0.4 * (1 - np.cos(2 * t)))})
    trace = vc.simulate(m, s, 1.0, motion=motion, step=0.005)
    assert trace.epochs[0].closure.max() < 1e-12
    for i in (10, 100, 200):
        s = trace.epochs[0].state(i)
        assert s[crank].q == motion.q(s.time)[crank]
        a = vc.forward_dynamics(m, s, trace.epochs[0]["holding"][i]).a
        assert a[0] == pytest.approx(float(motion.a(s.time)[crank]), abs=1e-6)
    assert np.abs(account(trace)).max() < 1e-6


def test_a_driven_ball_follows_its_rotation():
    """A ball driven along rotations has the moment that inverse dynamics gives, in the link's axes."""
    m = vc.Mechanism("arm")
    m.add_link("arm", joint=vc.Spherical(name="ball"), inertia=vc.Inertia.box(1.0, (0.2, 0.3, 0.6), com=(0, 0, -0.3)))
    turns = [[0, 0, 0], [0.3, 0.8, 0.1], [0.9, 0.4, -0.5], [0, 0, 0.3]]
    motion = vc.Motion.sampled([0.0, 0.4, 0.9, 1.5], {"ball": turns})
    trace = vc.simulate(m, on(motion, m), 1.2, motion=motion, step=0.01)
    for i in (0, 33, 119):
        s = trace.epochs[0].state(i)
        assert s["ball"].q == pytest.approx(motion.q(s.time)["ball"], abs=1e-15)
        expected = vc.inverse_dynamics(m, s, motion.a(s.time)).tau
        assert trace.epochs[0]["holding"][i] == pytest.approx(expected, abs=EXACT)


@long_run
def test_a_driven_base_shakes_what_it_carries():
    """A free base that is driven up and down shakes a pendulum on it: the wrench is that of inverse dynamics."""
    m = vc.Mechanism("shaker")
    m.add_link("base", parent=None, inertia=vc.Inertia.box(2.0, (0.5, 0.5, 0.1)))
    m.add_link("bob", "base", vc.Revolute("y", name="pivot"), inertia=vc.Inertia.sphere(1.0, 0.1, com=(0, 0, -0.5)))
    t = np.linspace(0, 3, 100)
    ride = CubicSpline(t, np.stack([0 * t, 0 * t, 0.2 * (1 - np.cos(3 * t))], axis=1))
    motion = vc.Motion({"base": ((1.0, 0, 0, 0), ride)})
    s = on(motion, m, started(m, {"pivot": 0.5}))
    trace = vc.simulate(m, s, 1.0, motion=motion, step=0.01)
    for i in (10, 77):
        s = trace.epochs[0].state(i)
        a = np.concatenate([motion.a(s.time)["base"], [0.0]])
        holding = trace.epochs[0]["holding"][i]
        a = vc.forward_dynamics(m, s, holding).a
        assert a[:6] == pytest.approx(motion.a(s.time)["base"], abs=1e-8)


def test_a_driven_joint_that_is_cut_is_free():
    """A driven joint that an event cuts is not driven any more: its link flies, the rest of the motion goes on."""
    m = rods(2)
    motion = vc.Motion({"0": splined(swing), "1": splined(lambda t: 0.3 - 0.3 * np.cos(2 * t))})
    trace = vc.simulate(m, on(motion, m), 0.8, motion=motion, events=[vc.at(0.4, vc.cut("1"))], step=0.01)
    first, second = trace.epochs
    state = second.state(-1)
    assert state["0"].q == motion.q(0.8)["0"]
    # a body in flight keeps its spin
    spin = first.v[-1].sum()
    assert state["rod 1"].v[1] == pytest.approx(spin, abs=1e-9)


def test_a_motion_that_begins_by_an_event_is_an_impact():
    """A joint that an event begins to drive jumps to the motion's velocity, and what it carries takes the blow."""
    m = rods(2)
    s = started(m, v={"0": 0.0})
    motion = vc.Motion({"0": splined(lambda t: swing(t - 0.2))})
    m.gravity = (0, 0, 0)
    trace = vc.simulate(m, s, 0.6, events=[vc.at(0.2, vc.use(motion=motion))], step=0.01)
    after = trace.epochs[1]
    assert after.v[0, 0] == pytest.approx(1.5, abs=1e-4)
    # no impulse acts on the second joint: its generalized momentum stays zero
    M = vc.mass_matrix(m, after.state(0))
    assert (M @ after.v[0])[1] == pytest.approx(0.0, abs=1e-12)
    assert trace.epochs[0].event["energy_lost"] < 0.0  # given by the drive


def test_a_motion_is_released_by_an_event():
    """A joint that is not driven any more goes on with its velocity."""
    m = rods(1)
    m.gravity = (0, 0, 0)
    motion = vc.Motion({"0": splined(swing)})
    trace = vc.simulate(m, on(motion, m), 1.0, motion=motion, events=[vc.at(0.3, vc.use(motion=None))], step=0.01)
    speed = float(motion.v(0.3)["0"])
    assert trace.final.v[0] == pytest.approx(speed, abs=1e-9)
    assert trace.final.q[0] == pytest.approx(float(motion.q(0.3)["0"]) + 0.7 * speed, abs=1e-9)


def test_limits_do_not_bind_a_driven_joint():
    """A driven joint goes where its motion says, its limits and its friction do not stop it."""
    m = rods(1, limits=(-0.1, 0.1), friction=1.0)
    motion = vc.Motion({"0": splined(swing)})
    trace = vc.simulate(m, on(motion, m), 1.0, motion=motion, step=0.01)
    assert trace.final.q[0] == motion.q(1.0)["0"]
    assert math.isclose(np.abs(trace.joint("0").q).max(), 0.5, abs_tol=1e-3)


@long_run
def test_two_drives_that_fight_through_a_loop_end_the_run():
    """Joints of a four-bar of one freedom driven apart are an error that names them, with the last good state."""
    m, s = four_bar()
    names = [joint.name for joint in m.joints]
    start = {name: float(s[name].q) for name in names}
    apart = {
        names[0]: PPoly(np.array([[10.0], [0.0], [0.0], [0.0], [start[names[0]]]]), np.array([0.0, 1.0])),  # 10 t^4
        names[1]: splined(lambda t: start[names[1]] + 0.0 * t),
        names[2]: splined(lambda t: start[names[2]] + 0.0 * t),
    }
    with pytest.raises(vc.SimulationError, match=r"loops cannot be kept closed after t = ") as caught:
        vc.simulate(m, s, 1.0, motion=vc.Motion(apart), step=0.01)
    assert f"driven are {', '.join(names)}; " in str(caught.value) and "locked" not in str(caught.value)
    assert caught.value.time < 0.1
    assert caught.value.trace.epochs[0].closure[-1] < 1e-9
    apart[names[0]] = splined(lambda t: start[names[0]] + 0.4 * (1 - np.cos(2 * t)))  # at once
    with pytest.raises(vc.SimulationError, match=r"at t = 0 s the loops cannot move on: driven are .*; drive fewer"):
        vc.simulate(m, s, 1.0, motion=vc.Motion(apart), step=0.01)
