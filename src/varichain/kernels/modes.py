"""Modes of restraints: when they must change, and which are consistent with forces and accelerations.

Which freedoms stay locked is a complementarity problem: a stop pushes and never pulls, friction locks up to its bound.
It is solved by pivoting, as in `impact`.
"""

import math

from varichain.kernels.closure import counts
from varichain.kernels.couplings import slip_of
from varichain.kernels.impact import (
    MOST_TURNS,
    SLACK_FORCE,
    SLACK_POSITION,
    SLACK_VELOCITY,
    TURN_ALL,
    lock_all,
)
from varichain.kernels.jit import routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.passages import derivative
from varichain.kernels.records import COORDINATES
from varichain.kernels.restraints import (
    BALL_STOPS,
    acceleration_of,
    ball_reaction,
    bring_to_rest,
    measure,
    reaction_of,
    renew_directions,
)
from varichain.kernels.run_records import WHOLE_BALL
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import dot6, length3, load6, scale3, store3

# [rad/s or m/s] A row that comes to rest has some velocity left at the instant that is found: no coordinate of its own.
_RESTING = 1e-7
# [rad or m] A joint that is so little beyond its stop, and at rest or on its way back, is left in peace.
_HAIR = 1e-10
# Part of the largest acceleration, or velocity, with which rows may open that count as dependent: so much, and more
# than rounding, is left where they do not quite depend.
OPENING = 1e-6
# `moves_on` of a lock while it is looked at whether loops move it on.
_IN_QUESTION = -1


@routine
def force_bounds(restraint):
    """Least and largest force that can lock the freedom: friction either way, a stop away from itself."""
    least, most = -restraint.friction, restraint.friction
    if restraint.at < 0:
        most = math.inf
    if restraint.at > 0:
        least = -math.inf
    return least, most


@routine
def margin_of(table, restraint):
    """How far the force that locks a restraint is within its bounds; negative beyond."""
    if restraint.kind == WHOLE_BALL:
        return restraint.friction - length3(ball_reaction(table, restraint))
    least, most = force_bounds(restraint)
    r = reaction_of(table, restraint)
    return min(r - least, most - r)


@routine
def _release(table, restraint):
    """Let a restraint go in the direction in which the force that locked it was too small."""
    restraint.locked = 0
    if restraint.kind == WHOLE_BALL:
        r = ball_reaction(table, restraint)
        restraint.slide = 1
        store3(restraint.direction, scale3(-1.0 / length3(r), r))
    else:
        least, _ = force_bounds(restraint)
        restraint.slide = 1 if reaction_of(table, restraint) < least else -1


@routine
def smallest_signal(context, q, v, a):
    """Signal of the nearest event, negative after it: gaps, sliding velocities, margins of forces, loops that open.

    Forces are those of the last evaluation, which must have been of this state and have given the accelerations a.

    Needs: bodies moved, rows placed.
    """
    table, restraints = context.table, context.restraints
    # Euler's new velocities moved the joints: a joint that moves back now was only put there as its loops were closed
    hair = math.inf if context.rate > 0.0 else _HAIR
    smallest, by_friction = math.inf, False
    measure(table, restraints, q, v)
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked:
            by_friction = by_friction or restraint.at == 0
            smallest = min(smallest, margin_of(table, restraint) + SLACK_FORCE)
        else:
            if restraint.kind == WHOLE_BALL and restraint.speed > BALL_STOPS:
                smallest = min(smallest, restraint.x - BALL_STOPS)
            elif restraint.friction > 0.0:
                smallest = min(smallest, restraint.slide * restraint.rate + SLACK_VELOCITY)
            if not restraint.soft and (restraint.lower > -math.inf or restraint.upper < math.inf):
                x = restraint.x
                gap = min(x - restraint.lower, restraint.upper - x)
                inward = 1.0 if x < restraint.lower else -1.0
                if -hair < gap < 0.0 and inward * restraint.rate > -SLACK_VELOCITY:
                    continue
                smallest = min(smallest, gap + SLACK_POSITION)
    if by_friction:
        smallest = min(smallest, 2.0 * allowed_opening(a) - opening_acceleration(table, a))
    return smallest


@routine
def allowed_opening(a):
    """Acceleration, or velocity, with which loops may open by rounding, from those of the joints."""
    largest = 1.0
    for k in range(len(a)):
        largest = max(largest, abs(a[k]))
    return OPENING * largest


@routine
def opening_acceleration(table, a):
    """Largest acceleration that counts with which loops open: redundant rows contradict others.

    Needs: rows placed.
    """
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    largest, fastest = 0.0, allowed_opening(a) / OPENING
    for i in range(len(loops)):
        loop = loops[i]
        dA_A, dA_B = load6(bodies[loop.body_A].dA), load6(bodies[loop.body_B].dA)
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            if row.kept or row.is_open:
                continue
            opening = dot6(load6(row.f_A), dA_A) - dot6(load6(row.f_B), dA_B) - row.right_side
            if loop.orientation == COORDINATES:
                opening = slip_of(bodies, loop, a)
            if counts(row, loop, opening / fastest):
                largest = max(largest, abs(opening))
    return largest


