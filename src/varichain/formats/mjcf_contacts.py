"""Contacts of MJCF: geoms that collide become contact shapes of links, those of the world become surfaces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from varichain.formats.contacts import ContactEntries, Friction, SurfaceEntry
from varichain.formats.description import Description
from varichain.formats.mjcf_shapes import HEIGHTS, PLANE, height_field_of_geom, shape_of_geom
from varichain.mechanism.contact import SURFACE_SHAPES, HalfSpace
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.mjcf import Names

MOST_PAIRS = 200_000  # of a geom of the world and one of a link
_FRICTIONLESS, _TORSIONAL, _ROLLING = 1, 4, 6  # condim


def read_contacts(description: Description, model: Any, names: Names, path: Path) -> None:
    """Take over which geoms touch the world, with MuJoCo's masks and its friction of each pair.

    Bodies that are welded to the world count as the world. What has no place here is noted: contact between links, soft
    contact (solref, solimp), margins, and shapes that cannot be surfaces.
    """
    entries = ContactEntries()
    still, moving = _geoms(model)
    if len(still) * len(moving) > MOST_PAIRS:
        raise description.error(
            f"{len(still)} geoms of the world and {len(moving)} of links have more than {MOST_PAIRS} pairs: too many "
            "for contacts=True"
        )
    for body in range(1, model.nbody):
        entries.shapes[names.link(body)] = []
    for geom in moving:
        shape = shape_of_geom(model, geom, path)
        if shape is None:
            description.source.note(f"geom {_name(model, geom)!r} cannot be a contact shape: left out")
        else:
            entries.shapes[names.link(int(model.geom_bodyid[geom]))].append(shape)
    for geom in still:
        surface = _surface(model, geom, path)
        if not isinstance(surface, SURFACE_SHAPES):
            description.source.note(
                f"geom {_name(model, geom)!r} cannot be a surface, as planes, boxes, spheres, capsules and height "
                "fields can: left out"
            )
            continue
        friction = _frictions(model, names, geom, moving)
        if friction:
            link = names.link(int(model.geom_bodyid[geom]))
            entries.surfaces.append(SurfaceEntry(_name(model, geom), link, surface, friction))
    description.contacts = entries
    _note(description, model, moving)


def _geoms(model: Any) -> tuple[list[int], list[int]]:
    """Geoms that collide: those of the world and of bodies welded to it, and those of bodies that move."""
    colliding = [g for g in range(model.ngeom) if model.geom_contype[g] or model.geom_conaffinity[g]]
    is_still = [model.body_weldid[model.geom_bodyid[g]] == 0 for g in colliding]
    still = [g for g, stands in zip(colliding, is_still, strict=True) if stands]
    return still, [g for g, stands in zip(colliding, is_still, strict=True) if not stands]


def _surface(model: Any, geom: int, path: Path) -> Any:
    """What a geom of the world is as a surface, if it can be one."""
    if model.geom_type[geom] == PLANE:
        return HalfSpace(_place(model, geom))
    if model.geom_type[geom] == HEIGHTS and model.body_weldid[model.geom_bodyid[geom]] == 0:
        return height_field_of_geom(model, geom)
    return shape_of_geom(model, geom, path)


def _place(model: Any, geom: int) -> Pose:
    return Pose(model.geom_pos[geom], quaternion=model.geom_quat[geom])


def _name(model: Any, geom: int) -> str:
    return model.geom(geom).name or f"geom {geom}"


def _frictions(model: Any, names: Names, geom: int, moving: list[int]) -> dict[str, Friction]:
    """Friction with each link that may touch a geom: the largest of its geoms, of each kind."""
    found: dict[str, Friction] = {}
    for other in moving:
        masks = (model.geom_contype, model.geom_conaffinity)
        if (masks[0][geom] & masks[1][other]) | (masks[0][other] & masks[1][geom]):
            link = names.link(int(model.geom_bodyid[other]))
            found[link] = _larger(found.get(link, (0.0, 0.0, 0.0)), _friction(model, geom, other))
    return found


def _larger(a: Friction, b: Friction) -> Friction:
    return max(a[0], b[0]), max(a[1], b[1]), max(a[2], b[2])


def _friction(model: Any, a: int, b: int) -> Friction:
    """Friction of a pair: of the geom with the higher priority, else the larger of each kind, as `condim` has it."""
    first, second = int(model.geom_priority[a]), int(model.geom_priority[b])
    pair = [a, b] if first == second else [a if first > second else b]
    dimensions = max(int(model.geom_condim[g]) for g in pair)
    least = (_FRICTIONLESS + 1, _TORSIONAL, _ROLLING)
    sliding, torsional, rolling = (
        max(float(model.geom_friction[g][k]) for g in pair) if dimensions >= least[k] else 0.0 for k in range(3)
    )
    return sliding, torsional, rolling


def _note(description: Description, model: Any, moving: list[int]) -> None:
    note = description.source.note
    note("contacts are rigid here: solref and solimp have no meaning, and nothing bounces")
    if len({int(model.geom_bodyid[g]) for g in moving}) > 1:
        note("contact between links is left out: m.add_surface lets links be touched")
    if any(float(model.geom_margin[g]) for g in range(model.ngeom)):
        note("margins of contacts are left out")
