"""Links before they are added, and how they become a mechanism."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from varichain.errors import InputError, quoted
from varichain.figures.landmarks import Point
from varichain.mechanism import Inertia, Joint, Mechanism
from varichain.mechanism.shapes import Capsule, Ellipsoid
from varichain.mechanism.transaction import transaction
from varichain.spatial.pose import Pose

_FIRM = 0.015
"""Radius [m] of a shape that a figure touches surfaces with: noses and thumbs give way."""


@dataclass(frozen=True)
class Part:
    """A link before it is added: everything in the frame of `landmarks`, the link's own origin at `origin`."""

    link: str
    parent: str | None
    joint: Joint
    origin: Point
    inertia: Inertia
    shapes: tuple[Capsule | Ellipsoid, ...]
    frames: dict[str, Pose] = field(default_factory=dict)


def assembled(
    parts: list[Part],
    hips: float,
    name: str,
    mechanism: Mechanism | None,
    prefix: str,
    at: Pose | Sequence[float],
) -> Mechanism:
    """Add the parts to the mechanism, or to a new one; to no mechanism if a name is taken.

    The part without parent gets its origin at the height `hips` [m] above the floor frame `at`.
    """
    floor = Pose.coerce(at, "at")
    target = target_of(name, mechanism)
    origins = {part.link: part.origin for part in parts}
    with transaction(target):
        for part in parts:
            if part.parent is None:
                where, parent = floor @ Pose(p=(0.0, 0.0, hips)), None
            else:
                where, parent = Pose(p=part.origin - origins[part.parent]), prefix + part.parent
            _add(target, part, prefix, parent, where)
    return target


def target_of(name: str, mechanism: Mechanism | None) -> Mechanism:
    """The mechanism to add to, or a new one called `name`."""
    if mechanism is not None and not isinstance(mechanism, Mechanism):
        raise InputError(f"mechanism must be a Mechanism or None, not {quoted(mechanism)}")
    return Mechanism(name) if mechanism is None else mechanism


def _add(target: Mechanism, part: Part, prefix: str, parent: str | None, where: Pose) -> None:
    to_link = Pose(p=-part.origin)
    shapes = [replace(shape, at=to_link @ shape.at) for shape in part.shapes]
    target.add_link(
        prefix + part.link,
        parent=parent,
        joint=replace(part.joint, name=f"{prefix}{part.joint.name}"),
        at=where,
        inertia=part.inertia.transformed(to_link),
        shapes=shapes,
    )
    firm = [shape for shape in shapes if _radius(shape) >= _FIRM]
    if len(firm) < len(shapes):
        target.set_contact_shapes(prefix + part.link, firm)
    for frame, pose in part.frames.items():
        target.add_frame(prefix + frame, prefix + part.link, to_link @ pose)


def _radius(shape: Capsule | Ellipsoid) -> float:
    """Smallest radius of a shape [m]."""
    return shape.radius if isinstance(shape, Capsule) else min(shape.radii)
