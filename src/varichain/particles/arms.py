"""Four particles that have the mass, the centre and the inertia of a link."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from varichain.mechanism.inertia import Inertia
from varichain.spatial.arrays import Array
from varichain.spatial.rotation import skew

SIGNS = np.array([(1.0, 1.0, 1.0), (1.0, -1.0, -1.0), (-1.0, 1.0, -1.0), (-1.0, -1.0, 1.0)])
"""Place of each particle in units of the arms (4, 3)."""

THINNEST = 1e-2
"""Shortest arm, as a part of the link's extent: springs cannot keep four particles in one plane."""


_OF_A_POINT = 1e-2  # [m], arms of a point whose joints are all in it


class Arms(NamedTuple):
    """Where the four particles of a link are.

    Attributes:
        lengths: Of the three arms (3,) [m].
        axes: Rotation matrix (3, 3): their directions in the link's frame.
        is_thickened: Whether an arm was made longer than the inertia says.
    """

    lengths: Array
    axes: Array
    is_thickened: bool

    def numbers_of(self, vector: Array) -> Array:
        """A vector of the link's frame as three numbers that multiply the arms (3,)."""
        return self.axes.T @ vector / self.lengths


def arms_of(inertia: Inertia, extent: float) -> Arms:
    """Arms of the particles of m / 4 at c + sum_a t_ia A_a that have exactly this mass, centre and inertia.

    S = tr(I) / 2 1 - I are the second moments; S = sum_a m s_a^2 u_a u_a^T gives lengths and directions. Arms shorter
    than `THINNEST` of the link's extent [m], or of its longest arm, are made as long: a rod without any thickness
    gets the inertia of one with some.
    """
    S = 0.5 * np.trace(inertia.about_com) * np.eye(3) - inertia.about_com
    squares, axes = np.linalg.eigh(S / inertia.mass)
    if np.linalg.det(axes) < 0.0:
        axes[:, 0] *= -1.0
    longest = math.sqrt(max(squares[-1], 0.0))
    shortest = THINNEST * max(longest, extent) or _OF_A_POINT
    lengths = np.sqrt(np.maximum(squares, shortest**2))
    return Arms(lengths, axes, bool(squares[0] < (1.0 - 1e-9) * shortest**2))


def particles_of(arms: Arms, center: Array, R: Array) -> Array:
    """World positions (4, 3) of a link's particles, from its centre of mass and its orientation."""
    return center + SIGNS @ (R @ arms.axes * arms.lengths).T


def velocities_of(positions: Array, center: Array, w: Array, rate: Array) -> Array:
    """World velocities (4, 3) of a rigid link's particles, from angular velocity and velocity of its centre."""
    return rate + (positions - center) @ skew(w).T
