"""Resolution of redundancy: motions of least cost that give dimensions of an animation space their rates.

In the metric of the weights, x = L^T y. Levels are solved one after the other, each in the directions that all before
it leave free: strict priorities. A level is a damped or truncated pseudo-inverse, or a quadratic programme if there are
limits.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.quadratic_programme import solve_programme
from varichain.errors import InputError
from varichain.spatial.arrays import Array

RANK = 1e-10
"""Singular values of rows of length 1 below this part of the largest are zero."""

_LEAST_DAMPING = 1e-6  # of a quadratic programme: its matrix must be regular


class Level(NamedTuple):
    """Rows J y = right of one priority.

    Attributes:
        J, right: Rows and right-hand sides.
        damping: Of the solution.
        groups: Number of each row's function: rows of one function are scaled together.
    """

    J: Array
    right: Array
    damping: float
    groups: NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Inequalities:
    """lower <= C y <= upper, with a name for each row."""

    C: Array
    lower: Array
    upper: Array
    names: tuple[str, ...]

    @staticmethod
    def joined(parts: Iterable[Inequalities | None]) -> Inequalities | None:
        """All rows together; None if there are none."""
        own = [part for part in parts if part is not None]
        if not own:
            return None
        low, high = (np.concatenate([getattr(part, name) for part in own]) for name in ("lower", "upper"))
        return Inequalities(np.vstack([part.C for part in own]), low, high, sum((part.names for part in own), ()))

    def excess(self, y: Array) -> Array:
        """How far each row is beyond its bounds; zero inside."""
        found: Array = self.C @ y
        return np.maximum(0.0, np.maximum(self.lower - found, found - self.upper))


class Metric:
    """Cost y^T A y: vectors x = L^T y have the length that y costs; without A all entries cost the same."""

    def __init__(self, A: Array | None = None) -> None:
        """Factor A = L L^T."""
        self._L = None if A is None else np.linalg.cholesky(A)

    def rows(self, J: Array) -> Array:
        """J L^-T: rows over x."""
        return J if self._L is None else np.asarray(np.linalg.solve(self._L, J.T).T, dtype=np.float64)

    def to_x(self, y: Array) -> Array:
        """x of y."""
        return y if self._L is None else np.asarray(self._L.T @ y, dtype=np.float64)

    def to_y(self, x: Array) -> Array:
        """y of x."""
        return x if self._L is None else np.asarray(np.linalg.solve(self._L.T, x), dtype=np.float64)


def resolve(
    levels: list[Level],
    metric: Metric,
    start: Array,
    truncation: float = 0.0,
    least: float | None = None,
    limits: Inequalities | None = None,
) -> Array:
    """y of least cost of y - start that solves the levels in order.

    Args:
        levels: Priorities, highest first.
        metric: Cost.
        start: y that is kept as far as nothing asks for another one.
        truncation: Singular values below this part of the largest are left out.
        least: Functions are scaled so that their longest row has length 1, unless it is shorter than this: where a
            function stands still, damping must win. None leaves all rows as they are.
        limits: Bounds that all levels keep.
    """
    x, free = metric.to_x(start), np.eye(len(start))
    for i, level in enumerate(levels):
        rows = metric.rows(level.J)
        J = rows @ free if i else rows
        scale = np.ones(len(J)) if least is None else 1.0 / _sizes(rows, level.groups, least)
        J, right = scale[:, None] * J, scale * (level.right - rows @ x)
        is_last = i + 1 == len(levels)
        if limits is not None:
            H = J.T @ J + max(level.damping, _LEAST_DAMPING) ** 2 * np.eye(J.shape[1])
            step = programme(H, -(J.T @ right), metric.rows(limits.C) @ free, limits, limits.C @ metric.to_y(x))
        elif is_last and level.damping > _LEAST_DAMPING and truncation == 0.0:
            step = _damped(J, right, level.damping)
        else:
            step = _pseudo_inverse(J, right, level.damping, truncation)
        x = x + (free @ step if i else step)
        if not is_last:
            free = free @ null_space(J, max(truncation, RANK))
    return metric.to_y(x)


def null_space(rows: Array, tolerance: float) -> Array:
    """Orthonormal columns that no row sees: singular values below a part of the largest are zero."""
    if not len(rows):
        return np.eye(rows.shape[1])
    _, sigma, Vt = np.linalg.svd(rows)
    rank = int((sigma > tolerance * max(float(sigma.max(initial=0.0)), 1e-300)).sum())
    return np.asarray(Vt[rank:].T, dtype=np.float64)


def _damped(J: Array, right: Array, damping: float) -> Array:
    """Damped least squares by normal equations, whichever are fewer: the quick way."""
    m, n = J.shape
    if m < n:
        return np.asarray(J.T @ np.linalg.solve(J @ J.T + damping**2 * np.eye(m), right), dtype=np.float64)
    return np.asarray(np.linalg.solve(J.T @ J + damping**2 * np.eye(n), J.T @ right), dtype=np.float64)


def _pseudo_inverse(J: Array, right: Array, damping: float, truncation: float) -> Array:
    """Damped solution of least norm by singular values; those that are zero, or truncated, are left out."""
    U, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    kept = sigma[sigma > max(truncation, RANK) * max(float(sigma.max(initial=0.0)), 1e-300)]
    n = len(kept)
    return np.asarray(Vt[:n].T @ (kept / (kept**2 + damping**2) * (U[:, :n].T @ right)), dtype=np.float64)


def _sizes(rows: Array, groups: NDArray[np.intp], least: float) -> Array:
    """Length of the longest row of each row's group."""
    longest = np.full(int(groups.max(initial=0)) + 1, least)
    np.maximum.at(longest, groups, np.linalg.norm(rows, axis=1))
    return np.asarray(longest[groups], dtype=np.float64)


def programme(H: Array, f: Array, C: Array, limits: Inequalities, now: Array) -> Array:
    """Step z of least z^T H z / 2 + f^T z within lower <= C z + now <= upper; H is positive definite."""
    if not len(H):
        return np.zeros(0)
    low, high = limits.lower - now, limits.upper - now
    size = np.linalg.norm(C, axis=1)
    is_moving = size > 1e-12  # what this level cannot move is no matter of its programme
    rows = C[is_moving] / size[is_moving, None]
    low, high = low[is_moving] / size[is_moving], high[is_moving] / size[is_moving]
    z = solve_programme(H, f, rows, (low, high), "limits of motions")
    if z is None:
        names = [name for name, is_of_them in zip(limits.names, is_moving, strict=True) if is_of_them]
        raise InputError(
            f"no motion keeps all of the limits of {', '.join(map(repr, names[:10]))}: they contradict each other"
        )
    return z
