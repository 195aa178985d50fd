"""Torques within limits, and by how much limits are too narrow."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.quadratic_programme import independent_equations, solve_programme
from varichain.errors import ActuationError
from varichain.spatial.arrays import Array

_DEAR = 1e6  # cost of a residual, as a multiple of the dearest torque's
_CHEAP = 1e-9  # cost of a torque where the excess over limits is what counts
_LIMITS = "torque limits"


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
    A, b = independent_equations(np.vstack([S, R]).T, load)
    H = np.diag(np.concatenate([cost, dear]))
    found = solve_programme(H, np.zeros(len(H)), A, (b, b), _LIMITS, (lower, upper), len(b))
    if found is None:
        raise _too_narrow(A, b, lower, upper, names)
    return found[:n], found[n:]


def _too_narrow(A: Array, b: Array, lower: Array, upper: Array, names: tuple[str, ...]) -> ActuationError:
    """By how much limits would have to be wider, at least: min |e|^2 with tau - e within them."""
    n = A.shape[1]
    rows = np.block([[A, np.zeros_like(A)], [np.eye(n), -np.eye(n)]])
    ends = np.concatenate([b, lower]), np.concatenate([b, upper])
    H = np.diag(np.concatenate([np.full(n, _CHEAP), np.ones(n)]))
    found = solve_programme(H, np.zeros(2 * n), rows, ends, _LIMITS, n_equalities=len(b))
    assert found is not None  # any torques will do
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
