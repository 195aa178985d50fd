"""The motion that operators are asked for: swings from one end to the other, with a short dwell at each."""

from __future__ import annotations

import math
from dataclasses import dataclass

from numba import njit

from varichain.errors import InputError
from varichain.spatial.checks import finite_scalar, positive_scalar


@dataclass(frozen=True)
class Swing:
    """Minimum-jerk swings [Flash and Hogan 1985] between -amplitude and amplitude, from hanging.

    Attributes:
        amplitude: [rad]; assumed.
        pace: Swings forth and back in a second [Hz]; calibrated, so that the exoskeleton's own gravity moment is best.
        dwell: Part of a half swing that is spent at its end; calibrated, so that no virtual inertia is best.
    """

    amplitude: float = 0.5
    pace: float = 0.97
    dwell: float = 0.15

    def __post_init__(self) -> None:
        """Check the numbers."""
        object.__setattr__(self, "amplitude", positive_scalar(self.amplitude, "amplitude of Swing"))
        object.__setattr__(self, "pace", positive_scalar(self.pace, "pace of Swing"))
        object.__setattr__(self, "dwell", finite_scalar(self.dwell, "dwell of Swing"))
        if not 0.0 <= self.dwell < 1.0 or self.amplitude > math.pi:
            raise InputError(f"dwell of Swing must be from 0 to below 1, and amplitude at most pi: {self}")


@njit
def swing_at(t, amplitude, pace, dwell):  # type: ignore[no-untyped-def]
    """Angle, velocity, acceleration and jerk at a time; the first swing begins at -amplitude."""
    half = 0.5 / pace
    n = math.floor(t / half)
    T = half * (1.0 - dwell)
    z = min((t - n * half) / T, 1.0)
    side = amplitude if n % 2 == 0 else -amplitude
    angle = side * (2.0 * z * z * z * (10.0 - 15.0 * z + 6.0 * z * z) - 1.0)
    if z >= 1.0:
        return angle, 0.0, 0.0, 0.0
    velocity = side * 60.0 * z * z * (1.0 - z) ** 2 / T
    acceleration = side * 120.0 * z * (1.0 - z) * (1.0 - 2.0 * z) / T**2
    jerk = side * 120.0 * (1.0 - 6.0 * z + 6.0 * z * z) / T**3
    return angle, velocity, acceleration, jerk
