"""Two figures on skates who hold hands."""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Final

import varichain as vc
from varichain import figures
from varichain.mechanism import Mechanism, Planar, Spherical
from varichain.mechanism.materials import MATERIALS
from varichain.scenarios.muscles import muscles
from varichain.scenarios.parameters import NonNegative, checked
from varichain.scenarios.scenario import Scenario
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State


SIDES: Final = ("left", "right")

_ARMS = [f"{name} {side} {joint}" for name in ("ann", "bob") for side in SIDES for joint in ("shoulder", "elbow")]
_KNEES = 0.35  # [rad] that skaters bend their knees by
_APART = 0.75  # [m] from Ann's feet to Bob's


@checked
def holdinghands(
    *,
    spin: float = 1.5,
    closes: NonNegative = 0.1,
    opens: NonNegative = 3.0,
    stiffness: NonNegative = 1000.0,
    damping: NonNegative = 60.0,
) -> Scenario:
    """Two figures of 16 joint freedoms on skates turn about each other by one hand, then by both, and part.

    Each foot glides on the ice by a planar joint. Ann's left hand holds Bob's right one, by a ball joint; later her
    right hand takes his left one, and a ring of two bodies and four arms is closed; then both open. Ice pushes upward
    alone: linear momentum along it and angular momentum about the upright stay, through every change.

    N_J = 2 * 22 + 4 * 3 + 3 = 59, with the ring closed 62, opened 56; N_F is 29, 26, 32.

    Args:
        spin: Of the pair, about the upright [rad/s].
        closes: When the second pair of hands takes hold [s].
        opens: When both let go [s].
        stiffness: Of the muscles of the legs, which hold the posture [N m/rad]; arms have a tenth of it.
        damping: Of the muscles of the legs [N m s/rad]; arms have a tenth of it.
    """
    m = Mechanism("holdinghands")
    figures.ground(m, color=MATERIALS["ice"])
    figures.human16(1.65, 58.0, "female", mechanism=m, prefix="ann ")
    figures.human16(1.78, 74.0, "male", mechanism=m, prefix="bob ")
    s = _face_to_face(m)
    for name, speed in (("ann", -spin), ("bob", -spin)):
        s[f"{name} torso"].v = (0.0, 0.0, spin, 0.0, 0.5 * _APART * speed, 0.0)
    s = vc.project(m, s)  # with both pairs of hands connected, so that they are at rest to each other
    m.cut("second hold")
    events = (
        vc.at(
            closes,
            vc.connect("ann right grip", "bob left hand", Spherical(), name="second hold"),
            name="the ring closes",
        ),
        vc.at(opens, vc.cut("first hold"), vc.cut("second hold"), name="the ring opens"),
    )
    legs = muscles(m, s, stiffness, damping, without=_ARMS)
    arms = muscles(m, s, 0.1 * stiffness, 0.1 * damping, without=legs.joints or ())
    settings = {"method": "rk45", "step": 1e-2, "tolerance": 1e-8}
    return Scenario("holdinghands", m, s, 5.0, events, [legs, arms], settings=settings)


def _face_to_face(m: Mechanism) -> State:
    """Both on the ice, holding both hands."""
    s = m.state()
    for name, x, turn in (("ann", -0.5 * _APART, 0.0), ("bob", 0.5 * _APART, pi)):
        figures.place(m, s, "arms forward", "sole", Pose(p=(x, 0.0, 0.0), rpy=(0.0, 0.0, turn)), prefix=f"{name} ")
        _bend(m, s, name)
        for side in SIDES:
            m.connect(f"{name} {side} sole", "floor", Planar("z"), state=s, name=f"{name} {side} skate")
    m.connect("ann left grip", "bob right grip", Spherical(), name="first hold")
    m.connect("ann right grip", "bob left grip", Spherical(), name="second hold")
    return vc.assemble(m, s, hold=[joint for joint in s.joints if joint not in _ARMS]).state


def _bend(m: Mechanism, s: State, name: str) -> None:
    """Bend elbows and knees of one who stands with the arms forward; the soles stay."""
    before = vc.pose(m, s, f"{name} left sole").p
    for side in SIDES:
        s[f"{name} {side} shoulder"].orientation, s[f"{name} {side} elbow"].q = (0.0, -1.1, 0.0), 0.6
        s[f"{name} {side} hip"].orientation, s[f"{name} {side} knee"].q = (0.0, -_KNEES, 0.0), _KNEES
    torso, sunk = s[f"{name} torso"].pose, before - vc.pose(m, s, f"{name} left sole").p
    s[f"{name} torso"].pose = Pose(p=torso.p + sunk, R=torso.R)
