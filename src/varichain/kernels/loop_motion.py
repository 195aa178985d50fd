"""Rows and freedoms of one loop's joint together: six directions in which A moves against B."""

from varichain.kernels.jit import INTEGER, MATRIX, TABLE, VECTOR, helper, kernel
from varichain.kernels.kinematics import move_all
from varichain.kernels.loop_joints import freedom_direction, freedom_wrench
from varichain.kernels.loops import place_loop, place_rows, relative, row_bias, wrench_at
from varichain.kernels.records import ACROSS
from varichain.kernels.row_kinds import bias_along, least_aligned, line_of, relative_bias
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import ZERO3, add3, cross3, dot3, load3, scale3, sub3


@helper
def _across_bias(axis, loop, R_WB, v_rel):
    """Part of the bias of ACROSS rows that stems from the turning of the line, seen from B."""
    e, size = line_of(loop, R_WB)
    if size == 0.0:
        return 0.0
    b = least_aligned(e, R_WB)
    e_rate = scale3(1.0 / size, sub3(v_rel, scale3(dot3(e, v_rel), e)))
    n, n_rate = cross3(e, b), cross3(e_rate, b)
    shrink = 1.0 / dot3(n, n) ** 0.5
    t = scale3(shrink, n)
    t_rate = scale3(shrink, sub3(n_rate, scale3(dot3(t, n_rate), t)))
    if axis == 1:
        t_rate = add3(cross3(e_rate, t), cross3(e, t_rate))
    return dot3(t_rate, v_rel)


@kernel(TABLE, VECTOR, VECTOR, INTEGER, MATRIX, VECTOR)
def joint_rows(
    # layout
    table,
    # in
    q,
    v,
    i,
    # out (n_rows + n_free, 6), (n_rows + n_free)
    C_out,
    biases_out,
):
    """C and Cdot V of loop i, rows before freedoms: C V are their velocities, V = [w; v] of A against B at A's origin.

    World axes. The biases leave out the accelerations of the tree's freedoms.
    """
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    move_all(q, v, bodies, open_dofs(table))
    place_rows(bodies, loops, rows)
    loop = loops[i]
    R_WA, R_WB = place_loop(bodies, loop)
    motion = relative(bodies, loop)
    bias = relative_bias(bodies, loop, motion)
    for j in range(loop.n_rows):
        row = rows[loop.row + j]
        biases_out[j] = row_bias(bodies, row, loop, motion, bias)
        unit = wrench_at(row, loop, load3(row.e), ZERO3)
        for k in range(6):
            C_out[j, k] = unit[k]
    for k in range(loop.n_free):
        j, kind, axis = loop.n_rows + k, loop.free_kinds[k], loop.free_axes[k]
        e = freedom_direction(loop, k, R_WA, R_WB)
        biases_out[j] = bias_along(kind, axis, bodies, loop, e, motion, bias)
        if kind == ACROSS:
            biases_out[j] += _across_bias(axis, loop, R_WB, motion[3])
        unit = freedom_wrench(loop, k, e, ZERO3)
        for k6 in range(6):
            C_out[j, k6] = unit[k6]
