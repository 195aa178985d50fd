"""What is drawn of an instant, and belongs to no structure: trails, targets, cuts, pressures, what is pulled."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.scene import palette
from varichain.scene.cones import cone_axes, cone_triangles
from varichain.scene.contacts import Spots
from varichain.scene.palette import RGBA, bytes_of
from varichain.scene.triangles import joined, sphere
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.viewer.nodes import WORLD, add_mesh, node_of

_LABEL, _LABEL_HEIGHT = 30.0, 6.0  # how wide and how high labels are, in marks: near ones are stacked
_MOST_PRESSURES = 64
_NOWHERE = np.zeros((1, 2, 3), np.float32)


class Instant:
    """Marks of an instant in viser's scene."""

    def __init__(self, scene: Any, mark: Callable[[], float]) -> None:
        """Draw into a scene; `mark` tells the radius of marks [m]."""
        self._scene, self._mark = scene, mark
        self._trail: Any = None
        self._pick: Any = None
        self._spring: Any = None
        self._pressures: Any = None
        self._cones: dict[bool, Any] = {}  # by whether they slip
        self._cuts: list[Any] = []
        self._aims: dict[str, list[Any]] = {}

    def set_pressures(self, places: Array, forces: Array, scale: float) -> None:
        """Draw forces (n, 3) [N] of surfaces on links at places (n, 3) [m], as arrows of `scale` metres per newton."""
        ends = np.stack([places, places + scale * forces], axis=1)
        ends = ends[np.linalg.norm(scale * forces, axis=-1) > self._mark()][:_MOST_PRESSURES]
        if self._pressures is None and not len(ends):
            return
        if self._pressures is None:
            mark = self._mark()
            sizes = {"shaft_radius": 0.3 * mark, "head_radius": 0.8 * mark, "head_length": 2.0 * mark}
            self._pressures = self._scene.add_arrows(f"{WORLD}/pressures", _NOWHERE, bytes_of(palette.FORCE), **sizes)
        self._pressures.visible = bool(len(ends))
        if len(ends):
            self._pressures.points = ends.astype(np.float32)

    def set_cones(self, spots: Spots | None, scale: float) -> None:
        """Draw friction cones around the forces of points in one frame; None for none."""
        for slips, color in ((False, palette.STICKS), (True, palette.SLIPS)):
            self._set_cones(slips, color, [] if spots is None else _cones(spots, slips, scale, self._mark()))

    def _set_cones(self, slips: bool, color: RGBA, cones: list[Array]) -> None:
        """Draw cones of one colour, given by their corners, as one mesh with room for as many as there may be."""
        handle = self._cones.get(slips)
        if handle is None and not cones:
            return
        if handle is None:
            room = joined([cone_triangles().stretched((1e-9,) * 3)] * _MOST_PRESSURES)
            path = f"{WORLD}/cones that {'slip' if slips else 'stick'}"
            handle = self._cones[slips] = add_mesh(self._scene, path, room, color, color[3])
            handle.side = "double"
        handle.visible = bool(cones)
        if cones:
            nothing = [np.tile(cones[0][:1], (len(cones[0]), 1))] * (_MOST_PRESSURES - len(cones))
            handle.vertices = np.concatenate([*cones[:_MOST_PRESSURES], *nothing]).astype(np.float32)

    def set_trail(self, path: Array) -> None:
        """Draw the path of a point (n, 3) [m]; places that are not finite are gaps, fewer than two end it."""
        pairs = np.stack([path[:-1], path[1:]], axis=1) if len(path) > 1 else np.empty((0, 2, 3))
        pairs = pairs[np.isfinite(pairs).all(axis=(1, 2))].astype(np.float32)
        if not len(pairs):
            if self._trail is not None:
                self._trail.visible = False
            return
        if self._trail is None:
            self._trail = self._scene.add_line_segments(
                f"{WORLD}/trail", pairs, bytes_of(palette.TRAIL), thickness=0.3 * self._mark()
            )
        self._trail.points, self._trail.visible = pairs, True

    def set_aims(self, aims: Mapping[str, Array]) -> None:
        """Draw tracked points and their targets (2, 3) [m] by name; those that are not finite are hidden."""
        for name, balls in self._aims.items():
            for ball in balls if name not in aims else ():
                ball.visible = False
        for name, places in aims.items():
            if name not in self._aims:
                sizes = ((0.7, palette.TRACKED), (1.1, palette.TARGET))
                paths = tuple(f"{WORLD}/{kind}/{len(self._aims)}" for kind in ("tracked", "target"))
                self._aims[name] = [
                    add_mesh(self._scene, path, sphere(size * self._mark()), color)
                    for path, (size, color) in zip(paths, sizes, strict=True)
                ]
            for ball, place in zip(self._aims[name], places, strict=True):
                ball.visible = bool(np.isfinite(place).all())
                if ball.visible:
                    ball.position = place

    def set_cuts(self, cuts: Sequence[tuple[str, ArrayLike]]) -> None:
        """Mark cuts: what was cut, and where (3,) [m]."""
        for handle in self._cuts:
            handle.remove()
        self._cuts = []
        for i, (text, at) in enumerate(cuts):
            ball = sphere(1.3 * self._mark())
            self._cuts.append(add_mesh(self._scene, f"{WORLD}/cut {i}", ball, palette.CUT, 0.8, Pose(at)))
            near = sum(np.linalg.norm(np.subtract(at, other)) < _LABEL * self._mark() for _, other in cuts[:i])
            above = np.add(at, (0.0, 0.0, (3.0 + _LABEL_HEIGHT * near) * self._mark()))
            self._cuts.append(
                self._scene.add_label(f"{WORLD}/cut text {i}", text, position=above, anchor="bottom-center")
            )

    def set_pick(self, link: str, point: Array) -> None:
        """Mark the point of a link (3,) [m], in its frame, that somebody has pointed at."""
        if self._pick is not None:
            self._pick.remove()
        self._pick = add_mesh(
            self._scene, f"{node_of(link)}/pick", sphere(0.6 * self._mark()), palette.FORCE, at=Pose(point)
        )

    def set_spring(self, ends: Array | None) -> None:
        """Draw the spring (2, 3) [m] that pulls a link; None for none."""
        if ends is not None and self._spring is None:
            self._spring = self._scene.add_line_segments(
                f"{WORLD}/spring", ends[None].astype(np.float32), bytes_of(palette.FORCE), thickness=0.3 * self._mark()
            )
        if self._spring is not None:
            self._spring.visible = ends is not None
            if ends is not None:
                self._spring.points = ends[None].astype(np.float32)


def _cones(spots: Spots, slips: bool, scale: float, mark: float) -> list[Array]:
    """Corners (n, 3) [m] of the cones of points that slip, or that stick, in the first frame."""
    shape, found = cone_triangles().vertices, []
    for k in np.flatnonzero((spots.slips[0] == slips) & spots.forces[0].any(axis=-1)):
        R = cone_axes(spots.forces[0, k], spots.normals[0, k], float(spots.friction[k]), scale, mark)
        found.append(spots.places[0, k] + shape @ R.T)
    return found
