"""Freedoms of joints between links of particles: their coordinates and rates, and the forces that act in them.

An angle is atan2(pointer . v, pointer . u) with a direction of one link and two of the other; its torque acts along its
gradient, so that momentum is kept and the power is torque times rate. Balls and free joints take couples. A drive is a
spring-damper towards the motion, as stiff as the joint.
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
    push_couple,
    push_point,
    rigid_direction,
)
from varichain.kernels.particle_records import (
    ALONG_A,
    ALONG_B,
    ANGLE,
    BY_CONTROLLERS,
    BY_DRIVES,
    DRIVE,
    IN_DAMPERS,
    IN_JOINTS,
    POSE,
    SLIDE,
    SWING,
    TWIST,
)
from varichain.kernels.particle_restrictions import displacement, push_along, turn
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
    matrix_from_quaternion,
    quaternion_from_matrix,
    scale3,
    sub3,
)

_TURN = 2.0 * math.pi


@routine
def _measure_angle(F, a, b):
    pointer, u, w = combined(a.A, F.pointer), combined(b.A, F.u), combined(b.A, F.w)
    c, s = dot3(pointer, u), dot3(pointer, w)
    rate = combined(a.A_rate, F.pointer)
    c_rate = dot3(rate, u) + dot3(pointer, combined(b.A_rate, F.u))
    s_rate = dot3(rate, w) + dot3(pointer, combined(b.A_rate, F.w))
    F.rate = F.sign * (c * s_rate - s * c_rate) / (c * c + s * s)
    x = F.sign * math.atan2(s, c)
    F.x = x + _TURN * math.floor((F.x - x) / _TURN + 0.5)  # the turn that is nearest to the last one


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
def measure_freedoms(freedoms, first, end, links, q, v):
    """Coordinates and rates of freedoms, in the records, and in q and v for those of the tree.

    Needs: links oriented.
    Gives: freedoms measured.
    """
    for i in range(first, end):
        F = freedoms[i]
        a, b = links[F.a], links[F.b]
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
def _let_go(F):
    """Nothing acts yet that an implicit step would have to know."""
    for i in range(len(F.firm)):
        F.firm[i] = F.drag[i] = 0.0


@helper
def _grip(F, i, stiffness, damping):
    """A spring-damper acts along a direction of a freedom."""
    F.firm[i] += stiffness
    F.drag[i] += damping


@helper
def _stuck(F, k, rate, step, largest):
    """Dry friction: a spring that is bent by the motion and slips at the largest force; its force."""
    F.bend[k] += rate * step
    stiffness, damping = F.stick[0], F.stick[1]
    force = -stiffness * F.bend[k] - damping * rate
    if abs(force) > largest:
        force = math.copysign(largest, force)
        F.bend[k] = -force / stiffness
    else:
        _grip(F, k, stiffness, damping)
    return force


@helper
def _stop(F, i, x, rate, lower, upper):
    """Force of a soft stop: a spring beyond the limit, and a damper that never pulls."""
    excess = min(x - lower, 0.0) + max(x - upper, 0.0)
    if excess == 0.0:
        return 0.0
    force = -F.stop[0] * excess - F.stop[1] * rate
    force = min(force, 0.0) if excess > 0.0 else max(force, 0.0)
    if force != 0.0:
        _grip(F, i, F.stop[0], F.stop[1])
    return force


@routine
def push_scalar(F, a, b, force):
    """A force along the gradient of an angle or a displacement.

    Needs: links gathered.
    """
    if F.kind == ANGLE:
        turn(F, a, b, force)
    else:
        push_along(a, b, F.on_a, load3(F.p_a), load3(F.p_b), load3(F.pointer), force)


@routine
def _turned(F, a, b):
    """An angle of whole links, and its gradient by the rotation of link a (world axes).

    Drives must measure what they push: with the angle between arms, springs of drives would create energy.
    """
    pointer, u, w = rigid_direction(a, F.pointer), rigid_direction(b, F.u), rigid_direction(b, F.w)
    c, s = dot3(pointer, u), dot3(pointer, w)
    x = F.sign * math.atan2(s, c)
    x += _TURN * math.floor((F.x - x) / _TURN + 0.5)
    return x, scale3(F.sign / (c * c + s * s), cross3(pointer, sub3(scale3(c, w), scale3(s, u))))


@routine
def push_drive(F, a, b, force):
    """Force of a drive in an angle or a displacement.

    In an angle it is a couple on whole links: these bear far stiffer drives than their arms do.

    Needs: links oriented.
    """
    if F.kind == ANGLE:
        _, axis = _turned(F, a, b)
        couple = scale3(force, axis)
        push_couple(a, couple)
        push_couple(b, scale3(-1.0, couple))
    else:
        push_scalar(F, a, b, force)


@routine
def _drive_scalar(F, a, b, q, v, run):
    """Drive a freedom by a spring-damper whose other end is at q and moves with v; the force.

    Needs: links oriented.
    """
    stiffness, damping = F.grip[0], F.grip[1]
    x, rate = F.x, F.rate
    if F.kind == ANGLE:
        x, axis = _turned(F, a, b)
        rate = dot3(axis, sub3(load3(a.w), load3(b.w)))
    missing, slow = q - x, v - rate
    force = stiffness * missing + damping * slow
    run.elastic += 0.5 * stiffness * missing * missing
    run.power[IN_DAMPERS] -= damping * slow * slow
    run.power[BY_DRIVES] += force * v
    _grip(F, DRIVE, stiffness, damping)
    push_drive(F, a, b, force)
    return force


@routine
def _turn_rotor(F, a, b, run):
    """Shaft between a joint and its rotor, which has the inertia of the armature: a spring-damper between the two.

    Needs: links oriented.
    """
    x, rate = F.x, F.rate
    if F.kind == ANGLE:
        x, axis = _turned(F, a, b)
        rate = dot3(axis, sub3(load3(a.w), load3(b.w)))
    missing, slow = F.rotor - x, F.rotor_rate - rate
    force = F.shaft[0] * missing + F.shaft[1] * slow
    run.elastic += 0.5 * F.shaft[0] * missing * missing
    run.power[IN_DAMPERS] -= F.shaft[1] * slow * slow
    F.rotor_force = -force
    push_drive(F, a, b, force)


@routine
def drift_rotors(freedoms, dt):
    """Half of the old acceleration of rotors, and their way; rates are those to be expected, as of particles."""
    for i in range(len(freedoms)):
        F = freedoms[i]
        if F.armature > 0.0:
            k = 0.5 * dt / F.armature
            F.rotor_half = F.rotor_rate + k * F.rotor_force
            F.rotor += dt * F.rotor_half
            F.rotor_rate = F.rotor_half + k * F.rotor_force


@routine
def speed_up_rotors(freedoms, dt):
    """Half of the new acceleration of rotors."""
    for i in range(len(freedoms)):
        F = freedoms[i]
        if F.armature > 0.0:
            F.rotor_rate = F.rotor_half + 0.5 * dt / F.armature * F.rotor_force


@routine
def _act_in_scalar(F, a, b, force, run):
    """Forces in an angle or a displacement, with that of controllers.

    Needs: links oriented.
    """
    run.power[BY_CONTROLLERS] += force * F.rate
    if F.acts or F.driven:
        _let_go(F)
    if F.acts:
        spring = -F.stiffness[0] * (F.x - F.rest[0])
        run.elastic += 0.5 * F.stiffness[0] * (F.x - F.rest[0]) ** 2
        lost = -F.damping[0] * F.rate
        _grip(F, 0, F.stiffness[0], F.damping[0])
        if F.friction[0] > 0.0:
            lost += _stuck(F, 0, F.rate, run.step, F.friction[0])
        lost += _stop(F, 0, F.x, F.rate, F.lower[0], F.upper[0])
        run.power[IN_JOINTS] += lost * F.rate
        force += spring + lost
    if force != 0.0:
        push_scalar(F, a, b, force)


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
        elif F.friction[0] > 0.0:
            for k in range(3):
                _grip(F, k, F.stick[0], F.stick[1])
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
    m = scale3(1.0 / cos_half, m)
    F.cone[0], F.cone[1], F.cone[2] = n
    F.cone[3], F.cone[4], F.cone[5] = m
    moment = scale3(_stop(F, SWING, swing, dot3(n, w), -math.inf, F.upper[0]), n)
    return add3(moment, scale3(_stop(F, TWIST, twist, dot3(m, w), F.lower[1], F.upper[1]), m))


@routine
def _drive_ball(F, Q, w, drive, run):
    """Moment of a drive, in the axes of frame a."""
    i, k, q, v = F.q, F.v, drive.q, drive.v
    wanted = (q[i], q[i + 1], q[i + 2], q[i + 3])
    missing = rotation_between(Q, wanted)
    w_wanted = mat_vec(matrix_from_quaternion(wanted[0], wanted[1], wanted[2], wanted[3]), (v[k], v[k + 1], v[k + 2]))
    w_wanted = mat_t_vec(matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3]), w_wanted)
    slow = sub3(w_wanted, w)
    moment = add3(scale3(F.grip[0], missing), scale3(F.grip[1], slow))
    run.elastic += 0.5 * F.grip[0] * dot3(missing, missing)
    run.power[IN_DAMPERS] -= F.grip[1] * dot3(slow, slow)
    run.power[BY_DRIVES] += dot3(moment, w_wanted)
    drive.holding[k], drive.holding[k + 1], drive.holding[k + 2] = moment
    for axis in range(3):
        _grip(F, axis, F.grip[0], F.grip[1])
    return moment


@routine
def _act_in_ball(F, a, b, q, v, tau, drive, run):
    """Couples in a ball or a free joint, and forces of the latter.

    Needs: links oriented.
    """
    i, k = F.q, F.v
    w = (v[k], v[k + 1], v[k + 2])
    moment = (tau[k], tau[k + 1], tau[k + 2])
    run.power[BY_CONTROLLERS] += dot3(moment, w)
    Q, r = (q[i], q[i + 1], q[i + 2], q[i + 3]), F.rest
    _let_go(F)
    if F.acts:
        bent = rotation_between((r[0], r[1], r[2], r[3]), Q)
        run.elastic += 0.5 * F.stiffness[0] * dot3(bent, bent)
        d = F.damping
        lost = add3((-d[0] * w[0], -d[1] * w[1], -d[2] * w[2]), _ball_friction(F, w, run.step))
        for axis in range(3):
            _grip(F, axis, F.stiffness[0], d[axis])
        if F.has_cone:
            lost = add3(lost, _cone(F, Q, w))
        run.power[IN_JOINTS] += dot3(lost, w)
        moment = add3(moment, add3(scale3(-F.stiffness[0], bent), lost))
    if F.driven:
        moment = add3(moment, _drive_ball(F, Q, w, drive, run))
    push_rotation(F, a, b, moment)
    if F.kind == POSE:
        _act_in_position(F, a, b, q, v, tau, drive, run)


@routine
def push_rotation(F, a, b, moment):
    """A couple in a ball or a free joint, in the axes of frame a.

    Needs: links oriented.
    """
    couple = in_world(a, load9(F.R_a), moment)
    push_couple(a, couple)
    push_couple(b, scale3(-1.0, couple))


@routine
def push_position(F, a, b, push):
    """A force (world axes) in the displacements of a free joint.

    Needs: links oriented.
    """
    e = sub3(point_of(a, F.p_a), point_of(b, F.p_b))
    push_point(a, F.p_a, push)
    push_point(b, F.p_b, scale3(-1.0, push))
    push_couple(b, scale3(-1.0, cross3(e, push)))


@routine
def axis_of_pose(F, a, b, axis):
    """Direction (world axes) of a translation of a free joint: along the axes of a, then along those of b."""
    R_A, R_B = _axes(F, a, b)
    unit = (1.0 if axis % 3 == 0 else 0.0, 1.0 if axis % 3 == 1 else 0.0, 1.0 if axis % 3 == 2 else 0.0)
    return mat_vec(R_A, unit) if axis < 3 else mat_vec(R_B, unit)


@routine
def _drive_position(F, R_A, R_B, rate, now, drive, run):
    """Force of a drive, in the axes of frame a; `rate` is in these axes too."""
    i, k, q, v = F.q, F.v, drive.q, drive.v
    missing = (q[i + 4] - now[i + 4], q[i + 5] - now[i + 5], q[i + 6] - now[i + 6])
    v_wanted = mat_vec(matrix_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3]), (v[k + 3], v[k + 4], v[k + 5]))
    missing, v_wanted = mat_t_vec(R_A, mat_vec(R_B, missing)), mat_t_vec(R_A, mat_vec(R_B, v_wanted))
    slow = sub3(v_wanted, rate)
    force = add3(scale3(F.grip[2], missing), scale3(F.grip[3], slow))
    run.elastic += 0.5 * F.grip[2] * dot3(missing, missing)
    run.power[IN_DAMPERS] -= F.grip[3] * dot3(slow, slow)
    run.power[BY_DRIVES] += dot3(force, v_wanted)
    drive.holding[k + 3], drive.holding[k + 4], drive.holding[k + 5] = force
    for axis in range(3):
        _grip(F, ALONG_A + axis, F.grip[2], F.grip[3])
    return force


@routine
def _act_in_position(F, a, b, q, v, tau, drive, run):
    """Forces in the three displacements of a free joint, in the axes of frame a; limits are along those of frame b.

    Needs: links oriented.
    """
    i, k, d = F.q, F.v, F.damping
    rate = (v[k + 3], v[k + 4], v[k + 5])
    force = (tau[k + 3], tau[k + 4], tau[k + 5])
    run.power[BY_CONTROLLERS] += dot3(force, rate)
    R_A, R_B = _axes(F, a, b)
    if F.acts:
        shift = (q[i + 4] - F.rest[4], q[i + 5] - F.rest[5], q[i + 6] - F.rest[6])
        run.elastic += 0.5 * F.stiffness[1] * dot3(shift, shift)
        spring = mat_t_vec(R_A, mat_vec(R_B, scale3(-F.stiffness[1], shift)))
        x = _stuck(F, 3, rate[0], run.step, F.friction[3]) if F.friction[3] > 0.0 else 0.0
        y = _stuck(F, 4, rate[1], run.step, F.friction[4]) if F.friction[4] > 0.0 else 0.0
        z = _stuck(F, 5, rate[2], run.step, F.friction[5]) if F.friction[5] > 0.0 else 0.0
        lost = (x - d[3] * rate[0], y - d[4] * rate[1], z - d[5] * rate[2])
        for axis in range(3):
            _grip(F, ALONG_A + axis, F.stiffness[1], d[3 + axis])
        in_b = mat_t_vec(R_B, mat_vec(R_A, rate))
        x = _stop(F, ALONG_B, q[i + 4], in_b[0], F.lower[0], F.upper[0])
        y = _stop(F, ALONG_B + 1, q[i + 5], in_b[1], F.lower[1], F.upper[1])
        z = _stop(F, ALONG_B + 2, q[i + 6], in_b[2], F.lower[2], F.upper[2])
        lost = add3(lost, mat_t_vec(R_A, mat_vec(R_B, (x, y, z))))
        run.power[IN_JOINTS] += dot3(lost, rate)
        force = add3(force, add3(spring, lost))
    if F.driven:
        force = add3(force, _drive_position(F, R_A, R_B, rate, q, drive, run))
    push_position(F, a, b, mat_vec(R_A, force))


@routine
def act_in_freedoms(freedoms, first, end, links, q, v, tau, drive, run):
    """Forces of controllers, drives, springs, dampers, dry friction and stops in freedoms.

    Needs: links oriented, freedoms measured.
    """
    for i in range(first, end):
        F = freedoms[i]
        a, b = links[F.a], links[F.b]
        if F.kind == ANGLE or F.kind == SLIDE:
            _act_in_scalar(F, a, b, tau[F.v] if F.v >= 0 else 0.0, run)
            if F.driven:
                drive.holding[F.v] = _drive_scalar(F, a, b, drive.q[F.q], drive.v[F.v], run)
            if F.armature > 0.0:
                _turn_rotor(F, a, b, run)
        elif F.acts or F.driven or _is_controlled(F, tau):
            _act_in_ball(F, a, b, q, v, tau, drive, run)


@helper
def _is_controlled(F, tau):
    """Whether a controller acts in a ball or a free joint."""
    k = F.v
    acts = tau[k] != 0.0 or tau[k + 1] != 0.0 or tau[k + 2] != 0.0
    return acts or (F.kind == POSE and (tau[k + 3] != 0.0 or tau[k + 4] != 0.0 or tau[k + 5] != 0.0))


@routine
def couple_freedoms(couplings, freedoms, links, run):
    """Forces of couplings: x_A - multiplier x_B - offset is kept at zero by a spring-damper.

    Needs: freedoms measured.
    """
    for i in range(len(couplings)):
        c = couplings[i]
        A, B = freedoms[c.follower], freedoms[c.leader]
        c.error, rate = A.x - c.multiplier * B.x - c.offset, A.rate - c.multiplier * B.rate
        c.force = -c.stiffness * c.error - c.damping * rate
        push_scalar(A, links[A.a], links[A.b], c.force)
        push_scalar(B, links[B.a], links[B.b], -c.multiplier * c.force)
        run.power[IN_DAMPERS] -= c.damping * rate * rate
        run.elastic += 0.5 * c.stiffness * c.error * c.error
