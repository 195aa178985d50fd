"""The compiled inverse dynamics of a closed chain, and the matrices that it leaves behind."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import Table
from varichain.dynamics.coordinates import PIVOT_THRESHOLD
from varichain.dynamics.loop_forces import NO_LOOPS, LoopForces, loop_forces, virtual_map
from varichain.dynamics.loops import constraint_matrix
from varichain.dynamics.preferences import SLIDING, actuated_columns
from varichain.dynamics.rank import kept_by_kinematics, least_norm
from varichain.errors import ActuationError, AssemblyError, UnknownNameError
from varichain.kernels.actuator_torques import actuator_torques, wished_torques
from varichain.kernels.pivots import massless_freedom
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.spatial.arrays import Array
from varichain.spatial.checks import mapping, positive_scalar

Indices = NDArray[np.int64]

_CONSISTENT = 1e-6  # accelerations that open a loop by more than this part of their size are refused
_DRIVEN = 1e-9  # a generalized force missing by less than this part of the load is rounding
# Pivots of rows, and of actuators, below these are worth a word; ordinary mechanisms have 0.05 and 0.008 and more.
_CLOSE_ROWS, _CLOSE_ACTUATORS = 3e-3, 1e-4


@dataclass(frozen=True, eq=False)
class Actuators:
    """Actuated freedoms of a structure, with what they cost.

    Attributes:
        columns: Their places in v_all (N_A,).
        names: Their names.
        root_cost: Square root of the cost of each torque squared (N_A,).
        scale: Length in which freedoms of the tree are measured (n_v,): 1 of angles, the mechanism's own of slides.
        readiness: How gladly each of them becomes dependent (n_v,): those with actuators a tenth as gladly as others.
    """

    columns: Indices
    names: tuple[str, ...]
    root_cost: Array
    scale: Array
    readiness: Array

    @property
    def arrays(self) -> tuple[Indices, Array, Array, Array]:
        """Arrays in the order of the kernel's arguments."""
        return self.columns, self.root_cost, self.scale, self.readiness


def actuators_of(layout: Layout, weights: Mapping[str, float] | None = None) -> Actuators:
    """Actuators of a structure.

    Raises:
        UnknownNameError: A weight is given for a joint that has no actuator.
    """
    if "_actuators" not in layout.__dict__:  # worked out once, as the layout does with the rest
        columns = actuated_columns(layout).astype(np.int64)
        names = tuple(layout.freedom_name(int(k)) for k in columns)
        scale = freedom_scale(layout)
        readiness = scale.copy()
        readiness[columns[columns < layout.n_v]] *= PIVOT_THRESHOLD
        layout.__dict__["_actuators"] = Actuators(columns, names, np.ones(len(columns)), scale, readiness)
    plain: Actuators = layout.__dict__["_actuators"]
    if not mapping(weights, "weights"):
        return plain
    cost = np.ones(len(plain.names))
    for name, weight in mapping(weights, "weights").items():
        cost[freedoms_of(layout, plain.names, name)] = positive_scalar(weight, f"weight of joint {name!r}")
    return replace(plain, root_cost=np.sqrt(cost))


def freedoms_of(layout: Layout, names: tuple[str, ...], joint: str) -> list[int]:
    """Places of a joint's freedoms among the actuated ones."""
    places = [i for i, name in enumerate(names) if name == joint or name.rsplit(".", 1)[0] == joint]
    if not places:
        raise UnknownNameError("actuated joint", joint, [slot.name for slot in layout.all_slots if slot.actuated])
    return places


def freedom_scale(layout: Layout) -> Array:
    """Length in which each freedom of the tree is measured (n_v,): that of the mechanism for slides, 1 for angles."""
    slides = np.array([label in SLIDING for slot in layout.slots for label in slot.coordinates], dtype=bool)
    arms = [layout.arrays["bodies"]["p_PJ"], *(frame.p for loop in layout.loops for frame in (loop.on_A, loop.on_B))]
    size = max(float(np.abs(arm).max(initial=0.0)) for arm in arms)
    return np.where(slides, size or 1.0, 1.0)


def is_sound(opening: Any, missing: Any, load: Any, largest: Any) -> Any:
    """Whether accelerations, the largest as given, keep loops closed, and actuators can drive them; to rounding."""
    return (opening <= _CONSISTENT * (1.0 + largest)) & (missing <= _DRIVEN * np.maximum(1.0, load))


