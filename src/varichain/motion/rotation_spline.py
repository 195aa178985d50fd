"""Smooth rotations through samples: angular velocity and acceleration are continuous.

Pieces R(t) = R_i exp([phi(t)]) with phi cubic, as in scipy's RotationSpline, but with the ends of one's choice.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from varichain.errors import InputError
from varichain.motion.pieces import Pieces
from varichain.motion.quaternions import conjugated, logarithm, multiplied, turns
from varichain.motion.rotation_equations import Passed, angular_velocities
from varichain.motion.rotation_rates import RotationRates
from varichain.spatial.arrays import Array


def rotation_spline(times: Array, quaternions: Array, ends: str, what: str) -> Pieces:
    """Rotations through unit quaternions (n, 4), less than half a turn apart, at times (n,) [s].

    `ends` is "natural", no angular acceleration; "clamped", no angular velocity; "not-a-knot", one piece for the first
    two steps and one for the last two; or "periodic", the first orientation being the last.
    """
    if ends != "not-a-knot" or len(times) == 2:
        return _through(times, quaternions, "natural" if ends == "not-a-knot" else ends, [], what)
    if len(times) <= 4:
        return _one_piece(times, quaternions, what)
    kept = np.r_[0, 2 : len(times) - 2, len(times) - 1]
    passed = [
        Passed(piece, (times[k + 1] - times[k]) / (times[k + 2] - times[k]), _way(quaternions[k : k + 3], what)[0])
        for piece, k in ((0, 0), (len(kept) - 2, len(times) - 3))
    ]
    return _through(times[kept], quaternions[kept], "passing", passed, what)


def _through(times: Array, quaternions: Array, ends: str, passed: Sequence[Passed], what: str) -> Pieces:
    """A cubic piece between any two samples that follow each other."""
    h, r = np.diff(times)[:, None], turns(quaternions)
    rates = RotationRates(r)
    w = angular_velocities(h, r, rates, ends, passed)
    if w is None:
        raise InputError(f"{what}: no smooth rotation was found through samples so far apart; give closer ones")
    begin, end = w[:-1], np.einsum("ijk,ik->ij", rates.J_inverse, w[1:])
    coefficients = [(h * (begin + end) - 2.0 * r) / h**3, (3.0 * r - h * (2.0 * begin + end)) / h**2, begin, 0.0 * r]
    return Pieces(times, np.stack(coefficients), quaternions[:-1])


def _one_piece(times: Array, quaternions: Array, what: str) -> Pieces:
    """One polynomial rotation vector through three or four samples."""
    u = (times[1:] - times[0]) / (times[-1] - times[0])
    powers = np.arange(len(u), 0, -1)
    c = np.linalg.solve(u[:, None] ** powers, _way(quaternions, what)) / (times[-1] - times[0]) ** powers[:, None]
    return Pieces(times[[0, -1]], np.vstack([c, np.zeros(3)])[:, None, :], quaternions[:1])


def _way(quaternions: Array, what: str) -> Array:
    """Rotation vectors from the first orientation to each of the others, all of it less than half a turn."""
    if np.linalg.norm(turns(quaternions), axis=1).sum() >= math.pi:
        raise InputError(
            f"{what} turns too far in the first or last steps for ends='not-a-knot', which makes one piece of them: "
            "give closer samples, or ends='natural' or 'clamped'"
        )
    return logarithm(multiplied(conjugated(quaternions[:1]), quaternions[1:]))
