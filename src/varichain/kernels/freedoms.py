"""The five elementary freedoms: where each puts its body, how it moves it, which torque it feels.

A body's joint frame has the freedom's axis as z. Coordinates: revolute, prismatic and screw one number; spherical a
unit quaternion; free a unit quaternion, then the position of the body's origin in the joint frame. Velocities of the
last two are [angular; linear] in the body's own axes [NY, VI].
"""

import math

from varichain.kernels.jit import helper
from varichain.kernels.records import FREE, PRISMATIC, REVOLUTE, SPHERICAL
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    angular,
    column,
    cross3,
    dot3,
    join6,
    linear,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    matrix_from_quaternion,
    scale3,
    store6,
    sub3,
    turn_about_z,
)


@helper
def turned_by(body, R_WJ, q):
    """Orientation of the body, R_WB = R_WJ R_JB(q)."""
    k = body.q
    if body.kind == SPHERICAL or body.kind == FREE:
        return mat_mul(R_WJ, matrix_from_quaternion(q[k], q[k + 1], q[k + 2], q[k + 3]))
    if body.kind == PRISMATIC:
        return R_WJ
    return turn_about_z(R_WJ, math.cos(q[k]), math.sin(q[k]))


@helper
def shifted_by(body, R_WJ, q):
    """Displacement of the body's origin from the joint frame's, in world axes."""
    k = body.q
    if body.kind == REVOLUTE or body.kind == SPHERICAL:
        return ZERO3
    if body.kind == FREE:
        return mat_vec(R_WJ, (q[k + 4], q[k + 5], q[k + 6]))
    if body.kind == PRISMATIC:
        return scale3(q[k], column(R_WJ, 2))
    return scale3(body.pitch * q[k], column(R_WJ, 2))


@helper
def joint_motion(body, R, p, v):
    """Spatial velocity (or acceleration) S v of the body relative to its parent, about the reference point."""
    k = body.dof
    if body.kind == SPHERICAL:
        turning = mat_vec(R, (v[k], v[k + 1], v[k + 2]))
        return join6(turning, cross3(p, turning))
    if body.kind == REVOLUTE:
        turning = scale3(v[k], column(R, 2))
        return join6(turning, cross3(p, turning))
    if body.kind == FREE:
        turning = mat_vec(R, (v[k], v[k + 1], v[k + 2]))
        sliding = mat_vec(R, (v[k + 3], v[k + 4], v[k + 5]))
        return join6(turning, add3(cross3(p, turning), sliding))
    if body.kind == PRISMATIC:
        return join6(ZERO3, scale3(v[k], column(R, 2)))
    turning = scale3(v[k], column(R, 2))
    return join6(turning, add3(cross3(p, turning), scale3(body.pitch, turning)))


@helper
def project_force(body, R, p, f, tau_out):
    """Write S^T f, the generalized force of a spatial force f about the reference point."""
    k = body.dof
    moment = sub3(angular(f), cross3(p, linear(f)))  # about the body's origin
    if body.kind == SPHERICAL or body.kind == FREE:
        torque = mat_t_vec(R, moment)
        tau_out[k] = torque[0]
        tau_out[k + 1] = torque[1]
        tau_out[k + 2] = torque[2]
        if body.kind == FREE:
            force = mat_t_vec(R, linear(f))
            tau_out[k + 3] = force[0]
            tau_out[k + 4] = force[1]
            tau_out[k + 5] = force[2]
    elif body.kind == REVOLUTE:
        tau_out[k] = dot3(column(R, 2), moment)
    elif body.kind == PRISMATIC:
        tau_out[k] = dot3(column(R, 2), linear(f))
    else:
        tau_out[k] = dot3(column(R, 2), moment) + body.pitch * dot3(column(R, 2), linear(f))


@helper
def write_motion_vectors(body, R, p, dofs_out):
    """Write the motion vector s of each of the body's freedoms, about the reference point."""
    k = body.dof
    if body.kind == SPHERICAL or body.kind == FREE:
        if body.turned:
            R = mat_mul(R, load9(body.basis))
        x, y, z = column(R, 0), column(R, 1), column(R, 2)
        store6(dofs_out[k].s, join6(x, cross3(p, x)))
        store6(dofs_out[k + 1].s, join6(y, cross3(p, y)))
        store6(dofs_out[k + 2].s, join6(z, cross3(p, z)))
        if body.kind == FREE:
            store6(dofs_out[k + 3].s, join6(ZERO3, x))
            store6(dofs_out[k + 4].s, join6(ZERO3, y))
            store6(dofs_out[k + 5].s, join6(ZERO3, z))
    else:
        z = column(R, 2)
        if body.kind == REVOLUTE:
            store6(dofs_out[k].s, join6(z, cross3(p, z)))
        elif body.kind == PRISMATIC:
            store6(dofs_out[k].s, join6(ZERO3, z))
        else:
            store6(dofs_out[k].s, join6(z, add3(cross3(p, z), scale3(body.pitch, z))))
