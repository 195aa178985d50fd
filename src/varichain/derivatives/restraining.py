"""Stops and dry friction in derivatives, by their present mode: a closed stop and friction that sticks lock freedoms.

A stop of a coordinate, and friction that sticks in a joint of the tree, locks a freedom. Stops of balls, and those of
joints that close loops, are rows: K v = 0 where they are closed, as of loops. Their matrices are those of kernels, and
the derivatives of these are central differences of order four.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.instants.restraints import Limits, restraints_of
from varichain.kernels.derivative_chains import CHAIN_WORK
from varichain.kernels.derivative_closure import (
    ACCELERATIONS_BY_Q,
    K_RATES,
    K_ROWS,
    SPEEDS_BY_Q,
    closure_derivatives,
)
from varichain.kernels.manifold import integrate
from varichain.kernels.run_records import COORDINATE, NO_FRICTION, SWING, WHOLE_BALL
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array

Modes = Mapping[str, Mapping[str, Any]]

_STEP = 1e-3  # [rad or m] of differences: their error, its fourth power, and rounding of 1e-16 / step are of one size


class Restraining:
    """Restraints of a structure, in modes.

    Attributes:
        workspace: Arrays of the structure, with rows of stops after those of loops.
        names: Of the restraints.
        locked: Freedoms that are locked (n_v,).
        revision: How often modes were set.
        n_closed: Number of rows that are closed.
    """

    def __init__(self, layout: Layout, limits: Limits) -> None:
        """Find the restraints; all are free."""
        found = restraints_of(layout, limits)
        self._layout, self.workspace, self.names, self._records = layout, found.workspace, found.names, found.records
        self.revision = 0
        self.locked: NDArray[np.bool_] = np.zeros(layout.n_v, dtype=bool)
        self._n_rows = (
            self.workspace.length("rows") if len(layout.constraints) or (self._records["loop"] >= 0).any() else 0
        )
        self.set({})

    def set(self, modes: Modes) -> None:
        """Take modes by name; restraints without a mode are free and slide by their velocities."""
        self.revision += 1
        self.locked[:] = False
        self._closed: list[int] = []  # rows of the workspace
        self._balls: list[Any] = []  # records of stops of balls
        dofs = self.workspace.array("dofs")
        for name, record in zip(self.names, self._records, strict=True):
            mode = modes.get(name, {"locked": 0, "slide": 0, "at": 0, "direction": [0.0] * 3})
            record["locked"], record["at"] = mode["locked"], mode["at"]
            is_ball, k = record["kind"] == WHOLE_BALL, int(record["dof"])
            slides = list(mode["direction"]) if is_ball else [float(mode["slide"])]
            if record["loop"] >= 0:
                self._set_row(record, slides)
            elif record["kind"] in (COORDINATE, WHOLE_BALL):
                self.locked[k : k + len(slides)] = bool(record["locked"])
                dofs["slide"][k : k + len(slides)] = (NO_FRICTION if is_ball else 0.0) if record["locked"] else slides
            elif record["locked"]:
                self._balls.append(record)

    def _set_row(self, record: Any, slides: list[float]) -> None:
        """Close or open the rows of a restraint, and let its friction slide."""
        first, n = int(record["row"]), len(slides)
        self.workspace.array("rows")["is_open"][first : first + n] = 0 if record["locked"] else 1
        if record["locked"]:
            self._closed += range(first, first + n)
            slides = [NO_FRICTION] * n
        k, owner = int(record["dof"]), int(self.workspace.array("loops")["owner"][record["loop"]])
        if k >= 0:
            self.workspace.array("dofs")["slide"][k : k + n] = slides
        elif owner >= 0 and record["friction"] > 0.0:
            at = int(record["freedom"])
            self.workspace.array("loops")["slide"][owner, at : at + n] = slides

    @property
    def n_closed(self) -> int:
        """Number of closed rows."""
        return len(self._closed) + len(self._balls)

    def reactions(self, modes: Modes, forces: Array, multipliers: Array) -> dict[str, Array]:
        """Forces (1 or 3, ...) of what is locked, from those of freedoms (n_v, ...) and of closed rows (n, ...)."""
        found, rows = {}, iter(multipliers)
        balls: list[tuple[str, int]] = []
        for name, record in zip(self.names, self._records, strict=True):
            if name not in modes or not modes[name]["locked"]:
                continue
            n, k = 3 if record["kind"] == WHOLE_BALL else 1, int(record["dof"])
            if record["loop"] >= 0:
                found[name] = np.array([next(rows) for _ in range(n)])
            elif record["kind"] in (COORDINATE, WHOLE_BALL):
                found[name] = forces[k : k + n]
            else:
                balls.append((name, n))
        return found | {name: np.array([next(rows) for _ in range(n)]) for name, n in balls}

    @property
    def n_rows(self) -> int:
        """Rows of the workspace: of loops, and of stops, closed or open."""
        return self._n_rows

    def rows(self, q: Array) -> Array:
        """K (n_closed, n_v) of the closed rows."""
        n = self._layout.n_v
        rows = np.zeros((self.n_closed, n))
        if self._closed:
            equations, rest = np.empty((4, self._n_rows, n)), np.zeros(n)
            closure_derivatives(
                self.workspace.table,
                q,
                rest,
                rest,
                np.zeros(self._n_rows),
                equations,
                np.empty((n, n)),
                np.empty((n, CHAIN_WORK)),
            )
            rows[: len(self._closed)] = equations[K_ROWS][self._closed]
        for row, record in zip(rows[len(self._closed) :], self._balls, strict=True):
            k = int(record["dof"]) - (0 if record["kind"] == SWING else 1)
            row[k : k + 3] = _ball_direction(record, q)
        return rows

    def _moved(self, q: Array, along: Array, h: float) -> Array:
        near = np.empty_like(q)
        integrate(self.workspace.table, q, along, h, near)
        return near

    def _slope(self, function: Any, q: Array, along: Array) -> Array:
        """Derivative of a function of q along a direction."""
        size = float(np.abs(along).max(initial=0.0))
        if size == 0.0:
            return np.zeros_like(function(q))
        h = _STEP / size
        near, far = (function(self._moved(q, along, x)) - function(self._moved(q, along, -x)) for x in (h, 2.0 * h))
        slope: Array = (8.0 * near - far) / (12.0 * h)
        return slope

    def rows_of(self, name: str, q: Array) -> Array:
        """K (1, n_v) or, of a whole ball, (3, n_v) of a restraint, whatever its mode is."""
        record = self._records[self.names.index(name)]
        k, n = int(record["dof"]), 3 if record["kind"] == WHOLE_BALL else 1
        if record["loop"] < 0 and record["kind"] in (COORDINATE, WHOLE_BALL):
            return np.eye(self._layout.n_v)[k : k + n]
        before, first = (self._closed, self._balls), int(record["row"])
        self._closed, self._balls = ([*range(first, first + n)], []) if record["loop"] >= 0 else ([], [record])
        rows = self.rows(q)
        self._closed, self._balls = before
        return rows

    def slope_of(self, name: str, q: Array, v: Array) -> Array:
        """d(K v)/dq (1 or 3, n_v) of a restraint."""
        unit = np.eye(self._layout.n_v)
        columns = [self._slope(lambda there: self.rows_of(name, there) @ v, q, along) for along in unit]
        return np.column_stack(columns)

    def rates(self, q: Array, v: Array) -> Array:
        """Kdot of the closed rows (n_closed, n_v)."""
        return self._slope(self.rows, q, v)

    def derivatives(self, q: Array, v: Array, a: Array | None, x: Array | None) -> tuple[Array, Array]:
        """Layers of the closed rows, as `closure_derivatives` has them (4, n_closed, n_v), and d(K^T x)/dq.

        Without accelerations and multipliers, K and Kdot alone.
        """
        n, unit = self._layout.n_v, np.eye(self._layout.n_v)
        layers = np.zeros((4, self.n_closed, n))
        layers[K_ROWS], layers[K_RATES] = self.rows(q), self.rates(q, v)
        if a is None or x is None:
            return layers, np.zeros((n, n))
        changes = np.array([self._slope(self.rows, q, along) for along in unit])  # (n_v, n_closed, n_v)
        layers[SPEEDS_BY_Q] = (changes @ v).T
        layers[ACCELERATIONS_BY_Q] = (changes @ a).T
        for j in np.flatnonzero(np.abs(changes).max(axis=(1, 2)) > 0.0):
            layers[ACCELERATIONS_BY_Q, :, j] += self._slope(lambda there: self.rates(there, v) @ v, q, unit[j])
        return layers, np.einsum("jrk,r->kj", changes, x)


def _ball_direction(record: Any, q: Array) -> Array:
    """n of the swing of a ball, or m of its twist, in the axes of its link; see `kernels/balls.py`."""
    i = int(record["coordinate"])
    c, a = record["middle"], np.asarray(record["axis"])
    w, x = q[i], q[i + 1 : i + 4]
    turn = np.concatenate([[c[0] * w + c[1:] @ x], c[0] * x - w * c[1:] - np.cross(c[1:], x)])
    b = a - 2.0 * turn[0] * np.cross(turn[1:], a) + 2.0 * np.cross(turn[1:], np.cross(turn[1:], a))
    found = np.cross(b, a) if record["kind"] == SWING else a + b
    return np.asarray(found / np.linalg.norm(found), dtype=np.float64)
