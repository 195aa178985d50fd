"""Rotations for the oracles, each straight from its definition (numpy only, shared with nothing in the library)."""

import math

import numpy as np


def cross_matrix(w):
    """Matrix [w] with [w] r = w x r."""
    return np.array([[0.0, -w[2], w[1]], [w[2], 0.0, -w[0]], [-w[1], w[0], 0.0]])


def rotation(axis, angle):
    """Rotation by `angle` about a unit axis: Rodrigues' formula."""
    K = cross_matrix(np.asarray(axis, dtype=float))
    return np.eye(3) + math.sin(angle) * K + 2.0 * math.sin(0.5 * angle) ** 2 * (K @ K)


def rotation_of_quaternion(quaternion):
    """Rotation r -> q r q* of a quaternion (w, x, y, z), normalised first."""
    w, x, y, z = np.asarray(quaternion, dtype=float) / np.linalg.norm(quaternion)
    e = np.array([x, y, z])
    return (w * w - e @ e) * np.eye(3) + 2.0 * np.outer(e, e) + 2.0 * w * cross_matrix(e)


def quaternion_product(a, b):
    """Hamilton product: the rotation b followed, on the left, by the rotation a."""
    s = a[0] * b[0] - np.dot(a[1:], b[1:])
    return np.concatenate(([s], a[0] * np.asarray(b[1:]) + b[0] * np.asarray(a[1:]) + np.cross(a[1:], b[1:])))


def quaternion_inverse(a):
    """Conjugate of a unit quaternion."""
    return np.array([a[0], -a[1], -a[2], -a[3]])


def quaternion_exp(rotation_vector):
    """Unit quaternion of a rotation vector."""
    half = 0.5 * np.asarray(rotation_vector, dtype=float)
    angle = math.hypot(*half)
    return np.concatenate(([math.cos(angle)], np.sinc(angle / math.pi) * half))


def quaternion_log(quaternion):
    """Rotation vector, of length at most pi, of a unit quaternion (q and -q give the same)."""
    q = np.asarray(quaternion, dtype=float)
    q = -q if q[0] < 0.0 else q
    sine = math.hypot(*q[1:])
    if sine < 1e-150:
        return 2.0 * q[1:]
    return 2.0 * math.atan2(sine, q[0]) / sine * q[1:]
