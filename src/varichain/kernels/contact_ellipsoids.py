"""Ellipsoids on boxes: the place of a box that an ellipsoid, as it grows or shrinks about its middle, touches.

Measured in the ellipsoid's own axes, each divided by its radius, the ellipsoid is a ball, and that place is the nearest
one of the box: on a face, an edge or a corner. The gap is the distance in that measure, as a length across the
ellipsoid: right where it is small.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import add3, length3, mat_t_vec, mat_vec, scale3, sub3

_MOST_SWEEPS, _FIRST_SWEEPS = 200, 6
_FOUND = 1e-16  # of the box's edges, by which a sweep must still move the place


@helper
def _clamped(x, half):
    return min(half, max(-half, x))


@helper
def _metric(R, radii):
    """Squares of distances in the ellipsoid's measure, as a symmetric matrix (00, 01, 02, 11, 12, 22)."""
    a, b, c = 1.0 / (radii[0] * radii[0]), 1.0 / (radii[1] * radii[1]), 1.0 / (radii[2] * radii[2])
    return (
        a * R[0] * R[0] + b * R[1] * R[1] + c * R[2] * R[2],
        a * R[0] * R[3] + b * R[1] * R[4] + c * R[2] * R[5],
        a * R[0] * R[6] + b * R[1] * R[7] + c * R[2] * R[8],
        a * R[3] * R[3] + b * R[4] * R[4] + c * R[5] * R[5],
        a * R[3] * R[6] + b * R[4] * R[7] + c * R[5] * R[8],
        a * R[6] * R[6] + b * R[7] * R[7] + c * R[8] * R[8],
    )


@helper
def _on_face(Q, v):
    """The two components of v, from the middle of the ellipsoid, that are free while one stays: nearest in Q.

    The component that stays is the first one; Q is ordered alike.
    """
    k = -v / (Q[3] * Q[5] - Q[4] * Q[4])
    return k * (Q[5] * Q[1] - Q[4] * Q[2]), k * (Q[3] * Q[2] - Q[4] * Q[1])


@routine
def _nearest(Q, c, half):
    """Place of a box about the origin that is nearest to c in the metric Q."""
    x, y, z = _clamped(c[0], half[0]), _clamped(c[1], half[1]), _clamped(c[2], half[2])
    small = _FOUND * (half[0] + half[1] + half[2])
    for sweep in range(_MOST_SWEEPS):
        a, b, d = x, y, z
        x = _clamped(c[0] - (Q[1] * (y - c[1]) + Q[2] * (z - c[2])) / Q[0], half[0])
        y = _clamped(c[1] - (Q[1] * (x - c[0]) + Q[4] * (z - c[2])) / Q[3], half[1])
        z = _clamped(c[2] - (Q[2] * (x - c[0]) + Q[4] * (y - c[1])) / Q[5], half[2])
        if abs(x - a) + abs(y - b) + abs(z - d) <= small:
            break
        if sweep >= _FIRST_SWEEPS:  # on a face the other two components are known at once
            at_x, at_y, at_z = abs(x) == half[0], abs(y) == half[1], abs(z) == half[2]
            if at_x and not at_y and not at_z:
                u, w = _on_face(Q, x - c[0])
                y, z = _clamped(c[1] + u, half[1]), _clamped(c[2] + w, half[2])
            elif at_y and not at_x and not at_z:
                u, w = _on_face((Q[3], Q[1], Q[4], Q[0], Q[2], Q[5]), y - c[1])
                x, z = _clamped(c[0] + u, half[0]), _clamped(c[2] + w, half[2])
            elif at_z and not at_x and not at_y:
                u, w = _on_face((Q[5], Q[2], Q[4], Q[0], Q[1], Q[3]), z - c[2])
                x, y = _clamped(c[0] + u, half[0]), _clamped(c[1] + w, half[1])
    return x, y, z


@routine
def ellipsoid_on_box(p, R, radii, half):
    """Gap of an ellipsoid with middle p and axes R over a box, direction from the box, and point on the ellipsoid.

    All in the box's frame. The gap is infinite where the middle is in the box.
    """
    away = sub3(_nearest(_metric(R, radii), p, half), p)
    w = mat_t_vec(R, away)
    y = (w[0] / radii[0], w[1] / radii[1], w[2] / radii[2])
    level = length3(y)
    if level == 0.0:
        return math.inf, (0.0, 0.0, 1.0), p
    g = mat_vec(R, (y[0] / radii[0], y[1] / radii[1], y[2] / radii[2]))
    slope = length3(g)
    return (level - 1.0) * level / slope, scale3(-1.0 / slope, g), add3(p, scale3(1.0 / level, away))


@helper
def is_in_box(p, half):
    """Whether a point is in a box about the origin."""
    return max(abs(p[0]) - half[0], abs(p[1]) - half[1], abs(p[2]) - half[2]) <= 0.0
