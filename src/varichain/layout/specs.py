"""What the user said of links and loops as records, kept with each link until it is edited."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

from varichain.kernels.records import (
    ANGULAR,
    AXIS,
    BALL,
    COORDINATES,
    COUPLED,
    CROSSED,
    HELICAL,
    IN_PLANE,
    KIND_CODES,
    LINEAR,
    LOOP_SPEC,
    SLIDE,
    SPEC,
    TURN,
    TURN_AND_SLIDE,
    WHOLE,
)
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.joint import Joint, Primitive
from varichain.mechanism.link import Link
from varichain.spatial.pose import Pose

# Directions in which a joint lets its two frames not move, along the axes of its frame B, whose z is the joint's axis.
ROWS: dict[str, tuple[tuple[int, int], ...]] = {
    "fixed": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2), (ANGULAR, 0), (ANGULAR, 1), (ANGULAR, 2)),
    "revolute": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2), (ANGULAR, 0), (ANGULAR, 1)),
    "prismatic": ((LINEAR, 0), (LINEAR, 1), (ANGULAR, 0), (ANGULAR, 1), (ANGULAR, 2)),
    "screw": ((LINEAR, 0), (LINEAR, 1), (HELICAL, 2), (ANGULAR, 0), (ANGULAR, 1)),
    "cylindrical": ((LINEAR, 0), (LINEAR, 1), (ANGULAR, 0), (ANGULAR, 1)),
    "planar": ((LINEAR, 2), (ANGULAR, 0), (ANGULAR, 1)),
    "universal": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2), (CROSSED, 2)),
    "spherical": ((LINEAR, 0), (LINEAR, 1), (LINEAR, 2)),
    "free": (),
}
PASSIVE_JOINTS = {
    "revolute": TURN,
    "screw": TURN,
    "prismatic": SLIDE,
    "cylindrical": TURN_AND_SLIDE,
    "planar": IN_PLANE,
    "spherical": BALL,
}
_IDENTITY = np.eye(3)
# The fields of SPEC and LOOP_SPEC in order; packed at once, since every structure change makes some.
_LINK = struct.Struct("2q 3q 27d d 9d3d d3d6d 6d6d6d6d 7d")
_ENDS, _FRAMES, _AXES = struct.Struct("2q"), 2 * 12 * 8, 9 * 8
_SECOND, _PASSIVE = struct.Struct("3d 2d"), struct.Struct("q 3d3d3d4d")
_NO_SECOND, _NO_PASSIVE = bytes(_SECOND.size), bytes(_PASSIVE.size)
_ROWS = {
    kind: struct.pack(
        "2q 6q6q",
        WHOLE if kind in ("fixed", "prismatic") else AXIS,
        len(rows),
        *[row[0] for row in rows],
        *[0] * (6 - len(rows)),
        *[row[1] for row in rows],
        *[0] * (6 - len(rows)),
    )
    for kind, rows in ROWS.items()
}
GROUND_SPEC = bytes(SPEC.itemsize)
assert _LINK.size == SPEC.itemsize
assert sum((_ENDS.size, _FRAMES, _AXES, _SECOND.size, len(_ROWS["free"]), _PASSIVE.size)) == LOOP_SPEC.itemsize


class Connection(NamedTuple):
    """What closes a loop.

    Attributes:
        joint: The virtual joint.
        link_A, link_B: Names of the real link and of the one that its virtual copy hangs on.
        on_A, on_B: The joint frame on both.
        spec: The same as a record.
    """

    joint: Joint
    link_A: str
    link_B: str
    on_A: Pose
    on_B: Pose
    spec: bytes


def link_spec(link: Link, rows: Mapping[str, int]) -> bytes:
    """Record of a link, its joint and its inertia, which is also kept with the link."""
    assert link.joint is not None and link.parent is not None
    spec = _new_link_spec(link, link.joint, rows[link.parent.name])
    link._set("_spec", spec)
    return spec


def connection_of(link: Link, rows: Mapping[str, int]) -> Connection:
    """The loop that a virtual link closes, which is also kept with the link."""
    joint, A, B = link.joint, link.real, link.parent
    assert joint is not None and A is not None and B is not None
    on_A, on_B = link.on_real, link.at
    ends = _ENDS.pack(rows[A.name], rows[B.name])
    frames = on_A.R.tobytes() + on_A.p.tobytes() + on_B.R.tobytes() + on_B.p.tobytes()
    connection = Connection(joint, A.name, B.name, on_A, on_B, ends + frames + _joint_spec(joint))
    link._set("_spec", connection)
    return connection


def coupling_spec(coupling: Coupling, link: int, link_to: int) -> bytes:
    """Record of a coupling as a loop of one row, its frames left zero, from the rows of the two joints' links."""
    spec = np.zeros((), LOOP_SPEC)
    spec["link_A"], spec["link_B"] = link, link_to
    spec["pitch"], spec["angle"] = coupling.multiplier, coupling.offset
    spec["orientation"], spec["n_rows"], spec["row_kinds"][0] = COORDINATES, 1, COUPLED
    return spec.tobytes()


