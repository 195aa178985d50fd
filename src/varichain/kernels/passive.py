"""Springs, dampers and Coulomb friction inside the joints."""

from varichain.kernels.jit import helper, routine
from varichain.kernels.manifold import rotation_between
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.run_records import NO_FRICTION
from varichain.kernels.tuples import ZERO3, dot3, length3, mat_t_vec, matrix_from_quaternion, scale3, sub3

_AT_REST = 1e-13  # [rad/s] below which a velocity has no direction


@helper
def sliding(slide, v):
    """Direction of sliding: that of the mode, or of the velocity without one.

    At rest, friction is a reaction that only a simulation finds: zero here.
    """
    if slide == NO_FRICTION:
        return 0.0
    if slide != 0.0:
        return slide
    if v > 0.0:
        return 1.0
    if v < 0.0:
        return -1.0
    return 0.0


@helper
def ball_sliding(slides, w):
    """Direction in which a ball slides: that of its angular velocity, or of the mode at rest.

    A velocity that has turned round against the direction of the mode counts with the other sign: friction is then
    smooth through the instant of rest, which an event finds.
    """
    if slides[0] == NO_FRICTION:
        return ZERO3
    speed = length3(w)
    if speed <= _AT_REST:
        return slides
    return scale3(-1.0 / speed if dot3(slides, w) < 0.0 else 1.0 / speed, w)


@routine
def load_passive(body, q, v, dofs_out):
    """Write the torque that drives the joint against its spring, damper and friction.

    tau = k (q - rest) + damping v + friction sign(v); for quaternion coordinates q - rest is the rotation vector of
    rest^-1 q in the link's axes, the gradient of the potential k |angle|^2 / 2.
    """
    k = body.dof
    for j in range(body.n_dof):
        dof = dofs_out[k + j]
        friction = 0.0 if body.isotropic else dof.friction * sliding(dof.slide, v[k + j])
        dof.passive = dof.damping * v[k + j] + friction
    if body.isotropic:
        x, y, z = dofs_out[k], dofs_out[k + 1], dofs_out[k + 2]
        direction = ball_sliding((x.slide, y.slide, z.slide), (v[k], v[k + 1], v[k + 2]))
        x.passive += x.friction * direction[0]
        y.passive += y.friction * direction[1]
        z.passive += z.friction * direction[2]
    if body.kind == SPHERICAL or body.kind == FREE:
        i = body.q
        r = body.rest
        turn = rotation_between((r[0], r[1], r[2], r[3]), (q[i], q[i + 1], q[i + 2], q[i + 3]))
        dofs_out[k].passive += dofs_out[k].stiffness * turn[0]
        dofs_out[k + 1].passive += dofs_out[k + 1].stiffness * turn[1]
        dofs_out[k + 2].passive += dofs_out[k + 2].stiffness * turn[2]
        if body.kind == FREE:
            R = matrix_from_quaternion(q[i], q[i + 1], q[i + 2], q[i + 3])
            shift = mat_t_vec(R, sub3((q[i + 4], q[i + 5], q[i + 6]), (r[4], r[5], r[6])))
            dofs_out[k + 3].passive += dofs_out[k + 3].stiffness * shift[0]
            dofs_out[k + 4].passive += dofs_out[k + 4].stiffness * shift[1]
            dofs_out[k + 5].passive += dofs_out[k + 5].stiffness * shift[2]
    else:
        dofs_out[k].passive += dofs_out[k].stiffness * (q[body.q] - body.rest[0])


@routine
def spring_energy(body, q, dofs):
    """Elastic energy k |q - rest|^2 / 2 of the joint's spring [J]."""
    k, i, r = body.dof, body.q, body.rest
    if body.kind == SPHERICAL or body.kind == FREE:
        turn = rotation_between((r[0], r[1], r[2], r[3]), (q[i], q[i + 1], q[i + 2], q[i + 3]))
        energy = 0.5 * dofs[k].stiffness * (turn[0] ** 2 + turn[1] ** 2 + turn[2] ** 2)
        if body.kind == FREE:
            shift = sub3((q[i + 4], q[i + 5], q[i + 6]), (r[4], r[5], r[6]))
            energy += 0.5 * dofs[k + 3].stiffness * (shift[0] ** 2 + shift[1] ** 2 + shift[2] ** 2)
        return energy
    return 0.5 * dofs[k].stiffness * (q[i] - r[0]) ** 2
