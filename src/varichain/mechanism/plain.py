"""Parts of a mechanism as plain values and back: dicts, lists, strings, numbers and None, exact to the bit.

Everything survives strict JSON: floats are written so that they come back the same, open limits are null. What is read
is checked like what a program hands over; a mistake is named with its place, as in `links[3].joint.axis`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterator
from contextlib import contextmanager
from dataclasses import fields
from typing import Any, TypeVar

import numpy as np

from varichain.errors import InputError, VarichainError
from varichain.mechanism.breaks import Breaks
from varichain.mechanism.contact import ContactPoint, ContactShape, HalfSpace, SurfaceShape
from varichain.mechanism.force_elements import function_name
from varichain.mechanism.height_field import HeightField
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import JOINT_TYPES, Joint
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.shapes import Box, Capsule, Cylinder, Ellipsoid, Mesh, Sphere
from varichain.spatial.checks import finite_array, shown
from varichain.spatial.pose import Pose

Plain = dict[str, Any]
Part = TypeVar("Part")

AnyShape = ContactShape | SurfaceShape
SHAPE_TYPES: dict[str, type[AnyShape]] = {
    cls.__name__: cls for cls in (Box, Capsule, ContactPoint, Cylinder, Ellipsoid, HalfSpace, HeightField, Mesh, Sphere)
}


# --- to plain values -----------------------------------------------------------------------------------------------


def plain_pose(pose: Pose) -> Plain:
    """Position and rotation matrix; a quaternion would not come back to the same bits."""
    return {"p": pose.p.tolist(), "R": pose.R.tolist()}


def plain_inertia(inertia: Inertia) -> Plain:
    """Mass, centre of mass and matrix."""
    return {"mass": inertia.mass, "com": inertia.com.tolist(), "about_com": inertia.about_com.tolist()}


def plain_joint(joint: Joint) -> Plain:
    """Name of the class, and all fields."""
    return {"type": type(joint).__name__} | {name: _plain(getattr(joint, name)) for name in _names(type(joint))}


def plain_shape(shape: AnyShape) -> Plain:
    """Name of the class, and all fields."""
    return {"type": type(shape).__name__} | {name: _plain(getattr(shape, name)) for name in _names(type(shape))}


def _plain(value: Any) -> Any:
    """A field of a joint or a shape."""
    if isinstance(value, (tuple, list)):
        return [_plain(item) for item in value]
    if isinstance(value, Pose):
        return plain_pose(value)
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, (SwingTwist, Breaks)):
        return {name: _plain(getattr(value, name)) for name in _names(type(value))}
    if callable(value):  # of a function the name is all that is plain
        return function_name(value)
    return None if isinstance(value, float) and math.isinf(value) else value


_NAMES: dict[type, tuple[str, ...]] = {}


def _names(cls: type) -> tuple[str, ...]:
    """Names of a dataclass's fields."""
    if cls not in _NAMES:
        _NAMES[cls] = tuple(field.name for field in fields(cls))
    return _NAMES[cls]


# --- and back ------------------------------------------------------------------------------------------------------


def pose_from(value: Any, place: str) -> Pose:
    """Pose with these very numbers; they must be those of a rotation, but are not made orthonormal once more."""
    entries = entries_of(value, ("p", "R"), place)
    with located(place):
        Pose(entries["p"], R=entries["R"])
        R = np.array(finite_array(entries["R"], (3, 3), "R"))
        return Pose._trusted(np.array(finite_array(entries["p"], (3,), "p")), R)


def inertia_from(value: Any, place: str) -> Inertia:
    """Inertia with these numbers."""
    entries = entries_of(value, ("mass", "com", "about_com"), place)
    with located(place):
        return Inertia(**entries)


def joint_from(value: Any, place: str) -> Joint:
    """Joint with these fields."""
    entries = _typed(value, JOINT_TYPES, place, "; define or import its class before")
    if isinstance(entries.get("limits"), dict):
        entries["limits"] = _made(SwingTwist, entries["limits"], f"{place}.limits")
    if isinstance(entries.get("breaks"), dict):
        entries["breaks"] = _made(Breaks, entries["breaks"], f"{place}.breaks")
    return _made(JOINT_TYPES[value["type"]], entries, place)


def shape_from(value: Any, place: str) -> Any:
    """Shape with these fields."""
    entries = _typed(value, SHAPE_TYPES, place)
    if "at" in entries:
        entries["at"] = pose_from(entries["at"], f"{place}.at")
    return _made(SHAPE_TYPES[value["type"]], entries, place)


def list_from(value: Any, item_from: Callable[[Any, str], Part], place: str) -> list[Part]:
    """List of parts."""
    if not isinstance(value, (list, tuple)):
        raise InputError(f"{place} must be a list, not {shown(value)}")
    return [item_from(item, f"{place}[{i}]") for i, item in enumerate(value)]


def entries_of(value: Any, names: Collection[str], place: str) -> Plain:
    """A new dict of `value`, which must be a dict with exactly these keys."""
    if not isinstance(value, dict):
        raise InputError(f"{place} must be a dict with {', '.join(names)}, not {shown(value)}")
    missing = [name for name in names if name not in value]
    unknown = [name for name in value if name not in names]
    for problem, found in (("lacks", missing), ("has unknown", unknown)):
        if found:
            raise InputError(f"{place} {problem} {', '.join(map(repr, found))}; its entries are {', '.join(names)}")
    return dict(value)


def whole_number(value: Any, place: str) -> int:
    """An id, a count or a place: an int that is not negative."""
    if type(value) is not int or value < 0:
        raise InputError(f"{place} must be a whole number from 0 on, not {shown(value)}")
    return value


@contextmanager
def located(place: str) -> Iterator[None]:
    """Name the place of whatever a check finds wrong."""
    try:
        yield
    except VarichainError as error:
        raise InputError(f"{place}: {error}") from error


def _typed(value: Any, types: dict[str, Any], place: str, hint: str = "") -> Plain:
    """The entries beside "type", which must be one of `types`."""
    kind = value.get("type") if isinstance(value, dict) else None
    if not isinstance(kind, str) or kind not in types:
        found = shown(value) if kind is None else repr(kind)
        raise InputError(f"{place} must have a type, one of {', '.join(types)}; found {found}{hint if kind else ''}")
    entries = entries_of(value, ("type", *_names(types[kind])), place)
    del entries["type"]
    return entries


def _made(cls: type[Part], entries: Plain, place: str) -> Part:
    """Object of a dataclass."""
    entries_of(entries, _names(cls), place)
    with located(place):
        return cls(**entries)
