"""The Gram matrix G = K M^-1 K^T of all rows, without K or M.

G_rs = sum over shared freedoms of e_kr e_ks / d_k. Rows are in groups of four, of one loop each; G is kept in tiles
of a group with an earlier one, or with itself: 16 numbers, column by column, so that a column's four rows are lanes.
Rows of loops that share no freedom never meet, so G lives in an envelope: each group's tiles from its first on.
"""

from varichain.kernels.jit import helper, routine
from varichain.kernels.lanes import load_lanes, pack, spread, store_lanes
from varichain.kernels.propagation import groups_of
from varichain.kernels.records import ACROSS, CARRIED, COORDINATES, DISTANCE, HELICAL, LINEAR, SLID
from varichain.kernels.tuples import angular, dot3, linear, load3, load6

# Floor of a diagonal, as a part of the largest that the row's freedoms allow: the diagonal of a row
# that nothing moves, as in planar mechanisms, is rounding, and no measure for pivots.
LEAST_DIAGONAL = 1e-3
# Kinds of rows that measure lengths; all others measure angles.
LENGTHS = (LINEAR, HELICAL, DISTANCE, SLID, CARRIED, ACROSS)


@helper
def tile_at(group, earlier):
    """Where the tile of a group with an earlier one (or itself) begins."""
    return group.entry + 16 * (earlier - group.first)


@helper
def load_tile(gram, place):
    """The four columns of a tile."""
    return (
        load_lanes(gram, place),
        load_lanes(gram, place + 4),
        load_lanes(gram, place + 8),
        load_lanes(gram, place + 12),
    )


@helper
def store_tile(gram, place, tile):
    """Write the four columns of a tile."""
    store_lanes(gram, place, tile[0])
    store_lanes(gram, place + 4, tile[1])
    store_lanes(gram, place + 8, tile[2])
    store_lanes(gram, place + 12, tile[3])


@helper
def _zero_tile():
    zero = pack(0.0, 0.0, 0.0, 0.0)
    return zero, zero, zero, zero


@helper
def _add_product(tile, x, propagated, place):
    """Add the outer product of x (rows) and four propagated numbers (columns) to a tile."""
    return (
        tile[0] + x * spread(propagated, place),
        tile[1] + x * spread(propagated, place + 1),
        tile[2] + x * spread(propagated, place + 2),
        tile[3] + x * spread(propagated, place + 3),
    )


@helper
def _add_half_product(tile, x, propagated, place):
    """As `_add_product`, for the second group of a loop: a loop has six rows at most, the other columns are padding."""
    return (
        tile[0] + x * spread(propagated, place),
        tile[1] + x * spread(propagated, place + 1),
        tile[2],
        tile[3],
    )


@helper
def _own_tile(loop, support, dofs, propagated):
    """Tile of a loop's only group with itself."""
    tile = _zero_tile()
    place = loop.propagated
    for k in range(loop.support, loop.support + loop.n_support):
        x = load_lanes(propagated, place) * dofs[support[k]].d_inverse
        tile = _add_product(tile, x, propagated, place)
        place += 4
    return tile


@helper
def _own_tiles(loop, support, dofs, propagated):
    """Tiles of a loop's two groups with themselves: (0, 0), (1, 0) and (1, 1), in one pass.

    Ten sums that do not wait for each other keep the processor busy, where those of one tile do not.
    """
    first, across, second = _zero_tile(), _zero_tile(), _zero_tile()
    place = loop.propagated
    for k in range(loop.support, loop.support + loop.n_support):
        d_inverse = dofs[support[k]].d_inverse
        x, y = load_lanes(propagated, place) * d_inverse, load_lanes(propagated, place + 4) * d_inverse
        first = _add_product(first, x, propagated, place)
        across = _add_product(across, y, propagated, place)
        second = _add_half_product(second, y, propagated, place + 4)
        place += 8
    return first, across, second


@helper
def _pair_tile(pair, i, j, shared, dofs, propagated):
    """Tile of a loop's group i with group j of an earlier loop: over the freedoms that both need."""
    tile = _zero_tile()
    for k in range(pair.shared, pair.shared + 3 * pair.n_shared, 3):
        x = load_lanes(propagated, shared[k + 1] + 4 * i) * dofs[shared[k]].d_inverse
        tile = _add_product(tile, x, propagated, shared[k + 2] + 4 * j)
    return tile


