"""Poses: where a frame is and how it is turned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike

from varichain.errors import InputError
from varichain.spatial import rotation
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_numbers, normalised
from varichain.spatial.frozen import Frozen, read_only
from varichain.spatial.text import numbers_text

_ROTATION_TOLERANCE = 1e-9
_ROUNDING = 4 * np.finfo(float).eps


_ORIGIN = read_only(np.zeros(3))
_IDENTITY = read_only(np.eye(3))


class Pose(Frozen):
    """Pose X_AB of a frame B in a frame A: a point x_B in B is x_A = R x_B + p in A.

    Immutable. `X_AB @ X_BC` is X_AC, `X_AB @ x_B` is x_A, `X_AB.inverse()` is X_BA.

    Attributes:
        p: Origin of B in A (3,) [m], read-only.
        R: Axes of B in A as columns (3, 3), read-only.
    """

    __slots__ = ("R", "p")
    __array_ufunc__ = None  # `array @ pose` is a TypeError instead of an array of objects

    p: Array
    R: Array

    def __init__(
        self,
        p: ArrayLike = _ORIGIN,
        R: ArrayLike | None = None,
        *,
        quaternion: ArrayLike | None = None,
        rotation_vector: ArrayLike | None = None,
        rpy: ArrayLike | None = None,
    ) -> None:
        """Make a pose from a position and at most one orientation.

        Args:
            p: Position (3,) [m].
            R: Rotation matrix (3, 3), a rotation to 1e-9; it is made orthonormal to rounding.
            quaternion: (w, x, y, z) of any length but zero.
            rotation_vector: Axis times angle (3,) [rad].
            rpy: Roll, pitch, yaw (3,) [rad] about the fixed axes x, y, z in this order.

        Raises:
            InputError: Not numbers of that shape, not a rotation, or more than one orientation.
        """
        self._set("p", _ORIGIN if p is _ORIGIN else finite_array(p, (3,), "position p"))
        self._set("R", _orientation(R, quaternion, rotation_vector, rpy))

    @classmethod
    def _trusted(cls, p: Array, R: Array) -> Pose:
        """Pose of arrays that nobody else uses and that need no check."""
        p.setflags(write=False)
        R.setflags(write=False)
        return cls._of(p, R)

    @classmethod
    def _of(cls, p: Array, R: Array) -> Pose:
        """Pose of arrays that are read-only already."""
        pose, set_field = object.__new__(cls), object.__setattr__
        set_field(pose, "p", p)
        set_field(pose, "R", R)
        return pose

    @staticmethod
    def coerce(value: Pose | Sequence[float] | Array, what: str = "pose") -> Pose:
        """`value` itself if it is a Pose, the pose at a position if it is three numbers; InputError else."""
        if isinstance(value, Pose):
            return value
        try:
            return Pose._of(finite_array(value, (3,), "position p"), _IDENTITY)
        except InputError as error:
            raise InputError(f"{what} must be a Pose or a position of 3 numbers: {error}") from None

    @property
    def quaternion(self) -> Array:
        """Orientation as a unit quaternion (w, x, y, z), w >= 0 (4,)."""
        return read_only(rotation.quaternion_from_matrix(self.R))

    def inverse(self) -> Pose:
        """Pose X_BA of A in B."""
        return Pose._trusted(-(self.R.T @ self.p), self.R.T.copy())

    @overload
    def __matmul__(self, other: Pose) -> Pose: ...
    @overload
    def __matmul__(self, other: ArrayLike) -> Array: ...
    def __matmul__(self, other: Any) -> Pose | Array:
        """X_AB @ X_BC = X_AC, or X_AB @ x_B = x_A for a point (3,) [m]."""
        if isinstance(other, Pose):
            return Pose._trusted(self.R @ other.p + self.p, self.R @ other.R)
        point: Array = self.R @ finite_array(other, (3,), "point") + self.p
        return point

    def is_close(self, other: Pose, tolerance: float = 1e-12) -> bool:
        """Whether no entry of p [m] and R differs from the other's by more than `tolerance`."""
        return bool(np.abs(self.p - other.p).max() <= tolerance and np.abs(self.R - other.R).max() <= tolerance)

    def __eq__(self, other: object) -> bool:
        """Whether all numbers are equal; use `is_close` for computed poses."""
        if not isinstance(other, Pose):
            return NotImplemented
        return np.array_equal(self.p, other.p) and np.array_equal(self.R, other.R)

    def __hash__(self) -> int:
        """Hash of the numbers; -0.0 and 0.0 hash alike, as they compare."""
        return hash((*self.p.tolist(), *self.R.ravel().tolist()))

    def __repr__(self) -> str:
        """Position, and the rotation vector [rad] if there is one."""
        arguments = numbers_text(self.p)
        if not np.array_equal(self.R, _IDENTITY):
            arguments += f", rotation_vector={numbers_text(rotation.rotation_vector_from_matrix(self.R))}"
        return f"Pose({arguments})"

    def __reduce__(self) -> tuple[Any, ...]:
        """Copy and pickle bit by bit, read-only arrays included."""
        return Pose._trusted, (self.p.copy(), self.R.copy())


def _orientation(
    R: ArrayLike | None, quaternion: ArrayLike | None, rotation_vector: ArrayLike | None, rpy: ArrayLike | None
) -> Array:
    """Rotation matrix of the one orientation that is given, the identity if none is."""
    if R is quaternion is rotation_vector is rpy is None:
        return _IDENTITY
    if sum([value is not None for value in (R, quaternion, rotation_vector, rpy)]) > 1:
        raise InputError("give at most one orientation: R, quaternion, rotation_vector or rpy")
    if R is not None:
        return _orthonormal(finite_array(R, (3, 3), "rotation matrix R"))
    if quaternion is not None:
        unit = normalised(finite_numbers(quaternion, 4, "quaternion"), "quaternion")
        return read_only(rotation.matrix_from_quaternion(unit))
    if rotation_vector is not None:
        vector = finite_numbers(rotation_vector, 3, "rotation_vector")
        return read_only(rotation.matrix_from_rotation_vector(vector))
    return read_only(rotation.matrix_from_rpy(finite_numbers(rpy, 3, "rpy")))


def _orthonormal(R: Array) -> Array:
    """The nearest rotation to rounding, of a matrix that is one to 1e-9."""
    gram = R.T @ R
    error = np.abs(gram - _IDENTITY).max()
    if not error <= _ROTATION_TOLERANCE:
        raise InputError(
            f"R must be a rotation matrix, but R^T R differs from the identity by {error:.3g}, "
            f"which is more than {_ROTATION_TOLERANCE:g}"
        )
    if np.linalg.det(R) < 0.0:
        raise InputError("R must be a rotation matrix, but its determinant is -1: it is a reflection")
    if error <= _ROUNDING:
        return R
    # One Newton step of the polar decomposition; its error is the square of the present one, below rounding.
    return read_only(0.5 * R @ (3.0 * _IDENTITY - gram))
