"""Playback: a trace as frames at a steady rate, ready to be drawn."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, UnknownNameError
from varichain.mechanism.mechanism import Mechanism
from varichain.scene.cones import NO_SPOTS, Cones, united_spots
from varichain.scene.contacts import Spots
from varichain.scene.footprints import footprints_of
from varichain.scene.framing import Framing
from varichain.scene.markers import markers_of
from varichain.scene.poses import Poses, frame_on, matrices_from_quaternions
from varichain.scene.scene import loop_places
from varichain.scene.spans import MOST_FRAMES, Span, grid_of, scenes_of, united
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, flag, instance, listed, positive_scalar
from varichain.spatial.pose import Pose
from varichain.trace import Trace


class Playback:
    """A trace as frames at a steady rate. A frame belongs to one epoch: nothing is smeared over an event.

    Links that were lost or added, and loops, are hidden where they are not: their numbers are zero there.

    Attributes:
        trace: The trace.
        fps: Frames per second of shown time [1/s]; simulated time runs `speed` times as fast.
        time: Simulated time of each frame (n,) [s].
        epoch: Which of `scenes` each frame belongs to (n,).
        scenes: A scene for each epoch that has samples.
        parts: What all links of all epochs look like (k,), then footprints; their names are stable.
        footprints: When each group of footprints is there [s], by the name of its part.
        p, quaternions: Origins (n, k, 3) [m] and orientations (w, x, y, z) (n, k, 4) of the parts; signs never jump.
        first_poses: Poses of all links at the beginning of each epoch, those that cannot be seen and ground included.
        is_shown: Which parts exist (n, k).
        loops: Names of the joints that close loops in any epoch (l,).
        is_closed: Which of these do (n, l).
        loop_places: Where they are (n, l, 3) [m], on the real links.
        loop_ends: Where they are on the other links (n, l, 3) [m].
        is_line: Which are force elements between two points (l,).
        loop_forces: Forces (n, l, 3) [N] on the real links there; zeros if the trace has none.
        contacts: Pairs of a link and a surface that bears it at any time (c,), such as "left foot on floor"; or points.
        contact_places: Their centres of pressure (n, c, 3) [m]; or these points.
        contact_forces: Forces (n, c, 3) [N] of the surfaces on the links; zero where they do not touch.
        cones: Normals, slip and friction of the points (c,), if the contacts are points; None else.
        markers: Events, in order.
        trails: Paths (n, 3) [m] of the chosen points, by name; NaN where there is none.
        aims: Tracked points and their targets (2, n, 3) [m], by name; NaN where there is none.
        notes: What could not be drawn, in sentences.
    """

    def __init__(
        self,
        trace: Trace,
        fps: float = 30.0,
        speed: float = 1.0,
        trails: Sequence[str] = (),
        most: int | None = None,
        at: float | None = None,
        by_points: bool = False,
    ) -> None:
        """Compute all frames.

        Args:
            trace: The trace; its samples need times and coordinates.
            fps: Frames per second [1/s].
            speed: Simulated seconds in a second of film.
            trails: Names of links or of named frames whose paths are wanted.
            most: If there would be more frames than this, only every second, third, ... is taken.
            at: Time of the one frame that is wanted [s]; None for all of them.
            by_points: Whether the forces of contacts are those of points, with friction cones, instead of their sums.

        Raises:
            InputError: There is nothing to be shown: no samples, or none with coordinates.
            UnknownNameError: No epoch has a link or frame that `trails` names.
        """
        self.trace, self.fps = instance(trace, Trace, "trace"), positive_scalar(fps, "fps")
        self.speed = positive_scalar(speed, "speed")
        names = listed(trails, str, "trails")
        most = None if most is None else count_number(most, "most", MOST_FRAMES)
        flag(by_points, "by_points")
        epochs = [epoch for epoch in trace.epochs if len(epoch)]
        if not epochs:
            raise InputError("the trace has no samples: there is nothing to be shown")
        if at is not None:
            epochs = [trace.epoch_at(at)]
        if any(name not in epoch.columns for epoch in epochs for name in ("time", "q")):
            raise InputError("the samples have no time or no coordinates 'q': there is nothing to be shown")
        grid = grid_of(epochs, self.fps / self.speed, most) if at is None else np.array([at])
        self.scenes = tuple(scenes_of(epochs))
        prints = footprints_of(trace.log)
        self.footprints = {part.name: made for made, part in prints}
        self.parts = (*united(self.scenes), *(part for _, part in prints))
        self.loops = tuple(dict.fromkeys(loop.name for scene in self.scenes for loop in scene.loops))
        self.notes = tuple(dict.fromkeys(note for scene in self.scenes for note in scene.notes))
        both = zip(epochs, self.scenes, strict=True)
        filled = [Span(epoch, scene, grid, epoch is epochs[-1]) for epoch, scene in both]
        self.time = np.concatenate([span.time for span in filled])
        self.epoch = np.repeat(np.arange(len(filled)), [len(span.time) for span in filled])
        self.first_poses = tuple(span.first_poses for span in filled)
        self._poses = [span.poses for span in filled]
        self._place(filled)
        self.markers = markers_of(epochs, self.scenes)
        self._spans = filled
        self.cones: Cones | None = None
        self._place_contacts(filled, by_points)
        self.trails = {name: _trail(name, filled) for name in names}
        self.aims = {name: _aim(name, filled) for name in dict.fromkeys(name for span in filled for name in span.aims)}

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.time)

    def poses(self, i: int) -> Poses:
        """Poses of the parts that exist in frame i."""
        shown = np.flatnonzero(self.is_shown[i])
        R = matrices_from_quaternions(self.quaternions[i, shown])
        return Poses(tuple(self.parts[k].name for k in shown), self.p[i, shown], R)

    def link_path(self, link: str) -> tuple[Array, Array]:
        """Origins (n, 3) [m] and axes (n, 3, 3) of a link that all epochs have, drawn or not, in all frames."""
        paths = [poses.of(link) for poses in self._poses]
        return np.concatenate([p for p, _ in paths]), np.concatenate([R for _, R in paths])

    def frame_at(self, t: float) -> int:
        """Index of the last frame that is not after a time [s]; the first if all are."""
        return max(int(np.searchsorted(self.time, t, side="right")) - 1, 0)

    @cached_property
    def framing(self) -> Framing:
        """What a camera should show, and sizes that suit."""
        return Framing(self)

    @cached_property
    def forces(self) -> Array:
        """Forces (n, l + c, 3) [N] that arrows show: of loops, then of contacts."""
        return np.concatenate([self.loop_forces, self.contact_forces], axis=1)

    @cached_property
    def force_places(self) -> Array:
        """Where these forces act (n, l + c, 3) [m]."""
        return np.concatenate([self.loop_places, self.contact_places], axis=1)

    @cached_property
    def acts(self) -> NDArray[np.bool_]:
        """Which of these forces there are (n, l + c)."""
        return np.concatenate([self.is_closed, self.contact_forces.any(axis=-1)], axis=1)

    def lines(self, i: int) -> Array:
        """Ends (k, 2, 3) [m] of the force elements between two points in frame i."""
        shown = self.is_line & self.is_closed[i]
        return np.stack([self.loop_places[i, shown], self.loop_ends[i, shown]], axis=1)

    def _place(self, spans: Sequence[Span]) -> None:
        """Fill in where everything is in every frame."""
        n, index = len(self.time), {part.name: k for k, part in enumerate(self.parts)}
        places = {name: k for k, name in enumerate(self.loops)}
        self.p, self.quaternions = np.zeros((n, len(index), 3)), np.zeros((n, len(index), 4))
        self.quaternions[..., 0] = 1.0
        self.is_shown = np.zeros((n, len(index)), dtype=bool)
        self.is_closed = np.zeros((n, len(places)), dtype=bool)
        self.loop_places, self.loop_forces = np.zeros((n, len(places), 3)), np.zeros((n, len(places), 3))
        self.loop_ends, self.is_line = np.zeros((n, len(places), 3)), np.zeros(len(places), dtype=bool)
        row = 0
        for span in spans:
            rows = slice(row, row + len(span.time))
            known = [(i, index[name]) for i, name in enumerate(span.poses.names) if name in index]
            old, new = [i for i, _ in known], [k for _, k in known]
            self.p[rows, new], self.quaternions[rows, new] = span.poses.p[:, old], span.poses.quaternions[:, old]
            self.is_shown[rows, new] = True
            closed = [places[loop.name] for loop in span.scene.loops]
            self.is_closed[rows, closed] = True
            self.loop_places[rows, closed], self.loop_ends[rows, closed] = loop_places(span.scene, span.poses)
            self.is_line[closed] = [loop.is_line for loop in span.scene.loops]
            self.loop_forces[rows, closed] = span.forces
            row = rows.stop
        for name, made in self.footprints.items():
            self.is_shown[:, index[name]] = self.time >= made
        _unwind(self.quaternions)

    def spots(self, i: int) -> Spots | None:
        """Points where surfaces bear links in frame i; None if they cannot be found."""
        first = int(np.argmax(self.epoch == self.epoch[i]))
        try:
            found: Spots = self._spans[int(self.epoch[i])].spots(i - first)
        except InputError:
            return None
        return found

    def _place_contacts(self, spans: Sequence[Span], by_points: bool) -> None:
        """Fill in where surfaces bear links, and by which forces; contacts that cannot be drawn become a note."""
        found: list[tuple[tuple[str, ...], Array, Array]] = []
        points: list[Spots] = []
        for span in spans:
            try:
                if by_points:
                    points.append(span.spots())
                    found.append((points[-1].names, points[-1].places, points[-1].forces))
                else:
                    found.append(span.pressures())
            except InputError as error:  # a mesh that is gone
                self.notes = tuple(dict.fromkeys([*self.notes, f"forces of contacts are not drawn: {error}"]))
                found.append(((), *np.zeros((2, len(span.time), 0, 3))))
                points.append(NO_SPOTS)
        bearing = [pair for pairs, _, forces in found for k, pair in enumerate(pairs) if forces[:, k].any()]
        self.contacts = tuple(dict.fromkeys(bearing))
        self.contact_places, self.contact_forces = np.zeros((2, len(self.time), len(self.contacts), 3))
        row = 0
        for span, (pairs, places, forces) in zip(spans, found, strict=True):
            rows = slice(row, row + len(span.time))
            for k, pair in enumerate(pairs):
                if pair in self.contacts:
                    column = self.contacts.index(pair)
                    self.contact_places[rows, column], self.contact_forces[rows, column] = places[:, k], forces[:, k]
            row = rows.stop
        if by_points:
            self.cones = united_spots(self.contacts, [len(span.time) for span in spans], points)


def _trail(name: str, spans: Sequence[Span]) -> Array:
    """Path of a link's origin or of a named frame over all frames."""
    parts, is_known = [], False
    for span in spans:
        place = _frame(span.scene.mechanism, name)
        is_known |= place is not None
        path = np.full((len(span.time), 3), np.nan)
        parts.append(path if place is None else frame_on(span.poses, *place)[0])
    if not is_known:
        m = spans[0].scene.mechanism
        raise UnknownNameError("link or frame", name, [*(link.name for link in m.links), *m.frames])
    return np.concatenate(parts)


def _aim(name: str, spans: Sequence[Span]) -> Array:
    """A tracked point and its target over all frames."""
    without = [np.full((2, len(span.time), 3), np.nan) for span in spans]
    return np.concatenate([span.aims.get(name, nothing) for span, nothing in zip(spans, without, strict=True)], axis=1)


def _frame(m: Mechanism, name: str) -> tuple[str, Pose] | None:
    frames: Mapping[str, Any] = m.frames
    if name in frames:
        return frames[name].link, frames[name].at
    return (name, Pose()) if any(link.name == name for link in m.links) else None


def _unwind(quaternions: Array) -> None:
    """Choose of q and -q the one nearer to the frame before, so that what is interpolated takes the short way."""
    if len(quaternions) > 1:
        signs = np.where(np.einsum("nki,nki->nk", quaternions[1:], quaternions[:-1]) < 0.0, -1.0, 1.0)
        quaternions[1:] *= np.cumprod(signs, axis=0)[..., None]
