"""Force elements: connections that hold nothing back, and act between two points or about an axis.

Each is a joint without rows, which leaves all six freedoms: it is connected and cut like any other, at any time and
without impact, and its force is that of a loop.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from varichain.errors import InputError, quoted
from varichain.mechanism.joint import Axis, Joint, Limits, Primitive
from varichain.mechanism.loop_rows import LoopGeometry
from varichain.spatial.checks import finite_scalar, flag, non_negative_scalar, shown, unit_axis
from varichain.spatial.frozen import read_only
from varichain.spatial.rotation import matrix_with_z_along

_IDENTITY = read_only(np.eye(3))
_FUNCTIONS: dict[str, Callable[[float, float], float]] = {}  # by the names that files have for them


def function_name(function: Callable[..., Any]) -> str:
    """Name by which files know a function, and by which this process finds it again: nothing is ever imported."""
    known = next((name for name, other in _FUNCTIONS.items() if other is function), None)
    if known is None:
        base = f"{getattr(function, '__module__', '')}:{getattr(function, '__qualname__', 'function')}"
        known = base if base not in _FUNCTIONS else f"{base} {len(_FUNCTIONS)}"
        _FUNCTIONS[known] = function
    return known


@dataclass(frozen=True, repr=False)
class _ForceElement(Joint):
    """A connection that acts and does not constrain. Stiffness and damping are one number, the first of six."""

    n_q, n_v = 7, 6
    coordinates = ("wx", "wy", "wz", "vx", "vy", "vz")
    rows = ()
    freedoms = (("turned", 0), ("turned", 1), ("turned", 2), ("carried", 0), ("carried", 1), ("carried", 2))
    has_quaternion = True
    in_tree = False
    options: ClassVar[tuple[str, ...]] = ()  # of those that every joint has

    def __post_init__(self) -> None:
        """Refuse what an element has no use for, then check the common fields."""
        super().__post_init__()
        for option in ("stiffness", "damping", "friction", "armature"):
            if option not in self.options and any(getattr(self, option)):
                raise InputError(f"{self._what(option)} must be 0, not {getattr(self, option)[0]:g}")
        if self.actuated:
            raise InputError(f"{self._what('actuated')} must be False: it acts by its own law")

    def primitives(self) -> tuple[Primitive, ...]:
        """None: no tree has an element."""
        return ()

    def _per_freedom(self, option: str, value: Any) -> tuple[float, ...]:
        """The one number of an element, first of six; a file has all six."""
        six = tuple(value) if isinstance(value, tuple | list) else (value,)
        if len(six) not in (1, 6) or any(x != 0.0 for x in six[1:]):
            raise InputError(f"{self._what(option)} must be a number, not {shown(value)}")
        return (non_negative_scalar(six[0], self._what(option)), 0.0, 0.0, 0.0, 0.0, 0.0)

    def _check_spring(self) -> None:
        """Every element has a potential."""

    def _checked_limits(self) -> Limits:
        raise InputError(f"{self._what('limits')} must be None, not {quoted(self.limits)}")

    def __repr__(self) -> str:
        """The fields that say something, stiffness and damping as one number."""
        text = super().__repr__()
        for option in ("stiffness", "damping"):
            six = getattr(self, option)
            text = text.replace(f"{option}={six!r}", f"{option}={six[0]!r}")
        return text


@dataclass(frozen=True, repr=False)
class SpringDamper(_ForceElement):
    """Pulls the origins of its two frames together with stiffness (l - length) + damping l', where l is their distance.

    Give `at` and `at_other` when you connect: the two points.

    Attributes:
        length: Distance at which the spring is relaxed [m].
        slack: Whether it only pulls, as a cable does: no force at distances below `length`, nor any that pushes.
    """

    law = "line"
    options = ("stiffness", "damping")
    units: ClassVar = {"length": "m"}

    length: float = 0.0
    slack: bool = False

    def __post_init__(self) -> None:
        """Check the length, then the common fields."""
        self._set("length", non_negative_scalar(self.length, self._what("length")))
        self._set("slack", flag(self.slack, self._what("slack")))
        super().__post_init__()

    def loop_geometry(self) -> LoopGeometry:
        """The length."""
        return LoopGeometry(_IDENTITY, length=self.length, is_slack=self.slack)


@dataclass(frozen=True, repr=False)
class ConstantForce(_ForceElement):
    """Pulls the origins of its two frames together with a constant force [N]; a negative one pushes them apart."""

    law = "line"
    units: ClassVar = {"force": "N"}

    force: float

    def __post_init__(self) -> None:
        """Check the force, then the common fields."""
        self._set("force", finite_scalar(self.force, self._what("force")))
        super().__post_init__()

    def loop_geometry(self) -> LoopGeometry:
        """The force."""
        return LoopGeometry(_IDENTITY, pull=self.force)


@dataclass(frozen=True, repr=False)
class LineForce(_ForceElement):
    """Pulls the origins of its two frames together with function(l, l') [N], as a muscle does.

    l is their distance [m] and l' its rate [m/s]. Numba must be able to compile the function. Its work counts as taken
    by dampers, since a function need not have a potential. Files and traces hold the function's name alone: where no
    element of this process has had that function, `m.edit_joint(name, function=...)` must come before all computing.
    """

    law = "line"

    function: Callable[[float, float], float] | str

    def __post_init__(self) -> None:
        """Check the function, then the common fields."""
        if isinstance(self.function, str):
            self._set("function", _FUNCTIONS.get(self.function, self.function))
        elif not callable(self.function):
            raise InputError(
                f"{self._what('function')} must be a function of length and rate that returns a force, not "
                f"{shown(self.function)}"
            )
        super().__post_init__()

    def loop_geometry(self) -> LoopGeometry:
        """The function."""
        if isinstance(self.function, str):
            raise InputError(
                f"{self._what('function')} is known by its name {self.function!r} alone, as files hold it: give it by "
                f"edit_joint({self.name!r}, function=...)"
            )
        return LoopGeometry(_IDENTITY, function=self.function)


@dataclass(frozen=True, repr=False)
class TorsionSpring(_ForceElement):
    """Turns the first link back about `axis`, fixed in the other: moment = stiffness (phi - angle) + damping phi'.

    phi is the angle about the axis from a direction across it, in the joint frame, to the same direction as the first
    link carries it, seen along the axis; within half a turn of `angle` [rad].
    """

    law = "turn"
    options = ("stiffness", "damping")
    units: ClassVar = {"angle": "rad"}

    axis: Axis = "z"
    angle: float = 0.0

    def __post_init__(self) -> None:
        """Check axis and angle, then the common fields."""
        self._set("axis", unit_axis(self.axis, self._what("axis")))
        self._set("angle", finite_scalar(self.angle, self._what("angle")))
        super().__post_init__()

    def loop_geometry(self) -> LoopGeometry:
        """The axis, and the angle as its length."""
        return LoopGeometry(matrix_with_z_along(self.axis), length=self.angle)
