"""Selection of generalized coordinates: which freedoms of J_C v_all = 0 may be chosen freely [NY, II-B]."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.spatial.arrays import Array

Indices = NDArray[np.intp]

PIVOT_THRESHOLD = 0.1
"""A freedom of a lower class is made dependent only if its pivot reaches this part of the best one."""

PREFERRED = 2.0
"""Class of the freedoms that must stay independent: all others become dependent before them."""

_PREFERENCE_THRESHOLD = 1e-6  # smaller pivots of the others are rounding: preferred ones depend on each other

KEEP_THRESHOLD = 1e-2
"""The previous choice is kept while its smallest singular value reaches this part of the best choice's."""


@dataclass(frozen=True, eq=False)
class Selection:
    """Split of the freedoms into independent and dependent ones.

    Attributes:
        rank: m, the number of independent rows, which is the number of dependent freedoms.
        independent, dependent: Columns of J_C (theta_G, theta_S), ascending.
        conditioning: Smallest singular value of J_S, scaled.
    """

    rank: int
    independent: Indices
    dependent: Indices
    conditioning: float


def select(J: Array, classes: Array, previous: Indices | None = None) -> tuple[Selection, str]:
    """Independent columns of J_C.

    Columns of a low class become dependent before those of a high class, unless their pivots are poor; among one class
    the largest pivot goes first. The previous choice stays as long as it is well conditioned; the second result says
    why it did not.

    Args:
        J: Independent rows of J_C, scaled (m, N_J).
        classes: Class of every column (N_J,).
        previous: Independent columns of the previous choice.
    """
    rank, basis = len(J), row_basis(J)
    best = _pivoted(basis, classes, rank)
    conditioning = smallest(basis[:, best])
    reason = ""
    if previous is not None:
        kept = np.setdiff1d(np.arange(J.shape[1]), previous)
        if len(kept) != rank:
            reason = f"the rank changed from {len(kept)} to {rank}"
        elif smallest(basis[:, kept]) < KEEP_THRESHOLD * conditioning:
            reason = (
                f"the smallest singular value of J_S fell to {smallest(basis[:, kept]):.1e}, "
                f"{conditioning:.1e} is possible"
            )
        else:
            best, conditioning = kept, smallest(basis[:, kept])
    dependent = np.sort(best)
    independent = np.setdiff1d(np.arange(J.shape[1]), dependent)
    return Selection(rank, independent, dependent, conditioning), reason


def row_basis(J: Array) -> Array:
    """Rows that span those of J, weighted by its singular values."""
    if J.size == 0:
        return np.zeros((0, J.shape[1]))
    _, sigma, Vt = np.linalg.svd(J, full_matrices=False)
    basis: Array = sigma[:, None] * Vt
    return basis


def smallest(matrix: Array) -> float:
    """Smallest singular value; infinity for an empty matrix."""
    return float(np.linalg.svd(matrix, compute_uv=False)[-1]) if matrix.size else float("inf")


def _pivoted(basis: Array, classes: Array, rank: int) -> Indices:
    """Columns that become dependent: Gram-Schmidt with threshold pivoting, low classes first."""
    left = basis.copy()
    open_columns = np.ones(basis.shape[1], dtype=bool)
    chosen = []
    for _ in range(rank):
        size = np.where(open_columns, np.linalg.norm(left, axis=0), 0.0)
        others = np.where(classes < PREFERRED, size, 0.0)
        if others.max() >= _PREFERENCE_THRESHOLD * size.max():
            size = others
        good = size >= PIVOT_THRESHOLD * size.max()
        lowest = classes[good & open_columns].min()
        column = int(np.argmax(np.where(good & (classes == lowest), size, -1.0)))
        direction = left[:, column] / size[column]
        left -= np.outer(direction, direction @ left)
        open_columns[column] = False
        chosen.append(column)
    return np.array(chosen, dtype=np.intp)
