"""Constrained accelerations, velocities and positions: the one solve of `gram` with three right-hand sides."""

from varichain.kernels.forward_dynamics import inward_articulated, load_torques, outward_accelerations, outward_bias
from varichain.kernels.gram import (
    SURELY_DEPENDENT,
    SURELY_INDEPENDENT,
    add_multipliers,
    choose_rows,
    factor_gram,
    fill_gram,
    propagate,
    solve_gram,
    subtract_free,
)
from varichain.kernels.inertias import about_reference, store_articulated
from varichain.kernels.jit import INTEGER, MATRIX, NUMBER, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.loops import loop_error, place_rows, relative, row_bias, row_error, row_velocity, wrench_at
from varichain.kernels.manifold import step_all
from varichain.kernels.pivots import massless_freedom
from varichain.kernels.tables import (
    open_bodies,
    open_dofs,
    open_gram,
    open_loops,
    open_multipliers,
    open_pairs,
    open_propagated,
    open_rows,
    open_shared,
    open_support,
)
from varichain.kernels.totals import kinetic_energy, mass_and_center, momentum_about
from varichain.kernels.tuples import ZERO3, ZERO6, add_scaled6, dot6, load3, load6, load9, scale3, store3, store6


@routine
def factor(table):
    """Propagated rows, Gram matrix and its factor; the articulated sweep and the rows' geometry must be done.

    Returns the smallest pivot kept and the largest dropped, as parts of their diagonals.
    """
    dofs, loops, rows, pairs = open_dofs(table), open_loops(table), open_rows(table), open_pairs(table)
    support, shared = open_support(table), open_shared(table)
    propagated, gram = open_propagated(table), open_gram(table)
    propagate(dofs, loops, rows, support, propagated)
    fill_gram(loops, pairs, support, shared, dofs, propagated, rows, gram)
    smallest_kept, largest_dropped = factor_gram(False, loops, rows, gram)
    if smallest_kept < SURELY_INDEPENDENT or largest_dropped > SURELY_DEPENDENT:
        fill_gram(loops, pairs, support, shared, dofs, propagated, rows, gram)
        smallest_kept, largest_dropped = choose_rows(gram, rows)
        factor_gram(True, loops, rows, gram)
    return smallest_kept, largest_dropped


@routine
def solve(table, out):
    """Multipliers from the rows' right-hand sides, then accelerations (or jumps, or steps) of all freedoms."""
    bodies, dofs, multipliers = open_bodies(table), open_dofs(table), open_multipliers(table)
    solve_gram(open_rows(table), open_gram(table), multipliers)
    add_multipliers(open_loops(table), open_support(table), open_propagated(table), multipliers, dofs)
    outward_accelerations(bodies, dofs, out)


@routine
def factor_at_rest(table):
    """Articulated inertias with no force anywhere, and the factor of G; bodies must be placed."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(1, len(bodies)):
        body = bodies[i]
        c = load3(body.c)
        store_articulated(body.I_A, body.mass, scale3(body.mass, c), about_reference(body, load9(body.R), c))
        store6(body.f, ZERO6)
    for k in range(len(dofs)):
        dofs[k].u = 0.0
    inward_articulated(bodies, dofs)
    place_rows(bodies, open_loops(table), open_rows(table))
    return factor(table)


@helper
def load_errors(bodies, loops, rows, multipliers):
    """Position errors of all rows as right-hand sides, negative; returns the largest [m or rad]."""
    largest = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        error = loop_error(bodies, loop)
        for r in range(loop.row, loop.row + loop.n_rows):
            multipliers[r] = -row_error(rows[r], loop, error)
            largest = max(largest, abs(multipliers[r]))
    return largest


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
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    outward_bias(bodies, dofs, q, v)
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
    jump(table, dv_out)


@routine
def jump(table, dv_out):
    """Velocity jump of bodies that have been moved."""
    bodies, loops, rows, multipliers = (
        open_bodies(table),
        open_loops(table),
        open_rows(table),
        open_multipliers(table),
    )
    factor_at_rest(table)
    for i in range(len(loops)):
        loop = loops[i]
        _, _, w_rel, v_rel = relative(bodies, loop)
        for r in range(loop.row, loop.row + loop.n_rows):
            multipliers[r] = -(1.0 + loop.restitution) * row_velocity(rows[r], loop, w_rel, v_rel)
    solve(table, dv_out)


@routine
def gather_wrenches(loops, rows, multipliers, wrenches_out):
    """Wrenches [moment; force] at the loops' points, world axes, on bodies A; the rows must be placed."""
    for i in range(len(loops)):
        loop = loops[i]
        total = ZERO6
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


