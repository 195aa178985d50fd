"""Freedoms of joints between links of particles: their coordinates and rates, and the forces that act in them.

An angle is atan2(pointer . v, pointer . u) with a direction of one link and two of the other; its torque acts along its
gradient, so that momentum is kept and the power is torque times rate. Balls and free joints take couples.
"""

import math

from varichain.kernels.balls import swing_and_twist
from varichain.kernels.jit import helper, routine
from varichain.kernels.manifold import rotation_between
from varichain.kernels.particle_links import (
    combined,
    in_world,
    point_of,
    point_rate,
    push_arms,
    push_couple,
    push_point,
)
from varichain.kernels.particle_records import ANGLE, POSE, SLIDE
from varichain.kernels.particle_restrictions import displacement, push_along
from varichain.kernels.tuples import (
    add3,
    cross3,
    dot3,
    length3,
    load3,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    quaternion_from_matrix,
    scale3,
    sub3,
)

_TURN = 2.0 * math.pi


@helper
def _parts(F, a, b):
    """Pointer, u and v of an angle, each of its link's arms."""
    return combined(a.A, F.pointer), combined(b.A, F.u), combined(b.A, F.w)


@routine
def _measure_angle(F, a, b):
    pointer, u, w = _parts(F, a, b)
    c, s = dot3(pointer, u), dot3(pointer, w)
    rate = combined(a.A_rate, F.pointer)
    c_rate = dot3(rate, u) + dot3(pointer, combined(b.A_rate, F.u))
    s_rate = dot3(rate, w) + dot3(pointer, combined(b.A_rate, F.w))
    F.rate = F.sign * (c * s_rate - s * c_rate) / (c * c + s * s)
    x = F.sign * math.atan2(s, c)
    F.x = x + _TURN * math.floor((F.x - x) / _TURN + 0.5)  # the turn that is nearest to the last one


@routine
def _turn(F, a, b, torque):
    """A torque along the gradient of an angle."""
    pointer, u, w = _parts(F, a, b)
    c, s = dot3(pointer, u), dot3(pointer, w)
    k = F.sign * torque / (c * c + s * s)
    push_arms(a, F.pointer, add3(scale3(k * c, w), scale3(-k * s, u)))
    push_arms(b, F.w, scale3(k * c, pointer))
    push_arms(b, F.u, scale3(-k * s, pointer))


@routine
def _axes(F, a, b):
    """Axes of the two frames in the world."""
    return mat_mul(load9(a.R), load9(F.R_a)), mat_mul(load9(b.R), load9(F.R_b))


@helper
def _transposed_product(B, A):
    """B^T A."""
    return mat_mul((B[0], B[3], B[6], B[1], B[4], B[7], B[2], B[5], B[8]), A)


@routine
def _measure_pose(F, a, b, q, v):
    """Orientation, and of a free joint position, of frame a in frame b; velocities in the axes of a.

    The quaternion keeps its sign, so that it does not jump.
    """
    R_A, R_B = _axes(F, a, b)
    Q = quaternion_from_matrix(_transposed_product(R_B, R_A))
    i, k = F.q, F.v
    sign = -1.0 if Q[0] * q[i] + Q[1] * q[i + 1] + Q[2] * q[i + 2] + Q[3] * q[i + 3] < 0.0 else 1.0
    q[i], q[i + 1], q[i + 2], q[i + 3] = sign * Q[0], sign * Q[1], sign * Q[2], sign * Q[3]
    v[k], v[k + 1], v[k + 2] = mat_t_vec(R_A, sub3(load3(a.w), load3(b.w)))
    if F.kind == POSE:
        e = sub3(point_of(a, F.p_a), point_of(b, F.p_b))
        q[i + 4], q[i + 5], q[i + 6] = mat_t_vec(R_B, e)
        rate = sub3(sub3(point_rate(a, F.p_a), point_rate(b, F.p_b)), cross3(load3(b.w), e))
        v[k + 3], v[k + 4], v[k + 5] = mat_t_vec(R_A, rate)


