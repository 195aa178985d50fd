"""Surfaces that links may touch, and the contact shapes that links touch them with: pure structure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple

from varichain.errors import DuplicateNameError, InputError, StructureError, UnknownNameError
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.link import Link
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Placement, Shape, Sphere
from varichain.spatial.checks import finite_scalar, is_many, name_string, non_negative_scalar, several, shown
from varichain.spatial.frozen import Frozen
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

_AT_ORIGIN = Pose()

FRICTION = 0.8
"""Coefficient of friction of a surface that is given none: rubber or skin on a hard floor."""


@dataclass(frozen=True)
class HalfSpace(Frozen):
    """Everything below a plane: the xy plane of `at`, whose z axis points out of the half-space."""

    at: Placement = _AT_ORIGIN

    def __post_init__(self) -> None:
        """Check the pose."""
        self._set("at", Pose.coerce(self.at, "at"))


@dataclass(frozen=True)
class ContactPoint(Frozen):
    """A single point of a link that touches surfaces, at the origin of `at` in the link's frame."""

    at: Placement = _AT_ORIGIN

    def __post_init__(self) -> None:
        """Check the place."""
        self._set("at", Pose.coerce(self.at, "at"))


SurfaceShape = HalfSpace | Box | Sphere | Capsule | Cylinder | Mesh | HeightField
ContactShape = ContactPoint | Shape
SURFACE_SHAPES = (HalfSpace, Box, Sphere, Capsule, Cylinder, Mesh, HeightField)
CONTACT_SHAPES = (ContactPoint, Sphere, Capsule, Box, Cylinder, Ellipsoid, Mesh)


class Surface(NamedTuple):
    """What links may touch.

    Attributes:
        name: Its name.
        link: Name of the link that it is fixed to.
        shapes: Half-spaces, boxes, spheres, capsules, cylinders, convex meshes and height fields, in the link's frame.
        friction: Coefficient of friction, at rest and in motion [1].
        restitution: Part of the closing velocity that an impact turns round, 0 to 1.
        touched_by: Names of the links that may touch it; None for all but its own link and that link's neighbours.
        torsional: Largest moment of friction about the normal per normal force [m].
        rolling: Largest moment of friction against rolling per normal force [m].
    """

    name: str
    link: str
    shapes: tuple[SurfaceShape, ...]
    friction: float
    restitution: float
    touched_by: tuple[str, ...] | None
    torsional: float = 0.0
    rolling: float = 0.0


def new_surface(
    m: Mechanism, name: Any, link: str | Link, shapes: Any, touched_by: Any, law: dict[str, Any]
) -> Surface:
    """A surface, checked; its name must not be taken. `law` has friction, restitution, torsional and rolling."""
    if name_string(name, "name of the surface") in m._surfaces:
        raise DuplicateNameError("surface", name)
    carrier = _real(m.link(link))
    what = f"of surface {name!r}"
    friction, torsional, rolling = (
        non_negative_scalar(law[key], f"{word} {what}")
        for key, word in (
            ("friction", "friction"),
            ("torsional", "torsional friction"),
            ("rolling", "rolling friction"),
        )
    )
    part = finite_scalar(law["restitution"], f"restitution {what}")
    if not 0.0 <= part <= 1.0:
        raise InputError(f"restitution {what} must be from 0 to 1, not {part:g}")
    links = None if touched_by is None else _link_names(m, touched_by, what)
    found = _surface_shapes(carrier, shapes, what)
    return Surface(name, carrier.name, found, friction, part, links, torsional, rolling)


def _real(link: Link) -> Link:
    if link.is_virtual:
        raise StructureError(f"{link!r} is a copy and touches nothing; name its real link {link.real!r}")
    return link


def _link_names(m: Mechanism, links: Any, what: str) -> tuple[str, ...]:
    given = [links] if isinstance(links, str | Link) else links
    if not is_many(given):
        raise InputError(f"touched_by {what} must be names of links, or None for all, not {shown(links)}")
    return tuple(dict.fromkeys([_real(m.link(link)).name for link in given]))


def _surface_shapes(link: Link, shapes: Any, what: str) -> tuple[SurfaceShape, ...]:
    """Shapes of a surface; the link's own if none are given."""
    given = link.shapes if shapes is None else shapes
    found = tuple(several(given))
    if not found:
        raise InputError(f"shapes {what} must be given: link {link.name!r} has no shapes of its own")
    for shape in found:
        if not isinstance(shape, SURFACE_SHAPES):
            names = ", ".join(kind.__name__ for kind in SURFACE_SHAPES)
            raise InputError(f"shapes {what} must be any of {names}, not {shown(shape)}")
        if isinstance(shape, HeightField) and not link.is_ground:
            raise InputError(f"shapes {what} have a HeightField, which is fixed to the ground, not to {link.name!r}")
    return found


def checked_contact_shapes(link: Link, shapes: Any) -> tuple[ContactShape, ...]:
    """Contact shapes of a link, one or several."""
    if _real(link).is_ground:
        raise StructureError("the ground touches nothing by itself; give it a surface that links touch")
    found = tuple(several(shapes))
    for shape in found:
        if not isinstance(shape, CONTACT_SHAPES):
            names = ", ".join(kind.__name__ for kind in CONTACT_SHAPES)
            raise InputError(f"contact shapes of link {link.name!r} must be any of {names}, not {shown(shape)}")
    return found


def contact_shapes_of(m: Mechanism, link: Link) -> Sequence[ContactShape]:
    """Shapes that a link touches surfaces with: those it was given for that, or its own."""
    return m._contact_shapes.get(link.name, link.shapes)


def may_touch(m: Mechanism, link: Link, surface: Surface) -> bool:
    """Whether a link may touch a surface.

    Neighbours of a surface's link, which a joint of the tree or of a loop holds to it, may not unless they are named;
    of the ground, which is everywhere, all links may.
    """
    if link.name == surface.link:
        return False
    if surface.touched_by is not None:
        return link.name in surface.touched_by
    carrier = m.link(surface.link)
    return carrier.is_ground or link not in _neighbours(m, carrier)


def _neighbours(m: Mechanism, link: Link) -> list[Link]:
    found = [child for child in link.children if not child.is_virtual]
    if link.parent is not None and not link.parent.is_ground:
        found.append(link.parent)
    for virtual in m.virtual_links:
        if virtual.real is not None and virtual.parent is not None and link in (virtual.real, virtual.parent):
            found += [virtual.real, virtual.parent]
    return found


def surface_named(m: Mechanism, name: Any) -> Surface:
    """The surface of that name."""
    if not isinstance(name, str):
        raise InputError(f"a surface is asked for by its name, not as {shown(name)}")
    if name not in m._surfaces:
        raise UnknownNameError("surface", name, m._surfaces)
    return m._surfaces[name]
