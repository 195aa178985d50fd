"""Checks of what is handed to a mechanism."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from varichain.errors import InputError, quoted
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import JOINT_TYPES, Joint
from varichain.mechanism.joints import Free
from varichain.mechanism.shapes import Shape
from varichain.spatial.checks import several, shown


def _calls(joints: Iterable[type[Joint]]) -> str:
    return ", ".join(f"{joint.__name__}(...)" for joint in joints)


def _of_trees() -> str:
    return _calls(joint for joint in JOINT_TYPES.values() if joint.in_tree)


def _of_loops() -> str:
    return _calls(joint for joint in JOINT_TYPES.values() if joint.rows is not None)


def checked_joint(joint: Any, link_name: str, is_floating: bool) -> Joint:
    """`joint` if it is one; a free-floating link takes Free() alone, and gets it by itself."""
    if is_floating and joint is None:
        return Free(actuated=False)
    if not isinstance(joint, Joint):
        found = "none" if joint is None else shown(joint)
        raise InputError(f"link {link_name!r} needs a joint, one of {_of_trees()}; found {found}")
    refuse_loop_joint(joint, link_name)
    if is_floating and not isinstance(joint, Free):
        raise InputError(
            f"link {link_name!r} has no parent, so its joint must be Free(...) or left out; found {quoted(joint)}; "
            "other joints need a parent, for example parent='ground'"
        )
    if joint.actuated is None:
        return joint._as(actuated=not isinstance(joint, Free))
    return joint


def refuse_loop_joint(joint: Joint, link_name: str) -> None:
    """Refuse a joint that closes loops alone."""
    if not joint.in_tree:
        raise InputError(
            f"a {joint.kind} joint closes loops alone and cannot carry link {link_name!r}: connect the link with it, "
            f"or carry it by one of {_of_trees()}"
        )


def checked_loop_joint(joint: Any) -> Joint:
    """`joint` if it can close a loop."""
    if not isinstance(joint, Joint):
        raise InputError(f"a connection needs a joint, one of {_of_loops()}; found {shown(joint)}")
    if joint.rows is None:
        raise InputError(
            f"a {joint.kind} joint cannot close a loop: {type(joint).__name__} declares no rows; those that can: "
            f"{_of_loops()}"
        )
    if any(joint.armature):
        raise InputError(
            f"a {joint.kind} joint that closes a loop cannot have armature; found armature={joint.armature}: "
            "give it to a joint of the tree, or leave it out"
        )
    return joint


def checked_inertia(inertia: Any) -> Inertia:
    """`inertia` if it is one."""
    if not isinstance(inertia, Inertia):
        raise InputError(f"inertia must be an Inertia, for example Inertia.sphere(1.0, 0.1), not {shown(inertia)}")
    return inertia


def checked_shapes(shapes: Any) -> tuple[Shape, ...]:
    """`shapes`, one or several, as a tuple."""
    found = tuple(several(shapes))
    for shape in found:
        if not isinstance(shape, Shape):
            raise InputError(
                f"shapes must be any number of Capsule, Box, Sphere, Cylinder, Ellipsoid and Mesh, not {shown(shape)}"
            )
    return found


def numbered(name: str, taken: Mapping[str, object]) -> str:
    """The name, or the name with the first number that makes it unique."""
    if name not in taken:
        return name
    number = 2
    while f"{name} {number}" in taken:
        number += 1
    return f"{name} {number}"
