"""Cholesky factor A = U^T U of a dense matrix, and solutions with it, four numbers at a time.

A has its upper triangle row by row, with rows that are multiples of four long. Rows that depend on earlier ones are
found by their pivots and dropped: their entry of a solution is zero.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.lanes import load_lanes, pack, spread, store_lanes, sum_lanes

_DEPENDENT = 1e-14  # pivots below this part of their diagonal entry are rounding


@helper
def _factor_rows(A, n, k0, diagonal):
    """Factor rows k0 to k0 + 3, of which all earlier ones have been subtracted."""
    for k in range(k0, k0 + 4):
        pivot = A[k * n + k]
        inverse = 1.0 / math.sqrt(pivot) if pivot > _DEPENDENT * diagonal[k] else 0.0
        for j in range(k0, n, 4):
            store_lanes(A, k * n + j, load_lanes(A, k * n + j) * inverse)
        for i in range(k + 1, k0 + 4):
            x = spread(A, k * n + i)
            for j in range(k0, n, 4):
                store_lanes(A, i * n + j, load_lanes(A, i * n + j) - x * load_lanes(A, k * n + j))
        A[k * n + k] = inverse


@routine
def factor_dense(
    # in
    n,
    # in and out: (n * n)
    A,
    # work: (n)
    diagonal,
):
    """Factor U in place, with reciprocals on its diagonal; what is below the diagonal is lost. n is a multiple of 4."""
    for k in range(n):
        diagonal[k] = A[k * n + k]
    for k0 in range(0, n, 4):
        _factor_rows(A, n, k0, diagonal)
        a, b, c, d = k0 * n, (k0 + 1) * n, (k0 + 2) * n, (k0 + 3) * n
        for i in range(k0 + 4, n):
            p, q, r, s = spread(A, a + i), spread(A, b + i), spread(A, c + i), spread(A, d + i)
            for j in range(i - i % 4, n, 4):
                x = load_lanes(A, i * n + j)
                x -= p * load_lanes(A, a + j)
                x -= q * load_lanes(A, b + j)
                x -= r * load_lanes(A, c + j)
                x -= s * load_lanes(A, d + j)
                store_lanes(A, i * n + j, x)


@routine
def solve_transposed(
    # in: the factor
    A,
    n,
    # in and out (n)
    x,
):
    """Replace b by the solution of U^T x = b."""
    for k in range(n):
        x[k] *= A[k * n + k]
        one = spread(x, k)
        first = k + 1
        for j in range(first, min(n, first + (-first) % 4)):
            x[j] -= x[k] * A[k * n + j]
        for j in range(first + (-first) % 4, n, 4):
            store_lanes(x, j, load_lanes(x, j) - one * load_lanes(A, k * n + j))


@routine
def solve_factor(
    # in: the factor
    A,
    n,
    # in and out (n)
    x,
):
    """Replace b by the solution of U x = b."""
    for k in range(n - 1, -1, -1):
        first, total, own = k + 1, pack(0.0, 0.0, 0.0, 0.0), x[k]
        for j in range(first, min(n, first + (-first) % 4)):
            own -= x[j] * A[k * n + j]
        for j in range(first + (-first) % 4, n, 4):
            total += load_lanes(x, j) * load_lanes(A, k * n + j)
        x[k] = (own - sum_lanes(total)) * A[k * n + k]


@helper
def dot(x, y):
    """Sum of products; the length is a multiple of 4."""
    total = pack(0.0, 0.0, 0.0, 0.0)
    for j in range(0, len(x), 4):
        total += load_lanes(x, j) * load_lanes(y, j)
    return sum_lanes(total)


@helper
def add_multiple(x, factor, y):
    """Add a multiple of y to x; the length is a multiple of 4."""
    for j in range(0, len(x), 4):
        store_lanes(x, j, load_lanes(x, j) + load_lanes(y, j) * factor)


@helper
def copy(x, out):
    """Copy x to out; the length is a multiple of 4."""
    for j in range(0, len(x), 4):
        store_lanes(out, j, load_lanes(x, j))
