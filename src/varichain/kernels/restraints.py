"""Restraints: stops and dry friction, each of which may lock a freedom of the tree or close a row; their measures.

A freedom of the tree is locked in the articulated sweep, at no cost. The freedoms of a ball are then taken along n, m
and n x m of `balls` instead of its link's axes, so that one of them is the one that is locked. Freedoms of joints that
close loops have no coordinate; a restraint of theirs is a row that is open or closed (`kind` ROW), and so are those
restraints of tree joints that cannot be locks: the position of a free joint, friction beside the stops of a ball. The
isotropic friction of a ball locks all its freedoms at once.
"""

import math

from varichain.kernels.balls import swing_and_twist, swing_bias
from varichain.kernels.gram import LEAST_DIAGONAL
from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import place_loop, relative
from varichain.kernels.manifold import step_quaternion
from varichain.kernels.relative_rotation import turned_back
from varichain.kernels.row_kinds import (
    bias_along,
    coordinate_along,
    direction,
    relative_bias,
    unit_wrench,
    velocity_along,
)
from varichain.kernels.run_records import COORDINATE, NO_FRICTION, ROW_OF_LOOP, SWING, WHOLE_BALL
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers, open_rows
from varichain.kernels.tuples import (
    add6,
    angular,
    cross3,
    dot3,
    dot6,
    length3,
    load3,
    load6,
    mat_t_vec,
    scale3,
    store3,
    store9,
    sub3,
)

# [rad/s] A ball with isotropic friction that becomes slower than this is at rest.
BALL_STOPS = 1e-5
# Parts that a step may take of the time in which a ball would stop, and of that in which friction turns its axis.
_PART, _DAMPED = 0.1, 0.5


@helper
def ball_angles(restraint, q):
    """Swing, twist, cos(swing / 2), and the directions b, n, m."""
    i, c = restraint.coordinate, restraint.middle
    return swing_and_twist((q[i], q[i + 1], q[i + 2], q[i + 3]), load3(restraint.axis), (c[0], c[1], c[2], c[3]))


@helper
def _three(x, k):
    return x[k], x[k + 1], x[k + 2]


@routine
def along(restraint, q, x):
    """Part of joint velocities, accelerations or torques x along a freedom of the tree."""
    if restraint.kind == COORDINATE:
        return x[restraint.dof]
    _, _, _, _, n, m = ball_angles(restraint, q)
    if restraint.kind == SWING:
        return dot3(n, _three(x, restraint.dof))
    return dot3(m, _three(x, restraint.dof - 1))


@routine
def _bias(restraint, q, v):
    """Acceleration of the freedom while that of the joint is zero: ndot . w of a swing, else zero."""
    if restraint.kind != SWING:
        return 0.0
    swing, _, _, b, n, _ = ball_angles(restraint, q)
    return swing_bias(swing, load3(restraint.axis), b, n, _three(v, restraint.dof))


@routine
def ball_velocity(table, restraint, v):
    """Angular velocity of a whole ball in the axes of its link.

    Needs: bodies moved.
    """
    if restraint.loop < 0:
        return _three(v, restraint.dof)
    bodies, loop = open_bodies(table), open_loops(table)[restraint.loop]
    R_WA, _ = place_loop(bodies, loop)
    _, _, w_rel, _ = relative(bodies, loop)
    return mat_t_vec(R_WA, w_rel)


@routine
def ball_acceleration(table, restraint, a):
    """Angular acceleration of a whole ball, but for terms of its velocity.

    Needs: bodies moved.
    """
    if restraint.loop < 0:
        return _three(a, restraint.dof)
    bodies, loop = open_bodies(table), open_loops(table)[restraint.loop]
    A, B = bodies[loop.body_A], bodies[loop.body_B]
    return sub3(angular(add6(load6(A.A), load6(A.dA))), angular(add6(load6(B.A), load6(B.dA))))


@routine
def _ball_mobility(table, restraint):
    """Angular acceleration of a whole ball per moment, or more: about the axis in which it turns most easily.

    Needs: rows factored.
    """
    if restraint.loop < 0:
        dofs, k = open_dofs(table), restraint.dof
        return max(dofs[k].d_inverse, dofs[k + 1].d_inverse, dofs[k + 2].d_inverse)
    return open_rows(table)[restraint.row].norm / LEAST_DIAGONAL  # of an open row, which has nothing but that part


