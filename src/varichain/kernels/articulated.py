"""Articulated inertias about the reference point: symmetric 6x6 matrices, and forces beside them, in lanes.

Stored column by column, each as two lanes: four entries, then two and two zeros. In hand they are a pair of tuples, the
upper lanes of the six columns and the lower ones; 6-vectors are pairs of lanes.
"""

from varichain.kernels.jit import helper
from varichain.kernels.lanes import lane, load_lanes, pack, store_lanes, sum_lanes


@helper
def store_articulated(a, m, h, I):
    """Write a rigid inertia as an articulated one: [[I, [h]x], [[h]x^T, m 1]]."""
    store_lanes(a, 0, pack(I[0], I[1], I[2], 0.0))
    store_lanes(a, 4, pack(-h[2], h[1], 0.0, 0.0))
    store_lanes(a, 8, pack(I[1], I[3], I[4], h[2]))
    store_lanes(a, 12, pack(0.0, -h[0], 0.0, 0.0))
    store_lanes(a, 16, pack(I[2], I[4], I[5], -h[1]))
    store_lanes(a, 20, pack(h[0], 0.0, 0.0, 0.0))
    store_lanes(a, 24, pack(0.0, h[2], -h[1], m))
    store_lanes(a, 28, pack(0.0, 0.0, 0.0, 0.0))
    store_lanes(a, 32, pack(-h[2], 0.0, h[0], 0.0))
    store_lanes(a, 36, pack(m, 0.0, 0.0, 0.0))
    store_lanes(a, 40, pack(h[1], -h[0], 0.0, 0.0))
    store_lanes(a, 44, pack(0.0, m, 0.0, 0.0))


@helper
def load_articulated(a):
    """Upper and lower lanes of the columns."""
    return (
        (
            load_lanes(a, 0),
            load_lanes(a, 8),
            load_lanes(a, 16),
            load_lanes(a, 24),
            load_lanes(a, 32),
            load_lanes(a, 40),
        ),
        (
            load_lanes(a, 4),
            load_lanes(a, 12),
            load_lanes(a, 20),
            load_lanes(a, 28),
            load_lanes(a, 36),
            load_lanes(a, 44),
        ),
    )


@helper
def _add_lanes(a, place, x):
    store_lanes(a, place, load_lanes(a, place) + x)


@helper
def add_articulated(a, inertia):
    """Add to a stored inertia: no transformation, all share one reference point."""
    upper, lower = inertia
    _add_lanes(a, 0, upper[0])
    _add_lanes(a, 4, lower[0])
    _add_lanes(a, 8, upper[1])
    _add_lanes(a, 12, lower[1])
    _add_lanes(a, 16, upper[2])
    _add_lanes(a, 20, lower[2])
    _add_lanes(a, 24, upper[3])
    _add_lanes(a, 28, lower[3])
    _add_lanes(a, 32, upper[4])
    _add_lanes(a, 36, lower[4])
    _add_lanes(a, 40, upper[5])
    _add_lanes(a, 44, lower[5])


@helper
def _combine(columns, s):
    return (columns[0] * s[0] + columns[1] * s[1] + columns[2] * s[2]) + (
        columns[3] * s[3] + columns[4] * s[4] + columns[5] * s[5]
    )


@helper
def articulated_mul(inertia, s):
    """U = I_A s."""
    return _combine(inertia[0], s), _combine(inertia[1], s)


@helper
def deflate(inertia, U, d_inverse):
    """I_A - U U^T / d: inertia that is left after the freedom gives way."""
    upper, lower = inertia
    x, y = U[0] * d_inverse, U[1] * d_inverse
    u0, u1, u2, u3, u4, u5 = lane(U[0], 0), lane(U[0], 1), lane(U[0], 2), lane(U[0], 3), lane(U[1], 0), lane(U[1], 1)
    return (
        (
            upper[0] - x * u0,
            upper[1] - x * u1,
            upper[2] - x * u2,
            upper[3] - x * u3,
            upper[4] - x * u4,
            upper[5] - x * u5,
        ),
        (
            lower[0] - y * u0,
            lower[1] - y * u1,
            lower[2] - y * u2,
            lower[3] - y * u3,
            lower[4] - y * u4,
            lower[5] - y * u5,
        ),
    )


@helper
def load_pair(a):
    """A stored 6-vector, followed by two zeros."""
    return load_lanes(a, 0), load_lanes(a, 4)


@helper
def store_pair(a, x):
    """Write a 6-vector and two zeros."""
    store_lanes(a, 0, x[0])
    store_lanes(a, 4, x[1])


@helper
def store_force(a, x):
    """Write a tuple of six and two zeros; earlier values, finite or not, are overwritten."""
    store_lanes(a, 0, pack(x[0], x[1], x[2], x[3]))
    store_lanes(a, 4, pack(x[4], x[5], 0.0, 0.0))


@helper
def dot_pair(x, y):
    """Product of two 6-vectors."""
    return sum_lanes(x[0] * y[0] + x[1] * y[1])


@helper
def add_scaled_pair(x, k, y):
    """Return x + k y."""
    return x[0] + y[0] * k, x[1] + y[1] * k
