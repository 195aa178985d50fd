"""The rank of the loops' rows: which are independent, by the mechanism's one threshold."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import Table
from varichain.dynamics.loops import constraint_matrix
from varichain.kernels.constraint_solve import independent_rows
from varichain.kernels.pivots import massless_freedom
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array


def kept_rows(layout: Layout, table: Table, q: Array) -> NDArray[np.bool_]:
    """Which rows (n_rows,) count as independent of each other; the others are redundant.

    Kernels decide, in the metric of the masses; massless links have an inertia there that is borrowed. Where a freedom
    moves no inertia in this configuration, as a thin rod about itself, there is no such metric: freedoms count alike.
    """
    kept = np.empty(layout.n_rows)
    independent_rows(table, q, kept)
    if layout.n_rows and massless_freedom(table) >= 0:
        return kept_by_kinematics(constraint_matrix(layout, table, q), layout.rank_tolerance)
    return kept > 0.5


def least_norm(matrix: Array, right: Array, rank: int) -> Array:
    """Solution x of least norm of matrix x = right in the directions of the `rank` largest singular values."""
    U, sigma, Vt = np.linalg.svd(matrix, full_matrices=False)
    x: Array = Vt[:rank].T @ ((U[:, :rank].T @ right) / sigma[:rank])
    return x


def counting(layout: Layout, errors: Array, kept: NDArray[np.bool_], size: float = 1.0) -> Array:
    """Errors of the rows that count: those of redundant rows only beyond the tolerance, times `size`."""
    return np.where(kept | (np.abs(errors) > layout.rank_tolerance * size), errors, 0.0)


def kept_by_kinematics(K: Array, tolerance: float) -> NDArray[np.bool_]:
    """Rows chosen by Gram-Schmidt with pivoting, measured against the largest."""
    left, kept = K.copy(), np.zeros(len(K), dtype=bool)
    largest = float(np.linalg.norm(K, axis=1).max(initial=0.0))
    for _ in range(len(K)):
        sizes = np.where(kept, 0.0, np.linalg.norm(left, axis=1))
        best = int(np.argmax(sizes))
        if not sizes[best] > tolerance * largest:
            break
        kept[best] = True
        direction = left[best] / sizes[best]
        left -= np.outer(left @ direction, direction)
    return kept
