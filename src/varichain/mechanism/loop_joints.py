"""Joints of one or two rows: they close loops, and no tree has them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from varichain.errors import InputError, quoted
from varichain.mechanism.joint import Axis, Joint, Limits, Primitive
from varichain.mechanism.loop_rows import LoopGeometry
from varichain.spatial.checks import finite_scalar, unit_axis
from varichain.spatial.frozen import read_only
from varichain.spatial.rotation import matrix_with_z_along

_BALL = (("turned", 0), ("turned", 1), ("turned", 2))
_IDENTITY = read_only(np.eye(3))


@dataclass(frozen=True, repr=False)
class _LoopJoint(Joint):
    """A joint that closes loops alone. Its link turns freely; q begins with the quaternion."""

    in_tree = False
    has_quaternion = True

    def primitives(self) -> tuple[Primitive, ...]:
        """None: no tree has the joint."""
        return ()

    def _checked_limits(self) -> Limits:
        raise InputError(
            f"{self._what('limits')} must be None: a {self.kind} joint has none; found {quoted(self.limits)}"
        )


@dataclass(frozen=True, repr=False)
class PointOnLine(_LoopJoint):
    """The origin of one frame stays on the line along `axis` through the origin of the other.

    q = quaternion, displacement [m] along the line; the quaternion and v are in axes `matrix_with_z_along(axis)`.
    """

    n_q, n_v = 5, 4
    coordinates = ("wx", "wy", "wz", "displacement")
    rows = (("linear", 0), ("linear", 1))
    freedoms = (*_BALL, ("linear", 2))

    axis: Axis = "z"

    def __post_init__(self) -> None:
        """Check the axis, then the common fields."""
        self._set("axis", unit_axis(self.axis, self._what("axis")))
        super().__post_init__()

    def loop_geometry(self) -> LoopGeometry:
        """The axis."""
        return LoopGeometry(matrix_with_z_along(self.axis))


@dataclass(frozen=True, repr=False)
class PointInPlane(_LoopJoint):
    """The origin of one frame stays in the plane through the origin of the other, perpendicular to `normal`.

    q = quaternion, x [m], y [m]; all in axes `matrix_with_z_along(normal)`.
    """

    n_q, n_v = 6, 5
    coordinates = ("wx", "wy", "wz", "x", "y")
    rows = (("linear", 2),)
    freedoms = (*_BALL, ("linear", 0), ("linear", 1))

    normal: Axis = "z"

    def __post_init__(self) -> None:
        """Check the normal, then the common fields."""
        self._set("normal", unit_axis(self.normal, self._what("normal")))
        super().__post_init__()

    def loop_geometry(self) -> LoopGeometry:
        """The normal."""
        return LoopGeometry(matrix_with_z_along(self.normal))


@dataclass(frozen=True, repr=False)
class Distance(_LoopJoint):
    """The origins of the two frames stay `length` [m] apart: a massless rod with a ball at either end.

    q = quaternion and position of the one frame in the other; v = its angular velocity in its own axes, and the
    velocity of its origin along two directions across the rod. No damping, friction or stiffness. The frames do not
    coincide when the loop is closed: give `at_other` when you connect.
    """

    n_q, n_v = 7, 5
    coordinates = ("wx", "wy", "wz", "across1", "across2")
    rows = (("distance", 2),)
    freedoms = (*_BALL, ("across", 0), ("across", 1))
    units: ClassVar = {"length": "m"}

    length: float

    def __post_init__(self) -> None:
        """Check the length, then the common fields."""
        length = finite_scalar(self.length, self._what("length"))
        if not length > 0.0:
            raise InputError(f"{self._what('length')} must be greater than 0, not {length:g}; 0 is a Spherical joint")
        self._set("length", length)
        super().__post_init__()
        for option in ("damping", "friction", "stiffness"):
            if any(getattr(self, option)):
                raise InputError(f"{self._what(option)} must be 0, not {getattr(self, option)}")

    def loop_geometry(self) -> LoopGeometry:
        """The length."""
        return LoopGeometry(_IDENTITY, length=self.length)
