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
def _add_product(tile, propagated, e, g, d_inverse):
    """Add the outer product of e[0:4] / d (rows) and g[0:4] (columns) to a tile."""
    x = load_lanes(propagated, e) * d_inverse
    return (
        tile[0] + x * spread(propagated, g),
        tile[1] + x * spread(propagated, g + 1),
        tile[2] + x * spread(propagated, g + 2),
        tile[3] + x * spread(propagated, g + 3),
    )


@helper
def _own_tile(loop, i, j, support, dofs, propagated):
    """Tile (i, j) of a loop's groups with themselves."""
    stride = 4 * groups_of(loop.n_rows)
    tile = _zero_tile()
    place = loop.propagated
    for k in range(loop.support, loop.support + loop.n_support):
        tile = _add_product(tile, propagated, place + 4 * i, place + 4 * j, dofs[support[k]].d_inverse)
        place += stride
    return tile


@helper
def _pair_tile(pair, i, j, shared, dofs, propagated):
    """Tile (i, j) of a loop's groups with those of an earlier loop: over the freedoms that both need."""
    tile = _zero_tile()
    for k in range(pair.shared, pair.shared + 3 * pair.n_shared, 3):
        d_inverse = dofs[shared[k]].d_inverse
        tile = _add_product(tile, propagated, shared[k + 1] + 4 * i, shared[k + 2] + 4 * j, d_inverse)
    return tile


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
        for i in range(n_groups):
            group = groups[loop.group + i]
            if loop.is_sparse:
                for place in range(group.entry, tile_at(group, loop.group)):
                    gram[place] = 0.0
            for j in range(i + 1):
                store_tile(gram, tile_at(group, loop.group + j), _own_tile(loop, i, j, support, dofs, propagated))
            for p in range(loop.pair, loop.pair + loop.n_pairs):
                earlier = loops[pairs[p].loop]
                for j in range(groups_of(earlier.n_rows)):
                    tile = _pair_tile(pairs[p], i, j, shared, dofs, propagated)
                    store_tile(gram, tile_at(group, earlier.group + j), tile)
        _measure(loop, support, groups, dofs, gram, rows)


@routine
def _measure(loop, support, groups, dofs, gram, rows):
    """Diagonals of a loop's rows, the measure of their pivots: the least that keep them, the most that there may be."""
    # a coupling's row has its own freedom's 1 / d in the diagonal, and that is never rounding
    turning, moving = (0.0, 0.0) if loop.orientation == COORDINATES else _greatest(loop, support, dofs)
    for i in range(loop.n_rows):
        row, g = rows[loop.row + i], loop.group + i // 4
        size = moving if row.kind in (LINEAR, HELICAL, DISTANCE, SLID, CARRIED, ACROSS) else turning
        place = tile_at(groups[g], g) + 5 * (i % 4)
        gram[place] += row.compliance
        diagonal = gram[place]
        row.norm = max(diagonal, LEAST_DIAGONAL * size)
        row.least = loop.rank_tolerance * loop.rank_tolerance * row.norm
        row.most = max(diagonal, size)


@routine
def _greatest(loop, support, dofs):
    """Largest diagonals that rows of a loop may have, angular and linear: motion at its point per force, any direction.

    Shared freedoms move the loop as a whole. The two terms of s + w x p are added up, for they may cancel.
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
