"""Torques of the controllers, and joints that follow a given motion.

Controllers act together: torques of the last ticks (zero-order holds), torque tables, PD controllers towards
reference motions, and a compiled function of the user. Channels are in this order: motions that joints are driven
along, references, torque tables.
"""

from varichain.kernels.callbacks import call_controller
from varichain.kernels.jit import routine
from varichain.kernels.manifold import rotation_between
from varichain.kernels.motion import position_motion, rotation_motion, scalar_motion, write_motion
from varichain.kernels.run_records import ROTATION, SCALAR
from varichain.kernels.tuples import mat_t_vec, mat_vec, matrix_from_quaternion, sub3


@routine
def drive(channels, motion, run, t, q, v, a_out):
    """Put driven joints on their motion at time t; a receives their accelerations."""
    for i in range(run.n_drives):
        write_motion(channels[i], motion, t, q, v, a_out)


@routine
def lock_drives(channels, run, bodies, dofs):
    """Lock all freedoms of driven joints."""
    for i in range(run.n_drives):
        channel = channels[i]
        for k in range(channel.dof, channel.dof + (1 if channel.kind == SCALAR else 3)):
            dofs[k].lock = 1
            bodies[dofs[k].body].locked = 1


@routine
def driving_power(channels, run, dofs, v):
    """Power of the forces that drive joints along their motions."""
    power = 0.0
    for i in range(run.n_drives):
        channel = channels[i]
        for k in range(channel.dof, channel.dof + (1 if channel.kind == SCALAR else 3)):
            power += dofs[k].reaction * v[k]
    return power


@routine
def _towards_rotation(channel, motion, controls, t, q, v, tau):
    k, j = channel.dof, channel.coordinate
    Q, w, _ = rotation_motion(channel, motion, t)
    now = (q[j], q[j + 1], q[j + 2], q[j + 3])
    missing = rotation_between(now, Q)
    # the reference's angular velocity in the axes that the link has now
    w = mat_vec(matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3]), w)
    w = mat_t_vec(matrix_from_quaternion(now[0], now[1], now[2], now[3]), w)
    tau[k] += controls[k].stiffness * missing[0] + controls[k].damping * (w[0] - v[k])
    tau[k + 1] += controls[k + 1].stiffness * missing[1] + controls[k + 1].damping * (w[1] - v[k + 1])
    tau[k + 2] += controls[k + 2].stiffness * missing[2] + controls[k + 2].damping * (w[2] - v[k + 2])


@routine
def _towards_position(channel, motion, controls, t, q, v, tau):
    """Force in the axes that the link has now, as the freedoms of a free joint are."""
    k, j = channel.dof, channel.coordinate
    p, p_rate, _ = position_motion(channel, motion, t)
    R = matrix_from_quaternion(q[j - 4], q[j - 3], q[j - 2], q[j - 1])
    missing = mat_t_vec(R, sub3(p, (q[j], q[j + 1], q[j + 2])))
    rate = mat_t_vec(R, p_rate)
    tau[k] += controls[k].stiffness * missing[0] + controls[k].damping * (rate[0] - v[k])
    tau[k + 1] += controls[k + 1].stiffness * missing[1] + controls[k + 1].damping * (rate[1] - v[k + 1])
    tau[k + 2] += controls[k + 2].stiffness * missing[2] + controls[k + 2].damping * (rate[2] - v[k + 2])


@routine
def control(channels, motion, controls, run, t, q, v, tau):
    """Torques of all controllers (n_v)."""
    for k in range(len(tau)):
        tau[k] = controls[k].torque + controls[k].discrete
    first = run.n_drives
    for i in range(first, first + run.n_references):
        channel = channels[i]
        if channel.kind == ROTATION:
            _towards_rotation(channel, motion, controls, t, q, v, tau)
        elif channel.kind == SCALAR:
            k = channel.dof
            x, xd, _ = scalar_motion(channel, motion, t)
            tau[k] += controls[k].stiffness * (x - q[channel.coordinate]) + controls[k].damping * (xd - v[k])
        else:
            _towards_position(channel, motion, controls, t, q, v, tau)
    first += run.n_references
    for i in range(first, first + run.n_tables):
        channel = channels[i]
        x, _, _ = scalar_motion(channel, motion, t)
        tau[channel.dof] += x
    if run.controller != 0:
        call_controller(run.controller, t, q, v, tau)
    for k in range(len(tau)):  # by comparisons that let a NaN pass: divergence must be noticed
        if tau[k] > controls[k].largest:
            tau[k] = controls[k].largest
        elif tau[k] < -controls[k].largest:
            tau[k] = -controls[k].largest
