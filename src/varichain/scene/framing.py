"""What a camera should show of a playback, where it goes along, and sizes that suit: of arrows, of the ground."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from varichain.scene.camera import fitted, outline, smoothed
from varichain.scene.poses import Poses, matrices_from_quaternions
from varichain.scene.scene import ball_of, box_around, corners_of
from varichain.scene.supports import Support, floats, support_corners, supports_of
from varichain.scene.surfaces import floor_height
from varichain.spatial.arrays import Array

if TYPE_CHECKING:
    from varichain.scene.playback import Playback

_SURROUNDINGS, _AROUND_STILLS = 1.4, 2.2  # how much larger a film, or a still, may become to show what is fixed too
_SMALLEST = 1.0 / 3.0  # part of the picture that the figure fills, or else the camera goes along
_LARGER = 0.8  # distance of a camera that goes along, of that of one that stands, at which it does so in any case
_ROOM = 1.3  # around what a camera that goes along shows: some of its way
_CALM = (0.5, 0.15)  # [s] of film over which the way of the camera is smoothed
_LOOKED_AT = 25  # frames whose figure is measured, at most
_USUAL_VIEW, _USUAL_ASPECT = (-1.05, 0.16), 16.0 / 9.0  # of the camera that decides whether cameras go along
_ARROW = 0.45  # length of the arrow of a large force, relative to the size of what is seen
_LONGEST = 1.6  # ... and of the largest of all, where peaks stand out


class Framing:
    """What a camera should show of a playback."""

    def __init__(self, playback: Playback) -> None:
        """Look at a playback; everything is computed when it is asked for."""
        self._playback = playback

    # The camera

    @cached_property
    def follows(self) -> bool:
        """Whether cameras go along: one that stands would show the figure smaller than a third of the picture."""
        if len(self._playback) < 2 or not self.moving:
            return False
        still, along = self._distance(self.outline), self._distance(self.figure)
        return along < (still if self._own_distance < _SMALLEST * still else _LARGER * still)

    @property
    def path(self) -> Array:
        """Where the figure is in each frame (n, 3) [m], its centre of mass, so smooth that a camera can go along."""
        return self._way[0]

    @property
    def figure(self) -> Array:
        """Points (n, 3) [m], from the places of `path`, that a camera which goes along should show."""
        return self._way[1]

    @cached_property
    def _way(self) -> tuple[Array, Array]:
        """Path and figure: the calmest way on which the figure fills a third of the picture, or else the quickest."""
        steps = np.diff(self._playback.time)
        step = float(np.median(steps)) / self._playback.speed if len(steps) else 1.0
        for calm in _CALM:
            path = smoothed(self._centers, calm / max(step, 1e-9))
            figure = self._around(path) if self.moving else self.outline
            if self._own_distance >= _SMALLEST * self._distance(figure):
                break
        return path, figure

    def _around(self, path: Array) -> Array:
        """Points (n, 3) [m], from the places of a path (n, 3), of what moves, with some room."""
        points = self._outline(self.moving, path)
        middle = 0.5 * (points.min(axis=0) + points.max(axis=0))
        found: Array = middle + _ROOM * (points - middle)
        return found

    @cached_property
    def _own_distance(self) -> float:
        """Usual distance [m] of a camera that sees nothing but the figure."""
        frames = np.unique(np.linspace(0, len(self._playback) - 1, _LOOKED_AT).astype(int))
        figures = [self._corners(self.moving, [i]) for i in frames]
        return float(np.median([self._distance(points) for points in figures if len(points)] or [np.inf]))

    @cached_property
    def outline(self) -> Array:
        """Points (n, 3) [m] that a camera which stands should show: what moves above the ground, with force arrows.

        What stands still is among them too, if that does not make everything else small.
        """
        every = range(len(self._playback.parts))
        if not self._playback.parts:
            return np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
        near, whole = self._outline(self.moving or every), self._outline(every)
        is_near = np.linalg.norm(np.ptp(whole, axis=0)) <= self._surroundings * np.linalg.norm(np.ptp(near, axis=0))
        return np.concatenate([whole if is_near else near, self._plates])

    @cached_property
    def ball(self) -> tuple[Array, float]:
        """Centre (3,) [m] and radius [m] of a ball around what the camera shows in the first frame."""
        points = self.figure + self.path[0] if self.follows else self.outline
        return ball_of(points.min(axis=0), points.max(axis=0))

    def shift(self, i: int) -> Array:
        """How far (3,) [m] the camera has gone along up to frame i."""
        found: Array = self.path[i] - self.path[0] if self.follows else np.zeros(3)
        return found

    # Sizes

    @cached_property
    def moving(self) -> list[int]:
        """Parts that are not at one place all the time, or could leave it."""
        playback = self._playback
        welded = set[str]().union(*(scene.welded for scene in playback.scenes), playback.footprints)
        return [
            k
            for k, part in enumerate(playback.parts)
            if (shown := playback.is_shown[:, k]).any()
            and (
                part.name not in welded
                or max(np.ptp(of[shown, k], axis=0).max() for of in (playback.p, playback.quaternions)) > 1e-9
            )
        ]

    @cached_property
    def size(self) -> float:
        """Radius [m] of a ball around what moves in the first frame: the size of the figure, not of its way."""
        parts, poses = self._playback.parts, self._playback.poses(0)
        moving = [parts[k] for k in self.moving if parts[k].name in poses.names]
        return ball_of(*box_around(moving or [part for part in parts if part.name in poses.names], poses))[1]

    @cached_property
    def supports(self) -> tuple[tuple[Support, ...], ...]:
        """Signs of fixed pivots in each epoch's structure; a pivot keeps the side of its plate."""
        playback, sides = self._playback, dict[str, bool]()
        found = [supports_of(*both) for both in zip(playback.scenes, playback.first_poses, strict=True)]
        for support in (support for supports in found for support in supports):
            sides.setdefault(support.joint, support.is_above)
        return tuple(tuple(replace(support, is_above=sides[support.joint]) for support in of) for of in found)

    @cached_property
    def floor(self) -> float:
        """Height of the ground [m]: of a level floor that links touch; else zero if all begins above it.

        If not all does, it is below all that is ever seen. Pivots stand on it, and what they hold stays above it.
        """
        playback = self._playback
        floor, poses = floor_height(playback.scenes[0].mechanism), playback.poses(0)
        if floor is not None:
            return floor
        first, _ = box_around((part for part in playback.parts if part.name in poses.names), poses)
        foot = float(self._plates[:, 2].min(initial=0.0))
        below = self._on_pivots if not first[2] < -0.1 * self.size else range(len(playback.parts))
        lowest = float(self._box(below)[0][2])
        return foot if lowest > foot - 0.01 * self.size else lowest - 0.05 * self.size

    @property
    def _on_pivots(self) -> list[int]:
        """Parts that move and that joints of the tree hold to the ground in every structure."""
        scenes, parts = self._playback.scenes, self._playback.parts
        tied = [{joint.link for joint in scene.joints if not floats(scene, joint.link)} for scene in scenes]
        return [k for k in self.moving if all(parts[k].name in of for of in tied)]

    @cached_property
    def arrow_scale(self) -> float:
        """Length of force arrows per force [m/N]: large forces of the run are as long as the figure's radius halved."""
        forces = np.linalg.norm(self._playback.forces, axis=-1)[self._playback.acts]
        large = float(np.quantile(forces, 0.9)) if len(forces) else 0.0
        most = float(forces.max(initial=0.0))
        if not large > 0.0:
            return 0.0 if not most > 0.0 else _ARROW * self.size / most
        return min(_ARROW * self.size / large, _LONGEST * self.size / most)

    @property
    def _plates(self) -> Array:
        """Corners (n, 3) [m] of the plates of pivots that are there from the beginning."""
        mark = self._playback.scenes[0].mark
        corners = [support_corners(support, mark) for support in self.supports[0]]
        return np.concatenate([np.zeros((0, 3)), *corners])

    @property
    def _surroundings(self) -> float:
        return _SURROUNDINGS if len(self._playback) > 1 else _AROUND_STILLS

    @cached_property
    def _centers(self) -> Array:
        """Centre of mass (n, 3) [m] of what moves above the ground, in each frame; of all parts, if that is nothing."""
        playback = self._playback
        links = {link.name: link.inertia for scene in playback.scenes for link in scene.mechanism.links}
        inertias = [links.get(part.name) for part in playback.parts]
        weights = np.zeros(playback.is_shown.shape)
        weights[:, self.moving] = [inertias[k].mass if inertias[k] is not None else 0.0 for k in self.moving]  # type: ignore[union-attr]
        weights *= playback.is_shown & (playback.p[..., 2] >= self.floor)
        coms = np.array([np.zeros(3) if inertia is None else inertia.com for inertia in inertias]).reshape(-1, 3)
        places = playback.p + np.einsum("nkij,kj->nki", matrices_from_quaternions(playback.quaternions), coms)
        weights[weights.sum(axis=1) == 0.0] = 1e-9  # all massless, or all gone
        total = np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
        found: Array = np.einsum("nk,nki->ni", weights / total, places)
        return found

    def _distance(self, points: Array) -> float:
        return fitted(points, _USUAL_VIEW, _USUAL_ASPECT)[1]

    def _box(self, which: Iterable[int], floor: float = -np.inf) -> tuple[Array, Array]:
        """Lowest and highest corner (3,) [m] of a box around some parts in all frames where they are above a height."""
        playback, corners = self._playback, [(np.full(3, np.inf), np.full(3, -np.inf))]
        for k in which:
            shown, name = playback.is_shown[:, k] & (playback.p[:, k, 2] >= floor), playback.parts[k].name
            R = matrices_from_quaternions(playback.quaternions[shown, k])
            corners.append(box_around([playback.parts[k]], Poses((name,), playback.p[shown, k][:, None], R[:, None])))
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    def _corners(self, which: Iterable[int], frames: Iterable[int], origin: Array | None = None) -> Array:
        """Outermost points (n, 3) [m] of some parts in some frames, where they are above the ground."""
        playback, found = self._playback, [np.zeros((0, 3))]
        chosen = np.zeros(len(playback), dtype=bool)
        chosen[list(frames)] = True
        for k in which:
            shown = playback.is_shown[:, k] & chosen & (playback.p[:, k, 2] >= self.floor)
            corners = np.concatenate([corners_of(surface.triangles.vertices) for surface in playback.parts[k].surfaces])
            R = matrices_from_quaternions(playback.quaternions[shown, k])
            start = np.zeros(3) if origin is None else origin[shown]
            placed = (playback.p[shown, k] - start)[:, None] + corners @ np.swapaxes(R, -1, -2)
            found.append(outline(placed.reshape(-1, 3)))
        return np.concatenate(found)

    def _outline(self, which: Iterable[int], origin: Array | None = None) -> Array:
        """Outermost points of some parts, and of arrows, force elements and targets.

        Args:
            which: The parts.
            origin: Where points are measured from in each frame (n, 3) [m].
        """
        playback = self._playback
        start = np.zeros((len(playback), 3)) if origin is None else origin
        arrows = self.arrow_scale * playback.forces
        arrows *= np.minimum(1.0, _ARROW * self.size / np.maximum(np.linalg.norm(arrows, axis=-1), 1e-9))[..., None]
        tips = (playback.force_places + arrows - start[:, None])[playback.acts]
        aims = np.concatenate([np.zeros((0, 3)), *((aim - start).reshape(-1, 3) for aim in playback.aims.values())])
        ends = (playback.loop_ends - start[:, None])[playback.is_closed & playback.is_line]
        parts = self._corners(which, range(len(playback)), origin)
        return np.concatenate([parts, outline(tips), outline(ends), outline(aims[np.isfinite(aims).all(axis=1)])])
