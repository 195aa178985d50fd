"""Swing cones and twist ranges of balls that hold, slide and release."""

import math

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from moving import G, account, kinds, started

BEYOND = 1e-9  # [rad]


def top(swing=math.pi, twist=(-math.pi, math.pi), center=None, gravity=(0, 0, -G), com=(0, 0, -0.5)):
    """A rod that hangs from a ball, with its long axis along z."""
    limits = vc.SwingTwist(swing=swing, twist=twist, axis="z", **({} if center is None else {"center": center}))
    m = vc.Mechanism("top", gravity=gravity)
    rod = vc.Inertia.cylinder(1.0, radius=0.1, length=0.6, com=com)
    m.add_link("rod", joint=vc.Spherical(name="ball", limits=limits), inertia=rod)
    return m


def angles(m, trace):
    """Swing and twist (n, 2) at all samples."""
    limits = m.joint("ball").limits
    return np.array([limits.angles(q) for q in trace.joint("ball").q])


def tilted(angle, axis=(0, 1, 0)):
    """Quaternion of a tilt about an axis across z."""
    return (math.cos(angle / 2), *(math.sin(angle / 2) * np.array(axis)))


def test_a_rod_swings_up_to_its_cone():
    """A rod thrown up strikes its cone with the speed that energy gives it, falls back, and never gets beyond."""
    m = top(swing=0.8)
    s = started(m, v={"ball": (0, -4.0, 0)})
    trace = vc.simulate(m, s, 1.0, step=0.005)
    swing = angles(m, trace)[:, 0]
    assert swing.max() <= 0.8 + BEYOND
    entry = trace.log[0]
    inertia = 0.25 + (3 * 0.01 + 0.36) / 12
    left = 0.5 * inertia * 16.0 - G * 0.5 * (1 - math.cos(0.8))
    assert (entry["kind"], entry["joint"]) == ("limit reached", "ball.swing")
    assert entry["energy_lost"] == pytest.approx(left, abs=1e-6)
    assert np.abs(account(trace)).max() < 1e-6


def test_a_rod_runs_along_its_cone_as_it_must():
    """Pressed outward by its spin about the vertical, a rod runs round its cone with the analytic force and rate.

    With no gravity a symmetric rod that is held at the cone keeps its precession and its twist rate.
    """
    m = top(swing=0.6, gravity=(0, 0, 0))
    rate = 3.0  # about the vertical
    q = tilted(0.6)
    s = started(m, {"ball": q})
    R = vc.Pose(quaternion=q).R
    s["ball"].v = R.T @ np.array([0, 0, rate])
    trace = vc.simulate(m, s, 1.0, step=0.002, sample=0.01)
    swing = angles(m, trace)[:, 0]
    assert np.abs(swing - 0.6).max() < BEYOND
    ball = trace.joint("ball")
    v_world = np.array([vc.Pose(quaternion=q).R @ v for q, v in zip(ball.q, ball.v, strict=True)])
    assert np.abs(v_world - [0, 0, rate]).max() < 1e-8
    # moment of the cone: across the rod, (I_across - I_along) w^2 sin cos, minus nothing else
    across, along = 0.25 + (3 * 0.01 + 0.36) / 12, 0.5 * 0.01
    moment = (across - along) * rate**2 * math.sin(0.6) * math.cos(0.6)
    holding = np.linalg.norm(trace.epochs[0]["holding"], axis=1)
    assert holding == pytest.approx(np.full(len(holding), moment), abs=1e-7)
    # across the rod, in the link's axes: about y at the start
    assert np.abs(trace.epochs[0]["holding"][0]) == pytest.approx([0, moment, 0], abs=1e-9)


