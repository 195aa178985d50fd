"""Generalized coordinates of a closed chain on plain arrays: W, w and S for freedoms chosen once."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.dynamics.actuator_solve import Actuators
from varichain.dynamics.arguments import Table
from varichain.dynamics.coordinates import select
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.preferences import check_preferred, classes, columns_of
from varichain.dynamics.rank import kept_rows
from varichain.errors import InputError, PreferenceError
from varichain.kernels.loop_basis import motion_basis
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array

_SINGULAR = 1e-9  # a choice whose pivots are smaller determines nothing


class MotionBasis:
    """Independent freedoms of the tree, and room for the kernel that writes W, w and S.

    Attributes:
        names: Names of the independent freedoms, in the order of the columns of W and S.
    """

    def __init__(self, layout: Layout, table: Table, q: Array, actuators: Actuators, prefer: Iterable[str]) -> None:
        """Choose at a configuration.

        Raises:
            PreferenceError: Preferred freedoms depend on each other.
        """
        preferred = columns_of(layout, prefer)
        if (preferred >= layout.n_v).any():
            names = [layout.freedom_name(int(k)) for k in preferred[preferred >= layout.n_v]]
            raise InputError(f"{names} close loops; independent freedoms of a handle are those of the tree's joints")
        K = constraint_matrix(layout, table, q)[kept_rows(layout, table, q)] * actuators.scale
        size = np.linalg.norm(K, axis=1, keepdims=True)
        choice, _ = select(K / size, classes(layout, preferred)[: layout.n_v])
        check_preferred(layout, choice, preferred)
        self._columns = np.ascontiguousarray(choice.independent, dtype=np.int64)
        self.names = tuple(layout.freedom_name(int(k)) for k in self._columns)
        self._actuated, self._readiness = actuators.columns, actuators.scale.copy()
        self._readiness[self._columns] = 0.0
        n, n_rows = layout.n_v, layout.n_rows
        self._work = np.empty((n_rows, n)), np.empty(n + n_rows), np.zeros(n + n_rows, np.int64)

    def write(self, table: Table, q: Array, v: Array, W: Array, w: Array, S: Array) -> float:
        """Write W, w and S at a state; returns the smallest pivot.

        Raises:
            PreferenceError: The chosen freedoms do not determine the others.
        """
        rank, pivot = motion_basis(table, q, v, self._readiness, self._columns, self._actuated, *self._work, W, w, S)
        if not pivot > _SINGULAR:
            n_free = len(self._readiness) - rank
            raise PreferenceError(
                f"{len(self.names)} freedoms were chosen as independent, but in this configuration there are {n_free}, "
                "or the chosen ones depend on each other: call choose_independent(q) again",
                list(self.names),
            )
        return float(pivot)
