"""Rates of many rotation vectors at once: what `kernels.rotation_vectors` does for one, in numpy and for fitting."""

from __future__ import annotations

import math

import numpy as np

from varichain.spatial.arrays import Array

# As in `kernels.rotation_vectors`: a series below half a radian.
_SERIES_BELOW = 0.25
_TERMS = 7


class RotationRates:
    """How the rates of rotation vectors phi (n, 3) make angular velocities and accelerations of exp([phi]).

    w = J phi', w' = J phi'' + N(phi'), all in the axes of exp([phi]).

    Attributes:
        J: Matrices (n, 3, 3).
        J_inverse: Their inverses; there is none at a full turn.
    """

    def __init__(self, phi: Array) -> None:
        """Work out the matrices."""
        a, self._b, self._a_1, self._b_1 = _coefficients((phi * phi).sum(axis=1))
        self._phi = phi
        K = _cross_matrices(phi)
        self.J = np.eye(3) - a[:, None, None] * K + self._b[:, None, None] * K @ K
        self.J_inverse = np.linalg.inv(self.J)

    def products(self, rate: Array) -> Array:
        """Velocity products N (n, 3), quadratic in the rates (n, 3) of the rotation vectors."""
        phi, growth = self._phi, (self._phi * rate).sum(axis=1)
        c = np.cross(phi, rate)
        bending = (self._b_1 * growth)[:, None] * np.cross(phi, c) - (self._a_1 * growth)[:, None] * c
        products: Array = bending + self._b[:, None] * np.cross(rate, c)
        return products

    def product_slopes(self, rate: Array) -> Array:
        """Derivatives (n, 3, 3) of the velocity products by the rates; N(x + e) = N(x) + slope e + N(e) exactly."""
        here = self.products(rate)
        columns = [self.products(rate + e) - here - self.products(np.broadcast_to(e, rate.shape)) for e in np.eye(3)]
        return np.stack(columns, axis=2)


def _coefficients(s: Array) -> tuple[Array, Array, Array, Array]:
    """Return a, b, a_1 and b_1 of `kernels.rotation_vectors`, of s = |phi|^2 (n,)."""
    k = np.arange(_TERMS)
    signs, powers = (-1.0) ** k, np.minimum(s, _SERIES_BELOW)[:, None] ** k
    near = [powers @ (signs / [math.factorial(2 * i + m) for i in k]) for m in (2, 3)]
    near += [powers @ (-signs * 2 * (k + 1) / [math.factorial(2 * i + m) for i in k]) for m in (4, 5)]
    s = np.maximum(s, _SERIES_BELOW)
    x = np.sqrt(s)
    a, b = 2.0 * np.sin(0.5 * x) ** 2 / s, (x - np.sin(x)) / (s * x)
    far = [a, b, (1.0 - s * b - 2.0 * a) / s, (a - 3.0 * b) / s]
    a, b, a_1, b_1 = (np.where(s > _SERIES_BELOW, y, x) for x, y in zip(near, far, strict=True))
    return a, b, a_1, b_1


def _cross_matrices(phi: Array) -> Array:
    """Matrices (n, 3, 3) of the cross products with phi (n, 3)."""
    return np.cross(phi[:, None, :], np.eye(3)).transpose(0, 2, 1)
