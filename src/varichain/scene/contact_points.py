"""Points by which links touch surfaces: those of their contact shapes, in the order in which contacts are numbered."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from varichain.errors import InputError
from varichain.mechanism.contact import ContactPoint, Surface, contact_shapes_of
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from varichain.scene.hulls import CORNERS, Hull, hull_of
from varichain.spatial.pose import Pose

# Places on a rim, from its lowest point: a cylinder that stands does so on four points.
_PLACES = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
_FLAT, _ROUND = (Box, Mesh), (Sphere, Capsule)
# What meets a mesh or a cylinder that is a surface.
_ON = {Mesh: (ContactPoint, *_ROUND, *_FLAT), Cylinder: (ContactPoint, *_ROUND, Box)}
_MOST_PAIRS = 40_000  # of edges of two hulls: a look at each of them takes half a millisecond


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
    """

    at: Pose
    kind: str = "ball"
    radius: float = 0.0
    radii: tuple[float, float, float] = (0.0, 0.0, 0.0)
    end: int = 0


POINTS_OF_BOXES = 8
"""Contacts of two boxes or hulls: points that a run finds as it goes."""

POINTS_OF_EDGES, POINTS_OF_CAPS = 4, 6
"""Contacts of the side, and of the flat ends, of a capsule or cylinder with edges of a box, likewise."""

Pairs = set[tuple[str, Any, str, Any]]
"""Pairs of shapes that have been found: link and shape of the one, and of the other, a surface's."""


class Meeting(NamedTuple):
    """What may touch what: a link and a surface, or the other way round.

    Attributes:
        touch: A point of the link; or a box or hull of it, on another one.
        shape: Of the surface: a box, a hull, a half-space, ...
        is_swapped: Whether `touch` belongs to the surface and `shape` to the link: spheres and capsules that are
            surfaces touch boxes, meshes and cylinders, as they do as links, and cylinders touch boxes and capsules.
            Corners alone would let faces through.
    """

    touch: Touch | Box | Hull
    shape: Any
    is_swapped: bool = False


def meetings_of(m: Mechanism, link: Link, surface: Surface, found: Pairs) -> Iterator[Meeting]:
    """What of a link may touch which shape of a surface: points, then boxes on boxes, sides and flat ends.

    Two shapes touch once, whichever of them is the surface; those that can be either are added to `found`.

    Raises:
        InputError: A mesh is not convex, or too fine; or a shape meets a mesh or cylinder that cannot.
    """
    pairs = [
        (own, shape)
        for own in contact_shapes_of(m, link)
        for shape in surface.shapes
        if (surface.link, shape, link.name, own) not in found
    ]
    found.update((link.name, own, surface.link, shape) for own, shape in pairs)
    for own, shape in pairs:
        kinds = _ON.get(type(shape))
        if kinds and not isinstance(own, kinds):
            names = ", ".join(kind.__name__ for kind in kinds)
            raise InputError(
                f"link {link.name!r} cannot touch the {type(shape).__name__.lower()} of surface {surface.name!r} by "
                f"its {type(own).__name__}: give m.set_contact_shapes({link.name!r}, shapes) any of {names}, or leave "
                "it out of touched_by"
            )
    for own, touch in touches_of(m, link):
        for shape in surface.shapes:
            if (own, shape) in pairs and _has_points(own, shape):
                yield Meeting(touch, _solid(shape, surface.link))
    for own, shape in pairs:
        if isinstance(shape, Cylinder) and isinstance(own, Capsule | Box):
            yield from (_swapped(meeting) for meeting in _met_by_cylinder(shape, surface.link, own, link.name))
        else:
            yield from _met(own, link.name, shape, surface.link)


def _swapped(meeting: Meeting) -> Meeting:
    return meeting._replace(is_swapped=not meeting.is_swapped)


def _met_by_cylinder(own: Cylinder, link: str, shape: Capsule | Box, carrier: str) -> Iterator[Meeting]:
    """What of a cylinder touches a capsule or a box, its rims included."""
    yield from (Meeting(touch, shape) for touch in _touches(own, link))
    yield from _met(own, link, shape, carrier)


def _solid(shape: Any, link: str) -> Any:
    """A shape, or the hull of a mesh."""
    return hull_of(shape, link) if isinstance(shape, Mesh) else shape


def _has_points(own: Any, shape: Any) -> bool:
    """Whether a shape touches another one by points of its own."""
    if isinstance(own, Cylinder):
        return not isinstance(shape, Sphere)
    if isinstance(shape, Cylinder):
        return not isinstance(own, Capsule | Box)
    return not (isinstance(own, _FLAT) and isinstance(shape, _FLAT + _ROUND))


