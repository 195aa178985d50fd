"""Order of convergence of every method, through loops and ball joints too."""

from functools import cache

import numpy as np
import pytest

import varichain as vc
from movers import ball_loop, distance, four_bar, free_body, pendulum, spherical_pendulum

SPAN = 0.125  # [s]

EXACT = 1e-12
"""Tolerance of the reference, by extrapolation; Runge-Kutta steps of 60 us come to the same within 3e-13."""

ORDER = 0.6
"""Of the measured orders: steps are so long, for errors far above rounding, that the next term shows in the loops."""

UNBOUNDED = 1e9
"""Tolerance with which an adaptive method takes every step that it is given: what is left is its order."""

movers = pytest.mark.parametrize(
    "make", [pendulum, spherical_pendulum, free_body, four_bar, ball_loop], ids=lambda make: make.__name__
)


def final(make, method, n, tolerance=UNBOUNDED):
    """State at the end, after n steps; adaptive methods take more if the tolerance asks for them."""
    m, s = make()
    return vc.simulate(m, s, SPAN, method=method, step=SPAN / n, sample=SPAN, tolerance=tolerance).final


@cache
def reference(make):
    """State at the end, all but exact."""
    return final(make, "gbs", 1, EXACT)


@movers
@pytest.mark.parametrize(
    ("method", "order", "n"),
    [("euler", 1, 16), ("rk4", 4, 8), ("rk45", 5, 8), ("gbs", 6, 4)],
)
def test_order(make, method, order, n):
    """Half the step, 2^p times less error: p is 1, 4, 5, and 6 of an extrapolation of three midpoint rules."""
    coarse, fine = (distance(final(make, method, k), reference(make)) for k in (n, 2 * n))
    assert np.log2(coarse / fine) == pytest.approx(order, abs=ORDER)
