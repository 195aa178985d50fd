"""Small mechanisms and problems for tests of optimised motions."""

import numpy as np

import varichain as vc
from varichain.optimise.preparing import prepare


def block(mass=2.0):
    """A block on a slide."""
    m = vc.Mechanism("block")
    m.add_link("block", joint=vc.Prismatic("x", name="slide"), inertia=vc.Inertia.box(mass, size=(0.1, 0.1, 0.1)))
    return m


def cart_pole():
    """Cart of 1 kg with a point of 0.3 kg on a pole of 0.5 m, as in [Kelly 2017, 6]."""
    m = vc.Mechanism("cart-pole")
    cart = vc.Inertia.box(1.0, size=(0.2, 0.2, 0.2))
    m.add_link("cart", joint=vc.Prismatic("x", name="track", limits=(-2, 2)), inertia=cart)
    pole = vc.Inertia(0.3, (0, 0, -0.5), np.zeros((3, 3)))
    m.add_link("pole", "cart", vc.Revolute("-y", name="pivot", actuated=False), inertia=pole)
    return m


def swing_up(intervals):
    """The swing-up of [Kelly 2017, 6], in 2 s."""
    end = {"track": 1.0, "pivot": np.pi}
    phase = vc.Phase(2.0, end=end, rest=True, intervals=intervals)
    return vc.optimise_motion(cart_pole(), cart_pole().state(), phase, torque_limits=20.0)


def arm(length=1.0, mass=1.0):
    """Two equal rods in a vertical plane."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.rod(mass, length, axis="x", com=(length / 2, 0, 0))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(length, 0, 0), inertia=rod)
    return m


def tip(length=1.0):
    """Where the arm ends, in its plane."""
    return vc.animation.point("lower", (length, 0, 0))[[0, 2]]


def crank(**options):
    """An arm whose end slides along the ground: a closed chain."""
    m = vc.Mechanism("crank")
    rod = vc.Inertia.rod(1.0, 1.0, axis="x", com=(0.5, 0, 0))
    m.add_link("crank", joint=vc.Revolute("y", name="crank", **options), inertia=rod)
    m.add_link("rod", "crank", vc.Revolute("y", name="knee", actuated=False), at=(1, 0, 0), inertia=rod)
    m.connect("rod", "ground", vc.PointOnLine("x"), at=(1.3, 0, 0), at_other=(0, 0, 0), name="slot")
    s = m.state()
    s.q = (-0.9, 1.3)
    return m, vc.assemble(m, s, hold=["crank"]).state


def floating():
    """A free box with two links on a ball and a universal joint."""
    m = vc.Mechanism("floating")
    rod = vc.Inertia.box(1.0, size=(1, 0.1, 0.2), com=(0.5, 0, 0))
    m.add_link("base", joint=vc.Free(name="base"), inertia=vc.Inertia.box(2.0, size=(0.3, 0.2, 0.4)))
    m.add_link("arm", "base", vc.Spherical(name="ball"), at=(0.2, 0.1, 0), inertia=rod)
    m.add_link("hand", "arm", vc.Universal(name="wrist", damping=0.1), at=(1, 0, 0), inertia=rod)
    s = m.state()
    s["wrist"].q, s["ball"].orientation = (0.3, -0.2), (0.2, 0.6, 0.4)
    return m, s


def problem(m, s, phases, functions=None, cost=None, start="fixed", periodic=()):
    """The problem alone, unsolved."""
    return prepare(m, s, phases, functions, cost, None, (None, None), start, periodic, None)[0]
