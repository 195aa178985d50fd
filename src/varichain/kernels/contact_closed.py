"""Accelerations while contacts, stops and stuck joints are closed.

Between events every contact is apart, sticks or slips. Its forces are those of the contact problem at accelerations:

    0 <= x_n, 0 <= udot_n, x_n udot_n = 0
    |x_t| <= mu x_n, against udot_t if it moves, where it sticks;    x_t = -mu x_n u_t / |u_t| where it slips

A contact that would lift, or begin to slip, does so by itself in this problem: an event is where it begins to, and the
step to it is right although the event is located afterwards. Stops that are touched and joints that are stuck by dry
friction are items of the same problem.
"""

from typing import Any, NamedTuple

from varichain.kernels.contact_geometry import contact_velocity, measure_contact
from varichain.kernels.contact_items import new_item, write_rows, write_velocities
from varichain.kernels.contact_motion import contact_acceleration
from varichain.kernels.contact_records import APART, CONE, DRY, DRY_BALL, SLIDE, SLIPS, STOP
from varichain.kernels.contact_rows import fill_problem, respond
from varichain.kernels.contact_solver import solve_items
from varichain.kernels.controls import driving_power
from varichain.kernels.derivative import derivative_at
from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import place_loop
from varichain.kernels.passages import derivative
from varichain.kernels.restraints import acceleration_of, ball_acceleration
from varichain.kernels.run_records import WHOLE_BALL, Powers
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers
from varichain.kernels.tuples import dot3, length3, load3, mat_t_vec, scale3, sub3

SLOW = 1e-9  # [m/s] a contact that slips more slowly counts as at rest
# [m/s] of slip below which friction keeps its direction, and which a step may end: the slower, the faster it turns.
STEADY = 1e-6
_ENDS = 1e-13  # [m/s^2 or rad/s^2] at which the search for forces ends


class TouchingContext(NamedTuple):
    """The fields of a Context, contacts, and memory to solve them in."""

    table: Any
    restraints: Any
    forces: Any
    channels: Any
    motion: Any
    controls: Any
    run: Any
    extra: Any
    rate: Any
    derivative: Any
    contacts: Any
    problem: Any
    answer: Any  # work (n_v)
    reactions: Any  # work (n_v)
    multipliers: Any  # work (n_rows of loops)


@routine
def gather_closed(contacts, restraints, items):
    """Items of all that is closed by its mode, for which there is room; returns the numbers of items and rows."""
    n_items, n = 0, 0
    for c in range(len(contacts)):
        contact = contacts[c]
        contact.item = -1
        if contact.mode == APART:
            continue
        item = new_item(items, n_items, SLIDE if contact.mode == SLIPS else CONE, c, n, 3)
        item.friction = contact.friction
        contact.item = n_items
        n_items += 1
        n += 3
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked:
            is_ball = restraint.kind == WHOLE_BALL
            item = new_item(items, n_items, DRY_BALL if is_ball else DRY, i, n, 3 if is_ball else 1)
            item.bound = restraint.friction
            n_items += 1
            n += item.n_rows
        if restraint.at != 0:
            item = new_item(items, n_items, STOP, i, n, 1)
            item.side = restraint.at
            n_items += 1
            n += 1
    return n_items, n


@helper
def across(contact, g):
    """Part of a velocity across the normal."""
    n = load3(contact.n)
    return sub3(g, scale3(dot3(n, g), n))


@routine
def _aim_slip(contact, item, g):
    """Direction of slip: that of the velocity; where that is slow, or against it, the one of the last node."""
    d = across(contact, g)
    if dot3(d, load3(contact.slip)) <= STEADY:
        d = across(contact, load3(contact.slip))
    d = scale3(1.0 / length3(d), d)
    item.slip[0] = dot3(d, load3(contact.t_1))
    item.slip[1] = dot3(d, load3(contact.t_2))


