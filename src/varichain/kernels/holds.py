"""Freedoms that may be held: at a stop, or by dry friction; what each looks at, and how it is taken in and let go.

The stops of a ball are a cone for its long axis a and a range for the twist about it. With R = R_middle^T R_JL and
b = R^T a, the swing angle x = angle(a, b) changes with n . w, n = b x a / sin x, and the twist with
m . w / cos(x / 2), m = (a + b) / |a + b|. n and m are orthogonal unit vectors in the link's axes: with n x m they make
the basis in which the ball's freedoms are taken while one of them is held.
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
def ball_angles(hold, q):
    """Swing, twist, cos(swing / 2), and the directions a, b, n, m."""
    i, c = hold.coordinate, hold.middle
    Q = quaternion_mul((c[0], -c[1], -c[2], -c[3]), (q[i], q[i + 1], q[i + 2], q[i + 3]))
    a = load3(hold.axis)
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
def position(hold, q):
    """What the stops are about: a coordinate, a swing or a twist [rad or m]."""
    if hold.kind == COORDINATE:
        return q[hold.coordinate]
    swing, twist, _, _, _, _, _ = ball_angles(hold, q)
    return swing if hold.kind == SWING else twist


@routine
def along(hold, q, x):
    """Part of joint velocities, accelerations or torques x along the freedom."""
    if hold.kind == COORDINATE:
        return x[hold.dof]
    _, _, _, _, _, n, m = ball_angles(hold, q)
    if hold.kind == SWING:
        return dot3(n, _three(x, hold.dof))
    return dot3(m, _three(x, hold.dof - 1))


@routine
def bias(hold, q, v):
    """What the freedom accelerates by although the joint's acceleration is zero: nothing but for a swing, ndot . w."""
    if hold.kind != SWING:
        return 0.0
    swing, _, _, a, b, n, _ = ball_angles(hold, q)
    w = _three(v, hold.dof)
    sine = math.sin(swing)
    if sine < _UPRIGHT:
        return 0.0
    rate = dot3(n, w)  # zero while it is held
    return (dot3(w, w) * math.cos(swing) - dot3(b, w) * dot3(a, w) - rate * rate * math.cos(swing)) / sine


@routine
def take_in(holds, bodies, dofs):
    """Lock and set sliding what the modes say, from nothing; drives are locked elsewhere."""
    for i in range(len(holds)):
        hold = holds[i]
        dof, body = dofs[hold.dof], bodies[hold.body]
        dof.lock = hold.held
        dof.slide = float(hold.slide) if not hold.held else 0.0
        dof.forced = 0.0
        body.held = 0
        body.turned = 0
    for i in range(len(holds)):
        hold = holds[i]
        if hold.held:
            bodies[hold.body].held = 1
            if hold.kind != COORDINATE:
                bodies[hold.body].turned = 1


@routine
def aim(holds, bodies, dofs, q, v):
    """Basis of every ball that is held, and the acceleration that keeps what is held: zero, but for a swing."""
    for i in range(len(holds)):
        hold = holds[i]
        body = bodies[hold.body]
        dofs[hold.dof].forced = 0.0
        if hold.kind != COORDINATE and body.turned:
            _, _, _, _, _, n, m = ball_angles(hold, q)
            e = cross3(n, m)
            store9(body.basis, (n[0], m[0], e[0], n[1], m[1], e[1], n[2], m[2], e[2]))
            if hold.held:
                dofs[hold.dof].forced = -bias(hold, q, v)


@routine
def snap(holds, q, v):
    """Put what is held exactly to its stop, and to rest."""
    for i in range(len(holds)):
        hold = holds[i]
        if not hold.held:
            continue
        stop = hold.lower if hold.at < 0 else hold.upper
        if hold.kind == COORDINATE:
            v[hold.dof] = 0.0
            if hold.at != 0:
                q[hold.coordinate] = stop
        else:
            swing, twist, cos_half, _, _, n, m = ball_angles(hold, q)
            k = hold.dof if hold.kind == SWING else hold.dof - 1
            e = n if hold.kind == SWING else m
            missing = stop - swing if hold.kind == SWING else (stop - twist) * cos_half
            rate = dot3(e, _three(v, k))
            step_quaternion(q, hold.coordinate, scale3(missing, e), q)
            v[k] -= rate * e[0]
            v[k + 1] -= rate * e[1]
            v[k + 2] -= rate * e[2]


@routine
def soft_torques(holds, q, v, tau):
    """Add the restoring torques of soft stops; returns their power.

    [NY] k times the excess, and a damper that acts while the joint is beyond the stop but never pulls it back out.
    """
    power = 0.0
    for i in range(len(holds)):
        hold = holds[i]
        if not hold.soft:
            continue
        x = position(hold, q)
        excess = min(x - hold.lower, 0.0) + max(x - hold.upper, 0.0)
        if excess == 0.0:
            continue
        rate = along(hold, q, v)
        torque = -hold.stiffness * excess - hold.damping * rate
        torque = min(torque, 0.0) if excess > 0.0 else max(torque, 0.0)
        power += torque * rate
        if hold.kind == COORDINATE:
            tau[hold.dof] += torque
        else:
            _, _, _, _, _, n, m = ball_angles(hold, q)
            k, e = (hold.dof, n) if hold.kind == SWING else (hold.dof - 1, m)
            tau[k] += torque * e[0]
            tau[k + 1] += torque * e[1]
            tau[k + 2] += torque * e[2]
    return power
