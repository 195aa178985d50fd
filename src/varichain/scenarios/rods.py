"""Three rods in a plane: a chain that lives in its animation space, and a man on a chair [PFB, 4.3 and 4.5]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Literal

import numpy as np

import varichain as vc
from varichain.mechanism import Capsule, Free, Inertia, Mechanism, Revolute, Spherical
from varichain.scenarios.parameters import Duration, Positive, checked
from varichain.scenarios.reach import course_to
from varichain.scenarios.scenario import Scenario
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State

_RADIUS = 0.03  # [m] of a rod
_FEEDBACK = 20.0  # [1/s]
_SPINNING = 0.7  # [rad/s] of the trunk at the start


@checked
def threelinks(
    *,
    x: float = 1.6,
    z: float = 1.2,
    square: Positive = 0.6,
    duration: Duration = 1.5,
    length: Positive = 1.0,
    mass: Positive = 1.0,
) -> Scenario:
    """A chain of three links goes where its animation space says: u = (x, z, phi_3^2), the tip and a square.

    As many dimensions as freedoms: joint torques are those of u alone. Live, its targets can be moved. N_J = N_F = 3.

    Args:
        x: Of the tip at the end, forward of the first hinge, in lengths of a link.
        z: Of the tip at the end, above the first hinge, in lengths of a link.
        square: Of the third angle at the end [rad^2].
        duration: Of the motion [s].
        length: Of a link [m].
        mass: Of a link [kg].
    """
    m, s = _rods("threelinks", ("link 1", "link 2", "link 3"), length, mass)
    s.q = (0.2, 0.7, -0.5)
    tip = vc.animation.point("link 3", (length, 0.0, 0.0))
    space = vc.AnimationSpace(m, {"tip": tip[[0, 2]], "square": vc.animation.coordinate("joint 3") ** 2})
    end = np.array([length * x, length * z, square])
    course = course_to(space.value(s), end, duration)
    tracks = {"tip": type(course)(course.c[..., :2], course.x), "square": type(course)(course.c[..., 2], course.x)}
    tracker = vc.animation.Tracker(space, tracks, feedback=_FEEDBACK)
    settings = {"method": "rk45", "step": 1e-2}
    return Scenario("threelinks", m, s, 3.0, controller=tracker, settings=settings)


@checked
def seat(
    *, way: Literal["hard", "soft", "extended"] = "hard", stiffness: Positive = 1e5, damping: Positive = 200.0
) -> Scenario:
    """A man of three rods sits on a chair and bows; the chair is a closed loop, made in one of three ways.

    "hard": the hip is tied to the chair by a ball joint; "soft": by springs and dampers; "extended": by joint torques
    that keep it there, tau = G^T tau_u [PFB, 4.5.1]. N_J = 3, 6 with the ball, 9 with springs; N_F = 1 with the ball.

    Args:
        way: "hard", "soft" or "extended".
        stiffness: Of the springs [N/m].
        damping: Of the dampers [N s/m].
    """
    m, s = _rods("seat", ("shank", "thigh", "trunk"), 1.0, 1.0)
    s.q, s.v = (1.9, -1.6, 1.5), (0.0, 0.0, _SPINNING)
    hip, place = (1.0, 0.0, 0.0), vc.pose(m, s, "trunk").p
    controller = None
    if way == "hard":
        m.connect("thigh", "ground", Spherical(), at=hip, at_other=place, name="chair")
    elif way == "soft":
        springs = Free(stiffness=(0, 0, 0, *(stiffness,) * 3), damping=(0, 0, 0, *(damping,) * 3))
        m.connect("thigh", "ground", springs, at=hip, at_other=place, name="chair")
    else:
        space = vc.AnimationSpace(m, {"hip": vc.animation.point("thigh", hip)[[0, 2]]})
        controller = vc.animation.Tracker(space, {"hip": place[[0, 2]]}, feedback=_FEEDBACK, extended=True)
    settings = {"method": "rk45", "step": 1e-2, "control_step": 1e-3, "tolerance": 1e-10}
    start = m.state()
    start.q, start.v = s.q, s.v
    return Scenario("seat", m, start, 2.0, controller=controller, settings=settings)


def _rods(name: str, names: tuple[str, ...], length: float, mass: float) -> tuple[Mechanism, State]:
    """A chain of equal rods on hinges in a vertical plane."""
    rod = Inertia.rod(mass, length, axis="x", com=(0.5 * length, 0, 0))
    m = Mechanism(name)
    for i, link in enumerate(names):
        shape = Capsule(_RADIUS * length, length, at=Pose((0.5 * length, 0, 0), rpy=(0, np.pi / 2, 0)))
        parent, place = (names[i - 1], length) if i else ("ground", 0.0)
        m.add_link(link, parent, Revolute("-y", name=f"joint {i + 1}"), (place, 0, 0), rod, [shape])
    return m, m.state()
