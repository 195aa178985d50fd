"""A four-legged walker: trunk and eight leg links, and torques that follow a trot."""

from __future__ import annotations

from collections.abc import Callable
from math import cos, pi, sin
from typing import TYPE_CHECKING, Any

from varichain.mechanism import Box, Capsule, Free, Inertia, Mechanism, Revolute
from varichain.scenarios.legs import LEG, leg_angles
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State

FOOT = 0.02  # [m], radius
PRINT = 3e-3  # [m^2], of a foot
FREQUENCY = 2.0  # [Hz]
_TRUNK, _THIGH, _SHANK = 8.0, 0.6, 0.4  # [kg]
_SIZE = (0.5, 0.2, 0.1)  # [m] of the trunk
_STAND = 0.42  # [m] from hip to the middle of a foot that bears
_LEGS = {"front left": (1, 1, 0.0), "front right": (1, -1, 0.5), "hind left": (-1, 1, 0.5), "hind right": (-1, -1, 0.0)}
_STIFFNESS, _DAMPING, _LARGEST = 120.0, 1.2, 40.0  # of the joints' control [N m/rad, N m s/rad, N m]
_BEARS = 0.6  # part of a cycle in which a foot bears
_ASIDE = 0.65 * _SIZE[1]  # [m] from the middle to a hip
_EASE = 0.5  # [s] until the gait has its full stride


def four_legged() -> Mechanism:
    """Trunk and eight leg links; x is ahead, and hinges turn about y."""
    m = Mechanism("walker")
    m.add_link("trunk", joint=Free(name="trunk"), inertia=Inertia.box(_TRUNK, _SIZE), shapes=[Box(_SIZE)])
    middle = (0.0, 0.0, -LEG / 2)
    for leg, (ahead, aside, _) in _LEGS.items():
        hip = (0.5 * ahead * _SIZE[0], _ASIDE * aside, 0.0)
        for part, parent, at, mass, radius, joint in (
            ("thigh", "trunk", hip, _THIGH, 0.025, "hip"),
            ("shank", f"{leg} thigh", (0.0, 0.0, -LEG), _SHANK, FOOT, "knee"),
        ):
            m.add_link(
                f"{leg} {part}",
                parent=parent,
                at=at,
                joint=Revolute("y", name=f"{leg} {joint}", damping=0.05),
                inertia=Inertia.capsule(mass, radius, LEG, com=middle),
                shapes=[Capsule(radius, LEG, at=Pose(middle))],
            )
    return m


def feet() -> list[tuple[str, tuple[float, float, float]]]:
    """Links and places of the balls that touch the ground."""
    return [(f"{leg} shank", (0.0, 0.0, -LEG)) for leg in _LEGS]


def stand(m: Mechanism, drop: float) -> State:
    """State in which all feet are on level ground, or a height above it [m]."""
    s = m.state()
    for leg in _LEGS:
        s[f"{leg} hip"].q, s[f"{leg} knee"].q = leg_angles(0.0, _STAND)
    s["trunk"].position = (0.0, 0.0, _STAND + FOOT + drop)
    return s


def trot(stride: float, frequency: float, lift: float) -> Callable[[Mechanism, State], dict[str, Any]]:
    """Controller that leads hips and knees along a trot: diagonal feet are lifted together, in turn."""

    def torques(m: Mechanism, s: State) -> dict[str, Any]:
        found = {}
        ease = min(s.time / _EASE, 1.0)
        for leg, (_, _, shift) in _LEGS.items():
            hip, knee = foot_angles((frequency * s.time + shift) % 1.0, ease * stride, ease * lift)
            for joint, angle in ((f"{leg} hip", hip), (f"{leg} knee", knee)):
                torque = _STIFFNESS * (angle - s[joint].q) - _DAMPING * s[joint].v
                found[joint] = max(-_LARGEST, min(torque, _LARGEST))
        return found

    return torques


def foot_angles(phase: float, stride: float, lift: float) -> tuple[float, float]:
    """Angles of hip and knee at a phase of the gait, 0 to 1: the foot bears first and is lifted then."""
    if phase < _BEARS:
        return leg_angles(stride * (0.5 - phase / _BEARS), _STAND)
    swing = (phase - _BEARS) / (1.0 - _BEARS)
    return leg_angles(-0.5 * stride * cos(pi * swing), _STAND - lift * sin(pi * swing))
