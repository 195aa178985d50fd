"""Footprints that the ground has kept, as parts that appear when they are made."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.scene import palette
from varichain.scene.scene import Part, Surface
from varichain.scene.triangles import Triangles
from varichain.spatial.arrays import Array

_GROUPS = 48  # parts, at most: prints that are made one after the other share one
_LIFT = 1e-3  # [m] above the ground, so that they are seen on it


def footprints_of(log: list[dict[str, Any]]) -> list[tuple[float, Part]]:
    """Parts of dark cells in world axes, each with the time from which it is there [s]."""
    found: list[tuple[float, Part]] = []
    for entry in log:
        if entry.get("kind") == "footprints" and len(entry.get("columns", ())) == 5:
            cells, size = np.asarray(entry["cells"], dtype=np.float64), float(entry["cell"])
            cells = cells[np.argsort(cells[:, 4], kind="stable")]
            for group in np.array_split(cells, min(_GROUPS, len(cells))):
                made = float(group[:, 4].max())
                triangles = _cells(group, size)
                found.append((made, Part(f"footprints {len(found)}", (Surface(triangles, palette.FOOTPRINT),))))
    return found


def _cells(cells: Array, size: float) -> Triangles:
    """Squares of all cells, as two triangles each."""
    n, h = len(cells), 0.5 * size
    corners = np.array([(-h, -h, _LIFT), (h, -h, _LIFT), (h, h, _LIFT), (-h, h, _LIFT)])
    vertices = cells[:, None, [0, 1, 3]] + corners
    faces = 4 * np.arange(n)[:, None, None] + np.array([(0, 1, 2), (0, 2, 3)])
    normals = np.tile([0.0, 0.0, 1.0], (4 * n, 1))
    return Triangles(vertices.reshape(-1, 3), normals, faces.reshape(-1, 3))
