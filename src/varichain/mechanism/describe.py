"""A mechanism as plain values and back, exact to the bit: for files, and for what must be rebuilt elsewhere."""

from __future__ import annotations

from typing import Any

from varichain.errors import InputError
from varichain.mechanism.arguments import checked_loop_joint, checked_shapes, refuse_loop_joint
from varichain.mechanism.check import check
from varichain.mechanism.connections import check_ends
from varichain.mechanism.contact import Surface
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import RANK_TOLERANCE, Mechanism
from varichain.mechanism.plain import (
    Plain,
    entries_of,
    inertia_from,
    joint_from,
    list_from,
    located,
    plain_inertia,
    plain_joint,
    plain_pose,
    plain_shape,
    pose_from,
    shape_from,
    whole_number,
)
from varichain.mechanism.shapes import Shape
from varichain.spatial.checks import finite_scalar, instance, name_string
from varichain.spatial.pose import Pose

_ENTRIES = (
    "name",
    "gravity",
    "rank_tolerance",
    "next_id",
    "links",
    "frames",
    "couplings",
    "surfaces",
    "contact_shapes",
)
_FRAME = ("name", "link", "at")
_COUPLING = ("name", "joint", "to", "multiplier", "offset")
_SURFACE = ("name", "link", "shapes", "friction", "restitution", "touched_by", "torsional", "rolling")
_REAL = ("id", "name", "parent", "place", "joint", "at", "inertia", "shapes")
_VIRTUAL = ("id", "name", "parent", "place", "joint", "at", "real", "on_real")


def description(m: Mechanism) -> Plain:
    """The structure of a mechanism as plain values, ready for JSON: all of it but `revision`, `log` and `source`.

    Links stand in the order of their ids, ground left out; `parent` and `real` are names, `place` counts the children
    of the parent. A virtual link has `real` and `on_real` where others have `inertia` and `shapes`. Read it, do not
    edit it: descriptions of one mechanism share the links that did not change.
    """
    instance(m, Mechanism, "m")
    places = {child.id: i for link in m._links.values() for i, child in enumerate(link.children)}
    links = [_plain_link(link, places[link.id]) for link in m._links.values() if not link.is_ground]
    frames = [{"name": name, "link": frame.link, "at": plain_pose(frame.at)} for name, frame in m.frames.items()]
    couplings = [{key: getattr(coupling, key) for key in _COUPLING} for coupling in m.couplings]
    parts = {"links": links, "frames": frames, "couplings": couplings}
    parts["surfaces"] = [_plain_surface(surface) for surface in m.surfaces.values()]
    touching = [(name, [plain_shape(shape) for shape in shapes]) for name, shapes in m._contact_shapes.items()]
    parts["contact_shapes"] = [{"link": name, "shapes": shapes} for name, shapes in touching]
    own = {"name": m.name, "gravity": m.gravity.tolist(), "rank_tolerance": m.rank_tolerance}
    return {**own, "next_id": m._next_id, **parts}


def mechanism_from(description: Any) -> Mechanism:
    """The mechanism of a description: the same links, ids, names, order and numbers, to the bit; an empty log.

    Raises:
        InputError: Something is missing, unknown or wrong; the message names the place.
        StructureError: The parts are right, but no mechanism is made of them.
    """
    if isinstance(description, dict):  # one that was written before there was a choice has none
        description = {"rank_tolerance": RANK_TOLERANCE, "surfaces": [], "contact_shapes": [], **description}
    entries = entries_of(description, _ENTRIES, "description")
    with located("description"):
        m = Mechanism(entries["name"], entries["gravity"])
        m.rank_tolerance = entries["rank_tolerance"]
    for i, row in enumerate(list_from(entries["links"], _link_entries, "links")):
        _hang(m, row, f"links[{i}]")
    _order_children(m, entries["links"])
    m._next_id = whole_number(entries["next_id"], "next_id")
    for i, row in enumerate(
        list_from(entries["frames"], lambda value, place: entries_of(value, _FRAME, place), "frames")
    ):
        with located(f"frames[{i}]"):
            m.add_frame(row["name"], row["link"], pose_from(row["at"], f"frames[{i}].at"))
    found = list_from(entries["couplings"], _coupling, "couplings")
    m._couplings = {coupling.name: coupling for coupling in found}
    if len(m._couplings) < len(found):
        raise InputError("couplings must have different names")
    list_from(entries["surfaces"], lambda value, place: _add_surface(m, value, place), "surfaces")
    list_from(entries["contact_shapes"], lambda value, place: _set_contact_shapes(m, value, place), "contact_shapes")
    check(m)
    return m


def _plain_link(link: Link, place: int) -> Plain:
    """A link as plain values, kept with it until it is edited: a structure change describes few links anew."""
    assert link.parent is not None and link.joint is not None
    key = (link.parent, place, link.joint, link.at, link.inertia)
    if link._plain is None or any(is_now is not was for is_now, was in zip(key, link._plain[0], strict=True)):
        link._edit(_plain=(key, _new_plain_link(link, link.parent, place, link.joint)))
    row: Plain = link._plain[1]
    return row


