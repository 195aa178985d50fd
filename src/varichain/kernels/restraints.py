"""Restraints: stops and dry friction, each of which may lock a freedom; their positions, rates and locks.

The stops of a ball are a cone for its long axis a and a range for the twist about it. With R = R_middle^T R_JL and
b = R^T a, the swing angle x = angle(a, b) changes with n . w, n = b x a / sin x, and the twist with
m . w / cos(x / 2), m = (a + b) / |a + b|. n and m are orthogonal unit vectors in the link's axes: with n x m they make
the basis in which the ball's freedoms are taken while one of them is locked.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.manifold import quaternion_mul, step_quaternion
from varichain.kernels.records import COORDINATE, SWING
from varichain.kernels.tuples import (
    add3,
    cross3,
    dot3,
    load3,
    mat_t_vec,
    matrix_from_quaternion,
    scale3,
    store9,
)

# Below this sine the swing has no direction; any will do, for no stop is there.
_UPRIGHT = 1e-9


@helper
def _perpendicular(a):
    """Some unit vector across a."""
    e = cross3(a, (1.0, 0.0, 0.0) if abs(a[0]) < 0.7 else (0.0, 1.0, 0.0))
    return scale3(1.0 / math.sqrt(dot3(e, e)), e)


@routine
def ball_angles(restraint, q):
    """Swing, twist, cos(swing / 2), and the directions a, b, n, m."""
    i, c = restraint.coordinate, restraint.middle
    Q = quaternion_mul((c[0], -c[1], -c[2], -c[3]), (q[i], q[i + 1], q[i + 2], q[i + 3]))
    a = load3(restraint.axis)
    along = dot3((Q[1], Q[2], Q[3]), a)
    across = add3((Q[1], Q[2], Q[3]), scale3(-along, a))
    cos_half = math.hypot(Q[0], along)
    swing = 2.0 * math.atan2(math.sqrt(dot3(across, across)), cos_half)
    twist = 2.0 * math.atan2(along, Q[0])
    twist -= 2.0 * math.pi * math.floor(twist / (2.0 * math.pi) + 0.5)
    b = mat_t_vec(matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3]), a)
    turn = cross3(b, a)
    sine = math.sqrt(dot3(turn, turn))
    n = scale3(1.0 / sine, turn) if sine > _UPRIGHT else _perpendicular(a)
    middle = add3(a, b)
    m = scale3(1.0 / math.sqrt(dot3(middle, middle)), middle)
    return swing, twist, cos_half, a, b, n, m


@helper
def _three(x, k):
    return x[k], x[k + 1], x[k + 2]


@routine
def position(restraint, q):
    """Position between the stops: a coordinate, a swing or a twist [rad or m]."""
    if restraint.kind == COORDINATE:
        return q[restraint.coordinate]
    swing, twist, _, _, _, _, _ = ball_angles(restraint, q)
    return swing if restraint.kind == SWING else twist


@routine
def along(restraint, q, x):
    """Part of joint velocities, accelerations or torques x along the freedom."""
    if restraint.kind == COORDINATE:
        return x[restraint.dof]
    _, _, _, _, _, n, m = ball_angles(restraint, q)
    if restraint.kind == SWING:
        return dot3(n, _three(x, restraint.dof))
    return dot3(m, _three(x, restraint.dof - 1))


@routine
def bias(restraint, q, v):
    """Acceleration of the freedom while that of the joint is zero: ndot . w of a swing, else zero."""
    if restraint.kind != SWING:
        return 0.0
    swing, _, _, a, b, n, _ = ball_angles(restraint, q)
    w = _three(v, restraint.dof)
    sine = math.sin(swing)
    if sine < _UPRIGHT:
        return 0.0
    rate = dot3(n, w)  # zero while it is locked
    return (dot3(w, w) * math.cos(swing) - dot3(b, w) * dot3(a, w) - rate * rate * math.cos(swing)) / sine


@routine
def measure(restraints, q, v):
    """Position and rate of all restraints."""
    for i in range(len(restraints)):
        restraints[i].x = position(restraints[i], q)
        restraints[i].rate = along(restraints[i], q, v)


@routine
def apply_modes(restraints, bodies, dofs):
    """Clear all locks, then lock or release each freedom by its mode; drives are locked elsewhere."""
    for i in range(len(restraints)):
        restraint = restraints[i]
        dof, body = dofs[restraint.dof], bodies[restraint.body]
        dof.lock = restraint.locked
        dof.slide = float(restraint.slide) if not restraint.locked else 0.0
        dof.forced = 0.0
        body.locked = 0
        body.turned = 0
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked:
            bodies[restraint.body].locked = 1
            if restraint.kind != COORDINATE:
                bodies[restraint.body].turned = 1


@routine
def aim_locks(restraints, bodies, dofs, q, v):
    """Basis of every locked ball, and the acceleration of every lock: zero, except that of a swing."""
    for i in range(len(restraints)):
        restraint = restraints[i]
        body = bodies[restraint.body]
        dofs[restraint.dof].forced = 0.0
        if restraint.kind != COORDINATE and body.turned:
            _, _, _, _, _, n, m = ball_angles(restraint, q)
            e = cross3(n, m)
            store9(body.basis, (n[0], m[0], e[0], n[1], m[1], e[1], n[2], m[2], e[2]))
            if restraint.locked:
                dofs[restraint.dof].forced = -bias(restraint, q, v)


@routine
def snap_to_stops(restraints, q, v):
    """Move every locked freedom exactly to its stop, and bring it to rest."""
    for i in range(len(restraints)):
        restraint = restraints[i]
        if not restraint.locked:
            continue
        stop = restraint.lower if restraint.at < 0 else restraint.upper
        if restraint.kind == COORDINATE:
            v[restraint.dof] = 0.0
            if restraint.at != 0:
                q[restraint.coordinate] = stop
        else:
            swing, twist, cos_half, _, _, n, m = ball_angles(restraint, q)
            k = restraint.dof if restraint.kind == SWING else restraint.dof - 1
            e = n if restraint.kind == SWING else m
            missing = stop - swing if restraint.kind == SWING else (stop - twist) * cos_half
            rate = dot3(e, _three(v, k))
            step_quaternion(q, restraint.coordinate, scale3(missing, e), q)
            v[k] -= rate * e[0]
            v[k + 1] -= rate * e[1]
            v[k + 2] -= rate * e[2]


@routine
def soft_torques(restraints, q, v, tau):
    """Add the restoring torques of soft stops; returns their power.

    [NY] k times the excess, and a damper that acts while the joint is beyond the stop but never pulls it back out.
    """
    power = 0.0
    for i in range(len(restraints)):
        restraint = restraints[i]
        if not restraint.soft:
            continue
        x = position(restraint, q)
        excess = min(x - restraint.lower, 0.0) + max(x - restraint.upper, 0.0)
        if excess == 0.0:
            continue
        rate = along(restraint, q, v)
        torque = -restraint.stiffness * excess - restraint.damping * rate
        torque = min(torque, 0.0) if excess > 0.0 else max(torque, 0.0)
        power += torque * rate
        if restraint.kind == COORDINATE:
            tau[restraint.dof] += torque
        else:
            _, _, _, _, _, n, m = ball_angles(restraint, q)
            k, e = (restraint.dof, n) if restraint.kind == SWING else (restraint.dof - 1, m)
            tau[k] += torque * e[0]
            tau[k + 1] += torque * e[1]
            tau[k + 2] += torque * e[2]
    return power
