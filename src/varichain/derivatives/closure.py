"""The loops' equations in a state: their derivatives, and directions that keep them."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.derivatives.directions import Directions, directions_of
from varichain.dynamics.arguments import Table
from varichain.dynamics.loop_forces import require_closed
from varichain.dynamics.mobility import mobility
from varichain.dynamics.rank import kept_rows
from varichain.kernels.derivative_chains import CHAIN_WORK
from varichain.kernels.derivative_closure import closure_derivatives
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array


def closure_at(
    layout: Layout, table: Table, q: Array, v: Array, a: Array | None = None, multipliers: Array | None = None
) -> tuple[Array, Array]:
    """Derivatives of the loops' equations (4, n_rows, n_v), and of K^T x of constant multipliers (n_v, n_v)."""
    n, n_rows = layout.n_v, layout.n_rows
    equations, forces, work = np.empty((4, n_rows, n)), np.empty((n, n)), np.empty((n, CHAIN_WORK))
    a = np.zeros(n) if a is None else a
    x = np.zeros(n_rows) if multipliers is None else multipliers
    closure_derivatives(table, q, v, a, x, equations, forces, work)
    return equations, forces


def closed_directions(layout: Layout, table: Table, s: State, prefer: Iterable[str] = ()) -> Directions:
    """Directions in which a state may change while its loops stay closed.

    Raises:
        AssemblyError: The loops are open.
    """
    if not layout.is_tree:
        require_closed(layout, table, s)
    equations, _ = closure_at(layout, table, s.q, s.v)
    return directions_of(layout, equations, kept_rows(layout, table, s.q), prefer)


def is_nearly_singular(m: Mechanism, s: State) -> bool:
    """Whether which rows of the loops are independent is a close decision in a state."""
    return not layout_of(m).is_tree and mobility(m, s).is_nearly_singular
