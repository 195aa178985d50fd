"""Forward dynamics with all loops closed."""

from varichain.kernels.constraint_solve import factor, solve_closed
from varichain.kernels.couplings import forced_slip, load_slip_rates, load_slips
from varichain.kernels.forward_dynamics import inward_articulated, load_torques, outward_accelerations, outward_bias
from varichain.kernels.jit import TABLE, VECTOR, kernel, routine
from varichain.kernels.loop_joints import load_loop_forces
from varichain.kernels.loops import loop_error, place_rows, relative, row_bias, row_error, row_velocity
from varichain.kernels.records import COORDINATES
from varichain.kernels.row_kinds import relative_bias
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_loops,
    open_multipliers,
    open_rows,
)

_SOLVED_AT_ONCE = 1e-6  # a smaller pivot, as a part of its diagonal, leaves digits to a refinement


@routine
def accelerate(table, rate, q, v, a_out):
    """Accelerations of bodies whose bias forces and torques have been loaded, with all loops closed.

    `rate` is 1 / h if a step of length h is to undo the errors of the loops, 0 if they are closed otherwise.
    Returns the smallest pivot kept and the largest dropped.

    Needs: bodies moved, bias forces loaded, torques loaded.
    Gives: rows placed, rows factored.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    inward_articulated(bodies, dofs)
    if len(loops) == 0:
        outward_accelerations(bodies, dofs, a_out)
        return 1.0, 0.0
    multipliers = open_multipliers(table)
    place_rows(bodies, loops, rows)
    pivots = factor(table, False)
    if rate > 0.0:
        load_slips(bodies, loops, q)
        load_slip_rates(bodies, loops, v)
    for i in range(len(loops)):
        loop = loops[i]
        motion = relative(bodies, loop)
        bias = relative_bias(bodies, loop, motion)
        for r in range(loop.row, loop.row + loop.n_rows):
            rows[r].bias = 0.0 if loop.is_soft else row_bias(bodies, rows[r], loop, motion, bias)
            multipliers[r] = rows[r].wanted - rows[r].bias
        if loop.orientation == COORDINATES:
            multipliers[loop.row] = -forced_slip(bodies, dofs, loop)
        if rate > 0.0:
            error = loop_error(bodies, loop)
            for r in range(loop.row, loop.row + loop.n_rows):
                opening = row_velocity(rows[r], loop, motion[2], motion[3])
                multipliers[r] -= rate * (opening + rate * row_error(rows[r], loop, error))
    solve_closed(table, pivots[0] < _SOLVED_AT_ONCE, a_out)
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
    bodies, dofs = open_bodies(table), open_dofs(table)
    outward_bias(bodies, dofs, q, v)
    load_loop_forces(bodies, open_loops(table))
    load_torques(dofs, tau)
    return accelerate(table, 0.0, q, v, a_out)
