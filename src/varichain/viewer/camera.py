"""Where the camera stands at first."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

_FROM = np.array([0.5, -1.0, 0.3])  # most mechanisms move in the plane of x and z
_FIELD = np.radians(45.0)  # of view, upright
_DISTANCE = 2.5  # radii: what is in the ball, which is larger than what it is around, fills the picture


def frame_camera(server: Any, centre: Array, radius: float) -> None:
    """Let browsers begin with a ball in the middle of the picture."""
    camera = server.initial_camera
    camera.look_at = tuple(centre)
    camera.position = tuple(centre + _DISTANCE * radius * _FROM / np.linalg.norm(_FROM))
    camera.up = (0.0, 0.0, 1.0)
    camera.fov = float(_FIELD)
    camera.near, camera.far = 0.01 * radius, 200.0 * radius
