"""Inverse dynamics: joint torques from accelerations."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import joint_vector, opened_with_mass
from varichain.dynamics.forces import Force, applied
from varichain.kernels.inverse_dynamics import inverse_dynamics as _inverse_dynamics
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class InverseDynamics:
    """Result of `inverse_dynamics`.

    Attributes:
        tau: Generalized forces of all tree joints (n_v,) [N m or N], free joints included: there they say what a
            support would have to give. `result["knee"]` is the part of one joint, np.asarray(result) is `tau`.
    """

    tau: Array
    layout: Layout

    def __getitem__(self, joint: str) -> Array:
        """Generalized forces of one joint (its n_v,)."""
        return self.tau[self.layout.slot(joint).v]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The generalized forces of all joints."""
        return np.array(self.tau, dtype=dtype, copy=copy)


def inverse_dynamics(m: Mechanism, s: State, a: Any = None, forces: Iterable[Force] = ()) -> InverseDynamics:
    """Generalized forces tau = M a + bias of all tree joints that give the accelerations a.

    Springs, dampers, friction and armature of the joints are overcome too, so that this is the inverse of
    `forward_dynamics`.

    Args:
        m: Mechanism.
        s: State.
        a: Accelerations (n_v,), or {joint name: value}; None for none.
        forces: External forces on links.
    """
    layout, table = opened_with_mass(m, s)
    acceleration = joint_vector(layout, a, "a")
    tau = np.empty(layout.n_v)
    with applied(layout, table, s, forces):
        _inverse_dynamics(table, s.q, s.v, acceleration, tau)
    return InverseDynamics(tau, layout)
