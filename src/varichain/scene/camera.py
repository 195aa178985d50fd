"""Where a camera must stand to show points and nothing beside them: exact, without a search."""

from __future__ import annotations

import math
from itertools import product

import numpy as np

from varichain.spatial.arrays import Array

ANGLE = 0.6
"""Height of the field of view [rad]."""
MARGIN = 1.08
"""How much larger a picture is than what it must show."""

_ALL_AROUND = np.array([d for d in product((-2.0, -1.0, 0.0, 1.0, 2.0), repeat=3) if max(map(abs, d)) == 2.0])


def axes_of(view: tuple[float, float]) -> Array:
    """Axes (3, 3) of a camera as rows: right, up, and back to the camera, for turn about z and lift [rad]."""
    turn, lift = view
    back = np.array([math.cos(lift) * math.cos(turn), math.cos(lift) * math.sin(turn), math.sin(lift)])
    right = np.array([-math.sin(turn), math.cos(turn), 0.0])
    return np.array([right, np.cross(back, right), back])


def outline(points: Array) -> Array:
    """Those of the points (n, 3) that are farthest in one of some hundred directions: what any camera needs of them."""
    return points[np.unique(np.argmax(points @ _ALL_AROUND.T, axis=0))] if len(points) else points


def fitted(points: Array, view: tuple[float, float], aspect: float) -> tuple[Array, float]:
    """Centre (3,) [m] of a picture and distance [m] of the camera from it so that all points (n, 3) [m] are just seen.

    In the camera's axes a point (a, b, c) is seen from (A, B, C) if |a - A| <= t (C - c) with the tangent t of half the
    field of view, and likewise for b: all points give bounds on A - t C and A + t C, and with both the smallest C.

    Args:
        points: What must be seen; one at least.
        view: Turn about z and lift of the camera above the horizon [rad].
        aspect: Width of the picture over its height.
    """
    axes, tangent = axes_of(view), math.tan(0.5 * ANGLE) / MARGIN
    a = points @ axes.T
    depth, tangents = a[:, 2:], np.array([tangent * aspect, tangent])
    most, least = (a[:, :2] + tangents * depth).max(axis=0), (a[:, :2] - tangents * depth).min(axis=0)
    middle = 0.5 * float(depth.min() + depth.max())
    distance = max(float(((most - least) / (2.0 * tangents)).max()) - middle, 1e-3)
    return np.array([*(0.5 * (most + least)), middle]) @ axes, distance


def smoothed(path: Array, width: float) -> Array:
    """A path (n, 3) weighted with a bell of a width [frames]; its ends go straight on."""
    n = min(int(np.ceil(3.0 * width)), len(path) - 1)
    if n < 1:
        return path
    bell = np.exp(-0.5 * (np.arange(-n, n + 1) / width) ** 2)
    before, after = 2.0 * path[0] - path[n:0:-1], 2.0 * path[-1] - path[-2 : -n - 2 : -1]
    longer = np.concatenate([before, path, after])
    return np.column_stack([np.convolve(column, bell / bell.sum(), mode="valid") for column in longer.T])
