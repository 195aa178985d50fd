"""Parts of kernels as Python functions: a part has no machine code of its own, so each is put into a kernel."""

import numpy as np

from varichain.kernels import rotation_vectors
from varichain.kernels.jit import MATRIX, kernel

_part = rotation_vectors.angular_motion


@kernel(MATRIX)
def _angular_motion(rows):
    phi, rate, acceleration = rows[0], rows[1], rows[2]
    w, w_rate = _part(
        (phi[0], phi[1], phi[2]), (rate[0], rate[1], rate[2]), (acceleration[0], acceleration[1], acceleration[2])
    )
    for i in range(3):
        rows[3, i], rows[4, i] = w[i], w_rate[i]


def angular_motion(phi, rate, acceleration):
    """Angular velocity and acceleration of exp([phi]), from phi and its two derivatives (3,)."""
    rows = np.array([phi, rate, acceleration, np.zeros(3), np.zeros(3)], dtype=float)
    _angular_motion(rows)
    return rows[3], rows[4]
