"""Rotations that move, straight from the definition: R = exp([phi(t)]) with its first two derivatives."""

import numpy as np
from scipy.linalg import expm

from oracles.rotations import cross_matrix


def rotation_jet(phi, rate, acceleration):
    """R = exp([phi]), and its angular velocity and acceleration in its own axes.

    A function of a nilpotent block matrix is its Taylor series: exp of [[A, A', A''/2], [0, A, A'], [0, 0, A]] holds
    exp(A), its rate and half its acceleration in its first row. Then [w] = R^T R', [w'] = R^T R'' + R'^T R'.
    """
    A, A_rate, A_bend = (cross_matrix(x) for x in (phi, rate, acceleration))
    zero = np.zeros((3, 3))
    jet = expm(np.block([[A, A_rate, 0.5 * A_bend], [zero, A, A_rate], [zero, zero, A]]))
    R, R_rate, R_bend = jet[:3, :3], jet[:3, 3:6], 2.0 * jet[:3, 6:]
    return R, _vector(R.T @ R_rate), _vector(R.T @ R_bend + R_rate.T @ R_rate)


def _vector(K):
    """Vector of a matrix [w], which rounding may have left not quite antisymmetric."""
    return 0.5 * np.array([K[2, 1] - K[1, 2], K[0, 2] - K[2, 0], K[1, 0] - K[0, 1]])
