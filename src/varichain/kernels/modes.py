"""Modes of restraints: when they must change, and which are consistent with forces and accelerations.

Which freedoms stay locked is a complementarity problem: a stop pushes and never pulls, friction locks up to its bound.
It is solved by pivoting, as in `impact`.
"""

import math

from varichain.kernels.derivative import derivative
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
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import length3, scale3, store3

# [rad/s or m/s] A row that comes to rest has some velocity left at the instant that is found: no coordinate of its own.
_RESTING = 1e-7
# [rad or m] A joint that is so little beyond its stop, and at rest or on its way back, is left in peace.
_HAIR = 1e-10


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
def smallest_signal(context, q, v):
    """Signal of the nearest event, negative after it: gaps, sliding velocities, margins of forces.

    Forces are those of the last evaluation, which must have been of this state.

    Needs: bodies moved.
    """
    table, restraints = context.table, context.restraints
    # Euler's new velocities moved the joints: a joint that moves back now was only put there as its loops were closed
    hair = math.inf if context.rate > 0.0 else _HAIR
    smallest = math.inf
    measure(table, restraints, q, v)
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked:
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
    return smallest


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
                # at rest where its mechanism moves on (a dead point of a loop) nothing can lock it: then it slides the
                # other way
                restraint.turns += 1
                if restraint.at == 0 and restraint.turns % 2 == 0:
                    restraint.slide = -restraint.slide
                else:
                    restraint.locked = 1
                    restraint.slide = 0
                turned = True
        if not turned:
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
