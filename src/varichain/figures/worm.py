"""The inchworm: a chain of short segments that walks by holding on with one end after the other [PFB].

Segments lie along +x, from the rear to the front; angles of a joint are its pitch, about y, and its yaw, about z.
"""

from __future__ import annotations

from math import pi
from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.errors import InputError
from varichain.figures.parts import target_of
from varichain.mechanism import Capsule, Free, Inertia, Mechanism, Universal
from varichain.mechanism.transaction import transaction
from varichain.spatial.arrays import Array
from varichain.spatial.checks import (
    count_number,
    finite_numbers,
    finite_scalar,
    instance,
    name_string,
    positive_scalar,
    shown,
)
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.layout.state import State

_MOST_SEGMENTS = 100
_STEEPEST = 2.2  # [rad], the steepest segment of an arch


def inchworm(
    segments: int = 10,
    length: float = 0.005,
    mass: float = 0.001,
    radius: float = 0.001,
    name: str = "inchworm",
    mechanism: Mechanism | None = None,
    *,
    prefix: str = "",
    color: Any = None,
) -> Mechanism:
    """Worm of solid cylinders, with two freedoms a joint; the defaults are those of [PFB].

    Links "segment 1", at the rear, on the free joint "base", to "segment 10" on "joint 9"; frames "rear" and "front"
    are the ends. To hold on with an end is a connection: `m.connect("segment 1", "ground", vc.Fixed(), state=s)`.

    Args:
        segments: Number of segments, 4 to 100.
        length: Of a segment [m].
        mass: Of a segment [kg].
        radius: Of a segment [m].
        name: Of the mechanism that is made.
        mechanism: Add the worm to this one instead of making one.
        prefix: In front of all names, such as "red ", so that there can be several.
        color: Of the segments.
    """
    n, size = count_number(segments, "segments", _MOST_SEGMENTS, least=4), positive_scalar(length, "length")
    thick, weight = positive_scalar(radius, "radius"), positive_scalar(mass, "mass")
    if instance(prefix, str, "prefix"):
        name_string(prefix, "prefix")
    m = target_of(name, mechanism)
    own = Inertia.cylinder(weight, thick, size, axis="x", com=(0.5 * size, 0, 0))
    shape = Capsule(thick, size, at=Pose((0.5 * size, 0, 0), rpy=(0, pi / 2, 0)), color=color)
    with transaction(m):
        base = Free(actuated=False, name=f"{prefix}base")
        m.add_link(f"{prefix}segment 1", joint=base, inertia=own, shapes=[shape])
        for i in range(2, n + 1):
            joint = Universal(("y", "z"), name=f"{prefix}joint {i - 1}")
            m.add_link(f"{prefix}segment {i}", f"{prefix}segment {i - 1}", joint, (size, 0, 0), own, [shape])
        m.add_frame(f"{prefix}rear", f"{prefix}segment 1")
        m.add_frame(f"{prefix}front", f"{prefix}segment {n}", (size, 0, 0))
    return m


def arch(segments: int, length: float, span: float) -> Array:
    """Pitch of each joint (segments - 1,) [rad] of an arch whose ends are flat and `span` apart [m].

    The slope of segments is a sine along the arch, and both ends are at the same height.

    Raises:
        InputError: There is no such arch: the span is more than the length of all segments, or too little.
    """
    from scipy.optimize import brentq

    n, size = count_number(segments, "segments", _MOST_SEGMENTS, least=4), positive_scalar(length, "length")
    width = finite_scalar(span, "span")
    wave = np.sin(2.0 * np.pi * np.arange(n) / (n - 1.0))

    def missing(steepest: float) -> float:
        return float(size * np.cos(steepest * wave).sum()) - width

    longest, shortest = n * size, width + missing(_STEEPEST)
    if not shortest <= width <= longest:
        raise InputError(f"span must be from {shortest:.4g} to {longest:.4g} m for this worm, not {width:.4g} m")
    steepest = brentq(missing, 0.0, _STEEPEST, xtol=1e-15)
    pitches: Array = np.diff(-steepest * wave)
    return pitches


def arch_up(
    m: Mechanism, s: State, span: float, at: tuple[float, float] = (0.0, 0.0), heading: float = 0.0, prefix: str = ""
) -> None:
    """Let a worm stand as an arch on the ground, its rear at a point (x, y) [m], headed by an angle from +x [rad].

    Segments lie on the ground with their radius: origins are as high.
    """
    instance(m, Mechanism, "m")
    if not hasattr(s, "follow"):
        raise InputError(f"s must be a State, not {shown(s)}")
    names = [link.name for link in m.links if link.name.startswith(f"{instance(prefix, str, 'prefix')}segment ")]
    if len(names) < 2:
        raise InputError(f"mechanism {m.name!r} has no inchworm with the prefix {prefix!r}")
    joint = m.link(names[1]).at
    radius = next(shape.radius for shape in m.link(names[0]).shapes if isinstance(shape, Capsule))
    half = 0.5 * finite_scalar(heading, "heading")
    x, y = finite_numbers(at, 2, "at")
    s[f"{prefix}base"].q = (np.cos(half), 0.0, 0.0, np.sin(half), x, y, radius)
    for i, pitch in enumerate(arch(len(names), float(joint.p[0]), span), start=1):
        s[f"{prefix}joint {i}"].q = (pitch, 0.0)
