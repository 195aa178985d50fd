"""Derivatives of forward dynamics, of open and closed chains."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.derivatives.closure import is_nearly_singular
from varichain.derivatives.directions import directions_of
from varichain.derivatives.equations import Equations
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.modes import modes_of
from varichain.derivatives.named import Derivative, Places, freedom_places, row_places, sizes
from varichain.derivatives.restrained import checked_stops, free_directions
from varichain.derivatives.restraining import Modes
from varichain.dynamics.arguments import joint_vector, opened, require_inertia, require_mass
from varichain.dynamics.forces import Force
from varichain.dynamics.forward import is_close_decision
from varichain.dynamics.loop_forces import require_closed
from varichain.kernels.derivative_forward import forward_dynamics_derivatives as _derivatives
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Report, Reported, names


@dataclass(frozen=True, slots=True, eq=False)
class ByTorque:
    """Results of torques, and their derivatives.

    Attributes:
        value: The results (n,).
        by_q, by_v: Derivatives along closed motions (n, n_f).
        by_tau: Derivatives by the torques of all tree joints (n, n_v).
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: derivatives may then
            be huge, and mean nothing but that.
    """

    value: Array
    by_q: Derivative
    by_v: Derivative
    by_tau: Derivative
    is_nearly_singular: bool


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ForwardDynamicsDerivatives(Reported):
    """Derivatives of forward dynamics in a state, along motions that keep all loops closed.

    Columns of `by_q` and `by_v` are independent freedoms: q moves along W's columns, v = W v_ind follows. In an open
    chain all freedoms are independent, and W is the identity.

    Attributes:
        a: Accelerations of the tree joints.
        multipliers: Forces along the rows of loops and couplings, named by what closes them. Rows that depend on others
            carry nothing, here and nearby: the derivative of one choice, where the motion determines none.
        stops: Forces of closed stops, and of friction that sticks, named by joints, or as in "hip.swing".
        W: Directions of q (n_v, n_f).
        independent: Names of the freedoms that are columns.
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: derivatives may then
            be huge, and mean nothing but that.
    """

    a: ByTorque
    multipliers: ByTorque
    stops: ByTorque
    W: Array
    independent: tuple[str, ...]
    is_nearly_singular: bool
    name: str

    @property
    def by_q(self) -> Derivative:
        """Derivative of a by q."""
        return self.a.by_q

    @property
    def by_v(self) -> Derivative:
        """Derivative of a by v."""
        return self.a.by_v

    @property
    def by_tau(self) -> Derivative:
        """Derivative of a by tau."""
        return self.a.by_tau

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        note = ": nearly singular" if self.is_nearly_singular else ""
        title = f"derivatives of forward dynamics of {self.name!r}{note}, by {names(self.independent)}"
        return title, (sizes({"a by q": self.by_q, "a by v": self.by_v, "a by tau": self.by_tau}),)


def forward_dynamics_derivatives(
    m: Mechanism,
    s: State,
    tau: Any = None,
    forces: Iterable[Force] = (),
    *,
    limits: str = "off",
    prefer: Iterable[str] = (),
) -> ForwardDynamicsDerivatives:
    """Derivatives of the accelerations that torques give, by positions, velocities and torques.

    Exact: the equations of motion, differentiated, are solved with the same factor. What takes part, and along which
    directions, is as in `inverse_dynamics_derivatives`.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        tau: Torques of the tree joints (n_v,), or {joint: value}; None for none.
        forces: External forces on links.
        limits: "off", as in `forward_dynamics`; or "hard": stops and dry friction act by their present mode, as in a
            simulation. A stop that is closed, and friction that sticks, lock a freedom.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        InputError: A joint moves into its stop.
        PreferenceError: The preferred freedoms depend on each other.
        SingularMassError: A link that can move has no mass, or nothing moves in some direction but what has no inertia.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    torque, loads = joint_vector(layout, tau, "tau"), loads_of(layout, forces)
    if not layout.is_tree:
        require_closed(layout, table, s)
    modes = modes_of(m, s, torque, forces, checked_stops(limits))
    if any(mode["locked"] or mode["slide"] for mode in modes.values()):
        return _restrained(m, s, torque, forces, modes, prefer)
    n, n_rows = layout.n_v, layout.n_rows
    a, moved, carried = np.empty(n), np.empty((3, n, n)), np.empty((3, n_rows, n))
    equations = np.empty((4, n_rows, n))
    pivots = _derivatives(table, s.q, s.v, torque, loads, a, moved, carried, equations, *memory_of(layout))
    require_inertia(layout, table)
    workspace = layout.workspaces.of_thread
    multipliers, kept = workspace.array("multipliers")[:n_rows].copy(), workspace.array("rows")["kept"] > 0
    directions = directions_of(layout, equations, kept, prefer)
    W, turning = directions.W, directions.turning
    every, columns = freedom_places(layout, range(n)), freedom_places(layout, directions.independent)
    is_close = is_close_decision(*pivots) or is_nearly_singular(m, s)

    def along(value: Array, by: Array, rows: Places) -> ByTorque:
        by_q, by_v = by[0] @ W + by[1] @ turning, by[1] @ W
        parts = Derivative(by_q, rows, columns), Derivative(by_v, rows, columns), Derivative(by[2], rows, every)
        return ByTorque(value, *parts, is_close)

    return ForwardDynamicsDerivatives(
        along(a, moved, every),
        along(multipliers, carried, row_places(layout)),
        along(np.zeros(0), np.zeros((3, 0, n)), {}),
        W,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        is_close,
        layout.mechanism_name,
    )


