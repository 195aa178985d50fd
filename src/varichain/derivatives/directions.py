"""Directions in which a state may change: those that keep all loops and couplings closed."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.coordinates import select
from varichain.dynamics.preferences import check_preferred, classes, columns_of
from varichain.errors import InputError
from varichain.kernels.derivative_closure import K_ROWS, SPEEDS_BY_Q
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array

Indices = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Directions:
    """Closed directions of a state (q, v): q moves along W's columns, v follows, independent velocities are kept.

    Attributes:
        independent: Freedoms that are independent.
        W: (n_v, n_f); v = W v_ind.
        turning: (n_v, n_f); how v must change while q moves along a column of W, for the loops to stay closed.
        kept: Rows that are independent of each other.
    """

    independent: Indices
    dependent: Indices
    W: Array
    turning: Array
    kept: NDArray[np.bool_]
    _K_dependent: Array

    def following(self, right: Array) -> Array:
        """Changes x (n_v, n) of dependent freedoms alone with K x = right (n_rows, n)."""
        x = np.zeros((len(self.W), right.shape[1]))
        if len(self.dependent):
            x[self.dependent] = np.linalg.solve(self._K_dependent, right[self.kept])
        return x

    def multipliers(self, forces: Array) -> Array:
        """Multipliers (n_rows,) of the kept rows with which K^T x has these forces (n_v,) in dependent freedoms."""
        x = np.zeros(len(self.kept))
        if len(self.dependent):
            x[self.kept] = np.linalg.solve(self._K_dependent.T, forces[self.dependent])
        return x


def directions_of(layout: Layout, equations: Array, kept: NDArray[np.bool_], prefer: Iterable[str] = ()) -> Directions:
    """Closed directions, from the derivatives of the loops' equations.

    Raises:
        PreferenceError: The preferred freedoms depend on each other.
    """
    n = layout.n_v
    preferred = columns_of(layout, prefer)
    if (preferred >= n).any():
        raise InputError("freedoms of joints that close loops have no coordinates: prefer freedoms of the tree")
    K = equations[K_ROWS][kept]
    size = np.linalg.norm(K, axis=1)
    selection, _ = select(K / size[:, None], classes(layout, preferred)[:n])
    check_preferred(layout, selection, preferred)
    W = np.zeros((n, len(selection.independent)))
    W[selection.independent] = np.eye(len(selection.independent))
    made = Directions(selection.independent, selection.dependent, W, W, kept, K[:, selection.dependent])
    W += made.following(-equations[K_ROWS] @ W)
    turning = made.following(-equations[SPEEDS_BY_Q] @ W)
    return Directions(made.independent, made.dependent, W, turning, kept, made._K_dependent)
