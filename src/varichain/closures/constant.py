"""Loops whose velocities have constant ratios, such as parallelograms: exact couplings in disguise."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.dynamics.arguments import opened
from varichain.dynamics.assembly import assemble
from varichain.dynamics.loops import closure_errors, constraint_matrix
from varichain.dynamics.mobility import Mobility, mobility_of
from varichain.errors import AssemblyError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.transaction import transaction
from varichain.spatial.arrays import Array

_SAMPLES = 6
_REACH = 0.4  # [rad or m] between samples
_CONSTANT = 1e-8  # ratios that change by more are not constant
_EXACT = 1e-9  # [m or rad] that the linear motion may leave open, anywhere
_FAR = 2.0  # [rad or m] to which the linear motion is tried


@dataclass(frozen=True)
class ConstantLoops:
    """Loops that couplings can replace, with the same motion.

    Attributes:
        loops: Names of the loops, which share joints.
        couplings: The couplings, named like "rocker follows crank".
    """

    loops: tuple[str, ...]
    couplings: tuple[Coupling, ...]

    def __str__(self) -> str:
        """As equations."""
        return f"{', '.join(self.loops)}: {'; '.join(map(str, self.couplings))}"


def constant_loops(m: Mechanism, s: State) -> list[ConstantLoops]:
    """Loops whose dependent joints follow one independent joint each in a constant ratio, wherever they move.

    Found by comparing W [NY, (4)] at several configurations, and confirmed by moving far along the straight line that
    the ratios say. Loops that share joints count together.

    Args:
        m: Mechanism.
        s: State with its loops closed, not at a singular configuration.
    """
    layout, table = opened(m, s)
    if not layout.loops:
        return []
    at_start = mobility_of(layout, table, s, probe=False)
    samples = [at_start, *_elsewhere(m, layout, s, at_start)]
    if any(len(sample.independent) != len(at_start.independent) for sample in samples):
        return []
    W = at_start.W
    changes = np.max([np.abs(sample.W - W) for sample in samples], axis=0)
    found = []
    for loops, freedoms in _clusters(layout, constraint_matrix(layout, table, s.q)):
        ties = _ties(layout, at_start, s, W, changes, freedoms)
        if ties is not None and _is_exact(m, layout, s, loops, ties):
            found.append(ConstantLoops(tuple(layout.loops[i].name for i in loops), tuple(ties)))
    return found


def replace_constant_loops(m: Mechanism, s: State) -> list[ConstantLoops]:
    """Cut the loops that `constant_loops` finds and couple their joints instead: same motion, no rows to close.

    Joints that follow become passive. All of it happens, or nothing.
    """
    found = constant_loops(m, s)
    with transaction(m):
        for group in found:
            for loop in group.loops:
                m.cut(loop)
            for coupling in group.couplings:
                m.couple(coupling.joint, coupling.to, coupling.multiplier, coupling.offset, coupling.name)
    return found


def _elsewhere(m: Mechanism, layout: Layout, s: State, at_start: Mobility) -> list[Mobility]:
    """Mobilities at closed configurations away from the state, with the same independent freedoms where possible."""
    rng = np.random.default_rng(0)  # same state, same answer
    table = layout.workspaces.of_thread.table
    found = []
    here = s.copy()
    for _ in range(_SAMPLES):
        step = at_start.W @ rng.uniform(-_REACH, _REACH, at_start.n_independent)
        try:
            here = assemble(m, here.integrate(step)).state
        except AssemblyError:
            continue
        found.append(mobility_of(layout, table, here, previous=at_start, probe=False))
        if not np.array_equal(found[-1].independent_columns, at_start.independent_columns):
            found.pop()
    return found


def _clusters(layout: Layout, K: Array) -> list[tuple[list[int], list[int]]]:
    """Loops that share freedoms, and all freedoms that their rows touch."""
    groups: list[tuple[list[int], set[int]]] = []
    for i, loop in enumerate(layout.loops):
        touched = set(np.flatnonzero(np.abs(K[loop.rows]).max(axis=0, initial=0.0) > 0.0).tolist())
        together = [group for group in groups if group[1] & touched]
        groups = [group for group in groups if not group[1] & touched]
        loops = sorted([i, *(j for group in together for j in group[0])])
        groups.append((loops, touched.union(*(group[1] for group in together))))
    return [(loops, sorted(freedoms)) for loops, freedoms in groups]


def _ties(
    layout: Layout, at_start: Mobility, s: State, W: Array, changes: Array, freedoms: list[int]
) -> list[Coupling] | None:
    """Couplings of a cluster's dependent joints; None if one of them is not tied to one joint in a constant ratio."""
    if layout.couplings and any(c.k in freedoms for c in layout.couplings):
        return None
    independent = [int(k) for k in at_start.independent_columns]
    slot_of = {slot.v.start: slot for slot in layout.slots if len(slot.coordinates) == 1}
    ties = []
    for k in freedoms:
        if k in independent:
            continue
        leads = np.flatnonzero(np.abs(W[k]) > _CONSTANT)
        if changes[k].max(initial=0.0) > _CONSTANT or len(leads) > 1 or k not in slot_of:
            return None
        if len(leads) == 0:
            return None  # it does not move: a coupling needs a leader
        lead = independent[int(leads[0])]
        if lead not in slot_of or lead >= layout.n_v:
            return None
        joint, to = slot_of[k], slot_of[lead]
        ratio = float(W[k, leads[0]])
        ratio = float(round(ratio)) if abs(ratio - round(ratio)) < _CONSTANT else ratio
        offset = float(s.q[joint.q.start] - ratio * s.q[to.q.start])
        offset = 0.0 if abs(offset) < _EXACT else offset
        ties.append(Coupling(f"{joint.name} follows {to.name}", joint.name, to.name, ratio, offset))
    return ties or None


def _is_exact(m: Mechanism, layout: Layout, s: State, loops: list[int], ties: list[Coupling]) -> bool:
    """Whether the loops stay closed far along the straight line, where sampling alone could be deceived."""
    table = layout.workspaces.of_thread.table
    trial = s.copy()
    rng = np.random.default_rng(1)
    leaders = {tie.to for tie in ties}
    for _ in range(_SAMPLES):
        for name in leaders:
            trial[name].q = s[name].q + rng.uniform(-_FAR, _FAR)
        for tie in ties:
            trial[tie.joint].q = tie.multiplier * trial[tie.to].q + tie.offset
        errors = closure_errors(layout, table, trial.q)
        if max(float(np.abs(errors[layout.loops[i].rows]).max(initial=0.0)) for i in loops) > _EXACT:
            return False
    return True
