"""Surfaces and contact shapes of scenario files, for the mechanism that they are meant for."""

from __future__ import annotations

from typing import Any

from varichain.errors import InputError, PenetrationError, VarichainError
from varichain.mechanism.contact import ContactPoint, HalfSpace
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Sphere
from varichain.scenarios.marks import Location
from varichain.scenarios.scenario import Scenario
from varichain.scenarios.schema import SIZES, ScenarioFile, TouchedSurface, TouchingShape
from varichain.scenarios.validation import Faults, unknown
from varichain.spatial.pose import Pose

_KINDS: dict[str, Any] = {
    "half-space": HalfSpace,
    "box": Box,
    "sphere": Sphere,
    "capsule": Capsule,
    "cylinder": Cylinder,
    "ellipsoid": Ellipsoid,
    "point": ContactPoint,
    "height-field": HeightField,
}


def add_surfaces(m: Mechanism, file: ScenarioFile, kept: dict[str, list[int]], faults: Faults) -> None:
    """Give a mechanism the surfaces and contact shapes of a file; what does not fit is noted."""
    links = [link.name for link in m.links]
    for name, shapes in file.contact_shapes.items():
        location = ("contact_shapes", name)
        if name not in links:
            faults.add(location, unknown("link", name, links), of_key=True)
            continue
        try:
            m.set_contact_shapes(name, _shapes(shapes))
        except VarichainError as error:
            faults.add(location, str(error))
    for i, found in zip(kept.get("surfaces", []), file.surfaces, strict=True):
        _add_surface(m, found, ("surfaces", i), links, faults)


def _add_surface(m: Mechanism, found: TouchedSurface, location: Location, links: list[str], faults: Faults) -> None:
    ends: list[tuple[Location, str, list[str]]] = [(("link",), found.link, ["ground", *links])]
    ends += [(("touched_by", i), name, links) for i, name in enumerate(found.touched_by or ())]
    wrong = [end for end in ends if end[1] not in end[2]]
    for place, name, valid in wrong:
        faults.add((*location, *place), unknown("link", name, valid))
    if wrong:
        return
    law = ("friction", "restitution", "torsional", "rolling")
    given = {name: getattr(found, name) for name in law if getattr(found, name) is not None}
    try:
        shapes = None if found.shapes is None else _shapes(found.shapes)
        m.add_surface(found.name, found.link, shapes, touched_by=found.touched_by, **given)
    except VarichainError as error:
        faults.add(location, str(error))


def _shapes(found: list[TouchingShape]) -> list[Any]:
    """Shapes of the mechanism, from those of the file."""
    shapes = []
    for shape in found:
        sizes = {name: getattr(shape, name) for name in SIZES[shape.kind]}
        shapes.append(_KINDS[shape.kind](**sizes, at=Pose(shape.at, rpy=shape.rpy)))
    return shapes


def check_start(base: Scenario, settings: dict[str, Any], file: ScenarioFile, faults: Faults) -> None:
    """Note contacts without a surface, surfaces without contacts, and links that are in a surface at the start."""
    from varichain.simulation.separating import require_apart

    keys = [key for key in ("contacts", "surfaces", "contact_shapes") if getattr(file, key)]
    if keys and base.particles is not None:
        faults.add((keys[0],), f"scenario {file.scenario!r} is one of particles, which have a ground", of_key=True)
        return
    has_contacts = settings.get("contacts", "off") != "off"
    if keys and file.contacts is None and not has_contacts:
        faults.add((keys[0],), "counts with `contacts: stepping` or `contacts: exact` alone", of_key=True)
    if not has_contacts or faults.found:
        return
    try:
        require_apart(base.mechanism, base.state)
    except InputError as error:
        faults.add((keys[0] if keys else "scenario",), str(error))
    except PenetrationError as error:
        deep = ", ".join(
            f"{link!r} is in {surface!r} by {depth:.3g} m" for (link, surface), depth in error.depths.items()
        )
        faults.add((keys[0] if keys else "scenario",), f"at the start {deep}")
