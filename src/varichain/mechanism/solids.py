"""Rotational inertias of uniform solids about their centre, in closed form (3, 3) [kg m^2]. Arguments are trusted."""

from __future__ import annotations

import math

import numpy as np

from varichain.spatial.arrays import Array

Triple = tuple[float, float, float]


def rod(mass: float, length: float, axis: Triple) -> Array:
    """Thin straight rod."""
    return _axisymmetric(axial=0.0, transverse=mass * _square(length) / 12.0, axis=axis)


def box(mass: float, size: Triple) -> Array:
    """Box with full edge lengths `size` along x, y, z."""
    x, y, z = size
    return np.diag([_square(y) + _square(z), _square(z) + _square(x), _square(x) + _square(y)]) * (mass / 12.0)


def cylinder(mass: float, radius: float, length: float, axis: Triple) -> Array:
    """Solid circular cylinder."""
    transverse = mass * (3.0 * _square(radius) + _square(length)) / 12.0
    return _axisymmetric(axial=mass * _square(radius) / 2.0, transverse=transverse, axis=axis)


def capsule(mass: float, radius: float, length: float, axis: Triple) -> Array:
    """Solid cylinder of `length` between two half balls; the mass is shared in the ratio of their volumes."""
    height_of_ball = 4.0 * radius / 3.0  # of a cylinder that has the ball's volume and radius
    total = length + height_of_ball
    ball = mass * height_of_ball / total if total > 0.0 else mass
    tube = mass - ball
    # The centre of mass of a half ball is 3/8 of the radius away from its flat side.
    return _axisymmetric(
        axial=tube * _square(radius) / 2.0 + ball * _square(radius) * 0.4,
        transverse=tube * (3.0 * _square(radius) + _square(length)) / 12.0
        + ball * (0.4 * _square(radius) + 0.375 * radius * length + 0.25 * _square(length)),
        axis=axis,
    )


def ellipsoid(mass: float, radii: Triple) -> Array:
    """Solid ellipsoid with half axes `radii` along x, y, z; a ball if they are equal."""
    a, b, c = radii
    return np.diag([_square(b) + _square(c), _square(c) + _square(a), _square(a) + _square(b)]) * (mass / 5.0)


def point_mass(mass: float, offset: Array) -> Array:
    """Point mass at `offset` (3,) [m] from the reference point: m (|d|^2 1 - d d^T)."""
    inertia: Array = mass * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    return inertia


def _square(x: float) -> float:
    """x^2; unlike Python's own power it is infinite, and no error, where it is too large."""
    return x * x


def _axisymmetric(axial: float, transverse: float, axis: Triple) -> Array:
    """Inertia with moment `axial` about the unit `axis` and `transverse` about every axis across it."""
    if not math.isfinite(axial + transverse):  # for Inertia to refuse; times zero it would be NaN
        return np.full((3, 3), np.inf)
    along = np.outer(axis, axis)
    # Not transverse 1 + (axial - transverse) along: a slender body would lose digits of its small moment.
    return axial * along + transverse * (np.eye(3) - along)
