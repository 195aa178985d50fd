"""A parallelogram whose crank is driven along q = 2 t^2 [HYR, 3.2]: the torque that this takes is the output."""

import numpy as np
import pytest
from scipy.interpolate import PPoly

import varichain as vc
from lane import long_run, scaled
from varichain.mechanism import Inertia, Mechanism, Revolute

TORQUE = 1e-10
"""Suggested with the formula [N m]."""

BASE = -0.9
"""[rad] Direction of the base, which the torque does not depend on. Along the crank's zero direction the linkage would
be flat, and so singular, at the start; here it is flat at -0.9 and 2.24 rad, outside of the motion."""

LENGTH, MASS = 2.0, 1.0


def parallelogram(about_com, gravity):
    """Crank, coupler and rocker of equal length; the coupler stays parallel to the base."""
    m = Mechanism("parallelogram", gravity=(0, -gravity, 0))
    link = Inertia(MASS, (LENGTH / 2, 0, 0), (0.1 * about_com, about_com, about_com))
    m.add_link("crank", joint=Revolute("z", name="crank"), inertia=link)
    m.add_link("coupler", "crank", Revolute("z", name="knee"), at=(LENGTH, 0, 0), inertia=link)
    base = (LENGTH * np.cos(BASE), LENGTH * np.sin(BASE), 0)
    m.add_link("rocker", joint=Revolute("z", name="rocker"), at=base, inertia=link)
    m.connect("coupler", "rocker", Revolute("z"), at=(LENGTH, 0, 0), at_other=(LENGTH, 0, 0), name="pin")
    s = m.state()
    s["knee"].q = BASE
    return m, s


@pytest.mark.parametrize("about_com", [4 / 3, 1 / 3])
@pytest.mark.parametrize("gravity", scaled([0.0, 9.81], [9.81]))
@pytest.mark.parametrize("method", scaled(["rk4", "gbs"], ["gbs"]))
@long_run
def test_torque_of_the_drive(about_com, gravity, method):
    """tau = (2 (I + m L^2 / 4) + m L^2) a + 2 m g L cos(q): from 73.9 to 18.3 N m for the heavier links."""
    m, s = parallelogram(about_com, gravity)
    motion = vc.Motion({"crank": PPoly([[2.0], [0.0], [0.0]], [0.0, 1.0])})
    step = scaled(0.01, 0.1)
    epoch = vc.simulate(m, s, 1.0, motion=motion, method=method, step=step, sample=0.1).epochs[0]
    q = 2 * epoch.time**2
    inertia = 2 * (about_com + MASS * LENGTH**2 / 4) + MASS * LENGTH**2
    expected = 4 * inertia + 2 * MASS * gravity * LENGTH * np.cos(q)
    assert np.abs(epoch.joint("crank").q - q).max() < 1e-14
    assert np.abs(epoch.joint("rocker").q - q).max() < 1e-10
    assert np.abs(epoch.holding[:, 0] - expected).max() < TORQUE
    assert not epoch.holding[:, 1:].any()
