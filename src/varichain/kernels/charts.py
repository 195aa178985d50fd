"""Coordinates of a neighbourhood: a step u (n_v) from the configuration at its middle, q = q_0 (+) u.

In them velocities and positions are plain vectors, and any method for ordinary differential equations will do
[Munthe-Kaas 1998].
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.manifold import quaternion_exp
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.tuples import add3, cross3, dot3, mat_vec, matrix_from_quaternion, scale3


@helper
def _curvature(square):
    """(1 - x cot x) / (2 x)^2 with x half the angle, from the angle's square."""
    if square < 1e-2:  # the next term is below rounding
        return 1.0 / 12.0 + square * (1.0 / 720.0 + square * (1.0 / 30240.0 + square / 1209600.0))
    half = 0.5 * math.sqrt(square)
    return (1.0 - half / math.tan(half)) / square


@routine
def chart_rate(bodies, u, v, rate_out):
    """Rate of u while the joints move with v.

    Of a rotation vector u under the angular velocity w in the link's axes: w + u x w / 2 + c u x (u x w), exact for
    less than a whole turn; of a free link's position: R(u) v.
    """
    for b in range(1, len(bodies)):
        body = bodies[b]
        k = body.dof
        if body.kind == SPHERICAL or body.kind == FREE:
            turn, w = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
            across = cross3(turn, w)
            rate = add3(w, add3(scale3(0.5, across), scale3(_curvature(dot3(turn, turn)), cross3(turn, across))))
            rate_out[k] = rate[0]
            rate_out[k + 1] = rate[1]
            rate_out[k + 2] = rate[2]
            if body.kind == FREE:
                Q = quaternion_exp(turn[0], turn[1], turn[2])
                R = matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3])
                moving = mat_vec(R, (v[k + 3], v[k + 4], v[k + 5]))
                rate_out[k + 3] = moving[0]
                rate_out[k + 4] = moving[1]
                rate_out[k + 5] = moving[2]
        else:
            rate_out[k] = v[k]
