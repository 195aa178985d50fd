"""The one solve of all constraints: rows propagated through the articulated tree, their Gram matrix, its factor.

With K the rows and M the mass matrix, G = K M^-1 K^T needs neither: a row's wrenches walk from their two bodies to the
root, e_kr = s_k . f, f <- f - U_k e_kr / d_k, and G_rs = sum over shared freedoms of e_kr e_ks / d_k. Rows of loops that
share no freedom never meet, so G lives in an envelope. Rows that depend on earlier ones are found by their pivots and
dropped: their multiplier is zero.
"""

import math

import numpy as np

from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import add6, add_scaled6, dot6, load6

# A pivot that falls below this part of its diagonal is rounding: the row says nothing new.
DEPENDENT = 1e-9
# Pivots between these parts are doubtful: the order of elimination may have made them small.
SURELY_DEPENDENT, SURELY_INDEPENDENT = 1e-12, 1e-6


@routine
def propagate_loop(
    # layout
    loop,
    support,
    # in
    bodies,
    dofs,
    rows,
    # out: (n_support, n_rows) from `start` on
    propagated,
    start,
):
    """Walk each row's two wrenches towards the root; where their ways meet they add up."""
    n = loop.n_rows
    for j in range(n):
        row = rows[loop.row + j]
        f_A = load6(row.f_A)
        f_B = load6(row.f_B)
        f_B = (-f_B[0], -f_B[1], -f_B[2], -f_B[3], -f_B[4], -f_B[5])
        k_A = bodies[loop.body_A].dof + bodies[loop.body_A].n_dof - 1
        k_B = bodies[loop.body_B].dof + bodies[loop.body_B].n_dof - 1
        place = start + j
        for i in range(loop.support, loop.support + loop.n_support):
            k = support[i]  # the outermost freedom that neither wrench has passed yet
            dof = dofs[k]
            if k_A == k_B:
                f_A = add6(f_A, f_B)
                f_B = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
            if k == k_A:
                e = dot6(load6(dof.s), f_A)
                f_A = add_scaled6(f_A, -e * dof.d_inverse, load6(dof.U))
                if k_A == k_B:
                    k_B = dof.parent
                k_A = dof.parent
            else:
                e = dot6(load6(dof.s), f_B)
                f_B = add_scaled6(f_B, -e * dof.d_inverse, load6(dof.U))
                k_B = dof.parent
            propagated[place] = e
            place += n


@helper
def propagate(bodies, dofs, loops, rows, support, propagated):
    """Propagate the rows of all loops."""
    start = 0
    for i in range(len(loops)):
        propagate_loop(loops[i], support, bodies, dofs, rows, propagated, start)
        start += loops[i].n_rows * loops[i].n_support


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
    start = 0  # of the loop's propagated rows
    for l in range(len(loops)):
        loop = loops[l]
        n = loop.n_rows
        for r in range(loop.row, loop.row + n):
            for place in range(rows[r].entry, rows[r].entry + r - rows[r].first + 1):
                gram[place] = 0.0
        for i in range(loop.n_support):
            d_inverse = dofs[support[loop.support + i]].d_inverse
            e = start + i * n
            for j in range(n):
                row = rows[loop.row + j]
                weight = propagated[e + j] * d_inverse
                place = row.entry + loop.row - row.first
                for h in range(j + 1):
                    gram[place + h] += weight * propagated[e + h]
        for p in range(loop.pair, loop.pair + loop.n_pairs):
            _fill_pair(loop, loops[pairs[p].loop], pairs[p], shared, support, dofs, propagated, start, rows, gram)
        start += n * loop.n_support
        for r in range(loop.row, loop.row + n):
            rows[r].diagonal = gram[rows[r].entry + r - rows[r].first]


@helper
def _fill_pair(loop, earlier, pair, shared, support, dofs, propagated, start, rows, gram):
    """Entries of G between the rows of two loops: `shared` holds the places of common freedoms in `propagated`."""
    n, n_earlier = loop.n_rows, earlier.n_rows
    for i in range(pair.shared, pair.shared + 3 * pair.n_shared, 3):
        d_inverse = dofs[shared[i]].d_inverse
        e, e_earlier = shared[i + 1], shared[i + 2]
        for j in range(n):
            row = rows[loop.row + j]
            weight = propagated[e + j] * d_inverse
            place = row.entry + earlier.row - row.first
            for h in range(n_earlier):
                gram[place + h] += weight * propagated[e_earlier + h]


