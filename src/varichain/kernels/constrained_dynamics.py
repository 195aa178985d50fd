"""Forward dynamics with all loops closed."""

from varichain.kernels.constraint_solve import factor, solve
from varichain.kernels.forward_dynamics import inward_articulated, load_torques, outward_bias
from varichain.kernels.jit import TABLE, VECTOR, kernel, routine
from varichain.kernels.loop_joints import load_loop_forces
from varichain.kernels.loops import place_rows, relative, row_bias
from varichain.kernels.propagation import subtract_free
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_loops,
    open_multipliers,
    open_propagated,
    open_rows,
    open_support,
)


@routine
def constrained_accelerations(table, q, v, tau, a_out):
    """Joint accelerations with all loops closed; see `constrained_forward_dynamics`."""
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    outward_bias(bodies, dofs, q, v)
    load_loop_forces(bodies, loops)
    load_torques(dofs, tau)
    inward_articulated(bodies, dofs)
    place_rows(bodies, loops, rows)
    pivots = factor(table)
    for i in range(len(loops)):
        loop = loops[i]
        motion = relative(bodies, loop)
        for r in range(loop.row, loop.row + loop.n_rows):
            multipliers[r] = -row_bias(bodies, rows[r], loop, motion)
    subtract_free(loops, open_support(table), open_propagated(table), dofs, multipliers)
    solve(table, a_out)
    return pivots


@kernel(TABLE, VECTOR, VECTOR, VECTOR, VECTOR)
def constrained_forward_dynamics(
    # layout
    table,
    # in
    q,
    v,
    tau,
    # out
    a_out,
):
    """Joint accelerations with all loops closed: M a + bias = tau + K^T x, K a + Kdot v = 0.

    The forces x stay in the multipliers. Returns the smallest pivot kept and the largest dropped.
    """
    return constrained_accelerations(table, q, v, tau, a_out)
