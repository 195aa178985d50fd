"""Limits of joints: bounds per coordinate, or a swing cone and a twist range for a spherical joint."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from numpy.typing import ArrayLike

from varichain.errors import InputError, quoted
from varichain.spatial.checks import finite_numbers, finite_scalar, is_sequence, normalised, real_scalar, unit_axis
from varichain.spatial.frozen import Frozen
from varichain.spatial.rotation import quaternion_from_rotation_vector

Bounds = tuple[tuple[float, ...], tuple[float, ...]]
Orientation = Any  # takes a quaternion (w, x, y, z) or a rotation vector [rad]; holds a unit quaternion, 4 floats

_NO_TURN = (1.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True)
class SwingTwist(Frozen):
    """Limits of a spherical joint: how far the child's long axis may swing, how far the child may twist about it.

    Both are measured from an orientation `center` of the child, the joint's zero by default: R = R_center R_swing
    R_twist, with R_twist about the long axis and R_swing about an axis across it. A shoulder, which reaches further
    forward than back, has its center where the middle of its range is.

    Attributes:
        swing: Largest angle between the long axis and its direction at the center, 0 to pi [rad]; pi is open.
        twist: (lower, upper) of the angle about the long axis, within -pi to pi [rad].
        axis: Long axis in the child's frame; "x" ... "-z" or three numbers, holds a unit vector.
        center: Orientation of the child in the joint frame without swing and twist: a quaternion (w, x, y, z) or a
            rotation vector [rad], holds a unit quaternion.
    """

    swing: float = math.pi
    twist: tuple[float, float] = (-math.pi, math.pi)
    axis: Any = "z"
    center: Orientation = _NO_TURN

    def __post_init__(self) -> None:
        """Check the numbers."""
        swing = finite_scalar(self.swing, "swing")
        lower, upper = finite_numbers(self.twist, 2, "twist")
        if not 0.0 <= swing <= math.pi:
            raise InputError(f"swing must be between 0 and pi, not {swing:g}")
        if not -math.pi <= lower <= upper <= math.pi:
            raise InputError(f"twist must be -pi <= lower <= upper <= pi, not {lower:g} and {upper:g}")
        self._set("swing", swing)
        self._set("twist", (lower, upper))
        self._set("axis", unit_axis(self.axis, "axis of SwingTwist"))
        self._set("center", _unit_quaternion(self.center, "center of SwingTwist"))

    def angles(self, quaternion: ArrayLike) -> tuple[float, float]:
        """Swing, 0 to pi, and twist, -pi to pi [rad], of an orientation of the child in the joint frame.

        Accurate to rounding for small angles too. At a swing of pi the twist is not determined.
        """
        return self._angles(*finite_numbers(quaternion, 4, "quaternion"))

    def excess(self, quaternion: ArrayLike) -> float:
        """How far an orientation is beyond the limits, the larger of swing and twist [rad]; negative inside."""
        return self._excess(*finite_numbers(quaternion, 4, "quaternion"))

    def _angles(self, w: float, x: float, y: float, z: float) -> tuple[float, float]:
        """The same of four floats, without numpy: ten times as fast."""
        cw, cx, cy, cz = self.center
        ax, ay, az = self.axis
        # center^-1 q
        real = cw * w + cx * x + cy * y + cz * z
        i = cw * x - cx * w - cy * z + cz * y
        j = cw * y + cx * z - cy * w - cz * x
        k = cw * z - cx * y + cy * x - cz * w
        along = i * ax + j * ay + k * az
        across = math.hypot(i - along * ax, j - along * ay, k - along * az)
        swing = 2.0 * math.atan2(across, math.hypot(real, along))
        return swing, math.remainder(2.0 * math.atan2(along, real), 2.0 * math.pi)

    def _excess(self, w: float, x: float, y: float, z: float) -> float:
        swing, twist = self._angles(w, x, y, z)
        lower, upper = self.twist
        return max(swing - self.swing, lower - twist, twist - upper)


def _unit_quaternion(value: Any, what: str) -> tuple[float, ...]:
    """Unit quaternion of a quaternion or a rotation vector."""
    if is_sequence(value) and len(value) == 3:
        return tuple(quaternion_from_rotation_vector(finite_numbers(value, 3, what)).tolist())
    if is_sequence(value) and len(value) == 4:
        return normalised(finite_numbers(value, 4, what), what)
    raise InputError(f"{what} must be a quaternion (w, x, y, z) or a rotation vector of 3 numbers, not {quoted(value)}")


def coordinate_limits(value: Any, n_q: int, what: str) -> Bounds:
    """(lower, upper), a tuple of `n_q` floats each, open ends infinite, lower <= upper.

    Each side is given as a number for all coordinates, None for open, or one of these per coordinate.
    """
    if not is_sequence(value) or len(value) != 2:
        raise InputError(f"{what} must be None or (lower, upper), not {quoted(value)}")
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
        raise InputError(f"{what} must be a number, None, or {n_q} of them, not {quoted(value)}")
    return tuple([open_end if bound is None else real_scalar(bound, what) for bound in value])
