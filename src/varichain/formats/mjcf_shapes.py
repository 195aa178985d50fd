"""Shapes of MJCF bodies: geoms that are drawn, meshes as references."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from varichain.formats.description import Description
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from varichain.spatial.pose import Pose

PLANE, HEIGHTS = 0, 1
"""Types of geoms that are a plane, or a height field."""


def shapes_of_bodies(
    description: Description, model: Any, path: Path, has_contacts: bool = False
) -> dict[int, list[Shape]]:
    """Shapes of every body, in its frame; planes and height fields have a place in contacts alone."""
    shapes: dict[int, list[Shape]] = {body: [] for body in range(model.nbody)}
    for geom in range(model.ngeom):
        shape = shape_of_geom(model, geom, path)
        if shape is None and not (has_contacts and model.geom_type[geom] in (PLANE, HEIGHTS)):
            description.source.ignore("plane, height field or other shape without a solid")
        elif shape is not None:
            shapes[int(model.geom_bodyid[geom])].append(shape)
    return shapes


def height_field_of_geom(model: Any, geom: int) -> HeightField:
    """Height field of a geom, in the frame of its body; rows of the file's data run along x."""
    number = int(model.geom_dataid[geom])
    n_y, n_x = int(model.hfield_nrow[number]), int(model.hfield_ncol[number])
    first = int(model.hfield_adr[number])
    x, y, top, _ = (float(size) for size in model.hfield_size[number])
    heights = top * model.hfield_data[first : first + n_x * n_y].reshape(n_y, n_x).T
    at, color = _place_and_color(model, geom)
    return HeightField(heights, (2.0 * x / (n_x - 1), 2.0 * y / (n_y - 1)), at, color)


def shape_of_geom(model: Any, geom: int, path: Path) -> Shape | None:
    """Shape of a geom, in the frame of its body; None if it is no solid."""
    return _shape(model, geom, *_place_and_color(model, geom), path)


def _place_and_color(model: Any, geom: int) -> tuple[Pose, Any]:
    at = Pose(model.geom_pos[geom], quaternion=model.geom_quat[geom])
    return at, tuple(min(max(float(part), 0.0), 1.0) for part in model.geom_rgba[geom])


def _shape(model: Any, geom: int, at: Pose, color: Any, path: Path) -> Shape | None:
    a, b, c = (float(size) for size in model.geom_size[geom])
    match int(model.geom_type[geom]):
        case 2:
            return Sphere(a, at, color)
        case 3:
            return Capsule(a, 2.0 * b, at, color)
        case 4:
            return Ellipsoid((a, b, c), at, color)
        case 5:
            return Cylinder(a, 2.0 * b, at, color)
        case 6:
            return Box((2.0 * a, 2.0 * b, 2.0 * c), at, color)
        case 7:
            return _mesh(model, int(model.geom_dataid[geom]), at, color, path)
    return None


def _mesh(model: Any, mesh: int, at: Pose, color: Any, path: Path) -> Shape | None:
    """A mesh by its file; MuJoCo has moved its points to their centre, which is undone."""
    start = int(model.mesh_pathadr[mesh])
    if start < 0:
        return None
    name = bytes(model.paths[start:]).partition(b"\0")[0].decode(errors="replace")
    moved = Pose(model.mesh_pos[mesh], quaternion=model.mesh_quat[mesh])
    scale = tuple(float(factor) for factor in model.mesh_scale[mesh])
    return Mesh(str(path.parent / name), scale, at @ moved.inverse(), color)
