"""Instants: structure changes with their impact, wholly or not at all.

All ways to change a structure in motion call `happen`: `Mechanism.connect`, `cut` and `couple` with a state, `change`,
`impact`, events of simulations and commands of live runs.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Generic, TypeVar

import numpy as np

from varichain.dynamics.arguments import require_determined, sound_layout
from varichain.dynamics.forces import Force
from varichain.dynamics.loop_forces import LoopForces
from varichain.dynamics.mobility import Mobility, mobility_of
from varichain.errors import InputError, quoted
from varichain.instants.actions import (
    Action,
    Connect,
    Couple,
    Cut,
    Push,
    apply_connections,
    apply_couplings,
    checked_actions,
)
from varichain.instants.gaps import close_gaps
from varichain.instants.impact import Bare, Impact, Moving, Struck, solve_impact
from varichain.kernels.totals import energy
from varichain.layout.state import State
from varichain.mechanism.connections import connection_edit, cut_joint
from varichain.mechanism.coupling import Coupling, coupling_edit
from varichain.mechanism.link import Link
from varichain.mechanism.log import Edit, LogEntry
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.transaction import transaction
from varichain.spatial.checks import finite_scalar, is_one_of, several
from varichain.spatial.report import Listing, Report, Reported


@dataclass(frozen=True, eq=False, repr=False)
class StructureChange(Reported):
    """Result of a structure change.

    Attributes:
        time: Time of the state [s].
        edits: Connections and cuts, with frames and impulses.
        impact: The impact of connections, couplings and pushes; None if there were only cuts, which change no velocity.
        before, after: Copies of the state.
        entry: Entry of the structure log; None if the structure stayed as it was.
        energy_released: Energy of springs and armatures in joints that were cut, less that of springs in new joints
            [J]: it goes with the joints.
    """

    time: float
    edits: tuple[Edit, ...]
    impact: Impact | None
    before: State
    after: State
    entry: LogEntry | None = None
    energy_released: float = 0.0

    @property
    def energy_lost(self) -> float:
        """Energy that the change took [J]: by its impact, and with springs and armatures."""
        return self.energy_released + (self.impact.energy_lost if self.impact is not None else 0.0)

    def mobility_before(self) -> Mobility:
        """Mobility of the structure before the change."""
        return _mobility(self.before)

    def mobility_after(self) -> Mobility:
        """Mobility of the structure after the change."""
        return _mobility(self.after)

    def freedoms(self) -> tuple[int, int]:
        """Degrees of freedom before and after."""
        return self.mobility_before().n_independent, self.mobility_after().n_independent

    def appeared(self) -> tuple[str, ...]:
        """Freedoms of joints that can move now and could not before, or were not there."""
        return _difference(self.mobility_after(), self.mobility_before())

    def vanished(self) -> tuple[str, ...]:
        """Freedoms of joints that could move before and cannot now, or are gone."""
        return _difference(self.mobility_before(), self.mobility_after())

    def report(self) -> Report:
        """Edits, and the impact if there was one."""
        title = f"structure change at t = {self.time:g} s"
        edits = Listing(("edit",), [(str(edit),) for edit in self.edits])
        if self.impact is None:
            return title, (edits,)
        impact, listings = self.impact.report()
        return f"{title}, {impact}", (edits, *listings)

    def __str__(self) -> str:
        """Edits, degrees of freedom, energy."""
        before, after = self.mobility_before(), self.mobility_after()
        lines = [f"structure change at t = {self.time:g} s", *(f"  {edit}" for edit in self.edits)]
        lines.append(f"  N_J {before.n_all} -> {after.n_all}, rank {before.rank} -> {after.rank}")
        lines.append(f"  degrees of freedom {before.n_independent} -> {after.n_independent}")
        for title, names in (("appeared", _difference(after, before)), ("vanished", _difference(before, after))):
            if names:
                lines.append(f"  {title}: {', '.join(names)}")
        if self.impact is not None:
            lines.append(f"  energy {self.impact.energy_before:.6g} J -> {self.impact.energy_after:.6g} J")
        return "\n".join(lines)


def change(m: Mechanism, s: State, actions: Iterable[Action], limits: str = "hard") -> StructureChange:
    """Connect, couple, cut and push at one instant: cuts first, then the rest as one simultaneous impact.

    Mechanism and state are both changed, or neither. Poses stay; at a cut velocities stay too; connections give the
    state the velocities after their impact. Nothing is compiled.

    Args:
        m: Mechanism.
        s: State, changed in place.
        actions: `vc.connect(...)`, `vc.couple(...)`, `vc.cut(...)` and `vc.push(...)`.
        limits: "hard" if joints that are at their limits take part in the impact, "off" if they do not.

    Raises:
        GapError: The frames of a connection do not meet in this state.
        StructureError, InputError, UnknownNameError, DuplicateNameError: An action is impossible.
    """
    given = checked_actions(actions)
    sound_layout(m, s)
    done = happen(m, s.copy(), given, _bare(limits))
    s._become(done.after.copy())
    return done.change()


def edit_in_motion(m: Mechanism, s: State, action: Action) -> Edit:
    """Carry out one action on a mechanism and its state, both or neither, as `change` does; returns its edit."""
    sound_layout(m, s)
    done = happen(m, s, (action,), _HARD)
    s._become(done.after)
    return done.edits[-1]


def impact(
    m: Mechanism, s: State, connections: Iterable[Connect], restitution: float = 0.0, limits: str = "hard"
) -> Impact:
    """Velocity jump of joining links at one instant; neither mechanism nor state is changed.

    Loops that exist take part, and all connections act at once. With B = K A^-1 K^T of all rows and their relative
    velocities K v, the impulse is -(1 + restitution) B^-1 K v, of least norm where B is singular.

    Args:
        m: Mechanism.
        s: State.
        connections: Connections to be tried, as `vc.connect(...)`; may be empty: then the existing loops alone act.
        restitution: Part of the velocity along the new constraints that is turned round, 0 (stick) to 1 (bounce). Links
            that bounce are not joined afterwards: this is a collision, not a connection.
        limits: "hard" if joints that are at their limits take part, "off" if they do not.
    """
    part = finite_scalar(restitution, "restitution")
    if not 0.0 <= part <= 1.0:
        raise InputError(f"restitution must be from 0 to 1, not {part:g}")
    given = several(connections)
    for connection in given:
        if not isinstance(connection, Connect):
            raise InputError(f"expected connections such as vc.connect('hand', 'bar', joint), not {quoted(connection)}")
    require_determined(sound_layout(m, s), s)
    done = happen(m, s, given, _bare(limits), is_impact=True, restitution=part, is_trial=True)
    assert done.struck is not None
    return done.struck.impact(done.after)


M = TypeVar("M", bound=Moving)


class Instant(Generic[M]):
    """Result of an instant; `before` may be the very state that it was given, `moving` is what moves from now on."""

    __slots__ = ("after", "before", "edits", "entry", "moving", "released", "struck")

    def __init__(
        self,
        before: State,
        after: State,
        edits: list[Edit],
        struck: Struck | None,
        released: float,
        entry: LogEntry | None,
        moving: M,
    ) -> None:
        """Take the parts."""
        self.before, self.after, self.moving = before, after, moving
        self.edits, self.struck, self.released, self.entry = edits, struck, released, entry

    def change(self) -> StructureChange:
        """The structure change, for those who look at it."""
        before, after = self.before, self.after
        impact = None if self.struck is None else self.struck.impact(after)
        return StructureChange(before.time, tuple(self.edits), impact, before, after, self.entry, self.released)


_HARD, _OFF = partial(Bare, limits="hard"), partial(Bare, limits="off")


def _bare(limits: str) -> Callable[[State, bool], Bare]:
    if not is_one_of(limits, ("hard", "off")):
        raise InputError(f"limits must be 'hard' or 'off' in an instant, not {quoted(limits)}")
    return _HARD if limits == "hard" else _OFF


def _settled(moving: Moving, has_impact: bool) -> None:
    """Nothing to settle: there are no restraints."""


def happen(
    m: Mechanism,
    s: State,
    actions: Sequence[Action],
    moving_for: Callable[[State, bool], M],
    settle: Callable[[M, bool], None] = _settled,
    *,
    is_impact: bool = False,
    restitution: float = 0.0,
    is_trial: bool = False,
) -> Instant[M]:
    """Carry out the actions of one instant: edits of the structure, then one impact of everything that acts.

    The state is left as it is; the state after the instant is in the result. If anything fails, the mechanism is as it
    was before.

    Args:
        m: Mechanism.
        s: State before the instant.
        actions: Actions, checked.
        moving_for: Function of the state in the new structure, and of whether there is an impact, to the moving
            structure: restraints with their modes, and drives.
        settle: Called after the impact with the moving structure, and whether there was an impact; it may refuse the
            instant by raising.
        is_impact: Whether there is an impact even without connections, couplings and pushes.
        restitution: Part of the velocity along new connections that is turned round.
        is_trial: Whether the mechanism is put back in any case.
    """
    # with the present masses and loops, for frames and for the mobility before
    before = s if s.layout is m._layout else s.copy().follow(m)
    with transaction(m, trial=is_trial):
        edits, connections, to_couple, pushes = _sorted(m, actions)
        links, is_placed = apply_connections(m, before, connections)
        couplings = apply_couplings(m, before, to_couple) if to_couple else []
        after = before.copy().follow(m)
        if is_placed:
            close_gaps(after.layout, after, connections, may_move=restitution == 0.0)
        has_impact = bool(links or couplings or pushes or is_impact)
        if has_impact or not _keeps_mass(m, before, edits):
            require_determined(after.layout, after)
        moving = moving_for(after, has_impact)
        released = _stored(before) - _stored(after) if _stores_energy(edits, links) else 0.0
        if released:
            moving.record["lost"] += released
        struck, lost = None, released
        if has_impact:
            joined = frozenset(str(link.joint.name) for link in links if link.joint) if restitution else frozenset()
            struck = solve_impact(moving, pushes, joined, restitution)
            lost += struck.energy_before - struck.energy_after
            edits += _edits(m, links, couplings, struck.impulses)
        settle(moving, has_impact)
    entry = m.log.write(s.time, tuple(edits), lost) if edits and not is_trial else None
    return Instant(before, after, edits, struck, released, entry, moving)


def _sorted(m: Mechanism, actions: Sequence[Action]) -> tuple[list[Edit], list[Connect], list[Couple], list[Force]]:
    """Carry out cuts and changes of gravity; returns their edits, and connections, couplings and pushes to come."""
    edits: list[Edit] = []
    connections, couplings, pushes = [], [], []
    for action in actions:
        if isinstance(action, Connect):
            connections.append(action)
        elif isinstance(action, Cut):
            edits += cut_joint(m, action.joint)
        elif isinstance(action, Couple):
            couplings.append(action)
        elif isinstance(action, Push):
            pushes.append(action.force)
        else:
            m.gravity = action.gravity
    return edits, connections, couplings, pushes


def _keeps_mass(m: Mechanism, before: State, edits: list[Edit]) -> bool:
    """Whether cuts surely leave nothing that moves without mass; then arrays are left to whoever computes next."""
    if before.layout.massless_link is not None:
        return False
    ends = [m.link(name) for edit in edits if edit.kind == "cut tree" for name in (edit.a, edit.b)]
    return all(link.inertia.mass > 0.0 or link.is_ground for link in ends)


def _stores_energy(edits: list[Edit], links: list[Link]) -> bool:
    """Whether joints that are cut have springs or armature, or new ones springs."""
    joints = [edit.model for edit in edits if edit.multiplier is None] + [link.joint for link in links if link.joint]
    return any(joint.law or any(joint.stiffness) or any(joint.armature) for joint in joints)


def _stored(s: State) -> float:
    """Kinetic energy, and that of springs [J]."""
    parts = np.empty(3)
    energy(s.layout.workspaces.of_thread.table, s.q, s.v, parts)
    return float(parts[0] + parts[2])


def _edits(m: Mechanism, links: list[Link], couplings: list[Coupling], impulses: LoopForces) -> list[Edit]:
    """Log entries of new connections and couplings, each with its own impulse."""
    # virtual links are in the order of their ids: the new ones are the last
    array = impulses.array
    first = len(array) - len(links)
    edits = [connection_edit(link, tuple(array[i].tolist())) for i, link in enumerate(links, start=first)]
    if couplings:
        edits += [coupling_edit(m, one, impulse=impulses.couplings[one.name]) for one in couplings]
    return edits


def _difference(mobility: Mobility, other: Mobility) -> tuple[str, ...]:
    """Freedoms that can move in one and not in the other, in the order of the first."""
    movable = set(other.independent + other.dependent) - set(other.locked)
    freedoms = sorted(mobility.independent_columns.tolist() + mobility.dependent_columns.tolist())
    names = dict(zip(mobility.independent_columns.tolist(), mobility.independent, strict=True))
    names |= dict(zip(mobility.dependent_columns.tolist(), mobility.dependent, strict=True))
    return tuple(names[k] for k in freedoms if names[k] not in movable and names[k] not in mobility.locked)


def _mobility(s: State) -> Mobility:
    return mobility_of(s.layout, s.layout.workspaces.of_thread.table, s, probe=False)
