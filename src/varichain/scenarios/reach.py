"""A chain that reaches a point [PFB, 5.1]."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import numpy as np
from annotated_types import Ge, Le

import varichain as vc
from varichain.mechanism import Capsule, Inertia, Mechanism, Revolute
from varichain.scenarios.parameters import Duration, Positive, checked
from varichain.scenarios.scenario import Scenario
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from scipy.interpolate import PPoly

_MASS = 0.2  # [kg] of a link
_THICKNESS = 0.015  # [m], radius of a link
_BENT = 0.15  # [rad], each joint at the start
_FEEDBACK = 12.0  # [1/s]
_GENTLE = 6  # power of what is left: bends fall as its root where a chain is stretched
_DAMPING = 0.02  # bounds motions where the chain is stretched


@checked
def reach(
    *,
    links: Annotated[int, Ge(2), Le(100)] = 10,
    length: Positive = 1.0,
    x: float = 0.35,
    z: float = 0.55,
    hold_first: bool = False,
    duration: Duration = 1.5,
) -> Scenario:
    """A chain of ten hinges leads its tip to a point by torques, and stays there.

    The tip follows a smooth curve of time in animation space, at the accelerations of least norm; torques come from
    inverse dynamics at the actual state. Of a point beyond reach, the tip is led to the nearest one, where the chain is
    stretched. There the tip moves with the squares of bends only, and damping, which bounds velocities, leaves slight
    ones: some 4e-4 of the length are missing after 3 s, and fall slowly. N_J = N_F = 10.

    Args:
        links: Number of links, 2 to 100.
        length: Of the whole chain [m].
        x: Of the point, forward of the first hinge [m].
        z: Of the point, above the first hinge [m].
        hold_first: Whether the first link keeps its direction, by the square of its angle at zero, as in [PFB].
        duration: Of the motion [s].
    """
    size = length / links
    m = Mechanism("reach")
    rod = Inertia.cylinder(_MASS, _THICKNESS, size, axis="x", com=(0.5 * size, 0, 0))
    for i in range(links):
        shape = Capsule(_THICKNESS, size, at=Pose((0.5 * size, 0, 0), rpy=(0, np.pi / 2, 0)))
        parent, place = (f"link {i}", size) if i else ("ground", 0.0)
        m.add_link(f"link {i + 1}", parent, Revolute("-y", name=f"joint {i + 1}"), (place, 0, 0), rod, [shape])
    m.add_frame("tip", f"link {links}", (size, 0, 0))
    s = m.state()
    s.q = np.r_[0.0, np.full(links - 1, _BENT)]
    functions = {"tip": vc.animation.point("tip")[[0, 2]], "first": vc.animation.coordinate("joint 1") ** 2}
    space = vc.AnimationSpace(m, functions)
    point = np.array([x, z])
    end = vc.animation.reach(space, s, {"tip": point}, hold=["joint 1"] if hold_first else [])
    gentle = 3 if end.is_reached else _GENTLE
    course = course_to(space.value(s)[:2], space.value(end.state)[:2], duration, gentle)
    how = vc.animation.Resolution(damping=_DAMPING, hold=["first"] if hold_first else [], gain=_FEEDBACK)
    tracker = vc.animation.Tracker(space, {"tip": course}, how, feedback=_FEEDBACK)
    settings = {"method": "rk45", "step": 1e-2, "control_step": 5e-3}
    return Scenario("reach", m, s, 3.0, controller=tracker, settings=settings)


def course_to(start: Array, end: Array, duration: float, power: int = 3) -> PPoly:
    """Smooth course from rest at a start to rest at an end, where it stays: a quintic in time, then a constant.

    What is left of the way falls as (1 - t)^power at the end.
    """
    from numpy.polynomial import Polynomial
    from scipy.interpolate import PPoly

    left = Polynomial([1.0, -1.0]) ** power * Polynomial([1.0, power, 0.5 * power * (power + 1)])
    numbers = np.asarray((1.0 - left).coef, dtype=np.float64) / duration ** np.arange(power + 3)
    moving = numbers[::-1, None] * (end - start)[None, :]
    moving[-1] += start
    resting = np.concatenate([np.zeros((power + 2, len(start))), end[None, :]])
    return PPoly(np.stack([moving, resting], axis=1), [0.0, duration, duration + 1.0])