class ActuatorSolve:
    """Torques of a structure's actuators, with the arrays that their kernel works in.

    Attributes:
        tau: Torques of all joints (n_all,), virtual ones last; zero where there is no actuator.
        multipliers: Of the rows (n_rows,), zero of redundant ones.
        rank: Of the rows.
        opening: Largest K a + Kdot v.
        missing: Largest part of the load that actuators cannot give [N m]; `load` is the size of the load.
        is_nearly_singular: Whether rows or actuators are close to depending on each other.
    """

    def __init__(self, layout: Layout, actuators: Actuators) -> None:
        """Make room."""
        self.layout, self.actuators = layout, actuators
        n, n_rows, n_actuated = layout.n_v, layout.n_rows, len(actuators.columns)
        self.tau, self.multipliers = np.zeros(layout.n_all), np.zeros(n_rows)
        self._K, self._places = np.empty((n_rows, n)), np.zeros(n + n_rows, np.int64)
        self._work, self._virtual = np.empty(2 * n + n_rows), np.zeros((0, n))
        self.work = self._K, np.empty((n, n_actuated + 1)), self._work, self._places
        self.rank, self.opening, self.missing, self.load, self.is_nearly_singular = 0, 0.0, 0.0, 0.0, False
        self._largest = 0.0
        self._normal: Array | None = None

    @property
    def is_open(self) -> bool:
        """Whether the accelerations would open a loop."""
        return not self.opening <= _CONSISTENT * (1.0 + self._largest)

    @property
    def is_driven(self) -> bool:
        """Whether the actuators can drive the motion, to rounding."""
        return self.missing <= _DRIVEN * max(1.0, self.load)

    def run(self, table: Table, q: Array, v: Array, a: Array, is_decided: int = 0) -> None:
        """Solve at a state; `is_decided` if rows say already which of them are kept."""
        plan = self.actuators
        rank, self.opening, self.missing, self.load, rows, driven = actuator_torques(
            table, q, v, a, is_decided, *plan.arrays, *self.work, self.tau, self.multipliers
        )
        self.rank, self.is_nearly_singular = int(rank), not (rows > _CLOSE_ROWS and driven > _CLOSE_ACTUATORS)

    def solve(self, table: Table, s: State, a: Array) -> None:
        """Solve at a state, also where a freedom moves no inertia: there no metric of masses decides on the rows."""
        layout = self.layout
        self._largest = float(np.abs(a).max(initial=0.0))
        self.run(table, s.q, s.v, a)
        if layout.n_rows and massless_freedom(table) >= 0:
            kept = kept_by_kinematics(constraint_matrix(layout, table, s.q), layout.rank_tolerance)
            layout.workspaces.of_thread.array("rows")["kept"] = kept
            self.run(table, s.q, s.v, a, 1)
        self._virtual = np.zeros((0, layout.n_v))
        if (self.actuators.columns >= layout.n_v).any():
            self._virtual = np.vstack([virtual_map(layout, table, s, loop) for loop in layout.loops])

    def drive(self, table: Table, q: Array, v: Array, a: Array) -> None:
        """Solve at a state.

        Raises:
            AssemblyError: The accelerations would open a loop.
            ActuationError: The actuators cannot drive this motion.
        """
        self._largest = float(np.abs(a).max(initial=0.0))
        self.run(table, q, v, a)
        if self.is_open:
            raise AssemblyError(
                f"these accelerations would open the loops by up to {self.opening:.3g} [m/s^2 or rad/s^2]; take such "
                "that keep K a + Kdot v = 0, as W a_ind + w does",
                {},
            )
        if not self.is_driven:
            raise self._undriven()

    def wished(self, table: Table, q: Array, v: Array, wished: Array, weight: Array) -> tuple[Array, Array]:
        """Accelerations nearest to those wished for that the loops allow, and torques of all joints that give them.

        Raises:
            ActuationError: The actuators cannot drive this motion.
        """
        plan, n = self.actuators, self.layout.n_v
        if self._normal is None:
            self._normal = np.empty((n, n))
        a = np.empty(n)
        self.missing, self.load = wished_torques(
            table, q, v, wished, weight, *plan.arrays, *self.work, self._normal, a, self.tau
        )
        if not self.is_driven:
            raise self._undriven()
        return a, self.tau

    def _undriven(self) -> ActuationError:
        return ActuationError(
            f"the {len(self.actuators.names)} actuators cannot drive this motion: a generalized force of "
            f"{self.missing:.3g} N m is missing; vc.inverse_dynamics says where",
            self.missing,
            [],
        )

    # What follows is of the state that was solved last.

    @property
    def independent(self) -> tuple[str, ...]:
        """Names of the freedoms that were taken as independent."""
        columns = self._places[self.rank : self.layout.n_v]
        return tuple(self.layout.freedom_name(int(k)) for k in columns)

    @property
    def W(self) -> Array:
        """Velocities of the tree from those of the independent freedoms (n_v, N_F)."""
        n, rank = self.layout.n_v, self.rank
        W = np.zeros((n, n - rank))
        W[self._places[rank:n], np.arange(n - rank)] = 1.0
        W[self._places[:rank]] = -self._K[:rank, rank:]
        return W

    @property
    def S(self) -> Array:
        """Velocities of the actuated freedoms from those of the independent ones (N_A, N_F)."""
        return np.vstack([W := self.W, self._virtual @ W])[self.actuators.columns]

    @property
    def unmet(self) -> Array:
        """Generalized forces of the tree (n_v,) that loops have to give, beside the torques `tau`."""
        return self._work[: self.layout.n_v]

    @property
    def tau_ind(self) -> Array:
        """Generalized load W^T tau_O (N_F,)."""
        return self.W.T @ (self.given(self.tau) + self.unmet)

    def given(self, tau: Array) -> Array:
        """Generalized forces of the tree (n_v,) that torques of all joints (n_all,) are."""
        n = self.layout.n_v
        return tau[:n] + self._virtual.T @ tau[n:] if len(self._virtual) else tau[:n]

    def loop_forces(self, table: Table, s: State) -> LoopForces:
        """Wrenches of the loops: of all that do the same, K^T x, those of least norm."""
        if self.layout.is_tree:
            return NO_LOOPS
        x, is_unique = self.multipliers, self.rank == self.layout.n_rows
        if not is_unique:
            K = constraint_matrix(self.layout, table, s.q)
            x = least_norm(K.T, K.T @ x, self.rank)
        return loop_forces(self.layout, table, x, is_unique)
