"""Lanes: four numbers in one, on which the processor works at once; rows of loops are taken four at a time.

A value of this type has +, - and * with another one or with a number, so that the arithmetic of `tuples` works on it
as it stands: a tuple of six lanes is four wrenches. Compilers find such parallels by themselves in simple loops only.
Without compiler, lanes are numpy arrays of four.
"""

from __future__ import annotations

import numpy as np

from varichain.kernels.jit import COMPILES, helper

__all__ = ["lane", "load_lanes", "pack", "spread", "store_lanes", "sum_lanes"]

if COMPILES:
    from varichain.kernels.lane_intrinsics import lane, load_lanes, pack, spread, store_lanes
else:

    def load_lanes(array, place):
        """Four numbers of an array, from a place on."""
        return array[place : place + 4].copy()

    def store_lanes(array, place, x):
        """Write four numbers into an array, from a place on."""
        array[place : place + 4] = x

    def spread(array, place):
        """One number of an array, four times."""
        return np.full(4, array[place])

    def pack(x0, x1, x2, x3):
        """Four numbers as lanes."""
        return np.array([x0, x1, x2, x3])

    def lane(x, i):
        """One of the four numbers; i is a constant."""
        return x[i]


@helper
def sum_lanes(x):
    """Sum of the four numbers."""
    return (lane(x, 0) + lane(x, 2)) + (lane(x, 1) + lane(x, 3))
