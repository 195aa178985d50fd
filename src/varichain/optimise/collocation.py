"""Links between the points of an interval: positions and velocities are integrals of polynomials through the stages."""

from __future__ import annotations

import numpy as np

from varichain.optimise.charts import Chart
from varichain.optimise.gauss import LINKS
from varichain.optimise.pattern import Indices, grid
from varichain.optimise.terms import Term, differences, halves, symmetric
from varichain.spatial.arrays import Array


class Collocation(Term):
    """q_i = q_0 + h sum(A_ij E(q_j) v_j), v_i = v_0 + h sum(A_ij a_j), at the stages and the end of each interval.

    h is the duration of the phase over the number of its intervals.
    """

    def __init__(
        self, chart: Chart, duration: Indices, nodes: tuple[Indices, Indices], stages: tuple[Indices, Indices, Indices],
        rows: tuple[Indices, Indices], steps: Array,
    ) -> None:  # fmt: skip
        """Take unknowns.

        Args:
            chart: Coordinates.
            duration: Of the phase (1,).
            nodes: q and v at the ends of intervals (n + 1, ...).
            stages: q, v and a (n, 3, ...).
            rows: Of the equations for q and for v (n, 4, ...).
            steps: Of q for differences.
        """
        self._chart, self._duration, self._nodes, self._stages, self._rows = chart, duration, nodes, stages, rows
        self._n, self._steps = len(stages[0]), steps
        self._entries = {2: chart.entries(), 1: [(np.arange(chart.n_v), np.arange(chart.n_v))]}
        q, v, a = stages
        flat = [one.reshape(-1, one.shape[-1]) for one in stages]
        self.curve_places = [
            *((symmetric(flat[0]), grid(flat[0], flat[1])) if chart.turning else ()),
            *(grid(duration, one) for one in flat),
        ]
        self.slope_places = []
        for inside, ends, own in ((((q, v)), (q, nodes[0]), rows[0]), ((a,), (v, nodes[1]), rows[1])):
            points = np.concatenate([ends[0], ends[1][1:, None]], axis=1)
            self.slope_places += [
                (own.ravel(), points.ravel()),
                (own.ravel(), np.broadcast_to(ends[1][:-1, None], own.shape).ravel()),
                *(_sparse(own, one, *where) for one, where in zip(inside, self._entries[len(inside)], strict=True)),
                (own.ravel(), np.broadcast_to(duration, own.size)),
            ]

    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """What each point is off the integral to it."""
        h = x[self._duration][0] / self._n
        found = []
        for nodes, inner, rates, rows in self._sides(x):
            points = np.concatenate([inner, nodes[1:, None]], axis=1)
            found.append((rows, points - nodes[:-1, None] - h * np.einsum("ij,njk->nik", LINKS, rates)))
        return found

    def slopes(self, x: Array) -> list[Array]:
        """By points, starts of intervals, rates at stages, and the duration."""
        h = x[self._duration][0] / self._n
        q, v, _ = (x[one] for one in self._stages)
        n, k = q.shape[0], q.shape[2]
        flat_q, flat_v = q.reshape(-1, k), v.reshape(-1, v.shape[2])
        E, D = self._chart.to_rates(flat_q), self._chart.rates_by_q(flat_q, flat_v)
        blocks: list[Array] = []
        insides = {2: [D, E], 1: [np.broadcast_to(np.eye(v.shape[2]), (3 * n, v.shape[2], v.shape[2]))]}
        for (_, _, rates, rows), count in zip(self._sides(x), (2, 1), strict=True):
            blocks += [np.ones(rows.size), -np.ones(rows.size)]
            for (i, j), block in zip(self._entries[count], insides[count], strict=True):
                blocks.append(-h * LINKS[None, :, :, None] * block[:, i, j].reshape(n, 1, 3, -1))
            blocks.append(-np.einsum("ij,njk->nik", LINKS, rates) / self._n)
        return blocks

    def curves(self, x: Array, y: Array) -> list[Array]:
        """Of E(q) v where there are quaternions, and of products with the duration."""
        h = x[self._duration][0] / self._n
        q, v = (x[one].reshape(-1, one.shape[-1]) for one in self._stages[:2])
        of_q, of_v = (np.einsum("ij,nik->njk", LINKS, y[rows]) for rows in self._rows)
        weights = of_q.reshape(q.shape)
        chart = self._chart

        def slopes(q: Array) -> list[Array]:
            by_q = np.einsum("pi,pij->pj", weights, chart.rates_by_q(q, v))
            return [by_q, np.einsum("pi,pij->pj", weights, chart.to_rates(q))]

        by_duration = [-one.ravel() / self._n for one in (*slopes(q), of_v)]
        if not chart.turning:
            return by_duration
        by_q, by_v = differences(slopes, q, self._steps)
        return [-h * halves(by_q), -h * by_v, *by_duration]

    def _sides(self, x: Array) -> list[tuple[Array, Array, Array, Indices]]:
        """For q, then for v: values at nodes, at stages, rates at stages, rows."""
        q, v, a = (x[one] for one in self._stages)
        rates = self._chart.rates(q.reshape(-1, q.shape[2]), v.reshape(-1, v.shape[2])).reshape(q.shape)
        (nodes_q, nodes_v), (rows_q, rows_v) = (x[self._nodes[0]], x[self._nodes[1]]), self._rows
        return [(nodes_q, q, rates, rows_q), (nodes_v, v, a, rows_v)]


def _sparse(rows: Indices, columns: Indices, i: Indices, j: Indices) -> tuple[Indices, Indices]:
    """Places of entries (i, j) of all blocks between rows (n, 4, ...) and columns (n, 3, ...)."""
    shape = (len(rows), 4, 3, len(i))
    to = np.broadcast_to(rows[:, :, None, i], shape).ravel()
    return to, np.broadcast_to(columns[:, None, :, j], shape).ravel()
