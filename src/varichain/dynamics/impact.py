"""Impact: the velocities right after links have been joined while they moved against each other [NY, V-C]."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.actions import Connect, apply_connections, checked_connections, on_links
from varichain.dynamics.arguments import Table, massless_error, opened_with_mass, require_mass
from varichain.dynamics.coordinates import RANK_TOLERANCE
from varichain.dynamics.gaps import refuse_gaps
from varichain.dynamics.loop_forces import LoopForces, loop_forces, loop_forces_from_rows
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.totals import Momentum
from varichain.errors import InputError
from varichain.kernels.impact import TOTALS
from varichain.kernels.impact import impact as _impact
from varichain.kernels.mass_matrix import mass_matrix
from varichain.kernels.tables import N_ROWS
from varichain.kernels.totals import energy, momentum
from varichain.layout.layout import Layout
from varichain.layout.state import State, layout_for
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.transaction import transaction
from varichain.spatial.checks import finite_scalar

Array = NDArray[np.float64]

_STILL = 1e-11  # [m/s or rad/s] that a loop may open with after an impact, relative to the velocities


@dataclass(frozen=True, slots=True, eq=False)
class Impact:
    """What an impact does.

    Attributes:
        jump: Change of the joint velocities (n_v,).
        v: Velocities after it (n_v,).
        impulses: [moment; force] (6,) [N m s, N s] at every loop, those that were there before included: on its real
            link, at the joint, world axes.
        totals: Kinetic energy before and after, momentum before and after, centre of mass (17,), as named below.
    """

    jump: Array
    v: Array
    impulses: LoopForces
    totals: Array

    @property
    def energy_before(self) -> float:
        """Kinetic energy before the impact [J]."""
        return float(self.totals[0])

    @property
    def energy_after(self) -> float:
        """Kinetic energy after it [J]."""
        return float(self.totals[1])

    @property
    def momentum_before(self) -> Momentum:
        """Momentum of the whole mechanism before the impact, about its centre of mass."""
        return Momentum(self.totals[5:8], self.totals[2:5], self.totals[14:17])

    @property
    def momentum_after(self) -> Momentum:
        """Momentum after it."""
        return Momentum(self.totals[11:14], self.totals[8:11], self.totals[14:17])

    @property
    def energy_lost(self) -> float:
        """Kinetic energy lost [J]; never negative but for rounding."""
        return self.energy_before - self.energy_after


def impact(m: Mechanism, s: State, connections: Iterable[Connect], restitution: float = 0.0) -> Impact:
    """Velocity jump of joining links at one instant; neither mechanism nor state is changed.

    Loops that exist take part, and all connections act at once. With B = K A^-1 K^T of all rows and their relative
    velocities K v, the impulse is -(1 + restitution) B^-1 K v, of least norm where B is singular.

    Args:
        m: Mechanism.
        s: State.
        connections: What `connect` would make, as `vc.connect(...)`; may be empty: then the existing loops alone act.
        restitution: Part of the velocity along the new constraints that is turned round, 0 (stick) to 1 (bounce). Links
            that bounce are not joined afterwards: this is a blow, not a connection.
    """
    opened_with_mass(m, s)
    part = finite_scalar(restitution, "restitution")
    if not 0.0 <= part <= 1.0:
        raise InputError(f"restitution must be from 0 to 1, not {part:g}")
    given = on_links(m, checked_connections(connections))
    with transaction(m, trial=True):
        apply_connections(m, s, given)
        trial = s.copy()
        layout = layout_for(m, trial)
        require_mass(layout)
        refuse_gaps(layout, trial, given)
        table: Table = layout.workspaces.mine.table
        loops = layout.workspaces.mine.array("loops")
        loops["restitution"][len(layout.connections) - len(given) : len(layout.connections)] = part
        try:
            return impact_of(layout, table, trial)
        finally:
            loops["restitution"] = 0.0


def impact_of(layout: Layout, table: Table, s: State) -> Impact:
    """Impact of all loops of a layout on a state."""
    i_v, n_loops = TOTALS + layout.n_v, len(layout.connections)
    i_rows = i_v + layout.n_v
    i_wrenches = i_rows + int(table[N_ROWS])
    out = np.empty(i_wrenches + 6 * n_loops)
    massless = _impact(table, s.q, s.v, out)
    if massless >= 0:
        raise massless_error(layout, massless)
    if out[18] > _STILL:
        return _dense_impact(layout, table, s)
    if out[17] == 0.0:
        impulses = LoopForces(layout, out[i_wrenches:].reshape(n_loops, 6), out[i_rows:i_wrenches], True)
    else:
        impulses = loop_forces_from_rows(layout, table, s)
    return Impact(out[TOTALS:i_v], out[i_v:i_rows], impulses, out[:17])


def _dense_impact(layout: Layout, table: Table, s: State) -> Impact:
    """The same by dense least squares in the mass metric.

    For rows so close to dependent that the fast solve dropped one which still says something: it works with the squares
    of the singular values, and loses those below 3e-5 of the largest.
    """
    M, K = np.empty((layout.n_v, layout.n_v)), constraint_matrix(layout, table, s.q)
    mass_matrix(table, s.q, M)
    L = np.linalg.cholesky(M)
    rows = np.linalg.solve(L, K.T).T
    loops = layout.workspaces.mine.array("loops")
    stick = np.repeat(1.0 + loops["restitution"], loops["n_rows"])
    y, _, rank, _ = np.linalg.lstsq(rows, -stick * (K @ s.v), rcond=RANK_TOLERANCE)
    jump = np.linalg.solve(L.T, y)
    x, *_ = np.linalg.lstsq(K.T, M @ jump, rcond=RANK_TOLERANCE)
    impulses = loop_forces(layout, table, np.asarray(x, dtype=np.float64), bool(rank == layout.n_rows))
    v = s.v + jump
    (before, h_before, center), (after, h_after, _) = (_motion(table, s.q, w) for w in (s.v, v))
    return Impact(jump, v, impulses, np.concatenate([[before, after], h_before, h_after, center]))


def _motion(table: Table, q: Array, v: Array) -> tuple[float, Array, Array]:
    """Kinetic energy, momentum about the centre of mass, centre of mass."""
    parts, h, center = np.empty(3), np.empty(6), np.empty(3)
    energy(table, q, v, parts)
    momentum(table, q, v, h, center)
    return float(parts[0]), h, center
