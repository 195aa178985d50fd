"""Mass matrix, bias forces and centre of mass."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from varichain.dynamics.arguments import opened_with_center, opened_with_mass
from varichain.dynamics.forces import ExternalForce, applied
from varichain.kernels.inverse_dynamics import inverse_dynamics as _inverse_dynamics
from varichain.kernels.mass_matrix import mass_matrix as _mass_matrix
from varichain.kernels.totals import center_of_mass as _center_of_mass
from varichain.kernels.totals import center_of_mass_jacobian as _center_of_mass_jacobian
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array


def mass_matrix(m: Mechanism, s: State) -> Array:
    """Mass matrix M (n_v, n_v) of the tree, armature included: kinetic energy is v^T M v / 2."""
    layout, table = opened_with_mass(m, s)
    M = np.empty((layout.n_v, layout.n_v))
    _mass_matrix(table, s.q, M)
    return M


def bias_force(m: Mechanism, s: State, forces: Iterable[ExternalForce] = ()) -> Array:
    """Bias (n_v,) in tau = M a + bias: velocity products, gravity, springs, dampers, friction, external forces.

    Of the tree, whether there are loops or not.
    """
    layout, table = opened_with_mass(m, s)
    bias = np.empty(layout.n_v)
    with applied(layout, table, s, forces):
        _inverse_dynamics(table, s.q, s.v, np.zeros(layout.n_v), bias)
    return bias


def center_of_mass(m: Mechanism, s: State) -> Array:
    """World position of the centre of mass of all links that can move (3,) [m]."""
    _, table = opened_with_center(m, s)
    c = np.empty(3)
    _center_of_mass(table, s.q, c)
    return c


def center_of_mass_jacobian(m: Mechanism, s: State) -> Array:
    """Jacobian J (3, n_v) of the centre of mass: its velocity is J v."""
    layout, table = opened_with_center(m, s)
    J = np.empty((3, layout.n_v))
    _center_of_mass_jacobian(table, s.q, J)
    return J
