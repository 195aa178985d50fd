"""Shapes for links that have none, made of structure and inertia: every mechanism can be seen."""

from __future__ import annotations

from statistics import median

import numpy as np

from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Shape, Sphere
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along

_SLENDER = 3.0  # a body this many times longer than thick is drawn as a bone
_THICKNESS = 0.05  # radius of a bone, relative to the usual bone's length
_VISIBLE = 0.012  # ... and relative to all bones of a chain, one after the other, at least
_NEARLY_NOTHING = 1e-6  # [m]


def bone_radius(mechanism: Mechanism) -> float:
    """Radius of bones [m] that suits the mechanism: a twentieth of the usual distance between joints.

    In long chains it is more, so that the whole can be seen in one picture.
    """
    lengths = [float(np.linalg.norm(point)) for link in mechanism.links for point in attachments(mechanism, link)]
    lengths += [max(_sides(link)) for link in mechanism.links if link.inertia.mass > 0.0]
    found = [length for length in lengths if length > _NEARLY_NOTHING]
    reach = max((_reach(link) for link in mechanism.links), default=0.0)
    return float(max(_THICKNESS * median(found), min(_VISIBLE * reach, 0.2 * median(found)))) if found else 0.02


def _reach(link: Link) -> float:
    """Distance from the ground to a link's joint [m] along the joints between them, without that of its root."""
    length, parent = 0.0, link.parent
    while parent is not None and not parent.is_ground:
        length, link, parent = length + float(np.linalg.norm(link.at.p)), parent, parent.parent
    return length


def stand_in(mechanism: Mechanism, link: Link, radius: float) -> tuple[Shape, ...]:
    """Bones from the link's joint to the joints that it carries.

    If it carries none, bones to its named frames; if there are none either, a body of its inertia's size.
    """
    points = _apart(attachments(mechanism, link))
    points = points or _apart([frame.at.p for frame in mechanism.frames.values() if frame.link == link.name])
    shapes: list[Shape] = [_bone(np.zeros(3), point, radius) for point in points]
    if link.inertia.mass > 0.0 and not points:
        shapes.append(_body(link, radius))
    return tuple(shapes) if shapes else (Sphere(1.5 * radius),)


def attachments(mechanism: Mechanism, link: Link) -> list[Array]:
    """Places in the link's frame [m] where something is tied to it: joints of children, joints that close loops."""
    children = [child.at.p for child in link.children]
    return children + [virtual.on_real.p for virtual in mechanism.virtual_links if virtual.real is link]


def _apart(points: list[Array]) -> list[Array]:
    """Points that are not at the link's own joint."""
    return [point for point in points if np.linalg.norm(point) > _NEARLY_NOTHING]


def _bone(start: Array, end: Array, radius: float) -> Capsule:
    length = float(np.linalg.norm(end - start))
    return Capsule(radius, length, at=Pose(0.5 * (start + end), R=matrix_with_z_along((end - start) / length)))


def _body(link: Link, radius: float) -> Shape:
    """Box with the link's principal moments, or a bone of that length if it is slender."""
    sides = np.clip(_sides(link), 2.0 * radius, 2.0 * radius / _THICKNESS)  # made-up inertias may be those of giants
    _, axes = np.linalg.eigh(link.inertia.about_com)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    k = int(np.argmax(sides))
    if sides[k] > _SLENDER * max(np.delete(sides, k)):
        half = 0.5 * sides[k] * axes[:, k]
        return _bone(link.inertia.com - half, link.inertia.com + half, radius)
    return Box(tuple(sides.tolist()), at=Pose(link.inertia.com, R=axes))


def _sides(link: Link) -> Array:
    """Edges (3,) [m] of a homogeneous box with the link's mass and moments, along its principal axes, longest first."""
    moments = np.linalg.eigvalsh(link.inertia.about_com)
    squares = 6.0 * (moments.sum() - 2.0 * moments) / max(link.inertia.mass, 1e-300)
    sides: Array = np.sqrt(np.maximum(squares, 0.0))
    return sides