def _restrained(
    m: Mechanism, s: State, tau: Array, forces: Iterable[Force], modes: Modes, prefer: Iterable[str]
) -> ForwardDynamicsDerivatives:
    """Derivatives with stops and friction in modes."""
    layout, equations = opened(m, s)[0], Equations(m, s, forces=forces, limits="hard")
    equations.restraining.set(modes)
    directions = free_directions(layout, equations, s.q, s.v, prefer)
    W, turning, n, n_rows = directions.W, directions.turning, layout.n_v, layout.n_rows
    found, none = equations.solve(s.q, s.v, tau), np.zeros_like(W)
    unit, still = np.eye(n), np.zeros((n, n))
    changes = (
        found.change(W, turning, none, none),
        found.change(none, W, none, none),
        found.change(still, still, unit, still),
    )
    every, columns = freedom_places(layout, range(n)), freedom_places(layout, directions.independent)
    is_close = equations.is_nearly_singular or is_nearly_singular(m, s)

    def named(value: Array, by: list[Array], rows: Places) -> ByTorque:
        by_q, by_v, by_tau = (Derivative(x, rows, of) for x, of in zip(by, (columns, columns, every), strict=True))
        return ByTorque(value, by_q, by_v, by_tau, is_close)

    def stopping(x: Array, forces: Array) -> dict[str, Array]:
        return equations.restraining.reactions(modes, forces, x[n_rows:])

    values, parts = stopping(found.x, found.reactions), [stopping(dx, dr) for _, dx, dr in changes]
    rows, at = {}, 0
    for name, value in values.items():
        rows[name], at = [*range(at, at + len(value))], at + len(value)
    joined = [
        np.concatenate([part[name] for name in values]) if values else x[:0]
        for part, (x, *_) in zip(parts, changes, strict=True)
    ]
    return ForwardDynamicsDerivatives(
        named(found.a, [da for da, *_ in changes], every),
        named(found.x[:n_rows], [dx[:n_rows] for _, dx, _ in changes], row_places(layout)),
        named(np.concatenate([np.zeros(0), *values.values()]), joined, rows),
        W,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        is_close,
        layout.mechanism_name,
    )
