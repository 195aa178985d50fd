"""The velocity jump of closing loops in motion [NY, V-C]."""

from varichain.kernels.closure import counts
from varichain.kernels.constraint_solve import factor_at_rest, solve_closed
from varichain.kernels.couplings import forced_slip, load_slip_rates
from varichain.kernels.jit import TABLE, VECTOR, kernel, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.loops import relative, row_velocity
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_loops,
    open_multipliers,
    open_rows,
)
from varichain.kernels.tuples import ZERO6, dot6, load6, store6


@kernel(TABLE, VECTOR, VECTOR, VECTOR)
def velocity_jump(
    # layout
    table,
    # in
    q,
    v,
    # out
    dv_out,
):
    """Smallest jump in the mass metric after which K v = 0: the impact of closing all loops at once [NY, (25)-(38)].

    A loop with restitution opens afterwards with that part of the velocity that it closed with.
    The impulses stay in the multipliers.
    """
    move_all(q, v, open_bodies(table), open_dofs(table))
    jump(table, v, dv_out)


@routine
def jump(table, v, dv_out):
    """Velocity jump by loops, by the given jumps of locked freedoms, and by impulses on bodies.

    The entry of a locked freedom is the part beyond its given jump: zero.

    Needs: bodies moved.
    Gives: rows placed.
    """
    bodies, dofs, loops, rows, multipliers = (
        open_bodies(table),
        open_dofs(table),
        open_loops(table),
        open_rows(table),
        open_multipliers(table),
    )
    factor_at_rest(table)
    load_slip_rates(bodies, loops, v)
    for i in range(len(loops)):
        loop = loops[i]
        store6(loop.own, ZERO6)  # no spring or damper gives an impulse
        _, _, w_rel, v_rel = relative(bodies, loop)
        forced_A, forced_B = load6(bodies[loop.body_A].forced), load6(bodies[loop.body_B].forced)
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            given = dot6(load6(row.f_A), forced_A) - dot6(load6(row.f_B), forced_B)
            if loop.orientation == COORDINATES:
                given += forced_slip(bodies, dofs, loop)
            multipliers[r] = -(1.0 + loop.restitution) * row_velocity(row, loop, w_rel, v_rel) - given
    solve_closed(table, True, dv_out)


@routine
def largest_opening(bodies, loops, rows, fastest):
    """Largest velocity that counts with which a loop without restitution opens.

    Needs: bodies moved, rows placed, slip rates loaded.
    """
    largest = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.restitution == 0.0:
            _, _, w_rel, v_rel = relative(bodies, loop)
            for r in range(loop.row, loop.row + loop.n_rows):
                opening = row_velocity(rows[r], loop, w_rel, v_rel)
                if not rows[r].is_open and counts(rows[r], loop, opening / fastest):
                    largest = max(largest, abs(opening))
    return largest
