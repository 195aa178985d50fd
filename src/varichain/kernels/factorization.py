"""Cholesky factor of the Gram matrix in its envelope of tiles, and the solution with it.

Rows that depend on earlier ones are found by their pivots and dropped: their multiplier is zero. The lanes that
fill up a group are dropped in the same way.
"""

import math

from varichain.kernels.gram import load_tile, store_tile, tile_at
from varichain.kernels.jit import helper, routine
from varichain.kernels.lanes import lane, load_lanes, pack, spread, store_lanes, sum_lanes

_DROPPED = 1e-300  # tells a row that was dropped with a pivot of zero from none


@routine
def factor_gram(
    # layout
    groups,
    # in and out
    rows,
    gram,
):
    """Cholesky factor of G in its envelope, in place, with reciprocals on the diagonal; dependent rows are dropped.

    Returns the margin of the choice: the smallest pivot kept and the size of the largest dropped, each as a part of its
    diagonal; a pivot that rounding has made negative says as much as a positive one.
    """
    sure = (1.0, 0.0)
    J = 0
    while len(groups) > J:
        group = groups[J]
        if len(groups) > J + 1 and groups[J + 1].first == group.first:
            _eliminate_abreast(groups, J, gram)
            sure = _factor_own(rows, groups, J, gram, sure)
            _eliminate(groups, J + 1, J, gram)
            sure = _factor_own(rows, groups, J + 1, gram, sure)
            J += 2
        else:
            for I in range(group.first, J):
                _eliminate(groups, J, I, gram)
            sure = _factor_own(rows, groups, J, gram, sure)
            J += 1
    return sure


@helper
def _eliminate(groups, J, I, gram):
    """Tile (J, I) of the factor."""
    group, earlier = groups[J], groups[I]
    place, K = tile_at(group, I), max(group.first, earlier.first)
    tile = _less_products(load_tile(gram, place), gram, tile_at(group, K), tile_at(earlier, K), I - K)
    store_tile(gram, place, _divided(tile, gram, tile_at(earlier, I)))


@helper
def _eliminate_abreast(groups, J, gram):
    """Tiles of the factor of group J and the next one, which has the same first, with all earlier ones.

    Two tiles at a time: sums that do not wait for each other keep the processor busy.
    """
    group, next_group = groups[J], groups[J + 1]
    for I in range(group.first, J):
        earlier = groups[I]
        K = max(group.first, earlier.first)
        here, there = tile_at(group, I), tile_at(next_group, I)
        a, c, b = tile_at(group, K), tile_at(next_group, K), tile_at(earlier, K)
        t0, t1, t2, t3 = load_tile(gram, here)
        u0, u1, u2, u3 = load_tile(gram, there)
        for _ in range(4 * (I - K)):
            x, y = load_lanes(gram, a), load_lanes(gram, c)
            b0, b1, b2, b3 = spread(gram, b), spread(gram, b + 1), spread(gram, b + 2), spread(gram, b + 3)
            t0 -= x * b0
            u0 -= y * b0
            t1 -= x * b1
            u1 -= y * b1
            t2 -= x * b2
            u2 -= y * b2
            t3 -= x * b3
            u3 -= y * b3
            a += 4
            b += 4
            c += 4
        d = tile_at(earlier, I)
        store_tile(gram, here, _divided((t0, t1, t2, t3), gram, d))
        store_tile(gram, there, _divided((u0, u1, u2, u3), gram, d))


@helper
def _factor_own(rows, groups, J, gram, sure):
    """Factor of the tile of a group with itself; returns the margin of the choice so far."""
    group = groups[J]
    place = tile_at(group, J)
    tile = _less_products(load_tile(gram, place), gram, group.entry, group.entry, J - group.first)
    smallest, largest = _factor_tile(tile, rows, group, gram, place)
    return min(sure[0], smallest), max(sure[1], largest)


@helper
def _less_products(tile, gram, a, b, n):
    """Subtract the products of n tiles of one group, from place a on, and transposed ones of another, from b on."""
    t0, t1, t2, t3 = tile
    for _ in range(4 * n):
        x = load_lanes(gram, a)
        t0 -= x * spread(gram, b)
        t1 -= x * spread(gram, b + 1)
        t2 -= x * spread(gram, b + 2)
        t3 -= x * spread(gram, b + 3)
        a += 4
        b += 4
    return t0, t1, t2, t3


@helper
def _divided(tile, gram, d):
    """A tile times the inverse of the transposed factor of the diagonal tile at d."""
    t0, t1, t2, t3 = tile
    return (
        t0 * gram[d],
        t0 * gram[d + 4] + t1 * gram[d + 5],
        t0 * gram[d + 8] + t1 * gram[d + 9] + t2 * gram[d + 10],
        (t0 * gram[d + 12] + t1 * gram[d + 13]) + (t2 * gram[d + 14] + t3 * gram[d + 15]),
    )


@helper
def store_inverse(gram, d):
    """Write the inverse of a diagonal tile's factor, transposed, above its diagonal, which has the reciprocals.

    Products with it do not wait for each other as substitutions do. Rows that were dropped are zero in it.
    """
    d0, d1, d2, d3 = gram[d], gram[d + 5], gram[d + 10], gram[d + 15]
    l10, l20, l30, l21, l31, l32 = gram[d + 1], gram[d + 2], gram[d + 3], gram[d + 6], gram[d + 7], gram[d + 11]
    x10, x21 = -d1 * (l10 * d0), -d2 * (l21 * d1)
    x20 = -d2 * (l20 * d0 + l21 * x10)
    gram[d + 4] = x10
    gram[d + 8] = x20
    gram[d + 9] = x21
    gram[d + 12] = -d3 * (l30 * d0 + l31 * x10 + l32 * x20)
    gram[d + 13] = -d3 * (l31 * d1 + l32 * x21)
    gram[d + 14] = -d3 * (l32 * d2)


