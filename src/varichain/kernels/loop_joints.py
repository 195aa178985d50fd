"""Springs, dampers and friction in joints that close loops: pairs of opposite wrenches along the joint's freedoms."""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import frame_A, frame_B, offset_between_trees, relative, rotation_vector, turned_back
from varichain.kernels.passive import sign
from varichain.kernels.records import BALL, SLIDE, TURN, TURN_AND_SLIDE
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    add_scaled6,
    column,
    cross3,
    dot3,
    join6,
    load6,
    mat_mul,
    mat_t_vec,
    mat_vec,
    matrix_from_quaternion,
    scale3,
    store3,
    store6,
    sub3,
)


@helper
def _from_rest(loop, gap, R_BA):
    """Coordinates of the joint less those where its spring is relaxed, up to three; angles within half a turn."""
    rest = loop.rest
    if loop.joint == BALL:
        R = matrix_from_quaternion(rest[0], rest[1], rest[2], rest[3])
        R_RB = (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])
        return rotation_vector(mat_mul(R_RB, R_BA))
    angle = math.atan2(R_BA[3] - R_BA[1], R_BA[0] + R_BA[4])
    if loop.joint == SLIDE:
        return gap[2] - rest[0], 0.0, 0.0
    if loop.joint == TURN:
        return _within_half_a_turn(angle - rest[0]), 0.0, 0.0
    if loop.joint == TURN_AND_SLIDE:
        return _within_half_a_turn(angle - rest[0]), gap[2] - rest[1], 0.0
    return gap[0] - rest[0], gap[1] - rest[1], _within_half_a_turn(angle - rest[2])


@helper
def _within_half_a_turn(angle):
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)


@helper
def _rates(loop, R_WA, R_WB, w_rel, v_rel):
    """Velocities of the joint, up to three."""
    if loop.joint == BALL:
        return mat_t_vec(R_WA, w_rel)
    z = column(R_WB, 2)
    if loop.joint == SLIDE:
        return dot3(z, v_rel), 0.0, 0.0
    if loop.joint == TURN:
        return dot3(z, w_rel), 0.0, 0.0
    if loop.joint == TURN_AND_SLIDE:
        return dot3(z, w_rel), dot3(z, v_rel), 0.0
    return dot3(column(R_WB, 0), v_rel), dot3(column(R_WB, 1), v_rel), dot3(z, w_rel)


@helper
def _wrench(loop, R_WA, R_WB, tau):
    """Moment and force on A that do the work of joint forces tau."""
    z = column(R_WB, 2)
    if loop.joint == BALL:
        return mat_vec(R_WA, tau), ZERO3
    if loop.joint == SLIDE:
        return ZERO3, scale3(tau[0], z)
    if loop.joint == TURN:
        return scale3(tau[0], z), ZERO3
    if loop.joint == TURN_AND_SLIDE:
        return scale3(tau[0], z), scale3(tau[1], z)
    return scale3(tau[2], z), add3(scale3(tau[0], column(R_WB, 0)), scale3(tau[1], column(R_WB, 1)))


@helper
def _resistance(loop, k, x, v):
    """Force that drives freedom k against its spring, damper and friction."""
    return loop.stiffness[k] * x + loop.damping[k] * v + loop.friction[k] * sign(v)


@helper
def _taken(loop, k, v):
    """Power that damper and friction of freedom k take."""
    return loop.damping[k] * v * v + loop.friction[k] * abs(v)


@routine
def load_loop_forces(bodies, loops):
    """Add what the loops' own joints exert to the bias forces of their bodies.

    Needs: bodies moved.
    Gives: loop points placed.
    """
    for i in range(len(loops)):
        loop = loops[i]
        if loop.joint == 0:
            continue
        R_WA, x_A = frame_A(bodies, loop)
        R_WB, origin = frame_B(bodies, loop)
        x_B = add3(x_A, offset_between_trees(bodies, loop))
        store3(loop.x_A, x_A)
        store3(loop.x_B, x_B)
        _, _, w_rel, v_rel = relative(bodies, loop)
        x = _from_rest(loop, mat_t_vec(R_WB, sub3(x_B, origin)), turned_back(R_WA, R_WB))
        v = _rates(loop, R_WA, R_WB, w_rel, v_rel)
        tau = (
            _resistance(loop, 0, x[0], v[0]),
            _resistance(loop, 1, x[1], v[1]),
            _resistance(loop, 2, x[2], v[2]),
        )
        loop.dissipated = _taken(loop, 0, v[0]) + _taken(loop, 1, v[1]) + _taken(loop, 2, v[2])
        moment, force = _wrench(loop, R_WA, R_WB, tau)  # against the joint: its opposite acts on A
        store6(loop.own, join6(scale3(-1.0, moment), scale3(-1.0, force)))
        A, B = bodies[loop.body_A], bodies[loop.body_B]
        store6(A.f, add_scaled6(load6(A.f), 1.0, join6(add3(moment, cross3(x_A, force)), force)))
        store6(B.f, add_scaled6(load6(B.f), -1.0, join6(add3(moment, cross3(x_B, force)), force)))


@routine
def loop_spring_energy(bodies, loops):
    """Elastic energy of the springs in the loops' joints [J].

    Needs: bodies placed.
    """
    energy = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.joint != 0:
            R_WA, x_A = frame_A(bodies, loop)
            R_WB, origin = frame_B(bodies, loop)
            x_B = add3(x_A, offset_between_trees(bodies, loop))
            x = _from_rest(loop, mat_t_vec(R_WB, sub3(x_B, origin)), turned_back(R_WA, R_WB))
            for k in range(3):
                energy += 0.5 * loop.stiffness[k] * x[k] * x[k]
    return energy
