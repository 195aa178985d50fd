"""Times to ask at, one or many, and answers in the shape of the question."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, is_sequence


def instants(t: ArrayLike) -> Array:
    """A time as an array (1,), times as (n,); finite."""
    if is_sequence(t):
        return finite_array(t, (len(t),), "t").copy()  # type: ignore[arg-type]
    return np.array([finite_scalar(t, "t")])


def answer(t: ArrayLike, rows: Array) -> Any:
    """Rows (n, k) as (n,) of a single function, and the only row alone if one time was asked for."""
    columns = rows[:, 0] if rows.shape[1] == 1 else rows
    if np.ndim(t) > 0:
        return columns.copy()
    return float(columns[0]) if columns.ndim == 1 else columns[0].copy()
