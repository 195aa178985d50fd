"""Surfaces of the ground that links may touch, as shapes that are seen: ramps, walls, seats; level floors by height."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from varichain.mechanism.contact import HalfSpace
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Shape
from varichain.scene import palette
from varichain.scene.meshes import shape_triangles
from varichain.spatial.pose import Pose

_LEVEL = 1e-9  # of the normal, beside the vertical
_PLATE, _THIN = 12.0, 0.004  # edge of the plate that shows a half-space, in largest links; its thickness, in edges


def floor_height(m: Mechanism) -> float | None:
    """Height [m] of the highest level half-space of the ground, else just below its height fields; None without."""
    shapes = [shape for surface in m.surfaces.values() if surface.link == m.ground.name for shape in surface.shapes]
    heights = [float(shape.at.p[2]) for shape in shapes if isinstance(shape, HalfSpace) and _is_level(shape)]
    lowest = [_below(shape) for shape in shapes if isinstance(shape, HeightField)]
    return max(heights, default=min(lowest, default=None))


def _below(field: HeightField) -> float:
    """A height [m] that is a little lower than any point of a height field."""
    relief = shape_triangles(field)
    assert relief is not None
    heights = relief.vertices[:, 2]
    return float(heights.min()) - _THIN * max(field.size)


def ground_shapes(m: Mechanism, reach: float) -> list[Shape | HeightField]:
    """What surfaces of the ground look like, beside shapes of its own and level floors, for links of a reach [m]."""
    found: list[Shape | HeightField] = []
    for surface in m.surfaces.values():
        if surface.link == m.ground.name:
            for shape in surface.shapes:
                if isinstance(shape, HalfSpace):
                    found += [] if _is_level(shape) else [_plate(shape, _PLATE * reach)]
                elif shape not in m.ground.shapes:
                    found.append(_painted(shape) if isinstance(shape, HeightField) else shape)
    return found


def _is_level(shape: HalfSpace) -> bool:
    return bool(np.linalg.norm(shape.at.R[:2, 2]) < _LEVEL and shape.at.R[2, 2] > 0.0)


def _painted(field: HeightField) -> HeightField:
    """A height field in its colour, or in that of surfaces."""
    return field if field.color is not None else replace(field, color=palette.SURFACE[:3])


def _plate(shape: HalfSpace, edge: float) -> Box:
    """Plate whose upper side is the plane of a half-space."""
    thickness = _THIN * edge
    below = shape.at @ Pose(p=(0.0, 0.0, -0.5 * thickness))
    return Box((edge, edge, thickness), at=below, color=palette.SURFACE[:3])
