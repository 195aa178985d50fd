"""STUB until merged."""

from varichain.kernels.jit import routine

SCALAR, ROTATION = 0, 1


@routine
def scalar_motion(channel, table, t):
    i = channel.first
    return table[i] + t * (table[i + 1] + t * table[i + 2]), table[i + 1] + 2 * t * table[i + 2], 2 * table[i + 2]


@routine
def rotation_motion(channel, table, t):
    i = channel.first
    return (table[i], table[i + 1], table[i + 2], table[i + 3]), (0.0, 0.0, 0.0), (0.0, 0.0, 0.0)
