"""Motion between two samples: cubic Hermite interpolation on the manifold, coordinates and velocities.

Angles and displacements: the cubic through both positions with both rates. Orientations: R(t) = R_0 exp(h(t)) with a
cubic h(t) whose ends are 0 and d = log(R_0^T R_1) and whose rates are such that the angular velocities at both ends are
those of the samples, w = J_r(h) h', with the right Jacobian J_r of the exponential map. Positions of free joints: the
cubic in the joint frame. Velocities are the derivatives, so that q and v belong together.
"""

from __future__ import annotations

import math

import numpy as np

from varichain.spatial.arrays import Array
from varichain.spatial.rotation import (
    matrix_from_quaternion,
    quaternion_conjugate,
    quaternion_from_rotation_vector,
    quaternion_multiply,
    rotation_vector_from_quaternion,
    skew,
)
from varichain.trace.slots import Slots

_SMALL_ANGLE = 1e-3  # the series' next term is below rounding


def between(slots: Slots, dt: float, u: float, q_0: Array, v_0: Array, q_1: Array, v_1: Array) -> tuple[Array, Array]:
    """Coordinates and velocities at the fraction u of the way, dt [s] long, between two samples of one structure."""
    q, v = np.empty(slots.n_q), np.empty(slots.n_v)
    for slot in slots.turning:
        q[slot.q], v[slot.v] = _turned(dt, u, q_0[slot.q], v_0[slot.v], q_1[slot.q], v_1[slot.v])
    i, k = slots.plain
    q[i], v[k] = cubic(dt, u, q_0[i], v_0[k], q_1[i], v_1[k])
    return q, v


def cubic(dt: float, u: float, x_0: Array, rate_0: Array, x_1: Array, rate_1: Array) -> tuple[Array, Array]:
    """Value and rate of the cubic with these values and rates at u = 0 and u = 1."""
    step = x_1 - x_0
    a, b = dt * rate_0, dt * rate_1
    x = x_0 + u * a + u * u * ((3.0 - 2.0 * u) * step - (2.0 - u) * a - (1.0 - u) * b)
    rate = a + u * ((6.0 - 6.0 * u) * step - (4.0 - 3.0 * u) * a - (2.0 - 3.0 * u) * b)
    return x, rate / dt


def _turned(dt: float, u: float, q_0: Array, v_0: Array, q_1: Array, v_1: Array) -> tuple[Array, Array]:
    """The same for a spherical joint, or a free one if there is a position too."""
    d = rotation_vector_from_quaternion(quaternion_multiply(quaternion_conjugate(q_0[:4]), q_1[:4]))
    rate_1 = np.linalg.solve(_right_jacobian(d), v_1[:3]).astype(np.float64)
    h, h_rate = cubic(dt, u, np.zeros(3), v_0[:3], d, rate_1)
    quaternion = quaternion_multiply(q_0[:4], quaternion_from_rotation_vector(h))
    quaternion /= math.hypot(*quaternion.tolist())
    w = _right_jacobian(h) @ h_rate
    if len(q_0) == 4:
        return quaternion, w
    R_0, R_1, R = (matrix_from_quaternion(x) for x in (q_0[:4], q_1[:4], quaternion))
    p, p_rate = cubic(dt, u, q_0[4:], R_0 @ v_0[3:], q_1[4:], R_1 @ v_1[3:])
    return np.concatenate([quaternion, p]), np.concatenate([w, R.T @ p_rate])


def _right_jacobian(h: Array) -> Array:
    """J_r (3, 3) with w = J_r(h) h' for R = exp(h): 1 - (1 - cos a) / a^2 [h] + (a - sin a) / a^3 [h]^2, a = |h|."""
    angle = math.hypot(*h.tolist())
    H = skew(h)
    if angle < _SMALL_ANGLE:
        first, second = 0.5 - angle**2 / 24.0, 1.0 / 6.0 - angle**2 / 120.0
    else:
        first, second = 2.0 * math.sin(0.5 * angle) ** 2 / angle**2, (angle - math.sin(angle)) / angle**3
    jacobian: Array = np.eye(3) - first * H + second * (H @ H)
    return jacobian
