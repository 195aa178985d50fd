"""Derivatives of energy, momentum and centre of mass."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from varichain.derivatives.closure import closed_directions, is_nearly_singular
from varichain.derivatives.named import Derivative, Places, freedom_places, sizes
from varichain.dynamics.arguments import opened_with_center, require_mass
from varichain.dynamics.totals import energy, momentum
from varichain.errors import InputError
from varichain.kernels.derivative_momentum import MOMENTUM_WORK, momentum_derivatives
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.layout.state import State
from varichain.mechanism.force_elements import LineForce
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Report, Reported, names

_AXES: Places = {"x": [0], "y": [1], "z": [2]}
_MOMENTA: Places = {"angular": [0, 1, 2], "linear": [3, 4, 5]}
_ENERGIES: Places = {"kinetic": [0], "potential": [1]}


@dataclass(frozen=True, slots=True, eq=False)
class ByState:
    """Numbers of a state, and their derivatives.

    Attributes:
        value: The numbers (n,).
        by_q, by_v: Their derivatives along closed motions (n, n_f).
    """

    value: Array
    by_q: Derivative
    by_v: Derivative


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class TotalDerivatives(Reported):
    """Derivatives of quantities of the whole mechanism, along motions that keep all loops closed.

    Attributes:
        energy: "kinetic" and "potential" energy (2,) [J], the latter in gravity and in springs.
        momentum: "angular" momentum about the centre of mass, and "linear" momentum (6,) [kg m^2/s, kg m/s].
        center_of_mass: World position (3,) [m], "x", "y", "z".
        W: Directions of q (n_v, n_f).
        independent: Names of the freedoms that are columns.
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: derivatives may then
            be huge, and mean nothing but that.
    """

    energy: ByState
    momentum: ByState
    center_of_mass: ByState
    W: Array
    independent: tuple[str, ...]
    is_nearly_singular: bool
    name: str

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        of = {"energy": self.energy, "momentum": self.momentum, "centre of mass": self.center_of_mass}
        matrices = {f"{what} by {x}": getattr(one, f"by_{x}") for what, one in of.items() for x in "qv"}
        note = ", nearly singular" if self.is_nearly_singular else ""
        return f"derivatives of totals of {self.name!r}{note}, by {names(self.independent)}", (sizes(matrices),)


def total_derivatives(m: Mechanism, s: State, *, prefer: Iterable[str] = ()) -> TotalDerivatives:
    """Derivatives of energy, momentum and centre of mass by positions and velocities, exact.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        PreferenceError: The preferred freedoms depend on each other.
        SingularMassError: A link that can move has no mass.
        InputError: There is a `LineForce`: its function has no potential energy.
    """
    layout, table = opened_with_center(m, s)
    for connection in layout.connections:
        if isinstance(connection.joint, LineForce):
            raise InputError(f"LineForce {connection.joint.name!r} has no potential energy to be differentiated")
    require_mass(layout)
    directions = closed_directions(layout, table, s, prefer)
    W, n = directions.W, layout.n_v
    momentum_by_q, momentum_by_v, center, kinetic = (np.empty((rows, n)) for rows in (6, 6, 3, 2))
    work = np.empty((layout.workspaces.of_thread.length("bodies"), MOMENTUM_WORK))
    momentum_derivatives(table, s.q, s.v, momentum_by_q, momentum_by_v, center, kinetic, work)
    rest = np.zeros(n)
    at_rest = np.empty(n)  # what gravity and springs ask for is the gradient of their energy
    inverse_dynamics(table, s.q, rest, rest, at_rest)
    columns = freedom_places(layout, directions.independent)

    def along(value: Array, by_q: Array, by_v: Array, rows: Places) -> ByState:
        turned = by_q @ W + by_v @ directions.turning
        return ByState(value, Derivative(turned, rows, columns), Derivative(by_v @ W, rows, columns))

    energies, momenta = energy(m, s), momentum(m, s)
    return TotalDerivatives(
        along(
            np.array([energies.kinetic, energies.gravitational + energies.elastic]),
            np.array([kinetic[0], at_rest]),
            np.array([kinetic[1], rest]),
            _ENERGIES,
        ),
        along(np.concatenate((momenta.angular, momenta.linear)), momentum_by_q, momentum_by_v, _MOMENTA),
        along(np.asarray(momenta.about), center, np.zeros((3, n)), _AXES),
        W,
        tuple(layout.freedom_name(int(k)) for k in directions.independent),
        is_nearly_singular(m, s),
        layout.mechanism_name,
    )