@routine
def measure_freedoms(freedoms, links, q, v):
    """Coordinates and rates of all freedoms, in the records, and in q and v for those of the tree.

    Needs: links oriented.
    Gives: freedoms measured.
    """
    for i in range(len(freedoms)):
        F = freedoms[i]
        a, b = links[F.a], links[F.b]
        F.force = 0.0
        if F.kind == ANGLE:
            _measure_angle(F, a, b)
        elif F.kind == SLIDE:
            F.x, F.rate = displacement(a, b, F.on_a, load3(F.p_a), load3(F.p_b), load3(F.pointer))
        else:
            _measure_pose(F, a, b, q, v)
            continue
        if F.q >= 0:
            q[F.q], v[F.v] = F.x, F.rate


@helper
def _stuck(F, k, rate, step, largest):
    """Dry friction: a spring that is bent by the motion and slips at the largest force; its force."""
    F.bend[k] += rate * step
    stiffness, damping = F.stick[0], F.stick[1]
    force = -stiffness * F.bend[k] - damping * rate
    if abs(force) > largest:
        force = math.copysign(largest, force)
        F.bend[k] = -force / stiffness
    return force


@helper
def _stop(F, x, rate, lower, upper):
    """Force of a soft stop: a spring beyond the limit, and a damper that never pulls."""
    excess = min(x - lower, 0.0) + max(x - upper, 0.0)
    if excess == 0.0:
        return 0.0
    force = -F.stop[0] * excess - F.stop[1] * rate
    return min(force, 0.0) if excess > 0.0 else max(force, 0.0)


@routine
def _act_in_scalar(F, a, b, tau, run):
    driven = tau[F.v] if F.v >= 0 else 0.0
    force = driven + F.force
    run.power[0] += driven * F.rate
    if F.acts:
        spring = -F.stiffness[0] * (F.x - F.rest[0])
        run.elastic += 0.5 * F.stiffness[0] * (F.x - F.rest[0]) ** 2
        lost = -F.damping[0] * F.rate
        if F.friction[0] > 0.0:
            lost += _stuck(F, 0, F.rate, run.step, F.friction[0])
        lost += _stop(F, F.x, F.rate, F.lower[0], F.upper[0])
        run.power[1] += lost * F.rate
        force += spring + lost
    if force == 0.0:
        return
    if F.kind == ANGLE:
        _turn(F, a, b, force)
    else:
        push_along(a, b, F.on_a, load3(F.p_a), load3(F.p_b), load3(F.pointer), force)


@routine
def _ball_friction(F, w, step):
    """Moment of dry friction in a ball, in the axes of frame a."""
    if F.isotropic:
        bend = (F.bend[0] + w[0] * step, F.bend[1] + w[1] * step, F.bend[2] + w[2] * step)
        moment = add3(scale3(-F.stick[0], bend), scale3(-F.stick[1], w))
        size = length3(moment)
        if size > F.friction[0]:
            moment = scale3(F.friction[0] / size, moment)
            bend = scale3(-1.0 / F.stick[0], moment)
        F.bend[0], F.bend[1], F.bend[2] = bend
        return moment
    x = _stuck(F, 0, w[0], step, F.friction[0]) if F.friction[0] > 0.0 else 0.0
    y = _stuck(F, 1, w[1], step, F.friction[1]) if F.friction[1] > 0.0 else 0.0
    z = _stuck(F, 2, w[2], step, F.friction[2]) if F.friction[2] > 0.0 else 0.0
    return x, y, z


@routine
def _cone(F, Q, w):
    """Moment of the stops of swing and twist, in the axes of frame a."""
    c = F.center
    swing, twist, cos_half, _, n, m = swing_and_twist(Q, load3(F.axis), (c[0], c[1], c[2], c[3]))
    moment = scale3(_stop(F, swing, dot3(n, w), -math.inf, F.upper[0]), n)
    force = _stop(F, twist, dot3(m, w) / cos_half, F.lower[1], F.upper[1])
    return add3(moment, scale3(force / cos_half, m))