def _new_plain_link(link: Link, parent: Link, place: int, joint: Joint) -> Plain:
    row: Plain = {
        "id": link.id,
        "name": link.name,
        "parent": parent.name,
        "place": place,
        "joint": plain_joint(joint),
        "at": plain_pose(link.at),
    }
    if link.real is not None:
        return row | {"real": link.real.name, "on_real": plain_pose(link.on_real)}
    return row | {"inertia": plain_inertia(link.inertia), "shapes": [plain_shape(shape) for shape in link.shapes]}


def _link_entries(value: Any, place: str) -> Plain:
    is_virtual = isinstance(value, dict) and ("real" in value or "on_real" in value)
    return entries_of(value, _VIRTUAL if is_virtual else _REAL, place)


def _hang(m: Mechanism, row: Plain, place: str) -> None:
    """Hang a link on its parent, behind the children that it has already."""
    link, parent = _link(row, place), _named(m, row["parent"], f"{place}.parent")
    assert link.joint is not None
    if parent.is_virtual:
        raise InputError(f"{place}.parent must not be virtual, as {parent.name!r} is")
    if link.id < m._next_id:
        raise InputError(f"{place}.id must be at least {m._next_id}: ids grow in the order of the links, 0 is ground")
    for what, name, taken in (("name", link.name, m._by_name), ("joint.name", link.joint.name, m._by_joint)):
        if name in taken:
            raise InputError(f"{place}.{what} must be unique, but {name!r} is taken")
    if "real" in row:
        real = _named(m, row["real"], f"{place}.real")
        with located(place):
            check_ends(real, parent)
        link._edit(real=real)
    m._hang(link, parent)


def _link(row: Plain, place: str) -> Link:
    """Link that hangs nowhere yet, without its real link."""
    joint = joint_from(row["joint"], f"{place}.joint")
    if joint.name is None or joint.actuated is None:
        raise InputError(f"{place}.joint must have a name and say whether it is actuated")
    is_virtual = "real" in row
    with located(place):
        name = name_string(row["name"], "name")
    with located(f"{place}.joint"):
        if is_virtual:
            checked_loop_joint(joint)
        else:
            refuse_loop_joint(joint, name)
    return Link(
        whole_number(row["id"], f"{place}.id"),
        name,
        joint,
        pose_from(row["at"], f"{place}.at"),
        Inertia.zero() if is_virtual else inertia_from(row["inertia"], f"{place}.inertia"),
        () if is_virtual else _shapes(row["shapes"], f"{place}.shapes"),
        on_real=pose_from(row["on_real"], f"{place}.on_real") if is_virtual else Pose(),
    )


def _shapes(value: Any, place: str) -> tuple[Shape, ...]:
    found = list_from(value, shape_from, place)
    with located(place):
        return checked_shapes(found)


def _order_children(m: Mechanism, rows: list[Plain]) -> None:
    """Put the children of every link in the order of their places; by itself it is that of their ids."""
    places = {row["name"]: whole_number(row["place"], f"links[{i}].place") for i, row in enumerate(rows)}
    for parent in m._links.values():
        children = list(parent.children)
        ordered = sorted(children, key=lambda child: places[child.name])
        if [places[child.name] for child in ordered] != list(range(len(ordered))):
            found = ", ".join(f"{child.name!r} {places[child.name]}" for child in children)
            raise InputError(f"links: places of the children of {parent.name!r} must be 0, 1, 2, ...; found {found}")
        if ordered != children:
            for child in children:
                parent._remove_child(child)
            for child in ordered:
                parent._append_child(child)


def _coupling(value: Any, place: str) -> Coupling:
    row = entries_of(value, _COUPLING, place)
    with located(place):
        name, joint, to = (name_string(row[key], key) for key in ("name", "joint", "to"))
        multiplier, offset = (finite_scalar(row[key], key) for key in ("multiplier", "offset"))
    return Coupling(name, joint, to, multiplier, offset)


def _plain_surface(surface: Surface) -> Plain:
    row = surface._asdict()
    row["shapes"] = [plain_shape(shape) for shape in surface.shapes]
    row["touched_by"] = None if surface.touched_by is None else list(surface.touched_by)
    return row


def _add_surface(m: Mechanism, value: Any, place: str) -> None:
    if isinstance(value, dict):  # one that was written before surfaces had these
        value = {"torsional": 0.0, "rolling": 0.0, **value}
    row = entries_of(value, _SURFACE, place)
    row["shapes"] = list_from(row["shapes"], shape_from, f"{place}.shapes")
    with located(place):
        m.add_surface(**row)


def _set_contact_shapes(m: Mechanism, value: Any, place: str) -> None:
    row = entries_of(value, ("link", "shapes"), place)
    with located(place):
        m.set_contact_shapes(row["link"], list_from(row["shapes"], shape_from, f"{place}.shapes"))


def _named(m: Mechanism, name: Any, place: str) -> Link:
    with located(place):
        return m.link(name)
