"""Recording: a hierarchy of joints that turn, with the angles of every frame."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from varichain.errors import UnknownNameError
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_one_of
from varichain.spatial.report import Listing, Report, Reported

_AXES = "XYZ"


class Segment(NamedTuple):
    """A joint of a recording and the segment that it turns.

    Attributes:
        name: Its name; that of an end is the segment's, followed by " end".
        parent: Place of the joint that carries it; -1 of a root.
        offset: Its origin in the frame of the joint that carries it (3,) [m].
        turns: Axes "X", "Y" and "Z" of its angles and their columns, in the order in which they turn the frame.
        shifts: Axes of its positions and their columns; they take the place of the offset.
    """

    name: str
    parent: int
    offset: Array
    turns: tuple[tuple[str, int], ...] = ()
    shifts: tuple[tuple[str, int], ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Recording(Reported):
    """A recorded motion: where every joint is, and how its segment is turned, in every frame; metres, z up.

    Attributes:
        name: Name of the file.
        times: Time of every frame, from zero (n,) [s].
        segments: Joints and ends of segments, each after the joint that carries it.
        channels: Angles [rad] and positions [m] of all frames, as the file lists them (n, channels).
        upright: Rotation from the file's axes to ours (3, 3).
    """

    name: str
    times: Array
    segments: tuple[Segment, ...]
    channels: Array
    upright: Array

    def __len__(self) -> int:
        """Number of frames."""
        return len(self.times)

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all joints, and of the ends of segments that carry none."""
        return tuple(segment.name for segment in self.segments)

    @property
    def rate(self) -> float:
        """Frames per second [Hz]."""
        return 1.0 / float(self.times[1] - self.times[0]) if len(self) > 1 else 0.0

    def position(self, name: str) -> Array:
        """Positions of a joint, or of an end, in all frames (n, 3) [m]."""
        return self._pose(self._place(name))[0] @ self.upright.T

    def orientation(self, name: str) -> Array:
        """Orientations of a joint's segment in all frames (n, 3, 3).

        Columns are the axes that the segment has along the world's x, y and z where all angles are zero.
        """
        oriented: Array = self.upright @ self._pose(self._place(name))[1] @ self.upright.T
        return oriented

    def lengths(self) -> dict[str, float]:
        """Distance of every joint and end from the joint that carries it, where the file does not move it [m]."""
        carried = [segment for segment in self.segments if segment.parent >= 0 and not segment.shifts]
        return {segment.name: float(np.linalg.norm(segment.offset)) for segment in carried}

    def report(self) -> Report:
        """Joints, frames and time; each joint with what carries it and how far away."""
        duration = float(self.times[-1])
        title = f"recording {self.name!r}: {len(self)} frames at {self.rate:g} Hz, {duration:g} s"
        lengths = self.lengths()
        rows = [
            (
                segment.name,
                self.segments[segment.parent].name if segment.parent >= 0 else "",
                f"{lengths[segment.name]:.4g}" if segment.name in lengths else "",
            )
            for segment in self.segments
        ]
        return title, (Listing(("joint", "carried by", "length [m]"), rows),)

    def _place(self, name: str) -> int:
        if not is_one_of(name, self.names):
            raise UnknownNameError("joint", name, self.names)
        return self.names.index(name)

    def _pose(self, place: int) -> tuple[Array, Array]:
        """Origin and orientation of a joint in all frames, in the file's axes."""
        p, R = np.zeros((len(self), 3)), np.broadcast_to(np.eye(3), (len(self), 3, 3))
        for segment in reversed([*self._ancestors(place)]):
            at = np.broadcast_to(segment.offset, p.shape)
            if segment.shifts:
                at = at.copy()
                for axis, column in segment.shifts:
                    at[:, _AXES.index(axis)] = self.channels[:, column]
            p = p + np.einsum("nij,nj->ni", R, at)
            for axis, column in segment.turns:
                R = R @ _turned(axis, self.channels[:, column])
        return p, R

    def _ancestors(self, place: int) -> Iterator[Segment]:
        """A joint and all that carry it, up to a root."""
        while place >= 0:
            yield self.segments[place]
            place = self.segments[place].parent


def _turned(axis: str, angles: Array) -> Array:
    """Rotations about one of the axes (n, 3, 3)."""
    k = _AXES.index(axis)
    i, j = (k + 1) % 3, (k + 2) % 3
    R = np.zeros((len(angles), 3, 3))
    R[:, k, k] = 1.0
    R[:, i, i] = R[:, j, j] = np.cos(angles)
    R[:, j, i] = np.sin(angles)
    R[:, i, j] = -R[:, j, i]
    return R
