"""Freedoms that are at rest at this instant only, as a slider at dead centre, beside those that can never move."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import Table
from varichain.dynamics.assembly import close_loops
from varichain.dynamics.loops import loop_jacobian
from varichain.kernels.manifold import integrate
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.spatial.arrays import Array

Indices = NDArray[np.intp]

_STEP = 1e-3  # [rad or m] of the joint that moves most
_MOVES = 1e-6  # ratio to the others' velocities above which a freedom moves; a step from dead centre gives about _STEP


def resting_columns(
    layout: Layout, table: Table, s: State, W_all: Array, split: tuple[Indices, Indices]
) -> NDArray[np.bool_]:
    """Which freedoms of all joints (n_all,) move in configurations nearby, whether or not they do here.

    Args:
        layout: Structure.
        table: Its address table.
        s: State, its loops closed.
        W_all: v_all = W_all v_ind (n_all, N_F).
        split: Columns of the independent and of the dependent freedoms.
    """
    independent, dependent = split
    moves = np.zeros(layout.n_all, dtype=bool)
    for direction in np.random.default_rng(1).normal(size=(2, len(independent))):
        v = W_all[: layout.n_v] @ direction
        near = s.copy()
        integrate(table, s.q, v, _STEP / max(float(np.abs(v).max(initial=0.0)), 1e-12), near.q)
        close_loops(layout, table, near.q)
        J_C = loop_jacobian(layout, table, near)
        H = np.linalg.lstsq(J_C[:, dependent], J_C[:, independent], rcond=1e-9)[0]
        moves[dependent] |= np.abs(H).max(axis=1, initial=0.0) > _MOVES
    return moves
