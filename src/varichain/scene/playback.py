"""Playback: a trace as frames at a steady rate, ready to be drawn."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, UnknownNameError
from varichain.mechanism.mechanism import Mechanism
from varichain.scene.camera import outline
from varichain.scene.contacts import Contacts
from varichain.scene.footprints import footprints_of
from varichain.scene.moments import aims_of, contact_forces_of, moments_of
from varichain.scene.poses import Poses, frame_on, link_poses, matrices_from_quaternions
from varichain.scene.scene import Part, Scene, ball_of, box_around, corners_of, loop_places, scene_of
from varichain.scene.surfaces import floor_height
from varichain.spatial.arrays import Array
from varichain.spatial.checks import positive_scalar
from varichain.spatial.pose import Pose
from varichain.trace import Epoch, Trace
from varichain.trace.text import event_name, event_text

_MOST_FRAMES = 10**6
_MOST_TIMES = 10**12  # frames of which some are taken
_SURROUNDINGS, _AROUND_STILLS = 1.4, 2.2  # how much larger a film, or a still, may become to show what is fixed too
_JOURNEY = 3.0  # radius of a whole run, relative to that of the figure
_ARROW = 0.45  # length of the arrow of a large force, relative to the size of what is seen
_LONGEST = 1.6  # ... and of the largest of all, where peaks stand out


@dataclass(frozen=True)
class Marker:
    """An event, to be marked where and when it happened.

    Attributes:
        time: When [s].
        kind: "cut", "connect" or "event".
        text: What happened, in words, such as "cut 'right grip'".
        event: The name that the user gave the event, such as "step 4"; else the text.
        joint: Name of the joint that was cut or made; None for other events.
        place: Where that joint was (3,) [m]; None if there is no joint.
    """

    time: float
    kind: str
    text: str
    event: str
    joint: str | None = None
    place: tuple[float, float, float] | None = None


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
        first_poses: Poses of all links in the first frame, those that cannot be seen and ground included.
        is_shown: Which parts exist (n, k).
        loops: Names of the joints that close loops in any epoch (l,).
        is_closed: Which of these do (n, l).
        loop_places: Where they are (n, l, 3) [m], on the real links.
        loop_ends: Where they are on the other links (n, l, 3) [m].
        is_line: Which are force elements between two points (l,).
        loop_forces: Forces (n, l, 3) [N] on the real links there; zeros if the trace has none.
        contacts: Pairs of a link and a surface that bears it at any time (c,), such as "left foot on floor".
        contact_places: Their centres of pressure (n, c, 3) [m].
        contact_forces: Forces (n, c, 3) [N] of the surfaces on the links; zero where they do not touch.
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
    ) -> None:
        """Compute all frames.

        Args:
            trace: The trace; its samples need times and coordinates.
            fps: Frames per second [1/s].
            speed: Simulated seconds in a second of film.
            trails: Names of links or of named frames whose paths are wanted.
            most: If there would be more frames than this, only every second, third, ... is taken.
            at: Time of the one frame that is wanted [s]; None for all of them.

        Raises:
            InputError: There is nothing to be shown: no samples, or none with coordinates.
            UnknownNameError: No epoch has a link or frame that `trails` names.
        """
        self.trace, self.fps = trace, positive_scalar(fps, "fps")
        self.speed = positive_scalar(speed, "speed")
        epochs = [epoch for epoch in trace.epochs if len(epoch)]
        if not epochs:
            raise InputError("the trace has no samples: there is nothing to be shown")
        if at is not None:
            epochs = [trace.epoch_at(at)]
        if any(name not in epoch.columns for epoch in epochs for name in ("time", "q")):
            raise InputError("the samples have no time or no coordinates 'q': there is nothing to be shown")
        grid = _grid(epochs, self.fps / self.speed, most) if at is None else np.array([at])
        self.scenes = tuple(_scenes(epochs))
        prints = footprints_of(trace.log)
        self.footprints = {part.name: made for made, part in prints}
        self.parts = (*_united(self.scenes), *(part for _, part in prints))
        self.loops = tuple(dict.fromkeys(loop.name for scene in self.scenes for loop in scene.loops))
        self.notes = tuple(dict.fromkeys(note for scene in self.scenes for note in scene.notes))
        both = zip(epochs, self.scenes, strict=True)
        filled = [_Span(epoch, scene, grid, epoch is epochs[-1]) for epoch, scene in both]
        self.time = np.concatenate([span.time for span in filled])
        self.epoch = np.repeat(np.arange(len(filled)), [len(span.time) for span in filled])
        first = next(span.poses for span in filled if len(span.time))
        self.first_poses = Poses(first.names, first.p[0], first.R[0])
        self._place(filled)
        self.markers = tuple(marker for k in range(len(epochs)) for marker in _markers(epochs, self.scenes, k))
        self._place_contacts(filled)
        self.trails = {name: _trail(name, filled) for name in trails}
        self.aims = {name: _aim(name, filled) for name in dict.fromkeys(name for span in filled for name in span.aims)}

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.time)

    def poses(self, i: int) -> Poses:
        """Poses of the parts that exist in frame i."""
        shown = np.flatnonzero(self.is_shown[i])
        R = matrices_from_quaternions(self.quaternions[i, shown])
        return Poses(tuple(self.parts[k].name for k in shown), self.p[i, shown], R)

    def frame_at(self, t: float) -> int:
        """Index of the last frame that is not after a time [s]; the first if all are."""
        return max(int(np.searchsorted(self.time, t, side="right")) - 1, 0)

    @cached_property
    def bounding_sphere(self) -> tuple[Array, float]:
        """Centre (3,) [m] and radius [m] of a ball around all that moves, or all there is, over all frames."""
        return ball_of(*self._box(self._moving or range(len(self.parts))))

    @cached_property
    def framing(self) -> tuple[Array, float]:
        """Centre (3,) [m] and radius [m] of what a camera should show: all that moves above the ground.

        What stands still is in it too, if that does not make everything else small.
        """
        low, high = self._box(self._moving or range(len(self.parts)), self.floor)
        low[2], high[2] = max(low[2], self.floor), max(high[2], self.floor + self.size)
        still_low, still_high = self._box(set(range(len(self.parts))) - set(self._moving), self.floor)
        still_low[2] = max(still_low[2], self.floor)
        near, whole = ball_of(low, high), ball_of(np.minimum(low, still_low), np.maximum(high, still_high))
        return whole if whole[1] <= self._surroundings * near[1] else near

    @cached_property
    def outline(self) -> Array:
        """Points (n, 3) [m] that a camera should show: as `framing`, with force arrows, without the air around."""
        every = range(len(self.parts))
        if not self.parts:
            return np.array([[-1.0, -1.0, -1.0], [1.0, 1.0, 1.0]])
        near, whole = self._outline(self._moving or every), self._outline(every)
        is_near = np.linalg.norm(np.ptp(whole, axis=0)) <= self._surroundings * np.linalg.norm(np.ptp(near, axis=0))
        return whole if is_near else near

    @property
    def _surroundings(self) -> float:
        return _SURROUNDINGS if len(self) > 1 else _AROUND_STILLS

    @cached_property
    def figure(self) -> Array:
        """Points (n, 3) [m] around the leader, from its origin, that a camera which follows the leader should show."""
        return self.outline if self.leader is None else self._outline(self._moving, self.p[:, self.leader])

    @cached_property
    def leader(self) -> int | None:
        """The part that a camera should follow, if it is to follow something: the heaviest link."""
        masses = {link.name: link.inertia.mass for link in self.scenes[0].mechanism.links}
        weights = [masses.get(part.name, 0.0) for part in self.parts]
        return int(np.argmax(weights)) if any(weights) else None

    @cached_property
    def is_journey(self) -> bool:
        """Whether the figure goes so far that a camera which shows all of its way would hardly show the figure."""
        return self.leader is not None and self.bounding_sphere[1] > _JOURNEY * self.size

    @cached_property
    def size(self) -> float:
        """Radius [m] of a ball around what moves in the first frame: the size of the figure, not of its way."""
        poses = self.poses(0)
        moving = [self.parts[k] for k in self._moving if self.parts[k].name in poses.names]
        return ball_of(*box_around(moving or [part for part in self.parts if part.name in poses.names], poses))[1]

    @cached_property
    def floor(self) -> float:
        """Height of the ground [m]: of a level floor that links touch; else zero if all begins above it.

        If not all does, it is below all that is ever seen.
        """
        floor, poses = floor_height(self.scenes[0].mechanism), self.poses(0)
        if floor is not None:
            return floor
        first, _ = box_around((part for part in self.parts if part.name in poses.names), poses)
        if not first[2] < -0.1 * self.size:
            return 0.0
        return float(self._box(range(len(self.parts)))[0][2]) - 0.05 * self.size

    @cached_property
    def arrow_scale(self) -> float:
        """Length of force arrows per force [m/N]: large forces of the run are as long as the figure's radius halved."""
        forces = np.linalg.norm(self.forces, axis=-1)[self.acts]
        large = float(np.quantile(forces, 0.9)) if len(forces) else 0.0
        most = float(forces.max(initial=0.0))
        if not large > 0.0:
            return 0.0 if not most > 0.0 else _ARROW * self.size / most
        return min(_ARROW * self.size / large, _LONGEST * self.size / most)

    def _box(self, which: Iterable[int], floor: float = -np.inf) -> tuple[Array, Array]:
        """Lowest and highest corner (3,) [m] of a box around some parts in all frames where they are above a height."""
        corners = [(np.full(3, np.inf), np.full(3, -np.inf))]
        for k in which:
            shown, name = self.is_shown[:, k] & (self.p[:, k, 2] >= floor), self.parts[k].name
            R = matrices_from_quaternions(self.quaternions[shown, k])
            corners.append(box_around([self.parts[k]], Poses((name,), self.p[shown, k][:, None], R[:, None])))
        return np.min([low for low, _ in corners], axis=0), np.max([high for _, high in corners], axis=0)

    def _outline(self, which: Iterable[int], origin: Array | None = None) -> Array:
        """Outermost points of some parts and of the arrows, in all frames where they are above the ground.

        Args:
            which: The parts.
            origin: Where points are measured from in each frame (n, 3) [m].
        """
        start, found = np.zeros((len(self), 3)) if origin is None else origin, [np.zeros((0, 3))]
        for k in which:
            shown = self.is_shown[:, k] & (self.p[:, k, 2] >= self.floor)
            corners = np.concatenate([corners_of(surface.triangles.vertices) for surface in self.parts[k].surfaces])
            R = matrices_from_quaternions(self.quaternions[shown, k])
            placed = (self.p[shown, k] - start[shown])[:, None] + corners @ np.swapaxes(R, -1, -2)
            found.append(outline(placed.reshape(-1, 3)))
        arrows = self.arrow_scale * self.forces
        arrows *= np.minimum(1.0, _ARROW * self.size / np.maximum(np.linalg.norm(arrows, axis=-1), 1e-9))[..., None]
        tips = (self.force_places + arrows - start[:, None])[self.acts]
        aims = np.concatenate([np.zeros((0, 3)), *((aim - start).reshape(-1, 3) for aim in self.aims.values())])
        ends = (self.loop_ends - start[:, None])[self.is_closed & self.is_line]
        return np.concatenate([*found, outline(tips), outline(ends), outline(aims[np.isfinite(aims).all(axis=1)])])

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

    @cached_property
    def _moving(self) -> list[int]:
        """Parts that are not at one place all the time, or could leave it."""
        welded = set[str]().union(*(scene.welded for scene in self.scenes), self.footprints)
        return [
            k
            for k, part in enumerate(self.parts)
            if (shown := self.is_shown[:, k]).any()
            and (
                part.name not in welded
                or max(np.ptp(of[shown, k], axis=0).max() for of in (self.p, self.quaternions)) > 1e-9
            )
        ]

    def _place(self, spans: Sequence[_Span]) -> None:
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

    def _place_contacts(self, spans: Sequence[_Span]) -> None:
        """Fill in where surfaces bear links, and by which forces; contacts that cannot be drawn become a note."""
        found: list[tuple[tuple[str, ...], Array, Array]] = []
        for span in spans:
            try:
                found.append(span.pressures())
            except InputError as error:  # a mesh that is gone
                self.notes = tuple(dict.fromkeys([*self.notes, f"forces of contacts are not drawn: {error}"]))
                found.append(((), *np.zeros((2, len(span.time), 0, 3))))
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


