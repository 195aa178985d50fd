"""Rows of the loops, propagated through the articulated tree.

A row's two opposite wrenches walk from their bodies to the root: e_kr = s_k . f, f <- f - U_k e_kr / d_k. Rows walk in
groups of four, and two groups side by side: independent chains of arithmetic keep the processor busy. A loop's
propagated rows are padded with zeros to whole groups.
"""

from varichain.kernels.couplings import propagate_coupling
from varichain.kernels.jit import helper, routine
from varichain.kernels.lanes import lane, load_lanes, pack, store_lanes, sum_lanes
from varichain.kernels.records import COORDINATES
from varichain.kernels.tuples import add6, add_scaled6, dot6, load6


@helper
def groups_of(n):
    """Number of groups that n rows fill."""
    return (n + 3) // 4


@routine
def walk(
    # in: four wrenches, freedoms support[first : last]
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
    """Walk four wrenches through freedoms towards the root; returns the remaining wrenches, and the next place."""
    for i in range(first, last):
        dof = dofs[support[i]]
        e = dot6(load6(dof.s), f)
        f = add_scaled6(f, e * -dof.d_inverse, load6(dof.U))
        store_lanes(propagated, place, e)
        place += stride
    return f, place


@routine
def walk_abreast(
    # in: twice four wrenches, freedoms support[first : last]
    f,
    g,
    support,
    first,
    last,
    dofs,
    stride,
    # out
    propagated,
    place,
):
    """Walk eight wrenches, as `walk` does four."""
    for i in range(first, last):
        dof = dofs[support[i]]
        s, U, d_inverse = load6(dof.s), load6(dof.U), dof.d_inverse
        e, h = dot6(s, f), dot6(s, g)
        f = add_scaled6(f, e * -d_inverse, U)
        g = add_scaled6(g, h * -d_inverse, U)
        store_lanes(propagated, place, e)
        store_lanes(propagated, place + 4, h)
        place += stride
    return f, g, place


@helper
def _component(rows, r, last, i, on_B):
    """Component i of the wrenches of four rows on body A, or the opposite ones on body B; zero after the last row."""
    x0 = -rows[r].f_B[i] if on_B else rows[r].f_A[i]
    x1, x2, x3 = 0.0, 0.0, 0.0
    if r + 1 < last:
        x1 = -rows[r + 1].f_B[i] if on_B else rows[r + 1].f_A[i]
    if r + 2 < last:
        x2 = -rows[r + 2].f_B[i] if on_B else rows[r + 2].f_A[i]
    if r + 3 < last:
        x3 = -rows[r + 3].f_B[i] if on_B else rows[r + 3].f_A[i]
    return pack(x0, x1, x2, x3)


@helper
def _wrenches(rows, r, last, on_B):
    """Wrenches of four rows."""
    return (
        _component(rows, r, last, 0, on_B),
        _component(rows, r, last, 1, on_B),
        _component(rows, r, last, 2, on_B),
        _component(rows, r, last, 3, on_B),
        _component(rows, r, last, 4, on_B),
        _component(rows, r, last, 5, on_B),
    )


@routine
def propagate(bodies, dofs, loops, rows, support, propagated):
    """Propagate the rows of all loops: body A's own way, body B's own way, then the way they share.

    Needs: inertias articulated, rows placed.
    Gives: rows propagated.
    """
    for l in range(len(loops)):
        loop = loops[l]
        if loop.orientation == COORDINATES:
            propagate_coupling(bodies, loop, support, dofs, propagated)
            continue
        r, last, stride, place = loop.row, loop.row + loop.n_rows, 4 * groups_of(loop.n_rows), loop.propagated
        end_A = loop.support + loop.n_support_A
        end_B = end_A + loop.n_support_B
        end = loop.support + loop.n_support
        if loop.n_rows > 4:
            f, g = _wrenches(rows, r, last, False), _wrenches(rows, r + 4, last, False)
            f, g, place = walk_abreast(f, g, support, loop.support, end_A, dofs, stride, propagated, place)
            if end_A < end:
                x, y = _wrenches(rows, r, last, True), _wrenches(rows, r + 4, last, True)
                x, y, place = walk_abreast(x, y, support, end_A, end_B, dofs, stride, propagated, place)
                walk_abreast(add6(f, x), add6(g, y), support, end_B, end, dofs, stride, propagated, place)
        elif loop.n_rows > 0:
            f = _wrenches(rows, r, last, False)
            f, place = walk(f, support, loop.support, end_A, dofs, stride, propagated, place)
            if end_A < end:
                x = _wrenches(rows, r, last, True)
                x, place = walk(x, support, end_A, end_B, dofs, stride, propagated, place)
                walk(add6(f, x), support, end_B, end, dofs, stride, propagated, place)


@routine
def add_multipliers(loops, support, propagated, answers, dofs):
    """Add the rows' forces, by groups in `answers`, to the freedoms they act through: u_k <- u_k + sum e_kr x_r.

    Needs: rows factored.
    """
    for l in range(len(loops)):
        loop = loops[l]
        n_groups = groups_of(loop.n_rows)
        place, end = loop.propagated, loop.support + loop.n_support
        if n_groups == 1:
            x = load_lanes(answers, 4 * loop.group)
            for i in range(loop.support, end):
                dofs[support[i]].u += sum_lanes(load_lanes(propagated, place) * x)
                place += 4
        elif n_groups == 2:
            x, y = load_lanes(answers, 4 * loop.group), load_lanes(answers, 4 * loop.group + 4)
            for i in range(loop.support, end):
                e, h = load_lanes(propagated, place), load_lanes(propagated, place + 4)
                dofs[support[i]].u += sum_lanes(e * x + h * y)
                place += 8


@helper
def _subtract(multipliers, r, last, x):
    """Subtract lanes from the right-hand sides of up to four rows."""
    multipliers[r] -= lane(x, 0)
    if r + 1 < last:
        multipliers[r + 1] -= lane(x, 1)
    if r + 2 < last:
        multipliers[r + 2] -= lane(x, 2)
    if r + 3 < last:
        multipliers[r + 3] -= lane(x, 3)


@routine
def subtract_free(loops, support, propagated, dofs, multipliers):
    """Subtract from each row's right-hand side the part of the freedoms' own forces: sum e_kr u_k / d_k.

    Needs: rows factored.
    """
    for l in range(len(loops)):
        loop = loops[l]
        n_groups, last = groups_of(loop.n_rows), loop.row + loop.n_rows
        place, end = loop.propagated, loop.support + loop.n_support
        total, other = pack(0.0, 0.0, 0.0, 0.0), pack(0.0, 0.0, 0.0, 0.0)
        if n_groups == 1:
            for i in range(loop.support, end):
                dof = dofs[support[i]]
                total += load_lanes(propagated, place) * (dof.u * dof.d_inverse)
                place += 4
            _subtract(multipliers, loop.row, last, total)
        elif n_groups == 2:
            for i in range(loop.support, end):
                dof = dofs[support[i]]
                moved = dof.u * dof.d_inverse
                total += load_lanes(propagated, place) * moved
                other += load_lanes(propagated, place + 4) * moved
                place += 8
            _subtract(multipliers, loop.row, last, total)
            _subtract(multipliers, loop.row + 4, last, other)
