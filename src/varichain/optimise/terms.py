"""Terms of a problem: equations with exact first derivatives, and curvature by differences of these."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence

import numpy as np

from varichain.optimise.pattern import Indices, grid
from varichain.optimise.rows import Rows
from varichain.spatial.arrays import Array

Places = list[tuple[Indices, Indices]]


class Term(ABC):
    """Some equations of the unknowns x.

    Attributes:
        slope_places: Rows and columns of the blocks that `slopes` returns.
        curve_places: Likewise of `curves`; entries of symmetric blocks once.
    """

    slope_places: Places
    curve_places: Places

    @abstractmethod
    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """Rows, and the equations' values."""

    @abstractmethod
    def slopes(self, x: Array) -> list[Array]:
        """Blocks of the derivative by x."""

    def curves(self, x: Array, y: Array) -> list[Array]:
        """Blocks of the second derivative of sum(y values) by x."""
        return []


class Linear(Term):
    """Equations of a constant matrix: rows[i] = sum(factors[i, j] x[columns[i, j]])."""

    def __init__(self, rows: Indices, columns: Indices, factors: Array) -> None:
        """Take rows (n,), columns and factors (n, k)."""
        self._rows, self._factors = rows, np.broadcast_to(factors, columns.shape).astype(float)
        self._columns = columns
        self.slope_places = [(np.repeat(rows, columns.shape[1]), columns.ravel())]
        self.curve_places = []

    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """Rows, and the equations' values."""
        return [(self._rows, (self._factors * x[self._columns]).sum(axis=1))]

    def slopes(self, x: Array) -> list[Array]:
        """The factors."""
        return [self._factors]


class Squares(Term):
    """Sums of squares of some unknowns, such as lengths of quaternions: rows[i] = sum(x[columns[i, j]]^2)."""

    def __init__(self, rows: Indices, columns: Indices) -> None:
        """Take rows (n,) and columns (n, k)."""
        self._rows, self._columns = rows, columns
        self.slope_places = [(np.repeat(rows, columns.shape[1]), columns.ravel())]
        self.curve_places = [(columns.ravel(), columns.ravel())]

    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """Rows, and the sums."""
        return [(self._rows, (x[self._columns] ** 2).sum(axis=1))]

    def slopes(self, x: Array) -> list[Array]:
        """Twice the unknowns."""
        return [2.0 * x[self._columns]]

    def curves(self, x: Array, y: Array) -> list[Array]:
        """Twice the multipliers."""
        return [np.repeat(2.0 * y[self._rows], self._columns.shape[1])]


class Functions(Term):
    """Values and rates of functions of the configuration, at points."""

    def __init__(
        self, functions: Rows, q: Indices, v: Indices, values: Sequence[int], rates: Sequence[int],
        value_rows: Indices, rate_rows: Indices, steps: Array,
    ) -> None:  # fmt: skip
        """Take unknowns q (n, n_q), v (n, n_v), dimensions, and their rows (n, ...); `steps` of q for differences."""
        self._of, self._q, self._v, self._steps = functions, q, v, steps
        self._values, self._rates = list(values), list(rates)
        self._value_rows, self._rate_rows = value_rows, rate_rows
        self.slope_places = [grid(value_rows, q), grid(rate_rows, q), grid(rate_rows, v)]
        self.curve_places = [symmetric(q), grid(q, v) if rates else _NOWHERE]

    def values(self, x: Array) -> list[tuple[Indices, Array]]:
        """Rows, and the functions' values and rates."""
        jets = self._of.at(x[self._q])
        rates = np.einsum("prk,pk->pr", jets.gradient[:, self._rates], x[self._v])
        return [(self._value_rows, jets.value[:, self._values]), (self._rate_rows, rates)]

    def slopes(self, x: Array) -> list[Array]:
        """Gradients of values, and of rates by q and v."""
        q = x[self._q]
        jets, T = self._of.at(q), self._of.chart.turns(q)
        G, H = jets.gradient, jets.hessian[:, self._rates]
        turning = np.einsum("prjk,pk->prj", H, x[self._v])
        return [G[:, self._values] @ T, turning @ T, G[:, self._rates]]

    def curves(self, x: Array, y: Array) -> list[Array]:
        """By q, and by q and v: exact of values, of rates from differences of the slopes."""
        q, v, m = x[self._q], x[self._v], len(self._of)
        of_values, of_rates = np.zeros((2, len(q), m))
        of_values[:, self._values], of_rates[:, self._rates] = y[self._value_rows], y[self._rate_rows]
        found = self._of.value_curves(q, of_values)
        if not self._rates:
            return [halves(found), np.zeros(0)]
        none = np.zeros_like(of_values)
        by_q, by_v = differences(lambda q: self._of.slopes(q, v, none, of_rates)[:2], q, self._steps)
        return [halves(found + by_q), by_v]


_NOWHERE = (np.zeros(0, np.int64), np.zeros(0, np.int64))


def symmetric(unknowns: Indices) -> tuple[Indices, Indices]:
    """Places of the upper halves of blocks over the same unknowns (n, k)."""
    i, j = np.triu_indices(unknowns.shape[1])
    return unknowns[:, i].ravel(), unknowns[:, j].ravel()


def halves(blocks: Array) -> Array:
    """Upper halves of the symmetric parts of blocks (n, k, k)."""
    i, j = np.triu_indices(blocks.shape[1])
    return np.asarray(0.5 * (blocks[:, i, j] + blocks[:, j, i]))


def differences(slopes: Callable[[Array], Sequence[Array]], at: Array, steps: Array) -> list[Array]:
    """Derivatives (n, k, ...) of slopes (n, ...), by differences of order two along k columns of `at` (n, k)."""
    found: list[list[Array]] = []
    for i, step in enumerate(steps):
        sides = []
        for sign in (1.0, -1.0):
            moved = at.copy()
            moved[:, i] += sign * step
            sides.append(slopes(moved))
        found.append([(ahead - back) / (2.0 * step) for ahead, back in zip(*sides, strict=True)])
    return [np.stack(one, axis=1) for one in zip(*found, strict=True)]
