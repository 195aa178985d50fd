"""Structures of the phases: loops, functions and dynamics of each, made by its connections and cuts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import qr

from varichain.animation.closure import closure_error
from varichain.dynamics.batch import Batch
from varichain.errors import InputError
from varichain.instants.actions import Action, Connect, Couple, Cut
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.optimise.charts import Chart
from varichain.optimise.pattern import Indices
from varichain.optimise.rows import Rows
from varichain.optimise.units import Units
from varichain.spatial.arrays import Array

_INDEPENDENT = 1e-8  # of a row of the loops beside the others, and of its length


@dataclass(frozen=True, eq=False)
class Structure:
    """What the equations of a phase are made of.

    Attributes:
        mechanism: With the loops of the phase.
        layout: Of the mechanism.
        chart: Coordinates.
        batch: Dynamics of the tree.
        loops: Closure errors of loops and couplings: rows that are independent where the phase begins.
        loop_units: Of these.
        functions: Functions of the problem.
        function_units: Of their dimensions: how far they move when all freedoms move by their units.
        drive: Matrix (n_v, n_tau) of the actuators.
    """

    mechanism: Mechanism
    layout: Layout
    chart: Chart
    batch: Batch
    loops: Rows
    loop_units: Array
    functions: Rows
    function_units: Array
    drive: Array

    @property
    def actuated(self) -> Indices:
        """Freedoms that are driven."""
        return np.flatnonzero(self.drive.any(axis=1))


def changed(m: Mechanism, s: State, actions: tuple[Action, ...]) -> Mechanism:
    """A copy of a mechanism after a change; places that it leaves open are those in the state.

    Raises:
        InputError: A joint of the tree would be cut.
    """
    own, here = m.copy(), s.copy()
    loops = {one.name for one in layout_of(m).constraints} | {loop.name for loop in layout_of(m).loops}
    here.v = np.zeros(len(here.v))
    for action in actions:
        if isinstance(action, Cut):
            if action.joint not in loops:
                raise InputError(
                    f"{action.joint!r} cannot be cut in an optimised motion: it does not close a loop; all phases have "
                    "the joints of one tree, so connect to the ground what is to be released"
                )
            own.cut(action.joint)
        elif isinstance(action, Connect):
            state = here if action.at_other is None else None
            own.connect(action.a, action.b, action.joint, action.at, action.at_other, name=action.name, state=state)
        elif isinstance(action, Couple):
            now = here[action.joint].q - action.multiplier * here[action.to].q
            offset = now if action.offset is None else action.offset
            own.couple(action.joint, action.to, action.multiplier, offset, name=action.name)
    return own


def structure_of(m: Mechanism, s: State, functions: Mapping[str, Any], units: Units) -> Structure:
    """Structure of a mechanism, with its loops as they are in a state."""
    layout = layout_of(m)
    chart = Chart(layout.slots)
    loops, loop_units = _loops(m, layout, chart, s, units)
    actuated = np.concatenate([np.full(slot.v.stop - slot.v.start, slot.actuated) for slot in layout.slots])
    drive = np.eye(layout.n_v)[:, actuated]
    made_of = Rows(m, functions, chart)
    lengths = np.linalg.norm(made_of.at(s.q[None]).gradient[0] * units.v, axis=1)
    sizes = np.where(lengths > 0.0, lengths, float(units.v.max()))
    return Structure(m, layout, chart, Batch(m, threads=1), loops, loop_units, made_of, sizes, drive)


def _loops(m: Mechanism, layout: Layout, chart: Chart, s: State, units: Units) -> tuple[Rows, Array]:
    """Independent closure errors, and how far they open when all freedoms move by their units."""
    made = {one.name: closure_error(m, one.name) for one in layout.constraints}
    having = {name: function for name, function in made.items() if function.size}
    whole = Rows(m, having, chart)
    K = whole.at(s.q[None]).gradient[0] * units.v
    kept = _independent(K)
    chosen = {}
    for name, where in whole.slices.items():
        own = [int(k) - where.start for k in kept if where.start <= k < where.stop]
        if own:
            chosen[name] = having[name][own]
    return Rows(m, chosen, chart), np.linalg.norm(K[kept], axis=1)


def _independent(K: Array) -> Indices:
    """Rows of a matrix that depend on no others, in order."""
    size = np.linalg.norm(K, axis=1)
    rows = np.flatnonzero(size > _INDEPENDENT * size.max(initial=0.0))
    if not len(rows):
        return rows
    _, R, order = qr((K[rows] / size[rows, None]).T, mode="economic", pivoting=True)
    rank = int((np.abs(np.diag(R)) > _INDEPENDENT).sum())
    return np.sort(rows[order[:rank]])
