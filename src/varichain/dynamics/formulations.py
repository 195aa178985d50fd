"""Forward dynamics of closed chains by the book: slow, readable references for the fast solver."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from varichain.dynamics.arguments import Table
from varichain.dynamics.coupling_matrix import coupling_matrix_of
from varichain.dynamics.loop_forces import NO_LOOPS, LoopForces, loop_forces
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.dynamics.mobility import mobility
from varichain.dynamics.rank import kept_rows, least_norm
from varichain.errors import InputError, StructureError
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

Formulation = Callable[[Mechanism, Layout, Table, State, Array], tuple[Array, LoopForces]]


def unit_vectors(m: Mechanism, layout: Layout, table: Table, s: State, tau: Array) -> tuple[Array, LoopForces]:
    """The papers' unit-vector method: A a_ind + b = tau_ind, columns of A by inverse dynamics at rest [NY, III]."""
    coordinates = mobility(m, s, probe=False)
    W, w = coordinates.W, coordinates.w
    b = W.T @ _inverse(layout, table, s, w)
    rest = s.copy()
    rest.v[:] = 0.0
    weight = _inverse(layout, table, rest, np.zeros(layout.n_v))  # gravity, springs and external forces alone
    columns = [W.T @ (_inverse(layout, table, rest, W[:, i]) - weight) for i in range(W.shape[1])]
    A = np.array(columns).reshape(W.shape[1], W.shape[1]).T
    a = W @ np.linalg.solve(A, W.T @ tau - b) + w
    return a, _reaction(layout, table, s, a, tau)


def projected(m: Mechanism, layout: Layout, table: Table, s: State, tau: Array) -> tuple[Array, LoopForces]:
    """Mass matrix projected on the generalized coordinates: (W^T M W) a_ind = W^T (tau - bias - M w)."""
    coordinates = mobility(m, s, probe=False)
    W, w = coordinates.W, coordinates.w
    M = _mass_matrix(layout, table, s)
    right = W.T @ (tau - _inverse(layout, table, s, np.zeros(layout.n_v)) - M @ w)
    a = W @ np.linalg.solve(W.T @ M @ W, right) + w
    return a, _reaction(layout, table, s, a, tau)


def kkt(m: Mechanism, layout: Layout, table: Table, s: State, tau: Array) -> tuple[Array, LoopForces]:
    """Dense KKT system [[M, K^T], [K, 0]] [a; -x] = [tau - bias; -Kdot v], of the rows that are independent."""
    M, kept = _mass_matrix(layout, table, s), kept_rows(layout, table, s.q)
    K = constraint_matrix(layout, table, s.q)[kept]
    force = tau - _inverse(layout, table, s, np.zeros(layout.n_v))
    target = -constraint_bias(layout, table, s)[kept]
    if layout.massless_link is not None:  # M is singular, and the whole is not
        whole = np.block([[M, -K.T], [K, np.zeros((len(K), len(K)))]])
        a = np.linalg.solve(whole, np.concatenate([force, target]))[: len(M)]
        return a, _reaction(layout, table, s, a, tau)
    # M = L L^T; in the coordinates L^T a the rows K L^-T are met by a step of least norm
    L = np.linalg.cholesky(M)
    free = np.linalg.solve(L, force)
    rows = np.linalg.solve(L, K.T).T
    y = free + least_norm(rows, target - rows @ free, len(K))
    a = np.linalg.solve(L.T, y)
    return a, _reaction(layout, table, s, a, tau)


def explicit(m: Mechanism, layout: Layout, table: Table, s: State, tau: Array) -> tuple[Array, LoopForces]:
    """HYR's explicit system [[H, -1, 0], [-1, 0, G], [0, G^T, 0]] [a; tau_c; a_ind] = [tau - C; -g; 0] [HYR, (8)].

    G and g are W and w of the mobility: any loops and couplings, redundant rows or not, leave it regular.
    """
    coordinates = mobility(m, s, probe=False)
    G, g = coordinates.W, coordinates.w
    n, n_ind = G.shape
    H, one, none = _mass_matrix(layout, table, s), np.eye(n), np.zeros
    matrix = np.block(
        [[H, -one, none((n, n_ind))], [-one, none((n, n)), G], [none((n_ind, n)), G.T, none((n_ind, n_ind))]]
    )
    force = tau - _inverse(layout, table, s, np.zeros(n))
    a = np.linalg.solve(matrix, np.concatenate([force, -g, np.zeros(n_ind)]))[:n]
    return a, _reaction(layout, table, s, a, tau)


