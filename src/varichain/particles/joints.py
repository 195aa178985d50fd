"""Joints between links of particles: a restriction for each row of a joint type.

What a type says of its rows as a loop's joint is all that is needed: every type that can close a loop works, those of
users included. Frame A is the link's, frame B that of the link it hangs on, as in `Joint.rows`.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.kernels.particle_records import ALONG, APART, CROSSED
from varichain.mechanism.joint import Joint
from varichain.particles.arms import Arms
from varichain.particles.system import BRACES, System
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

Fields = dict[str, Any]

_ORIGIN = Pose()


@dataclass(frozen=True, eq=False)
class End:
    """One end of a joint: a frame on a link.

    Attributes:
        link: Place of the link among the system's.
        arms: Its arms.
        center: Its centre of mass in its frame (3,) [m].
        mass: [kg]; infinite of the ground.
        frame: The joint's frame in the link's.
    """

    link: int
    arms: Arms
    center: Array
    mass: float
    frame: Pose = _ORIGIN

    def point(self, p: Array) -> Array:
        """A point of the joint's frame as three numbers that multiply the arms (3,)."""
        return self.arms.numbers_of(self.frame @ p - self.center)

    def direction(self, vector: Array) -> Array:
        """A direction of the joint's frame as three such numbers (3,)."""
        return self.arms.numbers_of(self.frame.R @ vector)

    def inertia(self, axis: Array | None = None) -> float:
        """Inertia about an axis of the joint's frame, through the centre [kg m^2]; without an axis, the least."""
        if math.isinf(self.mass):
            return math.inf
        squares = self.arms.lengths**2
        along = squares.max() if axis is None else (self.arms.axes.T @ self.frame.R @ axis) ** 2 @ squares
        return self.mass * float(squares.sum() - along)

    @property
    def arm(self) -> float:
        """Length by which angles count [m]: the longest arm, unless that is faster than braces of the shortest are."""
        if math.isinf(self.mass):
            return math.inf
        return min(float(self.arms.lengths.max()), math.sqrt(BRACES) * float(self.arms.lengths.min()))


@dataclass(frozen=True, eq=False)
class Spring:
    """Spring-dampers of all links and joints.

    Attributes:
        stiffness: [N/m].
        damping: Part of the critical damping of each by itself.
    """

    stiffness: float
    damping: float


