"""Contacts of a structure: every pair of a link's contact shape and a surface that may touch, as records."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.instants.contact_meshes import convex_vertices
from varichain.kernels.contact_records import (
    BALL_POINT,
    BOX,
    CAPSULE,
    CONTACT,
    ELLIPSOID,
    HALF_SPACE,
    RIM,
    SPHERE,
)
from varichain.layout.workspace import Workspace
from varichain.mechanism.contact import ContactPoint, HalfSpace, Surface, contact_shapes_of, may_touch
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from varichain.spatial.pose import Pose

# Places on a rim, from its lowest point: a cylinder that stands does so on four points.
_PLACES = ((1.0, 0.0), (0.0, 1.0), (-1.0, 0.0), (0.0, -1.0))
_CORNERS = tuple((x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5))


class Contacts(NamedTuple):
    """Contacts of a structure.

    Attributes:
        records: One a point and surface (CONTACT).
        pairs: Names of the link and of the surface of each.
    """

    records: NDArray[Any]
    pairs: list[tuple[str, str]]

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
    for surface in m.surfaces.values():
        carrier = links[m._rows[surface.link]]
        on_surface = [_surface_record(carrier, shape, surface) for shape in surface.shapes]
        for link in m.links:
            body = links[m._rows[link.name]]
            if not may_touch(m, link, surface) or body["body"] == carrier["body"]:
                continue
            for point in _points(m, link, body):
                for record in on_surface:
                    records.append(point | record)
                    pairs.append((link.name, surface.name))
    return Contacts(_filled(records), pairs)


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
    record |= {"friction": surface.friction, "restitution": surface.restitution}
    if isinstance(shape, HalfSpace):
        return record | {"surface_kind": HALF_SPACE}
    if isinstance(shape, Box):
        return record | {"surface_kind": BOX, "sizes": 0.5 * np.array(shape.size)}
    if isinstance(shape, Sphere):
        return record | {"surface_kind": SPHERE, "sizes": (shape.radius, 0.0, 0.0)}
    assert isinstance(shape, Capsule)
    return record | {"surface_kind": CAPSULE, "sizes": (shape.radius, 0.5 * shape.length, 0.0)}


def _points(m: Mechanism, link: Link, body: Any) -> Iterator[dict[str, Any]]:
    """Points of a link that may touch, as parts of records."""
    shapes = contact_shapes_of(m, link)
    for shape in shapes:
        for at, radius, values in _places(shape, link):
            if any(_is_inside(other, at.p, radius) for other in shapes if other is not shape):
                continue  # the other shape touches first
            R, p = _in_body(body, at)
            if "middle" in values:
                values = values | {"middle": _in_body(body, values["middle"])[1]}
            yield {"body_A": body["body"], "R_A": R, "p_A": p, "radius": radius, **values}


def _is_inside(shape: Any, p: NDArray[np.float64], radius: float) -> bool:
    """Whether a ball lies within a sphere or capsule that is larger."""
    if not isinstance(shape, Sphere | Capsule) or shape.radius <= radius:
        return False
    x, y, z = shape.at.R.T @ (p - shape.at.p)
    half = 0.5 * shape.length if isinstance(shape, Capsule) else 0.0
    beyond = max(0.0, abs(float(z)) - half)
    return float(np.sqrt(x * x + y * y + beyond * beyond)) + radius <= shape.radius


def _places(shape: Any, link: Link) -> Iterator[tuple[Pose, float, dict[str, Any]]]:
    """Place, radius and kind of every point of a shape."""
    ball = {"point_kind": BALL_POINT}
    if isinstance(shape, ContactPoint):
        yield shape.at, 0.0, ball
    elif isinstance(shape, Sphere):
        yield shape.at, shape.radius, ball
    elif isinstance(shape, Capsule):
        for z in (-0.5, 0.5):
            yield shape.at @ Pose(p=(0.0, 0.0, z * shape.length)), shape.radius, ball
    elif isinstance(shape, Box):
        for corner in _CORNERS:
            values = ball | {"middle": shape.at, "half": 0.5 * np.array(shape.size)}
            yield shape.at @ Pose(p=np.array(corner) * shape.size), 0.0, values
    elif isinstance(shape, Cylinder):
        for z in (-0.5, 0.5):
            for cosine, sine in _PLACES:
                values = {"point_kind": RIM, "radii": (cosine, sine, 0.0)}
                yield shape.at @ Pose(p=(0.0, 0.0, z * shape.length)), shape.radius, values
    elif isinstance(shape, Ellipsoid):
        yield shape.at, 0.0, {"point_kind": ELLIPSOID, "radii": shape.radii}
    else:
        assert isinstance(shape, Mesh)
        vertices = convex_vertices(shape, link.name)
        low, high = vertices.min(axis=0), vertices.max(axis=0)
        values = ball | {"middle": Pose(p=0.5 * (low + high)), "half": 0.5 * (high - low)}
        for vertex in vertices:
            yield Pose(p=vertex), 0.0, values


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
    """Why the gap of a contact is not smooth; empty if it is."""
    if record["surface_kind"] == BOX:
        return "the face of a box that a point is nearest to changes from one instant to the next"
    if record["point_kind"] == RIM:
        return (
            "the lowest points of a cylinder's rim jump where it stands; give it spheres, capsules, boxes or contact "
            "points with m.set_contact_shapes(link, shapes)"
        )
    if record["point_kind"] == ELLIPSOID and record["surface_kind"] != HALF_SPACE:
        return "the gap of an ellipsoid is exact on half-spaces alone"
    return ""
