"""Steps of a simulation and their derivatives: exactly those of the numbers that the step computes."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.derivatives.charts import Chart
from varichain.derivatives.closure import closed_directions, closure_at
from varichain.derivatives.directions import Directions
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.named import Derivative, freedom_places, sizes
from varichain.dynamics.arguments import Table, joint_vector, opened, require_mass
from varichain.dynamics.forces import Force
from varichain.dynamics.projection import project
from varichain.dynamics.rank import kept_rows
from varichain.errors import InputError, quoted
from varichain.kernels.derivative_closure import K_ROWS, SPEEDS_BY_Q
from varichain.kernels.derivative_forward import forward_dynamics_derivatives
from varichain.kernels.manifold import integrate
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import count_number, positive_scalar
from varichain.spatial.report import Report, Reported, names

METHODS = ("rk4", "euler")
_A = ((), (0.5,), (0.0, 0.5), (0.0, 0.0, 1.0))  # Runge and Kutta's: stages, and their weights
_B = (1 / 6, 1 / 3, 1 / 3, 1 / 6)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Linearisation(Reported):
    """A step of a mechanism: x_1 = A x_0 + B tau to first order, x the changes of independent q, then of v.

    Attributes:
        A: (2 n_f, 2 n_f), B: (2 n_f, n_v); tau is constant during the step.
        state: The state after the step.
        independent: Names of the freedoms whose positions, then velocities, are x.
        by_q, by_v: Columns of A by positions and by velocities, `by_tau` those of B; rows named "q" and "v".
    """

    A: Array
    B: Array
    state: State
    independent: tuple[str, ...]
    by_q: Derivative
    by_v: Derivative
    by_tau: Derivative
    name: str

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        matrices = {"by q": self.by_q, "by v": self.by_v, "by tau": self.by_tau}
        return f"a step of {self.name!r}, linearised, by {names(self.independent)}", (sizes(matrices),)


def linearise(
    m: Mechanism,
    s: State,
    step: float,
    tau: Any = None,
    forces: Iterable[Force] = (),
    *,
    method: str = "rk4",
    steps: int = 1,
    prefer: Iterable[str] = (),
) -> Linearisation:
    """Derivatives of a step of integration under constant torques: A and B of a discrete controller's model.

    They are those of the step as `Prepared.advance` (rk4) or a simulation by Euler's method computes it, not of the
    motion that it approximates. A feedback tau = tau_0 - F x makes A - B F of it. Limits and events are no part of it.

    Args:
        m: Mechanism.
        s: State at the start, its loops closed; not changed.
        step: Length of a step [s].
        tau: Torques (n_v,), or {joint: value}; None for none.
        forces: External forces on links, constant.
        method: "rk4", or "euler", semi-implicit, for mechanisms without loops and couplings.
        steps: Number of steps.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        SingularMassError: A link that can move has no mass.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    if not isinstance(method, str) or method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, not {quoted(method)}")
    if method == "euler" and not layout.is_tree:
        raise InputError("Euler's method closes loops in the step after: linearise mechanisms with loops by 'rk4'")
    h, count = positive_scalar(step, "step"), count_number(steps, "steps", 10**6, 1)
    directions = closed_directions(layout, table, s, prefer)
    stepper = Stepper(m, layout, table, joint_vector(layout, tau, "tau"), loads_of(layout, forces), method)
    n, n_f = layout.n_v, directions.W.shape[1]
    state, X = s, np.hstack([start_columns(directions), np.zeros((2 * n, n))])
    for _ in range(count):
        state, X = stepper.step(state, X, h, 2 * n_f)
    rows = [*directions.independent, *(n + directions.independent)]
    A, B = X[rows][:, : 2 * n_f], X[rows][:, 2 * n_f :]
    columns, ends = freedom_places(layout, directions.independent), {"q": [*range(n_f)], "v": [*range(n_f, 2 * n_f)]}
    return Linearisation(
        A,
        B,
        state,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        Derivative(A[:, :n_f], ends, columns),
        Derivative(A[:, n_f:], ends, columns),
        Derivative(B, ends, freedom_places(layout, range(n))),
        layout.mechanism_name,
    )


def start_columns(directions: Directions) -> Array:
    """Changes of all q and v (2 n_v, 2 n_f) with independent positions, then velocities."""
    W = directions.W
    return np.block([[W, np.zeros_like(W)], [directions.turning, W]])


