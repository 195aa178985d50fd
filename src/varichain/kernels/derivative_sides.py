"""Many right-hand sides at once: M da - K^T dx = b, K da = c for all columns of b and c.

A unit force in freedom r leaves e_kr in each freedom k on its way to the ground: M^-1 = E^T D^-1 E. The columns go
inward through E, through the factor of the rows, and outward through E^T. Rows of matrices are added four at a time:
the sum stays in registers. Matrices have whole lanes of columns.
"""

from varichain.kernels.gram import tile_at
from varichain.kernels.jit import helper, routine
from varichain.kernels.lanes import lane, load_lanes, pack, store_lanes
from varichain.kernels.propagation import groups_of
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_gram,
    open_groups,
    open_loops,
    open_propagated,
    open_support,
)
from varichain.kernels.tuples import add_scaled6, dot6, load6


@helper
def padded(n):
    """Columns that n columns take: whole lanes."""
    return 4 * ((n + 3) // 4)


@routine
def _add_four(target, X, k, e, n):
    """Add the rows k (4) of X, times the numbers e (4), to the first n entries of a row that is none of them."""
    x0, x1, x2, x3 = X[k[0]], X[k[1]], X[k[2]], X[k[3]]
    for c in range(0, n, 4):
        first = load_lanes(target, c) + load_lanes(x0, c) * e[0] + load_lanes(x1, c) * e[1]
        store_lanes(target, c, first + load_lanes(x2, c) * e[2] + load_lanes(x3, c) * e[3])


@routine
def _add_block(T, t, X, k, e, n):
    """Add to each of the rows t (3) of T the rows k (4) of X times its four numbers of e, in the first n columns."""
    t0, t1, t2 = T[t[0]], T[t[1]], T[t[2]]
    x0, x1, x2, x3 = X[k[0]], X[k[1]], X[k[2]], X[k[3]]
    e0, e1, e2 = e
    for c in range(0, n, 4):
        a, b, d, f = load_lanes(x0, c), load_lanes(x1, c), load_lanes(x2, c), load_lanes(x3, c)
        store_lanes(t0, c, load_lanes(t0, c) + a * e0[0] + b * e0[1] + d * e0[2] + f * e0[3])
        store_lanes(t1, c, load_lanes(t1, c) + a * e1[0] + b * e1[1] + d * e1[2] + f * e1[3])
        store_lanes(t2, c, load_lanes(t2, c) + a * e2[0] + b * e2[1] + d * e2[2] + f * e2[3])


@helper
def _scale(row, factor):
    for c in range(0, len(row), 4):
        store_lanes(row, c, load_lanes(row, c) * factor)


@routine
def write_inward(bodies, dofs, E):
    """Write E: column r has what a unit force in freedom r leaves in the freedoms on its way to the ground.

    The freedoms of a body go three at a time, as lanes: their ways are the same.

    Needs: inertias articulated.
    """
    E[:, :] = 0.0
    zero = pack(0.0, 0.0, 0.0, 0.0)
    for b in range(1, len(bodies)):
        body = bodies[b]
        end = body.dof + body.n_dof
        for first in range(body.dof, end, 3):
            n = min(end - first, 3)
            f, k = (zero, zero, zero, zero, zero, zero), first + n - 1
            while k >= 0:
                dof = dofs[k]
                own = pack(
                    1.0 if k == first else 0.0, 1.0 if k == first + 1 else 0.0, 1.0 if k == first + 2 else 0.0, 0.0
                )
                e = own - dot6(load6(dof.s), f)
                f = add_scaled6(f, e * dof.d_inverse, load6(dof.U))
                E[k, first] = lane(e, 0)
                if n > 1:
                    E[k, first + 1] = lane(e, 1)
                    E[k, first + 2] = lane(e, 2)
                k = dof.parent


@helper
def _before(dofs, k):
    return dofs[k].parent if k >= 0 else -1


@helper
def _filled(r, end):
    """Up to four places from r on; the first is repeated."""
    return r, r + 1 if r + 1 < end else r, r + 2 if r + 2 < end else r, r + 3 if r + 3 < end else r


@helper
def _entries(E, k, r, end):
    """Entries of E in row k, at up to four places from r on; zeros after them."""
    return (
        E[k, r],
        E[k, r + 1] if r + 1 < end else 0.0,
        E[k, r + 2] if r + 2 < end else 0.0,
        E[k, r + 3] if r + 3 < end else 0.0,
    )


@routine
def inward(bodies, dofs, E, X, n):
    """X <- E X in the first n columns."""
    for b in range(1, len(bodies)):  # rows of a body are complete only after all rows that it carries
        body = bodies[b]
        end = body.dof + body.n_dof
        for r in range(body.dof, end, 4):
            i = dofs[body.dof].parent
            while i >= 0:
                j = _before(dofs, i)
                k = _before(dofs, j)
                if k >= 0:
                    entries = _entries(E, i, r, end), _entries(E, j, r, end), _entries(E, k, r, end)
                    _add_block(X, (i, j, k), X, _filled(r, end), entries, n)
                    i = dofs[k].parent
                else:
                    _add_four(X[i], X, _filled(r, end), _entries(E, i, r, end), n)
                    i = j
        for k in range(body.dof, end):
            for r in range(k + 1, end, 4):
                _add_four(X[k], X, _filled(r, end), _entries(E, k, r, end), n)


@helper
def _column(E, k, r):
    """Entries of E in column r, at four places; zeros where there is none."""
    return (
        E[k[0], r],
        E[k[1], r] if k[1] >= 0 else 0.0,
        E[k[2], r] if k[2] >= 0 else 0.0,
        E[k[3], r] if k[3] >= 0 else 0.0,
    )


@routine
def outward(bodies, dofs, E, X):
    """X <- E^T D^-1 X."""
    for k in range(len(dofs)):
        _scale(X[k], dofs[k].d_inverse)
    n = X.shape[1]
    for b in range(len(bodies) - 1, 0, -1):
        body = bodies[b]
        end = body.dof + body.n_dof
        for r in range(end - 1, body.dof - 1, -1):
            for k in range(body.dof, r, 4):
                _add_four(X[r], X, _filled(k, r), _own(E, k, r), n)
        i = dofs[body.dof].parent
        while i >= 0:
            j = _before(dofs, i)
            k = _before(dofs, j)
            l = _before(dofs, k)
            way, places = (i, j, k, l), (i, max(j, 0), max(k, 0), max(l, 0))
            r = body.dof
            while r < end:
                if r + 2 < end:
                    columns = _column(E, way, r), _column(E, way, r + 1), _column(E, way, r + 2)
                    _add_block(X, (r, r + 1, r + 2), X, places, columns, n)
                    r += 3
                else:
                    _add_four(X[r], X, places, _column(E, way, r), n)
                    r += 1
            i = _before(dofs, l)


@helper
def _own(E, k, r):
    """Entries of E in column r, at up to four places from k on, before r; zeros after them."""
    return (
        E[k, r],
        E[k + 1, r] if k + 1 < r else 0.0,
        E[k + 2, r] if k + 2 < r else 0.0,
        E[k + 3, r] if k + 3 < r else 0.0,
    )


@helper
def _walked(propagated, place, stride, d):
    """Propagated row at four freedoms, times the four numbers d, which are zero where there is no freedom."""
    return (
        propagated[place] * d[0],
        propagated[place + stride] * d[1] if d[1] != 0.0 else 0.0,
        propagated[place + 2 * stride] * d[2] if d[2] != 0.0 else 0.0,
        propagated[place + 3 * stride] * d[3] if d[3] != 0.0 else 0.0,
    )


@routine
def _subtract_free(table, X, Y):
    """Subtract K M^-1 b from Y, b being in X after its way inward.

    Needs: rows factored.
    """
    dofs, loops, support, propagated = open_dofs(table), open_loops(table), open_support(table), open_propagated(table)
    n = X.shape[1]
    for i in range(len(loops)):
        loop = loops[i]
        place, stride, end = loop.propagated, 4 * groups_of(loop.n_rows), loop.support + loop.n_support
        for s in range(loop.support, end, 4):
            k0 = support[s]
            k1 = support[s + 1] if s + 1 < end else k0
            k2 = support[s + 2] if s + 2 < end else k0
            k3 = support[s + 3] if s + 3 < end else k0
            places = k0, k1, k2, k3
            d = (
                -dofs[k0].d_inverse,
                -dofs[k1].d_inverse if s + 1 < end else 0.0,
                -dofs[k2].d_inverse if s + 2 < end else 0.0,
                -dofs[k3].d_inverse if s + 3 < end else 0.0,
            )
            r = 0
            while r < loop.n_rows:
                row, e = loop.row + r, _walked(propagated, place + r, stride, d)
                if r + 2 < loop.n_rows:
                    others = (
                        _walked(propagated, place + r + 1, stride, d),
                        _walked(propagated, place + r + 2, stride, d),
                    )
                    _add_block(Y, (row, row + 1, row + 2), X, places, (e, others[0], others[1]), n)
                    r += 3
                else:
                    _add_four(Y[row], X, places, e, n)
                    r += 1
            place += 4 * stride


@helper
def _group(propagated, place):
    """Four propagated rows at one freedom; a loop's rows are filled up with zeros to fours."""
    return propagated[place], propagated[place + 1], propagated[place + 2], propagated[place + 3]


@routine
def _add_multipliers(table, X, Y):
    """Add K^T dx to the freedoms, dx being in Y; X is between its ways inward and outward.

    Needs: rows factored.
    """
    loops, support, propagated = open_loops(table), open_support(table), open_propagated(table)
    n = X.shape[1]
    for i in range(len(loops)):
        loop = loops[i]
        stride, end, last = 4 * groups_of(loop.n_rows), loop.support + loop.n_support, loop.row + loop.n_rows
        for r in range(0, loop.n_rows, 4):
            rows, place, s = _filled(loop.row + r, last), loop.propagated + r, loop.support
            while s < end:
                e = _group(propagated, place)
                if s + 2 < end:
                    t = support[s], support[s + 1], support[s + 2]
                    others = _group(propagated, place + stride), _group(propagated, place + 2 * stride)
                    _add_block(X, t, Y, rows, (e, others[0], others[1]), n)
                    s, place = s + 3, place + 3 * stride
                else:
                    _add_four(X[support[s]], Y, rows, e, n)
                    s, place = s + 1, place + stride


@helper
def _across_tile(gram, place, n):
    """Negative entries of a row of a tile, of which n columns count."""
    return (
        -gram[place],
        -gram[place + 4] if n > 1 else 0.0,
        -gram[place + 8] if n > 2 else 0.0,
        -gram[place + 12] if n > 3 else 0.0,
    )


@helper
def _down_tile(gram, place, n):
    """Negative entries of a column of a tile, of which n rows count."""
    return (
        -gram[place],
        -gram[place + 1] if n > 1 else 0.0,
        -gram[place + 2] if n > 2 else 0.0,
        -gram[place + 3] if n > 3 else 0.0,
    )


@routine
def _forth(groups, gram, Y):
    """Y <- L^-1 Y."""
    n = Y.shape[1]
    for g in range(len(groups)):
        group = groups[g]
        row = group.row
        for h in range(group.first, g):
            tile, many, earlier = tile_at(group, h), groups[h].n_rows, groups[h].row
            places, i = _filled(earlier, earlier + many), 0
            if group.n_rows > 2:
                e = (
                    _across_tile(gram, tile, many),
                    _across_tile(gram, tile + 1, many),
                    _across_tile(gram, tile + 2, many),
                )
                _add_block(Y, (row, row + 1, row + 2), Y, places, e, n)
                i = 3
            for j in range(i, group.n_rows):
                _add_four(Y[row + j], Y, places, _across_tile(gram, tile + j, many), n)
        own = tile_at(group, g)
        for i in range(group.n_rows):
            if i > 0:
                _add_four(Y[row + i], Y, _filled(row, row + i), _across_tile(gram, own + i, i), n)
            _scale(Y[row + i], gram[own + 5 * i])


@routine
def _back(groups, gram, Y):
    """Y <- L^-T Y."""
    n = Y.shape[1]
    for g in range(len(groups) - 1, -1, -1):
        group = groups[g]
        own, row, many = tile_at(group, g), group.row, group.n_rows
        for i in range(many - 1, -1, -1):
            if i + 1 < many:
                e = _down_tile(gram, own + 5 * i + 1, many - i - 1)
                _add_four(Y[row + i], Y, _filled(row + i + 1, row + many), e, n)
            _scale(Y[row + i], gram[own + 5 * i])
        places = _filled(row, row + many)
        for h in range(group.first, g):
            tile, earlier, i = tile_at(group, h), groups[h].row, 0
            if groups[h].n_rows > 2:
                e = _down_tile(gram, tile, many), _down_tile(gram, tile + 4, many), _down_tile(gram, tile + 8, many)
                _add_block(Y, (earlier, earlier + 1, earlier + 2), Y, places, e, n)
                i = 3
            for j in range(i, groups[h].n_rows):
                _add_four(Y[earlier + j], Y, places, _down_tile(gram, tile + 4 * j, many), n)


@routine
def solve_sides(table, E, X, Y):
    """X <- da and Y <- dx, from b, already inward, in X and c in Y.

    Needs: rows factored.
    """
    if len(Y) > 0:
        _subtract_free(table, X, Y)
        _forth(open_groups(table), open_gram(table), Y)  # rows that depend on others become zero
        _back(open_groups(table), open_gram(table), Y)
        _add_multipliers(table, X, Y)
    outward(open_bodies(table), open_dofs(table), E, X)
