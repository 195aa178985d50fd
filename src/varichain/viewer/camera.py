"""Where the camera stands at first, and how high the ground is."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.scene import Poses, Scene, ball_of, box_around, frame_on
from varichain.scene.supports import support_corners, supports_of
from varichain.scene.surfaces import floor_height
from varichain.spatial.arrays import Array

_FROM = np.array([0.5, -1.0, 0.3])  # most mechanisms move in the plane of x and z
_FIELD = np.radians(45.0)  # of view, upright
_DISTANCE = 2.5  # radii: what is in the ball, which is larger than what it is around, fills the picture

PRESETS = {"Start": _FROM, "Front": (1.0, 0.0, 0.0), "Side": (0.0, -1.0, 0.0), "Top": (0.0, -0.01, 1.0)}
"""Where to look from, by name: figures look along x."""

_LARGE = 1.5  # radii of what moves, beyond which a thing that stands still is a floor or a wall


def frame_camera(server: Any, centre: Array, radius: float) -> None:
    """Let browsers begin with a ball in the middle of the picture."""
    camera = server.initial_camera
    camera.look_at = tuple(centre)
    camera.position = tuple(centre + _DISTANCE * radius * _FROM / np.linalg.norm(_FROM))
    camera.up = (0.0, 0.0, 1.0)
    camera.fov = float(_FIELD)
    camera.near, camera.far = 0.01 * radius, 200.0 * radius


def look_from(client: Any, preset: str, centre: Array, radius: float) -> None:
    """Let one browser look at a ball from a direction of `PRESETS`."""
    way = np.asarray(PRESETS[preset], dtype=float)
    with client.atomic():
        client.camera.up_direction = (0.0, 0.0, 1.0)
        client.camera.position = tuple(centre + _DISTANCE * radius * way / np.linalg.norm(way))
        client.camera.look_at = tuple(centre)


def ball_of_motion(scene: Scene, poses: Poses) -> tuple[Array, float]:
    """Centre (3,) [m] and radius [m] of a ball around what may move, with room to swing to the other side.

    What stands still belongs to it, unless it is as large as a floor.
    """
    still = scene.welded
    parts = [part for part in scene.parts if part.name not in still] or [*scene.parts]
    _, radius = ball_of(*box_around(parts, poses))
    for part in scene.parts:
        if part.name in still and ball_of(*box_around([part], poses))[1] < _LARGE * radius:
            parts.append(part)
    low, high = box_around(parts, poses)
    anchored = [joint for joint in (*scene.joints, *scene.loops) if joint.parent in still]
    anchors = [frame_on(poses, joint.parent, joint.at)[0] for joint in anchored if joint.is_guide]
    if anchors:
        middle = np.mean(anchors, axis=0)
        reach = np.maximum(high - middle, middle - low)
        low[:2], high[:2] = middle[:2] - reach[:2], middle[:2] + reach[:2]
        if middle[2] > 0.5 * (low[2] + high[2]):  # it hangs
            low[2] = min(low[2], middle[2] - float(np.hypot(reach[0], reach[2])))
    return ball_of(low, high)


def floor_below(scene: Scene, poses: Poses, radius: float) -> float:
    """Height of the ground [m]: of a level floor that links touch; else zero, unless something begins below it.

    Pivots stand on it.
    """
    floor = floor_height(scene.mechanism)
    if floor is not None:
        return floor
    low, _ = box_around(scene.parts, poses)
    plates = [support_corners(support, scene.mark)[0, 2] for support in supports_of(scene, poses)]
    foot = min([0.0, *map(float, plates)])
    return foot if not low[2] < -0.1 * radius else min(foot, float(low[2]) - 0.05 * radius)
