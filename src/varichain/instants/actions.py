"""Actions of one instant as values: connections, couplings, cuts, pushes; for `change`, `impact` and events."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.forces import Force
from varichain.errors import GapError, InputError, quoted
from varichain.kernels.links import frame_on_other
from varichain.layout.state import State
from varichain.mechanism.arguments import checked_loop_joint
from varichain.mechanism.connections import Place, add_virtual_link
from varichain.mechanism.coupling import Coupling, add_coupling
from varichain.mechanism.frames import Frame, end_of
from varichain.mechanism.joint import Joint
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import finite_scalar, instance, name_string, positive_scalar, several
from varichain.spatial.pose import Pose

MEET = 1e-6
"""Frames, or joints of a coupling, further apart than this [m or rad] do not coincide."""

_ORIGIN = Pose()
_ENDS = (str, Link, Frame)


@dataclass(frozen=True, eq=False)
class Connect:
    """A connection to be made; arguments as in `Mechanism.connect`."""

    a: str | Link | Frame
    b: str | Link | Frame
    joint: Joint
    at: Place | None = None
    at_other: Place | None = None
    _: KW_ONLY
    name: str | None = None
    snap: float | None = None

    def __post_init__(self) -> None:
        """Check all that needs no mechanism."""
        instance(self.a, _ENDS, "a link")
        instance(self.b, _ENDS, "a link")
        checked_loop_joint(self.joint)
        if self.at is not None:
            self.__dict__["at"] = Pose.coerce(self.at, "at")
        if self.at_other is not None:
            self.__dict__["at_other"] = Pose.coerce(self.at_other, "at_other")
        if self.name is not None:
            name_string(self.name, "name")
        if self.snap is not None:
            positive_scalar(self.snap, "snap")

    def ends(self, m: Mechanism) -> tuple[Link, Pose | None, Link, Pose | None]:
        """Both links of a mechanism, each with the joint frame on it if the connection says where."""
        # both places are poses since they were checked
        return *end_of(m, self.a, self.at), *end_of(m, self.b, self.at_other)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Couple:
    """A coupling to be made; arguments as in `Mechanism.couple`."""

    joint: str
    to: str
    multiplier: float = 1.0
    offset: float | None = None
    name: str | None = None

    def __post_init__(self) -> None:
        """Check all that needs no mechanism."""
        for joint in (self.joint, self.to):
            name_string(joint, "name of a joint")
        finite_scalar(self.multiplier, "multiplier")
        if self.offset is not None:
            finite_scalar(self.offset, "offset")
        if self.name is not None:
            name_string(self.name, "name")


@dataclass(frozen=True)
class Cut:
    """A joint or a coupling to be cut."""

    joint: str

    def __post_init__(self) -> None:
        """Check the name."""
        name_string(self.joint, "name of the joint")


@dataclass(frozen=True, eq=False)
class Push:
    """An impulse on a link; see `push`."""

    force: Force


@dataclass(frozen=True, eq=False)
class SetGravity:
    """Another gravity (3,) [m/s^2] from this instant on."""

    gravity: NDArray[np.float64]


Action = Connect | Couple | Cut | Push | SetGravity

connect, couple, cut = Connect, Couple, Cut


def push(
    link: Any,
    impulse: ArrayLike = (0.0, 0.0, 0.0),
    angular: ArrayLike = (0.0, 0.0, 0.0),
    at: ArrayLike = (0.0, 0.0, 0.0),
    axes: str = "world",
) -> Push:
    """An impulse on a link: loops, drives and stops take part in its impact.

    Args:
        link: Name of the link.
        impulse: (3,) [N s].
        angular: (3,) [N m s], besides the impulse's own.
        at: Point of the link, in its frame, where the impulse acts (3,) [m].
        axes: Axes of both: "world", or "local" for the link's own.
    """
    return Push(Force(link, impulse, angular, at, axes))


def checked_actions(actions: Any) -> list[Action]:
    """The actions as a list."""
    given = several(actions)
    for action in given:
        if not isinstance(action, Action):
            raise InputError(
                f"actions must be vc.connect(...), vc.couple(...), vc.cut(...) or vc.push(...), not {quoted(action)}"
            )
    return given


def apply_connections(m: Mechanism, s: State, connections: Iterable[Connect]) -> tuple[list[Link], bool]:
    """Add the virtual links of connections, at present poses unless they say where; returns whether one does.

    The state's layout must be that of the mechanism before the cuts of this instant.
    """
    links, is_placed = [], False
    for connection in connections:
        a, at, b, at_other = connection.ends(m)
        if at_other is None:
            at_other = _frame_on_other(s, a, b, at or _ORIGIN)
        else:
            is_placed = True
        links.append(add_virtual_link(m, a, b, connection.joint, at, at_other, connection.name))
    return links, is_placed


def apply_couplings(m: Mechanism, s: State, couplings: Iterable[Couple]) -> list[Coupling]:
    """Couple joints where they are in the state, unless the action has an offset.

    Raises:
        GapError: The joints' coordinates do not fit the offset.
    """
    coupled = []
    for action in couplings:
        offset = 0.0 if action.offset is None else action.offset
        coupling = add_coupling(m, action.joint, action.to, action.multiplier, offset, action.name)
        now = s[action.joint].q - coupling.multiplier * s[action.to].q
        if action.offset is None:
            coupling = replace(coupling, offset=now)
            m._couplings = {**m._couplings, coupling.name: coupling}
        elif not abs(now - coupling.offset) <= MEET:
            gap = abs(now - coupling.offset)
            raise GapError(
                f"coupling {action.joint!r} to {action.to!r}: the joints are {gap:.3g} [m or rad] from where the "
                f"offset says they are, {MEET:g} allowed; leave out the offset to couple them where they are",
                gap,
            )
        coupled.append(coupling)
    return coupled


def _frame_on_other(s: State, a: Link, b: Link, at: Pose) -> Pose:
    """Present pose of the joint frame on a, in b's frame; cuts of the same instant move nothing."""
    tree = s.layout.tree
    row_a, row_b = tree.link_index.get(a.name), tree.link_index.get(b.name)
    if row_a is None or row_b is None:
        return at  # a virtual link, which is refused later
    p, R = at.p.copy(), at.R.copy()
    frame_on_other(tree.workspaces.of_thread.table, s.q, row_a, row_b, p, R)
    return Pose._trusted(p, R)
