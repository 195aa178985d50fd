"""The one solve of all constraints: factor once, then accelerations, jumps or steps from their right-hand sides."""

from varichain.kernels.articulated import store_articulated, store_force
from varichain.kernels.couplings import slip_of
from varichain.kernels.factorization import factor_gram, solve_gram
from varichain.kernels.forward_dynamics import inward_articulated, outward_accelerations
from varichain.kernels.gram import LEAST_DIAGONAL, LENGTHS, fill_gram, greatest
from varichain.kernels.inertias import about_reference, external_force, rigid_mul
from varichain.kernels.jit import TABLE, VECTOR, kernel, routine
from varichain.kernels.kinematics import place_all
from varichain.kernels.loops import frame_error, loop_error, place_rows
from varichain.kernels.orthogonal import (
    SURE_BESIDE_DROPPED,
    SURELY_INDEPENDENT,
    SURELY_REDUNDANT,
    orthogonal_factor,
)
from varichain.kernels.propagation import add_multipliers, propagate, subtract_free
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import (
    open_answers,
    open_bodies,
    open_dofs,
    open_gram,
    open_groups,
    open_loops,
    open_multipliers,
    open_pairs,
    open_propagated,
    open_rows,
    open_shared,
    open_support,
)
from varichain.kernels.tuples import add_scaled6, dot6, load3, load6, load9, scale3

# A force that gives back borrowed inertia is right to rounding after a few corrections, each a thousand times smaller.
_RETURNED, _MOST_RETURNS = 1e-14, 40
# A row that others imply where loops are closed has a part of its own where they are open: 0.3 to 1.5 of the opening in
# the linkages of Bricard and Bennett. To keep it for that would be to correct by many times what loops are open.
_IMPLIED_BEYOND = 5.0
_DOUBTFUL = 1e-4  # a pivot above, as a part of its diagonal, is the row's own however far loops are open
_CLOSED, _OPEN = 1e-12, 1e-16  # [m]; part of a diagonal


@routine
def _doubt(table):
    """Largest pivot that a row may owe to open loops, as a part of the largest diagonal that its freedoms allow.

    Needs: rows placed.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    support = open_support(table)
    largest = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES or loop.is_modal:
            continue
        error, angle, length = loop_error(bodies, loop), 0.0, 0.0
        for r in range(loop.row, loop.row + loop.n_rows):
            gap = abs(frame_error(rows[r], loop, error))
            if rows[r].kind in LENGTHS:
                length = max(length, gap)
            else:
                angle = max(angle, gap)
        largest = max(largest, angle * angle)
        if length > _CLOSED:  # as an angle, by the lever of the loop's freedoms
            turning, moving = greatest(loop, support, dofs)
            largest = max(largest, length * length * turning / moving if moving > 0.0 else 0.0)
    return min(_IMPLIED_BEYOND * _IMPLIED_BEYOND * largest, _DOUBTFUL)


@routine
def factor(table, trusts_rows):
    """Propagated rows, Gram matrix and its factor.

    A row whose pivot may come from loops being open is dropped, unless it `trusts_rows`. Returns the smallest pivot
    kept and the largest dropped, as parts of their diagonals.

    Needs: inertias articulated, rows placed.
    Gives: rows factored.
    """
    dofs, loops, rows, pairs = open_dofs(table), open_loops(table), open_rows(table), open_pairs(table)
    support, shared = open_support(table), open_shared(table)
    groups, propagated, gram = open_groups(table), open_propagated(table), open_gram(table)
    propagate(open_bodies(table), dofs, loops, rows, support, propagated)
    fill_gram(loops, pairs, support, shared, groups, dofs, propagated, rows, gram)
    smallest_kept, largest_dropped = factor_gram(groups, rows, gram)
    doubt, is_doubtful = 0.0, False
    if (smallest_kept < SURE_BESIDE_DROPPED or largest_dropped > SURELY_REDUNDANT) and not trusts_rows:
        doubt = _doubt(table)
        # in this order a part that comes from elsewhere grows with the reciprocals of the pivots before it
        is_doubtful = LEAST_DIAGONAL * smallest_kept < doubt or largest_dropped > SURELY_REDUNDANT
        is_doubtful = is_doubtful or (smallest_kept < _DOUBTFUL and doubt > _OPEN)
        if is_doubtful:
            fill_gram(loops, pairs, support, shared, groups, dofs, propagated, rows, gram)
        for r in range(len(rows)):
            rows[r].least = max(rows[r].least, doubt * rows[r].most)
        if is_doubtful:
            smallest_kept, largest_dropped = factor_gram(groups, rows, gram)
    # a pivot has the rounding, and what is doubted, of all before it, as parts of the smallest
    least = SURE_BESIDE_DROPPED if largest_dropped > 0.0 or is_doubtful else SURELY_INDEPENDENT
    if smallest_kept < least or largest_dropped > max(SURELY_REDUNDANT, doubt / LEAST_DIAGONAL):
        return orthogonal_factor(loops, groups, support, dofs, propagated, rows, gram)
    return smallest_kept, largest_dropped


@routine
def solve(table, out):
    """Multipliers from the rows' right-hand sides, then accelerations (or jumps, or steps) of all freedoms.

    Needs: rows factored.
    """
    bodies, dofs, multipliers = open_bodies(table), open_dofs(table), open_multipliers(table)
    answers = open_answers(table)
    solve_gram(open_groups(table), open_gram(table), multipliers, answers)
    add_multipliers(open_loops(table), open_support(table), open_propagated(table), answers, dofs)
    outward_accelerations(bodies, dofs, out)


@routine
def solve_closed(table, refined, out):
    """Accelerations, or jumps, with which all rows have their right-hand sides; the freedoms' own forces act too.

    The factor of G loses digits where rows nearly depend on each other; a second solution (`refined`), of the residual,
    brings them back. More of them give back what massless freedoms have borrowed. The multipliers stay in their place.

    Needs: rows factored, rows placed.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    for r in range(len(rows)):
        rows[r].right_side = multipliers[r]
    subtract_free(loops, open_support(table), open_propagated(table), dofs, multipliers)
    solve(table, out)
    if refined:
        _refine(table, out)
    if bodies[0].borrows:
        for k in range(len(dofs)):
            dofs[k].returned = 0.0
        for _ in range(_MOST_RETURNS):
            if not _return_inertia(dofs, out):
                break
            outward_accelerations(bodies, dofs, out)
            _refine(table, out)