@kernel(TABLE, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX)
def impact(
    # layout
    table,
    # in
    q,
    v,
    # out: jump (n_v), velocities after it (n_v), (18): kinetic energy before and after, momentum before and after about
    # the centre of mass, centre of mass, number of dependent rows; impulses at the loops (n_loops, 6)
    dv_out,
    v_out,
    totals_out,
    wrenches_out,
):
    """Velocity jump as `velocity_jump`, with the accounts of energy and momentum.

    Returns the index of a freedom that moves no inertia, -1 if there is none.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    move_all(q, v, bodies, dofs)
    _, center = mass_and_center(bodies)
    totals_out[0] = kinetic_energy(bodies, dofs, v)
    store6(totals_out[2:8], momentum_about(bodies, center))
    jump(table, dv_out)
    for k in range(len(dofs)):
        v_out[k] = v[k] + dv_out[k]
    massless = massless_freedom(table)
    move_all(q, v_out, bodies, dofs)
    totals_out[1] = kinetic_energy(bodies, dofs, v_out)
    store6(totals_out[8:14], momentum_about(bodies, center))
    store3(totals_out[14:17], center)
    rows = open_rows(table)
    gather_wrenches(open_loops(table), rows, open_multipliers(table), wrenches_out)
    dependent = 0
    for r in range(len(rows)):
        dependent += 1 - rows[r].kept
    totals_out[17] = dependent
    return massless


@kernel(TABLE, VECTOR, VECTOR)
def loop_gaps(
    # layout
    table,
    # in
    q,
    # out (n_loops)
    gaps_out,
):
    """How far every loop is open: the largest error of its rows [m or rad]."""
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    place_all(q, bodies, open_dofs(table))
    place_rows(bodies, loops, rows)
    for i in range(len(loops)):
        loop = loops[i]
        error = loop_error(bodies, loop)
        largest = 0.0
        for r in range(loop.row, loop.row + loop.n_rows):
            largest = max(largest, abs(row_error(rows[r], loop, error)))
        gaps_out[i] = largest


@kernel(TABLE, VECTOR, NUMBER, INTEGER, VECTOR)
def project_position(
    # layout
    table,
    # in and out
    q,
    # in
    tolerance,
    most_steps,
    # work (n_v)
    step,
):
    """Close all loops by Newton's method in the mass metric; returns the largest error left [m or rad].

    Meant for small errors, such as a step of integration leaves.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    for count in range(most_steps + 1):
        place_all(q, bodies, dofs)
        place_rows(bodies, loops, rows)
        largest = load_errors(bodies, loops, rows, open_multipliers(table))
        if not largest > tolerance or count == most_steps:
            break
        factor_at_rest(table)
        solve(table, step)
        step_all(bodies, q, step, 1.0, q)
    return largest


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
    place_rows(bodies, loops, rows)
    load_errors(bodies, loops, rows, errors_out)
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
        for r in range(loop.row, loop.row + loop.n_rows):
            biases_out[r] = row_bias(bodies, rows[r], loop, motion)


@kernel(TABLE, VECTOR, MATRIX)
def row_jacobian(
    # layout
    table,
    # in
    q,
    # out (n_rows, n_v)
    K_out,
):
    """K: rows as a matrix over the tree's freedoms, for references and reports; the solver never needs it."""
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    place_all(q, bodies, dofs)
    place_rows(bodies, loops, rows)
    K_out[:, :] = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        for r in range(loop.row, loop.row + loop.n_rows):
            k = bodies[loop.body_A].dof + bodies[loop.body_A].n_dof - 1
            while k >= 0:
                K_out[r, k] += dot6(load6(dofs[k].s), load6(rows[r].f_A))
                k = dofs[k].parent
            k = bodies[loop.body_B].dof + bodies[loop.body_B].n_dof - 1
            while k >= 0:
                K_out[r, k] -= dot6(load6(dofs[k].s), load6(rows[r].f_B))
                k = dofs[k].parent
