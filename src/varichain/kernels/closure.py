"""Errors of loops: how far they are open and how fast they open; their rows as a matrix."""

from varichain.kernels.couplings import load_slip_rates, load_slips
from varichain.kernels.jit import MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.loops import (
    error_between,
    loop_error,
    place_rows,
    place_rows_of,
    relative,
    row_bias,
    row_error,
    row_velocity,
)
from varichain.kernels.records import COORDINATES
from varichain.kernels.row_kinds import relative_bias
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import dot6, load3, load6


@helper
def counts(row, loop, error):
    """Whether an error of a row counts: that of a redundant row, which others should close, only beyond its tolerance.

    Which rows are redundant is what the last factor found.
    """
    return row.kept or abs(error) > loop.rank_tolerance


@helper
def place_with_errors(bodies, loops, rows, q, multipliers):
    """Place all rows, with their position errors as right-hand sides, negative.

    Returns the largest error, and the largest that counts.

    Needs: bodies placed.
    Gives: rows placed.
    """
    load_slips(bodies, loops, q)
    largest, counted = 0.0, 0.0
    for i in range(len(loops)):
        loop = loops[i]
        R_WA, R_WB = place_rows_of(bodies, loop, rows)
        error = error_between(loop, R_WA, R_WB, load3(loop.d))
        for r in range(loop.row, loop.row + loop.n_rows):
            multipliers[r] = -row_error(rows[r], loop, error)
            largest = max(largest, abs(multipliers[r]))
            if counts(rows[r], loop, multipliers[r]):
                counted = max(counted, abs(multipliers[r]))
    return largest, counted


@kernel(TABLE, VECTOR, VECTOR)
def loop_gaps(
    # layout
    table,
    # in
    q,
    # out (n_loops)
    gaps_out,
):
    """How far every loop, then every coupling, is open: the largest error of its rows [m or rad]."""
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    place_all(q, bodies, open_dofs(table))
    place_rows(bodies, loops, rows)
    load_slips(bodies, loops, q)
    for i in range(len(loops)):
        loop = loops[i]
        error = loop_error(bodies, loop)
        largest = 0.0
        for r in range(loop.row, loop.row + loop.n_rows):
            largest = max(largest, abs(row_error(rows[r], loop, error)))
        gaps_out[i] = largest


@kernel(TABLE, VECTOR, VECTOR)
def row_errors(
    # layout
    table,
    # in
    q,
    # out (n_rows)
    errors_out,
):
    """How far every row is from closed [m or rad]."""
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    place_all(q, bodies, open_dofs(table))
    place_with_errors(bodies, loops, rows, q, errors_out)
    for r in range(len(rows)):
        errors_out[r] = -errors_out[r]


@kernel(TABLE, VECTOR, VECTOR, VECTOR)
def row_velocities(
    # layout
    table,
    # in
    q,
    v,
    # out (n_rows)
    rates_out,
):
    """K v: how fast every row opens [m/s or rad/s]."""
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    move_all(q, v, bodies, open_dofs(table))
    place_rows(bodies, loops, rows)
    load_slip_rates(bodies, loops, v)
    for i in range(len(loops)):
        loop = loops[i]
        _, _, w_rel, v_rel = relative(bodies, loop)
        for r in range(loop.row, loop.row + loop.n_rows):
            rates_out[r] = row_velocity(rows[r], loop, w_rel, v_rel)


@kernel(TABLE, VECTOR, VECTOR, VECTOR)
def row_biases(
    # layout
    table,
    # in
    q,
    v,
    # out (n_rows)
    biases_out,
):
    """Kdot v of every row [m/s^2 or rad/s^2]."""
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    move_all(q, v, bodies, open_dofs(table))
    place_rows(bodies, loops, rows)
    for i in range(len(loops)):
        loop = loops[i]
        motion = relative(bodies, loop)
        bias = relative_bias(bodies, loop, motion)
        for r in range(loop.row, loop.row + loop.n_rows):
            biases_out[r] = row_bias(bodies, rows[r], loop, motion, bias)


@routine
def write_jacobian(bodies, dofs, loops, rows, K_out):
    """K (n_rows, n_v): rows as a matrix over the tree's freedoms.

    Needs: rows placed.
    """
    K_out[:, :] = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            K_out[loop.row, bodies[loop.body_A].dof] = 1.0
            K_out[loop.row, bodies[loop.body_B].dof] = -loop.pitch
            continue
        for r in range(loop.row, loop.row + loop.n_rows):
            k = bodies[loop.body_A].dof + bodies[loop.body_A].n_dof - 1
            while k >= 0:
                K_out[r, k] += dot6(load6(dofs[k].s), load6(rows[r].f_A))
                k = dofs[k].parent
            k = bodies[loop.body_B].dof + bodies[loop.body_B].n_dof - 1
            while k >= 0:
                K_out[r, k] -= dot6(load6(dofs[k].s), load6(rows[r].f_B))
                k = dofs[k].parent


@kernel(TABLE, VECTOR, MATRIX)
def row_jacobian(
    # layout
    table,
    # in
    q,
    # out (n_rows, n_v)
    K_out,
):
    """K: rows as a matrix over the tree's freedoms; forward dynamics never need it."""
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    place_all(q, bodies, dofs)
    place_rows(bodies, loops, rows)
    write_jacobian(bodies, dofs, loops, rows, K_out)
