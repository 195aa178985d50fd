"""The camera goes along: the world moves the other way, so that everybody can still turn the camera as they like."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.scene import Poses, Scene, frame_on
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.viewer.nodes import WORLD

_ROOM = 0.6  # of the radius of what was in the first picture: how far a figure goes before the camera goes along


class World:
    """The node that everything in viser's scene hangs on.

    Attributes:
        gone: How far (3,) [m] the camera has gone along.
    """

    def __init__(self, scene: Any) -> None:
        """Put the node into viser's scene."""
        self._node = scene.add_frame(WORLD, show_axes=False)
        self.gone = np.zeros(3)

    def go(self, gone: Array) -> None:
        """Go to a place."""
        if not np.array_equal(gone, self.gone):
            self.gone = np.array(gone, dtype=float)
            self._node.position = tuple(-self.gone)


class Leash:
    """Where a camera goes that stands while a figure is near, and is drawn along when it goes away."""

    def __init__(self, centre: Array, radius: float) -> None:
        """Begin with a ball, of a centre (3,) [m] and a radius [m], in the picture."""
        self._centre, self._room = np.array(centre), _ROOM * radius
        self._gone, self._time = np.zeros(3), -np.inf

    def drawn(self, place: Array, time: float) -> Array:
        """How far (3,) [m] the camera has gone when the figure is at a place (3,) [m]; back, if time went back [s]."""
        if time < self._time:
            self._gone = np.zeros(3)
        self._time = time
        away = place - self._centre - self._gone
        distance = float(np.linalg.norm(away))
        if distance > self._room:
            self._gone = self._gone + (1.0 - self._room / distance) * away
        return self._gone


def middle_of(scene: Scene, poses: Poses) -> Array:
    """Centre of mass (3,) [m] of what may move; the origin if that has no mass."""
    moving = [link for link in scene.mechanism.links if link.name not in scene.welded and link.inertia.mass > 0.0]
    if not moving:
        return np.zeros(3)
    places = [frame_on(poses, link.name, Pose(link.inertia.com))[0] for link in moving]
    found: Array = np.average(places, axis=0, weights=[link.inertia.mass for link in moving])
    return found
