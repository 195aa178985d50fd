"""Solvers: what they need of a problem, and what they find."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

import numpy as np

from varichain.optimise.pattern import Pattern
from varichain.spatial.arrays import Array

Watch = Callable[[int, float, float], bool]
"""Called after each iteration with its number, the cost and what equations are off; returns whether to go on."""


class Programme(Protocol):
    """A cost under equations and bounds, with derivatives."""

    n: int
    guess: Array
    low: Array
    high: Array
    row_low: Array
    row_high: Array
    slopes_pattern: Pattern
    curves_pattern: Pattern

    def cost(self, x: Array) -> float: ...  # noqa: D102
    def cost_slopes(self, x: Array) -> Array: ...  # noqa: D102
    def equations(self, x: Array) -> Array: ...  # noqa: D102
    def slopes(self, x: Array) -> Array: ...  # noqa: D102
    def curves(self, x: Array, of_cost: float, multipliers: Array) -> Array: ...  # noqa: D102
    def excess(self, x: Array) -> Array: ...  # noqa: D102


@dataclass(frozen=True, eq=False)
class Solution:
    """What a solver found.

    Attributes:
        x: Unknowns.
        is_solved: Whether they are the best ones, to the tolerance.
        message: The solver's own words.
        iterations: Their number.
    """

    x: Array
    is_solved: bool
    message: str
    iterations: int


class Best:
    """The best unknowns so far: those that break equations least, and of those that break none, the cheapest."""

    def __init__(self, programme: Programme, tolerance: float) -> None:
        """Begin with the guess."""
        self._programme, self._tolerance = programme, tolerance
        self.x, self._rank = programme.guess, (np.inf, np.inf)
        self.n = 0

    def take(self, x: Array) -> tuple[float, float]:
        """Compare; returns the cost, and what equations are off."""
        self.n += 1
        cost, off = self._programme.cost(x), float(self._programme.excess(x).max(initial=0.0))
        rank = (off if off > self._tolerance else 0.0, cost)
        if rank < self._rank:
            self.x, self._rank = x.copy(), rank
        return cost, off
