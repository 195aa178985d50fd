"""Calls by address: a result never lands where there is no room for it."""

import numpy as np
import pytest

from lane import jit_only
from varichain.kernels.jit import VECTOR, kernel
from varichain.kernels.rows import ROOM, address_of_kernel


@kernel(VECTOR)
def _three(x):
    return x[0], x[1], x[2]


@kernel(VECTOR)
def _two(x):
    return x[0], x[1]


@kernel(VECTOR)
def _one(x):
    return x[0]


@kernel(VECTOR)
def _none(x):
    x[0] = 1.0


@jit_only
def test_a_result_without_room_is_refused():
    """The address of a kernel is made for one type of result, or for any that fits into 16 bytes."""
    for function in (_two, _one, _none):
        assert address_of_kernel(function, ROOM) != 0
    for function, like in ((_two, (1.0, 2.0)), (_one, 0.0), (_none, None)):
        assert address_of_kernel(function, like) != 0
    for function, like in ((_three, ROOM), (_one, 0), (_one, None), (_two, 0.0), (_none, 0)):
        with pytest.raises(TypeError, match=rf"kernel {function.__name__} returns .* is expected"):
            address_of_kernel(function, like)
    assert _three(np.arange(3.0)) == (0.0, 1.0, 2.0)
