"""Matrices of derivatives whose rows and columns are found by the names of joints and freedoms."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from varichain.errors import InputError, UnknownNameError
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array
from varichain.spatial.checks import shown
from varichain.spatial.report import Listing

Places = Mapping[str, list[int]]


class Derivative:
    """A matrix of derivatives: `d["knee", "hip"]` is the part of one joint by another, `np.asarray(d)` the matrix.

    A row or a column is named by a joint ("hip", all its freedoms) or by one freedom ("hip.wx").

    Attributes:
        array: The numbers (n_rows, n_columns).
        rows, columns: Places by name.
    """

    __slots__ = ("array", "columns", "rows")

    def __init__(self, array: Array, rows: Places, columns: Places) -> None:
        """Take the numbers and the names."""
        self.array, self.rows, self.columns = array, rows, columns

    @property
    def shape(self) -> tuple[int, ...]:
        """Numbers of rows and columns."""
        return self.array.shape

    def __getitem__(self, names: tuple[str, str]) -> Array:
        """Part of the matrix, by the names of a row and a column."""
        if not isinstance(names, tuple) or len(names) != 2:
            raise InputError(
                f"a part has two names, of a row and of a column, as in d['knee', 'hip'], not {shown(names)}"
            )
        return self.array[np.ix_(_places(self.rows, names[0], "row"), _places(self.columns, names[1], "column"))]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The whole matrix."""
        return np.array(self.array, dtype=dtype, copy=copy)

    def __repr__(self) -> str:
        """Shape and names of columns."""
        return f"<Derivative: {self.array.shape[0]} x {self.array.shape[1]}, by {', '.join(self.columns)}>"


def _places(names: Places, name: Any, kind: str) -> list[int]:
    found = names.get(name) if isinstance(name, str) else None
    if found is None:
        raise UnknownNameError(kind, name, names)
    return found


def freedom_places(layout: Layout, freedoms: Iterable[int]) -> dict[str, list[int]]:
    """Places of some of the tree's freedoms in a vector of them, by the names of joints and of freedoms."""
    places: dict[str, list[int]] = {}
    for place, k in enumerate(freedoms):
        name = layout.freedom_name(int(k))
        joint = next(slot.name for slot in layout.slots if slot.v.start <= k < slot.v.stop)
        for one in {joint, name}:
            places.setdefault(one, []).append(place)
    return places


def row_places(layout: Layout) -> dict[str, list[int]]:
    """Places of the rows of loops and couplings, by the names of what closes them."""
    return {one.name: list(range(one.rows.start, one.rows.stop)) for one in layout.constraints}


def sizes(matrices: Mapping[str, Derivative]) -> Listing:
    """Shapes and largest entries of matrices, by what they are called."""
    largest = {name: float(np.abs(one.array).max(initial=0.0)) for name, one in matrices.items()}
    rows = [(name, f"{one.shape[0]} x {one.shape[1]}", f"{largest[name]:.4g}") for name, one in matrices.items()]
    return Listing(("", "shape", "largest entry"), rows)
