"""Rows of the loops, propagated through the articulated tree.

A row's two opposite wrenches walk from their bodies to the root: e_kr = s_k . f, f <- f - U_k e_kr / d_k. Rows are
taken three at a time, for three independent chains of arithmetic keep the processor busy where one would wait for
itself; a loop's propagated rows are padded with zeros to a multiple of three.
"""

from varichain.kernels.couplings import propagate_coupling
from varichain.kernels.jit import helper, routine
from varichain.kernels.records import COORDINATES
from varichain.kernels.tuples import ZERO6, add6, add_scaled6, dot6, load6


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
def propagate(bodies, dofs, loops, rows, support, propagated):
    """Propagate the rows of all loops: body A's own way, body B's own way, then the way they share."""
    for l in range(len(loops)):
        loop = loops[l]
        if loop.orientation == COORDINATES:
            propagate_coupling(bodies, loop, support, dofs, propagated)
            continue
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
