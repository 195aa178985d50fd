"""Derivatives of springs, dampers and dry friction in the joints of the tree.

Friction is taken in its present direction: the direction of a ball's friction turns with its angular velocity, all
others are constant. At rest it has none, and its derivative is zero.
"""

from varichain.kernels.charts import _curvature
from varichain.kernels.jit import helper, routine
from varichain.kernels.manifold import rotation_between
from varichain.kernels.passive import _AT_REST, ball_sliding
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.run_records import NO_FRICTION
from varichain.kernels.tuples import add3, cross3, dot3, length3, mat_t_vec, matrix_from_quaternion, scale3, sub3

UNIT_VECTORS = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


@helper
def vector_rate(turn, w):
    """Rate of a rotation vector `turn` under the angular velocity w in the turned axes."""
    across = cross3(turn, w)
    return add3(w, add3(scale3(0.5, across), scale3(_curvature(dot3(turn, turn)), cross3(turn, across))))


@helper
def friction_spread(slides, w):
    """Direction of a ball's friction, and the reciprocal of the speed with which it turns; 0 if it does not turn."""
    if slides[0] == NO_FRICTION:
        return (0.0, 0.0, 0.0), 0.0
    speed = length3(w)
    if speed <= _AT_REST:
        return slides, 0.0
    direction = ball_sliding(slides, w)
    return direction, (1.0 if dot3(direction, w) > 0.0 else -1.0) / speed


@helper
def _add_spring(body, dofs, q, by_q_out):
    """Add the derivatives of a ball's, or a free joint's, spring."""
    i, k, r = body.q, body.dof, body.rest
    turn = rotation_between((r[0], r[1], r[2], r[3]), (q[i], q[i + 1], q[i + 2], q[i + 3]))
    shift = (0.0, 0.0, 0.0)
    if body.kind == FREE:
        R = matrix_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3])
        shift = mat_t_vec(R, sub3((q[i + 4], q[i + 5], q[i + 6]), (r[4], r[5], r[6])))
    for j in range(3):
        w = UNIT_VECTORS[j]
        rate = vector_rate(turn, w)
        by_q_out[k, k + j] += dofs[k].stiffness * rate[0]
        by_q_out[k + 1, k + j] += dofs[k + 1].stiffness * rate[1]
        by_q_out[k + 2, k + j] += dofs[k + 2].stiffness * rate[2]
        if body.kind == FREE:
            swept = cross3(shift, w)
            by_q_out[k + 3, k + j] += dofs[k + 3].stiffness * swept[0]
            by_q_out[k + 4, k + j] += dofs[k + 4].stiffness * swept[1]
            by_q_out[k + 5, k + j] += dofs[k + 5].stiffness * swept[2]
            by_q_out[k + 3 + j, k + 3 + j] += dofs[k + 3 + j].stiffness


@routine
def add_passive_derivatives(body, dofs, q, v, by_q_out, by_v_out):
    """Add the derivatives of the torque that drives a joint against its spring, damper and friction."""
    k = body.dof
    for j in range(k, k + body.n_dof):
        by_v_out[j, j] += dofs[j].damping
    if body.isotropic:
        slides = (dofs[k].slide, dofs[k + 1].slide, dofs[k + 2].slide)
        direction, spread = friction_spread(slides, (v[k], v[k + 1], v[k + 2]))
        for i in range(3):
            by_v_out[k + i, k + i] += dofs[k + i].friction * spread
            for j in range(3):
                by_v_out[k + i, k + j] -= dofs[k + i].friction * spread * direction[i] * direction[j]
    if body.kind == SPHERICAL or body.kind == FREE:
        _add_spring(body, dofs, q, by_q_out)
    else:
        by_q_out[k, k] += dofs[k].stiffness
