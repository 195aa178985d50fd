"""What motions and other functions of time share: joints by name, a start and an end, shifts in time, unions."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.errors import InputError, UnknownNameError
from varichain.layout.layout import Layout
from varichain.layout.tree import JointSlot
from varichain.motion.fitting import checked_ends, cubic_track
from varichain.motion.following import Answers, following
from varichain.motion.packing import Packed
from varichain.motion.samples import Samples, sample_times
from varichain.motion.track import Track
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_scalar, flag, name_string, positive_scalar, shown
from varichain.spatial.frozen import Frozen


class JointFunctions(Frozen, ABC):
    """Functions of time [s] for one or several joints; immutable. `Motion` and `TimeFunctions` say what they mean."""

    _WHAT: ClassVar[str]  # what a joint's part is called in messages
    _tracks: dict[str, Track]
    _packed: Packed

    def __init__(self, trajectories: Mapping[str, Any], *, repeat: bool = False) -> None:
        """Take trajectories by joint name; with `repeat` each begins again after its end.

        Raises:
            InputError: Something that is no trajectory, or one that is not finite.
        """
        repeat = flag(repeat, "repeat")
        self._take({name: self._track(value, self._what(name), repeat) for name, value in _items(trajectories)})

    @classmethod
    def sampled(
        cls, times: ArrayLike, samples: Mapping[str, Any], *, ends: str = "natural", repeat: bool = False
    ) -> Self:
        """Splines through samples, with continuous velocities and accelerations.

        Args:
            times: Times (n,) of all samples [s], strictly increasing.
            samples: By joint name, an array with a row for each time, or a tuple with one (n,) for each freedom.
            ends: "natural", no acceleration at both ends; "clamped", no velocity; "not-a-knot", neither: the first two
                steps are one polynomial, and the last two.
            repeat: Begin again after the end, smoothly; first and last samples must be equal.

        Raises:
            InputError: Samples that are too few, not finite, of a wrong shape, or not closed although they repeat.
        """
        ends, repeat = checked_ends(ends), flag(repeat, "repeat")
        knots = sample_times(times, least=3 if repeat else 2)
        tracks = {}
        for name, value in _items(samples):
            found = cls._read(value, len(knots), cls._what(name))
            tracks[name] = cubic_track(found, knots, ends, repeat, cls._what(name))
        return cls._of(tracks)

    @classmethod
    def from_function(
        cls,
        function: Callable[[float], Mapping[str, Any]],
        start: float,
        end: float,
        *,
        joints: Iterable[str] | None = None,
        tolerance: float = 1e-9,
        repeat: bool = False,
    ) -> Self:
        """Quintic pieces that follow a Python function of time, sampled as closely as it takes.

        Args:
            function: Tells values by joint name at a time [s], such as {"knee": 0.3}.
            start: First time [s].
            end: Last time [s].
            joints: Names of the joints that count; all that the function tells if None.
            tolerance: Largest difference from the function at test points between the samples [rad or m].
            repeat: Begin again after the end; the function must end where it began.

        Raises:
            InputError: The function jumps or is too rough to be followed.
            UnknownNameError: The function does not tell one of the joints.
        """
        start, end = finite_scalar(start, "start"), finite_scalar(end, "end")
        if end <= start:
            raise InputError(f"end must be later than start = {start:g} s, not {end:g} s")
        names = (joints,) if isinstance(joints, str) else joints
        answers = Answers(function, names, cls._read, cls._what)
        return cls._of(following(answers, start, end, positive_scalar(tolerance, "tolerance"), flag(repeat, "repeat")))

    # Questions

    @property
    def joints(self) -> tuple[str, ...]:
        """Names of the joints."""
        return tuple(self._tracks)

    @property
    def start(self) -> float:
        """Earliest time [s] at which something begins; 0 if everything is constant."""
        return min((track.start for track in self._tracks.values() if track.moving), default=0.0)

    @property
    def end(self) -> float:
        """Latest time [s] at which something ends; 0 if everything is constant."""
        return max((track.end for track in self._tracks.values() if track.moving), default=0.0)

    @property
    def duration(self) -> float:
        """Time from start to end [s]."""
        return self.end - self.start

    @property
    def repeat(self) -> bool:
        """Whether all that moves begins again after its end."""
        moving = [track.repeat for track in self._tracks.values() if track.moving]
        return bool(moving) and all(moving)

    @property
    def breaks(self) -> Array:
        """Times (k,) [s], increasing, at which a piece of some joint begins or ends; of one period if it repeats."""
        parts = [part.breaks for track in self._tracks.values() for part in track.moving]
        return np.unique(np.concatenate([np.empty(0), *parts]))

    def __iter__(self) -> Iterator[str]:
        """Iterate over the joints' names."""
        return iter(self._tracks)

    def __len__(self) -> int:
        """Number of joints."""
        return len(self._tracks)

    def __contains__(self, joint: object) -> bool:
        """Whether it says something of a joint."""
        return joint in self._tracks

    def __repr__(self) -> str:
        """Joints and times."""
        names = ", ".join(repr(name) for name in self.joints[:5]) + (", ..." if len(self) > 5 else "")
        again = ", repeating" if self.repeat else ""
        return f"<{type(self).__name__} of {names or 'nothing'} from {self.start:g} to {self.end:g} s{again}>"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle the tracks alone; what kernels read is made anew."""
        return type(self)._of, (self._tracks,)

    # Changes, each a new object

    def shifted(self, dt: float) -> Self:
        """The same, later by dt [s]."""
        dt = finite_scalar(dt, "dt")
        return self._of({name: track.shifted(dt) for name, track in self._tracks.items()})

    def slower(self, factor: float) -> Self:
        """The same from the same start, in `factor` times the time; a factor below one makes it faster."""
        factor = positive_scalar(factor, "factor")
        return self._of({name: track.slower(factor, self.start) for name, track in self._tracks.items()})

    def __or__(self, other: Self) -> Self:
        """Both together; a joint in both is an InputError."""
        if type(other) is not type(self):
            return NotImplemented
        for name in self._tracks:
            if name in other._tracks:
                raise InputError(f"{self._what(name)} is in both: leave it out of one of them")
        return self._of(self._tracks | other._tracks)

    # Files

    def save(self, path: str | os.PathLike[str], overwrite: bool = False) -> None:
        """Write to a file (JSON) that `load` reads back to the bit.

        Raises:
            FileError: There is such a file already, or it cannot be written.
        """
        from varichain.motion.saving import save_tracks

        save_tracks(path, type(self).__name__, self._tracks, overwrite)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """Functions that `save` wrote.

        Raises:
            FileError: The file cannot be read, or has something else in it.
        """
        from varichain.motion.saving import load_tracks

        return cls._of(load_tracks(path, cls.__name__))

    # For kernels

    def packed(
        self, layout: Layout, joints: Iterable[str] | None = None, *, skip_missing: bool = False
    ) -> tuple[NDArray[Any], Array]:
        """Channels and table for the kernels of `kernels.motion`, in the coordinates of a layout.

        Args:
            layout: Tells where each joint stands.
            joints: Names of the joints to pack, in this order; all if None.
            skip_missing: Leave out joints that the layout does not have, or has as another kind: after a cut a joint is
                gone, and a free joint with the link's name may stand for it.

        Raises:
            UnknownNameError: A joint that these functions, or the layout, do not have.
            InputError: A joint of a kind that cannot follow.
        """
        return self._channels(layout, joints, skip_missing), self._packed.table.copy()

    # Inside

    def _channels(
        self, layout: Layout, joints: Iterable[str] | None = None, skip_missing: bool = False
    ) -> NDArray[Any]:
        """Channels of `packed`."""
        places = {}
        for name in self._chosen(joints):
            if skip_missing and name not in layout.tree.slot_by_name:
                continue
            slot = layout.slot(name)
            misfit = self._misfit(self._tracks[name], slot)
            if misfit is None:
                places[name] = self._place(slot)
            elif not skip_missing:
                raise InputError(f"{self._what(name)}: {misfit}")
        return self._packed.placed(places)

    @staticmethod
    @abstractmethod
    def _track(value: Any, what: str, repeat: bool) -> Track:
        """Track of a trajectory."""

    @staticmethod
    @abstractmethod
    def _read(value: Any, n: int, what: str) -> Samples:
        """Samples at n times."""

    @staticmethod
    @abstractmethod
    def _misfit(track: Track, slot: JointSlot) -> str | None:
        """Why a joint cannot follow a track; None if it can."""

    @staticmethod
    @abstractmethod
    def _place(slot: JointSlot) -> tuple[int, int]:
        """First coordinate and first freedom that a joint's channels write to."""

    @classmethod
    def _what(cls, name: object) -> str:
        return f"{cls._WHAT} of {name!r}"

    @classmethod
    def _of(cls, tracks: dict[str, Track]) -> Self:
        return object.__new__(cls)._take(tracks)

    def _take(self, tracks: dict[str, Track]) -> Self:
        self._set("_tracks", tracks)
        self._set("_packed", Packed(tracks))
        return self

    def _chosen(self, joints: Iterable[str] | None) -> tuple[str, ...]:
        chosen = self.joints if joints is None else ((joints,) if isinstance(joints, str) else tuple(joints))
        for name in chosen:
            if name not in self._tracks:
                raise UnknownNameError("joint", name, self._tracks)
        return chosen


def _items(by_joint: Any) -> Iterable[tuple[str, Any]]:
    """Names and values of a mapping."""
    if not isinstance(by_joint, Mapping):
        raise InputError(f"give what each joint does by its name, such as {{'knee': ...}}, not {shown(by_joint)}")
    return [(name_string(name, "joint name"), value) for name, value in by_joint.items()]
