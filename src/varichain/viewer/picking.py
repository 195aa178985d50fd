"""Point of a link under a click."""

from __future__ import annotations

import numpy as np

from varichain.scene import Part
from varichain.spatial.arrays import Array


def picked_point(part: Part, p_WL: Array, R_WL: Array, origin: Array, direction: Array) -> Array | None:
    """The point, in the link's frame (3,) [m], where a ray in the world first meets a part; None if it does not.

    Every triangle a, b, c: origin + t direction = a + u (b - a) + w (c - a), by Cramer's rule.
    """
    start, way = R_WL.T @ (origin - p_WL), R_WL.T @ direction
    nearest = np.inf
    for surface in part.surfaces:
        a, b, c = (surface.triangles.vertices[surface.triangles.faces[:, k]] for k in range(3))
        ab, ac, to = b - a, c - a, start - a
        across = np.cross(way, ac)
        volume = np.einsum("ij,ij->i", ab, across)
        with np.errstate(divide="ignore", invalid="ignore"):  # triangles edge-on: no intersection
            u = np.einsum("ij,ij->i", to, across) / volume
            beside = np.cross(to, ab)
            w = beside @ way / volume
            t = np.einsum("ij,ij->i", ac, beside) / volume
            is_inside = (u >= 0.0) & (w >= 0.0) & (u + w <= 1.0) & (t > 0.0)
        nearest = min(nearest, float(t[is_inside].min(initial=np.inf)))
    return start + nearest * way if np.isfinite(nearest) else None
