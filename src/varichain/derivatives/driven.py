"""Derivatives with driven and locked freedoms: their accelerations are given, and the torques of the drives found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.derivatives.closure import closed_directions, closure_at, is_nearly_singular
from varichain.derivatives.directions import Indices
from varichain.derivatives.leaning import is_nearly_dependent
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.named import Derivative, Places, freedom_places, row_places, sizes
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.dynamics.forces import Force, applied, constant_forces
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.dynamics.rank import kept_by_kinematics
from varichain.errors import InputError, SingularMassError
from varichain.kernels.derivative_closure import ACCELERATIONS_BY_Q, K_RATES, SPEEDS_BY_Q
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import mapping
from varichain.spatial.report import Report, Reported, names


@dataclass(frozen=True, slots=True, eq=False)
class ByDrive:
    """Results of torques and drives, and their derivatives.

    Attributes:
        value: The results (n,).
        by_q, by_v: Derivatives along closed motions (n, n_f).
        by_tau: Derivatives by the torques of all tree joints (n, n_v).
        by_a: Derivatives by the accelerations of the drives (n, n_driven).
    """

    value: Array
    by_q: Derivative
    by_v: Derivative
    by_tau: Derivative
    by_a: Derivative


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class DrivenDynamicsDerivatives(Reported):
    """Derivatives of forward dynamics with driven and locked freedoms, along motions that keep all loops closed.

    Attributes:
        a: Accelerations of the tree joints; those of the drives are given.
        drives: Torques of the drives, beyond those that are given.
        multipliers: Forces along the rows of loops and couplings, those of one choice where rows are redundant.
        W: Directions of q (n_v, n_f): drives are moved too.
        independent: Names of the freedoms that are columns.
        is_nearly_singular: Whether rows of the loops nearly depend on each other, with the drives in place or without:
            derivatives may then be huge, and mean nothing but that.
    """

    a: ByDrive
    drives: ByDrive
    multipliers: ByDrive
    W: Array
    independent: tuple[str, ...]
    is_nearly_singular: bool
    name: str

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        matrices = {f"{what} by {x}": getattr(getattr(self, what), f"by_{x}") for what in ("a", "drives") for x in "qv"}
        note = ", nearly singular" if self.is_nearly_singular else ""
        return f"derivatives of {self.name!r} with drives{note}, by {names(self.independent)}", (sizes(matrices),)


def driven_dynamics_derivatives(
    m: Mechanism,
    s: State,
    driven: Mapping[str, Any],
    tau: Any = None,
    forces: Iterable[Force] = (),
    *,
    prefer: Iterable[str] = (),
) -> DrivenDynamicsDerivatives:
    """Derivatives of accelerations, and of the torques of drives, where accelerations of some joints are given.

    A joint whose acceleration is zero, and which is at rest, is locked. What takes part, and along which directions, is
    as in `forward_dynamics_derivatives`.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        driven: Accelerations by joint: a number, or (its n_v,).
        tau: Torques of the tree joints (n_v,), or {joint: value}; None for none.
        forces: External forces on links.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        InputError: No drive; or drives that contradict the loops.
        SingularMassError: A link that can move has no mass.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    if not mapping(driven, "driven"):
        raise InputError("driven must name at least one joint: without drives use forward_dynamics_derivatives")
    given, torque = constant_forces(forces), joint_vector(layout, tau, "tau")
    accelerations = joint_vector(layout, driven, "driven")
    drives = np.concatenate([np.arange(layout.slot(name).v.start, layout.slot(name).v.stop) for name in driven])
    directions = closed_directions(layout, table, s, prefer)
    with applied(layout, table, s, given):
        system = _System(m, s, drives, torque, accelerations)
    by = system.derivatives(directions.W, directions.turning, loads_of(layout, given))
    every = freedom_places(layout, range(layout.n_v))
    columns, of_drives = freedom_places(layout, directions.independent), freedom_places(layout, drives)

    def named(value: Array, parts: list[Array], rows: Places) -> ByDrive:
        places = (columns, columns, every, of_drives)
        return ByDrive(value, *(Derivative(part, rows, place) for part, place in zip(parts, places, strict=True)))

    return DrivenDynamicsDerivatives(
        named(system.a, by[0], every),
        named(system.drive, by[1], of_drives),
        named(system.x, by[2], row_places(layout)),
        directions.W,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        system.is_nearly_singular or is_nearly_singular(m, s),
        layout.mechanism_name,
    )


