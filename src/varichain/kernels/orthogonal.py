"""Factor of the Gram matrix from an orthogonalization of the rows, where they nearly depend on each other.

G = Y Y^T with Y_rk = e_kr / sqrt(d_k): the rows in the metric of the masses. The Cholesky factor of G works with the
squares of singular values and loses those below 1e-7 of the largest; Gram-Schmidt on Y, done twice, loses nothing. A
solution with this factor and one step of refinement is as good as one by QR (corrected seminormal equations).
"""

import math

import numpy as np

from varichain.kernels.factorization import store_inverse
from varichain.kernels.gram import tile_at
from varichain.kernels.jit import allocates, helper, routine
from varichain.kernels.propagation import groups_of
from varichain.kernels.tables import open_dofs, open_loops, open_propagated, open_rows, open_support

# A row that Cholesky's pivots keep with more than the first part of its diagonal is independent without question, and
# one that they drop with less than the second is redundant: it may be rounding.
SURELY_INDEPENDENT, SURELY_REDUNDANT = 1e-7, 1e-13
# Rounding of a pivot grows with the reciprocal of the smallest before it: 1e-16 / 2e-3 is below what is redundant.
SURE_BESIDE_DROPPED = 2e-3


@helper
def _dot(x, y):
    total = 0.0
    for k in range(len(x)):
        total += x[k] * y[k]
    return total


@helper
def _subtract(x, part, y):
    for k in range(len(x)):
        x[k] -= part * y[k]


@routine
@allocates
def _metric_rows(loops, support, dofs, propagated, rows):
    """Y, and the sizes that pivots are compared with.

    Needs: rows propagated.
    """
    n_soft = 0
    for r in range(len(rows)):
        n_soft += 1 if rows[r].compliance > 0.0 else 0
    Y, sizes = np.zeros((len(rows), len(dofs) + n_soft)), np.zeros(len(rows))
    for l in range(len(loops)):
        loop = loops[l]
        place, stride = loop.propagated, 4 * groups_of(loop.n_rows)
        for i in range(loop.support, loop.support + loop.n_support):
            k = support[i]
            root = math.sqrt(dofs[k].d_inverse)
            for r in range(loop.n_rows):
                Y[loop.row + r, k] = propagated[place + r] * root
            place += stride
    place = len(dofs)
    for r in range(len(rows)):
        sizes[r] = math.sqrt(rows[r].norm)
        if rows[r].compliance > 0.0:  # a direction of its own
            Y[r, place] = math.sqrt(rows[r].compliance)
            place += 1
    return Y, sizes


@routine
@allocates
def _choose_rows(Y, sizes, rows):
    """Choose independent rows with full pivoting: each time the one with most beyond those chosen before.

    Soft rows are all kept, and have no say. Returns the smallest square kept and the largest left, as parts of the
    rows' own.
    """
    n = len(rows)
    left = Y.copy()
    for r in range(n):
        rows[r].kept = 1 if rows[r].compliance > 0.0 else 0
    smallest_kept, largest_left = 1.0, 0.0
    for _ in range(n):
        best, most = -1, 0.0
        for r in range(n):
            square = 0.0 if rows[r].kept else _dot(left[r], left[r])
            if square > rows[r].least and square / (sizes[r] * sizes[r]) > most:
                best, most = r, square / (sizes[r] * sizes[r])
        if best < 0:
            break
        rows[best].kept = 1
        smallest_kept = min(smallest_kept, most)
        square = _dot(left[best], left[best])
        for r in range(n):
            if not rows[r].kept:
                _subtract(left[r], _dot(left[r], left[best]) / square, left[best])
    for r in range(n):
        if not rows[r].kept and sizes[r] > 0.0:
            largest_left = max(largest_left, _dot(left[r], left[r]) / (sizes[r] * sizes[r]))
    return smallest_kept, largest_left


@routine
def _write_factor(L, groups, rows, gram):
    """Write the factor in the tiles of G, as `factor_gram` does, with zeros for dropped rows."""
    for g in range(len(groups)):
        group = groups[g]
        for place in range(group.entry, tile_at(group, g) + 16):
            gram[place] = 0.0
        for i in range(group.n_rows):
            r = group.row + i
            if not rows[r].kept:
                continue
            for h in range(group.first, g + 1):
                for j in range(groups[h].n_rows):
                    c = groups[h].row + j
                    if c < r:
                        gram[tile_at(group, h) + 4 * j + i] = L[r, c]
                    elif c == r:
                        gram[tile_at(group, h) + 4 * j + i] = 1.0 / L[r, r]
        store_inverse(gram, tile_at(group, g))


@helper
def count_dropped(rows):
    """Number of rows that the last factor has dropped, of those that constrain something."""
    n_dropped = 0
    for r in range(len(rows)):
        n_dropped += not (rows[r].kept or rows[r].is_open or rows[r].compliance > 0.0)
    return n_dropped


@routine
@allocates
def largest_dropped(table):
    """Largest square of what dropped rows have beyond those kept, as a part of their own.

    Measured by the rows themselves, it is right to rounding of rows, where pivots of G are to that of their squares.

    Needs: rows propagated.
    """
    dofs, rows = open_dofs(table), open_rows(table)
    Y, sizes = _metric_rows(open_loops(table), open_support(table), dofs, open_propagated(table), rows)
    largest = 0.0
    for is_kept in (True, False):
        for r in range(len(rows)):
            if bool(rows[r].kept) != is_kept or sizes[r] == 0.0:
                continue
            for _ in range(2):
                for c in range(r if is_kept else len(rows)):
                    if rows[c].kept:
                        _subtract(Y[r], _dot(Y[r], Y[c]), Y[c])
            square = _dot(Y[r], Y[r])
            if is_kept:
                for k in range(Y.shape[1]):
                    Y[r, k] /= math.sqrt(square)
            else:
                largest = max(largest, square / (sizes[r] * sizes[r]))
    return largest


@routine
@allocates
def orthogonal_factor(
    # layout
    loops,
    groups,
    support,
    # in
    dofs,
    propagated,
    # out
    rows,
    gram,
):
    """Factor of G as `factor_gram` leaves it, from the rows themselves; dependent rows are dropped.

    For rows that nearly depend only: cubic in the number of rows, and it allocates. Returns the smallest square kept
    and the largest left, as parts of the rows' own.

    Needs: rows propagated.
    """
    Y, sizes = _metric_rows(loops, support, dofs, propagated, rows)
    sure = _choose_rows(Y, sizes, rows)
    n = len(rows)
    L = np.zeros((n, n))
    for r in range(n):
        if not rows[r].kept:
            continue
        for _ in range(2):  # twice is enough: the second pass removes the rounding of the first
            for c in range(r):
                if rows[c].kept:
                    part = _dot(Y[r], Y[c])
                    L[r, c] += part
                    _subtract(Y[r], part, Y[c])
        L[r, r] = math.sqrt(_dot(Y[r], Y[r]))
        for k in range(Y.shape[1]):
            Y[r, k] /= L[r, r]
    _write_factor(L, groups, rows, gram)
    return sure
