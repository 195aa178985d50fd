"""Sparse matrices of one pattern: blocks of entries, added up where they meet."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csc_matrix

from varichain.spatial.arrays import Array

Indices = NDArray[np.int64]


def grid(rows: Indices, columns: Indices) -> tuple[Indices, Indices]:
    """Rows and columns of dense blocks (..., n, m), from rows (..., n) and columns (..., m)."""
    shape = (*np.broadcast_shapes(rows.shape[:-1], columns.shape[:-1]), rows.shape[-1], columns.shape[-1])
    return np.broadcast_to(rows[..., :, None], shape).ravel(), np.broadcast_to(columns[..., None, :], shape).ravel()


class Pattern:
    """Places of entries that are known before their values.

    Attributes:
        rows, columns: Of the entries that are stored (n,), column after column.
    """

    def __init__(self, places: Sequence[tuple[Indices, Indices]], shape: tuple[int, int], upper: bool = False) -> None:
        """Take rows and columns of all blocks; `upper` for symmetric matrices, of which the upper half is kept."""
        none = np.zeros(0, np.int64)
        rows = np.concatenate([none, *(place[0] for place in places)])
        columns = np.concatenate([none, *(place[1] for place in places)])
        if upper:
            rows, columns = np.minimum(rows, columns), np.maximum(rows, columns)
        keys, self._to = np.unique(columns * shape[0] + rows, return_inverse=True)
        self.rows, self.columns, self.shape = keys % shape[0], keys // shape[0], shape

    def __len__(self) -> int:
        """Number of entries that are stored."""
        return len(self.rows)

    def data(self, values: Sequence[Array]) -> Array:
        """Values of the stored entries, from those of all blocks."""
        flat = np.concatenate([np.zeros(0), *(value.ravel() for value in values)])
        return np.asarray(np.bincount(self._to, flat, len(self)), dtype=np.float64)

    def matrix(self, data: Array) -> csc_matrix:
        """The matrix of stored entries."""
        return csc_matrix((data, (self.rows, self.columns)), shape=self.shape)
