"""Derivatives by design: by places of joints, inertial parameters, springs, dampers and armature, all exact."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.derivatives.closure import closure_at, is_nearly_singular
from varichain.derivatives.design_parameters import Parameter, by_design, checked_parameters
from varichain.derivatives.directions import Directions, directions_of
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.named import Derivative, freedom_places, row_places, sizes
from varichain.derivatives.named import Places as Names
from varichain.derivatives.places import Places
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.dynamics.forces import Force, applied, constant_forces
from varichain.dynamics.forward import forward_dynamics
from varichain.dynamics.inverse import inverse_dynamics
from varichain.dynamics.rank import kept_rows
from varichain.errors import InputError
from varichain.kernels.derivative_closure import ACCELERATIONS_BY_Q, K_RATES, K_ROWS, SPEEDS_BY_Q
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.inverse_dynamics import inverse_dynamics as _torques
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Report, Reported, names


@dataclass(frozen=True, slots=True, eq=False)
class ByDesign:
    """Numbers, and their derivatives by design parameters.

    Attributes:
        value: The numbers (n,).
        by_design: Their derivatives (n, n_parameters), columns named by parameters.
    """

    value: Array
    by_design: Derivative


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DesignDerivatives(Reported):
    """Derivatives by design parameters, with loops closed and independent positions and velocities unchanged.

    Attributes:
        q: How the joints of the tree follow (n_v, n_parameters), along the directions of `State.integrate`.
        parameters: Their names.
        independent: Names of the freedoms that are kept.
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: derivatives may then
            be huge, and mean nothing but that.
        tau: M a + bias of the tree joints, independent accelerations being given; None if torques were given.
        tau_ind: W^T tau, forces along the independent freedoms; None if torques were given.
        a: Accelerations of the tree joints under given torques; None if accelerations were given.
        multipliers: Forces along the rows of loops and couplings, likewise.
    """

    q: Derivative
    parameters: tuple[str, ...]
    independent: tuple[str, ...]
    is_nearly_singular: bool
    name: str
    tau: ByDesign | None = None
    tau_ind: ByDesign | None = None
    a: ByDesign | None = None
    multipliers: ByDesign | None = None

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        found = {"tau": self.tau, "tau_ind": self.tau_ind, "a": self.a, "multipliers": self.multipliers}
        matrices = {"q": self.q} | {what: one.by_design for what, one in found.items() if one is not None}
        note = ", nearly singular," if self.is_nearly_singular else ""
        return f"derivatives of {self.name!r}{note} by {names(self.parameters)}", (sizes(matrices),)


def design_derivatives(
    m: Mechanism,
    s: State,
    by: Iterable[str],
    a: Any = None,
    tau: Any = None,
    forces: Iterable[Force] = (),
    *,
    prefer: Iterable[str] = (),
) -> DesignDerivatives:
    """Derivatives of torques, or of accelerations, by design parameters.

    Parameters are named "joint.x", "joint.y", "joint.z" (place of a joint along axes of the link that it sits on [m]),
    "joint.rx", "joint.ry", "joint.rz" (turns of it about these axes [rad]); of a loop the place on the link that was
    connected, and "joint.other.x" that on the other; "link.mass", "link.hx", "link.Ixx", ... (see `Regressor`);
    "joint.stiffness", "joint.damping", "joint.armature", "joint.friction" (of all its freedoms alike; of a loop, and of
    a force element, all but the armature); "gravity.x", "gravity.y", "gravity.z". A length of a design is often several
    of these: add up their columns.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        by: Names of the parameters.
        a: Accelerations (n_v,) that keep the loops closed, or {joint: value}: torques are differentiated.
        tau: Torques (n_v,), or {joint: value}, zero by default: without `a`, accelerations are differentiated.
        forces: External forces on links.
        prefer: Joints or freedoms that must be independent.

    Raises:
        UnknownNameError: No such parameter.
        AssemblyError: The loops are open.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    parameters, given = checked_parameters(layout, by), constant_forces(forces)
    if not parameters:
        raise InputError("by must name at least one parameter, such as 'knee.x' or 'thigh.mass'")
    if a is not None and tau is not None:
        raise InputError("give accelerations, to differentiate torques, or torques, to differentiate accelerations")
    rows, columns = freedom_places(layout, range(layout.n_v)), {name: [i] for i, name in enumerate(parameters)}

    def named(value: Array, by_design: Array, rows: Names = rows) -> ByDesign:
        return ByDesign(value, Derivative(by_design, rows, columns))

    if a is not None:
        found = inverse_dynamics(m, s, a, given, actuators=False)
        design = _Design(m, s, parameters, found.a, given, prefer)
        along, (by_tau, by_ind) = design.directions, design.torques(found.tau)
        moving = named(along.W.T @ found.tau, by_ind, freedom_places(layout, along.independent))
        results = {"tau": named(found.tau, by_tau), "tau_ind": moving}
    else:
        motion, needed = forward_dynamics(m, s, tau, given).a, np.empty(layout.n_v)
        design = _Design(m, s, parameters, motion, given, prefer)
        with applied(layout, table, s, given):
            _torques(table, s.q, s.v, motion, needed)
        x, by_a, by_x = design.accelerations(needed - joint_vector(layout, tau, "tau"))
        results = {"a": named(motion, by_a), "multipliers": named(x, by_x, row_places(layout))}
    kept = tuple(layout.freedom_name(int(k)) for k in design.directions.independent)
    moved = Derivative(design.dq[design.own], rows, columns)
    flag = is_nearly_singular(m, s)
    return DesignDerivatives(moved, tuple(parameters), kept, flag, layout.mechanism_name, **results)


