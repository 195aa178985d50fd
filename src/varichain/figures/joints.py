"""The joints of a figure: the table's ranges as limits, the table's damping scaled to the body.

The region of a spherical joint is the smallest cone about the long axis of its link with the extreme motions of
the table, and the smallest interval of twist with them; both are then widened by MARGIN. No extreme motion of the
table is refused. The cone is round, a real one is not: between the table's directions it lets the link go further than
people can, most of all the wrist, whose deviation to the sides is much smaller than its flexion.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.figures.anthropometry import Body
from varichain.figures.joint_table import BALLS, HINGES, MARGIN
from varichain.mechanism import Revolute, Spherical, SwingTwist
from varichain.spatial.arrays import Array
from varichain.spatial.checks import NAMED_AXES, flag, non_negative_scalar
from varichain.spatial.rotation import matrix_from_quaternion, quaternion_from_rotation_vector

ADULT = Body(height=1.75, mass=70.0)
"""Whose damping the table has."""

_TINY = 1e-9  # lengths below this are rounding: two directions that are opposite, three on one great circle


@dataclass(frozen=True)
class HumanJoints:
    """Makes the joints of a body, by the names of the table.

    Attributes:
        body: Damping grows with mass * height^2, as moments of inertia do: all people come to rest equally fast.
        damping: True for that of the table, False for none, a number for that in every freedom [N m s/rad].
        limits: Whether the joints have those of the table.

    Raises InputError for a damping that is negative or no number, and limits that are not a bool.
    """

    body: Body
    damping: Any
    limits: Any

    def __post_init__(self) -> None:
        """Check the choices."""
        if not isinstance(self.damping, (bool, np.bool_)):
            try:
                object.__setattr__(self, "damping", non_negative_scalar(self.damping, "damping"))
            except InputError as error:
                raise InputError(f"{error}; True is the damping of real people, False is none") from None
        flag(self.limits, "limits")

    def ball(self, name: str, side: str = "") -> Spherical:
        """Spherical joint of the table, called with its side."""
        limits = ball_limits(name, side == "right") if self.limits else None
        damping = tuple(self._damped(value) for value in BALLS[name].damping)
        return Spherical(name=f"{side} {name}".strip(), limits=limits, damping=damping)

    def hinge(self, name: str, side: str) -> Revolute:
        """Revolute joint of the table, called with its side; positive angles are flexion."""
        hinge = HINGES[name]
        limits = hinge_limits(name) if self.limits else None
        return Revolute(hinge.axis, name=f"{side} {name}", limits=limits, damping=self._damped(hinge.damping))

    def _damped(self, table: float) -> float:
        """Damping of a freedom, for which the table has `table`."""
        if not isinstance(self.damping, (bool, np.bool_)):
            return float(self.damping)
        size = self.body.mass * self.body.height**2 / (ADULT.mass * ADULT.height**2)
        return size * table if self.damping else 0.0


def hinge_limits(name: str) -> tuple[float, float]:
    """Limits [rad] of a revolute joint of the table."""
    return math.radians(-MARGIN), math.radians(HINGES[name].flexion + MARGIN)


@lru_cache(maxsize=32)
def ball_limits(name: str, is_right: bool) -> SwingTwist:
    """Limits of a spherical joint of the table, on the left, in the middle, or on the right."""
    axis, poses = extremes(name, is_right)
    center, swing = smallest_cone([matrix_from_quaternion(pose) @ axis for pose in poses])
    margin = math.radians(MARGIN)
    cone = SwingTwist(swing=min(math.pi, swing + margin), axis=axis, center=_turn_between(axis, center))
    twists = [cone.angles(pose)[1] for pose in poses]
    twist = max(-math.pi, min(twists) - margin), min(math.pi, max(twists) + margin)
    return SwingTwist(cone.swing, twist, cone.axis, cone.center)


def extremes(name: str, is_right: bool) -> tuple[Array, list[Array]]:
    """Long axis (3,) of a spherical joint's link; quaternions (4,) of the zero and of all motions, half and whole.

    Half-way counts: a cone of more than a half-space may contain both ends of a motion and not what lies between. The
    right side is the mirror image of the left: a mirror across y = 0 turns the x and z of a rotation vector round, and
    the y of a direction.
    """
    ball = BALLS[name]
    mirror = np.array([-1.0, 1.0, -1.0] if is_right else [1.0, 1.0, 1.0])
    turns = [math.radians(motion.degrees) * np.array(NAMED_AXES[motion.turn]) for motion in ball.motions]
    steps = [np.zeros(3), *(share * mirror * turn for turn in turns for share in (0.5, 1.0))]
    return mirror[0] * mirror * np.array(NAMED_AXES[ball.axis]) + 0.0, [*map(quaternion_from_rotation_vector, steps)]


def smallest_cone(directions: list[Array]) -> tuple[Array, float]:
    """Axis (3,) and half-angle [rad] of the smallest round cone that contains unit vectors, three or more.

    They may need more than a half-space. The cone touches two of them, opposite each other on its rim, or three: all
    candidates are tried.
    """
    rays = np.unique(np.round(directions, 12), axis=0)
    i, j = np.array([*combinations(range(len(rays)), 2)]).T
    sums = rays[i] + rays[j]
    i, j, k = np.array([*combinations(range(len(rays)), 3)]).T
    normals = np.cross(rays[j] - rays[i], rays[k] - rays[i])
    candidates = np.concatenate([sums, normals, -normals])
    lengths = np.linalg.norm(candidates, axis=1, keepdims=True)
    axes = (candidates / np.maximum(lengths, _TINY))[lengths[:, 0] > _TINY]
    cosines = (axes @ rays.T).min(axis=1)
    best = cosines.argmax()
    return axes[best], math.acos(cosines[best])  # far from 0 and pi, where the arc cosine would lose digits


def _turn_between(a: Array, b: Array) -> Array:
    """Shortest rotation vector (3,) that takes a unit vector to another that is not its opposite."""
    normal = np.cross(a, b)
    sine = float(np.linalg.norm(normal))
    if sine <= _TINY:
        return np.zeros(3)
    turn: Array = math.atan2(sine, float(a @ b)) / sine * normal
    return turn
