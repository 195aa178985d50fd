"""Derivatives by central differences, on configurations whose loops are closed again: the oracle of this folder."""

import numpy as np

from varichain.dynamics.assembly import close_loops
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.rank import kept_rows
from varichain.kernels.manifold import integrate
from varichain.layout.layout import layout_of

STEP = 1e-3
"""Of differences of order four: their error, h^4 = 1e-12, and rounding / h = 1e-13 are of one size about here."""


def independent_columns(m, names):
    """Places in v of freedoms, by name."""
    layout = layout_of(m)
    by_name = {layout.freedom_name(k): k for k in range(layout.n_v)}
    return [by_name[name] for name in names]


def with_independent(m, s, columns, v_ind):
    """The state with the velocities that follow from those of independent freedoms."""
    layout = layout_of(m)
    table = layout.workspaces.of_thread.table
    K = (
        constraint_matrix(layout, table, s.q)[kept_rows(layout, table, s.q)]
        if layout.n_rows
        else np.zeros((0, layout.n_v))
    )
    dependent = np.setdiff1d(np.arange(layout.n_v), columns)
    near, v = s.copy(), np.zeros(layout.n_v)
    v[columns] = v_ind
    v[dependent] = np.linalg.lstsq(K[:, dependent], -K[:, columns] @ v_ind, rcond=None)[0]
    near.v = v
    return near


def moved(m, s, columns, direction, h):
    """The state after a step along a closed direction, its loops closed, its independent velocities kept."""
    layout = layout_of(m)
    table = layout.workspaces.of_thread.table
    q = np.empty_like(s.q)
    integrate(table, s.q, h * direction, 1.0, q)
    if layout.n_rows:
        close_loops(layout, table, q)
    near = s.copy()
    near.q = q
    return with_independent(m, near, columns, s.v[columns])


def central(function, at, h):
    """Derivative at h = 0 of function(at(h)), a vector, by central differences of order four."""
    near, far = (np.asarray(function(at(x))) - np.asarray(function(at(-x))) for x in (h, 2 * h))
    return (8 * near - far) / (12 * h)


def by_q(function, m, s, columns, W, h=STEP):
    """Derivatives of function(state) along closed directions W."""
    return np.column_stack([central(function, lambda x, w=w: moved(m, s, columns, w, x), h) for w in W.T])


def by_v(function, m, s, columns, h=STEP):
    """Derivatives of function(state) by independent velocities."""

    def at(e):
        return lambda x: with_independent(m, s, columns, s.v[columns] + x * e)

    return np.column_stack([central(function, at(e), h) for e in np.eye(len(columns))])


def by_vector(function, x, h=STEP):
    """Derivatives of function(x) by a vector."""
    return np.column_stack([central(function, lambda y, e=e: x + y * e, h) for e in np.eye(len(x))])
