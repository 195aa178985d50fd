"""Contacts of a structure: every pair of a link's contact shape and a surface that may touch, as records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.kernels.contact_records import (
    BALL_POINT,
    BOX,
    CAP,
    CAPSULE,
    CONTACT,
    CYLINDER,
    ELLIPSOID,
    HALF_SPACE,
    HEIGHTS,
    N_CAPS,
    N_EDGES,
    N_OVERLAP,
    OVERLAP,
    RIM,
    SIDE,
    SPHERE,
)
from varichain.layout.workspace import Workspace
from varichain.mechanism.contact import HalfSpace, Surface, may_touch
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Sphere
from varichain.scene.contact_points import (
    POINTS_OF_BOXES,
    POINTS_OF_CAPS,
    POINTS_OF_EDGES,
    Meeting,
    Pairs,
    Touch,
    meetings_of,
)
from varichain.scene.hulls import Hull
from varichain.spatial.pose import Pose

assert (POINTS_OF_BOXES, POINTS_OF_EDGES, POINTS_OF_CAPS) == (N_OVERLAP, N_EDGES, N_CAPS)  # as pictures count them
_KINDS = {"ball": BALL_POINT, "rim": RIM, "ellipsoid": ELLIPSOID, "side": SIDE, "edge": SIDE, "cap": CAP}


class Contacts(NamedTuple):
    """Contacts of a structure.

    Attributes:
        records: One a point and surface (CONTACT).
        pairs: Names of the link and of the surface of each.
        surfaces: The surfaces; records have addresses of their height fields.
        hulls: All hulls; records have addresses of their numbers.
    """

    records: NDArray[Any]
    pairs: list[tuple[str, str]]
    surfaces: tuple[Surface, ...]
    hulls: tuple[Hull, ...] = ()

    @property
    def has_moments(self) -> bool:
        """Whether any has torsional or rolling friction."""
        return bool(self.records["torsional"].any() or self.records["rolling"].any())

    @property
    def names(self) -> list[str]:
        """Name of each, such as "left foot on floor 2": the second of that link and that surface."""
        counts: dict[tuple[str, str], int] = {}
        found = []
        for pair in self.pairs:
            counts[pair] = counts.get(pair, 0) + 1
            found.append(f"{pair[0]} on {pair[1]} {counts[pair]}")
        return found


def contacts_of(m: Mechanism, workspace: Workspace) -> Contacts:
    """Contacts of a mechanism in the structure of a workspace."""
    links = workspace.array("links")
    records: list[dict[str, Any]] = []
    pairs: list[tuple[str, str]] = []
    pairs_found: Pairs = set()
    hulls: list[Hull] = []
    for surface in m.surfaces.values():
        carrier = links[m._rows[surface.link]]
        for link in m.links:
            body = links[m._rows[link.name]]
            if not may_touch(m, link, surface) or body["body"] == carrier["body"]:
                continue
            for meeting in meetings_of(m, link, surface, pairs_found):
                found = list(_records(meeting, surface, body, carrier))
                records += found
                pairs += [(link.name, surface.name)] * len(found)
                hulls += [shape for shape in meeting if isinstance(shape, Hull)]
    return Contacts(_filled(records), pairs, tuple(m.surfaces.values()), tuple(hulls))


def _records(meeting: Meeting, surface: Surface, body: Any, carrier: Any) -> Iterator[dict[str, Any]]:
    """Records of the contacts of a link with a surface: one for a point, several for two boxes or hulls."""
    touch, shape, is_swapped = meeting
    A, B = (carrier, body) if is_swapped else (body, carrier)
    common = _surface_record(B, shape, surface) | {"sign": -1.0 if is_swapped else 1.0}
    if isinstance(touch, Box | Hull):
        yield from (_solid_record(A, touch) | common | {"place": place} for place in range(N_OVERLAP))
    else:
        yield _point_record(A, touch) | common


def _filled(entries: list[dict[str, Any]]) -> NDArray[Any]:
    records = np.zeros(len(entries), CONTACT)
    for record, entry in zip(records, entries, strict=True):
        for name, value in entry.items():
            record[name] = value
    return records


def _in_body(link: Any, at: Pose) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Rotation (9,) and place of a frame of a link in its body."""
    R = link["R"].reshape(3, 3)
    return (R @ at.R).ravel(), R @ at.p + link["p"]