@routine
def _return_inertia(dofs, a):
    """Give back, as a force, what borrowed inertias took at these accelerations; returns whether that was news.

    A massless body hangs on its joint alone (U = 0): the force goes no further towards the ground.
    """
    is_new = False
    for k in range(len(dofs)):
        dof = dofs[k]
        lent = (dof.inertia - dof.armature) * a[k]
        is_new = is_new or abs(lent - dof.returned) > _RETURNED * abs(lent)
        dof.u += lent - dof.returned
        dof.returned = lent
    return is_new


@routine
def _refine(table, out):
    """Add the solution of what accelerations leave of the right-hand sides.

    Needs: rows factored, rows placed.
    """
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    for i in range(len(loops)):
        loop = loops[i]
        dA_A, dA_B = load6(bodies[loop.body_A].dA), load6(bodies[loop.body_B].dA)
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            row.x = multipliers[r]
            multipliers[r] = row.right_side - dot6(load6(row.f_A), dA_A) + dot6(load6(row.f_B), dA_B)
            if loop.orientation == COORDINATES:
                multipliers[r] = row.right_side - slip_of(bodies, loop, out)
            multipliers[r] -= row.compliance * row.x
    solve(table, out)
    for r in range(len(rows)):
        multipliers[r] += rows[r].x


@routine
def factor_at_rest(table):
    """Articulated inertias and the factor of G, without velocities and torques.

    Body forces: prescribed jumps of locked freedoms and external impulses only.

    Needs: bodies placed.
    Gives: bias forces loaded, torques loaded.
    """
    articulate_at_rest(table)
    place_rows(open_bodies(table), open_loops(table), open_rows(table))
    return factor(table, False)


@routine
def articulate_at_rest(table):
    """Articulated inertias without velocities and torques, as for `factor_at_rest`.

    Needs: bodies placed.
    Gives: bias forces loaded, torques loaded.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(1, len(bodies)):
        body = bodies[i]
        c = load3(body.c)
        h, I = scale3(body.mass, c), about_reference(body, load9(body.R), c)
        store_articulated(body.I_A, body.mass, h, I)
        asked = rigid_mul(body.mass, h, I, load6(body.forced))
        store_force(body.f, add_scaled6(asked, -1.0, external_force(body, load3(body.p))))
    for k in range(len(dofs)):
        dofs[k].u = 0.0
    inward_articulated(bodies, dofs)


@kernel(TABLE, VECTOR, VECTOR)
def independent_rows(
    # layout
    table,
    # in
    q,
    # out (n_rows)
    kept_out,
):
    """Which rows count as independent, 1 or 0: the decision that all of dynamics makes."""
    rows = open_rows(table)
    place_all(q, open_bodies(table), open_dofs(table))
    factor_at_rest(table)
    for r in range(len(rows)):
        kept_out[r] = rows[r].kept
