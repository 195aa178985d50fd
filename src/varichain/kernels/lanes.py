"""Lanes: four numbers in one, on which the processor works at once; rows of loops are taken four at a time.

A value of this type has +, - and * with another one or with a number, so that the arithmetic of `tuples` works on it
as it stands: a tuple of six lanes is four wrenches. Compilers find such parallels by themselves in simple loops only.
Without compiler, lanes are numpy arrays of four.
"""

from __future__ import annotations

import numpy as np

from varichain.kernels.jit import COMPILES, helper

__all__ = ["add_both_scaled", "add_scaled", "lane", "load_lanes", "pack", "spread", "store_lanes", "sum_lanes"]

if COMPILES:
    from varichain.kernels.lane_intrinsics import lane, load_lanes, pack, spread, store_lanes

    @helper
    def add_scaled(y, factor, x, first, last):
        """Add factor x to y, from one place on to before another."""
        j = first
        while j + 4 <= last:
            store_lanes(y, j, load_lanes(y, j) + factor * load_lanes(x, j))
            j += 4
        while j < last:
            y[j] += factor * x[j]
            j += 1

    @helper
    def add_both_scaled(z, a, x, b, y, first, last):
        """Add a x + b y to z, from one place on to before another."""
        j = first
        while j + 4 <= last:
            store_lanes(z, j, load_lanes(z, j) + a * load_lanes(x, j) + b * load_lanes(y, j))
            j += 4
        while j < last:
            z[j] = z[j] + a * x[j] + b * y[j]
            j += 1
else:

    def add_scaled(y, factor, x, first, last):
        """Add factor x to y, from one place on to before another."""
        y[first:last] += factor * x[first:last]

    def add_both_scaled(z, a, x, b, y, first, last):
        """Add a x + b y to z, from one place on to before another."""
        z[first:last] += a * x[first:last] + b * y[first:last]

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
