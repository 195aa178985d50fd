"""What the user said of links and loops as records, kept with each link until it is edited."""

from __future__ import annotations

import math
import struct
from collections.abc import Mapping
from functools import cache, lru_cache
from typing import Any, NamedTuple

import numpy as np

from varichain.kernels.callbacks import address_of_force
from varichain.kernels.records import (
    COORDINATES,
    COUPLED,
    KIND_CODES,
    LAW_CODES,
    LOOP_SPEC,
    ORIENTATION_CODES,
    ROW_CODES,
    SPEC,
)
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.loop_rows import Row
from varichain.spatial.pose import Pose


def _packers(record: np.dtype[np.void], *starts: str) -> list[struct.Struct]:
    """Packers of a record's fields in order, one for each stretch that begins at a named field.

    Links and loops are packed by these at once, for every structure change makes some.
    """
    formats: list[str] = []
    for name in record.names or ():
        if name in starts:
            formats.append("=")
        base, shape = (record[name].base, record[name].shape)
        formats[-1] += f"{math.prod(shape)}{'q' if base == np.int64 else 'd'}"
    packers = [struct.Struct(text) for text in formats]
    assert sum(packer.size for packer in packers) == record.itemsize  # no gaps between fields
    return packers


(_LINK,) = _packers(SPEC, "parent")
_ENDS, _, _GEOMETRY, _ROWS, _PASSIVE, _MODAL = _packers(
    LOOP_SPEC, "link_A", "R_A", "axes", "orientation", "passive", "is_modal"
)
_NO_PASSIVE, _NOT_MODAL = bytes(_PASSIVE.size), bytes(_MODAL.size)
GROUND_SPEC = bytes(SPEC.itemsize)


class Connection(NamedTuple):
    """What closes a loop.

    Attributes:
        joint: The virtual joint.
        link_A, link_B: Names of the real link and of the one that its virtual copy hangs on.
        on_A, on_B: The joint frame on both.
        spec: The same as a record.
        is_restrained: Whether the joint has limits or friction.
    """

    joint: Joint
    link_A: str
    link_B: str
    on_A: Pose
    on_B: Pose
    spec: bytes
    is_restrained: bool


def link_spec(link: Link, rows: Mapping[str, int]) -> bytes:
    """Record of a link, its joint and its inertia, which is also kept with the link."""
    assert link.joint is not None and link.parent is not None
    spec = _new_link_spec(link, link.joint, rows[link.parent.name])
    object.__setattr__(link, "_spec", spec)  # nothing to take back: an edit voids it
    return spec


def connection_of(link: Link, rows: Mapping[str, int]) -> Connection:
    """The loop that a virtual link closes, which is also kept with the link."""
    joint, A, B = link.joint, link.real, link.parent
    assert joint is not None and A is not None and B is not None
    on_A, on_B = link.on_real, link.at
    ends = _ENDS.pack(rows[A.name], rows[B.name])
    spec = b"".join((ends, *[part.tobytes() for part in (on_A.R, on_A.p, on_B.R, on_B.p)], *_joint_spec(joint)))
    is_restrained = joint.limits is not None or any(joint.friction)
    connection = Connection(joint, A.name, B.name, on_A, on_B, spec, is_restrained)
    object.__setattr__(link, "_spec", connection)
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
        joint.is_isotropic,
    )


def _joint_spec(joint: Joint) -> tuple[bytes, ...]:
    """What a loop's record says of the joint alone."""
    kind = type(joint)
    try:
        geometry = _geometry_of(kind, *[joint.__dict__[name] for name in _own_names(kind)])
    except TypeError:  # a field that cannot be hashed
        geometry = _geometry(joint)
    has_passive = bool(kind.law) or any(joint.damping) or any(joint.friction) or any(joint.stiffness)
    return geometry, _rows_of(kind), _passive(joint) if has_passive else _NO_PASSIVE, _NOT_MODAL


@cache
def _own_names(kind: type[Joint]) -> tuple[str, ...]:
    """Names of the fields that not all joints have, such as axes: the geometry of a joint depends on these alone."""
    return tuple(field.name for field in kind.own_fields())


@lru_cache(maxsize=1000)
def _geometry_of(kind: type[Joint], *own: Any) -> bytes:
    return _geometry(kind(**dict(zip(_own_names(kind), own, strict=True))))


def _geometry(joint: Joint) -> bytes:
    """Axes of a loop's joint, the angle between them, pitch and length."""
    axes, second, pitch, length, is_slack, pull, function = joint.loop_geometry()
    angle = math.atan2(math.hypot(second[0], second[1]), second[2])
    law = (LAW_CODES[joint.law], is_slack, pull, 0 if function is None else address_of_force(function))
    return _GEOMETRY.pack(*axes.ravel().tolist(), *second, angle, pitch, length, *law)


@cache
def _rows_of(kind: type[Joint]) -> bytes:
    """Rows and freedoms of a joint type."""
    assert kind.rows is not None
    orientation = ORIENTATION_CODES[kind.orientation]
    return _ROWS.pack(orientation, len(kind.rows), *_codes(kind.rows), len(kind.freedoms), *_codes(kind.freedoms))


def _codes(rows: tuple[Row, ...]) -> tuple[int, ...]:
    """Six kinds and six axes."""
    missing = (0,) * (6 - len(rows))
    return (*[ROW_CODES[kind] for kind, _ in rows], *missing, *[axis for _, axis in rows], *missing)


def _passive(joint: Joint) -> bytes:
    """Damping, friction, stiffness and rest."""
    missing, no_rest = (0.0,) * (6 - joint.n_v), (0.0,) * (7 - joint.n_q)
    numbers = [x for option in (joint.damping, joint.friction, joint.stiffness) for x in (*option, *missing)]
    return _PASSIVE.pack(1, *numbers, *joint.rest, *no_rest, joint.is_isotropic)
