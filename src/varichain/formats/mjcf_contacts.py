"""Contacts of MJCF: geoms that collide become contact shapes of links, those of the world become surfaces."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from varichain.formats.contacts import ContactEntries, PairLaw, SurfaceEntry, check_pairs
from varichain.formats.description import Description
from varichain.formats.mjcf_shapes import HEIGHTS, PLANE, height_field_of_geom, shape_of_geom
from varichain.mechanism.contact import SURFACE_SHAPES, HalfSpace
from varichain.mechanism.shapes import Cylinder, Mesh
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.formats.mjcf import Names

_FRICTIONLESS, _TORSIONAL, _ROLLING = 1, 4, 6  # condim


def read_contacts(description: Description, model: Any, names: Names, path: Path) -> None:
    """Take over which geoms touch the world, with MuJoCo's masks and its friction of each pair.

    Bodies that are welded to the world count as the world. What has no place here is noted: contact between links, soft
    contact (solref, solimp), margins, and shapes that cannot be surfaces.
    """
    entries = ContactEntries()
    still, moving = _geoms(model)
    check_pairs(description, len(still), len(moving), "geoms")
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
        if isinstance(surface, Mesh | Cylinder) or not isinstance(surface, SURFACE_SHAPES):
            description.source.note(
                f"geom {_name(model, geom)!r} cannot be a surface, as planes, boxes, spheres, capsules and height "
                "fields can: left out; cylinders, and meshes that are convex, can be added with m.add_surface"
            )
            continue
        laws = _laws(model, names, geom, moving)
        if laws:
            link = names.link(int(model.geom_bodyid[geom]))
            entries.surfaces.append(SurfaceEntry(_name(model, geom), link, surface, laws))
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


def _laws(model: Any, names: Names, geom: int, moving: list[int]) -> dict[str, PairLaw]:
    """Law with each link that may touch a geom: the largest numbers of the link's geoms."""
    found: dict[str, PairLaw] = {}
    for other in moving:
        masks = (model.geom_contype, model.geom_conaffinity)
        if (masks[0][geom] & masks[1][other]) | (masks[0][other] & masks[1][geom]):
            link = names.link(int(model.geom_bodyid[other]))
            found[link] = found.get(link, PairLaw()).larger(_law(model, geom, other))
    return found


def _law(model: Any, a: int, b: int) -> PairLaw:
    """Friction of a pair: of the geom with the higher priority, else the larger of each kind, as `condim` has it."""
    first, second = int(model.geom_priority[a]), int(model.geom_priority[b])
    pair = [a, b] if first == second else [a if first > second else b]
    dimensions = max(int(model.geom_condim[g]) for g in pair)
    least = (_FRICTIONLESS + 1, _TORSIONAL, _ROLLING)
    sliding, torsional, rolling = (
        max(float(model.geom_friction[g][k]) for g in pair) if dimensions >= least[k] else 0.0 for k in range(3)
    )
    return PairLaw(sliding, torsional, rolling)


def _note(description: Description, model: Any, moving: list[int]) -> None:
    note = description.source.note
    note("contacts are rigid here: solref and solimp have no meaning, and nothing bounces")
    if len({int(model.geom_bodyid[g]) for g in moving}) > 1:
        note("contact between links is left out: m.add_surface lets links be touched")
    if any(float(model.geom_margin[g]) for g in range(model.ngeom)):
        note("margins of contacts are left out")
