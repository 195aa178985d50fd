"""The one solve of all constraints: rows propagated through the articulated tree, their Gram matrix, its factor.

With K the rows and M the mass matrix, G = K M^-1 K^T needs neither: a row's wrenches walk from their two bodies to the
root, e_kr = s_k . f, f <- f - U_k e_kr / d_k, and G_rs = sum over shared freedoms of e_kr e_ks / d_k. Rows of loops
that share no freedom never meet, so G lives in an envelope. Rows that depend on earlier ones are found by their pivots
and dropped: their multiplier is zero.

Rows are taken three at a time, for three independent chains of arithmetic keep the processor busy where one would wait
for itself; a loop's propagated rows are padded with zeros to a multiple of three.
"""

import math

import numpy as np

from varichain.kernels.jit import helper, routine
from varichain.kernels.records import HELICAL, LINEAR
from varichain.kernels.tuples import ZERO6, add6, add_scaled6, angular, dot3, dot6, linear, load3, load6

# A pivot that falls below this part of its diagonal is rounding: the row says nothing new.
DEPENDENT = 1e-9
# Pivots between these parts are doubtful: the order of elimination may have made them small.
SURELY_DEPENDENT, SURELY_INDEPENDENT = 1e-12, 1e-6
# A diagonal below this part of what the row's freedoms could make of it counts as that much: what is left of a row
# that nothing moves, as in planar mechanisms, is rounding, and must not be measured by itself.
LEAST_DIAGONAL = 1e-3


@helper
def padded(n):
    """Number of rows rounded up to a multiple of three."""
    return 3 * ((n + 2) // 3)


@routine
def walk(
    # in: three wrenches, freedoms support[first : last]
    f,
    support,
    first,
    last,
    dofs,
    stride,
    # out
    propagated,
    place,
):
    """Walk three wrenches through freedoms towards the root; returns what is left of them, and the next place."""
    f0, f1, f2 = f
    for i in range(first, last):
        dof = dofs[support[i]]
        s, U, d_inverse = load6(dof.s), load6(dof.U), dof.d_inverse
        e0, e1, e2 = dot6(s, f0), dot6(s, f1), dot6(s, f2)
        f0 = add_scaled6(f0, -e0 * d_inverse, U)
        f1 = add_scaled6(f1, -e1 * d_inverse, U)
        f2 = add_scaled6(f2, -e2 * d_inverse, U)
        propagated[place] = e0
        propagated[place + 1] = e1
        propagated[place + 2] = e2
        place += stride
    return (f0, f1, f2), place


@helper
def _wrench_A(rows, r, last):
    return load6(rows[r].f_A) if r < last else ZERO6


@helper
def _wrench_B(rows, r, last):
    """What acts on body B: the opposite."""
    if r >= last:
        return ZERO6
    f = load6(rows[r].f_B)
    return -f[0], -f[1], -f[2], -f[3], -f[4], -f[5]


@helper
def propagate(dofs, loops, rows, support, propagated):
    """Propagate the rows of all loops: body A's own way, body B's own way, then the way they share."""
    for l in range(len(loops)):
        loop = loops[l]
        last_row, stride = loop.row + loop.n_rows, padded(loop.n_rows)
        end_A = loop.support + loop.n_support_A
        end_B = end_A + loop.n_support_B
        end = loop.support + loop.n_support
        for r in range(loop.row, last_row, 3):
            place = loop.propagated + r - loop.row
            f = (_wrench_A(rows, r, last_row), _wrench_A(rows, r + 1, last_row), _wrench_A(rows, r + 2, last_row))
            f, place = walk(f, support, loop.support, end_A, dofs, stride, propagated, place)
            if end_A < end:
                g = (_wrench_B(rows, r, last_row), _wrench_B(rows, r + 1, last_row), _wrench_B(rows, r + 2, last_row))
                g, place = walk(g, support, end_A, end_B, dofs, stride, propagated, place)
                if end_B < end:
                    f = (add6(f[0], g[0]), add6(f[1], g[1]), add6(f[2], g[2]))
                    walk(f, support, end_B, end, dofs, stride, propagated, place)


@helper
def _add_product(sums, propagated, e, g, d_inverse):
    """Add the outer product of e[0:3] / d and g[0:3] to nine sums."""
    a0, a1, a2 = propagated[e] * d_inverse, propagated[e + 1] * d_inverse, propagated[e + 2] * d_inverse
    b0, b1, b2 = propagated[g], propagated[g + 1], propagated[g + 2]
    return (
        sums[0] + a0 * b0,
        sums[1] + a0 * b1,
        sums[2] + a0 * b2,
        sums[3] + a1 * b0,
        sums[4] + a1 * b1,
        sums[5] + a1 * b2,
        sums[6] + a2 * b0,
        sums[7] + a2 * b1,
        sums[8] + a2 * b2,
    )


_NINE_ZEROS = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)


@helper
def _store_block(sums, rows, r, last_row, c, last_column, gram):
    """Write a block of G at rows r.. and columns c.., without the padding and what is above the diagonal."""
    for i in range(3):
        if r + i < last_row:
            row = rows[r + i]
            place = row.entry - row.first
            for j in range(3):
                if c + j < last_column and c + j <= r + i:
                    gram[place + c + j] = sums[3 * i + j]