def closure(m: Mechanism, layout: Layout, table: Table, s: State, tau: Array) -> tuple[Array, LoopForces]:
    """HYR's closure function q = M y + b: (M^T H M) a_ind = M^T (tau - C), a = M a_ind [HYR, (17)].

    For mechanisms whose joints are tied by couplings alone: no row takes part, and nothing can be singular.
    """
    if layout.loops:
        raise InputError(
            f"method 'closure' needs a mechanism that only couplings close, but {layout.mechanism_name!r} has "
            f"{len(layout.loops)} loops: {', '.join(loop.name for loop in layout.loops[:5])}; take 'explicit', or "
            "replace them by couplings or closure functions"
        )
    G = coupling_matrix_of(layout).M
    force = tau - _inverse(layout, table, s, np.zeros(layout.n_v))
    a = G @ np.linalg.solve(G.T @ _mass_matrix(layout, table, s) @ G, G.T @ force)
    return a, _reaction(layout, table, s, a, tau)


def implicit(m: Mechanism, layout: Layout, table: Table, s: State, tau: Array) -> tuple[Array, LoopForces]:
    """HYR's implicit system [[H, K^T], [K, 0]] [a; -x] = [tau - C; k], solved as it is written [HYR, (5)].

    Raises:
        StructureError: Its matrix is singular, as of all planar loops; "kkt" takes the same by least squares.
    """
    H, K = _mass_matrix(layout, table, s), constraint_matrix(layout, table, s.q)
    n, n_rows = layout.n_v, layout.n_rows
    rank = int(kept_rows(layout, table, s.q).sum()) if n_rows else 0
    if rank < n_rows:
        raise StructureError(
            f"the implicit system of {layout.mechanism_name!r} is singular: its {n_rows} rows have rank {rank} in this "
            "state; take 'kkt', 'explicit' or 'articulated', which handle redundant rows"
        )
    matrix = np.block([[H, K.T], [K, np.zeros((n_rows, n_rows))]])
    force = tau - _inverse(layout, table, s, np.zeros(n))
    solution = np.linalg.solve(matrix, np.concatenate([force, -constraint_bias(layout, table, s)]))
    if layout.is_tree:
        return solution[:n], NO_LOOPS
    return solution[:n], loop_forces(layout, table, -solution[n:], True)


def _reaction(layout: Layout, table: Table, s: State, a: Array, tau: Array) -> LoopForces:
    """Loop forces of least norm that the accelerations ask for: K^T x = M a + bias - tau."""
    return reaction(layout, table, s, _inverse(layout, table, s, a) - tau)


def reaction(layout: Layout, table: Table, s: State, missing: Array) -> LoopForces:
    """Loop forces of least norm with K^T x = missing (n_v,)."""
    if layout.is_tree:
        return NO_LOOPS
    K = constraint_matrix(layout, table, s.q)
    rank = int(kept_rows(layout, table, s.q).sum())
    return loop_forces(layout, table, least_norm(K.T, missing, rank), rank == layout.n_rows)


def _inverse(layout: Layout, table: Table, s: State, a: Array) -> Array:
    tau = np.empty(layout.n_v)
    inverse_dynamics(table, s.q, s.v, np.ascontiguousarray(a), tau)
    return tau


def _mass_matrix(layout: Layout, table: Table, s: State) -> Array:
    M = np.empty((layout.n_v, layout.n_v))
    mass_matrix(table, s.q, M)
    return M


FORMULATIONS: dict[str, Formulation] = {
    "unit_vectors": unit_vectors,
    "projected": projected,
    "kkt": kkt,
    "explicit": explicit,
}
"""Those that take any mechanism."""

PARTIAL_FORMULATIONS: dict[str, Formulation] = {"closure": closure, "implicit": implicit}
"""Those that refuse some: with loops; with redundant rows."""
