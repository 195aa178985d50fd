"""Points by which links touch surfaces: those of their contact shapes, in the order in which contacts are numbered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from varichain.mechanism.contact import ContactPoint, Surface, contact_shapes_of
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from varichain.scene.contact_meshes import convex_vertices
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

# Places on a rim, from its lowest point: a cylinder that stands does so on four points.
_PLACES = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
CORNERS = tuple((x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5))
"""Of a box, as parts of its edges."""


class Touch(NamedTuple):
    """A point of a link that may touch.

    Attributes:
        at: Its frame in the link's: the middle of a ball, of a rim, of an ellipsoid or of a capsule, whose axis is z.
        kind: "ball", "rim", "ellipsoid" or "side", of a capsule; "edge" and "cap" for the side and the flat ends of a
            capsule or cylinder on a box.
        radius: Of the ball, rim or capsule [m]; zero for a point.
        radii: Of the ellipsoid [m]; cosine and sine of the place on a rim, from its lowest point; half the length of a
            capsule [m], and the radius of a cylinder, whose ends are flat.
        end: End of a capsule that a side meets, -1 or 1 along its axis; 0 if it crosses its side. On a box: its number
            among the contacts of the two.
        middle, half: Frame in the link's, and half edges [m], of the box around the shape that a corner belongs to.
        is_corner: Whether it is the corner of a box.
    """

    at: Pose
    kind: str = "ball"
    radius: float = 0.0
    radii: tuple[float, float, float] = (0.0, 0.0, 0.0)
    middle: Pose | None = None
    half: Array | None = None
    is_corner: bool = False
    end: int = 0


POINTS_OF_BOXES = 8
"""Contacts of two boxes: points that a run finds as it goes."""

POINTS_OF_EDGES, POINTS_OF_CAPS = 4, 6
"""Contacts of the side, and of the flat ends, of a capsule or cylinder with edges of a box, likewise."""

Pairs = set[tuple[str, Any, str, Any]]
"""Pairs of boxes and of capsules that have been found: link and shape of the one, and of the other, a surface's."""


def meetings_of(m: Mechanism, link: Link, surface: Surface, found: Pairs) -> Iterator[tuple[Touch | Box, Any]]:
    """What of a link may touch which shape of a surface: points, then boxes on boxes, sides and flat ends.

    Two boxes, sides of two capsules, and a side and a box touch once, whichever of them is the surface; those that
    touch are added to `found`.
    """
    for touch in touches_of(m, link):
        for shape in surface.shapes:
            if not (touch.is_corner and isinstance(shape, Box)):
                yield touch, shape
    for own in contact_shapes_of(m, link):
        for shape in surface.shapes:
            met = list(_met(own, shape))
            if met and (surface.link, shape, link.name, own) not in found:
                found.add((link.name, own, surface.link, shape))
                yield from ((touch, shape) for touch in met)


def _met(own: Any, shape: Any) -> Iterator[Touch | Box]:
    """What of a shape touches another one besides its points."""
    if isinstance(own, Box) and isinstance(shape, Box):
        yield own
    elif isinstance(own, Capsule) and isinstance(shape, Sphere | Capsule):
        half = (0.5 * own.length, 0.0, 0.0)
        for end in (1,) if isinstance(shape, Sphere) else (-1, 1, 0):
            yield Touch(own.at, "side", own.radius, half, end=end)
    elif isinstance(own, Capsule | Cylinder) and isinstance(shape, Box):
        half = (0.5 * own.length, own.radius if isinstance(own, Cylinder) else 0.0, 0.0)
        for i in range(POINTS_OF_EDGES):
            yield Touch(own.at, "edge", own.radius, half, end=i)
        for i in range(POINTS_OF_CAPS if isinstance(own, Cylinder) else 0):
            yield Touch(own.at, "cap", own.radius, half, end=i)


def touches_of(m: Mechanism, link: Link) -> Iterator[Touch]:
    """Points of a link that may touch; one within a larger shape of the link is none, since that touches first."""
    shapes = contact_shapes_of(m, link)
    for shape in shapes:
        for touch in _touches(shape, link):
            if not any(_is_inside(other, touch) for other in shapes if other is not shape):
                yield touch


def _is_inside(shape: Any, touch: Touch) -> bool:
    """Whether a ball lies within a sphere or capsule that is larger."""
    if not isinstance(shape, Sphere | Capsule) or shape.radius <= touch.radius:
        return False
    x, y, z = shape.at.R.T @ (touch.at.p - shape.at.p)
    half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
    beyond = max(0.0, abs(float(z)) - half)
    return float(np.sqrt(x * x + y * y + beyond * beyond)) + touch.radius <= shape.radius


def _touches(shape: Any, link: Link) -> Iterator[Touch]:
    """Points of one shape."""
    if isinstance(shape, ContactPoint):
        yield Touch(shape.at)
    elif isinstance(shape, Sphere):
        yield Touch(shape.at, radius=shape.radius)
    elif isinstance(shape, Capsule):
        for z in (-0.5, 0.5):
            yield Touch(shape.at @ Pose(p=(0.0, 0.0, z * shape.length)), radius=shape.radius)
    elif isinstance(shape, Box):
        half = 0.5 * np.array(shape.size)
        for corner in CORNERS:
            at = shape.at @ Pose(p=np.array(corner) * shape.size)
            yield Touch(at, middle=shape.at, half=half, is_corner=True)
    elif isinstance(shape, Cylinder):
        for z in (-0.5, 0.5):
            for cosine, sine in _PLACES:
                at = shape.at @ Pose(p=(0.0, 0.0, z * shape.length))
                yield Touch(at, "rim", shape.radius, (cosine, sine, 0.0))
    elif isinstance(shape, Ellipsoid):
        yield Touch(shape.at, "ellipsoid", radii=shape.radii)
    else:
        assert isinstance(shape, Mesh)
        vertices = convex_vertices(shape, link.name)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        for vertex in vertices:
            yield Touch(Pose(p=vertex), middle=Pose(p=0.5 * (low + high)), half=0.5 * (high - low))
