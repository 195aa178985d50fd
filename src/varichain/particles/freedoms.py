"""Freedoms of joints between links of particles: coordinates, and springs, dampers, dry friction and stops in them."""

from __future__ import annotations

import math

import numpy as np

from varichain.instants.restraints import SoftLimits
from varichain.kernels.particle_records import ANGLE, BALL, POSE, SLIDE
from varichain.mechanism.limits import SwingTwist
from varichain.particles.joints import Ends, Fields, Spring
from varichain.particles.system import System
from varichain.spatial.arrays import Array

Limits = SoftLimits | str

_PASSIVE = ("damping", "friction", "stiffness")


def add_freedoms(system: System, ends: Ends, spring: Spring, limits: Limits, q: int, v: int) -> int:
    """Add the freedoms of a joint, whose coordinates and velocities begin at these places; the place of an angle.

    Stops that are "hard" are as stiff as the joint itself.
    """
    joint, thread = ends.joint, -1
    words = [word for word, _ in joint.freedoms]
    n_pose = 6 if "carried" in words else 3 if "turned" in words else 0
    if n_pose:
        fields = _pose(ends, POSE if n_pose == 6 else BALL) | _passive(ends, spring, limits, 0, n_pose)
        system.freedoms.add(str(joint.name), q=q, v=v, **fields)
    for k in range(n_pose, joint.n_v):
        word, axis = joint.freedoms[k]
        if word == "across":  # a rod's: nothing acts there
            continue
        fields = _scalar(ends, word, axis) | _passive(ends, spring, limits, k, 1)
        i = k + (1 if n_pose else 0)
        place = system.freedoms.add(f"{joint.name}.{joint.coordinates[k]}", q=q + i, v=v + k, **fields)
        thread = place if word == "angular" else thread
    return thread


def _pose(ends: Ends, kind: int) -> Fields:
    """The whole orientation of frame A in frame B, and the position of a free joint."""
    R_a, R_b = (end.frame.R @ ends.geometry.axes for end in (ends.a, ends.b))
    places = {"a": ends.a.link, "b": ends.b.link}
    return {"kind": kind, "R_a": R_a.ravel(), "R_b": R_b.ravel()} | places | ends.origins


def _scalar(ends: Ends, word: str, axis: int) -> Fields:
    """An angle or a displacement."""
    places = {"a": ends.a.link, "b": ends.b.link}
    if word == "angular":
        directions = {"pointer": ends.on_a(0), "u": ends.on_b(0), "w": ends.on_b(1)}
        return {"kind": ANGLE, "sign": 1.0} | directions | places
    if word == "cardan":
        return _cardan(ends, axis)
    on_a = word == "slid"
    pointer = ends.on_a(axis) if on_a else ends.on_b(axis)
    return {"kind": SLIDE, "on_a": int(on_a), "pointer": pointer} | ends.origins | places


def _cardan(ends: Ends, axis: int) -> Fields:
    """Angle of a universal joint: of the second axis about the first, or of the first about the second, backwards."""
    first, second = ends.geometry.axes[:, 2], ends.geometry.axes @ np.asarray(ends.geometry.second)
    about, other = (first, second) if axis == 0 else (second, first)
    u = _unit(other - (other @ about) * about)
    pointed, turning = (ends.a, ends.b) if axis == 0 else (ends.b, ends.a)
    directions = {"u": turning.direction(u), "w": turning.direction(np.cross(about, u))}
    directions["pointer"] = pointed.direction(other)
    places = {"a": pointed.link, "b": turning.link}
    return {"kind": ANGLE, "sign": 1.0 if axis == 0 else -1.0} | directions | places


def _unit(x: Array) -> Array:
    return x / np.linalg.norm(x)


def _passive(ends: Ends, spring: Spring, limits: Limits, k: int, n: int) -> Fields:
    """What acts in n freedoms from the k-th on, besides controllers."""
    joint, own = ends.joint, slice(k, k + n)
    is_slide = n == 1 and joint.freedoms[k][0] in ("linear", "slid")
    scale = 1.0 if is_slide else ends.arm**2
    stiffness = spring.stiffness * scale
    mass = scale / (1.0 / ends.a.mass + 1.0 / ends.b.mass)
    rest = joint.rest[k + int(joint.has_quaternion) :][:1] if n == 1 else joint.rest
    fields: Fields = {
        "damping": _padded(joint.damping[own], 6),
        "friction": _padded(joint.friction[own], 6),
        "isotropic": int(joint.is_isotropic),
        "stiffness": np.array([joint.stiffness[k], joint.stiffness[k + 3] if n == 6 else 0.0]),
        "rest": _padded(rest, 7),
        "stick": np.array([stiffness, 2.0 * math.sqrt(stiffness * mass)]),
        "grip": np.array([*ends.drive(spring, joint.freedoms[k][0]), *ends.drive(spring, "carried")]),
    }
    if n == 1 and joint.armature[k] > 0.0:
        shaft = np.array(ends.shaft(spring, joint.freedoms[k][0], joint.armature[k]))
        fields |= {"armature": joint.armature[k], "shaft": shaft}
    stops = {} if limits == "off" else _stops(ends, k, n)
    if isinstance(limits, SoftLimits):
        stops["stop"] = np.array([limits.stiffness, limits.damping])
    elif stops:
        stops["stop"] = np.array([stiffness, 2.0 * math.sqrt(stiffness * mass)])
    acts = any(any(getattr(joint, name)[own]) for name in _PASSIVE) or bool(stops)
    wide = {"lower": np.full(3, -math.inf), "upper": np.full(3, math.inf)}
    return fields | wide | stops | {"acts": int(acts)}


def _stops(ends: Ends, k: int, n: int) -> Fields:
    """Bounds of the coordinates, if the joint has limits."""
    limits = ends.joint.limits
    if limits is None:
        return {}
    if isinstance(limits, SwingTwist):
        (low, high), cone = limits.twist, {"has_cone": 1, "axis": limits.axis, "center": limits.center}
        twist = (low, high) if (low, high) != (-math.pi, math.pi) else (-math.inf, math.inf)
        swing = limits.swing if limits.swing < math.pi else math.inf
        return cone | {"lower": np.array([0.0, twist[0], 0.0]), "upper": np.array([swing, twist[1], 0.0])}
    lower, upper = (np.asarray(side)[slice(k, k + 1) if n == 1 else slice(0, 3)] for side in limits)
    return {"lower": np.resize(lower, 3), "upper": np.resize(upper, 3)}


def _padded(values: tuple[float, ...], n: int) -> Array:
    return np.array([*values, *(0.0,) * (n - len(values))])
