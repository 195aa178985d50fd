"""Torques within limits: quadratic programmes, solved by daqp [Arnstrom et al. 2022]."""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.errors import ActuationError, MissingExtraError
from varichain.spatial.arrays import Array

_RANK = 1e-9
_DEAR = 1e6  # cost of a residual, as a multiple of the dearest torque's
_CHEAP = 1e-9  # cost of a torque where the excess over limits is what counts
_OPEN = 1e30  # that daqp takes as infinite
_EQUALITY, _SOLVED = 5, 1


def within_limits(
    S: Array, R: Array, load: Array, cost: Array, bounds: tuple[Array, Array], names: tuple[str, ...]
) -> tuple[Array, Array]:
    """Torques (N_A,) within bounds, and residuals, of least cost with S^T tau + R^T residual = load.

    Raises:
        ActuationError: There are none; it says by how much which limits are too narrow.
    """
    n, n_rest = len(S), len(R)
    dear = np.full(n_rest, _DEAR * float(cost.max(initial=1.0)))
    open_ends = np.full(n_rest, np.inf)
    lower, upper = np.concatenate([bounds[0], -open_ends]), np.concatenate([bounds[1], open_ends])
    A, b = _independent(np.vstack([S, R]).T, load)
    found, flag = _solve(np.concatenate([cost, dear]), A, lower, upper, b, b)
    if flag < _SOLVED:
        raise _too_narrow(A, b, lower, upper, names)
    return found[:n], found[n:]


def _too_narrow(A: Array, b: Array, lower: Array, upper: Array, names: tuple[str, ...]) -> ActuationError:
    """By how much limits would have to be wider, at least: min |e|^2 with tau - e within them."""
    n = A.shape[1]
    wide = np.full(2 * n, np.inf)
    rows = np.block([[A, np.zeros_like(A)], [np.eye(n), -np.eye(n)]])
    costs = np.concatenate([np.full(n, _CHEAP), np.ones(n)])
    found, _ = _solve(costs, rows, -wide, wide, np.concatenate([b, lower]), np.concatenate([b, upper]), len(b))
    excess = found[n : n + len(names)]
    size = float(np.abs(excess).max(initial=0.0))
    short = {name: float(e) for name, e in zip(names, excess, strict=True) if abs(e) > 1e-3 * size}
    said = ", ".join(f"{name!r} {x:+.3g}" for name, x in short.items())
    return ActuationError(
        f"no torques within the limits drive this motion; torques nearest to them exceed those of {said} [N m or N]; "
        "widen the limits or slow the motion",
        size,
        list(short),
    )


def _independent(A: Array, b: Array) -> tuple[Array, Array]:
    """Independent rows of A x = b, which must be solvable."""
    U, sigma, Vt = np.linalg.svd(A, full_matrices=False)
    rank = int(np.count_nonzero(sigma > _RANK * sigma[0]))
    return sigma[:rank, None] * Vt[:rank], U[:, :rank].T @ b


def _solve(
    cost: Array, A: Array, lower: Array, upper: Array, low: Array, high: Array, n_equalities: int | None = None
) -> tuple[Array, int]:
    """Least sum cost x^2 with x within lower and upper, A x within low and high: x, and daqp's flag."""
    daqp = _daqp()
    is_equality = np.arange(len(A)) < (len(A) if n_equalities is None else n_equalities)
    sense = np.concatenate([np.zeros(len(cost)), np.where(is_equality, _EQUALITY, 0)]).astype(np.int32)
    ends = (np.clip(np.concatenate(pair), -_OPEN, _OPEN) for pair in ((upper, high), (lower, low)))
    x, _, flag, _ = daqp.solve(np.diag(cost), np.zeros(len(cost)), np.ascontiguousarray(A), *ends, sense)
    return np.asarray(x), int(flag)


def _daqp() -> Any:
    try:
        import daqp
    except ImportError:
        raise MissingExtraError("torque limits need the package daqp: pip install 'varichain[qp]'") from None
    return daqp