@helper
def _pivot(rows, group, i, pivot, sure):
    """Reciprocal of a diagonal entry, 0 if its row is dropped or none; and the margin of the choice so far."""
    if i >= group.n_rows:
        return 0.0, sure
    row = rows[group.row + i]
    part = pivot / row.norm if row.norm > 0.0 else 0.0
    row.kept = 1 if pivot > row.least else 0
    if row.compliance > 0.0:  # independent of all others by its own compliance
        return math.sqrt(pivot) * (1.0 / pivot), sure
    if row.kept:  # root and reciprocal do not wait for each other
        return math.sqrt(pivot) * (1.0 / pivot), (min(sure[0], part), sure[1])
    return 0.0, (sure[0], max(sure[1], abs(part), _DROPPED if row.norm > 0.0 else 0.0))


@routine
def _factor_tile(tile, rows, group, gram, place):
    """Factor of a group's own tile, with its inverse above the diagonal. Returns the margin of the choice."""
    t0, t1, t2, t3 = tile
    d0, sure = _pivot(rows, group, 0, lane(t0, 0), (1.0, 0.0))
    t0 = t0 * d0
    t1 = t1 - t0 * lane(t0, 1)
    d1, sure = _pivot(rows, group, 1, lane(t1, 1), sure)
    t1 = t1 * d1
    t2 = t2 - t0 * lane(t0, 2) - t1 * lane(t1, 2)
    d2, sure = _pivot(rows, group, 2, lane(t2, 2), sure)
    t2 = t2 * d2
    t3 = t3 - t0 * lane(t0, 3) - t1 * lane(t1, 3) - t2 * lane(t2, 3)
    d3, sure = _pivot(rows, group, 3, lane(t3, 3), sure)
    store_tile(gram, place, (t0, t1, t2, t3))
    gram[place] = d0
    gram[place + 5] = d1
    gram[place + 10] = d2
    gram[place + 15] = d3
    store_inverse(gram, place)
    return sure


@routine
def solve_gram(groups, gram, multipliers, answers):
    """Replace the right-hand sides b by x with G x = b, zero for dropped rows; `answers` has x by groups."""
    J = 0
    while len(groups) > J:
        group = groups[J]
        y, place = _gathered(multipliers, group), group.entry
        if len(groups) > J + 1 and groups[J + 1].first == group.first:
            later = groups[J + 1]
            z, there = _gathered(multipliers, later), later.entry
            for i in range(4 * group.first, 4 * J):
                x = spread(answers, i)
                y -= load_lanes(gram, place) * x
                z -= load_lanes(gram, there) * x
                place += 4
                there += 4
            _answer(gram, place, y, answers, 4 * J)
            J += 1
            for i in range(4 * J - 4, 4 * J):
                z -= load_lanes(gram, there) * spread(answers, i)
                there += 4
            y, place = z, there
        else:
            for i in range(4 * group.first, 4 * J):
                y -= load_lanes(gram, place) * spread(answers, i)
                place += 4
        _answer(gram, place, y, answers, 4 * J)
        J += 1
    for J in range(len(groups) - 1, -1, -1):
        group = groups[J]
        d, i = tile_at(group, J), 4 * J
        y0, y1, y2, y3 = answers[i], answers[i + 1], answers[i + 2], answers[i + 3]
        x = pack(
            (gram[d] * y0 + gram[d + 4] * y1) + (gram[d + 8] * y2 + gram[d + 12] * y3),
            gram[d + 5] * y1 + gram[d + 9] * y2 + gram[d + 13] * y3,
            gram[d + 10] * y2 + gram[d + 14] * y3,
            gram[d + 15] * y3,
        )
        store_lanes(answers, i, x)
        _scatter(multipliers, group, x)
        place = group.entry
        for h in range(group.first, J):
            t0, t1, t2, t3 = load_tile(gram, place)
            both = pack(sum_lanes(t0 * x), sum_lanes(t1 * x), sum_lanes(t2 * x), sum_lanes(t3 * x))
            store_lanes(answers, 4 * h, load_lanes(answers, 4 * h) - both)
            place += 16


@helper
def _answer(gram, place, y, answers, at):
    """Forward substitution within a group's own tile, by its inverse."""
    y0, y1, y2, y3 = lane(y, 0), lane(y, 1), lane(y, 2), lane(y, 3)
    x = pack(
        gram[place] * y0,
        gram[place + 4] * y0 + gram[place + 5] * y1,
        gram[place + 8] * y0 + gram[place + 9] * y1 + gram[place + 10] * y2,
        (gram[place + 12] * y0 + gram[place + 13] * y1) + (gram[place + 14] * y2 + gram[place + 15] * y3),
    )
    store_lanes(answers, at, x)


@helper
def _gathered(multipliers, group):
    """Right-hand sides of a group's rows."""
    r, n = group.row, group.n_rows
    return pack(
        multipliers[r],
        multipliers[r + 1] if n > 1 else 0.0,
        multipliers[r + 2] if n > 2 else 0.0,
        multipliers[r + 3] if n > 3 else 0.0,
    )


@helper
def _scatter(multipliers, group, x):
    """Write the multipliers of a group's rows."""
    r, n = group.row, group.n_rows
    multipliers[r] = lane(x, 0)
    if n > 1:
        multipliers[r + 1] = lane(x, 1)
    if n > 2:
        multipliers[r + 2] = lane(x, 2)
    if n > 3:
        multipliers[r + 3] = lane(x, 3)
