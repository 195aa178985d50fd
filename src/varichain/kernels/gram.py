"""The Gram matrix G = K M^-1 K^T of all rows, without K or M.

G_rs = sum over shared freedoms of e_kr e_ks / d_k. Rows of loops that share no freedom never meet, so G lives in an
envelope: the lower triangle by rows, each from its first entry on.
"""

from varichain.kernels.jit import helper, routine
from varichain.kernels.propagation import padded
from varichain.kernels.records import COORDINATES, HELICAL, LINEAR
from varichain.kernels.tuples import angular, dot3, linear, load3, load6

# A diagonal below this part of what the row's freedoms could make of it counts as that much: what is left of a row
# that nothing moves, as in planar mechanisms, is rounding, and must not be measured by itself.
LEAST_DIAGONAL = 1e-3


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
        # a coupling's row has its own freedom's 1 / d in the diagonal, and that is never rounding
        turning, moving = (0.0, 0.0) if loop.orientation == COORDINATES else _greatest(loop, support, dofs)
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
