"""Structure changes of a mechanism in motion: connections and cuts of one instant, with their impact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from varichain.dynamics.actions import (
    Action,
    Connect,
    Couple,
    Cut,
    apply_connections,
    apply_couplings,
    on_links,
)
from varichain.dynamics.arguments import require_mass, sound_layout
from varichain.dynamics.gaps import close_gaps
from varichain.dynamics.impact import Impact, impact_of
from varichain.dynamics.mobility import Mobility, mobility_of
from varichain.errors import InputError
from varichain.layout.state import State, layout_for
from varichain.mechanism.connections import connection_edit, cut_joint
from varichain.mechanism.coupling import coupling_edit
from varichain.mechanism.log import Edit
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.transaction import transaction


@dataclass(frozen=True, eq=False)
class StructureChange:
    """What a structure change did.

    Attributes:
        time: Time of the state [s].
        edits: Connections and cuts, with frames and impulses.
        impact: The impact of the connections; None if there were only cuts, which change no velocity.
        before, after: Copies of the state.
    """

    time: float
    edits: tuple[Edit, ...]
    impact: Impact | None
    before: State
    after: State

    @property
    def energy_lost(self) -> float:
        """Kinetic energy that the impact took [J]."""
        return self.impact.energy_lost if self.impact is not None else 0.0

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


def change(m: Mechanism, s: State, actions: Iterable[Action]) -> StructureChange:
    """Connect, couple and cut at one instant: cuts first, then the rest as one simultaneous impact.

    Mechanism and state are both changed, or neither. Poses stay; at a cut velocities stay too; connections give the
    state the velocities after their impact. Nothing is compiled.

    Args:
        m: Mechanism.
        s: State, changed in place.
        actions: `vc.connect(...)`, `vc.couple(...)` and `vc.cut(...)`.

    Raises:
        GapError: The frames of a connection do not meet in this state.
        StructureError, InputError, UnknownNameError, DuplicateNameError: An action is impossible.
    """
    given = _checked(actions)
    sound_layout(m, s)
    before = s.copy()
    with transaction(m):
        edits = [edit for action in given if isinstance(action, Cut) for edit in cut_joint(m, action.joint)]
        wanted = on_links(m, (action for action in given if isinstance(action, Connect)))
        links = apply_connections(m, s, wanted)
        coupled = [action for action in given if isinstance(action, Couple)]
        made = apply_couplings(m, s, coupled) if coupled else []
        after = s.copy()
        layout = layout_for(m, after)
        require_mass(layout)
        blow = None
        if wanted or made:
            close_gaps(layout, after, wanted)
            blow = impact_of(layout, layout.workspaces.mine.table, after)
            after.v[:] = blow.v
            newest = blow.impulses.array[len(layout.connections) - len(links) :].tolist()
            edits += [connection_edit(link, tuple(impulse)) for link, impulse in zip(links, newest, strict=True)]
            edits += [coupling_edit(m, tie, impulse=blow.impulses.couplings[tie.name]) for tie in made]
    s._become(after)
    m.log.write(s.time, tuple(edits), blow.energy_lost if blow is not None else 0.0)
    return StructureChange(s.time, tuple(edits), blow, before, after.copy())


def _checked(actions: Iterable[Action]) -> list[Action]:
    given = list(actions) if isinstance(actions, Iterable) else [actions]
    for action in given:
        if not isinstance(action, (Connect, Couple, Cut)):
            raise InputError(f"actions must be vc.connect(...), vc.couple(...) or vc.cut(...), not {action!r}")
    return given


def _difference(mobility: Mobility, other: Mobility) -> tuple[str, ...]:
    """Freedoms that can move in one and not in the other, in the order of the first."""
    movable = set(other.independent + other.dependent) - set(other.locked)
    freedoms = sorted(mobility.independent_columns.tolist() + mobility.dependent_columns.tolist())
    names = dict(zip(mobility.independent_columns.tolist(), mobility.independent, strict=True))
    names |= dict(zip(mobility.dependent_columns.tolist(), mobility.dependent, strict=True))
    return tuple(names[k] for k in freedoms if names[k] not in movable and names[k] not in mobility.locked)


def _mobility(s: State) -> Mobility:
    return mobility_of(s.layout, s.layout.workspaces.mine.table, s, probe=False)
