"""Shapes as triangles; those in mesh files through trimesh, if it is installed."""

from __future__ import annotations

import os
from functools import lru_cache

import numpy as np

from varichain.errors import InputError
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Shape, Sphere
from varichain.scene import triangles
from varichain.scene.triangles import Triangles

LARGEST = 2**28  # bytes of a mesh file
_FINER, _MOST_CELLS = 4, 60  # cells along an axis of a picture of a height field, per cell of its own, and in all
SUFFIXES = (".3mf", ".dae", ".glb", ".gltf", ".obj", ".off", ".ply", ".stl")


def shape_triangles(shape: Shape | HeightField, notes: list[str] | None = None) -> Triangles | None:
    """Surface of a shape in its link's frame; None for a mesh file that cannot be read, and a note why in `notes`."""
    surface, note = _surface(shape)
    if surface is None and notes is not None and note not in notes:
        notes.append(note)
    return surface


@lru_cache(maxsize=4096)  # the epochs of a run have the same shapes
def _surface(shape: Shape | HeightField) -> tuple[Triangles | None, str]:
    """Surface of a shape, or why there is none."""
    if not isinstance(shape, Mesh):
        return _solid(shape).moved(shape.at), ""
    note = shape.refusal() or _unfit(str(shape.path))
    if note:
        return None, f"mesh {shape.path!r} is left out: {note}"
    surface, note = _mesh(str(shape.path))
    return None if surface is None else surface.stretched(shape.scale).moved(shape.at), note


def _solid(shape: Shape | HeightField) -> Triangles:
    match shape:
        case Capsule(radius=radius, length=length):
            return triangles.capsule(radius, length)
        case Cylinder(radius=radius, length=length):
            return triangles.cylinder(radius, length)
        case Box(size=size):
            return triangles.box(size)
        case Sphere(radius=radius):
            return triangles.sphere(radius)
        case Ellipsoid(radii=radii):
            return triangles.ellipsoid(radii)
        case HeightField():
            return _relief(shape)
    raise InputError(f"a shape of type {type(shape).__name__} cannot be drawn; add it to varichain.scene.meshes")


def _relief(field: HeightField) -> Triangles:
    """Surface of a height field, as fine as its grid and finer where that is coarse, with a limit."""
    reach = [0.5 * length for length in field.size]
    counts = [min(_FINER * (n - 1), _MOST_CELLS) + 1 for n in field.heights.shape]
    axes = [np.linspace(-half, half, n) for half, n in zip(reach, counts, strict=True)]
    places = np.stack(np.meshgrid(*axes, indexing="ij"), axis=-1)
    points = np.concatenate([places, field.heights_at(places)[..., None]], axis=-1)
    return triangles.sheet(points, field.normals_at(places))


def _unfit(path: str) -> str:
    """Why a mesh file that is there is not read; empty if it is."""
    real = os.path.realpath(path)
    if os.path.splitext(real)[1].lower() not in SUFFIXES:
        return f"its name ends in none of {', '.join(SUFFIXES)}"
    return f"it is larger than {LARGEST // 2**20} MiB" if os.path.getsize(real) > LARGEST else ""


@lru_cache(maxsize=256)  # left and right have the same, mirrored
def _mesh(path: str) -> tuple[Triangles | None, str]:
    """Surface in a mesh file, or why there is none."""
    try:
        import trimesh
    except ImportError:
        return None, f"mesh {path!r} is left out: mesh files need the package trimesh (pip install 'varichain[mesh]')"
    try:
        found = trimesh.load(path, force="mesh", skip_materials=True, process=False)
        vertices, faces = np.array(found.vertices, np.float64), np.array(found.faces, np.int32)
    except Exception as error:  # what a reader of foreign files raises is not to be foreseen
        return None, f"mesh {path!r} is left out: {type(error).__name__}: {error}"
    if not len(faces) or not np.isfinite(vertices).all():
        return None, f"mesh {path!r} is left out: it has no triangles"
    return triangles.shaded(vertices, faces), ""
