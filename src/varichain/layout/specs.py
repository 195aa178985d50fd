"""What the user said of links and loops as records, kept with each link until it is edited."""

from __future__ import annotations

import math
import struct

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
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link

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
_WHOLE_ROTATION = ("fixed", "prismatic")
_IDENTITY = np.eye(3)
# The fields of SPEC and LOOP_SPEC in order; packed at once, since every structure change makes some.
_LINK = struct.Struct("2q 3q 27d d 9d3d d3d6d 6d6d6d6d 7d")
_LOOP = struct.Struct("2q 9d3d 9d3d 9d 3d 2d 2q 6q6q q 3d3d3d4d")
assert (_LINK.size, _LOOP.size) == (SPEC.itemsize, LOOP_SPEC.itemsize)


def link_spec(link: Link) -> bytes:
    """Record of a link, its joint and its inertia; the parent's row is left open."""
    kept = link._spec
    if kept is None or kept[0] is not link.joint or kept[1] is not link.at or kept[2] is not link.inertia:
        assert link.joint is not None
        kept = (link.joint, link.at, link.inertia, _new_link_spec(link, link.joint))
        link._edit(_spec=kept)
    spec: bytes = kept[3]
    return spec


def loop_spec(link: Link) -> bytes:
    """Record of the loop that a virtual link closes; the links' rows are left open."""
    kept = link._spec
    if kept is None or kept[0] is not link.joint:  # a virtual link's frames never change
        assert link.joint is not None
        kept = (link.joint, link.at, link.inertia, _new_loop_spec(link, link.joint))
        link._edit(_spec=kept)
    spec: bytes = kept[3]
    return spec


def coupling_spec(coupling: Coupling) -> bytes:
    """Record of a coupling as a loop of one row, its frames left zero; the rows of the joints' links are left open."""
    spec = np.zeros((), LOOP_SPEC)
    spec["pitch"], spec["angle"] = coupling.multiplier, coupling.offset
    spec["orientation"], spec["n_rows"], spec["row_kinds"][0] = COORDINATES, 1, COUPLED
    return spec.tobytes()


def _new_link_spec(link: Link, joint: Joint) -> bytes:
    primitives = joint.primitives()
    unused, no_freedoms = 3 - len(primitives), (0.0,) * (6 - joint.n_v)
    I = link.inertia.about_com.tolist()
    return _LINK.pack(
        0,  # the parent's row
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


def _new_loop_spec(link: Link, joint: Joint) -> bytes:
    axes = [primitive.R for primitive in joint.primitives()]
    R = axes[-1] if joint.kind == "planar" else (axes[0] if axes else _IDENTITY)
    axis_A, angle = [0.0, 0.0, 0.0], 0.0
    if joint.kind == "universal":
        first, second = axes[0][:, 2], axes[1][:, 2]
        axis_A = (R.T @ second).tolist()
        angle = math.atan2(float(np.linalg.norm(np.cross(first, second))), float(first @ second))
    pitch = joint.primitives()[0].pitch if joint.kind == "screw" else 0.0
    rows = ROWS[joint.kind]
    unused = [0] * (6 - len(rows))
    return _LOOP.pack(
        *(0, 0),  # the links' rows
        *link.on_real.R.ravel().tolist(),
        *link.on_real.p.tolist(),
        *link.at.R.ravel().tolist(),
        *link.at.p.tolist(),
        *R.ravel().tolist(),
        *axis_A,
        angle,
        pitch,
        WHOLE if joint.kind in _WHOLE_ROTATION else AXIS,
        len(rows),
        *[kind for kind, _ in rows],
        *unused,
        *[axis for _, axis in rows],
        *unused,
        *_passive(joint),
    )


def _passive(joint: Joint) -> tuple[float, ...]:
    """Code of the joint, damping, friction, stiffness and rest; zeros if nothing acts in it."""
    if not any((*joint.damping, *joint.friction, *joint.stiffness)):
        return (0,) + (0.0,) * 13
    missing = (0.0,) * (3 - joint.n_v)
    options = (number for option in (joint.damping, joint.friction, joint.stiffness) for number in (*option, *missing))
    return (PASSIVE_JOINTS[joint.kind], *options, *joint.rest, *(0.0,) * (4 - joint.n_q))