def _new_link_spec(link: Link, joint: Joint, parent: int) -> bytes:
    primitives = joint.primitives()
    unused, no_freedoms = 3 - len(primitives), (0.0,) * (6 - joint.n_v)
    I = link.inertia.about_com.tolist()
    return _LINK.pack(
        parent,
        len(primitives),
        *[KIND_CODES[primitive.kind] for primitive in primitives],
        *(0,) * unused,
        *[number for primitive in primitives for number in primitive.R.ravel().tolist()],
        *(0.0,) * 9 * unused,
        primitives[0].pitch if primitives else 0.0,
        *link.at.R.ravel().tolist(),
        *link.at.p.tolist(),
        link.inertia.mass,
        *link.inertia.com.tolist(),
        *(I[0][0], I[0][1], I[0][2], I[1][1], I[1][2], I[2][2]),
        *(*joint.armature, *no_freedoms),
        *(*joint.damping, *no_freedoms),
        *(*joint.friction, *no_freedoms),
        *(*joint.stiffness, *no_freedoms),
        *(*joint.rest, *(0.0,) * (7 - joint.n_q)),
    )


def _joint_spec(joint: Joint) -> bytes:
    """What a loop's record says of the joint alone."""
    primitives = joint.primitives()
    R = primitives[-1 if joint.kind == "planar" else 0].R if primitives else _IDENTITY
    second = _SECOND.pack(*_second_axis(joint, primitives)) if joint.kind in ("universal", "screw") else _NO_SECOND
    has_passive = any((*joint.damping, *joint.friction, *joint.stiffness))
    passive = _PASSIVE.pack(*_passive(joint)) if has_passive else _NO_PASSIVE
    return b"".join([R.tobytes(), second, _ROWS[joint.kind], passive])


def _second_axis(joint: Joint, primitives: tuple[Primitive, ...]) -> tuple[float, ...]:
    """Second axis of a universal joint in frame A and its angle with the first; the pitch of a screw."""
    if joint.kind == "screw":
        return 0.0, 0.0, 0.0, 0.0, primitives[0].pitch
    first, second = (primitive.R[:, 2] for primitive in primitives)
    angle = math.atan2(float(np.linalg.norm(np.cross(first, second))), float(first @ second))
    return *(primitives[0].R.T @ second).tolist(), angle, 0.0


def _passive(joint: Joint) -> tuple[float, ...]:
    """Code of the joint, damping, friction, stiffness and rest."""
    missing = (0.0,) * (3 - joint.n_v)
    options = (number for option in (joint.damping, joint.friction, joint.stiffness) for number in (*option, *missing))
    return (PASSIVE_JOINTS[joint.kind], *options, *joint.rest, *(0.0,) * (4 - joint.n_q))
