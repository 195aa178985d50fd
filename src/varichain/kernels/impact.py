"""The velocity jump of closing loops in motion [NY, V-C], with its accounts."""

from varichain.kernels.constraint_solve import factor_at_rest, solve
from varichain.kernels.couplings import count_couplings, forced_slip, load_slip_rates, slip_of
from varichain.kernels.jit import MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.loops import relative, row_velocity, wrench_at
from varichain.kernels.pivots import massless_freedom
from varichain.kernels.propagation import subtract_free
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_loops,
    open_multipliers,
    open_propagated,
    open_rows,
    open_support,
)
from varichain.kernels.totals import kinetic_energy, mass_and_center, momentum_about
from varichain.kernels.tuples import ZERO3, ZERO6, add6, add_scaled6, dot6, load3, load6, store3, store6

TOTALS = 19


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


@helper
def load_leftovers(bodies, dofs, loops, rows, dv, multipliers):
    """Put the multipliers aside, and load what rounding has left of the velocities that they were to change.

    The factor of G loses digits where rows nearly depend on each other; a second solution brings them back.
    """
    for i in range(len(loops)):
        loop = loops[i]
        _, _, w_rel, v_rel = relative(bodies, loop)
        A, B = bodies[loop.body_A], bodies[loop.body_B]
        dA_A, dA_B = add6(load6(A.dA), load6(A.forced)), add6(load6(B.dA), load6(B.forced))
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            wanted = -(1.0 + loop.restitution) * row_velocity(row, loop, w_rel, v_rel)
            row.x = multipliers[r]
            multipliers[r] = wanted - dot6(load6(row.f_A), dA_A) + dot6(load6(row.f_B), dA_B)
            if loop.orientation == COORDINATES:
                multipliers[r] -= slip_of(bodies, loop, dv) + forced_slip(bodies, dofs, loop)


@routine
def jump(table, v, dv_out):
    """Velocity jump of bodies that v has moved: of loops, of held freedoms' given jumps, of impulses on bodies.

    Of a held freedom dv is what is beyond its given jump: zero.
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
    subtract_free(loops, open_support(table), open_propagated(table), dofs, multipliers)
    solve(table, dv_out)
    load_leftovers(bodies, dofs, loops, rows, dv_out, multipliers)
    solve(table, dv_out)
    for r in range(len(rows)):
        multipliers[r] += rows[r].x


@routine
def gather_wrenches(loops, rows, multipliers, wrenches_out):
    """Wrenches [moment; force] of rows, which must be placed, and joints on bodies A: at the loops' points.

    Couplings, behind the others and only if there is room for them, have their one force in the first place.
    """
    for i in range(len(wrenches_out)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            store6(wrenches_out[i], (multipliers[loop.row], 0.0, 0.0, 0.0, 0.0, 0.0))
            continue
        total = load6(loop.own)
        for r in range(loop.row, loop.row + loop.n_rows):
            unit = wrench_at(rows[r], loop, load3(rows[r].e), ZERO3)
            total = add_scaled6(total, multipliers[r], unit)
        store6(wrenches_out[i], total)


@kernel(TABLE, VECTOR, MATRIX)
def loop_wrenches(
    # layout
    table,
    # in (n_rows)
    multipliers,
    # out (n_loops, 6)
    wrenches_out,
):
    """Wrenches [moment; force] at the loops' points from multipliers; the rows must be placed."""
    gather_wrenches(open_loops(table), open_rows(table), multipliers, wrenches_out)


@kernel(TABLE, VECTOR, VECTOR, VECTOR)
def impact(
    # layout
    table,
    # in
    q,
    v,
    # out (TOTALS + 2 n_v + n_rows + 6 n_loops): totals; jump; velocities after it; impulses of the rows, of the loops.
    # The totals are kinetic energy before and after, momentum before and after about the centre of mass, centre of
    # mass, number of dependent rows, largest velocity that a loop still opens with (as a part of the fastest)
    out,
):
    """Velocity jump as `velocity_jump`, with the accounts of energy and momentum.

    Returns the index of a freedom that moves no inertia, -1 if there is none.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    n_v, n_rows, n_loops = len(dofs), len(rows), len(loops) - count_couplings(loops)
    i_v, i_rows = TOTALS + n_v, TOTALS + 2 * n_v
    dv_out, v_out, wrenches_out = out[TOTALS:i_v], out[i_v:i_rows], out[i_rows + n_rows :].reshape((n_loops, 6))
    move_all(q, v, bodies, dofs)
    _, center = mass_and_center(bodies)
    out[0] = kinetic_energy(bodies, dofs, v)
    store6(out[2:8], momentum_about(bodies, center))
    jump(table, v, dv_out)
    for k in range(n_v):
        v_out[k] = v[k] + dv_out[k]
    massless = massless_freedom(table)
    move_all(q, v_out, bodies, dofs)
    out[1] = kinetic_energy(bodies, dofs, v_out)
    store6(out[8:14], momentum_about(bodies, center))
    store3(out[14:17], center)
    gather_wrenches(loops, rows, multipliers, wrenches_out)
    dependent = 0
    for r in range(n_rows):
        out[i_rows + r] = multipliers[r]
        dependent += 1 - rows[r].kept
    out[17] = dependent
    fastest = 1.0
    for k in range(n_v):
        fastest = max(fastest, abs(v[k]))
    load_slip_rates(bodies, loops, v_out)
    out[18] = largest_opening(bodies, loops, rows) / fastest
    return massless


@routine
def largest_opening(bodies, loops, rows):
    """Largest velocity that a loop without restitution opens with, of bodies that have been moved."""
    largest = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.restitution == 0.0:
            _, _, w_rel, v_rel = relative(bodies, loop)
            for r in range(loop.row, loop.row + loop.n_rows):
                largest = max(largest, abs(row_velocity(rows[r], loop, w_rel, v_rel)))
    return largest