class Ends:
    """The two ends of a joint, and what its rows and freedoms look at."""

    def __init__(self, joint: Joint, a: End, b: End) -> None:
        """Take frame A and frame B.

        Raises:
            InputError: The type has no rows, a ball has an armature, or it is a force element.
        """
        if joint.rows is None:
            raise InputError(f"{joint.kind} joint {joint.name!r} has no rows: particles cannot know what it blocks")
        if joint.law:
            raise InputError(
                f"{joint.kind} {joint.name!r} is a force element: particles have springs of their own, "
                "`vc.particles.System` takes them by hand"
            )
        if any(joint.armature) and joint.has_quaternion:
            raise InputError(
                f"joint {joint.name!r} has an armature of {max(joint.armature):g}: particles have rotors in angles and "
                "displacements, not in ball and free joints; set it to 0, or give the inertia to a link"
            )
        self.joint, self.a, self.b = joint, a, b
        self.geometry = joint.loop_geometry()
        self.arm = min(a.arm, b.arm)
        self.origins = {"p_a": a.point(np.zeros(3)), "p_b": b.point(np.zeros(3))}

    def on_a(self, axis: int) -> Array:
        """An axis of the rows as a direction of frame A."""
        return self.a.direction(self.geometry.axes[:, axis])

    def on_b(self, axis: int) -> Array:
        """An axis of the rows as a direction of frame B."""
        return self.b.direction(self.geometry.axes[:, axis])

    def row(self, word: str, axis: int) -> Fields:
        """The restriction that a row of the joint is."""
        if word in ("linear", "helical"):
            return {"kind": ALONG, "d_b": self.on_b(axis)} | self.origins
        if word == "slid":
            return {"kind": ALONG, "on_a": 1, "d_a": self.on_a(axis)} | self.origins
        if word == "distance":
            return {"kind": APART, "rest": self.geometry.length} | self.origins
        if word == "crossed":
            second = np.asarray(self.geometry.second)
            d_a, rest = self.a.direction(self.geometry.axes @ second), self.arm * second[axis]
            return {"kind": CROSSED, "arm": self.arm, "d_a": d_a, "d_b": self.on_b(axis), "rest": rest}
        assert word == "angular"
        # axis 2 of A stays at right angles with axes 1 and 0 of B, axis 0 of A with axis 1 of B
        i, j = ((2, 1), (2, 0), (0, 1))[axis]
        return {"kind": CROSSED, "arm": self.arm, "d_a": self.on_a(i), "d_b": self.on_b(j)}

    def drive(self, spring: Spring, word: str) -> tuple[float, float]:
        """Stiffness and damping of a drive: of one that turns links so stiff that it is as fast as their braces."""
        mass = 1.0 / (1.0 / self.a.mass + 1.0 / self.b.mass)
        stiffness = spring.stiffness
        if word not in ("linear", "slid", "carried"):
            about = self.geometry.axes[:, 2] if word == "angular" else None
            inertia = 1.0 / (1.0 / self.a.inertia(about) + 1.0 / self.b.inertia(about))
            stiffness, mass = BRACES * spring.stiffness * inertia / min(self.a.mass, self.b.mass), inertia
        return stiffness, 2.0 * spring.damping * math.sqrt(stiffness * mass)

    def shaft(self, spring: Spring, word: str, armature: float) -> tuple[float, float]:
        """Stiffness and damping between a joint and its rotor: as fast together as a drive is."""
        inverse = 1.0 / self.a.mass + 1.0 / self.b.mass
        square = spring.stiffness * inverse
        if word not in ("linear", "slid"):
            about = self.geometry.axes[:, 2] if word == "angular" else None
            inverse = 1.0 / self.a.inertia(about) + 1.0 / self.b.inertia(about)
            square = BRACES * spring.stiffness / min(self.a.mass, self.b.mass)
        inertia = 1.0 / (1.0 / armature + inverse)
        return square * inertia, 2.0 * spring.damping * math.sqrt(square) * inertia

    def effective_mass(self, row: Fields) -> float:
        """1 / (grad g M^-1 grad g^T) of a restriction at rest [kg]."""
        inverse = 0.0
        for end, p, d in ((self.a, "p_a", "d_a"), (self.b, "p_b", "d_b")):
            if row["kind"] == CROSSED:
                inverse += row["arm"] ** 2 * float(row[d] @ row[d]) / end.mass
            else:
                inverse += (1.0 + float(row[p] @ row[p])) / end.mass
        return 1.0 / inverse

    def breaks(self) -> Fields:
        """Loads at which the joint breaks."""
        breaks = self.joint.breaks
        fields: Fields = {"largest_force": math.inf, "largest_moment": math.inf}
        if breaks is not None:
            given = {"largest_force": breaks.force, "largest_moment": breaks.moment}
            fields |= {name: value for name, value in given.items() if value is not None} | {"watched": 1}
            if breaks.one_sided is not None:
                fields |= {"one_sided": 1, "direction": self.b.direction(np.asarray(breaks.one_sided))}
        return fields


def restrict(system: System, ends: Ends, spring: Spring, thread: int = -1) -> None:
    """Add the restrictions of a joint; `thread` is the freedom whose angle a screw's travel follows."""
    joint, places = ends.joint, {"a": ends.a.link, "b": ends.b.link}
    number = system.joints.add(str(joint.name), **places, **ends.breaks())
    for word, axis in joint.rows or ():
        row = ends.row(word, axis) | places | {"joint": number, "freedom": -1}
        if word == "helical":
            row |= {"freedom": thread, "pitch": ends.geometry.pitch}
        damping = 2.0 * spring.damping * math.sqrt(spring.stiffness * ends.effective_mass(row))
        system.restrictions.add(f"{joint.name}.{word}{axis}", stiffness=spring.stiffness, damping=damping, **row)
