"""A four-bar linkage, driven by its crank."""

from __future__ import annotations

from math import pi

import varichain as vc
from varichain.mechanism import Inertia, Mechanism, Revolute
from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario

_LONGEST = 1e4  # [s] that the crank is driven


@checked
def fourbar(
    *,
    crank: Positive = 0.2,
    coupler: Positive = 0.6,
    rocker: Positive = 0.5,
    base: NonNegative = 0.6,
    turns: float = 1.0,
    density: Positive = 2.0,
) -> Scenario:
    """A crank turns, a coupler takes a rocker along: one loop, one degree of freedom.

    The crank turns freely if it is the shortest and, with the longest, no longer than the other two (Grashof). The one
    motor drives it at constant speed; it is let go if `turns` is zero. N_J = 4, N_F = 1: in the plane three of the five
    rows of the closing hinge depend on the others.

    Args:
        crank: Length [m].
        coupler: Length [m].
        rocker: Length [m].
        base: Distance of the pivots on the ground [m].
        turns: Of the crank, per second; 0 for none that drives it.
        density: Of all bars [kg/m].
    """
    from scipy.interpolate import PPoly

    m = Mechanism("fourbar")
    parent, place = "ground", (0.0, 0.0, 0.0)
    for name, bar in (("crank", crank), ("coupler", coupler)):
        inertia = Inertia.box(density * bar, (bar, 0.03, 0.03), com=(0.5 * bar, 0.0, 0.0))
        m.add_link(name, parent, Revolute("-y", actuated=name == "crank"), place, inertia)
        parent, place = name, (bar, 0.0, 0.0)
    inertia = Inertia.box(density * rocker, (rocker, 0.03, 0.03), com=(0.5 * rocker, 0.0, 0.0))
    m.add_link("rocker", "ground", Revolute("-y", actuated=False), (base, 0.0, 0.0), inertia)
    m.connect("coupler", "rocker", Revolute("-y"), (coupler, 0, 0), (rocker, 0, 0), name="closing hinge")
    s = m.state()
    s["crank"].q, s["coupler"].q, s["rocker"].q = 0.0, 0.9, 1.9
    s = vc.assemble(m, s, hold=["crank"]).state
    driven = None
    if turns:
        speed = 2.0 * pi * turns
        driven = vc.Motion({"crank": PPoly([[speed], [0.0]], [0.0, _LONGEST])})
        s.v = vc.mobility(m, s, prefer=["crank"], probe=False).W[: m.n_v, 0] * speed
    return Scenario("fourbar", m, s, 10.0, motion=driven, settings={"method": "rk45", "step": 1e-2, "tolerance": 1e-9})
