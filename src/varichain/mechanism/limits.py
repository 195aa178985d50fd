"""Limits of joints: bounds per coordinate, or a swing cone and a twist range for a spherical joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from varichain.errors import InputError
from varichain.spatial.checks import finite_numbers, finite_scalar, is_sequence, real_scalar, unit_axis
from varichain.spatial.frozen import Frozen

Bounds = tuple[tuple[float, ...], tuple[float, ...]]


@dataclass(frozen=True)
class SwingTwist(Frozen):
    """Limits of a spherical joint: how far the child's long axis may swing, how far the child may twist about it.

    Attributes:
        swing: Largest angle between the long axis and its zero direction, 0 to pi [rad]; pi is open.
        twist: (lower, upper) of the angle about the long axis, within -pi to pi [rad].
        axis: Long axis in the child's frame; "x" ... "-z" or three numbers, holds a unit vector.
    """

    swing: float = math.pi
    twist: tuple[float, float] = (-math.pi, math.pi)
    axis: Any = "z"

    def __post_init__(self) -> None:
        """Check the numbers."""
        swing = finite_scalar(self.swing, "swing")
        lower, upper = finite_numbers(self.twist, 2, "twist")
        if not 0.0 <= swing <= math.pi:
            raise InputError(f"swing must be between 0 and pi, not {swing:g}")
        if not -math.pi <= lower <= upper <= math.pi:
            raise InputError(f"twist must be -pi <= lower <= upper <= pi, not {lower:g} and {upper:g}")
        self._hold("swing", swing)
        self._hold("twist", (lower, upper))
        self._hold("axis", unit_axis(self.axis, "axis of SwingTwist"))


def coordinate_limits(value: Any, n_q: int, what: str) -> Bounds:
    """(lower, upper), a tuple of `n_q` floats each, open ends infinite, lower <= upper.

    Each side is given as a number for all coordinates, None for open, or one of these per coordinate.
    """
    if not is_sequence(value) or len(value) != 2:
        raise InputError(f"{what} must be None or (lower, upper), not {value!r}")
    lower = _bounds(value[0], -math.inf, n_q, f"lower {what}")
    upper = _bounds(value[1], math.inf, n_q, f"upper {what}")
    for low, high in zip(lower, upper, strict=True):
        if low > high or low == math.inf or high == -math.inf:
            raise InputError(f"{what} must have lower <= upper, not {low:g} and {high:g}")
    return lower, upper


def _bounds(value: Any, open_end: float, n_q: int, what: str) -> tuple[float, ...]:
    """`n_q` bounds from one for all, or one for each."""
    if not is_sequence(value):
        value = [value] * n_q
    if len(value) != n_q:
        raise InputError(f"{what} must be a number, None, or {n_q} of them, not {value!r}")
    return tuple([open_end if bound is None else real_scalar(bound, what) for bound in value])
