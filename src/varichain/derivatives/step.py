"""Steps of a simulation and their derivatives: exactly those of the numbers that the step computes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

import numpy as np

from varichain.derivatives.charts import Chart
from varichain.derivatives.equations import Equations
from varichain.derivatives.leaning import Leaning
from varichain.errors import InputError
from varichain.kernels.derivative_closure import K_ROWS, SPEEDS_BY_Q
from varichain.kernels.manifold import integrate
from varichain.kernels.methods import _DP_A, _DP_B, _DP_C, _RK4_A, _RK4_B, _RK4_C
from varichain.spatial.arrays import Array

METHODS = ("euler", "rk4", "rk45", "implicit")
_TABLEAUS = {"rk4": (_RK4_A, _RK4_B, _RK4_C), "rk45": (_DP_A, _DP_B, _DP_C)}
_GAMMA = 1.0 - np.sqrt(0.5)  # of the implicit method, as in `kernels/implicit.py`


class Point(NamedTuple):
    """A state and how it changes: q, v, and changes dq, dv (n_v, k) of them."""

    q: Array
    v: Array
    dq: Array
    dv: Array


class Metric(NamedTuple):
    """State whose masses, with further inertia (n_v,) and its changes (n_v, k), are the metric of closing loops."""

    at: Point
    inertia: Array
    d_inertia: Array


class _Stage(NamedTuple):
    """A stage of a step: rate of the chart's coordinates and accelerations, with their changes."""

    rate: Array
    d_rate: Array
    a: Array
    d_a: Array


Torques = Callable[[float, Point], tuple[Array, Array]]
"""Torques (n_v,) at a time in a state, and their changes (n_v, k)."""


