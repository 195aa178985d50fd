"""Rotations as 3x3 matrices, unit quaternions (w, x, y, z) and rotation vectors (axis times angle [rad]).

Pure functions from arrays to new arrays, accurate to rounding for every angle, those near 0 and pi included. Arguments
are trusted; `spatial.pose.Pose` is the checked way in.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from varichain.spatial.arrays import Array

# Below this angle sin(angle) = angle in double precision: the next term is angle^2 / 6.
_SMALL_ANGLE = 1e-8


def skew(a: ArrayLike) -> Array:
    """Matrix [a] of the cross product, [a] b = a x b: (3,) to (3, 3)."""
    x, y, z = np.asarray(a, dtype=float).tolist()
    return np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])


def quaternion_multiply(a: ArrayLike, b: ArrayLike) -> Array:
    """Hamilton product a b (4,): the rotation b followed by the rotation a."""
    aw, ax, ay, az = np.asarray(a, dtype=float).tolist()
    bw, bx, by, bz = np.asarray(b, dtype=float).tolist()
    return np.array(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ]
    )


def quaternion_conjugate(quaternion: ArrayLike) -> Array:
    """Conjugate (w, -x, -y, -z): the inverse rotation of a unit quaternion."""
    w, x, y, z = np.asarray(quaternion, dtype=float).tolist()
    return np.array([w, -x, -y, -z])


def matrix_from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotation matrix (3, 3) of a quaternion (4,) of any length but zero."""
    w, x, y, z = np.asarray(quaternion, dtype=float).tolist()
    s = 2.0 / (w * w + x * x + y * y + z * z)
    return np.array(
        [
            [1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)],
            [s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)],
            [s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)],
        ]
    )


def quaternion_from_matrix(R: ArrayLike) -> Array:
    """Unit quaternion (4,) of a rotation matrix (3, 3), with w >= 0.

    Four times the outer product q q^T is linear in R; its column with the largest diagonal entry, normalised, is q
    without any cancellation [Shepperd 1978].
    """
    (a, b, c), (d, e, f), (g, h, i) = np.asarray(R, dtype=float).tolist()
    diagonal = (1.0 + a + e + i, 1.0 + a - e - i, 1.0 - a + e - i, 1.0 - a - e + i)
    columns = (
        (diagonal[0], h - f, c - g, d - b),
        (h - f, diagonal[1], b + d, c + g),
        (c - g, b + d, diagonal[2], f + h),
        (d - b, c + g, f + h, diagonal[3]),
    )
    column = columns[diagonal.index(max(diagonal))]
    length = math.copysign(math.hypot(*column), column[0])
    return np.array([entry / length for entry in column])


def quaternion_from_rotation_vector(rotation_vector: ArrayLike) -> Array:
    """Unit quaternion (4,) of a rotation vector (3,) [rad]."""
    x, y, z = np.asarray(rotation_vector, dtype=float).tolist()
    angle = math.hypot(x, y, z)
    scale = math.sin(0.5 * angle) / angle if angle > _SMALL_ANGLE else 0.5
    return np.array([math.cos(0.5 * angle), scale * x, scale * y, scale * z])


def rotation_vector_from_quaternion(quaternion: ArrayLike) -> Array:
    """Rotation vector (3,) [rad] of a quaternion (4,) of any length but zero; its angle is in [0, pi]."""
    w, x, y, z = np.asarray(quaternion, dtype=float).tolist()
    if w < 0.0:
        w, x, y, z = -w, -x, -y, -z
    sine = math.hypot(x, y, z)
    scale = 2.0 * math.atan2(sine, w) / sine if sine > _SMALL_ANGLE * w else 2.0 / w
    return np.array([scale * x, scale * y, scale * z])


def matrix_from_rotation_vector(rotation_vector: ArrayLike) -> Array:
    """Rotation matrix (3, 3) = exp([rotation_vector]) of a rotation vector (3,) [rad]."""
    return matrix_from_quaternion(quaternion_from_rotation_vector(rotation_vector))


def rotation_vector_from_matrix(R: ArrayLike) -> Array:
    """Rotation vector (3,) [rad] of a rotation matrix (3, 3); its angle is in [0, pi]."""
    return rotation_vector_from_quaternion(quaternion_from_matrix(R))


def matrix_from_axis_angle(axis: ArrayLike, angle: float) -> Array:
    """Rotation matrix (3, 3) about a unit axis (3,) by `angle` [rad]: c 1 + s [axis] + (1 - c) axis axis^T."""
    x, y, z = np.asarray(axis, dtype=float).tolist()
    s, c = math.sin(angle), math.cos(angle)
    t = 2.0 * math.sin(0.5 * angle) ** 2  # 1 - c without cancellation
    return np.array(
        [
            [c + t * x * x, t * x * y - s * z, t * x * z + s * y],
            [t * x * y + s * z, c + t * y * y, t * y * z - s * x],
            [t * x * z - s * y, t * y * z + s * x, c + t * z * z],
        ]
    )


def matrix_from_rpy(rpy: ArrayLike) -> Array:
    """Rotation matrix (3, 3) = Rz(yaw) Ry(pitch) Rx(roll) of (roll, pitch, yaw) [rad], as URDF means it."""
    roll, pitch, yaw = np.asarray(rpy, dtype=float).tolist()
    sr, cr = math.sin(roll), math.cos(roll)
    sp, cp = math.sin(pitch), math.cos(pitch)
    sy, cy = math.sin(yaw), math.cos(yaw)
    return np.array(
        [
            [cy * cp, cy * sp * sr - sy * cr, cy * sp * cr + sy * sr],
            [sy * cp, sy * sp * sr + cy * cr, sy * sp * cr - cy * sr],
            [-sp, cp * sr, cp * cr],
        ]
    )


def matrix_with_z_along(axis: ArrayLike) -> Array:
    """Rotation matrix A (3, 3) with A [0, 0, 1] = axis for a unit axis (3,); exactly the identity for z.

    The basis of [Duff 2017]: no division by anything smaller than one, so it is well conditioned for every axis, and
    the axes x, y, z, -x, -y, -z give matrices of exact zeros and ones.
    """
    x, y, z = np.asarray(axis, dtype=float).tolist()
    sign = -1.0 if z < 0.0 else 1.0
    a = -1.0 / (sign + z)
    b = x * y * a
    A = np.array([[1.0 + sign * x * x * a, b, x], [sign * b, sign + y * y * a, y], [-sign * x, -y, z]])
    return A + 0.0  # turns -0.0 into 0.0
