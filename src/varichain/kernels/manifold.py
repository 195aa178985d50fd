"""Steps on the configuration manifold: q + dv with Rodrigues' formula, and the step between two configurations.

Spherical: Q' = Q exp(dv / 2), dv a rotation vector in the link's axes; NY's (39) writes the same step in the parent's
axes. Free: the same for orientation, p' = p + R dv_linear with R at the start of the step. Others add.
"""

import math

from varichain.kernels.jit import NUMBER, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.tables import open_bodies
from varichain.kernels.tuples import mat_t_vec, mat_vec, matrix_from_quaternion, sub3

_SMALL = 2.5e-3  # square of half a turn of 0.1 rad: most steps of simulations are shorter


@helper
def quaternion_mul(a, b):
    """Hamilton product."""
    return (
        a[0] * b[0] - a[1] * b[1] - a[2] * b[2] - a[3] * b[3],
        a[0] * b[1] + a[1] * b[0] + a[2] * b[3] - a[3] * b[2],
        a[0] * b[2] - a[1] * b[3] + a[2] * b[0] + a[3] * b[1],
        a[0] * b[3] + a[1] * b[2] - a[2] * b[1] + a[3] * b[0],
    )


@helper
def quaternion_exp(x, y, z):
    """Unit quaternion of a rotation vector."""
    s = 0.25 * (x * x + y * y + z * z)
    if s < _SMALL:  # series of the cosine and of the sine by its angle; their next terms are under rounding
        k = 0.5 + s * (-1.0 / 12.0 + s * (1.0 / 240.0 + s * (-1.0 / 10080.0 + s / 725760.0)))
        return 1.0 + s * (-0.5 + s * (1.0 / 24.0 + s * (-1.0 / 720.0 + s / 40320.0))), k * x, k * y, k * z
    half = math.sqrt(s)
    k = 0.5 * math.sin(half) / half
    return math.cos(half), k * x, k * y, k * z


@helper
def rotation_between(a, b):
    """Rotation vector of the turn from quaternion a to b, in the axes of a (and of b): the shorter way round."""
    w, x, y, z = quaternion_mul((a[0], -a[1], -a[2], -a[3]), b)
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.sqrt(x * x + y * y + z * z)
    k = 2.0 * math.atan2(sine, w) / sine if sine > 1e-8 else 2.0 / w
    return k * x, k * y, k * z


@helper
def step_quaternion(q, i, turn, q_out):
    """Write the unit quaternion of orientation q[i:i+4] turned by a rotation vector in its own axes."""
    w, x, y, z = quaternion_mul((q[i], q[i + 1], q[i + 2], q[i + 3]), quaternion_exp(turn[0], turn[1], turn[2]))
    k = 1.0 / math.sqrt(w * w + x * x + y * y + z * z)
    q_out[i] = k * w
    q_out[i + 1] = k * x
    q_out[i + 2] = k * y
    q_out[i + 3] = k * z


@routine
def step_all(
    # in
    bodies,
    q,
    v,
    dt,
    # out: may be q itself
    q_out,
):
    """Configuration after moving with constant joint velocity v for a time dt."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        i, k = body.q, body.dof
        if body.kind == SPHERICAL or body.kind == FREE:
            if body.kind == FREE:  # before the orientation, which may be overwritten in place
                R = matrix_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3])
                shift = mat_vec(R, (dt * v[k + 3], dt * v[k + 4], dt * v[k + 5]))
                q_out[i + 4] = q[i + 4] + shift[0]
                q_out[i + 5] = q[i + 5] + shift[1]
                q_out[i + 6] = q[i + 6] + shift[2]
            step_quaternion(q, i, (dt * v[k], dt * v[k + 1], dt * v[k + 2]), q_out)
        else:
            q_out[i] = q[i] + dt * v[k]


@kernel(TABLE, VECTOR, VECTOR, NUMBER, VECTOR)
def integrate(
    # layout
    table,
    # in
    q,
    v,
    dt,
    # out: may be q itself
    q_out,
):
    """Configuration after moving with constant joint velocity v for a time dt."""
    step_all(open_bodies(table), q, v, dt, q_out)


@kernel(TABLE, VECTOR, VECTOR, VECTOR)
def difference(
    # layout
    table,
    # in
    q_from,
    q_to,
    # out
    v_out,
):
    """Joint velocity that leads from one configuration to the other in unit time: integrate's inverse."""
    bodies = open_bodies(table)
    for b in range(1, len(bodies)):
        body = bodies[b]
        i, k = body.q, body.dof
        if body.kind == SPHERICAL or body.kind == FREE:
            a = (q_from[i], q_from[i + 1], q_from[i + 2], q_from[i + 3])
            turn = rotation_between(a, (q_to[i], q_to[i + 1], q_to[i + 2], q_to[i + 3]))
            v_out[k] = turn[0]
            v_out[k + 1] = turn[1]
            v_out[k + 2] = turn[2]
            if body.kind == FREE:
                step = sub3((q_to[i + 4], q_to[i + 5], q_to[i + 6]), (q_from[i + 4], q_from[i + 5], q_from[i + 6]))
                shift = mat_t_vec(matrix_from_quaternion(a[0], a[1], a[2], a[3]), step)
                v_out[k + 3] = shift[0]
                v_out[k + 4] = shift[1]
                v_out[k + 5] = shift[2]
        else:
            v_out[k] = q_to[i] - q_from[i]
