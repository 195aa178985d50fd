"""Height fields: rough ground, given by heights on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.mechanism.shapes import Color, Placement, rgba
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_numbers, positive_scalar, shown
from varichain.spatial.frozen import Frozen, read_only
from varichain.spatial.pose import Pose

_AT_ORIGIN = Pose()
_LEAST = 2  # points along each axis


@dataclass(frozen=True, eq=False)
class HeightField(Frozen):
    """Everything below a smooth surface through heights on a grid; beyond its edges the surface goes on straight.

    Between the points it is bicubic, with central differences as slopes: planes and paraboloids along the axes are met
    exactly, and the normal has no jumps. Next to a step in the heights it overshoots by up to 7 % of the step.

    Attributes:
        heights: Heights (n_x, n_y) [m] along z of `at`, two or more along each axis.
        spacing: Distances of the points along x and y [m]; one number for both.
        at: Frame in the link's frame; its origin is the middle of the grid, its z axis points out of the ground.
        color: As of shapes.
    """

    heights: Any
    spacing: Any = 1.0
    at: Placement = _AT_ORIGIN
    color: Color = None

    def __post_init__(self) -> None:
        """Check the numbers."""
        try:
            heights = np.array(self.heights, dtype=np.float64)
        except (TypeError, ValueError, OverflowError):
            heights = np.zeros(0)
        if heights.ndim != 2 or min(heights.shape) < _LEAST or not np.isfinite(heights).all():
            raise InputError(
                "heights of a HeightField must be finite numbers of shape (n_x, n_y), two or more along each axis, not "
                f"{shown(self.heights) if heights.ndim != 2 else f'of shape {heights.shape}'}"
            )
        both = self.spacing if isinstance(self.spacing, (tuple, list, np.ndarray)) else [self.spacing] * 2
        spacing = tuple(positive_scalar(x, "spacing") for x in finite_numbers(both, 2, "spacing"))
        self._set("heights", read_only(heights))
        self._set("spacing", spacing)
        self._set("at", Pose.coerce(self.at, "at"))
        self._set("color", None if self.color is None else rgba(self.color))

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are equal."""
        return isinstance(other, HeightField) and self._key == other._key

    def __hash__(self) -> int:
        """Of all numbers."""
        return hash(self._key)

    @cached_property
    def _key(self) -> Any:
        return self.heights.shape, self.heights.tobytes(), self.spacing, self.at, self.color

    @cached_property
    def nodes(self) -> Array:
        """Height, slopes along x and y and twist of every point (n_x, n_y, 4) [m], all per cell."""
        along_x, along_y = _differences(self.heights), _differences(self.heights.T).T
        twist = _differences(along_x.T).T
        twist[:: len(twist) - 1, :: twist.shape[1] - 1] = 0.0  # beyond a corner the surface is a plane
        return read_only(np.ascontiguousarray(np.stack([self.heights, along_x, along_y, twist], axis=-1)))

    @property
    def size(self) -> tuple[float, float]:
        """Lengths of the grid along x and y [m]."""
        n_x, n_y = self.heights.shape
        return (n_x - 1) * self.spacing[0], (n_y - 1) * self.spacing[1]

    def heights_at(self, places: Array) -> Array:
        """Heights (n,) [m] of the surface at places (n, 2) of its frame [m]."""
        return self._evaluated(places)[..., 0]

    def normals_at(self, places: Array) -> Array:
        """Unit vectors (n, 3) across the surface at places (n, 2) of its frame [m]."""
        found = self._evaluated(places)
        normals = np.stack([-found[..., 1], -found[..., 2], np.ones(found.shape[:-1])], axis=-1)
        across: Array = normals / np.linalg.norm(normals, axis=-1, keepdims=True)
        return across

    def _evaluated(self, places: Array) -> Array:
        """Height and slopes (n, 3) at places."""
        last = np.array(self.heights.shape) - 1
        u = np.asarray(places) / self.spacing + 0.5 * last
        inside = np.clip(u, 0.0, last)
        cell = np.minimum(inside.astype(int), last - 1)
        a, b = (_weights(inside[..., k] - cell[..., k]) for k in range(2))
        found = np.zeros((4, *u.shape[:-1]))
        for i in range(2):
            for j in range(2):
                node = self.nodes[cell[..., 0] + i, cell[..., 1] + j]
                for m, (along, across) in enumerate(((0, 0), (1, 0), (0, 1), (1, 1))):
                    for s in range(2):
                        for t in range(2):
                            found[m] += a[along][2 * i + s] * b[across][2 * j + t] * node[..., s + 2 * t]
        h, h_x, h_y, h_xy = found
        x, y = (u - inside)[..., 0], (u - inside)[..., 1]
        h = h + h_x * x + h_y * y + h_xy * x * y
        return np.stack([h, (h_x + h_xy * y) / self.spacing[0], (h_y + h_xy * x) / self.spacing[1]], axis=-1)


def _differences(values: Array) -> Array:
    """Slopes along the first axis, per cell: central differences, at the ends those of a parabola."""
    found: Array = np.gradient(values, axis=0, edge_order=2 if len(values) > _LEAST else 1)
    return found


def _weights(t: Array) -> tuple[list[Array], list[Array]]:
    """Hermite's weights (value and slope at 0, value and slope at 1), and their rates."""
    s = 1.0 - t
    values = [(1.0 + 2.0 * t) * s * s, t * s * s, (1.0 + 2.0 * s) * t * t, -s * t * t]
    return values, [-6.0 * t * s, s * (1.0 - 3.0 * t), 6.0 * t * s, t * (3.0 * t - 2.0)]
