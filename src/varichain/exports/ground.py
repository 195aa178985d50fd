"""The ground of pictures and films: a round floor with lines, which fades into the background."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from varichain.exports.look import Look
from varichain.scene import Framing, ball_of, palette
from varichain.scene.palette import RGBA
from varichain.spatial.arrays import Array

_REACH = 5.0  # radius of the ground, relative to that of what is shown


class Ground:
    """The ground on a stage of pyvista's."""

    def __init__(self, pv: Any, stage: Any, framing: Framing, seen: Array, look: Look) -> None:
        """Put it below points that must be seen (n, 3) [m]."""
        self._stage, self._look = stage, look
        (x, y, _), radius = ball_of(seen.min(axis=0), seen.max(axis=0))
        self._middle, self._reach, self._pitch = (x, y), _REACH * radius, grid_pitch(framing.size)
        thin = 1e-3 * framing.size  # what lies on the ground must be above it
        disc = pv.Disc(center=(x, y, framing.floor - 2 * thin), inner=0.0, outer=self._reach, r_res=24, c_res=72)
        self._floor = self._add_faded(disc, palette.GROUND)
        lines = pv.line_segments_from_points(self._grid(framing.floor - thin))
        self._lines = self._add_faded(lines, palette.GRID)

    def place(self, x: float, y: float) -> None:
        """Go along with a camera that has gone by x and y [m]; lines go by whole squares, so that they seem to stay."""
        self._floor.position = (x, y, 0.0)
        self._lines.position = (self._pitch * round(x / self._pitch), self._pitch * round(y / self._pitch), 0.0)

    def _grid(self, height: float) -> Array:
        """Ends (n, 3) [m] of short lines, two after the other."""
        n, pitch = int(self._reach / self._pitch), self._pitch
        steps = pitch * np.arange(-n, n + 1)
        across, along = np.meshgrid(steps, steps, indexing="ij")
        level = np.full_like(across, height)
        near = np.array([*(pitch * round(at / pitch) for at in self._middle), 0.0])
        points = np.concatenate([np.stack([across, along, level], -1), np.stack([along, across, level], -1)]) + near
        is_near = np.hypot(*np.moveaxis(points[..., :2] - near[:2], -1, 0)) < self._reach
        pairs: Array = np.stack([points[:, :-1], points[:, 1:]], 2)[is_near[:, :-1] & is_near[:, 1:]]
        return pairs.reshape(-1, 3)

    def _add_faded(self, mesh: Any, color: RGBA) -> Any:
        """Add a mesh whose colour becomes the background's away from the middle."""
        far = np.hypot(*(mesh.points[:, :2] - self._middle).T) / self._reach
        share = np.clip((far - 0.2) / 0.8, 0.0, 1.0)[:, None]
        background = np.array(self._look.background[:3])  # which the ground is tinted by too
        shade = (1.0 - share) * np.array(color[:3]) * background + share * background
        mesh.point_data["shade"] = np.round(255 * shade).astype(np.uint8)
        return self._stage.add_mesh(mesh, scalars="shade", rgb=True, lighting=False, line_width=1)


def grid_pitch(size: float) -> float:
    """Distance of the ground's lines [m]: 1, 2 or 5 times a power of ten, at most a quarter of a size [m]."""
    quarter = 0.25 * size
    power = 10.0 ** math.floor(math.log10(quarter))
    return max(factor * power for factor in (1.0, 2.0, 5.0) if factor * power <= quarter * (1.0 + 1e-9))
