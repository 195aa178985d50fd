"""Equations of motion at collocation points: M a + bias = tau + K^T multipliers, in all freedoms of the tree."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.batch import Batch
from varichain.optimise.pattern import Indices, grid
from varichain.optimise.rows import Jets, Rows
from varichain.optimise.terms import Term, differences, halves, symmetric
from varichain.spatial.arrays import Array


class Motion(Term):
    """Equations of motion at the stages of a phase; tau is linear in each interval."""

    def __init__(
        self, batch: Batch, loops: Rows, drive: Array, rows: Indices,
        unknowns: tuple[Indices, ...], ends: tuple[Indices, Indices], parts: Array, steps: tuple[Array, Array],
    ) -> None:  # fmt: skip
        """Take unknowns at stages.

        Args:
            batch: Dynamics of the tree.
            loops: Closure errors.
            drive: Matrix (n_v, n_tau) of the actuators.
            rows: Of the equations (n, n_v).
            unknowns: q, v, a and multipliers (n, ...).
            ends: Torques at the start and at the end of each stage's interval (n, n_tau).
            parts: Where each stage is in its interval (n,), from 0 to 1.
            steps: Of q and v for differences.
        """
        self._batch, self._loops, self._drive, self._rows = batch, loops, drive, rows
        self._unknowns, self._ends, self._parts, self._steps = unknowns, ends, parts[:, None], steps
        q, v, a, x = unknowns
        self.slope_places = [grid(rows, columns) for columns in (*unknowns, *ends)]
        self.curve_places = [symmetric(q), grid(q, v), grid(q, a), grid(q, x), symmetric(v)]

    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """What torques and loops do not carry."""
        q, v, a, carried = (x[places] for places in self._unknowns)
        start, end = (x[places] for places in self._ends)
        needed = self._batch.inverse_dynamics(self._loops.chart.unit(q), v, a)
        needed -= ((1.0 - self._parts) * start + self._parts * end) @ self._drive.T
        if len(self._loops):
            needed -= np.einsum("prk,pr->pk", self._loops.at(q).gradient, carried)
        return [(self._rows, needed)]

    def slopes(self, x: Array) -> list[Array]:
        """By q, v, a, multipliers and torques."""
        q, v, a, carried = (x[places] for places in self._unknowns)
        chart = self._loops.chart
        by = self._batch.inverse_dynamics_derivatives(chart.unit(q), v, a)
        K = np.zeros((len(q), 0, chart.n_v))
        if len(self._loops):
            jets = self._loops.at(q)
            by[:, 0] -= np.einsum("prjk,pr->pkj", jets.hessian, carried)
            K = jets.gradient
        parts = self._parts[..., None]
        drives = [-(1.0 - parts) * self._drive, -parts * self._drive]
        return [by[:, 0] @ chart.turns(q), by[:, 1], by[:, 2], -K.transpose(0, 2, 1), *drives]

    def curves(self, x: Array, y: Array) -> list[Array]:
        """Curvature of the equations, weighted."""
        q, v, a, carried = (x[places] for places in self._unknowns)
        w = y[self._rows]
        by_q = differences(lambda q: self._weighted(q, v, a, carried, w), q, self._steps[0])
        (by_v,) = differences(lambda v: self._weighted(q, v, a, carried, w, loops=False)[1:2], v, self._steps[1])
        return [halves(by_q[0]), *by_q[1:], halves(by_v)]

    def _weighted(self, q: Array, v: Array, a: Array, carried: Array, w: Array, loops: bool = True) -> list[Array]:
        """Slopes of sum(w equations) by q, v, a and multipliers."""
        chart = self._loops.chart
        by = np.einsum("pk,pdkj->dpj", w, self._batch.inverse_dynamics_derivatives(chart.unit(q), v, a))
        by_q, by_carried = np.einsum("pj,pji->pi", by[0], chart.turns(q)), np.zeros((len(q), 0))
        if loops and len(self._loops):
            none = np.zeros_like(carried)
            of_loops, _, by_all = self._loops.slopes(q, w, none, carried)
            by_q, by_carried = by_q - of_loops, -by_all
        return [by_q, by[1], by[2], by_carried]


class Impact(Term):
    """Velocities after a connection: M (v_after - v_before) = K^T impulses, and K v_after = 0 is another term's."""

    def __init__(self, batch: Batch, loops: Rows, rows: Indices, unknowns: tuple[Indices, ...], steps: Array) -> None:
        """Take rows (1, n_v), and unknowns q, v before, v after and impulses (1, ...)."""
        self._batch, self._loops = batch, loops
        self._rows, self._unknowns, self._steps = rows, unknowns, steps
        q, *others = unknowns
        self.slope_places = [grid(rows, columns) for columns in unknowns]
        self.curve_places = [symmetric(q), *(grid(q, columns) for columns in others)]

    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """Momentum that impulses of the loops do not give."""
        q, before, after, impulses = (x[places] for places in self._unknowns)
        M = self._batch.mass_matrix(self._loops.chart.unit(q))
        K = self._loops.at(q).gradient
        return [(self._rows, np.einsum("pij,pj->pi", M, after - before) - np.einsum("prk,pr->pk", K, impulses))]

    def slopes(self, x: Array) -> list[Array]:
        """By q, both velocities and impulses."""
        q, before, after, impulses = (x[places] for places in self._unknowns)
        by_q, M, jets = self._momentum(q, after - before)
        by_q -= np.einsum("prjk,pr->pkj", jets.hessian, impulses)
        return [by_q @ self._loops.chart.turns(q), -M, M, -jets.gradient.transpose(0, 2, 1)]

    def curves(self, x: Array, y: Array) -> list[Array]:
        """Curvature of the equations, weighted."""
        q, before, after, impulses = (x[places] for places in self._unknowns)
        w = y[self._rows]

        def weighted(q: Array) -> list[Array]:
            by_turn, M, jets = self._momentum(q, after - before)
            by_turn -= np.einsum("prjk,pr->pkj", jets.hessian, impulses)
            by_q = np.einsum("pk,pkj->pj", w, by_turn @ self._loops.chart.turns(q))
            wM = np.einsum("pk,pkj->pj", w, M)
            return [by_q, -wM, wM, -np.einsum("prk,pk->pr", jets.gradient, w)]

        by_q, *others = differences(weighted, q, self._steps)
        return [halves(by_q), *others]

    def _momentum(self, q: Array, jump: Array) -> tuple[Array, Array, Jets]:
        """Derivative of M jump along the freedoms, M, and the loops' functions."""
        unit, still = self._loops.chart.unit(q), np.zeros_like(jump)
        with_jump = self._batch.inverse_dynamics_derivatives(unit, still, jump)
        without = self._batch.inverse_dynamics_derivatives(unit, still, still)
        return with_jump[:, 0] - without[:, 0], with_jump[:, 2], self._loops.at(q)
