"""Equations of motion of one structure with some freedoms locked, and how their solution changes with anything.

Joints may sit at places that are design parameters: freedoms that do not move (`places`). Stops and friction act by
their modes (`restraining`). With F the freedoms that are free and D those that are locked, E further inertia,

    (M_FF + E) a_F - K_F^T x = tau_F - bias_F,    K_F a_F = -Kdot v,    a_D = 0

and all changes of a and x solve the same equations with other right-hand sides.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.derivatives.design_parameters import Parameter, by_design
from varichain.derivatives.leaning import Leaning, is_nearly_dependent
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.places import Places
from varichain.derivatives.restraining import Restraining
from varichain.dynamics.forces import Force, applied, constant_forces
from varichain.dynamics.rank import kept_by_kinematics, kept_rows
from varichain.errors import SingularMassError
from varichain.instants.restraints import Limits
from varichain.kernels.closure import row_errors
from varichain.kernels.derivative_chains import CHAIN_WORK
from varichain.kernels.derivative_closure import (
    ACCELERATIONS_BY_Q,
    K_RATES,
    K_ROWS,
    SPEEDS_BY_Q,
    closure_derivatives,
)
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.manifold import integrate
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.layout import layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

_CLOSED, _MOST = 1e-13, 8  # [m or rad] to which loops are closed after a step, and most corrections


class Rows(NamedTuple):
    """Rows that are closed, of loops first, then of stops: layers (4, n, n_v) of their equations, and d(K^T x)/dq."""

    layers: Array
    forces: Array


class Solution(NamedTuple):
    """Accelerations in a state.

    Attributes:
        a: Accelerations (n_v,); x: multipliers (n,) of the closed rows.
        reactions: Forces (n_v,) that lock freedoms; zero of those that are free.
        kept: Rows that are independent of each other.
        change: Function of changes of q, v, tau (n_v, k), and of loads beyond (n_v, k), to those of a, x and reactions.
    """

    a: Array
    x: Array
    reactions: Array
    kept: NDArray[np.bool_]
    change: Any


class Equations:
    """Equations of motion of a mechanism whose freedoms are those of `Places`.

    Attributes:
        places: The mechanism with its places; `layout`, `n` and `own` are its.
        restraining: Stops and friction, with their modes.
        is_nearly_singular: Whether rows were nearly dependent in some state so far.
    """

    def __init__(
        self,
        m: Mechanism,
        s: State,
        parameters: Mapping[str, Parameter] | None = None,
        forces: Iterable[Force] = (),
        limits: Limits = "off",
        ends: Iterable[tuple[str, bool]] = (),
    ) -> None:
        """Lay out the structure; all restraints are free. Ends of joints may be places without being parameters."""
        self.parameters, self._tree = dict(parameters or {}), layout_of(m)
        self.places = Places(m, s, [*ends, *(one[0] for one in self.parameters.values() if isinstance(one, tuple))])
        self.layout, self.own, self.n = self.places.layout, self.places.own, self.places.layout.n_v
        self.restraining = Restraining(self.layout, limits)
        self.is_nearly_singular = False
        self._rank: dict[int, int] = {}  # by revision of the modes
        self.forces = constant_forces(forces)
        self._loads, self._memory = loads_of(self.layout, self.forces), memory_of(self.layout)[:3]
        self._is_place = np.ones(self.n, dtype=bool)
        self._is_place[self.own] = False
        self.dq = np.zeros((self.n, len(self.parameters)))  # of places, with each parameter
        for column, one in zip(self.dq.T, self.parameters.values(), strict=True):
            if isinstance(one, tuple):
                column[:] = self.places.direction(*one)

    @property
    def table(self) -> Any:
        """Table of the workspace."""
        return self.restraining.workspace.table

    @property
    def free(self) -> NDArray[np.bool_]:
        """Freedoms that are not locked."""
        return ~(self._is_place | self.restraining.locked)

    def rows(self, q: Array, v: Array, a: Array | None = None, x: Array | None = None) -> Rows:
        """The closed rows in a state; without accelerations and multipliers those of stops have two layers alone."""
        n, of_loops = self.n, self.layout.n_rows
        total = self.restraining.n_rows
        layers, forces = np.zeros((4, total, n)), np.zeros((n, n))
        if of_loops:
            padded = np.zeros(total)
            padded[:of_loops] = 0.0 if x is None else x[:of_loops]
            moving = np.zeros(n) if a is None else a
            closure_derivatives(self.table, q, v, moving, padded, layers, forces, np.empty((n, CHAIN_WORK)))
        if not self.restraining.n_closed:
            return Rows(layers[:, :of_loops], forces)
        stops, by_stops = self.restraining.derivatives(q, v, a, None if x is None else x[of_loops:])
        return Rows(np.concatenate([layers[:, :of_loops], stops], axis=1), forces + by_stops)

    def kept(self, q: Array, K: Array) -> NDArray[np.bool_]:
        """Which closed rows are independent of each other; notes whether that was a close decision."""
        F, tree = self.free, self._tree
        if not len(K):
            return np.zeros(0, dtype=bool)
        if F[self.own].all() and not self.restraining.n_closed:
            kept = kept_rows(tree, tree.workspaces.of_thread.table, q[self.places.own_q])
        else:
            kept = kept_by_kinematics(K[:, F], self.layout.rank_tolerance)
        # a rank that changes without an event is that of a configuration that is passed
        rank, modes = int(kept.sum()), self.restraining.revision
        changed = self._rank.setdefault(modes, rank) != rank
        self.is_nearly_singular |= changed or is_nearly_dependent(K[:, F])
        return kept

    def _inverse(self, q: Array, v: Array, a: Array) -> Array:
        tau, state = np.empty(self.n), self.places.state
        state.q[:], state.v[:] = q, v
        with applied(self.layout, self.table, state, self.forces):
            inverse_dynamics(self.table, q, v, a, tau)
        return tau

    def mass(self, q: Array) -> Array:
        """M (n_v, n_v)."""
        M = np.empty((self.n, self.n))
        mass_matrix(self.table, q, M)
        return M

    def solve(self, q: Array, v: Array, tau: Array, inertia: Array | None = None) -> Solution:
        """Accelerations under torques, with further inertia (n_v,) of freedoms."""
        n, F, E = self.n, self.free, np.zeros(self.n) if inertia is None else inertia
        K = self.rows(q, v).layers
        kept = self.kept(q, K[K_ROWS])
        M = self.mass(q) + np.diag(E)
        factor = _Factor(M, K[K_ROWS], F, kept)
        bias = self._inverse(q, v, np.zeros(n))
        a, x = factor.solve((tau - bias)[:, None], -(K[K_RATES] @ v)[:, None])
        a, x = a[:, 0], x[:, 0]
        tree = np.empty((3, n, n))
        inverse_dynamics_derivatives(self.table, q, v, a, self._loads, tree, *self._memory)
        layers, forces = self.rows(q, v, a, x)
        by_speed = layers[K_RATES] + layers[SPEEDS_BY_Q]

        def change(dq: Array, dv: Array, dtau: Array, added: Array) -> tuple[Array, Array, Array]:
            load = dtau - added - (tree[0] - forces) @ dq - tree[1] @ dv
            da, dx = factor.solve(load, -(layers[ACCELERATIONS_BY_Q] @ dq + by_speed @ dv))
            return da, dx, ~F[:, None] * (M @ da - K[K_ROWS].T @ dx - load)

        return Solution(a, x, ~F * (M @ a + bias - tau - K[K_ROWS].T @ x), kept, change)

    def added(self, q: Array, v: Array, a: Array) -> Array:
        """Torques (n_v, n_parameters) that accelerations ask for beyond, with masses and parameters of joints."""
        state = self.places.state
        state.q[:], state.v[:] = q, v
        return by_design(self.places.mechanism, state, self.restraining.workspace, a, self.parameters)

    def added_inertia(self, q: Array, a: Array) -> Array:
        """What M a (n_v, n_parameters) changes by with masses and armatures."""
        if not self.parameters:
            return np.zeros((self.n, 0))
        rest = np.zeros(self.n)
        return self.added(q, rest, a) - self.added(q, rest, rest)

    def leaning(self, q: Array, inertia: Array) -> Leaning:
        """How rows push in a configuration, with further inertia (n_v,) of freedoms."""
        K = self.rows(q, np.zeros(self.n)).layers[K_ROWS]
        return Leaning(self.mass(q) + np.diag(inertia), K, self.free, self.kept(q, K))

    def jump(self, q: Array, v: Array, dq: Array, dv: Array) -> tuple[Array, Array]:
        """Velocities after an impact of all that is closed and locked, and their changes (n_v, k).

        M (v_after - v) - K^T x = 0 in the free freedoms, K v_after = 0, and locked freedoms are at rest.
        """
        n, M = self.n, self.mass(q)
        K = self.rows(q, np.zeros(n)).layers[K_ROWS]
        factor = _Factor(M, K, self.free, self.kept(q, K))
        after, x = (part[:, 0] for part in factor.solve((M @ v)[:, None], np.zeros((len(K), 1))))
        none = np.zeros(n)
        layers, forces = self.rows(q, after, none, x)
        load = M @ dv - (self.inertia_by_q(q, after - v) - forces) @ dq
        load[:, dq.shape[1] - len(self.parameters) :] -= self.added_inertia(q, after - v)
        return after, factor.solve(load, -layers[SPEEDS_BY_Q] @ dq)[0]

    def inertia_by_q(self, q: Array, a: Array) -> Array:
        """d(M a)/dq (n_v, n_v), a being constant."""
        n, none, unloaded = self.n, np.zeros(self.n), self._loads[:0]
        moving, resting = np.empty((3, n, n)), np.empty((3, n, n))
        inverse_dynamics_derivatives(self.table, q, none, a, unloaded, moving, *self._memory)
        inverse_dynamics_derivatives(self.table, q, none, none, unloaded, resting, *self._memory)
        return np.asarray(moving[0] - resting[0], dtype=np.float64)

    def bent(self, q: Array, leaning: Leaning, x: Array, dq: Array) -> Array:
        """Changes of B x (n_v, k) along changes of q, x being constant."""
        none = np.zeros(self.n)
        forces = self.rows(q, none, none, x).forces
        return leaning.pushed((forces - self.inertia_by_q(q, leaning.B @ x)) @ dq)

    def closed(self, q: Array, leaning: Leaning) -> tuple[Array, Array]:
        """q with all loops closed, and the multipliers x (n,) with which it was moved by B x."""
        of_loops, q, moved = self.layout.n_rows, q.copy(), np.zeros(leaning.B.shape[1])
        errors = np.zeros(self.restraining.n_rows)
        for _ in range(_MOST if of_loops else 0):
            row_errors(self.table, q, errors)
            counted = np.zeros(len(moved))
            counted[:of_loops] = np.where(leaning.kept[:of_loops], errors[:of_loops], 0.0)
            if np.abs(counted).max(initial=0.0) <= _CLOSED:
                break
            x = leaning.solved(self.rows(q, np.zeros(self.n)).layers[K_ROWS], -counted)
            integrate(self.table, q, leaning.B @ x, 1.0, q)
            moved += x
        return q, moved


class _Factor:
    """The factorized equations of free freedoms and independent rows."""

    def __init__(self, M: Array, K: Array, F: NDArray[np.bool_], kept: NDArray[np.bool_]) -> None:
        self._F, self._kept, self._size = F, kept, (len(M), len(K))
        self._n = int(F.sum())
        K_F = K[kept][:, F]
        system = np.block([[M[np.ix_(F, F)], -K_F.T], [K_F, np.zeros((len(K_F), len(K_F)))]])
        try:
            self._inverse = np.linalg.inv(system)  # right-hand sides are many
        except np.linalg.LinAlgError:
            raise SingularMassError("nothing that the free joints move has inertia in some direction") from None

    def solve(self, load: Array, opening: Array) -> tuple[Array, Array]:
        """Accelerations (n_v, k) and multipliers (n, k) from right-hand sides."""
        a, x = (np.zeros((size, load.shape[1])) for size in self._size)
        found = self._inverse @ np.vstack([load[self._F], opening[self._kept]])
        a[self._F], x[self._kept] = found[: self._n], found[self._n :]
        return a, x
