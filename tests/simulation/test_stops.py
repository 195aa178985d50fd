"""Hard limits of one freedom: the blow, the rest, the release."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, account, kinds, pendulum, rods, slider, started

LOCATED = 1e-9  # [s]
BEYOND = 1e-11  # [rad or m]: what is located may be so far behind, at a few rad/s
METHODS = ["rk4", "rk45", "gbs"]


def swing_speed(angle, start):
    """Speed [rad/s] of a point pendulum of 1 m that was let go at an angle."""
    return math.sqrt(2 * G * (math.cos(angle) - math.cos(start)))


@pytest.mark.parametrize("method", METHODS)
def test_a_pendulum_strikes_its_stop(method):
    """A pendulum strikes its stop with the speed that energy gives it, stays, and loses just that energy."""
    m = pendulum(limits=(-0.2, math.pi))
    trace = vc.simulate(m, started(m, {"pivot": 1.0}), 1.5, method=method, step=0.01, tolerance=1e-11)
    entry = trace.log[0]
    speed = swing_speed(-0.2, 1.0)
    assert (entry["kind"], entry["joint"]) == ("limit reached", "pivot")
    assert entry["impulse"] == pytest.approx(speed, abs=1e-6)  # 1 kg m^2; rk4's error
    assert entry["energy_lost"] == pytest.approx(speed**2 / 2, abs=1e-6)
    q = trace.joint("pivot").q
    assert q.min() >= -0.2 - BEYOND


def test_a_joint_that_rests_at_its_stop_rests_exactly():
    """A block that falls onto its stop and is pressed against it has position and velocity to the bit from then on."""
    m = slider(limits=(-0.5, 1.0))
    trace = vc.simulate(m, m.state(), 1.0, step=0.05)
    after = trace.time > math.sqrt(1.0 / G)
    assert (trace.joint("rail").q[after] == -0.5).all()
    assert (trace.joint("rail").v[after] == 0.0).all()
    assert trace.epochs[0]["holding"][-1, 0] == pytest.approx(G, abs=1e-12)
    assert trace.log[0]["time"] == pytest.approx(math.sqrt(1.0 / G), abs=LOCATED)
    assert np.abs(account(trace)).max() < 1e-9


def test_a_joint_is_released_when_its_stop_would_have_to_pull():
    """A block pressed by a force that fades leaves its stop when the force turns, and moves as it must."""
    m = slider(gravity=(0, 0, 0), limits=(0.0, 10.0))
    fading = vc.Torques({"rail": fading_force()})
    trace = vc.simulate(m, m.state(), 1.0, controller=fading, step=0.05)
    entry = trace.log[0]
    assert (entry["kind"], entry["joint"]) == ("limit left", "rail")
    assert entry["time"] == pytest.approx(0.37, abs=LOCATED)
    assert trace.final.q[0] == pytest.approx(0.63**3 / 6, abs=1e-9)


def fading_force():
    """-0.37 N + t N/s."""
    from scipy.interpolate import PPoly

    return PPoly(np.array([[1.0], [-0.37]]), np.array([0.0, 10.0]))


def test_the_stop_of_a_pendulum_releases_it_on_the_way_back():
    """A pendulum held against a stop by a fading torque leaves it when gravity is stronger."""
    m = pendulum(limits=(-math.pi, 0.5))
    push = vc.Torques({"pivot": 6.0})
    trace = vc.simulate(m, started(m, {"pivot": 0.5}), 0.5, controller=push, step=0.01)
    assert (trace.joint("pivot").q == 0.5).all()  # 6 N m against G sin 0.5 = 4.7 N m
    released = vc.simulate(m, started(m, {"pivot": 0.5}), 0.5, step=0.01)
    free = pendulum()
    assert released.final.q == pytest.approx(vc.simulate(free, started(free, {"pivot": 0.5}), 0.5, step=0.01).final.q)


def test_a_joint_starts_at_its_stop_and_leaves_it():
    """A joint that starts at its stop with a velocity away from it goes as if there were none."""
    m = slider(limits=(0.0, 10.0))
    trace = vc.simulate(m, started(m, v={"rail": 2.0}), 0.2, step=0.05)
    assert trace.final.q[0] == pytest.approx(2.0 * 0.2 - G * 0.02, abs=1e-12)
    assert kinds(trace) == []


def test_a_joint_that_starts_into_its_stop_strikes_it_at_once():
    """A joint that starts at its stop with a velocity into it strikes before the first step."""
    m = slider(limits=(0.0, 10.0), gravity=(0, 0, 0))
    trace = vc.simulate(m, started(m, v={"rail": -2.0}), 0.2, step=0.05)
    assert trace.log[0]["time"] == 0.0
    assert trace.log[0]["energy_lost"] == pytest.approx(2.0, abs=1e-12)
    assert trace.final.q[0] == 0.0


def test_both_stops_of_a_joint():
    """A block thrown up a rail strikes the upper stop, falls, and strikes the lower one."""
    m = slider(limits=(0.0, 0.3))
    trace = vc.simulate(m, started(m, v={"rail": 3.0}), 1.0, step=0.05)
    up = (3.0 - math.sqrt(9.0 - 2 * G * 0.3)) / G
    assert [entry["kind"] for entry in trace.log] == ["limit reached", "limit reached"]
    times = [entry["time"] for entry in trace.log]
    assert times == pytest.approx([up, up + math.sqrt(0.6 / G)], abs=LOCATED)
    assert trace.joint("rail").q.max() <= 0.3 + BEYOND


@long_run
def test_a_limited_joint_of_a_chain():
    """A knee that strikes its stop takes the whole leg with it: the blow of vc.impact with that joint fixed."""
    m = rods(2)
    m.edit_joint("1", limits=(-3.0, 0.0))
    s = started(m, {"0": 0.3, "1": -1.0}, {"0": -1.0, "1": 2.0})
    trace = vc.simulate(m, s, 1.0, step=0.005, events=[vc.when(lambda m, s: float(s["1"].q), vc.stop(), direction=1)])
    struck = trace.log[0]
    t = struck["time"]
    # angular momentum about the pivot is kept by the blow
    before = vc.simulate(rods(2), s, t, method="gbs", tolerance=1e-12).final
    M = vc.mass_matrix(rods(2), before)
    momentum = (M @ before.v)[0]
    after = vc.simulate(m, s, t + 1e-9, step=0.005).final
    locked = M[0, 0]
    assert abs(after.v[1]) < 1e-7  # let go at once: it has had 1e-9 s to speed up
    assert after.v[0] == pytest.approx(momentum / locked, abs=1e-6)
    assert struck["energy_lost"] == pytest.approx(before.v @ M @ before.v / 2 - momentum**2 / locked / 2, abs=1e-6)


@long_run
def test_a_stop_inside_a_closed_loop():
    """A four-bar whose crank reaches its stop stands still at once, all of it, with its loop closed."""
    m = vc.Mechanism("four-bar")
    bar = lambda length: vc.Inertia.box(1.0, size=(length, 0.05, 0.05), com=(length / 2, 0, 0))  # noqa: E731
    m.add_link("crank", joint=vc.Revolute("y", name="crank", limits=(-math.pi, 0.3)), inertia=bar(0.5))
    m.add_link("coupler", "crank", vc.Revolute("y", name="elbow"), at=(0.5, 0, 0), inertia=bar(1.0))
    m.add_link("rocker", joint=vc.Revolute("y", name="rocker"), at=(1.0, 0, 0), inertia=bar(0.8))
    m.connect("coupler", "rocker", vc.Revolute("y"), at=(1.0, 0, 0), at_other=(0.8, 0, 0), name="pin")
    s = vc.assemble(m, started(m, {"crank": -1.2, "elbow": 0.9, "rocker": -1.4})).state
    trace = vc.simulate(m, s, 1.0, step=0.002)
    assert "limit reached" in kinds(trace)
    assert trace.epochs[0].closure.max() < 1e-12
    assert trace.joint("crank").q.max() <= 0.3 + BEYOND
    # gravity about +y turns the crank up to its stop, where it stays, and with it the loop of one freedom
    assert (trace.final.v[0] == 0.0) and np.abs(trace.final.v).max() < 1e-12
    assert np.abs(account(trace)).max() < 1e-6


def test_limits_that_are_off_are_not_there():
    """With limits off, a joint passes its limits."""
    m = slider(limits=(-0.1, 0.1))
    trace = vc.simulate(m, m.state(), 1.0, limits="off", step=0.05)
    assert trace.final.q[0] == pytest.approx(-G / 2, abs=1e-12)


def test_equal_limits_hold_a_joint():
    """A joint whose lower and upper limit are one does not move."""
    m = slider(limits=(0.0, 0.0))
    trace = vc.simulate(m, m.state(), 0.2, step=0.05)
    assert (trace.joint("rail").q == 0.0).all()
    assert trace.epochs[0]["holding"][-1, 0] == pytest.approx(G, abs=1e-12)
