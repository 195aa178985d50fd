"""Mechanisms in motion for tests of the simulation: makers return (mechanism, state with its loops closed)."""

import numpy as np

import closed_zoo
import varichain as vc
from varichain.mechanism import Inertia, Mechanism, Revolute, Spherical

ASYMMETRIC = (0.2, 0.5, 0.6)
"""Principal moments of a body that is symmetric about no axis [kg m^2]."""


def pendulum(angle=1.0, rate=0.5):
    """A rod on a hinge; the angle is from the horizontal down."""
    m = Mechanism("pendulum")
    m.add_link("rod", joint=Revolute("y", name="pivot"), inertia=closed_zoo.bar(1.0))
    s = m.state()
    s["pivot"].q, s["pivot"].v = angle, rate
    return m, s


def spherical_pendulum():
    """A body that is symmetric about no axis, hung up by a ball joint, turning about all axes."""
    m = Mechanism("spherical pendulum")
    m.add_link("body", joint=Spherical(name="pivot"), inertia=Inertia(2.0, (0.1, -0.2, -0.6), ASYMMETRIC))
    s = m.state()
    s.v = (1.0, -2.0, 3.0)
    return m, s


def free_body():
    """A body in flight, symmetric about no axis; its frame lies beside its centre."""
    m = Mechanism("free body")
    m.add_link("body", parent=None, inertia=Inertia(2.0, (0.1, 0.2, -0.1), ASYMMETRIC))
    s = m.state()
    s["body"].orientation = (0.3, -0.5, 0.2)
    s.v = (1.0, 4.0, 0.5, 0.3, -0.2, 2.0)
    return m, s


def four_bar(rate=1.0):
    """A crank-rocker whose crank turns."""
    m, s = closed_zoo.four_bar()
    s["crank"].v = rate
    return m, vc.project(m, s)


def ball_loop():
    """Two bodies hung up between two points of the ground, ball joints at all three corners."""
    m = Mechanism("loop of balls")
    left = Inertia(1.0, (0.5, 0.05, 0), (0.02, 0.1, 0.11))
    right = Inertia(1.5, (0.5, 0, -0.04), (0.03, 0.12, 0.14))
    m.add_link("left", joint=Spherical(name="left pivot"), inertia=left)
    m.add_link("right", "left", Spherical(name="middle"), at=(1, 0, 0), inertia=right)
    s = m.state()
    s["left pivot"].orientation = (0, 0.7, 0)
    s["middle"].orientation = (0, -1.3, 0)
    m.connect("right", "ground", Spherical(), at=(1, 0, 0), state=s, name="right pivot")
    s.v = (1.0, -2.0, 0.5, -2.0, 1.0, 1.5)
    return m, vc.project(m, s)


def hanging_figure():
    """The figure of 16 freedoms in motion, with both hands on a bar."""
    m, s = closed_zoo.bar_figure()
    return m, closed_zoo.random_closed_state(np.random.default_rng(1), m, s, reach=0.02)


def falling_figure():
    """The figure of 40 freedoms in the air, limbs bent, turning as a whole."""
    m = vc.figures.human40(damping=False)
    s = m.state()
    for joint, bend in {
        "chest": (0.0, 0.3, 0.1),
        "left shoulder": (-0.9, -0.3, 0.0),
        "left hip": (-0.2, -1.0, 0.0),
    }.items():
        s[joint].orientation = bend
    s["right elbow"].q, s["right knee"].q = 0.9, 1.4
    s["pelvis"].v = (0.3, 1.8, 0.4, 0.0, 0.0, 0.0)
    return m, s


def distance(a, b):
    """Largest difference of two states of a structure, in coordinates [rad or m] and velocities."""
    return max(np.abs(a.difference(b)).max(), np.abs(a.v - b.v).max())