@routine
def factor_gram(
    # in: whether rows were chosen before, in `kept`
    chosen,
    # in and out
    rows,
    gram,
):
    """Cholesky factor of G in its envelope, in place, with reciprocals on the diagonal; dependent rows are dropped.

    Returns how sure the choice was: the smallest pivot that was kept and the largest that was dropped, each as a part
    of its diagonal.
    """
    smallest_kept, largest_dropped = 1.0, 0.0
    for r in range(len(rows)):
        row = rows[r]
        first, start = row.first, row.entry - row.first
        pivot = row.diagonal
        for c in range(first, r):
            other = rows[c]
            start_c = other.entry - other.first
            total = gram[start + c]
            for j in range(max(first, other.first), c):
                total -= gram[start + j] * gram[start_c + j]
            total *= gram[start_c + c]  # zero if row c was dropped
            gram[start + c] = total
            pivot -= total * total
        if not chosen:
            row.kept = 1 if pivot > DEPENDENT * row.diagonal else 0
        if row.kept:
            smallest_kept = min(smallest_kept, pivot / row.diagonal)
            gram[start + r] = 1.0 / math.sqrt(pivot)
        else:
            if row.diagonal > 0.0:
                largest_dropped = max(largest_dropped, pivot / row.diagonal)
            gram[start + r] = 0.0
    return smallest_kept, largest_dropped


@routine
def choose_rows(
    # in
    gram,
    # out
    rows,
):
    """Choose independent rows with full pivoting: at each turn the row that says most beyond those chosen before.

    For doubtful cases only: cubic in the number of rows, and it allocates.
    """
    n = len(rows)
    G = np.zeros((n, n))
    for r in range(n):
        rows[r].kept = 0
        for c in range(rows[r].first, r + 1):
            # scaled to a unit diagonal: metres and radians compare
            scale = math.sqrt(rows[r].diagonal * rows[c].diagonal)
            G[r, c] = gram[rows[r].entry + c - rows[r].first] / scale if scale > 0.0 else 0.0
            G[c, r] = G[r, c]
    for _ in range(n):
        best = -1
        for r in range(n):
            if not rows[r].kept and (best < 0 or G[r, r] > G[best, best]):
                best = r
        if best < 0 or G[best, best] <= DEPENDENT:
            break
        rows[best].kept = 1
        for r in range(n):
            if not rows[r].kept:
                weight = G[r, best] / G[best, best]
                for c in range(n):
                    G[r, c] -= weight * G[best, c]


@helper
def solve_gram(rows, gram):
    """Replace each row's multiplier b by x with G x = b, zero for dropped rows."""
    n = len(rows)
    for r in range(n):
        row = rows[r]
        start = row.entry - row.first
        total = row.multiplier
        for c in range(row.first, r):
            total -= gram[start + c] * rows[c].multiplier
        row.multiplier = total * gram[start + r]
    for r in range(n - 1, -1, -1):
        row = rows[r]
        start = row.entry - row.first
        x = row.multiplier * gram[start + r]
        row.multiplier = x
        for c in range(row.first, r):
            rows[c].multiplier -= gram[start + c] * x


@helper
def add_multipliers(loops, rows, support, propagated, dofs):
    """Add the rows' forces to the freedoms they act through: u_k <- u_k + sum e_kr x_r."""
    place = 0
    for l in range(len(loops)):
        loop = loops[l]
        for i in range(loop.support, loop.support + loop.n_support):
            total = 0.0
            for r in range(loop.row, loop.row + loop.n_rows):
                total += propagated[place] * rows[r].multiplier
                place += 1
            dofs[support[i]].u += total


@helper
def rows_times_free(loops, rows, support, propagated, dofs):
    """Subtract from each row's multiplier what the freedoms' own forces do to it: sum e_kr u_k / d_k."""
    place = 0
    for l in range(len(loops)):
        loop = loops[l]
        for i in range(loop.support, loop.support + loop.n_support):
            dof = dofs[support[i]]
            free = dof.u * dof.d_inverse
            for r in range(loop.row, loop.row + loop.n_rows):
                rows[r].multiplier -= propagated[place] * free
                place += 1