@routine
def longest_step(table, restraints, a):
    """Longest step that sliding balls allow, from the last node.

    The friction of a slow ball turns fast: it damps what is across the velocity by friction * mobility / speed.

    Needs: bodies moved, rows factored.
    """
    longest = math.inf
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.kind == WHOLE_BALL and not restraint.locked and restraint.speed > BALL_STOPS:
            rate = length3(ball_acceleration(table, restraint, a)) / _PART
            damping = restraint.friction * _ball_mobility(table, restraint) / _DAMPED
            longest = min(longest, restraint.speed / max(rate, damping))
    return longest


@routine
def renew_directions(table, restraints, v):
    """Let sliding balls remember in which direction they slide, and how fast.

    Needs: bodies moved.
    """
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.kind == WHOLE_BALL and not restraint.locked:
            w = ball_velocity(table, restraint, v)
            speed = length3(w)
            restraint.speed = speed
            if speed > 0.0:
                restraint.slide = 1
                store3(restraint.direction, scale3(1.0 / speed, w))
                _slide_ball(table, restraint)


@routine
def measure(table, restraints, q, v):
    """Write position and rate of all restraints.

    Needs: bodies moved.
    """
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.kind == COORDINATE:
            restraint.x = q[restraint.coordinate]
            restraint.rate = v[restraint.dof]
        elif restraint.kind == ROW_OF_LOOP:
            loop, row = loops[restraint.loop], rows[restraint.row]
            R_WA, R_WB = place_loop(bodies, loop)
            e = direction(row.kind, row.axis, loop, R_WA, R_WB)
            _, _, w_rel, v_rel = relative(bodies, loop)
            p, R_BA = mat_t_vec(R_WB, load3(loop.d)), turned_back(R_WA, R_WB)
            restraint.x = coordinate_along(row.kind, row.axis, loop, p, R_BA)
            restraint.rate = velocity_along(row.kind, loop, e, w_rel, v_rel)
        elif restraint.kind == WHOLE_BALL:
            w = ball_velocity(table, restraint, v)
            restraint.x = length3(w)
            restraint.rate = dot3(load3(restraint.direction), w) if restraint.slide else restraint.x
        else:
            swing, twist, _, _, n, m = ball_angles(restraint, q)
            if restraint.kind == SWING:
                restraint.x = swing
                restraint.rate = dot3(n, _three(v, restraint.dof))
            else:
                restraint.x = twist
                restraint.rate = dot3(m, _three(v, restraint.dof - 1))


@routine
def acceleration_of(table, restraint, q, v, a):
    """Acceleration of a restraint.

    Needs: bodies moved, rows placed.
    """
    if restraint.kind != ROW_OF_LOOP:
        return along(restraint, q, a) + _bias(restraint, q, v)
    bodies, loop, row = open_bodies(table), open_loops(table)[restraint.loop], open_rows(table)[restraint.row]
    R_WA, R_WB = place_loop(bodies, loop)
    e = direction(row.kind, row.axis, loop, R_WA, R_WB)
    beyond = dot6(unit_wrench(row.kind, loop, e, load3(loop.x_A)), load6(bodies[loop.body_A].dA))
    beyond -= dot6(unit_wrench(row.kind, loop, e, load3(loop.x_B)), load6(bodies[loop.body_B].dA))
    motion = relative(bodies, loop)
    bias = relative_bias(bodies, loop, motion)
    return beyond + bias_along(row.kind, row.axis, bodies, loop, e, motion, bias)


@routine
def ball_reaction(table, restraint):
    """Moment that locks a whole ball, in the axes of its link."""
    if restraint.loop < 0:
        dofs, k = open_dofs(table), restraint.dof
        return dofs[k].reaction, dofs[k + 1].reaction, dofs[k + 2].reaction
    return _three(open_multipliers(table), restraint.row)


@routine
def reaction_of(table, restraint):
    """Force, or impulse, that locks a freedom or closes a row."""
    if restraint.kind == ROW_OF_LOOP:
        return open_multipliers(table)[restraint.row]
    return open_dofs(table)[restraint.dof].reaction


@routine
def bring_to_rest(restraint, v):
    """Make a rate that is zero but for rounding exactly zero, where it is a velocity of its own."""
    if restraint.kind == COORDINATE:
        v[restraint.dof] = 0.0


@routine
def _slide_ball(table, restraint):
    """Let the friction of a whole ball act in the direction of its mode, or not at all while it is locked."""
    dofs, loops = open_dofs(table), open_loops(table)
    for j in range(3):
        slide = NO_FRICTION if restraint.locked else restraint.direction[j]
        if restraint.dof >= 0:
            dofs[restraint.dof + j].slide = slide
        elif loops[restraint.loop].owner >= 0:
            loops[loops[restraint.loop].owner].slide[j] = slide


