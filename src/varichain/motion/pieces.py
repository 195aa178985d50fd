"""Pieces: polynomials between break times, the one form that all motions are brought to."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.motion.quaternions import exponential, multiplied, with_signs_of
from varichain.spatial.arrays import Array
from varichain.spatial.frozen import Frozen, read_only


@dataclass(frozen=True, eq=False)
class Pieces(Frozen):
    """Piecewise polynomials of time, one or several over the same break times.

    Attributes:
        breaks: Times (n + 1,) where the n pieces begin and end [s], increasing; one of zero length is constant.
        coefficients: Array (degree + 1, n, width), highest power of t - breaks[i] first, as scipy has them.
        quaternions: Of rotations, the orientations (n, 4) where the pieces begin: R(t) = R_i exp([phi]), the
            polynomials being phi, in the axes of R_i; None of others.
    """

    breaks: Array
    coefficients: Array
    quaternions: Array | None = None

    def __post_init__(self) -> None:
        """Lock the arrays; give quaternions signs such that each piece ends at the quaternion of the next.

        Raises:
            InputError: Coefficients that are not finite: values that are too large for the time they change in.
        """
        for name in ("breaks", "coefficients"):
            self._set(name, read_only(np.array(getattr(self, name), dtype=float, order="C")))
        if not np.isfinite(self.coefficients).all():
            raise InputError("polynomials of time must be finite: values are too large, or change too fast")
        if self.quaternions is not None:
            reached = multiplied(self.quaternions, exponential(self._at_piece_ends()))
            self._set("quaternions", read_only(with_signs_of(self.quaternions, reached[:-1])))

    @staticmethod
    def constant(values: Any, quaternion: Any = None) -> Pieces:
        """Values (width,) that never change; of a rotation, zeros and the quaternion."""
        coefficients = np.asarray(values, dtype=float).reshape(1, 1, -1)
        return Pieces(np.zeros(2), coefficients, None if quaternion is None else np.reshape(quaternion, (1, 4)))

    @property
    def width(self) -> int:
        """Number of polynomials."""
        return int(self.coefficients.shape[2])

    @property
    def degree(self) -> int:
        """Degree of the polynomials."""
        return len(self.coefficients) - 1

    @property
    def is_constant(self) -> bool:
        """Whether the values never change, before and after any time."""
        return bool(self.breaks[0] == self.breaks[-1])

    @property
    def ends(self) -> tuple[Array, Array]:
        """First and last values; of rotations, quaternions."""
        first, last = self.coefficients[-1, 0], self._at_piece_ends()[-1]
        if self.quaternions is None:
            return first, last
        Q, turn = self.quaternions[[0, -1]], np.stack([first, last])
        first, last = multiplied(Q, exponential(turn))
        return first, last

    def shifted(self, dt: float) -> Pieces:
        """The same, later by dt [s]."""
        if self.is_constant:
            return self
        return Pieces(checked_breaks(self.breaks + dt, "shifted times"), self.coefficients, self.quaternions)

    def slower(self, factor: float, start: float) -> Pieces:
        """The same in `factor` times the time, counted from `start` [s]."""
        if self.is_constant:
            return self
        powers = np.arange(self.degree, -1, -1).reshape(-1, 1, 1)
        breaks = checked_breaks(start + factor * (self.breaks - start), "slower times")
        with np.errstate(over="ignore"):  # refused by name below
            return Pieces(breaks, self.coefficients * np.power(factor, -powers), self.quaternions)

    def _at_piece_ends(self) -> Array:
        """Values of the polynomials (n, width) where their pieces end."""
        h, values = np.diff(self.breaks)[:, None], np.zeros(self.coefficients.shape[1:])
        for c in self.coefficients:
            values = values * h + c
        return values


def checked_breaks(times: Array, what: str) -> Array:
    """`times` if they are finite and strictly increasing."""
    if not np.isfinite(times).all():
        raise InputError(f"{what} must be finite, found {times[~np.isfinite(times)][0]}")
    steps = np.diff(times)
    if not (steps > 0.0).all():
        i = int(np.argmin(steps > 0.0))
        raise InputError(f"{what} must be strictly increasing, found {times[i]:.17g} before {times[i + 1]:.17g}")
    return times
