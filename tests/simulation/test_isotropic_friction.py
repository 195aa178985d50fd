"""Dry friction against the whole angular velocity of a ball."""

import math

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

import varichain as vc
from lane import long_run
from moving import account, kinds

ROUNDING = 1e-12
LOCATED = 1e-9
STOPS = 1e-5  # [rad/s] at which a ball counts as at rest
I = 0.4 * 2.0 * 0.5**2  # [kg m^2] of a homogeneous sphere of 2 kg and 0.5 m


def ball(friction=0.6, inertia=None, gravity=(0, 0, 0), **options):
    """A sphere that turns about its centre."""
    m = vc.Mechanism("ball", gravity=gravity)
    joint = vc.Spherical(name="hip", friction=friction, is_isotropic=True, **options)
    m.add_link("sphere", joint=joint, inertia=inertia or vc.Inertia.sphere(2.0, 0.5))
    return m


def test_a_spinning_sphere_stops_after_its_angular_momentum_over_the_friction():
    """Friction slows a sphere down along its own axis, whichever that is, and it stays where it comes to rest."""
    m = ball()
    s = m.state()
    w = np.array([3.0, -2.0, 1.0])
    s["hip"].v = w
    speed = np.linalg.norm(w)
    stop = I * speed / 0.6
    trace = vc.simulate(m, s, 1.5 * stop, step=stop / 50)
    assert kinds(trace) == ["friction sticks"]
    assert trace.log[0]["time"] == pytest.approx(stop, abs=STOPS * I / 0.6 + LOCATED)
    assert trace.final.v.tolist() == [0.0, 0.0, 0.0]
    turned = Rotation.from_matrix(vc.pose(m, trace.final, "sphere").R).as_rotvec()
    np.testing.assert_allclose(turned, w * stop / 2.0, rtol=0.0, atol=1e-8)
    assert np.abs(account(trace)).max() < 0.5 * I * STOPS**2 + ROUNDING


def test_friction_per_freedom_is_another_law():
    """Friction in each freedom slows every component down at the same rate; isotropic friction keeps their ratio."""
    w = np.array([0.3, 0.0, 3.0])
    found = []
    for is_isotropic in (True, False):
        m = vc.Mechanism("ball", gravity=(0, 0, 0))
        joint = vc.Spherical(name="hip", friction=0.2, is_isotropic=is_isotropic)
        m.add_link("sphere", joint=joint, inertia=vc.Inertia.sphere(2.0, 0.5))
        s = m.state()
        s["hip"].v = w
        found.append(vc.simulate(m, s, 0.2, step=0.01).final.v)
    left = 1.0 - 0.2 * 0.2 / I / np.linalg.norm(w)
    np.testing.assert_allclose(found[0], left * w, rtol=0.0, atol=ROUNDING)
    np.testing.assert_allclose(found[1], [0.1, 0.0, 2.8], rtol=0.0, atol=ROUNDING)


@pytest.mark.parametrize("direction", [(1, 0, 0), (0.6, 0, 0.8), (1, 1, 1)])
def test_a_torque_below_the_friction_moves_nothing_and_one_above_does(direction):
    """A ball sticks up to the friction in any direction, and slips along the torque beyond it."""
    e = np.array(direction) / np.linalg.norm(direction)
    m = ball()
    stays = vc.simulate(m, m.state(), 0.5, controller=lambda m, s: {"hip": 0.59 * e}, step=0.05)
    assert (stays.final.v == 0.0).all()
    np.testing.assert_allclose(stays.epochs[0]["holding"][-1], -0.59 * e, rtol=0.0, atol=ROUNDING)
    slips = vc.simulate(m, m.state(), 0.5, controller=lambda m, s: {"hip": 0.9 * e}, step=0.05)
    np.testing.assert_allclose(slips.final.v, 0.3 / I * 0.5 * e, rtol=0.0, atol=ROUNDING)


def test_plain_dynamics_knows_isotropic_friction():
    """Outside of runs friction acts against the angular velocity with its whole magnitude, in trees and in loops."""
    m = ball()
    s = m.state()
    s["hip"].v = w = np.array([1.0, 2.0, -2.0])
    found = vc.forward_dynamics(m, s).a
    np.testing.assert_allclose(found, -0.6 / I * w / 3.0, rtol=0.0, atol=ROUNDING)
    twin = vc.Mechanism("loop", gravity=(0, 0, 0))
    twin.add_link("sphere", parent=None, inertia=vc.Inertia.sphere(2.0, 0.5))
    twin.connect("sphere", "ground", m.joint("hip"), at_other=(0, 0, 0))
    start = twin.state()
    start["sphere"].v = [*w, 0, 0, 0]
    np.testing.assert_allclose(vc.forward_dynamics(twin, start).a[:3], found, rtol=0.0, atol=ROUNDING)


@long_run
def test_a_swinging_ball_comes_to_rest_off_its_lowest_point():
    """A conical pendulum with isotropic friction loses its energy to it and sticks where gravity cannot turn it."""
    m = ball(friction=1.0, inertia=vc.Inertia.sphere(2.0, 0.1, com=(0, 0, -0.5)), gravity=(0, 0, -9.81))
    s = m.state()
    s["hip"].orientation = (0.5, 0.0, 0.0)
    s["hip"].v = (0.5, 2.0, 1.0)
    trace = vc.simulate(m, s, 6.0, step=0.001, sample=0.1)
    assert kinds(trace)[-1] == "friction sticks"
    assert (trace.final.v == 0.0).all()
    moment = np.linalg.norm(trace.epochs[-1]["holding"][-1])
    assert 0.0 < moment < 1.0
    tilt = math.acos(vc.pose(m, trace.final, "sphere").R[2, 2])
    assert moment == pytest.approx(2.0 * 9.81 * 0.5 * math.sin(tilt), abs=1e-9)
    # where the angular velocity turns round within a step its direction is not smooth: rk4 loses its order there
    assert np.abs(account(trace)).max() < 1e-6
