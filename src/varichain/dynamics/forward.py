"""Forward dynamics: accelerations from joint torques."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import joint_vector, opened_with_mass
from varichain.dynamics.forces import Force, applied
from varichain.errors import SingularMassError
from varichain.kernels.forward_dynamics import forward_dynamics as _forward_dynamics
from varichain.kernels.pivots import massless_freedom
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]


@dataclass(frozen=True, slots=True, eq=False)
class ForwardDynamics:
    """Result of `forward_dynamics`.

    Attributes:
        a: Joint accelerations (n_v,); `result["knee"]` is the part of one joint, np.asarray(result) is `a`.
    """

    a: Array
    layout: Layout

    def __getitem__(self, joint: str) -> Array:
        """Accelerations of one joint (its n_v,)."""
        return self.a[self.layout.slot(joint).v]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The accelerations of all joints."""
        return np.array(self.a, dtype=dtype, copy=copy)


def forward_dynamics(m: Mechanism, s: State, tau: Any = None, forces: Iterable[Force] = ()) -> ForwardDynamics:
    """Accelerations a = M^-1 (tau - bias) of all tree joints.

    Args:
        m: Mechanism.
        s: State.
        tau: Generalized forces (n_v,) [N m or N], or {joint name: value}; None for none.
        forces: External forces on links.

    Raises:
        SingularMassError: Something that can move has no inertia in that direction.
        InputError, UnknownNameError, StructureError: The arguments do not fit the mechanism.
    """
    layout, table = opened_with_mass(m, s)
    torque = joint_vector(layout, tau, "tau")
    a = np.empty(layout.n_v)
    with applied(layout, table, s, forces):
        _forward_dynamics(table, s.q, s.v, torque, a)
    stuck = massless_freedom(table)
    if stuck >= 0:
        name = layout.freedom_name(stuck)
        raise SingularMassError(
            f"freedom {name!r} moves no inertia in this configuration; give the links it carries a rotational inertia "
            "(a point or a thin rod has none about its own axis) or the joint an armature",
            name,
        )
    return ForwardDynamics(a, layout)