class _Design:
    """A mechanism in a state with accelerations, and how parameters change its equations.

    Attributes:
        directions: Of the mechanism itself.
        own: Where its freedoms are among those of its places.
        dq: How the freedoms of the places move with each parameter (n, n_parameters).
    """

    def __init__(
        self,
        m: Mechanism,
        s: State,
        parameters: dict[str, Parameter],
        a: Array,
        forces: Iterable[Force],
        prefer: Iterable[str],
    ) -> None:
        layout, table = opened(m, s)
        kept = kept_rows(layout, table, s.q)
        self.directions: Directions = directions_of(layout, closure_at(layout, table, s.q, s.v, a)[0], kept, prefer)
        ends = [one for one in parameters.values() if isinstance(one, tuple)]
        places = Places(m, s, [end for end, _ in ends])
        self.own, self._places, n = places.own, places, places.layout.n_v
        self._a = np.zeros(n)
        self._a[self.own] = a
        table = places.layout.workspaces.of_thread.table
        self._tree = np.empty((3, n, n))
        loads, memory = loads_of(places.layout, forces), memory_of(places.layout)[:3]
        inverse_dynamics_derivatives(table, places.state.q, places.state.v, self._a, loads, self._tree, *memory)
        self._equations = self._closure(np.zeros(layout.n_rows))[0]
        self.dq, self._added = np.zeros((n, len(parameters))), np.zeros((layout.n_v, len(parameters)))
        for i, one in enumerate(parameters.values()):
            if isinstance(one, tuple):
                self.dq[:, i] = places.direction(*one)
        self._added[:] = by_design(m, s, opened(m, s)[0].new_workspace(), a, parameters)
        K, by_q = self._equations[K_ROWS], self._equations[SPEEDS_BY_Q]
        self.dq += self._following(-K @ self.dq)
        self.dv = self._following(-by_q @ self.dq)

    def _closure(self, multipliers: Array) -> tuple[Array, Array]:
        p = self._places
        return closure_at(p.layout, p.layout.workspaces.of_thread.table, p.state.q, p.state.v, self._a, multipliers)

    def _following(self, right: Array) -> Array:
        """Changes of dependent freedoms with which rows change by given numbers."""
        x = np.zeros((len(self._a), right.shape[1]))
        x[self.own] = self.directions.following(right)
        return x

    @property
    def _opening(self) -> Array:
        """How accelerations would open the rows (n_rows, n_parameters)."""
        by_speed = self._equations[K_RATES] + self._equations[SPEEDS_BY_Q]
        return np.asarray(self._equations[ACCELERATIONS_BY_Q] @ self.dq + by_speed @ self.dv, dtype=np.float64)

    def torques(self, tau: Array) -> tuple[Array, Array]:
        """Changes of the tree's torques, and of those along independent freedoms; independent accelerations stay."""
        da = self._following(-self._opening)
        by = (self._tree[0] @ self.dq + self._tree[1] @ self.dv + self._tree[2] @ da)[self.own] + self._added
        W, x = self.directions.W, self.directions.multipliers(tau)
        return by, W.T @ by - W.T @ (self._closure(x)[1] @ self.dq)[self.own]

    def accelerations(self, load: Array) -> tuple[Array, Array, Array]:
        """Multipliers that bear a load (n_v,), and changes of accelerations and multipliers under constant torques."""
        kept, own = self.directions.kept, self.own
        K, M = self._equations[K_ROWS][kept][:, own], self._tree[2][np.ix_(own, own)]
        n, x = len(M), np.zeros(len(kept))
        if len(K):
            x[kept] = np.linalg.lstsq(K.T, load, rcond=None)[0]
        forces = self._closure(x)[1] @ self.dq
        by = (self._tree[0] @ self.dq + self._tree[1] @ self.dv - forces)[self.own] + self._added
        system = np.block([[M, -K.T], [K, np.zeros((len(K), len(K)))]])
        found = np.linalg.solve(system, -np.vstack([by, self._opening[kept]]))
        by_x = np.zeros((len(kept), by.shape[1]))
        by_x[kept] = found[n:]
        return x, found[:n], by_x
