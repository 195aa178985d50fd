"""Joint motions that follow time: piecewise polynomials, and rotations whose rotation vectors are such.

A channel (record CHANNEL) has the places of its break times and its pieces in a flat table. A piece of a SCALAR is a
polynomial of the time since the piece began, degree + 1 numbers, highest power first; of a POSITION three of these; of
a ROTATION the orientation at its beginning, a unit quaternion, then the three polynomials of the rotation vector phi:
R = R_i exp([phi]). At a break time the later piece counts, as in scipy.
"""

from varichain.kernels.jit import CHANNELS, MATRIX, VECTOR, helper, kernel, routine
from varichain.kernels.manifold import quaternion_exp, quaternion_mul
from varichain.kernels.rotation_vectors import angular_motion
from varichain.kernels.run_records import CHANNEL, POSITION, ROTATION, SCALAR
from varichain.kernels.tuples import ZERO3, cross3, mat_t_vec, matrix_from_quaternion, sub3

__all__ = [
    "CHANNEL",
    "POSITION",
    "ROTATION",
    "SCALAR",
    "evaluate",
    "position_motion",
    "rotation_motion",
    "scalar_motion",
    "write_motion",
]


@helper
def _located(channel, table, t):
    """Index of the piece at a time, the time since it began, and whether the channel moves there.

    Outside the breaks it is constant, at its first or last value, unless it repeats.
    """
    breaks, n = channel.breaks, channel.n_pieces
    first, last = table[breaks], table[breaks + n]
    moves = True
    if t < first or t > last:
        if channel.repeats:
            t = first + (t - first) % channel.duration
        else:
            moves = False
            t = first if t < first else last
    low, high = 0, n
    while high - low > 1:
        middle = (low + high) // 2
        if table[breaks + middle] <= t:
            low = middle
        else:
            high = middle
    return low, t - table[breaks + low], moves


@helper
def _polynomial(table, start, degree, h):
    """Value, first and second derivative of a polynomial of h, by Horner's rule."""
    q, v, half_a = table[start], 0.0, 0.0
    for k in range(start + 1, start + degree + 1):
        half_a = half_a * h + v
        v = v * h + q
        q = q * h + table[k]
    return q, v, 2.0 * half_a


@helper
def _polynomials(table, start, degree, h):
    """Values, first and second derivatives of three polynomials, as three vectors."""
    x, x_rate, x_bend = _polynomial(table, start, degree, h)
    y, y_rate, y_bend = _polynomial(table, start + degree + 1, degree, h)
    z, z_rate, z_bend = _polynomial(table, start + 2 * (degree + 1), degree, h)
    return (x, y, z), (x_rate, y_rate, z_rate), (x_bend, y_bend, z_bend)


@helper
def scalar_motion(channel, table, t):
    """Coordinate q of a freedom at time t [s], its velocity and its acceleration."""
    i, h, moves = _located(channel, table, t)
    q, v, a = _polynomial(table, channel.coefficients + i * (channel.degree + 1), channel.degree, h)
    return (q, v, a) if moves else (q, 0.0, 0.0)


@routine
def rotation_motion(channel, table, t):
    """Orientation of the link in the joint frame, a unit quaternion; angular velocity and acceleration in its axes."""
    i, h, moves = _located(channel, table, t)
    k = channel.coefficients + i * (4 + 3 * (channel.degree + 1))
    phi, rate, acceleration = _polynomials(table, k + 4, channel.degree, h)
    start = table[k], table[k + 1], table[k + 2], table[k + 3]
    Q = quaternion_mul(start, quaternion_exp(phi[0], phi[1], phi[2]))
    if not moves:
        return Q, ZERO3, ZERO3
    w, w_rate = angular_motion(phi, rate, acceleration)
    return Q, w, w_rate


@routine
def position_motion(channel, table, t):
    """Position of the link in the joint frame, its velocity and its acceleration, all in the joint frame's axes."""
    i, h, moves = _located(channel, table, t)
    p, p_rate, p_bend = _polynomials(table, channel.coefficients + 3 * i * (channel.degree + 1), channel.degree, h)
    return (p, p_rate, p_bend) if moves else (p, ZERO3, ZERO3)


@helper
def write_motion(
    # layout
    channel,
    table,
    # in
    t,
    # out
    q_out,
    v_out,
    a_out,
):
    """Write a channel's coordinates, velocities and accelerations at time t [s] to their places.

    Velocities of a free joint are in the link's axes, v = R^T p' and v' = R^T p'' - w x v: a POSITION reads the
    numbers of the ROTATION before it.
    """
    i, k = channel.coordinate, channel.dof
    if channel.kind == SCALAR:
        q_out[i], v_out[k], a_out[k] = scalar_motion(channel, table, t)
    elif channel.kind == ROTATION:
        Q, w, w_rate = rotation_motion(channel, table, t)
        q_out[i], q_out[i + 1], q_out[i + 2], q_out[i + 3] = Q
        v_out[k], v_out[k + 1], v_out[k + 2] = w
        a_out[k], a_out[k + 1], a_out[k + 2] = w_rate
    else:
        p, p_rate, p_bend = position_motion(channel, table, t)
        R = matrix_from_quaternion(q_out[i - 4], q_out[i - 3], q_out[i - 2], q_out[i - 1])
        v = mat_t_vec(R, p_rate)
        a = sub3(mat_t_vec(R, p_bend), cross3((v_out[k - 3], v_out[k - 2], v_out[k - 1]), v))
        q_out[i], q_out[i + 1], q_out[i + 2] = p
        v_out[k], v_out[k + 1], v_out[k + 2] = v
        a_out[k], a_out[k + 1], a_out[k + 2] = a


@kernel(CHANNELS, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX)
def evaluate(
    # layout
    channels,
    table,
    # in (n,)
    times,
    # out (n, n_q), (n, n_v), (n, n_v): places without a channel are not written
    q_out,
    v_out,
    a_out,
):
    """Coordinates, velocities and accelerations of all channels at many times."""
    for i in range(len(times)):
        t, q, v, a = times[i], q_out[i], v_out[i], a_out[i]
        for c in range(len(channels)):
            write_motion(channels[c], table, t, q, v, a)