@routine
def _lock_ball(table, restraint):
    """Lock or release a whole ball by its mode: three freedoms, or three rows."""
    bodies, dofs, rows = open_bodies(table), open_dofs(table), open_rows(table)
    _slide_ball(table, restraint)
    for j in range(3):
        if restraint.loop >= 0:
            rows[restraint.row + j].is_open = 1 - restraint.locked
            rows[restraint.row + j].is_stuck = 1
        else:
            dofs[restraint.dof + j].lock = restraint.locked
            dofs[restraint.dof + j].forced = 0.0
    if restraint.loop < 0:
        bodies[restraint.body].locked = 0
        bodies[restraint.body].turned = 0


@routine
def _close_row(restraint, loops, rows):
    """Close or open a row by the mode of its restraint; the row of a stop keeps its coordinate there."""
    row = rows[restraint.row]
    row.is_open = 1 - restraint.locked
    row.is_stuck = 1 if restraint.at == 0 else 0
    row.target = restraint.lower if restraint.at < 0 else restraint.upper
    owner = loops[restraint.loop].owner
    if owner >= 0 and restraint.friction > 0.0:
        loops[owner].slide[restraint.freedom] = NO_FRICTION if restraint.locked else float(restraint.slide)


@routine
def apply_modes(table, restraints):
    """Clear all locks, then lock or release each freedom or row by its mode; drives are locked elsewhere."""
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.kind == WHOLE_BALL:
            _lock_ball(table, restraint)
            continue
        if restraint.kind == ROW_OF_LOOP:
            _close_row(restraint, loops, rows)
        if restraint.dof < 0:
            continue
        dof, body = dofs[restraint.dof], bodies[restraint.body]
        if restraint.kind == ROW_OF_LOOP:
            dof.slide = NO_FRICTION if restraint.locked else float(restraint.slide)
            continue
        dof.lock = restraint.locked
        if restraint.kind == COORDINATE:
            dof.slide = float(restraint.slide) if not restraint.locked else 0.0
        dof.forced = 0.0
        body.locked = 0
        body.turned = 0
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked and restraint.loop < 0:
            bodies[restraint.body].locked = 1
            if restraint.kind not in (COORDINATE, WHOLE_BALL):
                bodies[restraint.body].turned = 1


@routine
def rub_nothing(table, restraint):
    """Let a joint not rub by itself: its dry friction is an item of a contact problem."""
    dofs, loops = open_dofs(table), open_loops(table)
    owner = loops[restraint.loop].owner if restraint.loop >= 0 else -1
    for j in range(3 if restraint.kind == WHOLE_BALL else 1):
        if restraint.dof >= 0:
            dofs[restraint.dof + j].slide = NO_FRICTION
        elif owner >= 0:
            loops[owner].slide[restraint.freedom + j] = NO_FRICTION


@routine
def aim_locks(restraints, bodies, dofs, q, v):
    """Basis of every locked ball, and the acceleration of every lock: zero, except that of a swing."""
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.loop >= 0:
            continue
        if restraint.kind == WHOLE_BALL:
            for j in range(3):
                dofs[restraint.dof + j].forced = 0.0
            continue
        body = bodies[restraint.body]
        dofs[restraint.dof].forced = 0.0
        if restraint.kind != COORDINATE and body.turned:
            _, _, _, _, n, m = ball_angles(restraint, q)
            e = cross3(n, m)
            store9(body.basis, (n[0], m[0], e[0], n[1], m[1], e[1], n[2], m[2], e[2]))
            if restraint.locked:
                dofs[restraint.dof].forced = -_bias(restraint, q, v)


@routine
def snap_to_stops(restraints, q, v):
    """Move every locked freedom of the tree exactly to its stop, and bring it to rest."""
    for i in range(len(restraints)):
        restraint = restraints[i]
        if not restraint.locked or restraint.loop >= 0:
            continue
        stop = restraint.lower if restraint.at < 0 else restraint.upper
        if restraint.kind == WHOLE_BALL:
            for j in range(3):
                v[restraint.dof + j] = 0.0
        elif restraint.kind == COORDINATE:
            v[restraint.dof] = 0.0
            if restraint.at != 0:
                q[restraint.coordinate] = stop
        else:
            swing, twist, cos_half, _, n, m = ball_angles(restraint, q)
            k = restraint.dof if restraint.kind == SWING else restraint.dof - 1
            e = n if restraint.kind == SWING else m
            missing = stop - swing if restraint.kind == SWING else (stop - twist) * cos_half
            rate = dot3(e, _three(v, k))
            step_quaternion(q, restraint.coordinate, scale3(missing, e), q)
            v[k] -= rate * e[0]
            v[k + 1] -= rate * e[1]
            v[k + 2] -= rate * e[2]