@long_run
def test_a_cone_lets_go_of_a_rod_that_slows_down():
    """A conical pendulum on its cone that is braked leaves it where gravity overcomes its spin."""
    m = top(swing=0.6)
    m.edit_joint("ball", damping=0.05)
    q = tilted(0.6)
    s = started(m, {"ball": q})
    s["ball"].v = vc.Pose(quaternion=q).R.T @ np.array([0, 0, 6.5])
    trace = vc.simulate(m, s, 4.0, step=0.004, sample=0.02)
    left = [entry for entry in trace.log if entry["kind"] == "limit left"]
    assert len(left) == 1 and left[0]["joint"] == "ball.swing"
    # where the moment of the cone is zero: (I_across - I_along) w^2 sin cos + I_along s w sin ... = m g l sin
    before = trace.time < left[0]["time"]
    swing = angles(m, trace)[:, 0]
    assert np.abs(swing[before] - 0.6).max() < BEYOND
    assert swing[-1] < 0.6
    assert swing.max() <= 0.6 + BEYOND


def test_a_twist_stops_at_its_range():
    """A rod that spins about its long axis stops at the end of its twist range, and its energy is lost."""
    m = top(twist=(-0.4, 0.7), gravity=(0, 0, 0), com=(0, 0, 0))
    trace = vc.simulate(m, started(m, v={"ball": (0, 0, 2.0)}), 1.0, step=0.01)
    entry = trace.log[0]
    assert (entry["kind"], entry["joint"]) == ("limit reached", "ball.twist")
    assert entry["time"] == pytest.approx(0.35, abs=1e-9)
    assert entry["energy_lost"] == pytest.approx(0.5 * 0.5 * 0.01 * 4.0, abs=1e-12)
    assert angles(m, trace)[-1, 1] == pytest.approx(0.7, abs=1e-12)
    assert np.abs(trace.final.v).max() < 1e-12


def test_swing_and_twist_hold_together():
    """A ball at its cone and at the end of its twist keeps one freedom: the way round the cone."""
    m = top(swing=0.5, twist=(-0.2, 0.2), gravity=(0, 0, 0))
    q = tilted(0.5)
    s = started(m, {"ball": q})
    s["ball"].v = vc.Pose(quaternion=q).R.T @ np.array([0, 0, 2.0])
    trace = vc.simulate(m, s, 1.5, step=0.005, sample=0.01)
    found = angles(m, trace)
    assert found[:, 0].max() <= 0.5 + BEYOND
    assert np.abs(found[:, 1]).max() <= 0.2 + BEYOND
    assert {entry["joint"] for entry in trace.log} >= {"ball.twist"}
    assert np.abs(account(trace)).max() < 1e-7


def test_limits_about_a_center():
    """A cone about a tilted center is the same cone, seen from there."""
    tilt = tilted(0.7, (1, 0, 0))
    straight, leaning = top(swing=0.4, gravity=(0, 0, 0)), top(swing=0.4, center=tilt, gravity=(0, 0, 0))
    v = (1.0, 0.5, 0.3)
    one = vc.simulate(straight, started(straight, v={"ball": v}), 1.0, step=0.01)
    other = vc.simulate(leaning, started(leaning, {"ball": tilt}, {"ball": v}), 1.0, step=0.01)
    assert angles(leaning, other) == pytest.approx(angles(straight, one), abs=1e-8)
    assert kinds(one) == kinds(other)
    assert kinds(one)[0] == "limit reached"


def test_soft_cones_push_back():
    """A soft cone lets a rod a little beyond and gives it back its energy if it has no damping."""
    m = top(swing=0.5, gravity=(0, 0, 0))
    s = started(m, v={"ball": (0, 2.0, 0)})
    soft = vc.SoftLimits(stiffness=2000.0, damping=0.0)
    trace = vc.simulate(m, s, 0.6, limits=soft, step=0.001)
    swing = angles(m, trace)[:, 0]
    inertia = 0.25 + (3 * 0.01 + 0.36) / 12
    assert swing.max() == pytest.approx(0.5 + 2.0 * math.sqrt(inertia / 2000.0), abs=1e-5)
    assert trace.final.v[1] == pytest.approx(-2.0, abs=1e-4)  # the spring sets in within a step
