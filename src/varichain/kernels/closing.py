"""Closing loops by Newton's method in the mass metric, positions and velocities, with locked freedoms kept.

After a step of integration, the factor of the last evaluation, a few roundings of a step away, is as good as a new one
for corrections this small: each takes one solution, and only errors that do not shrink are factored anew. A step of
Euler's evaluates nothing at its end. What it opens is known at its start, where one correction makes it a thousandth
(`passages.foresee_opening`); with a new factor, made there, one correction of positions and two of velocities do the
rest. With the old one, each would gain two digits only.
"""

from varichain.kernels.closure import counts, place_with_errors
from varichain.kernels.constraint_solve import articulate_at_rest, factor, factor_at_rest, solve
from varichain.kernels.controls import drive
from varichain.kernels.couplings import load_slip_rates
from varichain.kernels.jit import routine
from varichain.kernels.kinematics import move_all, move_placed, place_all
from varichain.kernels.loops import place_rows, relative, row_velocity
from varichain.kernels.manifold import step_all
from varichain.kernels.restraints import aim_locks, snap_to_stops
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers, open_rows
from varichain.kernels.totals import kinetic_energy
from varichain.kernels.tuples import add6, load6, store6

# After a step, loops are closed to rounding of metres and radians; velocities to rounding of the fastest.
CLOSED, STILL = 1e-13, 1e-13
_SMALL = 1e-3  # part of the fastest velocity: a smaller change takes no energy that counts
CHEAP, MOST = 8, 16  # corrections with the old factor, and all together


@routine
def correct(table, step):
    """Step of the coordinates for the rows' right-hand sides.

    Needs: rows factored.
    """
    dofs = open_dofs(table)
    for k in range(len(dofs)):
        dofs[k].u = 0.0
    solve(table, step)


@routine
def keep_locks(context, t, q, v, work):
    """Put driven joints on their motion and locked joints on their stops."""
    run = context.run
    if run.n_drives > 0:
        drive(context.channels, context.motion, run, t, q, v, work)
    snap_to_stops(context.restraints, q, v)


@routine
def close_positions(table, restraints, q, v, step, tolerance, is_new, cheap, most):
    """Close all loops, q in place; returns the largest error left that counts [m or rad].

    The first `cheap` corrections of at most `most` use the factor that is there, or, if it `is_new`, one made for them.

    Gives: bodies placed, rows placed.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    if len(loops) == 0:
        return 0.0
    largest, before, is_solved = 0.0, 1e300, False
    for count in range(most + 1):
        aim_locks(restraints, bodies, dofs, q, v)
        place_all(q, bodies, dofs)
        largest, counted = place_with_errors(bodies, loops, rows, q, multipliers)
        if is_solved:  # which rows are redundant is known
            largest = counted
        # errors at the level of rounding do not shrink any more
        is_rounding = largest < 100.0 * max(tolerance, CLOSED) and largest > 0.5 * before
        if not largest > tolerance or count == most or is_rounding:
            break
        if count >= cheap or (is_new and count == 0):
            articulate_at_rest(table)
            # a row that is doubted is not closed: if the others are, and this error stays, the row is one of its own
            factor(table, is_solved and largest > 0.5 * before)
        before, is_solved = largest, True
        correct(table, step)
        step_all(bodies, q, step, 1.0, q)
        snap_to_stops(restraints, q, v)
    return largest


@routine
def close_velocities(table, restraints, q, v, step, tolerance, cheap):
    """Make loops stay closed by the smallest change of v in the mass metric.

    `tolerance` is a part of the fastest velocity; the first `cheap` corrections use the factor that is there.
    Returns the part of the kinetic energy that the change took.

    Needs: rows placed.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    if len(loops) == 0:
        return 0.0
    before, fastest, changed, lost = 1e300, 1.0, 0.0, 0.0
    for k in range(len(v)):
        fastest = max(fastest, abs(v[k]))
    if len(restraints) > 0:  # which turn the axes of balls
        aim_locks(restraints, bodies, dofs, q, v)
        move_all(q, v, bodies, dofs)
        place_rows(bodies, loops, rows)
    else:
        move_placed(v, bodies)
    for count in range(MOST + 1):
        load_slip_rates(bodies, loops, v)
        largest = 0.0
        for i in range(len(loops)):
            loop = loops[i]
            _, _, w_rel, v_rel = relative(bodies, loop)
            for r in range(loop.row, loop.row + loop.n_rows):
                has_none = rows[r].is_open or loop.is_soft
                multipliers[r] = 0.0 if has_none else -row_velocity(rows[r], loop, w_rel, v_rel)
                rows[r].right_side = multipliers[r]
                if count == 0 or counts(rows[r], loop, multipliers[r] / fastest):
                    largest = max(largest, abs(multipliers[r]))
        if (
            not largest > tolerance * fastest
            or count == MOST
            or (largest < 100.0 * STILL * fastest and largest > 0.5 * before)
        ):
            break
        if count == cheap:
            factor_at_rest(table)
        before = largest
        correct(table, step)
        for k in range(len(v)):
            v[k] += step[k]
            changed = max(changed, abs(step[k]))
        for r in range(len(rows)):  # dv^T M dv / 2, with dv = M^-1 K^T x and K dv the right-hand sides
            lost += 0.5 * multipliers[r] * rows[r].right_side
        for b in range(1, len(bodies)):  # positions stay: velocities of bodies change by the solution
            store6(bodies[b].V, add6(load6(bodies[b].V), load6(bodies[b].dA)))
    if changed < _SMALL * fastest:
        return 0.0
    return lost / (lost + kinetic_energy(bodies, dofs, v))