def _met(own: Any, link: str, shape: Any, carrier: str) -> Iterator[Meeting]:
    """What of a shape touches another one besides its points."""
    if isinstance(own, Box) and isinstance(shape, Box):
        yield Meeting(own, shape)
    elif isinstance(own, _FLAT) and isinstance(shape, _FLAT):
        hulls = hull_of(own, link), hull_of(shape, carrier)
        _check_edges(hulls, link, carrier)
        yield Meeting(*hulls)
    elif isinstance(own, (*_FLAT, Cylinder)) and isinstance(shape, _ROUND):
        solid = _solid(own, link)
        yield from (Meeting(touch, solid, True) for touch in _touches(shape, carrier))
        if isinstance(own, Cylinder):
            yield from (Meeting(touch, shape) for touch in _sides(own, shape, (0,)))
        else:
            yield from (Meeting(touch, solid, True) for touch in _edges(shape))
    elif isinstance(own, Capsule) and isinstance(shape, _ROUND):
        ends = (1,) if isinstance(shape, Sphere) else (-1, 1, 0)
        yield from (Meeting(touch, shape) for touch in _sides(own, shape, ends))
    elif isinstance(own, Capsule | Cylinder) and isinstance(shape, _FLAT):
        yield from (Meeting(touch, _solid(shape, carrier)) for touch in _edges(own))


def _sides(own: Capsule | Cylinder, shape: Any, ends: tuple[int, ...]) -> Iterator[Touch]:
    """The side of a capsule or cylinder that meets ends of a sphere or capsule, or crosses its side (0)."""
    half = (0.5 * own.length, 0.0, 0.0)
    for end in ends:
        if end or isinstance(shape, Capsule):
            yield Touch(own.at, "side", own.radius, half, end=end)


def _edges(own: Any) -> Iterator[Touch]:
    """The side and the flat ends of a capsule or cylinder on edges of a box or hull."""
    if isinstance(own, Capsule | Cylinder):
        half = (0.5 * own.length, own.radius if isinstance(own, Cylinder) else 0.0, 0.0)
        for i in range(POINTS_OF_EDGES):
            yield Touch(own.at, "edge", own.radius, half, end=i)
        for i in range(POINTS_OF_CAPS if isinstance(own, Cylinder) else 0):
            yield Touch(own.at, "cap", own.radius, half, end=i)


def _check_edges(hulls: tuple[Hull, Hull], link: str, carrier: str) -> None:
    """Raise InputError if two hulls have too many edges."""
    a, b = (len(hull.edges) for hull in hulls)
    if a * b > _MOST_PAIRS:
        raise InputError(
            f"links {link!r} and {carrier!r} cannot touch: their hulls have {a} and {b} edges, {a * b} pairs, of which "
            f"there may be {_MOST_PAIRS}; give m.set_contact_shapes(link, shapes) a coarser mesh, such as the hull of "
            "fewer vertices, or boxes, capsules and spheres"
        )


def touches_of(m: Mechanism, link: Link) -> Iterator[tuple[Any, Touch]]:
    """Points of a link that may touch, with the shapes that they belong to.

    One within a larger shape of the link is none, since that touches first.
    """
    shapes = contact_shapes_of(m, link)
    for shape in shapes:
        for touch in _touches(shape, link.name):
            if not any(_is_inside(other, touch) for other in shapes if other is not shape):
                yield shape, touch


def _is_inside(shape: Any, touch: Touch) -> bool:
    """Whether a ball lies within a sphere or capsule that is larger."""
    if not isinstance(shape, Sphere | Capsule) or shape.radius <= touch.radius:
        return False
    x, y, z = shape.at.R.T @ (touch.at.p - shape.at.p)
    half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
    beyond = max(0.0, abs(float(z)) - half)
    return float(np.sqrt(x * x + y * y + beyond * beyond)) + touch.radius <= shape.radius


def _touches(shape: Any, link: str) -> Iterator[Touch]:
    """Points of one shape."""
    if isinstance(shape, ContactPoint):
        yield Touch(shape.at)
    elif isinstance(shape, Sphere):
        yield Touch(shape.at, radius=shape.radius)
    elif isinstance(shape, Capsule):
        for z in (-0.5, 0.5):
            yield Touch(shape.at @ Pose(p=(0.0, 0.0, z * shape.length)), radius=shape.radius)
    elif isinstance(shape, Box):
        for corner in CORNERS:
            yield Touch(shape.at @ Pose(p=np.array(corner) * shape.size))
    elif isinstance(shape, Cylinder):
        for z in (-0.5, 0.5):
            for cosine, sine in _PLACES:
                at = shape.at @ Pose(p=(0.0, 0.0, z * shape.length))
                yield Touch(at, "rim", shape.radius, (cosine, sine, 0.0))
    elif isinstance(shape, Ellipsoid):
        yield Touch(shape.at, "ellipsoid", radii=shape.radii)
    else:
        assert isinstance(shape, Mesh)
        hull = hull_of(shape, link)
        for vertex in hull.vertices:
            yield Touch(hull.at @ Pose(p=vertex))
