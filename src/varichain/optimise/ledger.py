"""Unknowns and equations of a problem, with units, bounds and names."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from varichain.optimise.pattern import Indices
from varichain.spatial.arrays import Array


class Ledger:
    """Numbers that are added in blocks.

    Attributes:
        n: How many there are.
    """

    def __init__(self) -> None:
        """Begin with none."""
        self.n = 0
        self._parts: list[tuple[Array, Array, Array]] = []

    def _add(self, shape: tuple[int, ...], unit: Any, low: Any, high: Any) -> Indices:
        numbers = np.arange(self.n, self.n + int(np.prod(shape)), dtype=np.int64).reshape(shape)
        self._parts.append(tuple(np.broadcast_to(one, shape).astype(float).ravel() for one in (unit, low, high)))  # type: ignore[arg-type]
        self.n += numbers.size
        return numbers

    def _column(self, i: int) -> Array:
        return np.concatenate([np.zeros(0), *(part[i] for part in self._parts)])

    @property
    def unit(self) -> Array:
        """What counts as 1 of each."""
        return self._column(0)

    @property
    def low(self) -> Array:
        """Lower bounds."""
        return self._column(1)

    @property
    def high(self) -> Array:
        """Upper bounds."""
        return self._column(2)


class Unknowns(Ledger):
    """Unknowns, with a guess."""

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self._guesses: list[Array] = []

    def add(self, guess: Any, unit: Any, low: Any = -np.inf, high: Any = np.inf) -> Indices:
        """Numbers of new unknowns, shaped as the guess."""
        guess = np.asarray(guess, dtype=float)
        self._guesses.append(guess.ravel())
        return self._add(guess.shape, unit, low, high)

    @property
    def guess(self) -> Array:
        """The guess, within the bounds."""
        return np.asarray(np.clip(np.concatenate([np.zeros(0), *self._guesses]), self.low, self.high))


class Equations(Ledger):
    """Equations and inequalities, low <= value <= high.

    Attributes:
        wishes: What was asked for, and can be too much: a name for each of its rows.
    """

    def __init__(self) -> None:
        """Begin with none."""
        super().__init__()
        self.wishes: dict[int, str] = {}

    def add(self, shape: tuple[int, ...], unit: Any, low: Any = 0.0, high: Any = 0.0) -> Indices:
        """Numbers of new equations, which can always be met."""
        return self._add(shape, unit, low, high)

    def wish(self, names: Sequence[str], unit: Any, low: Any = 0.0, high: Any = 0.0) -> Indices:
        """Numbers of new equations that can be too much, with a name for each."""
        rows = self._add((len(names),), unit, low, high)
        self.wishes.update(zip(rows.tolist(), names, strict=True))
        return rows
