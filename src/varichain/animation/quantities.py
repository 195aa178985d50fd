"""What functions are made of: positions, directions, rotations, coordinates, time, and rates without a position."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from varichain.animation.function import Function, nodes_of
from varichain.animation.leaves import (
    GROUND,
    Center,
    Coordinate,
    Direction,
    Given,
    Leaf,
    Place,
    Points,
    Pushing,
    Quaternion,
    Spinning,
    Turning,
)
from varichain.animation.nodes import Node, unary
from varichain.errors import InputError
from varichain.layout.layout import layout_of
from varichain.mechanism.frames import Frame
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance, is_many, is_sequence, listed, name_string, shown, unit_axis
from varichain.spatial.pose import Pose

Carrier = str | Link | Frame
At = Pose | Sequence[float] | Array

_AXES = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


def point(link: Carrier, at: At | None = None, seen_from: Carrier | None = None) -> Function:
    """Position (3,) [m] of a point of a link or named frame [PFB, (7), (16)].

    Args:
        link: Link or frame, by name, or a `Frame`.
        at: Point in that frame; its origin by default.
        seen_from: Link or frame in whose axes, from whose origin, the point is seen; the world by default.
    """
    place = Place.of(link, at)
    if seen_from is None:
        return _three(Points((place,), (1.0,)))
    frame = Place.of(seen_from, what="seen_from")
    return _axes_of(frame) @ _three(Points((place, frame), (1.0, -1.0)))


def direction(link: Carrier, axis: Any = "x", seen_from: Carrier | None = None) -> Function:
    """Unit vector (3,) that a link or named frame carries [PFB, (5)]: an axis by name, or three numbers."""
    own = _three(Direction(Place.of(link), unit_axis(axis)))
    return own if seen_from is None else _axes_of(Place.of(seen_from, what="seen_from")) @ own


def rotation(link: Carrier, at: At | None = None, seen_from: Carrier = GROUND) -> Function:
    """Rotation vector (3,) [rad] of a link or named frame seen from another one; within half a turn, where it jumps.

    `seen_from=vc.Frame("ground", pose)` measures from a fixed orientation, such as a target.
    """
    return Function(rotation_nodes(Place.of(link, at), Place.of(seen_from, what="seen_from")))


def distance(link: Carrier, other: Carrier, at: At | None = None, at_other: At | None = None) -> Function:
    """Distance [m] of a point of a link from a point of another one; it has no gradient where the two meet."""
    places = Place.of(link, at), Place.of(other, at_other, "other")
    return _three(Points(places, (1.0, -1.0))).norm()


def center_of_mass(links: Iterable[str | Link] | None = None) -> Function:
    """Centre of mass (3,) [m] of all that can move, or of some links."""
    if links is None:
        return _three(Center(None))
    if isinstance(links, str) or not is_many(links):
        raise InputError(f"links must be a list of links, not {shown(links)}")
    names = tuple(one.name if isinstance(one, Link) else name_string(one, "an entry of links") for one in links)
    if not names:
        raise InputError("links must name at least one link: nothing has no centre of mass")
    return _three(Center(names))


def coordinate(joint: str, label: str | None = None) -> Function:
    """One coordinate [rad or m] of a joint.

    Args:
        joint: Name of a joint.
        label: Which of several coordinates, by the name of its freedom, such as "displacement" of a cylindrical joint.
            "wx", "wy", "wz" of a ball are entries of its rotation vector, in the axes of the link; "vx", "vy", "vz" of
            a free joint are the position of its link, in the axes of the joint frame.
    """
    name = name_string(joint, "joint")
    return Function(Coordinate(name, None if label is None else name_string(label, "label")).node())


def posture(m: Mechanism, joints: Iterable[str] | None = None) -> Function:
    """Coordinates (n,) of some joints of a mechanism, or of all, one after the other; see `coordinate`."""
    layout = layout_of(instance(m, Mechanism, "mechanism"))
    slots = layout.slots if joints is None else [layout.slot(joint) for joint in listed(joints, str, "joints")]
    nodes = [Coordinate(slot.name, label).node() for slot in slots for label in slot.coordinates]
    if not nodes:
        raise InputError("these joints have no coordinates")
    return Function(nodes)


def time() -> Function:
    """The time [s] of the state."""
    return Function(Given(None).node())


def given(curve: Any) -> Function:
    """Number that time alone changes: a curve of scipy (CubicSpline, PPoly, BSpline), or any curve(t, nu).

    `curve(t, 0)`, `curve(t, 1)` and `curve(t, 2)` are its value, rate and acceleration.
    """
    if not callable(curve):
        raise InputError(f"a curve must be callable as curve(t, nu), such as a scipy CubicSpline, not {shown(curve)}")
    try:
        numbers = [np.asarray(curve(0.0, nu), dtype=float) for nu in (0, 1, 2)]
    except TypeError:
        raise InputError(
            "a curve must be callable as curve(t, nu) with the order nu of the derivative, as a scipy CubicSpline is"
        ) from None
    if any(number.shape != () for number in numbers):
        raise InputError(f"a curve must be one number at a time, not of shape {numbers[0].shape}; use one curve each")
    return Function(Given(curve).node())


def angular_velocity(link: Carrier, seen_from: Carrier = GROUND) -> Function:
    """Angular velocity (3,) [rad/s] of a link against another one, world axes [PFB, (18)]: a rate without position."""
    return _three(Turning(Place.of(link), Place.of(seen_from, what="seen_from")))


def momentum() -> Function:
    """Momentum (3,) [kg m/s] of all that moves: a rate, with gradient and bias alone."""
    return _three(Pushing())


def angular_momentum() -> Function:
    """Angular momentum (3,) [kg m^2/s] about the centre of mass: a rate, with gradient and bias alone."""
    return _three(Spinning())


def stack(parts: Sequence[Any]) -> Function:
    """Functions of equal shapes, one after the other along a new first axis."""
    if not is_sequence(parts) or not len(parts):
        raise InputError(f"stack needs a list of functions, not {shown(parts)}")
    return Function(nodes_of(list(parts)))


def rotation_nodes(place: Place, seen_from: Place) -> list[Node]:
    """Rotation vector of a frame: the vector part of its quaternion, times a function of the scalar part."""
    w, *vector = Quaternion(place, seen_from).nodes(4)
    factor = unary("half_log", w)
    return [factor * part for part in vector]


def axis_nodes(place: Place) -> list[list[Node]]:
    """The three axes of a frame in world axes, one each row: R^T."""
    return [Direction(place, axis).nodes(3) for axis in _AXES]


def _axes_of(place: Place) -> Function:
    return Function(axis_nodes(place))


def _three(leaf: Leaf) -> Function:
    return Function(leaf.nodes(3))
