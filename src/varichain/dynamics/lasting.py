"""Freedoms that last: which first-order motions of a mechanism go on, to second order.

Where rows of J_C are redundant, a combination y of them vanishes: y^T J_C = 0. A motion v that J_C allows goes on only
if the loops stay closed to second order too, y^T (Jdot_C v) = 0 for every such y: quadratic forms of v. They are zero
in mechanisms that are redundant by design, such as planar linkages, and are not at singular configurations.
"""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import Table
from varichain.dynamics.loops import loop_bias
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.spatial.arrays import Array

_ZERO = 1e-7  # forms below this part of the largest velocity product are rounding
_TRIALS = 64  # random combinations of several forms, in search of one that a motion cannot satisfy but trivially


def lasting_freedoms(
    layout: Layout, table: Table, s: State, scaled: Array, scale_rows: Array, scale_columns: Array, rank: int
) -> int:
    """Number of degrees of freedom that last to second order; all of them where no row of J_C is redundant.

    Args:
        layout: Structure.
        table: Its address table.
        s: State, its loops closed.
        scaled: J_C with rows and columns multiplied by their scales.
        scale_rows: Scale of every row.
        scale_columns: Scale of every column.
        rank: Rank of J_C.
    """
    n_free = layout.n_all - rank
    touched = np.flatnonzero(np.abs(scaled).max(axis=0, initial=0.0) > 0.0)
    if rank == scaled.shape[0] or n_free == 0 or not len(touched):
        return n_free
    U, _, Vt = np.linalg.svd(scaled[:, touched])
    n_kept = rank
    motions = np.zeros((layout.n_all, len(touched) - n_kept))
    motions[touched] = Vt[n_kept:].T
    motions *= scale_columns[:, None]
    products = _products(layout, table, s, motions)
    forms = np.einsum("rk,rij->kij", scale_rows[:, None] * U[:, n_kept:], products)
    size = float(np.abs(products * scale_rows[:, None, None]).max(initial=0.0))
    idle = layout.n_all - len(touched)
    return idle + _dimension(forms, max(size, 1.0))


def _products(layout: Layout, table: Table, s: State, motions: Array) -> Array:
    """Jdot_C v of all loops as a symmetric bilinear form of motions (rows of J_C, n, n), by polarisation."""
    n = motions.shape[1]
    tree = motions[: layout.n_v]
    trial = s.copy()

    def bias(v: Array) -> Array:
        trial.v[:] = v
        return loop_bias(layout, table, trial)

    products = np.zeros((6 * len(layout.loops) + len(layout.ties), n, n))
    for i in range(n):
        products[:, i, i] = bias(tree[:, i])
    for i in range(n):
        for j in range(i):
            mixed = 0.5 * (bias(tree[:, i] + tree[:, j]) - products[:, i, i] - products[:, j, j])
            products[:, i, j] = products[:, j, i] = mixed
    return products


def _dimension(forms: Array, size: float) -> int:
    """Dimension of the motions x with x^T Q x = 0 for all forms Q (k, n, n).

    A form of one sign confines x to its kernel; any other takes away one dimension.
    """
    n = forms.shape[1]
    basis = np.eye(n)
    rng = np.random.default_rng(0)  # same state, same answer
    while basis.shape[1]:
        left = _independent(np.einsum("ia,kij,jb->kab", basis, forms, basis), size)
        if not len(left):
            return basis.shape[1]
        kernel = _kernel_of_one_sign(left, size, rng)
        if kernel is None:
            return max(basis.shape[1] - len(left), 0)
        basis = basis @ kernel
    return 0


def _independent(forms: Array, size: float) -> Array:
    """Linearly independent forms that span the others; none if all are rounding."""
    flat = forms.reshape(len(forms), -1)
    if not flat.size:
        return forms[:0]
    _, sigma, Vt = np.linalg.svd(flat, full_matrices=False)
    n = int(np.count_nonzero(sigma > _ZERO * size))
    spanning: Array = (sigma[:n, None] * Vt[:n]).reshape(n, *forms.shape[1:])
    return spanning


def _kernel_of_one_sign(forms: Array, size: float, rng: np.random.Generator) -> Array | None:
    """Kernel of a combination of forms that is of one sign; None if none was found."""
    trials = [*np.eye(len(forms)), *(rng.standard_normal((_TRIALS, len(forms))) if len(forms) > 1 else ())]
    for weights in trials:
        values, vectors = np.linalg.eigh(np.einsum("k,kij->ij", weights, forms))
        zero = np.abs(values) <= _ZERO * max(size, float(np.abs(values).max()))
        signs = np.sign(values[~zero])
        if len(signs) and (np.all(signs > 0) or np.all(signs < 0)):
            return np.asarray(vectors[:, zero], dtype=np.float64)
    return None
