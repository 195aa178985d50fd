"""Vertices of convex meshes, by which links touch surfaces."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.mechanism.shapes import Mesh

_DENT = 1e-3  # part of a mesh's size that a vertex may lie inside of the hull: rounding of files


def convex_vertices(shape: Mesh, link: str) -> NDArray[np.float64]:
    """Vertices (n, 3) of a mesh's convex hull, in the link's frame.

    Raises:
        InputError: The mesh cannot be read, is flat, or is not convex.
    """
    from scipy.spatial import ConvexHull, QhullError  # which few runs need

    from varichain.scene.meshes import shape_triangles

    notes: list[str] = []
    surface = shape_triangles(shape, notes)
    if surface is None:
        raise InputError(f"link {link!r} cannot touch by its mesh: {notes[0]}")
    vertices = np.asarray(surface.vertices, float)
    try:
        hull = ConvexHull(vertices)
    except (QhullError, ValueError):
        raise InputError(f"link {link!r} cannot touch by mesh {shape.path!r}: it is flat, and has no inside") from None
    inside = -(vertices @ hull.equations[:, :3].T + hull.equations[:, 3]).max(axis=1)
    deepest, size = float(inside.max()), float(np.ptp(vertices, axis=0).max())
    if deepest > _DENT * size:
        raise InputError(
            f"link {link!r} cannot touch by mesh {shape.path!r}: it is not convex: a vertex lies {deepest:.3g} m "
            "inside its hull; give m.set_contact_shapes(link, shapes) convex parts"
        )
    found: NDArray[np.float64] = vertices[hull.vertices]
    return found
