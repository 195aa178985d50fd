"""Roots: just after the crossing, with few calls."""

import math

import numpy as np
import pytest

from varichain.simulation.roots import crossing

LOCATED = 1e-11
FUNCTIONS = {
    "line": lambda t: t - 0.3,
    "steep": lambda t: math.expm1(40.0 * (t - 0.3)),
    "flat": lambda t: (t - 0.3) ** 3,
    "jump": lambda t: 1.0 if t > 0.3 else -1e-300,
    "cosine": lambda t: math.cos(3.0) - math.cos(10.0 * t),
    "huge": lambda t: 1e308 * math.copysign(1.0, t - 0.3) * (1.0 + t),
}


@pytest.mark.parametrize("f", FUNCTIONS.values(), ids=FUNCTIONS)
def test_a_crossing_is_located_just_after_it(f):
    """f is positive at the result and not positive at most the tolerance before; bisection would not be faster."""
    calls = []

    def counted(t):
        calls.append(t)
        return f(t)

    t = crossing(counted, 0.1, 0.31, LOCATED)
    assert f(t) > 0.0 and f(t - LOCATED) <= 0.0
    assert len(calls) <= 2 + math.ceil(math.log2(0.21 / LOCATED)) + 2  # one for rounding
    assert all(0.1 <= x <= 0.31 for x in calls)


def test_smooth_functions_need_few_calls():
    """A smooth function is located with less than half the calls of bisection."""
    calls = []
    crossing(lambda t: calls.append(t) or FUNCTIONS["cosine"](t), 0.1, 0.31, LOCATED)
    assert len(calls) < 17


def test_ends_are_answers_too():
    """An interval that begins after the crossing gives its beginning; one without a crossing its end."""
    assert crossing(lambda t: 1.0, 0.0, 1.0, LOCATED) == 0.0
    assert crossing(lambda t: -1.0, 0.0, 1.0, LOCATED) == 1.0


def test_neighbours_end_the_search():
    """Where floats are further apart than the tolerance, the result is the first float after the crossing."""
    wanted = 1e6 + 0.25
    t = crossing(lambda t: t - wanted, 1e6, 1e6 + 1.0, 1e-14)
    assert t == np.nextafter(wanted, np.inf)
