"""Which wishes are too many: the same equations of motion, with wishes that may be missed at a price."""

from __future__ import annotations

import numpy as np

from varichain.optimise.pattern import Pattern
from varichain.optimise.problem import Problem
from varichain.spatial.arrays import Array

_REST = 1e-3  # of the price: keeps what is free near the point where the search begins


class Elastic:
    """Least sum of what is missing of all wishes, each with two unknowns of its own: too much and too little.

    Attributes:
        wishes: Rows of the wishes.
    """

    def __init__(self, problem: Problem, x: Array) -> None:
        """Begin at unknowns x."""
        self._of, self._x = problem, x
        self.wishes = np.array(sorted(problem.wishes), dtype=np.int64)
        k, n = len(self.wishes), problem.n
        self.n = n + 2 * k
        self.row_low, self.row_high = problem.row_low, problem.row_high
        missing = self._missing(x)
        self.guess = np.r_[x, np.maximum(missing, 0.0), np.maximum(-missing, 0.0)]
        self.low, self.high = np.r_[problem.low, np.zeros(2 * k)], np.r_[problem.high, np.full(2 * k, np.inf)]
        more, less = n + np.arange(k), n + k + np.arange(k)
        of, curves = problem.slopes_pattern, problem.curves_pattern
        own = np.arange(n)
        places = [(of.rows, of.columns), (self.wishes, more), (self.wishes, less)]
        self.slopes_pattern = Pattern(places, (of.shape[0], self.n))
        self.curves_pattern = Pattern([(curves.rows, curves.columns), (own, own)], (self.n, self.n), upper=True)

    def missing(self, x: Array) -> Array:
        """What is missing of each wish at the unknowns of a solution."""
        return self._missing(x[: self._of.n])

    def _missing(self, x: Array) -> Array:
        values = self._of.equations(x)[self.wishes]
        low, high = self.row_low[self.wishes], self.row_high[self.wishes]
        return np.asarray(np.clip(values, low, high) - values)

    def cost(self, x: Array) -> float:
        """What is missing, and a little for going far."""
        n = self._of.n
        return float(x[n:].sum() + 0.5 * _REST * ((x[:n] - self._x) ** 2).mean())

    def cost_slopes(self, x: Array) -> Array:
        """Its gradient."""
        n = self._of.n
        return np.asarray(np.r_[_REST * (x[:n] - self._x) / n, np.ones(self.n - n)])

    def equations(self, x: Array) -> Array:
        """Values of the equations with what is added to wishes."""
        n, k = self._of.n, len(self.wishes)
        values = self._of.equations(x[:n])
        values[self.wishes] += x[n : n + k] - x[n + k :]
        return np.asarray(values)

    def slopes(self, x: Array) -> Array:
        """Entries of their derivative."""
        one = np.ones(len(self.wishes))
        return self.slopes_pattern.data([self._of.slopes(x[: self._of.n]), one, -one])

    def curves(self, x: Array, of_cost: float, multipliers: Array) -> Array:
        """Entries of the second derivative."""
        n = self._of.n
        of_equations = self._of.curves(x[:n], 0.0, multipliers)
        return self.curves_pattern.data([of_equations, np.full(n, of_cost * _REST / n)])

    def excess(self, x: Array) -> Array:
        """How far each equation is outside its bounds."""
        values = self.equations(x)
        return np.maximum(np.maximum(self.row_low - values, values - self.row_high), 0.0)
