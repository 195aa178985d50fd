"""Torques of the controllers, and joints that follow a given motion.

What acts, all at once: torques held since the last control tick, torque tables, PD controllers towards reference
motions, and a compiled function of the user. Channels stand in this order: motions that joints are driven along,
references, torque tables.
"""

from varichain.kernels.callbacks import call_controller
from varichain.kernels.jit import routine
from varichain.kernels.manifold import rotation_between
from varichain.kernels.motion import position_motion, rotation_motion, scalar_motion, write_motion
from varichain.kernels.records import ROTATION, SCALAR
from varichain.kernels.tuples import mat_t_vec, mat_vec, matrix_from_quaternion, sub3

# Rows of `gains`: stiffness and damping of the PD controllers, largest torque, torque held since the last tick.
STIFFNESS, DAMPING, LARGEST, HELD = 0, 1, 2, 3
# Entries of `counts`: channels of each use, address of the compiled controller (0 for none), whether anything but
# drives acts, whether a stop is soft.
DRIVES, REFERENCES, TABLES, CONTROLLER, CONTROLLED, SOFT = 0, 1, 2, 3, 4, 5


@routine
def drive(channels, motion, counts, t, q, v, a_out):
    """Put driven joints where they must be at time t; a takes their accelerations."""
    for i in range(counts[DRIVES]):
        write_motion(channels[i], motion, t, q, v, a_out)


@routine
def lock_drives(channels, counts, bodies, dofs):
    """Lock all freedoms of driven joints."""
    for i in range(counts[DRIVES]):
        channel = channels[i]
        for k in range(channel.dof, channel.dof + (1 if channel.kind == SCALAR else 3)):
            dofs[k].lock = 1
            bodies[dofs[k].body].held = 1


@routine
def driving_power(channels, counts, dofs, v):
    """Power of the forces that drive joints along their motions."""
    power = 0.0
    for i in range(counts[DRIVES]):
        channel = channels[i]
        for k in range(channel.dof, channel.dof + (1 if channel.kind == SCALAR else 3)):
            power += dofs[k].reaction * v[k]
    return power


@routine
def _towards_rotation(channel, motion, gains, t, q, v, tau):
    k, j = channel.dof, channel.coordinate
    Q, w, _ = rotation_motion(channel, motion, t)
    now = (q[j], q[j + 1], q[j + 2], q[j + 3])
    missing = rotation_between(now, Q)
    # the reference's angular velocity in the axes that the link has now
    w = mat_vec(matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3]), w)
    w = mat_t_vec(matrix_from_quaternion(now[0], now[1], now[2], now[3]), w)
    tau[k] += gains[STIFFNESS, k] * missing[0] + gains[DAMPING, k] * (w[0] - v[k])
    tau[k + 1] += gains[STIFFNESS, k + 1] * missing[1] + gains[DAMPING, k + 1] * (w[1] - v[k + 1])
    tau[k + 2] += gains[STIFFNESS, k + 2] * missing[2] + gains[DAMPING, k + 2] * (w[2] - v[k + 2])


@routine
def _towards_position(channel, motion, gains, t, q, v, tau):
    """Force in the axes that the link has now, as the freedoms of a free joint are."""
    k, j = channel.dof, channel.coordinate
    p, p_rate, _ = position_motion(channel, motion, t)
    R = matrix_from_quaternion(q[j - 4], q[j - 3], q[j - 2], q[j - 1])
    missing = mat_t_vec(R, sub3(p, (q[j], q[j + 1], q[j + 2])))
    rate = mat_t_vec(R, p_rate)
    tau[k] += gains[STIFFNESS, k] * missing[0] + gains[DAMPING, k] * (rate[0] - v[k])
    tau[k + 1] += gains[STIFFNESS, k + 1] * missing[1] + gains[DAMPING, k + 1] * (rate[1] - v[k + 1])
    tau[k + 2] += gains[STIFFNESS, k + 2] * missing[2] + gains[DAMPING, k + 2] * (rate[2] - v[k + 2])


@routine
def control(channels, motion, gains, counts, t, q, v, tau):
    """Torques of all controllers (n_v)."""
    for k in range(len(tau)):
        tau[k] = gains[HELD, k]
    first = counts[DRIVES]
    for i in range(first, first + counts[REFERENCES]):
        channel = channels[i]
        if channel.kind == ROTATION:
            _towards_rotation(channel, motion, gains, t, q, v, tau)
        elif channel.kind == SCALAR:
            k = channel.dof
            x, xd, _ = scalar_motion(channel, motion, t)
            tau[k] += gains[STIFFNESS, k] * (x - q[channel.coordinate]) + gains[DAMPING, k] * (xd - v[k])
        else:
            _towards_position(channel, motion, gains, t, q, v, tau)
    first += counts[REFERENCES]
    for i in range(first, first + counts[TABLES]):
        channel = channels[i]
        x, _, _ = scalar_motion(channel, motion, t)
        tau[channel.dof] += x
    if counts[CONTROLLER] != 0:
        call_controller(counts[CONTROLLER], t, q, v, tau)
    for k in range(len(tau)):  # by comparisons that let a NaN through: it must be noticed
        if tau[k] > gains[LARGEST, k]:
            tau[k] = gains[LARGEST, k]
        elif tau[k] < -gains[LARGEST, k]:
            tau[k] = -gains[LARGEST, k]
