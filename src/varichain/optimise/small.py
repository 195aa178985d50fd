"""Small problems without the extra: SciPy's SLSQP, with exact first derivatives [Kraft 1988]."""

from __future__ import annotations

import numpy as np
from scipy.optimize import Bounds, minimize

from varichain.errors import MissingExtraError
from varichain.optimise.solving import Best, Programme, Solution, Watch
from varichain.spatial.arrays import Array

MOST = 400
"""Unknowns: more take minutes, and rarely converge."""


class _StoppedError(Exception):
    """The watch said so."""


def solve(programme: Programme, tolerance: float, most: int, watch: Watch) -> Solution:
    """Solve with first derivatives alone, on dense matrices.

    Raises:
        MissingExtraError: The problem is too large.
    """
    if programme.n > MOST:
        raise MissingExtraError(
            f"this motion has {programme.n} unknowns; beyond {MOST} motions are optimised by IPOPT, in the package "
            "casadi: pip install 'varichain[optimise]', or ask for fewer intervals"
        )
    best = Best(programme, tolerance)
    best.take(programme.guess)
    is_equal = programme.row_low == programme.row_high
    above, below = np.isfinite(programme.row_low) & ~is_equal, np.isfinite(programme.row_high) & ~is_equal

    def matrix(x: Array) -> Array:
        return np.asarray(programme.slopes_pattern.matrix(programme.slopes(x)).toarray())

    def off(x: Array) -> Array:
        return np.asarray((programme.equations(x) - programme.row_low)[is_equal])

    def inside(x: Array) -> Array:
        values = programme.equations(x)
        return np.asarray(np.r_[(values - programme.row_low)[above], (programme.row_high - values)[below]])

    def inside_slopes(x: Array) -> Array:
        slopes = matrix(x)
        return np.vstack([slopes[above], -slopes[below]])

    constraints = [{"type": "eq", "fun": off, "jac": lambda x: matrix(x)[is_equal]}]
    if (above | below).any():
        constraints.append({"type": "ineq", "fun": inside, "jac": inside_slopes})

    def step(x: Array) -> None:
        cost, off = best.take(x)
        if not watch(best.n, cost, off):
            raise _StoppedError

    try:
        found = minimize(
            programme.cost, programme.guess, jac=programme.cost_slopes, method="SLSQP", callback=step,
            bounds=Bounds(programme.low, programme.high), constraints=constraints,
            options={"ftol": tolerance * 1e-2, "maxiter": most},
        )  # fmt: skip
    except _StoppedError:
        return Solution(best.x, False, "stopped", best.n)
    is_solved = bool(found.success) and float(programme.excess(found.x).max(initial=0.0)) < 1e-6
    return Solution(found.x if is_solved else best.x, is_solved, str(found.message), int(found.nit))
