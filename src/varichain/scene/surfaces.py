"""Surfaces of the ground that links may touch, as shapes that are seen: ramps, walls, seats; level floors by height."""

from __future__ import annotations

import numpy as np

from varichain.mechanism.contact import HalfSpace
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.shapes import Box, Shape
from varichain.scene import palette
from varichain.spatial.pose import Pose

_LEVEL = 1e-9  # of the normal, beside the vertical
_PLATE, _THIN = 12.0, 0.004  # edge of the plate that shows a half-space, in largest links; its thickness, in edges


def floor_height(m: Mechanism) -> float | None:
    """Height [m] of the highest level half-space of the ground; None if there is none."""
    heights = [
        float(shape.at.p[2])
        for surface in m.surfaces.values()
        for shape in surface.shapes
        if isinstance(shape, HalfSpace) and surface.link == m.ground.name and _is_level(shape)
    ]
    return max(heights, default=None)


def ground_shapes(m: Mechanism, reach: float) -> list[Shape]:
    """What surfaces of the ground look like, beside shapes of its own and level floors, for links of a reach [m]."""
    found: list[Shape] = []
    for surface in m.surfaces.values():
        if surface.link == m.ground.name:
            for shape in surface.shapes:
                if isinstance(shape, HalfSpace):
                    found += [] if _is_level(shape) else [_plate(shape, _PLATE * reach)]
                elif shape not in m.ground.shapes:
                    found.append(shape)
    return found


def _is_level(shape: HalfSpace) -> bool:
    return bool(np.linalg.norm(shape.at.R[:2, 2]) < _LEVEL and shape.at.R[2, 2] > 0.0)


def _plate(shape: HalfSpace, edge: float) -> Box:
    """Plate whose upper side is the plane of a half-space."""
    thickness = _THIN * edge
    below = shape.at @ Pose(p=(0.0, 0.0, -0.5 * thickness))
    return Box((edge, edge, thickness), at=below, color=palette.SURFACE[:3])
