"""Relative rotations of two frames: rotation vectors, tilts and angles about axes."""

import math

from varichain.kernels.jit import helper
from varichain.kernels.tuples import column, cross3, dot3, mat_t_vec, scale3

_SMALL = 1e-2  # sine of a turn whose vector is a short series


@helper
def rotation_vector(R):
    """Rotation vector of a rotation matrix, accurate to rounding at any angle."""
    x, y, z = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (R[0] + R[4] + R[8] - 1.0)
    if sine < _SMALL and cosine > 0.0:  # asin(s) / s, whose next term is under rounding
        s = sine * sine
        return scale3(0.5 + s * (1.0 / 12.0 + s * (3.0 / 80.0 + s * (5.0 / 224.0))), (x, y, z))
    angle = math.atan2(sine, cosine)
    if sine > 1e-7:
        return scale3(0.5 * angle / sine, (x, y, z))
    # half a turn: the axis is the column of R + 1 with the largest diagonal entry
    a, b, c = R[0] + 1.0, R[4] + 1.0, R[8] + 1.0
    if a >= b and a >= c:
        axis = (a, R[3], R[6])
    elif b >= c:
        axis = (R[1], b, R[7])
    else:
        axis = (R[2], R[5], c)
    return scale3(angle / math.sqrt(dot3(axis, axis)), axis)


@helper
def tilt_between(R):
    """Rotation vector (its z is zero) of the shortest turn from the z axis to R's z axis."""
    x, y = -R[5], R[2]
    sine = math.sqrt(x * x + y * y)
    angle = math.atan2(sine, R[8])
    if sine > 1e-12:
        return x * angle / sine, y * angle / sine, 0.0
    if R[8] > 0.0:
        return x, y, 0.0
    return angle, 0.0, 0.0


@helper
def turned_back(R_WA, R_WB):
    """R_BA = R_WB^T R_WA."""
    x, y, z = mat_t_vec(R_WB, column(R_WA, 0)), mat_t_vec(R_WB, column(R_WA, 1)), mat_t_vec(R_WB, column(R_WA, 2))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@helper
def angle_about(axis, before, after):
    """Angle about a unit vector that turns one direction into another, both seen along it."""
    across = dot3(before, after) - dot3(axis, before) * dot3(axis, after)
    return math.atan2(dot3(axis, cross3(before, after)), across)


@helper
def twist_about(R, axis):
    """Angle of a rotation about one of the coordinate axes, within half a turn."""
    if axis == 0:
        return math.atan2(R[7] - R[5], R[4] + R[8])
    if axis == 1:
        return math.atan2(R[2] - R[6], R[8] + R[0])
    return math.atan2(R[3] - R[1], R[0] + R[4])


@helper
def within_half_a_turn(angle):
    """The same angle from -pi to pi."""
    return angle - 2.0 * math.pi * math.floor(angle / (2.0 * math.pi) + 0.5)