def _surface_record(link: Any, shape: Any, surface: Surface) -> dict[str, Any]:
    R, p = _in_body(link, shape.at)
    record = {"body_B": link["body"], "R_B": R, "p_B": p}
    record |= {name: getattr(surface, name) for name in ("friction", "restitution", "torsional", "rolling")}
    if isinstance(shape, HalfSpace):
        return record | {"surface_kind": HALF_SPACE}
    if isinstance(shape, Box):
        return record | {"surface_kind": BOX, "sizes": 0.5 * np.array(shape.size)}
    if isinstance(shape, Hull):
        return record | {"surface_kind": BOX, "sizes": shape.half, "hull_B": _hull_record(shape)}
    if isinstance(shape, Cylinder):
        return record | {"surface_kind": CYLINDER, "sizes": (shape.radius, 0.5 * shape.length, 0.0)}
    if isinstance(shape, Sphere):
        return record | {"surface_kind": SPHERE, "sizes": (shape.radius, 0.0, 0.0)}
    if isinstance(shape, HeightField):
        grid = (shape.nodes.ctypes.data, *shape.heights.shape)
        return record | {"surface_kind": HEIGHTS, "sizes": (*shape.spacing, 0.0), "grid": grid}
    assert isinstance(shape, Capsule)
    return record | {"surface_kind": CAPSULE, "sizes": (shape.radius, 0.5 * shape.length, 0.0)}


def _point_record(body: Any, touch: Touch) -> dict[str, Any]:
    """A point of a link that may touch, as part of a record."""
    R, p = _in_body(body, touch.at)
    values = {"point_kind": _KINDS[touch.kind], "radius": touch.radius, "radii": touch.radii, "place": touch.end}
    return {"body_A": body["body"], "R_A": R, "p_A": p, **values}


def _solid_record(body: Any, solid: Box | Hull) -> dict[str, Any]:
    """A box or hull of a link that may touch other ones, as part of a record."""
    R, p = _in_body(body, solid.at)
    record = {"point_kind": OVERLAP, "body_A": body["body"], "R_A": R, "p_A": p}
    if isinstance(solid, Hull):
        return record | {"hull_A": _hull_record(solid)}
    return record | {"half": 0.5 * np.array(solid.size)}


def _hull_record(hull: Hull) -> tuple[int, ...]:
    """Where the numbers of a hull are, and how many vertices, faces and edges it has."""
    return (hull.numbers.ctypes.data, *hull.counts)


def require_contacts(m: Mechanism, contacts: Contacts) -> None:
    """Raise InputError if a mechanism has surfaces that nothing can touch."""
    touched = {surface for _, surface in contacts.pairs}
    alone = [name for name in m.surfaces if name not in touched]
    if alone:
        raise InputError(
            f"no link can touch surface {alone[0]!r}: links touch by their shapes; give some shapes, or "
            "m.set_contact_shapes(link, shapes)"
        )


def require_smooth(contacts: Contacts) -> None:
    """Raise InputError if the gap of a contact is no smooth function of the configuration, as `exact` contacts need."""
    for (link, surface), record in zip(contacts.pairs, contacts.records, strict=True):
        why = _roughness(record)
        if why:
            raise InputError(
                f"contacts='exact' cannot locate how {link!r} touches surface {surface!r}: {why}; use contacts="
                "'stepping'"
            )


def _roughness(record: Any) -> str:
    """Why a contact cannot be located, as one whose gap is not smooth; empty if it can."""
    if record["torsional"] or record["rolling"]:
        return "torsional and rolling friction have no events of their own"
    is_ball = record["point_kind"] == BALL_POINT and record["radius"] > 0.0
    if record["surface_kind"] == BOX and (record["hull_B"][0] or not is_ball):
        return "the face of a box or mesh that a point is nearest to changes from one instant to the next"
    if record["surface_kind"] == CYLINDER and not is_ball:
        return "the place of a cylinder that is nearest to a point changes from its side to a flat end at once"
    if record["surface_kind"] == HEIGHTS:
        return "the curvature of a height field jumps from one of its cells to the next"
    if record["point_kind"] == SIDE:
        return (
            "the place where capsules cross slides along both of them; give it spheres or contact points with "
            "m.set_contact_shapes(link, shapes)"
        )
    if record["point_kind"] == RIM:
        return (
            "the lowest points of a cylinder's rim jump where it stands; give it spheres, capsules, boxes or contact "
            "points with m.set_contact_shapes(link, shapes)"
        )
    if record["point_kind"] == ELLIPSOID and record["surface_kind"] != HALF_SPACE:
        return "the gap of an ellipsoid is exact on half-spaces alone"
    return ""
