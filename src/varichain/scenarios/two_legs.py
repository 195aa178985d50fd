"""A two-legged walker: trunk, thighs, shanks and feet with wide soles."""

from __future__ import annotations

from math import atan2, cos, hypot, sin
from typing import TYPE_CHECKING

import numpy as np

from varichain.mechanism import Box, Capsule, Free, Inertia, Mechanism, Revolute, Spherical, Universal
from varichain.scenarios.legs import LEG, leg_angles
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import rotation_vector_from_matrix

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.spatial.arrays import Array

SIDES = {"left": 1.0, "right": -1.0}
BALL = 0.01  # [m], radius of the balls under the corners of a sole
PRINT, WIDTH = 5.5e-3, 0.055  # [m^2, m], of a quarter of a sole
ASIDE = 0.08  # [m] from the middle to a hip, and to a foot
ANKLE = 0.04  # [m] above the sole
TOES = 0.02  # [m] by which the middle of the sole is ahead of the ankle
STAND = 0.46  # [m] from hip to ankle
MIDDLE = (0.0, 0.0, 0.15)  # [m] of the trunk, above the hips
_TRUNK, _THIGH, _SHANK, _FOOT = 10.0, 0.8, 0.6, 0.4  # [kg]
_SIZE = (0.16, 0.24, 0.35)  # [m] of the trunk
_CORNER = (0.09, 0.045)  # [m] from the middle of the sole to the balls
_DAMPING = 0.05  # [N m s/rad], of all joints


def two_legged() -> Mechanism:
    """Trunk, thighs on balls, shanks on hinges, feet on universal joints; x is ahead."""
    m = Mechanism("walker")
    trunk = Inertia.box(_TRUNK, _SIZE, com=MIDDLE)
    m.add_link("trunk", joint=Free(name="trunk"), inertia=trunk, shapes=[Box(_SIZE, at=Pose(MIDDLE))])
    half, sole = (0.0, 0.0, -LEG / 2), Pose((TOES, 0.0, 0.015 - ANKLE))
    size = (2 * (_CORNER[0] + BALL), 2 * (_CORNER[1] + BALL), 0.03)
    for side, aside in SIDES.items():
        for part, parent, at, mass, radius, joint in (
            (
                "thigh",
                "trunk",
                (0.0, ASIDE * aside, 0.0),
                _THIGH,
                0.03,
                Spherical(name=f"{side} hip", damping=_DAMPING),
            ),
            (
                "shank",
                f"{side} thigh",
                (0, 0, -LEG),
                _SHANK,
                0.025,
                Revolute("y", name=f"{side} knee", damping=_DAMPING),
            ),
        ):
            inertia, shape = Inertia.capsule(mass, radius, LEG, com=half), Capsule(radius, LEG, at=Pose(half))
            m.add_link(f"{side} {part}", parent=parent, at=at, joint=joint, inertia=inertia, shapes=[shape])
        m.add_link(
            f"{side} foot",
            parent=f"{side} shank",
            at=(0.0, 0.0, -LEG),
            joint=Universal(("y", "x"), name=f"{side} ankle", damping=_DAMPING),
            inertia=Inertia.box(_FOOT, size, com=sole.p),
            shapes=[Box(size, at=sole)],
        )
    return m


def soles() -> list[tuple[str, tuple[float, float, float]]]:
    """Links and places of the balls under the soles."""
    ways = [(TOES + i * _CORNER[0], j * _CORNER[1]) for i in (-1, 1) for j in (-1, 1)]
    return [(f"{side} foot", (x, y, BALL - ANKLE)) for side in SIDES for x, y in ways]


def stand(m: Mechanism, drop: float) -> State:
    """State in which both feet are on level ground, or a height above it [m]."""
    s = m.state()
    for side in SIDES:
        roll, pitch, knee, *ankle = angles(np.array([0.0, 0.0, -STAND]))
        s[f"{side} hip"].orientation = rotation_vector_from_matrix(turned(roll, pitch))
        s[f"{side} knee"].q, s[f"{side} ankle"].q = knee, ankle
    s["trunk"].position = (0.0, 0.0, STAND + ANKLE + drop)
    return s


def angles(d: Array) -> tuple[float, float, float, float, float]:
    """Roll and pitch of a thigh, angles of knee and ankle that put a level foot's ankle at d from the hip [rad]."""
    roll = atan2(d[1], -d[2])
    pitch, knee = leg_angles(d[0], hypot(d[1], d[2]))
    return roll, pitch, knee, -pitch - knee, -roll


def turned(roll: float, pitch: float) -> Array:
    """Orientation of a thigh with a roll and a pitch: about x, then about the y that is carried along (3, 3)."""
    a, b, c, d = cos(roll), sin(roll), cos(pitch), sin(pitch)
    return np.array([[c, 0.0, d], [b * d, a, -b * c], [-a * d, b, a * c]])
