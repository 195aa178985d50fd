"""What all joints share: the common fields, and the checks that bring them to one form."""

from __future__ import annotations

import math
import re
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import Field, dataclass, fields
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from varichain.errors import DuplicateNameError, InputError, quoted
from varichain.mechanism.breaks import Breaks
from varichain.mechanism.limits import coordinate_limits
from varichain.mechanism.loop_rows import LoopGeometry, Row, check_rows
from varichain.spatial.checks import finite_numbers, flag, is_sequence, name_string, non_negative_scalar, normalised
from varichain.spatial.frozen import Frozen, read_only

# What these fields take and what they then hold differ, and a dataclass has one annotation for both: hence Any.
Axis = Any  # takes "x", "y", "z", "-x", "-y", "-z" or three numbers; holds a unit vector, a tuple of 3 floats
Axes = Any  # takes two of the above; holds two unit vectors
PerFreedom = Any  # takes a number or n_v numbers; holds a tuple of n_v floats
Coordinates = Any  # takes None, a number (if n_q is 1) or n_q numbers; holds a tuple of n_q floats
Limits = Any  # takes None or (lower, upper); holds None or two tuples of n_q floats; of Spherical, None or a SwingTwist

_IDENTITY = read_only(np.eye(3))
OPTIONS_PER_FREEDOM = ("damping", "friction", "stiffness", "armature")


@dataclass(frozen=True, eq=False)
class Primitive:
    """An elementary freedom of a joint, or three of them at once ("spherical"), or six ("free").

    Attributes:
        kind: "revolute", "prismatic", "screw", "spherical" or "free".
        R: Rotation matrix (3, 3) whose z column is the freedom's axis in the joint frame, read-only.
        pitch: Travel of a screw along its axis per angle [m/rad]; 0 for the others.
    """

    kind: str
    R: NDArray[np.float64]
    pitch: float = 0.0


JOINT_TYPES: dict[str, type[Joint]] = {}
"""All joint types by the names of their classes, in the order in which they were defined."""


