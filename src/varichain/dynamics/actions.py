"""Structure changes as values: what to connect and what to cut, to be done at an instant or by an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.kinematics import poses
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.mechanism.connections import Place, add_virtual_link
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import positive_scalar
from varichain.spatial.pose import Pose

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Connect:
    """A connection to be made; arguments as of `Mechanism.connect`."""

    a: str | Link
    b: str | Link
    joint: Joint
    at: Place | None = None
    at_other: Place | None = None
    name: str | None = None
    snap: float | None = None


@dataclass(frozen=True)
class Cut:
    """A joint to be cut."""

    joint: str


Action = Connect | Cut


def connect(
    a: str | Link,
    b: str | Link,
    joint: Joint,
    at: Place | None = None,
    at_other: Place | None = None,
    *,
    name: str | None = None,
    snap: float | None = None,
) -> Connect:
    """A connection, for `change`, `impact` and events; arguments as of `Mechanism.connect`."""
    if snap is not None:
        positive_scalar(snap, "snap")
    return Connect(a, b, joint, at, at_other, name, snap)


def cut(joint: str) -> Cut:
    """A cut, for `change` and events."""
    return Cut(joint)


def checked_connections(connections: Any) -> list[Connect]:
    """The connections as a list."""
    given = list(connections) if isinstance(connections, Iterable) else [connections]
    for connection in given:
        if not isinstance(connection, Connect):
            raise InputError(f"expected connections such as vc.connect('hand', 'bar', joint), not {connection!r}")
    return given


def apply_connections(m: Mechanism, s: State, connections: Iterable[Connect]) -> list[Link]:
    """Add the virtual links of connections, each where its links are in the state unless it says where."""
    given = list(connections)
    if not given:
        return []
    layout = s.layout  # cuts of the same instant move nothing
    R, p = poses(layout, layout.workspaces.mine.table, s)
    links = []
    for connection in given:
        a, b = m.link(connection.a), m.link(connection.b)
        at_other = connection.at_other
        if at_other is None:
            at_other = _frame_on_other(layout.link_index, R, p, a, b, connection.at)
        links.append(add_virtual_link(m, a, b, connection.joint, connection.at, at_other, connection.name))
    return links


def _frame_on_other(index: dict[str, int], R: Array, p: Array, a: Link, b: Link, at: Place | None) -> Pose:
    """Where the joint frame on a is now, in b's frame."""
    if a.name not in index or b.name not in index:
        return Pose()  # a virtual link, which is refused later
    R_a, R_b = R[index[a.name]].reshape(3, 3), R[index[b.name]].reshape(3, 3)
    X = Pose._trusted(R_b.T @ (p[index[a.name]] - p[index[b.name]]), R_b.T @ R_a)
    return X if at is None else X @ Pose.coerce(at, "at")
