"""Numbers only: the algorithms on record arrays and plain arrays, compiled by Numba.

Rules of the house: no objects, strings, exceptions or allocation; signatures in sections layout / in / out; one
algorithm per file; the same source runs with NUMBA_DISABLE_JIT=1. All vectors are in world axes about a reference
point per tree, the origin of its root body, so that a figure far from the world's origin loses no digits.
"""
