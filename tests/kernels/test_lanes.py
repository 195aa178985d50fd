"""Lanes against numpy's arrays of four."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose, assert_array_equal

from varichain.kernels.jit import INTEGER, VECTOR, kernel
from varichain.kernels.lanes import (
    add_both_scaled,
    add_scaled,
    lane,
    load_lanes,
    pack,
    spread,
    store_lanes,
    sum_lanes,
)


@kernel(VECTOR, INTEGER, VECTOR)
def _work(array, place, out):
    """Each operation once, with lanes that begin anywhere; a kernel, since nothing else can be called from Python."""
    x, y = load_lanes(array, place), load_lanes(array, place + 4)
    store_lanes(out, 0, x + y)
    store_lanes(out, 4, x - y)
    store_lanes(out, 8, x * y)
    store_lanes(out, 12, 2.0 * x)
    store_lanes(out, 16, x * 3.0)
    store_lanes(out, 20, spread(array, place + 1))
    store_lanes(out, 24, pack(lane(x, 3), lane(x, 2), lane(x, 1), lane(x, 0)))
    x += y
    x -= y * 0.5
    store_lanes(out, 28, x)
    out[32] = sum_lanes(y)


@given(st.lists(st.floats(-1e6, 1e6), min_size=11, max_size=11))
def test_lanes_compute_as_four_numbers_do(numbers):
    """Sums, differences, products, loads, stores and picks of lanes are those of numpy, to the bit."""
    array = np.array(numbers)
    for place in range(4):
        x, y = array[place : place + 4], array[place + 4 : place + 8]
        out = np.full(34, np.nan)
        _work(array, place, out)
        wanted = [x + y, x - y, x * y, 2.0 * x, x * 3.0, np.full(4, x[1]), x[::-1]]
        assert_array_equal(out[:28], np.concatenate(wanted))
        # halves are exact, so a fused multiply and add rounds as the two do
        assert_array_equal(out[28:32], (x + y) - y * 0.5)
        assert out[32] == (y[0] + y[2]) + (y[1] + y[3])
        assert np.isnan(out[33])  # nothing is written behind


@kernel(VECTOR, VECTOR, INTEGER, INTEGER, VECTOR, VECTOR)
def _add(x, y, first, last, once, twice):
    """Parts of arrays, scaled, added to another one."""
    add_scaled(once, 0.5, x, first, last)
    add_both_scaled(twice, 0.5, x, -2.0, y, first, last)


def test_parts_of_arrays_are_added():
    """From any place to any other, and nothing beside them."""
    rng = np.random.default_rng(0)
    x, y, z = rng.normal(size=(3, 11))
    for first in range(11):
        for last in range(first, 12):
            once, twice = z.copy(), z.copy()
            _add(x, y, first, last, once, twice)
            part = np.zeros(11)
            part[first:last] = 1.0
            assert_allclose(once, z + 0.5 * part * x, rtol=0.0, atol=1e-15)  # a sum rounded once or twice
            assert_allclose(twice, z + part * (0.5 * x - 2.0 * y), rtol=0.0, atol=2e-15)
            assert_array_equal(once[part == 0.0], z[part == 0.0])
            assert_array_equal(twice[part == 0.0], z[part == 0.0])
