"""Dry friction that sticks: blocks on slopes, stick-slip, balls."""

import math

import numpy as np
import pytest
from scipy.interpolate import PPoly

import varichain as vc
from lane import long_run
from moving import G, account, kinds, slider, started

ROUNDING = 1e-12
LOCATED = 1e-9  # [s]


def slope(angle, friction, mass=1.0):
    """A block on a slope: a slider along x under gravity that is tilted; friction [N]."""
    pull = G * math.sin(angle)
    return slider("x", mass, gravity=(pull, 0, -G * math.cos(angle)), friction=friction)


def test_a_block_on_a_gentle_slope_sticks():
    """Below the angle of friction a block stays where it is, to the bit, and friction carries what pulls."""
    m = slope(0.3, friction=3.0)  # G sin 0.3 = 2.9 N
    trace = vc.simulate(m, m.state(), 1.0, step=0.1)
    assert (trace.joint("rail").q == 0.0).all()
    assert trace.epochs[0]["holding"][-1, 0] == pytest.approx(-G * math.sin(0.3), abs=ROUNDING)


def test_a_block_on_a_steep_slope_slides_as_it_must():
    """Above the angle of friction it slides from the start, with the rest of the force."""
    m = slope(0.32, friction=3.0)
    trace = vc.simulate(m, m.state(), 1.0, step=0.1)
    assert trace.final.q[0] == pytest.approx((G * math.sin(0.32) - 3.0) / 2, abs=ROUNDING)
    assert np.abs(account(trace)).max() < ROUNDING


@pytest.mark.parametrize("speed", [2.0, -2.0])
def test_a_sliding_block_stops_and_stays(speed):
    """A block sliding on a level rail stops at v^2 / 2 a, at the instant v / a, and stays there."""
    m = slider("x", friction=3.0)
    trace = vc.simulate(m, started(m, v={"rail": speed}), 1.5, step=0.1)
    entry = trace.log[0]
    assert (entry["kind"], entry["joint"]) == ("friction sticks", "rail")
    assert entry["time"] == pytest.approx(2.0 / 3.0, abs=LOCATED)
    after = trace.time > 0.67
    assert (trace.joint("rail").v[after] == 0.0).all()
    assert trace.final.q[0] == pytest.approx(speed * abs(speed) / 6.0, abs=LOCATED)
    assert trace.epochs[0]["work"][-1, 1] == pytest.approx(-2.0, abs=1e-8)


def test_a_block_thrown_up_a_slope_comes_back_or_stays():
    """Up a steep slope it turns round and slides back with less friction against gravity; up a gentle one it stays."""
    for angle, returns in ((0.6, True), (0.2, False)):
        m = slope(angle, friction=3.0)
        trace = vc.simulate(m, started(m, v={"rail": -3.0}), 1.5, step=0.1)
        pull = G * math.sin(angle)
        turn = 3.0 / (pull + 3.0)
        top = -4.5 / (pull + 3.0)
        expected = top + ((pull - 3.0) * (1.5 - turn) ** 2 / 2 if returns else 0.0)
        assert trace.final.q[0] == pytest.approx(expected, abs=1e-8)