@routine
def _move_on(context, t, q, v, tau, a):
    """Release the friction locks that contradict loops; returns whether there are any.

    At a dead point a joint comes to rest for an instant while its loops move on. No force can lock it there: the rows
    that would tell are dependent. It slides as it accelerates without friction.
    """
    restraints = context.restraints
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked and restraint.at == 0 and restraint.kind != WHOLE_BALL:
            restraint.locked = 0
            restraint.moves_on = _IN_QUESTION
    best, most = _accelerate_freely(context, t, q, v, tau, a)
    found = False
    if most > allowed_opening(a):
        found = _find_impossible_locks(context, t, q, v, tau, a)
        if not found:
            # locks that contradict loops only together: the one that accelerates most
            restraints[best].moves_on = 1
            found = True
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.moves_on == _IN_QUESTION:
            restraint.moves_on = 0
            restraint.locked = 1
            restraint.slide = 0
    return found


@routine
def _accelerate_freely(context, t, q, v, tau, a):
    """Which of the locks in question accelerates most without them, and how much; all get their directions."""
    restraints = context.restraints
    lock_all(context.table, restraints, context.channels, context.run)
    derivative(context, t, q, v, tau, a)
    best, most = -1, 0.0
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.moves_on == _IN_QUESTION:
            acceleration = acceleration_of(context.table, restraint, q, v, a)
            restraint.slide = 1 if acceleration > 0.0 else -1
            if abs(acceleration) > most:
                best, most = i, abs(acceleration)
    return best, most


@routine
def _find_impossible_locks(context, t, q, v, tau, a):
    """Mark each lock in question that contradicts loops even if it is the only one; returns whether there are any."""
    table, restraints = context.table, context.restraints
    found = False
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.moves_on == _IN_QUESTION:
            restraint.locked = 1
            lock_all(table, restraints, context.channels, context.run)
            derivative(context, t, q, v, tau, a)
            restraint.locked = 0
            if opening_acceleration(table, a) > allowed_opening(a):
                restraint.moves_on = 1
                found = True
    return found


@routine
def _is_candidate(restraint, v):
    """Whether the freedom is at rest where something could lock it; its velocity is then made exactly zero."""
    if restraint.at != 0 and abs(restraint.rate) <= 10.0 * SLACK_VELOCITY:
        bring_to_rest(restraint, v)
        return True
    if restraint.at != 0:
        restraint.at = 0
    if restraint.kind == WHOLE_BALL:
        return restraint.resting == 1 or restraint.x <= SLACK_VELOCITY
    if restraint.friction > 0.0 and abs(restraint.rate) <= (_RESTING if restraint.resting else SLACK_VELOCITY):
        bring_to_rest(restraint, v)
        return True
    return False


@routine
def choose_modes(context, t, q, v, tau, a):
    """Choose which freedoms are locked, so that forces are within bounds and nothing moves against its stop.

    Ends with the evaluation of the state. Returns whether a consistent choice was found.
    """
    table, restraints = context.table, context.restraints
    n_open = 0
    move_all(q, v, open_bodies(table), open_dofs(table))
    measure(table, restraints, q, v)
    for i in range(len(restraints)):
        restraint = restraints[i]
        candidate = _is_candidate(restraint, v)
        restraint.turns = 0
        restraint.moves_on = 0
        restraint.locked = 1 if candidate else 0
        restraint.slide = 0 if candidate or restraint.friction == 0.0 else (1 if restraint.rate > 0.0 else -1)
        n_open += restraint.locked
    renew_directions(table, restraints, v)
    for turn in range(MOST_TURNS):
        lock_all(table, restraints, context.channels, context.run)
        derivative(context, t, q, v, tau, a)
        if n_open == 0:
            return True
        turned = False
        for i in range(len(restraints)):
            restraint = restraints[i]
            if turned and turn >= TURN_ALL:
                break
            if restraint.locked:
                if margin_of(table, restraint) < -0.5 * SLACK_FORCE:
                    _release(table, restraint)
                    turned = True
            elif _turns_back(table, restraint, q, v, a):
                # nearly dependent rows may still tell the wrong direction: then it slides the other way
                restraint.turns += 1
                if restraint.moves_on or (restraint.at == 0 and restraint.turns % 2 == 0):
                    restraint.slide = -restraint.slide
                else:
                    restraint.locked = 1
                    restraint.slide = 0
                turned = True
        if turned:
            continue
        # forces within bounds are not enough: dependent rows tell none
        if opening_acceleration(table, a) > allowed_opening(a) and _move_on(context, t, q, v, tau, a):
            continue
        _leave_stops(restraints)
        return True
    _leave_stops(restraints)
    return False


@routine
def _turns_back(table, restraint, q, v, a):
    """Whether a freedom that was let go from rest accelerates against the direction that it was let go in.

    Needs: bodies moved, rows placed.
    """
    if restraint.kind == WHOLE_BALL or restraint.slide == 0:
        return False
    if abs(restraint.rate) > (_RESTING if restraint.resting else 10.0 * SLACK_VELOCITY):
        return False
    return restraint.slide * acceleration_of(table, restraint, q, v, a) < -SLACK_FORCE


@routine
def _leave_stops(restraints):
    """Mark stops that do not lock as left; without friction there is no sliding."""
    for i in range(len(restraints)):
        restraint = restraints[i]
        if not restraint.locked:
            restraint.at = 0
            if restraint.friction == 0.0:
                restraint.slide = 0
