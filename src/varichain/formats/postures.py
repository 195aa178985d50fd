"""Named postures of a robot, from the group states of its SRDF file."""

from __future__ import annotations

import math
import os
from pathlib import Path
from typing import TYPE_CHECKING

from varichain.errors import InputError
from varichain.files import file_name
from varichain.formats.xml import Element, parse, read_bytes
from varichain.mechanism.joint import Joint
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import instance

if TYPE_CHECKING:
    from varichain.layout.state import State

_ROOTS = ("root_joint", "virtual_joint", "world_joint", "floating_base")  # what files call the base's free joint


def load_postures(path: str | os.PathLike[str], m: Mechanism) -> dict[str, State]:
    """States of a mechanism by the names of an SRDF file's group states, such as "half_sitting".

    Joints that a group state leaves out are at zero; states of one name in several groups make up one. "root_joint" and
    the like mean the one free joint. Joints that the mechanism does not have are left out.

    Raises:
        FormatError: The file is no SRDF, or a value does not fit its joint.
        InputError: No joint of any posture is one of the mechanism's.
    """
    instance(m, Mechanism, "mechanism")
    file = Path(os.path.abspath(file_name(path)))
    root = parse(read_bytes(file), str(file))
    if root.tag != "robot":
        raise root.error("the root of an SRDF file is <robot>")
    joints = {str(joint.name): joint for joint in m.joints}
    bases = [name for name, joint in joints.items() if joint.n_v == 6]
    postures: dict[str, State] = {}
    n_set = n_given = 0
    for group in root.all("group_state"):
        s = postures.setdefault(group.word("name"), m.state())
        for element in group.all("joint"):
            name, n_given = element.word("name"), n_given + 1
            if name in _ROOTS and name not in joints and len(bases) == 1:
                name = bases[0]
            if name in joints and joints[name].n_v:
                s[name].q = _coordinates(element, joints[name])
                n_set += 1
    if n_given and not n_set:
        raise InputError(f"no joint of the postures in {file.name} is one of {m.name!r}: is it another robot's file?")
    return postures


def _coordinates(element: Element, joint: Joint) -> list[float]:
    """Coordinates of a joint; a free one's are position and quaternion (x, y, z, w) in files."""
    values = list(element.parsed(element.word("value"), len(element.word("value").split()), "'value'"))
    if joint.n_v == 6 and len(values) == 7:
        return [values[6], *values[3:6], *values[:3]]
    if joint.kind == "spherical" and len(values) == 4:
        return [values[3], *values[:3]]
    if joint.n_q == 1 and len(values) == 2:  # cosine and sine, as of joints without limits
        return [math.atan2(values[1], values[0])]
    if len(values) != joint.n_q:
        raise element.error(f"{joint.kind} joint {joint.name!r} has {joint.n_q} coordinates, not {len(values)}")
    return values
