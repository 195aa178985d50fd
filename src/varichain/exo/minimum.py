"""Where a measured curve is lowest, from a fit with confidence: never the lowest of some noisy points."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.spatial.checks import count_number

Array = NDArray[np.float64]

_GRID = 2001
_NEAR, _FEWEST = 1.5, 7  # levels that count: how far above the lowest, and how many there must be
_RESAMPLED = 400
_CONFIDENCE = (2.5, 97.5)  # [%]


@dataclass(frozen=True)
class Minimum:
    """Where a curve is lowest.

    Attributes:
        at: Level of the fitted curve's minimum; an end of the range if the curve has none inside.
        low, high: Bounds of 95 % confidence, by resampling the repeats.
        value: The fitted curve there.
    """

    at: float
    low: float
    high: float
    value: float


def fitted(levels: Any, values: Any, degree: int = 4) -> tuple[Array, Array]:
    """A fine grid of levels, and a polynomial there through the logarithms of the values.

    Levels whose mean is more than half above the lowest are left out: what a curve does far from its minimum says
    nothing of where the minimum is.

    Args:
        levels: (n,).
        values: (n,) or (n, repeats), positive; NaN where a trial was lost.
        degree: Of the polynomial.
    """
    x, y = _checked(levels, values)
    grid, curve = _curve(x, np.log(y), count_number(degree, "degree", 10))
    return grid, np.exp(curve)


def minimum(levels: Any, values: Any, degree: int = 4, seed: int = 0) -> Minimum:
    """Where the fitted curve is lowest, with confidence from resampled repeats (bootstrap).

    Repeats are resampled as wholes, over all levels: with common noise they belong together.

    Args:
        levels: (n,).
        values: (n, repeats), positive; NaN where a trial was lost.
        degree: Of the polynomial; see `fitted`.
        seed: Of the resampling.
    """
    x, y = _checked(levels, values)
    degree = count_number(degree, "degree", 10)
    rng = np.random.default_rng(count_number(seed, "seed", 2**63, least=0))
    logs, repeats = np.log(y), y.shape[1]
    grid, curve = _curve(x, logs, degree)
    found = []
    for _ in range(_RESAMPLED if repeats > 1 else 0):
        others, again = _curve(x, logs[:, rng.integers(0, repeats, repeats)], degree)
        found.append(others[again.argmin()])
    at = float(grid[curve.argmin()])
    low, high = np.percentile(found, _CONFIDENCE).tolist() if found else (at, at)
    return Minimum(at, low, high, float(np.exp(curve.min())))


def _curve(x: Array, logs: Array, degree: int) -> tuple[Array, Array]:
    """Least squares of the means of the levels near the lowest; lost trials do not count."""
    is_there = np.isfinite(logs)
    counts = is_there.sum(axis=1)
    means = np.full(len(x), np.inf)
    means[counts > 0] = np.where(is_there, logs, 0.0).sum(axis=1)[counts > 0] / counts[counts > 0]
    near = means <= means.min() + math.log(_NEAR)
    if near.sum() < _FEWEST:
        near = np.isfinite(means)
    grid = np.linspace(x[near].min(), x[near].max(), _GRID)
    fit = np.polynomial.Polynomial.fit(x[near], means[near], min(degree, near.sum() - 1), w=np.sqrt(counts[near]))
    curve: Array = np.asarray(fit(grid))
    return grid, curve


def _checked(levels: Any, values: Any) -> tuple[Array, Array]:
    try:
        x, y = np.array(levels, dtype=np.float64), np.array(values, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError("levels and values must be numbers") from None
    y = y[:, None] if y.ndim == 1 else y
    if x.ndim != 1 or y.ndim != 2 or len(x) != len(y) or len(np.unique(x)) < 3 or not np.isfinite(x).all():
        raise InputError(f"a minimum needs three levels (n,) and values (n, repeats), not {x.shape} and {y.shape}")
    if np.isinf(y).any() or (y[np.isfinite(y)] <= 0.0).any() or np.isfinite(y).any(axis=1).sum() < 3:
        raise InputError("values must be positive, and finite at three levels at least")
    return x, y