class Stepper:
    """Steps of one structure under constant torques and forces, with changes of their ends."""

    def __init__(
        self, m: Mechanism, layout: Layout, table: Table, tau: Array, loads: Array, method: str = "rk4"
    ) -> None:
        """Make room for the derivatives."""
        self._m, self._layout, self._table, self._tau, self._loads, self._method = m, layout, table, tau, loads, method
        n, n_rows = layout.n_v, layout.n_rows
        self._chart, self._n = Chart(layout), n
        self._by, self._more = np.empty((3, n, n)), (np.empty((3, n_rows, n)), np.empty((4, n_rows, n)))
        self._memory = memory_of(layout)

    def accelerations(self, q: Array, v: Array) -> tuple[Array, Array]:
        """Accelerations (n_v,), and their derivatives (3, n_v, n_v), which the next call overwrites."""
        a = np.empty(self._n)
        forward_dynamics_derivatives(self._table, q, v, self._tau, self._loads, a, self._by, *self._more, *self._memory)
        return a, self._by

    def step(self, s: State, X: Array, h: float, n_states: int, offsets: Array | None = None) -> tuple[State, Array]:
        """State after a step, and changes X (2 n_v, n) of it; columns from n_states on change torques, by one each.

        `offsets` (n_rows, n) are changes of where loops are closed; zero if not given.

        Raises:
            InputError: The step is so long that numbers are not finite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            end, changes = self._step(s, X, h, n_states, offsets)
        if not (np.isfinite(end.q).all() and np.isfinite(changes).all()):
            raise InputError(f"a step of {h:g} s leaves numbers that are not finite: take a shorter one")
        return end, changes

    def _step(self, s: State, X: Array, h: float, n_states: int, offsets: Array | None) -> tuple[State, Array]:
        n = self._n
        dq, dv, dtau = X[:n], X[n:], np.zeros((n, X.shape[1]))
        dtau[:, n_states:] = np.eye(n)[:, : X.shape[1] - n_states]
        if self._method == "euler":
            a, by = self.accelerations(s.q, s.v)
            v = s.v + h * a
            dv = dv + h * (by[0] @ dq + by[1] @ dv + by[2] @ dtau)
            u, du = h * v, h * dv
        else:
            u, du, v, dv = self._runge_kutta(s, dq, dv, dtau, h)
        by_start, by_u = self._chart.ends(u)
        end = s.copy()
        end.time = s.time + h
        integrate(self._table, s.q, u, 1.0, end.q)
        end.v[:] = v
        return self._closed(end, by_start @ dq + by_u @ du, dv, offsets)

    def _runge_kutta(self, s: State, dq: Array, dv: Array, dtau: Array, h: float) -> tuple[Array, Array, Array, Array]:
        """u and v at the end of a step, and their changes."""
        q = np.empty_like(s.q)
        rates: list[tuple[Array, Array]] = []
        gains: list[tuple[Array, Array]] = []
        for weights in _A:
            u, du, v_i, dv_i = self._sums(weights, rates, gains, s.v, dv, h)
            integrate(self._table, s.q, u, 1.0, q)
            a, by = self.accelerations(q, v_i)
            by_start, by_u = self._chart.ends(u)
            gains.append((a, by[0] @ (by_start @ dq + by_u @ du) + by[1] @ dv_i + by[2] @ dtau))
            rate, rate_by_u, rate_by_v = self._chart.rates(u, v_i)
            rates.append((rate, rate_by_u @ du + rate_by_v @ dv_i))
        return self._sums(_B, rates, gains, s.v, dv, h)

    def _sums(
        self, weights: Iterable[float], rates: list[Any], gains: list[Any], v: Array, dv: Array, h: float
    ) -> tuple[Array, Array, Array, Array]:
        u, du, v, dv = np.zeros(self._n), np.zeros_like(dv), v.copy(), dv.copy()
        for weight, (rate, d_rate), (a, d_a) in zip(weights, rates, gains, strict=False):
            u += h * weight * rate
            du += h * weight * d_rate
            v += h * weight * a
            dv += h * weight * d_a
        return u, du, v, dv

    def opening(self, s: State, dq: Array) -> Array:
        """How changes of q (n_v, n) open the rows of loops (n_rows, n)."""
        opened: Array = closure_at(self._layout, self._table, s.q, s.v)[0][K_ROWS] @ dq
        return opened

    def _closed(self, end: State, dq: Array, dv: Array, offsets: Array | None) -> tuple[State, Array]:
        """The loops closed again after a step, in the metric of the masses; changes that would open them are gone."""
        layout, table = self._layout, self._table
        if layout.is_tree:
            return end, np.vstack([dq, dv])
        closed = project(self._m, end)
        closed.time = end.time
        kept = kept_rows(layout, table, closed.q)
        equations, _ = closure_at(layout, table, closed.q, closed.v)
        K, turning = equations[K_ROWS][kept], equations[SPEEDS_BY_Q][kept]
        M = np.empty((self._n, self._n))
        mass_matrix(table, closed.q, M)
        back = np.linalg.solve(M, K.T)
        N = back @ np.linalg.inv(K @ back)
        dq = dq - N @ (K @ dq - (0.0 if offsets is None else offsets[kept]))
        return closed, np.vstack([dq, dv - N @ (K @ dv + turning @ dq)])
