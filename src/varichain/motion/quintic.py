"""Quintic tracks through samples that lie close together, accurate to the sixth power of their distance."""

from __future__ import annotations

import numpy as np

from varichain.motion.pieces import Pieces
from varichain.motion.quaternions import conjugated, multiplied, turns, with_signs_of
from varichain.motion.rotation_rates import RotationRates
from varichain.motion.samples import Samples
from varichain.motion.track import Track
from varichain.motion.trajectories import pieces_from_bspline
from varichain.spatial.arrays import Array


def quintic_track(samples: Samples, times: Array, repeat: bool, what: str) -> Track:
    """Quintic pieces through all samples, six or more, with continuous velocity and acceleration.

    Orientations that follow each other must be less than half a turn apart.
    """
    from scipy.interpolate import make_interp_spline

    parts = []
    if samples.quaternions is not None:
        parts.append(_rotations(times, samples.quaternions))
    if samples.values is not None:
        parts.append(pieces_from_bspline(make_interp_spline(times, samples.values, k=5), what))
    return Track(samples.kind, tuple(parts), repeat)


def _rotations(times: Array, quaternions: Array) -> Pieces:
    """Rotation vectors with the angular velocities and accelerations of a spline through the quaternions at its knots.

    w = 2 Im(Q* Q') and w' = 2 Im(Q* Q''), where Q . Q' is left out: it is as small as the spline's own error.
    """
    from scipy.interpolate import make_interp_spline

    Q = with_signs_of(quaternions, quaternions[:-1])
    spline = make_interp_spline(times, Q, k=5)
    rate, bend = spline(times, 1), spline(times, 2)
    w = 2.0 * multiplied(conjugated(Q), rate)[:, 1:]
    w_rate = 2.0 * multiplied(conjugated(Q), bend)[:, 1:]
    r = turns(Q)
    rates = RotationRates(r)
    end = np.einsum("ijk,ik->ij", rates.J_inverse, w[1:])
    end_rate = np.einsum("ijk,ik->ij", rates.J_inverse, w_rate[1:] - rates.products(end))
    return Pieces(times, _hermite(np.diff(times)[:, None], w[:-1], w_rate[:-1], r, end, end_rate), Q[:-1])


def _hermite(h: Array, v_0: Array, a_0: Array, q_1: Array, v_1: Array, a_1: Array) -> Array:
    """Coefficients (6, n, k) of quintics that begin at zero, by values, rates and accelerations at both ends."""
    q = q_1 - h * (v_0 + 0.5 * h * a_0)
    v, a = h * (v_1 - v_0 - h * a_0), h * h * (a_1 - a_0)
    return np.stack(
        [
            (6.0 * q - 3.0 * v + 0.5 * a) / h**5,
            (-15.0 * q + 7.0 * v - a) / h**4,
            (10.0 * q - 4.0 * v + 0.5 * a) / h**3,
            0.5 * a_0,
            v_0,
            np.zeros_like(v_0),
        ]
    )