@long_run
def test_stick_slip_of_a_block_on_a_spring():
    """A block drawn over a spring by a driven slide sticks until the spring pulls more than friction holds.

    The first slip comes at friction / (stiffness * speed). Half a period of the free oscillation later the block is
    twice as fast as the slide; after a whole one it just touches rest, and whether it sticks then is up to rounding.
    """
    k, friction, speed = 50.0, 4.0, 0.5
    m = vc.Mechanism("stick-slip", gravity=(0, 0, 0))
    m.add_link("drive", joint=vc.Prismatic("x", name="drive"), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("block", joint=vc.Prismatic("x", name="block", friction=friction), inertia=vc.Inertia.sphere(2.0, 0.1))
    pulling = vc.Motion({"drive": PPoly(np.array([[speed], [0.0]]), np.array([0.0, 10.0]))})

    @vc.Compiled
    def spring(t, q, v, tau):
        tau[1] += k * (q[0] - q[1])

    s = started(m, v={"drive": speed})
    first, w = friction / (k * speed), math.sqrt(k / 2.0)
    trace = vc.simulate(m, s, first + math.pi / w, motion=pulling, controller=spring, step=0.005)
    slips = [entry for entry in trace.log if entry["kind"] == "friction slips"]
    sticks = [entry for entry in trace.log if entry["kind"] == "friction sticks"]
    assert [entry["time"] for entry in slips] == pytest.approx([first], abs=LOCATED)
    assert [entry["time"] for entry in sticks] == [0.0]
    # x'' = w^2 (speed t' - x) from rest, t' counted from the slip: x = speed t' - speed sin(w t') / w
    assert trace.final["block"].q == pytest.approx(speed * math.pi / w, abs=1e-7)
    assert trace.final["block"].v == pytest.approx(2.0 * speed, abs=1e-7)


def test_friction_in_two_coupled_joints():
    """Of two blocks one on the other, the lower one sticks while the upper one slides, and the other way about."""
    for lower, upper, moving in ((20.0, 3.0, (False, True)), (3.0, 20.0, (True, False)), (20.0, 20.0, (False, False))):
        m = vc.Mechanism("stack", gravity=(0, 0, -G))
        m.add_link("sledge", joint=vc.Prismatic("x", name="low", friction=lower), inertia=vc.Inertia.sphere(2.0, 0.1))
        m.add_link("load", "sledge", vc.Prismatic("x", name="up", friction=upper), inertia=vc.Inertia.sphere(1.0, 0.1))
        trace = vc.simulate(m, m.state(), 0.5, forces=[vc.Force("load", force=(10.0, 0, 0))], step=0.05)
        q = trace.final.q
        assert tuple(q > 0.0) == moving
        expected = [0.5 * (10.0 - lower) / 3.0 * 0.25, 0.5 * (10.0 - upper) / 1.0 * 0.25]
        for found, x, moves in zip(q, expected, moving, strict=True):
            assert found == pytest.approx(x if moves else 0.0, abs=ROUNDING)
        assert np.abs(account(trace)).max() < ROUNDING


def test_friction_at_a_stop():
    """A sliding joint with friction strikes its stop, and stays there although little presses it."""
    m = slider("x", gravity=(0, 0, 0), friction=1.0, limits=(0.0, 1.0))
    trace = vc.simulate(m, started(m, {"rail": 0.5}, {"rail": 2.0}), 1.0, step=0.1)
    assert kinds(trace)[0] == "limit reached"
    assert trace.final.q[0] == 1.0
    speed = math.sqrt(4.0 - 1.0)
    assert trace.log[0]["energy_lost"] == pytest.approx(speed**2 / 2, abs=1e-9)


@long_run
def test_friction_of_a_ball_brings_it_to_rest():
    """A ball joint with dry friction in its three freedoms comes to rest and stays; friction took all its energy."""
    m = vc.Mechanism("ball", gravity=(0, 0, 0))
    m.add_link("arm", joint=vc.Spherical(name="ball", friction=0.2), inertia=vc.Inertia.box(1.0, size=(0.3, 0.4, 0.5)))
    trace = vc.simulate(m, started(m, v={"ball": (1.0, -2.0, 0.5)}), 2.0, step=0.01)
    assert (trace.final.v == 0.0).all()
    assert np.abs(account(trace)).max() < 1e-6
    assert trace.epochs[0]["work"][-1, 1] == pytest.approx(-trace.epochs[0]["energy"][0, 0], abs=1e-6)


@long_run
def test_friction_never_gives_energy():
    """A pendulum with friction loses energy from sample to sample until it hangs askew, held by friction."""
    m = vc.Mechanism("pendulum")
    bob = vc.Inertia.sphere(1.0, 0.1, com=(0, 0, -1.0))
    m.add_link("bob", joint=vc.Revolute("y", name="pivot", friction=0.5), inertia=bob)
    trace = vc.simulate(m, started(m, {"pivot": 1.0}), 15.0, step=0.01)
    energy = trace.epochs[0]["energy"].sum(axis=1)
    assert (np.diff(energy) < 1e-9).all()
    assert trace.final.v[0] == 0.0
    assert G * math.sin(abs(float(trace.final.q[0]))) <= 0.5
    assert np.abs(account(trace)).max() < 1e-6
