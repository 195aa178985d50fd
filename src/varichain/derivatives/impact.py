"""Derivatives of an impact: velocities after it, by the state before it."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from varichain.derivatives.closure import closure_at, is_nearly_singular
from varichain.derivatives.directions import directions_of
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.named import Derivative, freedom_places, sizes
from varichain.dynamics.arguments import opened, require_inertia, require_mass
from varichain.dynamics.loops import closure_errors
from varichain.dynamics.rank import counting, kept_rows
from varichain.errors import AssemblyError
from varichain.kernels.derivative_closure import K_ROWS, SPEEDS_BY_Q
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.velocity_jump import velocity_jump
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Report, Reported, names

_CLOSED = 1e-6  # [m or rad]


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ImpactDerivatives(Reported):
    """Velocities after the impact of all loops, and their derivatives by the state before it.

    Attributes:
        v: Velocities after (n_v,).
        by_q: Derivative along positions that keep the loops closed, velocities before being constant (n_v, n_f).
        by_v: Derivative by velocities before (n_v, n_v): a projection, whose square it is.
        W: Directions of q (n_v, n_f).
        independent: Names of the freedoms that are columns of `by_q`.
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: derivatives may then
            be huge, and mean nothing but that.
    """

    v: Array
    by_q: Derivative
    by_v: Derivative
    W: Array
    independent: tuple[str, ...]
    is_nearly_singular: bool
    name: str

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        note = ", nearly singular" if self.is_nearly_singular else ""
        title = f"derivatives of an impact of {self.name!r}{note}, by {names(self.independent)}"
        return title, (sizes({"v by q": self.by_q, "v by v": self.by_v}),)


def impact_derivatives(m: Mechanism, s: State, *, prefer: Iterable[str] = ()) -> ImpactDerivatives:
    """Derivatives of the velocities after which no loop opens, by positions and velocities before.

    M dv - K^T x = 0 and K v_after = 0, differentiated, with the frames of all loops where they are now.

    Args:
        m: Mechanism, with the connections that close at this instant.
        s: State before: positions of the loops are closed, velocities may open them.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open in position.
        SingularMassError: A link that can move has no mass.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    n, n_rows = layout.n_v, layout.n_rows
    kept = kept_rows(layout, table, s.q)
    errors = np.abs(counting(layout, closure_errors(layout, table, s.q), kept))
    if not errors.max(initial=0.0) <= _CLOSED:
        residuals = {one.name: float(errors[one.rows].max(initial=0.0)) for one in layout.constraints}
        raise AssemblyError(f"loops are open by {errors.max():.3g} [m or rad]: call assemble(m, s) first", residuals)
    jump, x = np.zeros(n), np.zeros(n_rows)
    if n_rows:
        velocity_jump(table, s.q, s.v, jump)
        require_inertia(layout, table)
        x = layout.workspaces.of_thread.array("multipliers")[:n_rows].copy()
    equations, forces = closure_at(layout, table, s.q, s.v + jump, multipliers=x)
    directions = directions_of(layout, equations, kept, prefer)
    W, M, turned = directions.W, *_inertia(m, s, jump)
    K = equations[K_ROWS][kept]
    system = np.block([[M, -K.T], [K, np.zeros((len(K), len(K)))]])
    by_q = np.linalg.solve(system, np.vstack([(forces - turned) @ W, -equations[SPEEDS_BY_Q][kept] @ W]))[:n]
    by_v = np.eye(n) + np.linalg.solve(system, np.vstack([np.zeros((n, n)), -K]))[:n]
    every, columns = freedom_places(layout, range(n)), freedom_places(layout, directions.independent)
    return ImpactDerivatives(
        s.v + jump,
        Derivative(np.asarray(by_q), every, columns),
        Derivative(np.asarray(by_v), every, every),
        W,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        is_nearly_singular(m, s),
        layout.mechanism_name,
    )


def _inertia(m: Mechanism, s: State, jump: Array) -> tuple[Array, Array]:
    """M, and the derivative of M jump by q, the jump being constant (n_v, n_v)."""
    layout, table = opened(m, s)
    n, loads, work = layout.n_v, loads_of(layout, ()), memory_of(layout)[:3]
    moving, resting = np.empty((3, n, n)), np.empty((3, n, n))
    none = np.zeros(n)
    inverse_dynamics_derivatives(table, s.q, none, jump, loads, moving, *work)
    inverse_dynamics_derivatives(table, s.q, none, none, loads, resting, *work)  # gravity and springs
    return moving[2], moving[0] - resting[0]
