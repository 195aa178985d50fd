"""A step q = q_0 (+) u and its derivatives: how its end moves with its start and with u, for joints with quaternions.

A ball turns by exp(u) in its own axes, a free link moves by R_0 u besides. Everything else adds. Derivatives of rates
are complex steps: exact to rounding.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from varichain.layout.layout import Layout
from varichain.spatial.arrays import Array

_TINY = 1e-30  # of a complex step: its square vanishes beside 1
_SERIES = 1e-2  # squares of angles below which series are exact to rounding


def _skew(x: Any) -> Any:
    return np.array([[0 * x[0], -x[2], x[1]], [x[2], 0 * x[0], -x[0]], [-x[1], x[0], 0 * x[0]]])


def _rate_matrix(u: Any) -> Any:
    """J(u) with udot = J w: 1 + [u] / 2 + c [u]^2, as in the kernel `chart_rate`."""
    s = u @ u
    if abs(s) < _SERIES:
        c = 1 / 12 + s * (1 / 720 + s * (1 / 30240 + s / 1209600))
    else:
        half = np.sqrt(s) / 2
        c = (1 - half / np.tan(half)) / s
    U = _skew(u)
    return np.eye(3) + U / 2 + c * (U @ U)


def _rotation(u: Any) -> Any:
    """exp([u])."""
    s = u @ u
    if abs(s) < _SERIES:
        a = 1 - s / 6 * (1 - s / 20 * (1 - s / 42 * (1 - s / 72)))
        b = (1 - s / 12 * (1 - s / 30 * (1 - s / 56 * (1 - s / 90)))) / 2
    else:
        x = np.sqrt(s)
        a, b = np.sin(x) / x, (1 - np.cos(x)) / s
    U = _skew(u)
    return np.eye(3) + a * U + b * (U @ U)


class Chart:
    """Steps from one configuration, of one structure."""

    def __init__(self, layout: Layout) -> None:
        """Find the joints that have quaternions."""
        self._n = layout.n_v
        self._turning = [(slot.v.start, len(slot.coordinates) == 6) for slot in layout.slots if slot.has_quaternion]

    def rates(self, u: Array, v: Array) -> tuple[Array, Array, Array]:
        """Rate of u while joints move with v (n_v,), and its derivatives by u and by v (n_v, n_v)."""
        rate, by_u, by_v = v.copy(), np.zeros((self._n, self._n)), np.eye(self._n)
        for k, is_free in self._turning:
            w = slice(k, k + 3)
            J = _rate_matrix(u[w])
            rate[w], by_v[w, w] = J @ v[w], J
            steps = u[w] + 1j * _TINY * np.eye(3)
            by_u[w, w] = np.column_stack([(_rate_matrix(x) @ v[w]).imag for x in steps]) / _TINY
            if is_free:
                p = slice(k + 3, k + 6)
                R = _rotation(u[w])
                rate[p], by_v[p, p] = R @ v[p], R
                by_u[p, w] = np.column_stack([(_rotation(x) @ v[p]).imag for x in steps]) / _TINY
        return rate, by_u, by_v

    def ends(self, u: Array) -> tuple[Array, Array]:
        """How the end of a step moves, along its own directions, with its start and with u (n_v, n_v)."""
        by_start, by_u = np.eye(self._n), np.eye(self._n)
        for k, is_free in self._turning:
            w = slice(k, k + 3)
            R = _rotation(u[w])
            by_start[w, w], by_u[w, w] = R.T, np.linalg.inv(_rate_matrix(u[w]))
            if is_free:
                p = slice(k + 3, k + 6)
                by_start[p, p] = by_u[p, p] = R.T
                by_start[p, w] = -R.T @ _skew(u[p])
        return by_start, by_u
