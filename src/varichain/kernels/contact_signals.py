"""Signals of contacts: functions of a node that are negative after an event; and steps that do not leap over one."""

import math

from varichain.kernels.contact_closed import SLOW, STEADY, across
from varichain.kernels.contact_geometry import contact_velocity, measure_contact
from varichain.kernels.contact_records import APART, CONE, SLIDE, SLIPS, STOP
from varichain.kernels.impact import SLACK_VELOCITY
from varichain.kernels.jit import helper, routine
from varichain.kernels.restraints import BALL_STOPS, measure
from varichain.kernels.run_records import WHOLE_BALL
from varichain.kernels.tables import open_bodies
from varichain.kernels.tuples import dot3, length3, load3, scale3, store3

TOUCHES = 1e-9  # [m or rad] of a gap that is closed: all such contacts of an instant have one impact
MOVES = 1e-9  # part of the largest acceleration without contact forces with which something lifts or begins to slip
RIGHT = 1e-7  # residual, as the same part, of forces that can be used


@helper
def stop_gap(restraint, side):
    """How far a joint is from its stop at a side."""
    return restraint.upper - restraint.x if side > 0 else restraint.x - restraint.lower


@routine
def _apart_signal(bodies, contact):
    """Gap of a contact that is apart; one that is inside by rounding and comes out is left in peace.

    Needs: bodies moved.
    """
    measure_contact(bodies, contact)
    if -TOUCHES < contact.gap < 0.0:
        opening = dot3(load3(contact.n), contact_velocity(bodies, contact))
        if opening > -SLACK_VELOCITY:
            return math.inf
    return contact.gap


@routine
def _slip_signal(bodies, contact):
    """How far a contact is from the end of its slip, or from its turning back.

    Needs: bodies moved.
    """
    along = dot3(contact_velocity(bodies, contact), load3(contact.slip))
    return along - SLOW if contact.speed > SLOW else along + SLOW


@routine
def _restraint_signal(restraint):
    """Gaps of stops that are not touched, and velocity of a joint that slides against friction."""
    smallest = math.inf
    if restraint.friction > 0.0 and not restraint.locked:
        if restraint.kind == WHOLE_BALL:
            if restraint.speed > BALL_STOPS:
                smallest = restraint.x - BALL_STOPS
        else:
            smallest = restraint.slide * restraint.rate + SLACK_VELOCITY
    if not restraint.soft and restraint.at == 0:
        for side in (-1, 1):
            gap = stop_gap(restraint, side)
            if not (-TOUCHES < gap < 0.0 and side * restraint.rate < SLACK_VELOCITY):
                smallest = min(smallest, gap)
    return smallest


@routine
def contact_signal(context, q, v):
    """Signal of the nearest event, negative after it; forces must be those of this state.

    Needs: bodies moved.
    """
    run, problem, contacts = context.run, context.problem, context.contacts
    bodies, smallest, u = open_bodies(context.table), math.inf, problem.u
    allowed = MOVES * run.fastest
    measure(context.table, context.restraints, q, v)
    for c in range(len(contacts)):
        if contacts[c].mode == APART:
            smallest = min(smallest, _apart_signal(bodies, contacts[c]))
        elif contacts[c].mode == SLIPS:
            smallest = min(smallest, _slip_signal(bodies, contacts[c]))
    for i in range(len(context.restraints)):
        smallest = min(smallest, _restraint_signal(context.restraints[i]))
    if run.n_closed > 0:
        smallest = min(smallest, RIGHT - run.residual)
    for i in range(run.n_closed):
        item = problem.items[i]
        for r in range(item.row, item.row + item.n_rows):
            if item.kind in (CONE, SLIDE, STOP) and r == item.row:
                smallest = min(smallest, allowed - u[r])
            elif item.kind != SLIDE:
                smallest = min(smallest, allowed - abs(u[r]))
    return smallest


@routine
def longest_slip(context):
    """Longest step that slipping contacts allow from the last node, which was evaluated last.

    A step takes half of the slip at most: friction turns with it, the slower, the faster.
    """
    problem, longest = context.problem, math.inf
    for i in range(context.run.n_closed):
        item = problem.items[i]
        if item.kind != SLIDE or not context.contacts[item.source].speed > STEADY:
            continue
        u_1, u_2 = problem.u[item.row + 1], problem.u[item.row + 2]
        along = u_1 * item.slip[0] + u_2 * item.slip[1]
        turning = abs(u_2 * item.slip[0] - u_1 * item.slip[1])
        rate = max(-along, 0.0) + turning
        if rate > 0.0:
            longest = min(longest, 0.5 * context.contacts[item.source].speed / rate)
    return longest


@routine
def renew_slips(context):
    """Let contacts that slip remember in which direction, and how fast; all remember what their forces were.

    Needs: bodies moved.
    """
    bodies, contacts = open_bodies(context.table), context.contacts
    for c in range(len(contacts)):
        contact = contacts[c]
        if contact.mode == SLIPS:
            slip = across(contact, contact_velocity(bodies, contact))
            contact.speed = length3(slip)
            if contact.speed > STEADY:
                store3(contact.slip, scale3(1.0 / contact.speed, slip))
