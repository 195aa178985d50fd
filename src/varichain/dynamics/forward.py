"""Forward dynamics: accelerations and loop forces from joint torques."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.dynamics.arguments import opened_with_mass, require_inertia
from varichain.dynamics.forces import ExternalForce, applied
from varichain.dynamics.formulations import FORMULATIONS, PARTIAL_FORMULATIONS
from varichain.dynamics.loop_forces import LoopForces, loop_forces_from_rows, require_closed, tree_torque
from varichain.dynamics.report import joint_listing
from varichain.errors import InputError, quoted
from varichain.kernels.constrained_dynamics import constrained_forward_dynamics
from varichain.kernels.forward_dynamics import forward_dynamics as _forward_dynamics
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_one_of
from varichain.spatial.report import Report, Reported

_REFERENCES = FORMULATIONS | PARTIAL_FORMULATIONS
METHODS = ("articulated", *_REFERENCES)

_SINGULAR = 1e-6  # pivots below this part of their diagonal: the rows nearly depend on each other


def is_close_decision(smallest_pivot: float, dropped_pivot: float) -> bool:
    """Whether which rows depend on others was a close decision, from the margins that kernels return."""
    return smallest_pivot < _SINGULAR or dropped_pivot > 1e-12


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForwardDynamics(Reported):
    """Result of `forward_dynamics`.

    Attributes:
        a: Joint accelerations (n_v,); `result["knee"]` is the part of one joint, np.asarray(result) is `a`.
        loop_forces: Force and moment at every loop.
        smallest_pivot: Smallest pivot of the constraint rows that were kept, as a part of its diagonal.
        dropped_pivot: Largest pivot of the rows that were dropped as dependent.
    """

    a: Array
    loop_forces: LoopForces
    smallest_pivot: float
    dropped_pivot: float
    layout: Layout

    @property
    def is_nearly_singular(self) -> bool:
        """Whether which rows depend on others was a close decision: a configuration at or near a singularity."""
        return is_close_decision(self.smallest_pivot, self.dropped_pivot)

    def __getitem__(self, joint: str) -> Array:
        """Accelerations of one joint (its n_v,)."""
        return self.a[self.layout.slot(joint).v]

    def report(self) -> Report:
        """Accelerations joint by joint, then wrenches loop by loop."""
        note = ": nearly singular" if self.is_nearly_singular else ""
        title = f"forward dynamics of {self.layout.mechanism_name!r}{note}"
        return title, (joint_listing(self.layout, self.a, "a [rad/s^2 or m/s^2]"), self.loop_forces.listing())

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> Array:
        """The accelerations of all joints."""
        return np.array(self.a, dtype=dtype, copy=copy)


def forward_dynamics(
    m: Mechanism, s: State, tau: Any = None, forces: Iterable[ExternalForce] = (), method: str = "articulated"
) -> ForwardDynamics:
    """Accelerations of all tree joints with every loop closed: M a + bias = tau + K^T x, K a + Kdot v = 0.

    Args:
        m: Mechanism.
        s: State; its loops must be closed, in position and velocity (see `project`).
        tau: Generalized forces (n_v,) [N m or N], or {joint name: value}, virtual joints included; None for none.
        forces: External forces on links.
        method: "articulated", the fast one; or a reference that gives the same: "unit_vectors" [NY, (24)], "projected"
            (W^T M W), "kkt" (any rank); or one of HYR's three: "closure" (couplings alone), "implicit" (refused where
            rows are redundant), "explicit".

    Raises:
        SingularMassError: Something that can move has no inertia in that direction.
        AssemblyError: The loops are open.
        InputError, UnknownNameError, StructureError: The arguments do not fit the mechanism.
    """
    if not is_one_of(method, METHODS):
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, not {quoted(method)}")
    layout, table = opened_with_mass(m, s)
    torque = tree_torque(layout, table, s, tau)
    if not layout.is_tree:
        require_closed(layout, table, s)
    if method != "articulated":
        with applied(layout, table, s, forces):
            a, reaction = _REFERENCES[method](m, layout, table, s, torque)
        return ForwardDynamics(a, reaction, 1.0, 0.0, layout)
    a = np.empty(layout.n_v)
    pivots = (1.0, 0.0)
    with applied(layout, table, s, forces):
        if not layout.is_tree:
            pivots = constrained_forward_dynamics(table, s.q, s.v, torque, a)
        else:
            _forward_dynamics(table, s.q, s.v, torque, a)
    require_inertia(layout, table)
    return ForwardDynamics(a, loop_forces_from_rows(layout, layout.workspaces.of_thread, s.q), *pivots, layout)