class Stepper:
    """Steps of one structure under torques that are functions of time and state, with changes of their ends.

    The last columns of changes are those of the parameters of the equations, in their order.
    """

    def __init__(self, equations: Equations, torques: Torques, method: str = "rk4") -> None:
        """Take equations of motion and torques."""
        self.equations, self.torques, self._method = equations, torques, method
        self._chart, self._n = Chart(equations.layout), equations.n
        if method == "implicit":
            _require_no_soft_rows(equations)

    def accelerations(
        self, t: float, at: Point, extra: tuple[Array, Array] | None = None, inertia: Array | None = None
    ) -> tuple[Array, Array]:
        """Accelerations (n_v,) and their changes (n_v, k), with further torques, and further inertia."""
        tau, dtau = self.torques(t, at)
        if extra is not None:
            tau, dtau = tau + extra[0], dtau + extra[1]
        found = self.equations.solve(at.q, at.v, tau, inertia)
        added = np.zeros_like(at.dq)
        if n := len(self.equations.parameters):
            added[:, -n:] = self.equations.added(at.q, at.v, found.a)
        return found.a, found.change(at.dq, at.dv, dtau, added)[0]

    def step(self, t: float, at: Point, h: float, offsets: Array | None = None) -> Point:
        """State after a step, its loops closed; `offsets` (n_rows, k) are changes of where loops are closed.

        Raises:
            InputError: The step is so long that numbers are not finite.
        """
        with np.errstate(over="ignore", invalid="ignore"):
            end = self._closed(*self._open(t, at, h), offsets)
        if not all(np.isfinite(part).all() for part in end):
            raise InputError(f"a step of {h:g} s leaves numbers that are not finite: take a shorter one")
        return end

    def _open(self, t: float, at: Point, h: float) -> tuple[Point, Metric]:
        """The end of a step before loops are closed, and the metric in which they will be."""
        n = self._n
        none = np.zeros(n), np.zeros((n, at.dq.shape[1]))
        if self._method == "euler":
            a, da = self.accelerations(t, at)
            v, dv = at.v + h * a, at.dv + h * da
            leaning = self.equations.leaning(at.q, none[0])
            bend, d_bend = self._foreseen(at, leaning)
            end = self._moved(at, h * (v + 0.5 * h * bend), h * (dv + 0.5 * h * d_bend), v, dv)
            # as in `kernels/passages.py`: the metric is that of the end, unless rows are redundant
            return end, Metric(end if leaning.kept.all() else at, *none)
        if self._method == "implicit":
            end, last, E, dE = self._implicit(t, at, h)
            return self._moved(at, *end), Metric(self._moved(at, *last), E, dE)
        A, B, C = _TABLEAUS[self._method]
        stages: list[_Stage] = []
        for weights, c in zip(A, C, strict=True):
            last = _sums(weights, stages, at, h)
            stages.append(self._stage(t + c * h, at, *last))
        return self._moved(at, *_sums(B, stages, at, h)), Metric(self._moved(at, *last), *none)

    def _foreseen(self, at: Point, leaning: Leaning) -> tuple[Array, Array]:
        """Accelerations B y with K B y = Kdot v, which undo what an Euler step opens, and their changes.

        See `foresee_opening` in `kernels/passages.py`.
        """
        n, n_rows = self._n, leaning.B.shape[1]
        none = np.zeros(n), np.zeros((n, at.dq.shape[1]))
        if not n_rows:
            return none
        K, K_rate, speeds_by_q, biases_by_q = self.equations.rows(at.q, at.v, none[0], np.zeros(n_rows)).layers
        y = leaning.solved(K, K_rate @ at.v)
        bend, bent = leaning.B @ y, self._bent(leaning, Metric(at, *none), y)
        turning = self.equations.rows(at.q, bend, none[0], np.zeros(n_rows)).layers[SPEEDS_BY_Q]
        d_bias = biases_by_q @ at.dq + (K_rate + speeds_by_q) @ at.dv
        return bend, bent + leaning.steps(K) @ (d_bias - turning @ at.dq - K @ bent)

    def _moved(self, at: Point, u: Array, du: Array, v: Array, dv: Array) -> Point:
        """The state at q (+) u."""
        q = np.empty_like(at.q)
        integrate(self.equations.table, at.q, np.ascontiguousarray(u), 1.0, q)
        by_start, by_u = self._chart.ends(u)
        return Point(q, v, by_start @ at.dq + by_u @ du, dv)

    def _stage(self, t: float, at: Point, u: Array, du: Array, v: Array, dv: Array, *more: Any) -> _Stage:
        a, da = self.accelerations(t, self._moved(at, u, du, v, dv), *more)
        rate, by_u, by_v = self._chart.rates(u, v)
        return _Stage(rate, by_u @ du + by_v @ dv, a, da)

    def _implicit(self, t: float, at: Point, h: float) -> tuple[Any, Any, Array, Array]:
        """u and v at the end of a linearly implicit step and in its last stage, with their changes, and its inertia.

        See `kernels/implicit.py`.
        """
        gh, (K, dK, E, dE) = _GAMMA * h, self._gains(_GAMMA * h, at.dq.shape[1])
        v, dv, none = at.v, at.dv, np.zeros_like(at.v)

        def with_inertia(load: Array, d_load: Array, k: Array) -> tuple[Array, Array]:
            """Changes of E act as a load of the accelerations k."""
            return load, d_load - dE * k[:, None]

        load, d_load = -gh * K * v, -gh * (K[:, None] * dv + dK * v[:, None])
        first = self._stage(t, at, none, 0.0 * dv, v, dv, (load, d_load), E)
        if dE.any():  # changes of accelerations need the accelerations
            first = self._stage(t, at, none, 0.0 * dv, v, dv, with_inertia(load, d_load, first.a), E)
        k_1, dk_1 = first.a, first.d_a
        u, du, v_2, dv_2 = h * (v + gh * k_1), h * (dv + gh * dk_1), v + h * k_1, dv + h * dk_1
        c, by_u, by_v = self._chart.rates(u, v_2)
        dc = by_u @ du + by_v @ dv_2
        r, dr = c - 2.0 * (v + gh * k_1), dc - 2.0 * (dv + gh * dk_1)
        load = -gh * K * r + 2.0 * E * k_1
        d_load = -gh * (K[:, None] * dr + dK * r[:, None]) + 2.0 * (E[:, None] * dk_1 + dE * k_1[:, None])
        second = self._stage(t + h, at, u, du, v_2, dv_2, (load, d_load), E)
        if dE.any():
            second = self._stage(t + h, at, u, du, v_2, dv_2, with_inertia(load, d_load, second.a), E)
        z, dz = second.a, second.d_a
        half = 0.5 * h
        way, d_way = half * (v + c + gh * (z - k_1)), half * (dv + dc + gh * (dz - dk_1))
        end = way, d_way, v + half * (k_1 + z), dv + half * (dk_1 + dz)
        return end, (u, du, v_2, dv_2), E, dE

    def _gains(self, gh: float, n: int) -> tuple[Array, Array, Array, Array]:
        """Stiffness of freedoms that move, inertia E that gains lend, and changes (n_v, k) of both with parameters."""
        dofs, moves = self.equations.restraining.workspace.array("dofs"), self.equations.free
        K, D = (np.where(moves, dofs[field], 0.0) for field in ("stiffness", "damping"))
        dK, dD = np.zeros((self._n, n)), np.zeros((self._n, n))
        first = n - len(self.equations.parameters)
        for i, (name, one) in enumerate(self.equations.parameters.items()):
            joint, _, label = name.rpartition(".")
            if one == "joint" and label in ("stiffness", "damping"):
                if joint not in self.equations.layout.tree.slot_by_name:
                    raise _soft(joint)
                (dK if label == "stiffness" else dD)[self.equations.layout.slot(joint).v, first + i] = 1.0
        dK, dD = dK * moves[:, None], dD * moves[:, None]
        return K, dK, gh * (D + gh * K), gh * (dD + gh * dK)

    def _closed(self, end: Point, metric: Metric, offsets: Array | None) -> Point:
        """The loops closed again after a step: by the least change in a metric of the masses, as kernels do.

        q and v change by B x with M B = K^T in the metric, so that all rows are closed at the end.
        """
        equations, n = self.equations, self._n
        if not equations.layout.n_rows and not equations.restraining.n_closed:
            return end
        leaning = equations.leaning(metric.at.q, metric.inertia)
        q, x = equations.closed(end.q, leaning)
        K = equations.rows(q, end.v).layers[K_ROWS]
        N = leaning.steps(K)
        y = leaning.multipliers(K, end.v)
        v = end.v + leaning.B @ y
        turning = equations.rows(q, v, np.zeros(n), np.zeros(len(K))).layers[SPEEDS_BY_Q]
        by_start, by_u = self._chart.ends(leaning.B @ x)
        dq = by_start @ end.dq + by_u @ self._bent(leaning, metric, x)
        dv = end.dv + self._bent(leaning, metric, y)
        opened = K @ dq
        if offsets is not None:
            opened[: len(offsets)] -= offsets
        dq = dq - N @ opened
        return Point(q, v, dq, dv - N @ (K @ dv + turning @ dq))

    def _bent(self, leaning: Leaning, metric: Metric, x: Array) -> Array:
        """Changes of B x (n_v, k) with the state of the metric and with parameters, x being constant."""
        dq, way = metric.at.dq, leaning.B @ x
        load = metric.d_inertia * way[:, None]
        load[:, dq.shape[1] - len(self.equations.parameters) :] += self.equations.added_inertia(metric.at.q, way)
        return self.equations.bent(metric.at.q, leaning, x, dq) - leaning.pushed(load)

    def opening(self, at: Point) -> Array:
        """How changes of q open the rows of loops (n_rows, k)."""
        rows = self.equations.rows(at.q, at.v).layers[K_ROWS][: self.equations.layout.n_rows]
        return np.asarray(rows @ at.dq, dtype=np.float64)


def _sums(weights: Iterable[float], stages: list[_Stage], at: Point, h: float) -> tuple[Array, Array, Array, Array]:
    """u and v from weighted stages, and their changes."""
    u, du, v, dv = np.zeros_like(at.v), np.zeros_like(at.dv), at.v.copy(), at.dv.copy()
    for weight, stage in zip(weights, stages, strict=False):
        u += h * weight * stage.rate
        du += h * weight * stage.d_rate
        v += h * weight * stage.a
        dv += h * weight * stage.d_a
    return u, du, v, dv


def _require_no_soft_rows(equations: Equations) -> None:
    for connection in equations.layout.connections:
        joint = connection.joint
        if joint.law or any(joint.stiffness) or any(joint.damping):
            raise _soft(str(joint.name))


def _soft(name: str) -> InputError:
    return InputError(
        f"{name!r} has a spring or damper and closes a loop, or is a force element: derivatives of implicit steps know "
        "those of joints of the tree; use method='rk4'"
    )
