"""Fused multiply-add: exactly where the sources have a product in a sum or a difference."""

from fractions import Fraction

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from lane import jit_only
from varichain.kernels.jit import VECTOR, helper, kernel
from varichain.kernels.lanes import load_lanes, store_lanes


@helper
def _product(a, b):
    return a * b


@kernel(VECTOR, VECTOR)
def _work(x, out):
    a, b, c, d = x[0], x[1], x[2], x[3]
    out[0] = a * b + c
    out[1] = c + a * b
    out[2] = a * b - c
    out[3] = c - a * b
    out[4] = a * b + c * d
    out[5] = a * b - c * d
    out[6] = _product(a, b) + c
    twice = a * b
    out[7] = twice + c
    out[8] = twice - d
    out[9] = c
    out[9] -= a * b
    store_lanes(out, 10, load_lanes(x, 0) * load_lanes(x, 4) - load_lanes(x, 2))


def _rounded(*terms):
    """Sum of products, rounded once."""
    return float(sum(np.prod([Fraction(float(x)) for x in term]) for term in terms))


# No result is so small that it loses digits, and none is zero: a sum that vanishes has no sign here.
_NUMBERS = st.floats(1e-3, 1e3) | st.floats(-1e3, -1e3 / 7)


@jit_only
@given(st.lists(_NUMBERS, min_size=8, max_size=8))
def test_products_in_sums_are_rounded_once(numbers):
    """a b + c is rounded once, for numbers and lanes; not across helpers, nor where the product has a second use."""
    x, out = np.array(numbers), np.empty(14)
    a, b, c, d = x[:4]
    _work(x, out)
    sums = [_rounded((a, b), (c,))] * 2 + [_rounded((a, b), (-c,)), _rounded((c,), (-a, b))]
    sums += [_rounded((a * b,), (c, d)), _rounded((a * b,), (-c, d))]
    sums += [a * b + c, a * b + c, a * b - d, _rounded((c,), (-a, b))]
    sums += [_rounded((x[i], x[4 + i]), (-x[2 + i],)) for i in range(4)]
    assert out.tolist() == sums
