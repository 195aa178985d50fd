"""Swing and twist of a ball: where its long axis points, and how far it has turned about it.

With R = R_middle^T R_JL and b = R^T a for the long axis a, the swing angle x = angle(a, b) changes with n . w,
n = b x a / sin x, and the twist with m . w / cos(x / 2), m = (a + b) / |a + b|. n and m are orthogonal unit vectors in
the link's axes.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.manifold import quaternion_mul
from varichain.kernels.tuples import add3, cross3, dot3, mat_t_vec, matrix_from_quaternion, scale3

# Below this sine the swing has no direction; any will do, for no stop is there.
_UPRIGHT = 1e-9


@helper
def _perpendicular(a):
    """Some unit vector across a."""
    e = cross3(a, (1.0, 0.0, 0.0) if abs(a[0]) < 0.7 else (0.0, 1.0, 0.0))
    return scale3(1.0 / math.sqrt(dot3(e, e)), e)


@routine
def swing_and_twist(orientation, a, c):
    """Swing, twist, cos(swing / 2), and the directions b, n, m, of a ball with long axis a and middle orientation c."""
    Q = quaternion_mul((c[0], -c[1], -c[2], -c[3]), orientation)
    along = dot3((Q[1], Q[2], Q[3]), a)
    across = add3((Q[1], Q[2], Q[3]), scale3(-along, a))
    cos_half = math.hypot(Q[0], along)
    swing = 2.0 * math.atan2(math.sqrt(dot3(across, across)), cos_half)
    twist = 2.0 * math.atan2(along, Q[0])
    twist -= 2.0 * math.pi * math.floor(twist / (2.0 * math.pi) + 0.5)
    b = mat_t_vec(matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3]), a)
    turn = cross3(b, a)
    sine = math.sqrt(dot3(turn, turn))
    n = scale3(1.0 / sine, turn) if sine > _UPRIGHT else _perpendicular(a)
    middle = add3(a, b)
    m = scale3(1.0 / math.sqrt(dot3(middle, middle)), middle)
    return swing, twist, cos_half, b, n, m


@routine
def swing_bias(swing, a, b, n, w):
    """ndot . w: the swing's acceleration while the angular acceleration is zero; w in the link's axes."""
    sine = math.sin(swing)
    if sine < _UPRIGHT:
        return 0.0
    rate = dot3(n, w)  # zero while it is locked
    return (dot3(w, w) * math.cos(swing) - dot3(b, w) * dot3(a, w) - rate * rate * math.cos(swing)) / sine
