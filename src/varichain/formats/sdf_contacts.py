"""Contacts of SDF: collisions of links that move become contact shapes, those of links that stand become surfaces."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from varichain.formats.contacts import ContactEntries, PairLaw, SurfaceEntry, check_pairs
from varichain.formats.description import WORLD, Description
from varichain.formats.meshes import MeshFolders
from varichain.formats.sdf_frames import Within
from varichain.formats.sdf_shapes import shape_of
from varichain.formats.xml import Element
from varichain.mechanism.contact import SURFACE_SHAPES, HalfSpace
from varichain.mechanism.shapes import Cylinder, Mesh
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_with_z_along

_ALL = 0xFFFF  # collide_bitmask unless a file has one
_KNOWN = {
    "surface": {"friction", "bounce", "contact"},
    "friction": {"ode"},
    "ode": {"mu", "mu2"},
    "bounce": {"restitution_coefficient"},
    "contact": {"collide_bitmask"},
}


@dataclass(eq=False)
class Collision:
    """A <collision>: its link, name, shape (None if it can be none here) and surface."""

    link: str
    name: str
    shape: Any
    friction: float
    restitution: float
    mask: int
    line: int


@dataclass(eq=False)
class Collisions:
    """All <collision> elements of a file, as they are read."""

    found: list[Collision] = field(default_factory=list)

    def read(self, description: Description, link: Element, name: str, within: Within, folders: MeshFolders) -> None:
        """Read those of one link."""
        for k, element in enumerate(link.all("collision")):
            own = f"{name}::{element.attributes.get('name', '').strip() or f'collision {k}'}"
            surface = element.get("surface")
            friction, restitution, mask = 1.0, 0.0, _ALL
            if surface is not None:
                _note_unknown(description, surface)
                friction = _friction(description, surface, own)
                restitution = _number(surface, ("bounce", "restitution_coefficient"), 0.0)
                mask = _mask(surface)
            shape = _shape(description, element, within(element), folders)
            if not 0.0 <= restitution <= 1.0 or friction < 0.0:
                raise element.error(
                    f"has friction {friction:g} and restitution {restitution:g}; friction is at least 0, restitution "
                    "from 0 to 1"
                )
            self.found.append(Collision(name, own, shape, friction, restitution, mask, element.line))

    def enter(self, description: Description) -> None:
        """Make contacts of them: of a pair, the smaller friction and the smaller restitution hold, as in Gazebo.

        Raises:
            FormatError: More pairs than anybody needs.
        """
        still = _still(description)
        moving = [one for one in self.found if one.link not in still]
        standing = [one for one in self.found if one.link in still]
        check_pairs(description, len(standing), len(moving), "collisions")
        entries = ContactEntries()
        for link in description.links:
            if link not in still:
                entries.shapes[link] = []
        for one in moving:
            if one.shape is None or isinstance(one.shape, HalfSpace):
                _note(description, one, "contact shape")
            else:
                entries.shapes[one.link].append(one.shape)
        for one in standing:
            if isinstance(one.shape, SURFACE_SHAPES) and not isinstance(one.shape, Mesh | Cylinder):
                _add_surface(entries, one, moving)
            else:
                _note(description, one, "surface, as planes, boxes, spheres and capsules can")
        description.contacts = entries
        _note_rest(description, moving)


def _add_surface(entries: ContactEntries, one: Collision, moving: Iterable[Collision]) -> None:
    """Enter a surface, if anything may touch it; of several collisions of a link the largest coefficients count."""
    laws: dict[str, PairLaw] = {}
    for other in moving:
        if one.mask & other.mask:
            friction, restitution = min(one.friction, other.friction), min(one.restitution, other.restitution)
            law = PairLaw(friction, restitution=restitution)
            laws[other.link] = laws.get(other.link, PairLaw()).larger(law)
    if laws:
        entries.surfaces.append(SurfaceEntry(one.name, one.link, one.shape, laws))


def _still(description: Description) -> set[str]:
    """Links that stand: those of static models, and those that joints without freedoms fix to the world or to them."""
    still = {WORLD, *description.fixed}
    ties: dict[str, list[str]] = {}
    for joint in description.joints.values():
        if joint.model.n_v == 0:
            ties.setdefault(joint.parent, []).append(joint.child)
            ties.setdefault(joint.child, []).append(joint.parent)
    reached = [*still]
    while reached:
        for link in ties.get(reached.pop(), ()):
            if link not in still:
                still.add(link)
                reached.append(link)
    return still


def _shape(description: Description, element: Element, at: Pose, folders: MeshFolders) -> Any:
    geometry = element.get("geometry")
    inside = geometry.children[0] if geometry is not None and geometry.children else None
    if inside is None:
        return None
    if inside.tag != "plane":
        return shape_of(description, inside, folders, at, None)
    normal = inside.get("normal")
    axis = (0.0, 0.0, 1.0) if normal is None else normal.numbers(3)
    length = sum(x * x for x in axis) ** 0.5
    if not 0.0 < length < 1e150:
        raise inside.error("has a normal that is no direction")
    x, y, z = (part / length for part in axis)
    return HalfSpace(at @ Pose(R=matrix_with_z_along((x, y, z))))


def _friction(description: Description, surface: Element, name: str) -> float:
    """Coefficient of friction: of two, along and across a direction, the smaller one."""
    mu = _number(surface, ("friction", "ode", "mu"), 1.0)
    mu2 = _number(surface, ("friction", "ode", "mu2"), mu)
    if mu2 != mu:
        text = f"collision {name!r} has mu {mu:g} and mu2 {mu2:g}: the smaller one is taken in all directions"
        description.source.note(text, surface.line)
    return min(mu, mu2)


def _mask(surface: Element) -> int:
    number = _number(surface, ("contact", "collide_bitmask"), float(_ALL))
    if number != int(number) or not 0.0 <= number < 2.0**32:
        raise surface.error(f"collide_bitmask must be a whole number from 0 to {2**32 - 1}, not {number:g}")
    return int(number)


def _number(element: Element, path: tuple[str, ...], default: float) -> float:
    found: Element | None = element
    for tag in path:
        found = None if found is None else found.get(tag)
    return default if found is None else found.numbers(1)[0]


def _note_unknown(description: Description, element: Element) -> None:
    for child in element.children:
        if child.tag not in _KNOWN[element.tag]:
            description.source.ignore(f"<{child.tag}> in <{element.tag}> of a collision")
        elif child.tag in _KNOWN:
            _note_unknown(description, child)


def _note(description: Description, one: Collision, what: str) -> None:
    description.source.note(f"collision {one.name!r} cannot be a {what}: left out", one.line)


def _note_rest(description: Description, moving: list[Collision]) -> None:
    note = description.source.note
    laws: dict[str, set[tuple[float, float]]] = {}
    for one in moving:
        laws.setdefault(one.link, set()).add((one.friction, one.restitution))
    if len(laws) > 1:
        note("contact between links is left out: m.add_surface lets links be touched")
    for link, of in laws.items():
        if len(of) > 1:
            note(f"collisions of link {link!r} differ in friction or restitution: the largest count")