@routine
def _write_accelerations(context, q, v, a, items, n_items, out):
    """Accelerations of all rows, with those of the last solution.

    Needs: bodies moved, rows placed.
    """
    table, contacts, restraints = context.table, context.contacts, context.restraints
    bodies = open_bodies(table)
    for i in range(n_items):
        item = items[i]
        r = item.row
        if item.kind in (CONE, SLIDE):
            contact = contacts[item.source]
            g = contact_velocity(bodies, contact)
            if item.kind == SLIDE:
                _aim_slip(contact, item, g)
            out[r], out[r + 1], out[r + 2] = contact_acceleration(bodies, contact, g)
            continue
        restraint = restraints[item.source]
        if item.kind == DRY_BALL:
            w = ball_acceleration(table, restraint, a)
            if restraint.loop >= 0:
                R_WA, _ = place_loop(bodies, open_loops(table)[restraint.loop])
                w = mat_t_vec(R_WA, w)
            out[r], out[r + 1], out[r + 2] = w
        elif item.kind == DRY and restraint.dof >= 0:
            out[r] = a[restraint.dof]
        else:
            rate = acceleration_of(table, restraint, q, v, a)
            out[r] = -rate if item.side > 0 else rate


@routine
def _load_guess(contacts, items, n_items, x):
    """Forces of contacts at an earlier node as a guess; nothing for stops and friction of joints."""
    for i in range(n_items):
        item = items[i]
        for j in range(item.n_rows):
            x[item.row + j] = contacts[item.source].guess[j] if item.kind in (CONE, SLIDE) else 0.0


@routine
def _add_answer(context, v, a):
    """Add what the forces of the problem change: accelerations, and forces of loops and locks. Returns their power."""
    table, run = context.table, context.run
    dofs, multipliers = open_dofs(table), open_multipliers(table)
    for k in range(len(v)):
        a[k] += context.answer[k]
        if dofs[k].lock:  # the last solution had the forces of the problem alone
            dofs[k].reaction += context.reactions[k] - dofs[k].armature * dofs[k].forced
    for l in range(len(multipliers)):
        multipliers[l] += context.multipliers[l]
    return driving_power(context.channels, run, dofs, v)


@routine
def touching_derivative(context, t, q, v, tau, a_out):
    """Accelerations at a time, with all that is closed; as `derivative`, which it is where nothing is.

    The forces are in the problem, for the items that it has; the record of the run gets the residual, as a part of the
    largest acceleration of a row without them.
    """
    table, contacts, restraints, run = context.table, context.contacts, context.restraints, context.run
    problem = context.problem
    items, x = problem.items, problem.x
    n_items, n = gather_closed(contacts, restraints, items)
    run.n_closed = n_items
    run.residual = 0.0
    run.fastest = 0.0
    if n_items == 0:
        return derivative(context, t, q, v, tau, a_out)
    powers = derivative_at(context, t, q, v, tau, a_out)
    bodies, dofs, multipliers = open_bodies(table), open_dofs(table), open_multipliers(table)
    for c in range(len(contacts)):
        if contacts[c].mode != APART:
            measure_contact(bodies, contacts[c])
    _write_accelerations(context, q, v, a_out, items, n_items, problem.b)
    for k in range(len(v)):
        context.reactions[k] = dofs[k].reaction
    for l in range(len(multipliers)):
        context.multipliers[l] = multipliers[l]
    write_velocities(table, contacts, restraints, q, v, items, n_items, problem.start)
    write_rows(table, contacts, restraints, q, problem, n_items)
    fill_problem(table, problem, n)
    _load_guess(contacts, items, n_items, x)
    found = solve_problem(problem, n_items, n)
    fastest, contact = 1.0, 0.0
    for r in range(n):
        fastest = max(fastest, abs(problem.b[r]))
    for i in range(n_items):
        if items[i].kind == SLIDE:
            for r in range(items[i].row, items[i].row + 3):
                contact += x[r] * problem.start[r]
    run.residual = found / fastest
    run.fastest = fastest
    respond(table, problem, n, x, context.answer)
    drives = _add_answer(context, v, a_out)
    return Powers(powers.controllers, powers.joints, powers.forces, drives, powers.soft_limits, contact)


@helper
def solve_problem(problem, n_items, n):
    """Forces, or impulses, of a problem; returns the residual."""
    items, W, b, x, u = problem.items, problem.W, problem.b, problem.x, problem.u
    best, before, other = problem.best, problem.before, problem.other
    found, _ = solve_items(items, n_items, W, b, n, _ENDS, x, u, best, before, other, problem.J)
    return found
