"""Keeping closed what is: contacts at their surfaces, joints at their stops, what sticks at rest; loops beside them.

The least step in the mass metric, as for loops, whose rows are kept by the same solution.
"""

from varichain.kernels.constraint_solve import factor_at_rest
from varichain.kernels.contact_closed import gather_closed
from varichain.kernels.contact_equations import eliminate, equation, fixed
from varichain.kernels.contact_geometry import measure_contact
from varichain.kernels.contact_items import write_rows, write_velocities
from varichain.kernels.contact_records import CONE, DRY, DRY_BALL, SLIDE, STOP
from varichain.kernels.contact_rows import fill_problem, respond
from varichain.kernels.jit import routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.loops import place_rows
from varichain.kernels.manifold import step_all
from varichain.kernels.passages import keep_positions, keep_velocities
from varichain.kernels.restraints import ball_angles, measure
from varichain.kernels.run_records import TWIST
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows

_KEPT = 1e-13  # [m or rad], and part of the fastest velocity, by which what is closed may be open
_MOST_CORRECTIONS = 6


@routine
def _load_gaps(context, q, n_items, b):
    """Gaps of items, negative, and which of their rows have one; returns the largest.

    Needs: bodies moved.
    """
    table, contacts, restraints, items = context.table, context.contacts, context.restraints, context.problem.items
    bodies, largest = open_bodies(table), 0.0
    for i in range(n_items):
        item = items[i]
        for r in range(item.row, item.row + item.n_rows):
            b[r] = 0.0
        if item.kind in (CONE, SLIDE):
            measure_contact(bodies, contacts[item.source])
            b[item.row] = -contacts[item.source].gap
        elif item.kind == STOP:
            restraint = restraints[item.source]
            b[item.row] = restraint.x - restraint.upper if item.side > 0 else restraint.lower - restraint.x
            if restraint.kind == TWIST:
                _, _, cos_half, _, _, _ = ball_angles(restraint, q)
                b[item.row] *= cos_half
        largest = max(largest, abs(b[item.row]))
    return largest


@routine
def _load_speeds(items, n_items, u, b):
    """Velocities with which closed rows open, negative; those of rows that slip are none. Returns the largest."""
    largest = 0.0
    for i in range(n_items):
        item = items[i]
        for r in range(item.row, item.row + item.n_rows):
            b[r] = 0.0 if item.kind == SLIDE and r > item.row else -u[r]
            largest = max(largest, abs(b[r]))
    return largest


@routine
def _solve_closed(problem, n_items, n, with_velocities):
    """Impulses x with W x = b in the closed rows, of dependent ones a basic solution; the other rows have none.

    Positions are closed in the first row of contacts and stops, velocities in all that do not slip.
    """
    items, J, W = problem.items, problem.J, problem.W
    for i in range(n_items):
        item = items[i]
        is_rough = item.kind in (DRY, DRY_BALL)
        for r in range(item.row, item.row + item.n_rows):
            is_first = r == item.row
            is_closed = is_first or item.kind != SLIDE if with_velocities else is_first and not is_rough
            if is_closed and W[r, r] > 0.0:
                equation(J, r, n, W, r, problem.b[r], 1.0 / W[r, r])
            else:
                fixed(J, r, n, 0.0)
    eliminate(J, n, problem.x)


@routine
def _load_closed(context, q, n_items, n):
    """Rows of all closed items where the bodies are now.

    Needs: bodies moved.
    Gives: rows factored.
    """
    factor_at_rest(context.table)
    write_rows(context.table, context.contacts, context.restraints, q, context.problem, n_items)
    fill_problem(context.table, context.problem, n)


@routine
def keep_closed_positions(context, t, q, v, step):
    """Close loops, and bring closed contacts to their surfaces and stops; returns the largest error of a loop.

    Gives: bodies moved.
    """
    table, problem = context.table, context.problem
    bodies, dofs = open_bodies(table), open_dofs(table)
    closure = keep_positions(context, t, q, v, step, False)
    n_items, n = gather_closed(context.contacts, context.restraints, problem.items)
    move_all(q, v, bodies, dofs)
    if n_items == 0:
        return closure
    before = 1e300
    for _ in range(_MOST_CORRECTIONS):
        measure(table, context.restraints, q, v)
        largest = _load_gaps(context, q, n_items, problem.b)
        if not largest > _KEPT or largest > 0.5 * before:
            break
        before = largest
        _load_closed(context, q, n_items, n)
        _solve_closed(problem, n_items, n, False)
        respond(table, problem, n, problem.x, step)
        step_all(bodies, q, step, 1.0, q)
        closure = keep_positions(context, t, q, v, step, False)
        move_all(q, v, bodies, dofs)
    return closure


@routine
def keep_closed_velocities(context, q, v, step):
    """Let loops and closed contacts stay closed, and sticking ones at rest; returns the part of energy that loops took.

    Gives: bodies moved.
    """
    table, problem = context.table, context.problem
    bodies, dofs = open_bodies(table), open_dofs(table)
    place_all(q, bodies, dofs)
    place_rows(bodies, open_loops(table), open_rows(table))
    jolt = keep_velocities(context, q, v, step)
    move_all(q, v, bodies, dofs)
    n_items, n = gather_closed(context.contacts, context.restraints, problem.items)
    if n_items == 0:
        return jolt
    fastest, before, is_loaded = 1.0, 1e300, False
    for k in range(len(v)):
        fastest = max(fastest, abs(v[k]))
    for i in range(n_items):
        if problem.items[i].kind in (CONE, SLIDE):
            measure_contact(bodies, context.contacts[problem.items[i].source])
    for _ in range(_MOST_CORRECTIONS):
        write_velocities(table, context.contacts, context.restraints, q, v, problem.items, n_items, problem.u)
        largest = _load_speeds(problem.items, n_items, problem.u, problem.b)
        if not largest > _KEPT * fastest or largest > 0.5 * before:
            break
        before = largest
        if not is_loaded:
            _load_closed(context, q, n_items, n)
            is_loaded = True
        _solve_closed(problem, n_items, n, True)
        respond(table, problem, n, problem.x, step)
        for k in range(len(v)):
            v[k] += step[k]
        move_all(q, v, bodies, dofs)
    return jolt
