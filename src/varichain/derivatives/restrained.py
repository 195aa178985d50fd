"""Directions of a mechanism with stops and friction in modes."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varichain.derivatives.directions import Directions, directions_of
from varichain.derivatives.equations import Equations
from varichain.errors import InputError, quoted
from varichain.kernels.derivative_closure import K_ROWS
from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array


def checked_stops(limits: Any) -> str:
    """`limits` if it is "hard" or "off"."""
    if not isinstance(limits, str) or limits not in ("hard", "off"):
        raise InputError(f"limits must be 'hard' or 'off' in derivatives, not {quoted(limits)}")
    return limits


def free_directions(layout: Layout, equations: Equations, q: Array, v: Array, prefer: Iterable[str] = ()) -> Directions:
    """Directions of the mechanism's own freedoms that keep loops, closed stops and locked freedoms as they are."""
    own, n = equations.own, layout.n_v
    none = np.zeros(equations.n)
    layers = equations.rows(q, v, none, np.zeros(layout.n_rows + equations.restraining.n_closed)).layers
    locked = np.eye(n)[equations.restraining.locked[own]]
    units = np.zeros((4, len(locked), n))
    units[K_ROWS] = locked
    kept = np.concatenate([equations.kept(q, layers[K_ROWS]), np.ones(len(locked), dtype=bool)])
    return directions_of(layout, np.concatenate([layers[:, :, own], units], axis=1), kept, prefer)


def start_columns(directions: Directions) -> Array:
    """Changes of all q and v (2 n_v, 2 n_f) with independent positions, then velocities."""
    W = directions.W
    return np.block([[W, np.zeros_like(W)], [directions.turning, W]])