@dataclass(frozen=True, kw_only=True, repr=False)
class Joint(Frozen, ABC):
    """A joint: how a link may move against its parent. Immutable.

    A subclass is all that there is to a joint type: it is registered by its definition, unless its name begins with an
    underscore, and files, traces, scenarios and the viewer know it from there on.

    Every joint has the fields below, by keyword. A field "per freedom" takes one number for all freedoms or a number
    for each, not negative, and holds a tuple of `n_v` floats.

    Attributes:
        name: Unique among the joints of a mechanism; a joint without name gets the link's when the link is added.
        limits: (lower, upper), each a number, None for open, or one of these per coordinate [rad or m].
        damping: Per freedom; force = -damping v [N m s/rad or N s/m].
        friction: Per freedom; magnitude of the dry friction force [N m or N].
        stiffness: Per freedom; of the spring towards `rest` [N m/rad or N/m].
        rest: Coordinates (n_q,) where the spring is relaxed; the zero configuration unless given.
        armature: Per freedom; inertia of the drive, seen at the joint [kg m^2 or kg].
        actuated: Whether an actuator drives the joint; None is decided when the joint is used: yes in a tree, no for a
            free joint and for one that closes a loop.
        breaks: Loads at which the joint is cut; None if it never is.

    Class attributes:
        kind: Name of the class in lower case, hyphens between its words.
        n_q, n_v: Numbers of coordinates and of freedoms.
        coordinates: Labels of the freedoms (n_v,).
        has_quaternion: Whether q begins with a unit quaternion (w, x, y, z).
        is_isotropic: Whether friction acts against the whole angular velocity.
        rows: The 6 - n_v directions in which the joint does not let frame A, the link's, move against frame B, the
            joint's; None if the joint cannot close a loop. A row is a word and an axis: "linear" and "angular" along
            an axis of B; "slid" for the position of A in B along an axis of A; "helical" for the thread of a screw
            along axis 2; "crossed" for the angle between axis 2 of B and the second axis, which A carries; "distance"
            along the line from the origin of B to that of A.
        freedoms: The n_v directions in which it does, as rows whose velocities are those of the freedoms: "linear",
            "angular", "slid"; "turned" for the angular velocity along an axis of A, three together for a quaternion,
            and "carried" for the velocity of A's origin along an axis of A; "cardan", 0 and 1, for the two angles
            between crossed axes; "across", 0 and 1, for velocities across the line.
        orientation: What angular rows measure: "axis", the tilt of axis 2, or "whole", the rotation vector.
        law: How springs and dampers act: "" along each freedom; "line" along the line between the frames' origins,
            "turn" about axis 2, both by the first of `stiffness` and `damping`.
        in_tree: Whether a joint of a tree may be of the type; if not, it closes loops alone.
        units: Units of the type's own fields that are numbers, for texts.
        format_names: What robot files call it: words of "urdf" and "mjcf" for joints, of "mjcf loop" for a loop.
        reversed_note: How the coordinates of `reversed` differ; None if they do not.
    """

    kind: ClassVar[str]
    n_q: ClassVar[int] = 0
    n_v: ClassVar[int] = 0
    coordinates: ClassVar[tuple[str, ...]] = ()
    has_quaternion: ClassVar[bool] = False
    is_isotropic: ClassVar[bool] = False
    rows: ClassVar[tuple[Row, ...] | None] = None
    freedoms: ClassVar[tuple[Row, ...]] = ()
    orientation: ClassVar[str] = "axis"
    law: ClassVar[str] = ""
    in_tree: ClassVar[bool] = True
    units: ClassVar[Mapping[str, str]] = {}
    format_names: ClassVar[Mapping[str, str]] = {}
    reversed_note: ClassVar[str | None] = None

    name: str | None = None
    limits: Limits = None
    damping: PerFreedom = 0.0
    friction: PerFreedom = 0.0
    stiffness: PerFreedom = 0.0
    rest: Coordinates = None
    armature: PerFreedom = 0.0
    actuated: bool | None = None
    breaks: Breaks | None = None

    def __init_subclass__(cls) -> None:
        """Name the kind after the class, check what it declares, and register it."""
        cls.kind = re.sub(r"(?<=[a-z0-9])(?=[A-Z])", "-", cls.__name__).lower()
        if "format_names" not in cls.__dict__:  # a file must not turn a joint into one of its base class
            cls.format_names = {}
        if not cls.__name__.startswith("_"):
            check_rows(cls)
            _register(cls)

    def __post_init__(self) -> None:
        """Check the common fields and bring them to the form in which they are read."""
        if self.name is not None:
            name_string(self.name, "joint name")
        fields, none = self.__dict__, (0.0,) * self.n_v
        for option in OPTIONS_PER_FREEDOM:
            value = fields[option]  # most joints have none of these
            fields[option] = none if type(value) is float and value == 0.0 else self._per_freedom(option, value)
        if self.has_quaternion:
            self._check_spring()
        fields["rest"] = self.zero_q() if self.rest is None else self._checked_rest()
        if self.limits is not None:
            fields["limits"] = self._checked_limits()
        if self.actuated is not None:
            fields["actuated"] = flag(self.actuated, "actuated")
        if self.breaks is not None and not isinstance(self.breaks, Breaks):
            raise InputError(
                f"{self._what('breaks')} must be Breaks(force=..., moment=...) or None, not {quoted(self.breaks)}"
            )

    @abstractmethod
    def primitives(self) -> tuple[Primitive, ...]:
        """The joint as a chain of elementary freedoms, parent side first.

        The pose of the link in the joint frame is X_J(q) = prod_k A_k T_k(q_k) A_k^-1, where A_k is the rotation R of
        primitive k and T_k turns about z by q_k (revolute), slides along z by q_k (prismatic), turns by q_k and slides
        by pitch q_k (screw), or is what the quaternion and the position in q say (spherical, free).
        """

    def loop_geometry(self) -> LoopGeometry:
        """Axes and numbers of the rows; the first primitive's axes unless a class says otherwise."""
        primitives = self.primitives()
        return LoopGeometry(primitives[0].R if primitives else _IDENTITY)

    def reversed(self) -> Self | None:
        """The joint as seen from its link: its inverse, with the same coordinates; None if there is none."""
        return None

    @classmethod
    def own_fields(cls) -> tuple[Field[Any], ...]:
        """Fields that not all joints have, such as `axis`, in order."""
        return tuple(field for field in fields(cls) if field.name not in Joint.__dataclass_fields__)

    def zero_q(self) -> tuple[float, ...]:
        """Coordinates (n_q,) of the zero configuration, where the link's frame is the joint frame."""
        if self.has_quaternion:
            return (1.0,) + (0.0,) * (self.n_q - 1)
        return (0.0,) * self.n_q

    def _as(self, **changes: object) -> Self:
        """This joint with fields replaced by values that are known to be right: no check, and cheap."""
        twin, fields = object.__new__(type(self)), self.__dict__.copy()
        fields.update(changes)
        object.__setattr__(twin, "__dict__", fields)
        return twin

    def __repr__(self) -> str:
        """The fields that say something: those that differ from what every new joint has."""
        said = [f"{field.name}={getattr(self, field.name)!r}" for field in fields(self) if self._says(field.name)]
        return f"{type(self).__name__}({', '.join(said)})"

    def _says(self, field: str) -> bool:
        value = getattr(self, field)
        if field == "rest":
            return bool(value != self.zero_q())
        if field in OPTIONS_PER_FREEDOM:
            return any(value)
        return bool(value != getattr(type(self), field, None))

    def _what(self, field: str) -> str:
        """The field and whose it is, for messages."""
        return f"{field} of {self.kind} joint" + (f" {quoted(self.name)}" if self.name is not None else "")

    def _per_freedom(self, option: str, value: Any) -> tuple[float, ...]:
        what = self._what(option)
        if is_sequence(value):
            numbers = finite_numbers(value, self.n_v, what)
            return tuple([non_negative_scalar(number, f"{what}[{k}]") for k, number in enumerate(numbers)])
        number = non_negative_scalar(value, what)
        if self.n_v == 0 and number != 0.0:
            raise InputError(f"{what} must be 0, not {number:g}: the joint has no freedoms")
        return (number,) * self.n_v

    def _checked_rest(self) -> tuple[float, ...]:
        what = self._what("rest")
        rest = self.rest if is_sequence(self.rest) or self.n_q != 1 else [self.rest]
        numbers = finite_numbers(rest, self.n_q, what)
        return normalised(numbers[:4], what) + numbers[4:] if self.has_quaternion else numbers

    def excess(self, q: Sequence[float]) -> float:
        """How far coordinates (n_q,) are beyond the limits [rad or m]; negative inside, -inf without limits."""
        if self.limits is None:
            return -math.inf
        return max([max(float(low - x), float(x - high)) for low, high, x in zip(*self.limits, q, strict=True)])

    def _checked_limits(self) -> Limits:
        return coordinate_limits(self.limits, self.n_q, self._what("limits"))

    def _check_spring(self) -> None:
        """Refuse stiffness that differs among axes that turn with the link: it has no potential."""
        for k in (0, 3) if self.n_v == 6 else (0,):
            if len(set(self.stiffness[k : k + 3])) > 1:
                raise InputError(
                    f"{self._what('stiffness')} must be equal for {', '.join(self.coordinates[k : k + 3])}, "
                    f"not {self.stiffness[k : k + 3]}: otherwise the spring has no potential energy"
                )


def _register(kind: type[Joint]) -> None:
    """Enter a type; a definition that is run again takes the place of the first one."""
    for other in JOINT_TYPES.values():
        is_again = (other.__module__, other.__qualname__) == (kind.__module__, kind.__qualname__)
        if other.kind == kind.kind and not is_again:
            raise DuplicateNameError("joint type", kind.__name__)
    JOINT_TYPES[kind.__name__] = kind
