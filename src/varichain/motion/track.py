"""Track: what one joint does over time."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from varichain.errors import InputError
from varichain.motion.pieces import Pieces
from varichain.motion.quaternions import turns
from varichain.spatial.arrays import Array
from varichain.spatial.frozen import Frozen

FREEDOMS, ROTATION, POSE = "freedoms", "rotation", "pose"

# What begins again must begin where it ended, to this [rad or m], relative for large values.
_MEETS = 1e-9


@dataclass(frozen=True, eq=False)
class Track(Frozen):
    """What one joint does over time.

    Attributes:
        kind: FREEDOMS, a function of time for each; ROTATION, of a ball; POSE, of a free joint.
        parts: The freedoms in order, each part one or several; the rotation; or the rotation, then the position.
        repeat: Whether it begins again after its end; else it stands still before its start and after its end.
    """

    kind: str
    parts: tuple[Pieces, ...]
    repeat: bool = False

    @property
    def n_q(self) -> int:
        """Number of coordinates."""
        return self.n_v + (self.kind != FREEDOMS)

    @property
    def n_v(self) -> int:
        """Number of freedoms."""
        return sum(part.width for part in self.parts)

    @property
    def moving(self) -> tuple[Pieces, ...]:
        """The parts that are not constant."""
        return tuple(part for part in self.parts if not part.is_constant)

    @property
    def start(self) -> float:
        """Time of the first break [s]; 0 if all of it is constant."""
        return min((float(part.breaks[0]) for part in self.moving), default=0.0)

    @property
    def end(self) -> float:
        """Time of the last break [s]; 0 if all of it is constant."""
        return max((float(part.breaks[-1]) for part in self.moving), default=0.0)

    def shifted(self, dt: float) -> Track:
        """The same, later by dt [s]."""
        return replace(self, parts=tuple(part.shifted(dt) for part in self.parts))

    def slower(self, factor: float, start: float) -> Track:
        """The same in `factor` times the time, counted from `start` [s]."""
        return replace(self, parts=tuple(part.slower(factor, start) for part in self.parts))

    def check_period(self, what: str) -> None:
        """Raise InputError if it repeats, and its parts have no common period."""
        spans = {(part.breaks[0], part.breaks[-1]) for part in self.moving}
        if self.repeat and len(spans) > 1:
            listed = ", ".join(f"{first:g} to {last:g} s" for first, last in sorted(spans))
            raise InputError(f"{what} repeats, so all of it must start and end together, found {listed}")

    def check_closed(self, what: str) -> None:
        """Raise InputError if it repeats, and does not end where it began."""
        if self.repeat:
            for part in self.moving:
                check_equal(*part.ends, part.quaternions is not None, what)


def check_equal(first: Array, last: Array, is_rotation: bool, what: str) -> None:
    """Raise InputError if first and last values, or quaternions, differ."""
    if is_rotation:
        gap, size = np.linalg.norm(turns(np.stack([first, last]))), 1.0
    else:
        gap, size = np.abs(last - first).max(), 1.0 + np.abs(first).max()
    if not gap <= _MEETS * size:
        raise InputError(
            f"{what} repeats, so it must end where it began, but its first and last values differ by {gap:.3g}"
        )