@helper
def _pair_tiles(pair, shared, dofs, propagated):
    """Tiles (0, 0), (0, 1), (1, 0), (1, 1) of a loop's two groups with those of an earlier loop, in one pass."""
    one, two, three, four = _zero_tile(), _zero_tile(), _zero_tile(), _zero_tile()
    for k in range(pair.shared, pair.shared + 3 * pair.n_shared, 3):
        d_inverse, later, earlier = dofs[shared[k]].d_inverse, shared[k + 1], shared[k + 2]
        x, y = load_lanes(propagated, later) * d_inverse, load_lanes(propagated, later + 4) * d_inverse
        one = _add_product(one, x, propagated, earlier)
        two = _add_half_product(two, x, propagated, earlier + 4)
        three = _add_product(three, y, propagated, earlier)
        four = _add_half_product(four, y, propagated, earlier + 4)
    return one, two, three, four


@routine
def fill_gram(
    # layout
    loops,
    pairs,
    support,
    shared,
    groups,
    # in
    dofs,
    propagated,
    # out
    rows,
    gram,
):
    """Tiles of G, group by group from each group's first tile on."""
    for l in range(len(loops)):
        loop = loops[l]
        n_groups = groups_of(loop.n_rows)
        if n_groups == 0:
            continue
        first, last = groups[loop.group], groups[loop.group + n_groups - 1]
        if n_groups == 1:
            store_tile(gram, tile_at(first, loop.group), _own_tile(loop, support, dofs, propagated))
        else:
            one, across, two = _own_tiles(loop, support, dofs, propagated)
            store_tile(gram, tile_at(first, loop.group), one)
            store_tile(gram, tile_at(last, loop.group), across)
            store_tile(gram, tile_at(last, loop.group + 1), two)
        if loop.is_sparse:
            for i in range(loop.group, loop.group + n_groups):
                for place in range(groups[i].entry, tile_at(groups[i], loop.group)):
                    gram[place] = 0.0
        for p in range(loop.pair, loop.pair + loop.n_pairs):
            earlier = loops[pairs[p].loop]
            n_earlier = groups_of(earlier.n_rows)
            place, below = tile_at(first, earlier.group), tile_at(last, earlier.group)
            if n_groups == 2 and n_earlier == 2:
                one, two, three, four = _pair_tiles(pairs[p], shared, dofs, propagated)
                store_tile(gram, place, one)
                store_tile(gram, place + 16, two)
                store_tile(gram, below, three)
                store_tile(gram, below + 16, four)
            else:
                for j in range(n_earlier):
                    store_tile(gram, place + 16 * j, _pair_tile(pairs[p], 0, j, shared, dofs, propagated))
                if n_groups == 2:
                    store_tile(gram, below, _pair_tile(pairs[p], 1, 0, shared, dofs, propagated))
        _measure(loop, support, groups, dofs, gram, rows)


@routine
def _measure(loop, support, groups, dofs, gram, rows):
    """Diagonals of a loop's rows, the measure of their pivots: the least that keep them, the most that there may be."""
    # a coupling's row has its own freedom's 1 / d in the diagonal, and that is never rounding
    turning, moving = (0.0, 0.0) if loop.orientation == COORDINATES else greatest(loop, support, dofs)
    for i in range(loop.n_rows):
        row, g = rows[loop.row + i], loop.group + i // 4
        size = moving if row.kind in LENGTHS else turning
        place = tile_at(groups[g], g) + 5 * (i % 4)
        gram[place] += row.compliance
        diagonal = gram[place]
        row.norm = max(diagonal, LEAST_DIAGONAL * size)
        row.least = loop.rank_tolerance * loop.rank_tolerance * row.norm
        row.most = max(diagonal, size)


@routine
def greatest(loop, support, dofs):
    """Largest diagonals that rows of a loop may have, angular and linear: motion at its point per force, any direction.

    Shared freedoms move the loop as a whole. The two terms of s + w x p are added up, for they may cancel.
    """
    end_A = loop.support + loop.n_support_A
    end_B = end_A + loop.n_support_B
    x_A, x_B = load3(loop.x_A), load3(loop.x_B)
    turning_A, moving_A = _greatest_on(support, loop.support, end_A, dofs)
    turning_B, moving_B = _greatest_on(support, end_A, end_B, dofs)
    levers = turning_A * dot3(x_A, x_A) + turning_B * dot3(x_B, x_B)
    return turning_A + turning_B, moving_A + moving_B + levers


@helper
def _greatest_on(support, first, last, dofs):
    """Part of some freedoms, with the linear part of their motion at the reference point."""
    turning, moving = 0.0, 0.0
    for i in range(first, last):
        dof = dofs[support[i]]
        s = load6(dof.s)
        turning += dof.d_inverse * dot3(angular(s), angular(s))
        moving += dof.d_inverse * dot3(linear(s), linear(s))
    return turning, moving
