"""The cost: squared torques, time, and functions at the end."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from varichain.optimise.gauss import POINTS, WEIGHTS
from varichain.optimise.legs import Leg
from varichain.optimise.pattern import Indices
from varichain.optimise.terms import Places
from varichain.optimise.units import Units
from varichain.spatial.arrays import Array

if TYPE_CHECKING:
    from varichain.optimise.problem import Asked

_NOTHING = 1e-4  # cost of a guess in units of the mechanism that says nothing of the motion's
_START = 1.0 - POINTS
# Of the integral of the square of a linear function over an interval of length 1, by its ends; exact.
_SQUARE = np.array(
    [[WEIGHTS @ _START**2, WEIGHTS @ (_START * POINTS)], [WEIGHTS @ (_START * POINTS), WEIGHTS @ POINTS**2]]
)


class Effort:
    """effort sum(w integral tau^2 dt) + time T + sum(c values), over a unit of cost.

    Attributes:
        unit: The unit.
        curve_places: Rows and columns of the blocks of `curves`.
    """

    def __init__(
        self, legs: Sequence[Leg], asked: Asked, linear: Sequence[tuple[Indices, float, Array]], units: Units, n: int
    ) -> None:
        """Take phases, factors, and unknowns in which the cost is linear."""
        self._legs, self._n = list(legs), n
        self.curve_places: Places = []
        self._weights: list[Array] = []
        self._linear = np.zeros(n)
        for leg in legs:
            layout, drives = leg.structure.layout, leg.structure.actuated
            weights = np.ones(layout.n_v)
            for name, weight in asked.weights.items():
                weights[layout.slot(name).v] = weight
            self._weights.append(asked.effort * weights[drives])
            self._linear[leg.duration] = asked.time
            a, b = leg.tau[:, 0], leg.tau[:, 1]
            to = np.broadcast_to(leg.duration, leg.tau.size)
            self.curve_places += [(a.ravel(), a.ravel()), (a.ravel(), b.ravel()), (b.ravel(), b.ravel())]
            self.curve_places.append((leg.tau.ravel(), to))
        for unknowns, weight, _ in linear:
            self._linear[unknowns] = weight
        efforts = asked.effort * float((units.force**2).max()) * units.time
        ends = sum(abs(weight) * float(sizes.max()) for _, weight, sizes in linear)
        self.unit = efforts + abs(asked.time) * units.time + ends or 1.0

    def measure(self, x: Array) -> None:
        """Take the cost of the guess as the unit, unless it is next to nothing."""
        cost = abs(self.value(x))
        if cost > _NOTHING:
            self.unit *= cost

    def value(self, x: Array) -> float:
        """The cost."""
        total = float(self._linear @ x)
        for leg, w in zip(self._legs, self._weights, strict=True):
            total += self._step(leg, x) * float(np.einsum("nik,ij,njk,k->", x[leg.tau], _SQUARE, x[leg.tau], w))
        return total / self.unit

    def slopes(self, x: Array) -> Array:
        """Its gradient (n,)."""
        found = self._linear.copy()
        for leg, w in zip(self._legs, self._weights, strict=True):
            tau = x[leg.tau]
            by = 2.0 * np.einsum("ij,njk,k->nik", _SQUARE, tau, w)
            found[leg.tau] += self._step(leg, x) * by
            found[leg.duration] += 0.5 * float((by * tau).sum()) / leg.phase.intervals
        return found / self.unit

    def curves(self, x: Array) -> list[Array]:
        """Blocks of its second derivative."""
        found: list[Array] = []
        for leg, w in zip(self._legs, self._weights, strict=True):
            h, tau = self._step(leg, x), x[leg.tau]
            each = np.broadcast_to(2.0 * h * w / self.unit, tau[:, 0].shape)
            found += [_SQUARE[0, 0] * each, _SQUARE[0, 1] * each, _SQUARE[1, 1] * each]
            found.append(2.0 * np.einsum("ij,njk,k->nik", _SQUARE, tau, w) / leg.phase.intervals / self.unit)
        return found

    @staticmethod
    def _step(leg: Leg, x: Array) -> float:
        return float(x[leg.duration][0]) / leg.phase.intervals
