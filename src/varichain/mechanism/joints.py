"""The joints of trees."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache
from typing import ClassVar, Self

import numpy as np

from varichain.errors import InputError, quoted
from varichain.mechanism.joint import OPTIONS_PER_FREEDOM, Axes, Axis, Joint, Limits, Primitive
from varichain.mechanism.limits import SwingTwist, coordinate_limits
from varichain.mechanism.loop_rows import LoopGeometry
from varichain.spatial.checks import NAMED_AXES, Triple, finite_scalar, flag, unit_axis
from varichain.spatial.frozen import read_only
from varichain.spatial.rotation import matrix_with_z_along

# Axes of a universal joint with a smaller sine of the angle between them count as parallel: a freedom would be lost.
_PARALLEL = 1e-6
_RIGHT = 1e-9  # largest cosine of a right angle
_Z = (0.0, 0.0, 1.0)
_POSITION = (("linear", 0), ("linear", 1), ("linear", 2))
_TILT = (("angular", 0), ("angular", 1))
_BALL = (("turned", 0), ("turned", 1), ("turned", 2))


@dataclass(frozen=True, repr=False)
class _AlongAxis(Joint):
    """A joint with one axis, given in the joint frame."""

    axis: Axis = "z"

    def __post_init__(self) -> None:
        axis = self.axis
        is_named = type(axis) is str and axis in NAMED_AXES  # the common case, made quicker
        self.__dict__["axis"] = NAMED_AXES[axis] if is_named else unit_axis(axis, self._what("axis"))
        super().__post_init__()

    def reversed(self) -> Self:
        """The axis turned round."""
        return replace(self, axis=_opposite(self.axis))


@dataclass(frozen=True, repr=False)
class Revolute(_AlongAxis):
    """Hinge: turns about `axis`. q = angle [rad]."""

    n_q = n_v = 1
    coordinates = ("angle",)
    rows = (*_POSITION, *_TILT)
    freedoms = (("angular", 2),)
    format_names: ClassVar = {"urdf": "revolute", "mjcf": "hinge"}

    def primitives(self) -> tuple[Primitive, ...]:
        """One revolute."""
        return (_primitive("revolute", self.axis),)


@dataclass(frozen=True, repr=False)
class Prismatic(_AlongAxis):
    """Slider: slides along `axis`. q = displacement [m]."""

    n_q = n_v = 1
    coordinates = ("displacement",)
    rows = (("linear", 0), ("linear", 1), *_TILT, ("angular", 2))
    freedoms = (("linear", 2),)
    orientation = "whole"
    format_names: ClassVar = {"urdf": "prismatic", "mjcf": "slide"}

    def primitives(self) -> tuple[Primitive, ...]:
        """One prismatic."""
        return (_primitive("prismatic", self.axis),)


@dataclass(frozen=True, repr=False)
class Screw(_AlongAxis):
    """Screw: turns about `axis` and slides along it by `pitch` [m/rad] times the angle. q = angle [rad]."""

    n_q = n_v = 1
    coordinates = ("angle",)
    rows = (("linear", 0), ("linear", 1), ("helical", 2), *_TILT)
    freedoms = (("angular", 2),)
    units: ClassVar = {"pitch": "m/rad"}

    pitch: float = field(kw_only=True)

    def __post_init__(self) -> None:
        """Check the pitch, then the rest."""
        self._set("pitch", finite_scalar(self.pitch, self._what("pitch")))
        super().__post_init__()

    def primitives(self) -> tuple[Primitive, ...]:
        """One screw."""
        return (_primitive("screw", self.axis, self.pitch),)

    def loop_geometry(self) -> LoopGeometry:
        """The axis and the pitch."""
        return LoopGeometry(_primitive("screw", self.axis, self.pitch).R, pitch=self.pitch)


@dataclass(frozen=True, repr=False)
class Cylindrical(_AlongAxis):
    """Turns about `axis` and slides along it, independently. q = angle [rad], displacement [m]."""

    n_q = n_v = 2
    coordinates = ("angle", "displacement")
    rows = (("linear", 0), ("linear", 1), *_TILT)
    freedoms = (("angular", 2), ("linear", 2))

    def primitives(self) -> tuple[Primitive, ...]:
        """A revolute and a prismatic."""
        return (_primitive("revolute", self.axis), _primitive("prismatic", self.axis))


@dataclass(frozen=True, repr=False)
class Universal(Joint):
    """Cardan joint: turns about the first of `axes`, fixed in the parent, then about the second, carried by the first.

    q = two angles [rad]. The axes need not be perpendicular, but must not be parallel.
    """

    n_q = n_v = 2
    coordinates = ("angle1", "angle2")
    rows = (*_POSITION, ("crossed", 2))
    freedoms = (("cardan", 0), ("cardan", 1))
    reversed_note = "its two angles are swapped"

    axes: Axes = ("x", "y")

    def __post_init__(self) -> None:
        """Check the axes, then the common fields."""
        what = self._what("axes")
        if not isinstance(self.axes, (tuple, list)) or len(self.axes) != 2:
            raise InputError(f"{what} must be two axes such as ('x', 'y'), not {quoted(self.axes)}")
        first, second = (unit_axis(axis, f"{what}[{k}]") for k, axis in enumerate(self.axes))
        if np.linalg.norm(np.cross(first, second)) < _PARALLEL:
            raise InputError(f"{what} must not be parallel, found {first} and {second}")
        self._set("axes", (first, second))
        super().__post_init__()

    def primitives(self) -> tuple[Primitive, ...]:
        """Two revolutes."""
        return tuple(_primitive("revolute", axis) for axis in self.axes)

    def loop_geometry(self) -> LoopGeometry:
        """Both axes."""
        R = _primitive("revolute", self.axes[0]).R
        x, y, z = (R.T @ self.axes[1]).tolist()
        return LoopGeometry(R, second=(x, y, z))

    def reversed(self) -> Self:
        """Both axes turned round, and all that belongs to the two angles swapped."""
        first, second = self.axes
        swapped = {name: getattr(self, name)[::-1] for name in (*OPTIONS_PER_FREEDOM, "rest")}
        limits = None if self.limits is None else tuple(side[::-1] for side in self.limits)
        return replace(self, axes=(_opposite(second), _opposite(first)), limits=limits, **swapped)


@dataclass(frozen=True, repr=False)
class Planar(Joint):
    """Slides in a plane and turns about its `normal`. q = x [m], y [m], angle [rad]; v is the rate of q.

    x and y run along the first two columns of `matrix_with_z_along(normal)`: along the joint frame's own x and y if
    the normal is z.
    """

    n_q = n_v = 3
    coordinates = ("x", "y", "angle")
    rows = (("linear", 2), *_TILT)
    freedoms = (("linear", 0), ("linear", 1), ("angular", 2))
    format_names: ClassVar = {"urdf": "planar"}

    normal: Axis = "z"

    def __post_init__(self) -> None:
        """Check the normal, then the common fields."""
        self._set("normal", unit_axis(self.normal, self._what("normal")))
        super().__post_init__()

    def primitives(self) -> tuple[Primitive, ...]:
        """Two prismatics and a revolute."""
        turn = _primitive("revolute", self.normal)
        # Turning the three columns round keeps the matrix a rotation and brings x, then y, to the place of z.
        return (
            Primitive("prismatic", read_only(turn.R[:, [1, 2, 0]])),
            Primitive("prismatic", read_only(turn.R[:, [2, 0, 1]])),
            turn,
        )

    def loop_geometry(self) -> LoopGeometry:
        """x, y and the normal."""
        return LoopGeometry(_primitive("revolute", self.normal).R)


@dataclass(frozen=True, repr=False)
class Spherical(Joint):
    """Ball joint: turns freely about a point. q = unit quaternion (w, x, y, z).

    v is the angular velocity [rad/s] in the link's axes. `limits` is a SwingTwist or None. `friction` acts in each
    freedom by itself; with `is_isotropic` it is one moment against the whole angular velocity, and takes one number.
    """

    is_isotropic: bool = field(default=False, kw_only=True)  # type: ignore[misc]

    n_q = 4
    n_v = 3
    coordinates = ("wx", "wy", "wz")
    rows = _POSITION
    freedoms = _BALL
    format_names: ClassVar = {"urdf": "spherical", "mjcf": "ball", "mjcf loop": "connect"}
    reversed_note = "its quaternion is the inverse"
    has_quaternion = True

    def __post_init__(self) -> None:
        """Check the common fields, and that isotropic friction is one number."""
        super().__post_init__()
        self._set("is_isotropic", flag(self.is_isotropic, "is_isotropic"))
        if self.is_isotropic and len(set(self.friction)) > 1:
            raise InputError(
                f"{self._what('friction')} must be one number with is_isotropic, not {self.friction}: it acts against "
                "the whole angular velocity"
            )

    def primitives(self) -> tuple[Primitive, ...]:
        """One spherical."""
        return (_primitive("spherical", _Z),)

    def reversed(self) -> Self | None:
        """The joint itself, if it has no limits."""
        return self if self.limits is None else None

    def excess(self, q: Sequence[float]) -> float:
        """How far an orientation is beyond swing or twist [rad]; negative inside, -inf without limits."""
        return -math.inf if self.limits is None else float(self.limits._excess(*q))

    def _checked_limits(self) -> Limits:
        if not isinstance(self.limits, SwingTwist):
            raise InputError(f"{self._what('limits')} must be a SwingTwist or None, not {quoted(self.limits)}")
        return self.limits


@dataclass(frozen=True, repr=False)
class Free(Joint):
    """No constraint at all: a free-floating link. q = (w, x, y, z, px, py, pz), the link's pose in the joint frame.

    v = [angular; linear] velocity of the link [rad/s, m/s] in the link's axes. `limits` are those of the position
    (px, py, pz) in the joint frame [m].
    """

    n_q = 7
    n_v = 6
    coordinates = ("wx", "wy", "wz", "vx", "vy", "vz")
    rows = ()
    freedoms = (*_BALL, ("carried", 0), ("carried", 1), ("carried", 2))
    format_names: ClassVar = {"urdf": "floating", "mjcf": "free"}
    has_quaternion = True

    def primitives(self) -> tuple[Primitive, ...]:
        """One free."""
        return (_primitive("free", _Z),)

    def _checked_limits(self) -> Limits:
        return coordinate_limits(self.limits, 3, self._what("limits"))

    def excess(self, q: Sequence[float]) -> float:
        """How far the position is beyond the limits [m]; negative inside, -inf without limits."""
        return super().excess(q[4:])


@dataclass(frozen=True, repr=False)
class Fixed(Joint):
    """No motion at all: the link is welded to its parent. No limits, damping, friction, stiffness or armature."""

    rows = (*_POSITION, *_TILT, ("angular", 2))
    orientation = "whole"
    format_names: ClassVar = {"urdf": "fixed", "mjcf": "", "mjcf loop": "weld"}

    def primitives(self) -> tuple[Primitive, ...]:
        """None."""
        return ()

    def reversed(self) -> Self:
        """The joint itself."""
        return self

    def _checked_limits(self) -> Limits:
        raise InputError(
            f"{self._what('limits')} must be None: a fixed joint has no limits; found {quoted(self.limits)}"
        )


@dataclass(frozen=True, repr=False)
class PinInSlot(Joint):
    """Slides along `slot`, fixed in the parent, and turns about `axis`, at right angles to it.

    q = displacement [m], angle [rad].
    """

    n_q = n_v = 2
    coordinates = ("displacement", "angle")
    rows = (("linear", 1), ("linear", 2), *_TILT)
    freedoms = (("linear", 0), ("angular", 2))

    slot: Axis = "x"
    axis: Axis = "z"

    def __post_init__(self) -> None:
        """Check both axes, then the common fields."""
        for name in ("slot", "axis"):
            self._set(name, unit_axis(getattr(self, name), self._what(name)))
        if abs(np.dot(self.slot, self.axis)) > _RIGHT:
            raise InputError(f"{self._what('axis')} must be at right angles with slot {self.slot}, not {self.axis}")
        super().__post_init__()

    def primitives(self) -> tuple[Primitive, ...]:
        """A prismatic and a revolute."""
        R = self.loop_geometry().axes
        return Primitive("prismatic", read_only(R[:, [1, 2, 0]])), Primitive("revolute", R)

    def loop_geometry(self) -> LoopGeometry:
        """The slot, the direction across it and the axis."""
        across = np.cross(self.axis, self.slot)
        across /= np.linalg.norm(across)
        return LoopGeometry(read_only(np.column_stack([np.cross(across, self.axis), across, self.axis])))


def _opposite(axis: Triple) -> tuple[float, ...]:
    return tuple(-x for x in axis)


@lru_cache(maxsize=256)
def _primitive(kind: str, axis: Triple, pitch: float = 0.0) -> Primitive:
    """Shared elementary freedom along an axis: mechanisms use few different ones, many times."""
    return Primitive(kind, read_only(matrix_with_z_along(axis)), pitch)
