"""Quadratic programmes, solved by daqp [Arnstrom 2022], which the extra "qp" installs."""

from __future__ import annotations

import numpy as np

from varichain.errors import MissingExtraError
from varichain.spatial.arrays import Array

_OPEN = 1e30  # that daqp takes as infinite
_EQUALITY, _SOLVED = 5, 1  # daqp's codes
_RANK = 1e-9
_KEPT = 1e-10  # by how much bounds may be left


def solve_programme(
    H: Array,
    f: Array,
    A: Array,
    rows: tuple[Array, Array],
    what: str,
    bounds: tuple[Array, Array] | None = None,
    n_equalities: int = 0,
    start: Array | None = None,
) -> Array | None:
    """Vector z of least z^T H z / 2 + f^T z within bounds; None if there is none.

    Args:
        H: Positive definite (n, n).
        f: (n,).
        A: (m, n).
        rows: Lower and upper bounds of A z (m,).
        what: What the programme is for, in the plural, for the error without daqp.
        bounds: Lower and upper bounds of z itself (n,).
        n_equalities: Number of rows, the first ones, whose two bounds are the same.
        start: Solution of a similar programme (n,), from which the bounds that act are guessed.

    Raises:
        MissingExtraError: daqp is not installed.
    """
    try:
        import daqp
    except ImportError:
        raise MissingExtraError(f"{what} need the package daqp: pip install 'varichain[qp]'") from None
    low, high = rows if bounds is None else (np.concatenate(pair) for pair in zip(bounds, rows, strict=True))
    sense = np.zeros(len(low), np.int32)
    first = len(low) - len(A)
    sense[first : first + n_equalities] = _EQUALITY
    low, high = np.maximum(low, -_OPEN), np.minimum(high, _OPEN)
    A, H = np.ascontiguousarray(A), np.ascontiguousarray(H)
    z, _, flag, _ = daqp.solve(H, f, A, high, low, sense, primal_tol=_KEPT, primal_start=start)
    return np.asarray(z, dtype=np.float64) if flag >= _SOLVED else None


def independent_equations(A: Array, b: Array) -> tuple[Array, Array]:
    """Independent rows of A x = b; what of b no x meets is left out, and the caller's to find."""
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.count_nonzero(sigma > _RANK * sigma.max(initial=1e-300)))
    return sigma[:rank, None] * Vt[:rank], U[:, :rank].T @ b
