"""Structure changes as values: what to connect and what to cut, to be done at an instant or by an event."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import GapError, InputError
from varichain.kernels.links import frame_on_other
from varichain.layout.state import State
from varichain.mechanism.connections import Place, add_virtual_link
from varichain.mechanism.coupling import Coupling, add_coupling
from varichain.mechanism.frames import Frame, end_of
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import positive_scalar
from varichain.spatial.pose import Pose

Array = NDArray[np.float64]

MEET = 1e-6
"""Frames, or joints of a coupling, further apart than this [m or rad] do not coincide."""


@dataclass(frozen=True, eq=False)
class Connect:
    """A connection to be made; arguments as of `Mechanism.connect`."""

    a: str | Link | Frame
    b: str | Link | Frame
    joint: Joint
    at: Place | None = None
    at_other: Place | None = None
    name: str | None = None
    snap: float | None = None


@dataclass(frozen=True)
class Cut:
    """A joint or a coupling to be cut."""

    joint: str


@dataclass(frozen=True)
class Couple:
    """A coupling to be made; arguments as of `Mechanism.couple`."""

    joint: str
    to: str
    multiplier: float = 1.0
    offset: float | None = None
    name: str | None = None


Action = Connect | Couple | Cut


def connect(
    a: str | Link | Frame,
    b: str | Link | Frame,
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


def couple(
    joint: str, to: str, multiplier: float = 1.0, offset: float | None = None, name: str | None = None
) -> Couple:
    """A coupling, for `change` and events; arguments as of `Mechanism.couple`."""
    return Couple(joint, to, multiplier, offset, name)


def cut(joint: str) -> Cut:
    """A cut of a joint or of a coupling, for `change` and events."""
    return Cut(joint)


def checked_connections(connections: Any) -> list[Connect]:
    """The connections as a list."""
    given = list(connections) if isinstance(connections, Iterable) else [connections]
    for connection in given:
        if not isinstance(connection, Connect):
            raise InputError(f"expected connections such as vc.connect('hand', 'bar', joint), not {connection!r}")
    return given


def on_links(m: Mechanism, connections: Iterable[Connect]) -> list[Connect]:
    """The same connections with links in place of named frames."""
    plain = []
    for connection in connections:
        a, at = end_of(m, connection.a, connection.at)
        b, at_other = end_of(m, connection.b, connection.at_other)
        is_plain = at is connection.at and at_other is connection.at_other
        plain.append(connection if is_plain else replace(connection, a=a, b=b, at=at, at_other=at_other))
    return plain


def apply_connections(m: Mechanism, s: State, connections: Iterable[Connect]) -> list[Link]:
    """Add the virtual links of connections of links, each where they are in the state unless it says where."""
    links = []
    for connection in connections:
        assert not isinstance(connection.a, Frame) and not isinstance(connection.b, Frame)  # see on_links
        a, b = m.link(connection.a), m.link(connection.b)
        at = _ORIGIN if connection.at is None else Pose.coerce(connection.at, "at")
        at_other = connection.at_other
        if at_other is None:
            at_other = _frame_on_other(s, a, b, at)
        links.append(add_virtual_link(m, a, b, connection.joint, at, at_other, connection.name))
    return links


def apply_couplings(m: Mechanism, s: State, couplings: Iterable[Couple]) -> list[Coupling]:
    """Couple joints where they are in the state, unless an offset says where they must be.

    Raises:
        GapError: The joints are elsewhere than the offset says.
    """
    made = []
    for wanted in couplings:
        offset = 0.0 if wanted.offset is None else wanted.offset
        coupling = add_coupling(m, wanted.joint, wanted.to, wanted.multiplier, offset, wanted.name)
        now = s[wanted.joint].q - coupling.multiplier * s[wanted.to].q
        if wanted.offset is None:
            coupling = replace(coupling, offset=now)
            m._couplings = {**m._couplings, coupling.name: coupling}
        elif not abs(now - coupling.offset) <= MEET:
            gap = abs(now - coupling.offset)
            raise GapError(
                f"coupling {wanted.joint!r} to {wanted.to!r}: the joints are {gap:.3g} [m or rad] from where the "
                f"offset says they are, {MEET:g} allowed; leave out the offset to couple them where they are",
                gap,
            )
        made.append(coupling)
    return made


_ORIGIN = Pose()


def _frame_on_other(s: State, a: Link, b: Link, at: Pose) -> Pose:
    """Where the joint frame on a is now, in b's frame; cuts of the same instant move nothing."""
    layout = s.layout
    if a.name not in layout.link_index or b.name not in layout.link_index:
        return at  # a virtual link, which is refused later
    p, R, index = at.p.copy(), at.R.copy(), layout.link_index
    frame_on_other(layout.tree.workspaces.mine.table, s.q, index[a.name], index[b.name], p, R)
    return Pose._trusted(p, R)