@routine
def _own_block(loop, i, j, support, dofs, propagated):
    """Block (i, j) of a loop's rows with themselves."""
    stride = padded(loop.n_rows)
    sums = _NINE_ZEROS
    place = loop.propagated
    for k in range(loop.support, loop.support + loop.n_support):
        sums = _add_product(sums, propagated, place + i, place + j, dofs[support[k]].d_inverse)
        place += stride
    return sums


@routine
def _pair_block(pair, i, j, shared, dofs, propagated):
    """Block (i, j) of a loop's rows with those of an earlier loop: over the freedoms that both need."""
    sums = _NINE_ZEROS
    for k in range(pair.shared, pair.shared + 3 * pair.n_shared, 3):
        d_inverse = dofs[shared[k]].d_inverse
        sums = _add_product(sums, propagated, shared[k + 1] + i, shared[k + 2] + j, d_inverse)
    return sums


@routine
def fill_gram(
    # layout
    loops,
    pairs,
    support,
    shared,
    # in
    dofs,
    propagated,
    # out
    rows,
    gram,
):
    """Lower triangle of G, row by row from each row's first entry on."""
    for l in range(len(loops)):
        loop = loops[l]
        n, last_row = loop.n_rows, loop.row + loop.n_rows
        if n == 0:
            continue
        if rows[loop.row].first < loop.row:
            _clear(rows, loop, gram)
        for i in range(0, n, 3):
            for j in range(0, i + 3, 3):
                sums = _own_block(loop, i, j, support, dofs, propagated)
                _store_block(sums, rows, loop.row + i, last_row, loop.row + j, last_row, gram)
        for p in range(loop.pair, loop.pair + loop.n_pairs):
            earlier = loops[pairs[p].loop]
            last_column = earlier.row + earlier.n_rows
            for i in range(0, n, 3):
                for j in range(0, earlier.n_rows, 3):
                    sums = _pair_block(pairs[p], i, j, shared, dofs, propagated)
                    _store_block(sums, rows, loop.row + i, last_row, earlier.row + j, last_column, gram)
        turning, moving = _greatest(loop, support, dofs)
        for r in range(loop.row, last_row):
            row = rows[r]
            size = moving if row.kind == LINEAR or row.kind == HELICAL else turning
            row.norm = max(gram[row.entry + r - row.first], LEAST_DIAGONAL * size)


@routine
def _greatest(loop, support, dofs):
    """Largest diagonals that rows of a loop may have, angular and linear: motion at its point per force, any direction.

    What both ways share moves the loop as a whole. The two terms of s + w x p are added up, for they may cancel.
    """
    turning, moving = 0.0, 0.0
    x = load3(loop.x_A)
    end_A = loop.support + loop.n_support_A
    for i in range(loop.support, end_A + loop.n_support_B):
        if i == end_A:
            x = load3(loop.x_B)
        dof = dofs[support[i]]
        s = load6(dof.s)
        w, v = angular(s), linear(s)
        square = dot3(w, w)
        turning += dof.d_inverse * square
        moving += dof.d_inverse * (dot3(v, v) + square * dot3(x, x))
    return turning, moving


@helper
def _clear(rows, loop, gram):
    """Zero the entries with earlier loops; those of loops that share nothing stay so until the factor fills in."""
    for r in range(loop.row, loop.row + loop.n_rows):
        for place in range(rows[r].entry, rows[r].entry + loop.row - rows[r].first):
            gram[place] = 0.0


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


@helper
def _three(multipliers, r, last_row):
    """Multipliers of a group of rows, zero for the padding."""
    return (
        multipliers[r],
        multipliers[r + 1] if r + 1 < last_row else 0.0,
        multipliers[r + 2] if r + 2 < last_row else 0.0,
    )


@routine
def add_multipliers(loops, support, propagated, multipliers, dofs):
    """Add the rows' forces to the freedoms they act through: u_k <- u_k + sum e_kr x_r."""
    for l in range(len(loops)):
        loop = loops[l]
        last_row, stride = loop.row + loop.n_rows, padded(loop.n_rows)
        for r in range(loop.row, last_row, 3):
            x = _three(multipliers, r, last_row)
            place = loop.propagated + r - loop.row
            for i in range(loop.support, loop.support + loop.n_support):
                total = propagated[place] * x[0] + propagated[place + 1] * x[1] + propagated[place + 2] * x[2]
                dofs[support[i]].u += total
                place += stride


@routine
def subtract_free(loops, support, propagated, dofs, multipliers):
    """Subtract from each row's right-hand side what the freedoms' own forces do to it: sum e_kr u_k / d_k."""
    for l in range(len(loops)):
        loop = loops[l]
        last_row, stride = loop.row + loop.n_rows, padded(loop.n_rows)
        for r in range(loop.row, last_row, 3):
            t0, t1, t2 = 0.0, 0.0, 0.0
            place = loop.propagated + r - loop.row
            for i in range(loop.support, loop.support + loop.n_support):
                dof = dofs[support[i]]
                free = dof.u * dof.d_inverse
                t0 += propagated[place] * free
                t1 += propagated[place + 1] * free
                t2 += propagated[place + 2] * free
                place += stride
            multipliers[r] -= t0
            if r + 1 < last_row:
                multipliers[r + 1] -= t1
            if r + 2 < last_row:
                multipliers[r + 2] -= t2