@routine
def _act_in_ball(F, a, b, q, v, tau, run):
    i, k = F.q, F.v
    w = (v[k], v[k + 1], v[k + 2])
    driven = (tau[k], tau[k + 1], tau[k + 2])
    run.power[0] += dot3(driven, w)
    moment = driven
    if F.acts:
        Q, r = (q[i], q[i + 1], q[i + 2], q[i + 3]), F.rest
        bent = rotation_between((r[0], r[1], r[2], r[3]), Q)
        run.elastic += 0.5 * F.stiffness[0] * dot3(bent, bent)
        d = F.damping
        lost = add3((-d[0] * w[0], -d[1] * w[1], -d[2] * w[2]), _ball_friction(F, w, run.step))
        if F.has_cone:
            lost = add3(lost, _cone(F, Q, w))
        run.power[1] += dot3(lost, w)
        moment = add3(moment, add3(scale3(-F.stiffness[0], bent), lost))
    couple = in_world(a, load9(F.R_a), moment)
    push_couple(a, couple)
    push_couple(b, scale3(-1.0, couple))
    if F.kind == POSE:
        _act_in_position(F, a, b, q, v, tau, run)


@routine
def _act_in_position(F, a, b, q, v, tau, run):
    """Forces in the three displacements of a free joint, in the axes of frame a; limits are along those of frame b."""
    i, k, d = F.q, F.v, F.damping
    rate = (v[k + 3], v[k + 4], v[k + 5])
    driven = (tau[k + 3], tau[k + 4], tau[k + 5])
    run.power[0] += dot3(driven, rate)
    force = driven
    R_A, R_B = _axes(F, a, b)
    if F.acts:
        shift = (q[i + 4] - F.rest[4], q[i + 5] - F.rest[5], q[i + 6] - F.rest[6])
        run.elastic += 0.5 * F.stiffness[1] * dot3(shift, shift)
        spring = mat_t_vec(R_A, mat_vec(R_B, scale3(-F.stiffness[1], shift)))
        x = _stuck(F, 3, rate[0], run.step, F.friction[3]) if F.friction[3] > 0.0 else 0.0
        y = _stuck(F, 4, rate[1], run.step, F.friction[4]) if F.friction[4] > 0.0 else 0.0
        z = _stuck(F, 5, rate[2], run.step, F.friction[5]) if F.friction[5] > 0.0 else 0.0
        lost = (x - d[3] * rate[0], y - d[4] * rate[1], z - d[5] * rate[2])
        in_b = mat_t_vec(R_B, mat_vec(R_A, rate))
        x = _stop(F, q[i + 4], in_b[0], F.lower[0], F.upper[0])
        y = _stop(F, q[i + 5], in_b[1], F.lower[1], F.upper[1])
        z = _stop(F, q[i + 6], in_b[2], F.lower[2], F.upper[2])
        lost = add3(lost, mat_t_vec(R_A, mat_vec(R_B, (x, y, z))))
        run.power[1] += dot3(lost, rate)
        force = add3(force, add3(spring, lost))
    push = mat_vec(R_A, force)
    e = sub3(point_of(a, F.p_a), point_of(b, F.p_b))
    push_point(a, F.p_a, push)
    push_point(b, F.p_b, scale3(-1.0, push))
    push_couple(b, scale3(-1.0, cross3(e, push)))


@routine
def act_in_freedoms(freedoms, links, q, v, tau, run):
    """Forces of controllers, springs, dampers, dry friction and stops in all freedoms.

    Needs: freedoms measured.
    """
    for i in range(len(freedoms)):
        F = freedoms[i]
        a, b = links[F.a], links[F.b]
        if F.kind == ANGLE or F.kind == SLIDE:
            _act_in_scalar(F, a, b, tau, run)
        elif F.acts or _is_driven(F, tau):
            _act_in_ball(F, a, b, q, v, tau, run)


@helper
def _is_driven(F, tau):
    """Whether a controller acts in a ball or a free joint."""
    k = F.v
    driven = tau[k] != 0.0 or tau[k + 1] != 0.0 or tau[k + 2] != 0.0
    return driven or (F.kind == POSE and (tau[k + 3] != 0.0 or tau[k + 4] != 0.0 or tau[k + 5] != 0.0))