class _Span:
    """The frames of one epoch."""

    def __init__(self, epoch: Epoch, scene: Scene, grid: Array, is_last: bool) -> None:
        """Take those of the grid that belong to the epoch; its end belongs to the next, if there is one."""
        is_inside = (grid >= epoch.start) & (grid <= epoch.end if is_last else grid < epoch.end)
        for first, last in epoch.lost:
            is_inside &= ~((grid > first) & (grid < last))
        self.time, self.scene = grid[is_inside], scene
        q, self.forces = moments_of(epoch, self.time)
        self.poses = link_poses(scene.mechanism, q)
        self.aims = aims_of(epoch, self.time)
        self._contacts = contact_forces_of(epoch, self.time)

    def pressures(self) -> tuple[tuple[str, ...], Array, Array]:
        """Pairs of links and surfaces by name, with their centres of pressure and forces (n, pairs, 3) [m, N]."""
        names, forces = self._contacts
        contacts = Contacts(self.scene.mechanism, names)
        return contacts.pairs, *contacts.pressures(self.poses, forces)


def _grid(epochs: Sequence[Epoch], rate: float, most: int | None) -> Array:
    """Times of frames [s] from the first sample to the last."""
    start, end = epochs[0].start, epochs[-1].end
    frames = (end - start) * rate * (1.0 + 1e-12) + 1e-9
    if not 0.0 <= frames < (_MOST_FRAMES if most is None else _MOST_TIMES):
        raise InputError(
            f"from {start:g} s to {end:g} s there would be {frames:.3g} frames at {rate:g} a simulated second; "
            f"fewer than {_MOST_FRAMES} are possible"
        )
    n = int(np.floor(frames)) + 1
    every = 1 if most is None else -(-n // most)
    times = start + np.arange(0, n, every) / rate
    return np.minimum(times, end)


def _scenes(epochs: Sequence[Epoch]) -> list[Scene]:
    """Scenes of all epochs; those with one structure share one."""
    known: dict[bytes, Scene] = {}
    for epoch in epochs:
        content = epoch.structure.content
        if content not in known:
            known[content] = scene_of(epoch.mechanism)
    return [known[epoch.structure.content] for epoch in epochs]


def _united(scenes: Sequence[Scene]) -> tuple[Part, ...]:
    """All parts by name; of stand-ins the one with most surface, which has bones to all that was ever tied to it."""
    found: dict[str, Part] = {}
    for scene in dict.fromkeys(scenes):
        for part in scene.parts:
            was = found.get(part.name)
            if was is None or (part.is_stand_in and _n_faces(part) > _n_faces(was)):
                found[part.name] = part
    return tuple(found.values())


def _n_faces(part: Part) -> int:
    return sum(len(surface.triangles.faces) for surface in part.surfaces)


def _markers(epochs: Sequence[Epoch], scenes: Sequence[Scene], k: int) -> list[Marker]:
    """Markers of the event that ended epoch k."""
    event = epochs[k].event
    if event is None:
        return []
    time = epochs[k].end
    edits = event.get("edits") or []
    name = event_name(event)
    found = []
    for edit in edits:
        verb, joint = str(edit["kind"]).split()[0], edit["joint"]
        kind = "cut" if verb in ("cut", "uncouple") else "connect"
        sides = (k, k + 1) if kind == "cut" else (k + 1, k)
        places = (_joint_place(epochs, scenes, side, joint, time) for side in sides)
        place = next((at for at in places if at is not None), None)
        text = f"{verb} {joint!r}"
        found.append(Marker(time, kind, text, name or text, joint, place))
    return found or [Marker(time, "event", event_text(event), name or event_text(event))]


def _joint_place(
    epochs: Sequence[Epoch], scenes: Sequence[Scene], k: int, joint: Any, time: float
) -> tuple[float, float, float] | None:
    """Where a joint is in an epoch at a time; None if it is not there."""
    if not 0 <= k < len(epochs):
        return None
    scene = scenes[k]
    mark = next((mark for mark in (*scene.loops, *scene.joints) if mark.name == joint), None)
    if mark is None:
        return None
    q = epochs[k]["q"][0 if time <= epochs[k].start else -1]
    x, y, z = frame_on(link_poses(scene.mechanism, q), mark.parent, mark.at)[0].tolist()
    return x, y, z


def _trail(name: str, spans: Sequence[_Span]) -> Array:
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


def _aim(name: str, spans: Sequence[_Span]) -> Array:
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
