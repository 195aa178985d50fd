"""Freedoms of joints that close loops: coordinates, rates and wrenches; springs, dampers and friction along them.

Freedom k of a loop's joint is described by a row, `free_kinds[k]` and `free_axes[k]`, whose velocity is its rate.
"""

from varichain.kernels.force_elements import tension_of, turning_of
from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import place_loop, relative
from varichain.kernels.passive import ball_sliding, sliding
from varichain.kernels.records import ANGULAR, CARDAN, CARRIED, EACH, LINE, TURN, TURNED
from varichain.kernels.relative_rotation import rotation_vector, turned_back, within_half_a_turn
from varichain.kernels.row_kinds import coordinate_along, direction, line_of, pick, unit_wrench, velocity_along
from varichain.kernels.tuples import (
    ZERO3,
    ZERO6,
    add3,
    add_scaled6,
    angular,
    cross3,
    dot3,
    join6,
    linear,
    load3,
    load6,
    mat_mul,
    mat_t_vec,
    matrix_from_quaternion,
    scale3,
    store6,
    sub3,
)


@helper
def pose_of_A(loop, R_WA, R_WB):
    """Pose of A in B: position and rotation matrix; the loop must be placed."""
    return mat_t_vec(R_WB, load3(loop.d)), turned_back(R_WA, R_WB)


@helper
def freedom_coordinate(loop, k, pose):
    """Coordinate of freedom k from the joint's zero configuration; see `coordinate_along`."""
    return coordinate_along(loop.free_kinds[k], loop.free_axes[k], loop, pose[0], pose[1])


@helper
def freedom_direction(loop, k, R_WA, R_WB):
    """Direction of freedom k, world axes; the loop must be placed."""
    return direction(loop.free_kinds[k], loop.free_axes[k], loop, R_WA, R_WB)


@helper
def freedom_rate(loop, k, e, w_rel, v_rel):
    """Velocity of freedom k, whose direction is e, from the motion of A against B."""
    return velocity_along(loop.free_kinds[k], loop, e, w_rel, v_rel)


@helper
def freedom_wrench(loop, k, e, x):
    """Wrench on A at the point x that does the work of a unit force in freedom k, whose direction is e."""
    return unit_wrench(loop.free_kinds[k], loop, e, x)


@helper
def _from_rest(loop, k, pose):
    """Displacement of freedom k from the rest position of its spring; angles within half a turn."""
    p, R_BA = pose
    kind, axis, rest = loop.free_kinds[k], loop.free_axes[k], loop.rest
    if kind == TURNED:
        R = matrix_from_quaternion(rest[0], rest[1], rest[2], rest[3])
        R_RB = (R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8])
        return pick(rotation_vector(mat_mul(R_RB, R_BA)), axis)
    has_quaternion = loop.free_kinds[0] == TURNED
    if kind == CARRIED:
        return pick(mat_t_vec(R_BA, sub3(p, (rest[4], rest[5], rest[6]))), axis)
    # a quaternion has one coordinate more than freedoms
    x = freedom_coordinate(loop, k, pose) - (rest[k + 1] if has_quaternion else rest[k])
    return within_half_a_turn(x) if kind in (ANGULAR, CARDAN) else x


@helper
def _moved(f, x):
    """Wrench at the point x, about the reference point."""
    return join6(add3(angular(f), cross3(x, linear(f))), linear(f))


@routine
def load_element(loop, pose, R_WB, w_rel, v_rel):
    """Wrench of a force element on A, at the loop's point, and the power that it takes.

    Needs: loop points placed.
    """
    if loop.law == LINE:
        e, length = line_of(loop, R_WB)
        rate = dot3(e, v_rel)
        tension, drag, _ = tension_of(loop, length, rate)
        return join6(ZERO3, scale3(-tension, e)), drag * rate
    angle, g = turning_of(loop, pose, R_WB)
    rate = dot3(g, w_rel)
    drag = loop.damping[0] * rate
    return join6(scale3(-(loop.stiffness[0] * angle + drag), g), ZERO3), drag * rate


@routine
def load_loop_forces(bodies, loops):
    """Add the forces of the loops' own joints to the bias forces of their bodies.

    Needs: bodies moved.
    Gives: loop points placed.
    """
    for i in range(len(loops)):
        loop = loops[i]
        if loop.passive == 0:
            continue
        R_WA, R_WB = place_loop(bodies, loop)
        _, _, w_rel, v_rel = relative(bodies, loop)
        pose = pose_of_A(loop, R_WA, R_WB)
        own, dissipated, turning = ZERO6, 0.0, ZERO3
        if loop.law != EACH:
            own, dissipated = load_element(loop, pose, R_WB, w_rel, v_rel)
        if loop.isotropic:
            turning = ball_sliding((loop.slide[0], loop.slide[1], loop.slide[2]), mat_t_vec(R_WA, w_rel))
        for k in range(loop.n_free if loop.law == EACH else 0):
            e = freedom_direction(loop, k, R_WA, R_WB)
            v = freedom_rate(loop, k, e, w_rel, v_rel)
            direction = pick(turning, k) if loop.isotropic else sliding(loop.slide[k], v)
            drag = loop.damping[k] * v + loop.friction[k] * direction
            spring = loop.stiffness[k] * _from_rest(loop, k, pose) if loop.stiffness[k] > 0.0 else 0.0
            dissipated += drag * v
            own = add_scaled6(own, -(drag + spring), freedom_wrench(loop, k, e, ZERO3))
        loop.dissipated = dissipated
        store6(loop.own, own)
        A, B = bodies[loop.body_A], bodies[loop.body_B]
        store6(A.f, add_scaled6(load6(A.f), -1.0, _moved(own, load3(loop.x_A))))
        store6(B.f, add_scaled6(load6(B.f), 1.0, _moved(own, load3(loop.x_B))))


@routine
def loop_spring_energy(bodies, loops):
    """Elastic energy of the springs in the loops' joints [J].

    Needs: bodies placed.
    """
    energy = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.passive == 0:
            continue
        R_WA, R_WB = place_loop(bodies, loop)
        pose = pose_of_A(loop, R_WA, R_WB)
        if loop.law == LINE:
            energy += tension_of(loop, line_of(loop, R_WB)[1], 0.0)[2]
        elif loop.law == TURN:
            energy += 0.5 * loop.stiffness[0] * turning_of(loop, pose, R_WB)[0] ** 2
        for k in range(loop.n_free if loop.law == EACH else 0):
            if loop.stiffness[k] > 0.0:
                energy += 0.5 * loop.stiffness[k] * _from_rest(loop, k, pose) ** 2
    return energy