class _System:
    """Equations of motion with drives D and free freedoms F: M_FF a_F - K_F^T x = ..., K_F a_F = ...

    Attributes:
        a, drive, x: Accelerations, torques of drives, multipliers.
        is_nearly_singular: Whether rows nearly depend on each other while drives are in place.
    """

    def __init__(self, m: Mechanism, s: State, drives: Indices, tau: Array, accelerations: Array) -> None:
        """Solve; external forces must be applied."""
        self._layout, self._table = layout, table = opened(m, s)
        self._s, self._D, n = s, drives, layout.n_v
        self._F = F = np.setdiff1d(np.arange(n), drives)
        self._M, bias, needed = np.empty((n, n)), np.empty(n), np.empty(n)
        mass_matrix(table, s.q, self._M)
        self._K = np.zeros((0, n)) if not layout.n_rows else constraint_matrix(layout, table, s.q)
        opening = self._K @ accelerations + (constraint_bias(layout, table, s) if layout.n_rows else 0.0)
        self._kept = kept_by_kinematics(self._K[:, F], layout.rank_tolerance) if layout.n_rows else np.zeros(0, bool)
        self.is_nearly_singular = is_nearly_dependent(self._K[:, F])
        inverse_dynamics(table, s.q, s.v, accelerations, bias)
        found, x = self._solved((tau - bias)[F][:, None], -opening[self._kept][:, None])
        self.a, self.x = accelerations + found[:, 0], x[:, 0]
        left = np.abs(self._K @ found[:, 0] + opening).max(initial=0.0)
        if left > 1e-6 * (1.0 + np.abs(opening).max(initial=0.0)):
            raise InputError(f"the drives contradict the loops: accelerations would open these by {left:.3g}")
        inverse_dynamics(table, s.q, s.v, self.a, needed)
        self.drive = (needed - self._K.T @ self.x - tau)[drives]

    def _solved(self, forces: Array, opening: Array) -> tuple[Array, Array]:
        """Accelerations (n_v, k), zero of drives, and multipliers (n_rows, k), from right-hand sides."""
        F, K = self._F, self._K[self._kept][:, self._F]
        system = np.block([[self._M[np.ix_(F, F)], -K.T], [K, np.zeros((len(K), len(K)))]])
        try:
            found = np.linalg.solve(system, np.vstack([forces, opening]))
        except np.linalg.LinAlgError:
            raise SingularMassError("nothing that the free joints move has inertia in some direction") from None
        a, x = np.zeros((len(self._M), forces.shape[1])), np.zeros((len(self._K), forces.shape[1]))
        a[F], x[self._kept] = found[: len(F)], found[len(F) :]
        return a, x

    def derivatives(self, W: Array, turning: Array, loads: Array) -> list[list[Array]]:
        """Derivatives of accelerations, torques of drives and multipliers: by q, v, tau and driven accelerations."""
        layout, table, s, n = self._layout, self._table, self._s, len(self._M)
        tree = np.empty((3, n, n))
        inverse_dynamics_derivatives(table, s.q, s.v, self.a, loads, tree, *memory_of(layout)[:3])
        equations, by_loops = closure_at(layout, table, s.q, s.v, self.a, self.x)
        by_speed, unit = equations[K_RATES] + equations[SPEEDS_BY_Q], np.eye(n)
        load_q = (tree[0] - by_loops) @ W + tree[1] @ turning
        cases = (
            (load_q, equations[ACCELERATIONS_BY_Q] @ W + by_speed @ turning),
            (tree[1] @ W, by_speed @ W),
            (-unit, np.zeros((len(self._K), n))),
            (self._M[:, self._D], self._K[:, self._D]),
        )
        made: list[list[Array]] = [[], [], []]
        for i, (load, opening) in enumerate(cases):
            da, dx = self._solved(-load[self._F], -opening[self._kept])
            drive = (load + self._M @ da - self._K.T @ dx)[self._D]
            if i == 3:
                da = da + unit[:, self._D]
            for part, one in zip(made, (da, drive, dx), strict=True):
                part.append(one)
        return made
