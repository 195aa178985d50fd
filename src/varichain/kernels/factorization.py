"""Cholesky factor of the Gram matrix in its envelope, and the solution with it.

Rows that depend on earlier ones are found by their pivots and dropped: their multiplier is zero. Rows are taken three
at a time, as when they are propagated.
"""

import math

import numpy as np

from varichain.kernels.jit import helper, routine

# A pivot that falls below this part of its diagonal is rounding: the row says nothing new.
DEPENDENT = 1e-9
# Pivots between these parts are doubtful: the order of elimination may have made them small.
SURELY_DEPENDENT, SURELY_INDEPENDENT = 1e-12, 1e-6


@routine
def factor_gram(
    # in: whether rows were chosen before, in `kept`
    chosen,
    # layout
    loops,
    # in and out
    rows,
    gram,
):
    """Cholesky factor of G in its envelope, in place, with reciprocals on the diagonal; dependent rows are dropped.

    Returns how sure the choice was: the smallest pivot that was kept and the largest that was dropped, each as a part
    of its diagonal.
    """
    smallest_kept, largest_dropped = 1.0, 0.0
    for l in range(len(loops)):
        last_row = loops[l].row + loops[l].n_rows
        for r in range(loops[l].row, last_row, 3):
            r1, r2 = min(r + 1, last_row - 1), min(r + 2, last_row - 1)
            sums = _eliminate_three(rows, r, r1, r2, gram)
            smallest, largest = _factor_three(chosen, rows, r, last_row, sums, gram)
            smallest_kept, largest_dropped = min(smallest_kept, smallest), max(largest_dropped, largest)
    return smallest_kept, largest_dropped


@routine
def _eliminate_three(rows, r0, r1, r2, gram):
    """Entries of three rows of a loop left of the group, and the products of these rows with each other.

    Rows of one loop begin at the same column. Where fewer than three are left, the last is done more than once, to no
    harm: all are read before any is written.
    """
    first = rows[r0].first
    s0, s1, s2 = rows[r0].entry - first, rows[r1].entry - first, rows[r2].entry - first
    p00, p10, p11, p20, p21, p22 = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    for c in range(first, r0):
        other = rows[c]
        start = other.entry - other.first
        t0, t1, t2 = gram[s0 + c], gram[s1 + c], gram[s2 + c]
        for j in range(max(first, other.first), c):
            x = gram[start + j]
            t0 -= gram[s0 + j] * x
            t1 -= gram[s1 + j] * x
            t2 -= gram[s2 + j] * x
        reciprocal = gram[start + c]  # zero if row c was dropped
        t0, t1, t2 = t0 * reciprocal, t1 * reciprocal, t2 * reciprocal
        gram[s0 + c] = t0
        gram[s1 + c] = t1
        gram[s2 + c] = t2
        p00 += t0 * t0
        p10 += t1 * t0
        p11 += t1 * t1
        p20 += t2 * t0
        p21 += t2 * t1
        p22 += t2 * t2
    return p00, p10, p11, p20, p21, p22


@helper
def _pivot(chosen, row, pivot):
    """Reciprocal of the diagonal entry, 0 if the row is dropped; and the pivot as a part of the diagonal."""
    part = pivot / row.norm if row.norm > 0.0 else 0.0
    if not chosen:
        row.kept = 1 if part > DEPENDENT else 0
    return (1.0 / math.sqrt(pivot) if row.kept else 0.0), part


@helper
def _factor_three(chosen, rows, r, last_row, sums, gram):
    """Factor of a group's own 3 x 3 block; returns the smallest pivot kept and the largest dropped."""
    p00, p10, p11, p20, p21, p22 = sums
    kept, dropped = 1.0, 0.0
    row = rows[r]
    place = row.entry + r - row.first
    d0, part = _pivot(chosen, row, gram[place] - p00)
    gram[place] = d0
    kept, dropped = (min(kept, part), dropped) if row.kept else (kept, max(dropped, part))
    if r + 1 >= last_row:
        return kept, dropped
    row = rows[r + 1]
    place = row.entry + r - row.first
    l10 = (gram[place] - p10) * d0
    d1, part = _pivot(chosen, row, gram[place + 1] - p11 - l10 * l10)
    gram[place] = l10
    gram[place + 1] = d1
    kept, dropped = (min(kept, part), dropped) if row.kept else (kept, max(dropped, part))
    if r + 2 >= last_row:
        return kept, dropped
    row = rows[r + 2]
    place = row.entry + r - row.first
    l20 = (gram[place] - p20) * d0
    l21 = (gram[place + 1] - p21 - l20 * l10) * d1
    d2, part = _pivot(chosen, row, gram[place + 2] - p22 - l20 * l20 - l21 * l21)
    gram[place] = l20
    gram[place + 1] = l21
    gram[place + 2] = d2
    kept, dropped = (min(kept, part), dropped) if row.kept else (kept, max(dropped, part))
    return kept, dropped


@routine
def choose_rows(
    # in
    gram,
    # out
    rows,
):
    """Choose independent rows with full pivoting: at each turn the row that says most beyond those chosen before.

    For doubtful cases only: cubic in the number of rows, and it allocates. Returns the smallest pivot kept and the
    largest left, as parts of their diagonals.
    """
    n = len(rows)
    G = np.zeros((n, n))
    for r in range(n):
        rows[r].kept = 0
        for c in range(rows[r].first, r + 1):
            # scaled to a unit diagonal: metres and radians compare
            scale = math.sqrt(rows[r].norm * rows[c].norm)
            G[r, c] = gram[rows[r].entry + c - rows[r].first] / scale if scale > 0.0 else 0.0
            G[c, r] = G[r, c]
    smallest_kept, largest_left = 1.0, 0.0
    for _ in range(n):
        best = -1
        for r in range(n):
            if not rows[r].kept and (best < 0 or G[r, r] > G[best, best]):
                best = r
        if G[best, best] <= DEPENDENT:
            largest_left = max(0.0, G[best, best])
            break
        rows[best].kept = 1
        smallest_kept = min(smallest_kept, G[best, best])
        for r in range(n):
            if not rows[r].kept:
                weight = G[r, best] / G[best, best]
                for c in range(n):
                    G[r, c] -= weight * G[best, c]
    return smallest_kept, largest_left


@routine
def solve_gram(rows, gram, multipliers):
    """Replace the right-hand sides b by x with G x = b, zero for dropped rows."""
    for r in range(len(rows)):
        row = rows[r]
        start = row.entry - row.first
        total = multipliers[r]
        for c in range(row.first, r):
            total -= gram[start + c] * multipliers[c]
        multipliers[r] = total * gram[start + r]
    for r in range(len(rows) - 1, -1, -1):
        row = rows[r]
        start = row.entry - row.first
        x = multipliers[r] * gram[start + r]
        multipliers[r] = x
        for c in range(row.first, r):
            multipliers[c] -= gram[start + c] * x
