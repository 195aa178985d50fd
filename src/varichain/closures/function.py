"""A mechanism in independent coordinates: q = gamma(y), v = G v_ind, a = G a_ind + g [HYR, (9)-(14)]."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varichain.closures.part import Closure, Linear
from varichain.dynamics.arguments import joint_vector, opened_with_mass
from varichain.dynamics.forces import ExternalForce, applied
from varichain.dynamics.loops import closure_errors, constraint_bias, constraint_matrix
from varichain.errors import ActuationError, AssemblyError, InputError, StructureError, UnknownNameError
from varichain.kernels.inverse_dynamics import inverse_dynamics
from varichain.kernels.mass_matrix import mass_matrix
from varichain.layout.state import State, layout_for, require_fit
from varichain.mechanism.coupling import resolved
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, instance, listed, shown

_CLOSED = 1e-9  # a closure that leaves its loop open by more [m or rad] belongs to another loop or branch
_WRONG = {
    "position": "they are of other loops or of another branch",
    "velocity": "their jacobian is not that of the loops",
    "acceleration": "their bias is not that of the loops",
}
_STEP = 1e-3  # [rad or m] by which the driven joints are moved, to see whether the closure follows them


class ClosureFunction:
    """All joints of a mechanism as functions of the independent ones, and its dynamics in them.

    No row takes part: what a loop's rows would say twice, or not at all where they are singular, does not matter.
    Couplings of the mechanism take part by themselves. It belongs to the loops that it was made for: after an edit of
    links or loops, make a new one. States that do not fit are refused (`StaleStateError`).

    Attributes:
        independent: Names of the freedoms v_ind, in the order of G's columns.
    """

    def __init__(self, m: Mechanism, closures: Iterable[Closure], s: State) -> None:
        """Put closures together, and check them against the loops that they replace, at and near a closed state.

        Raises:
            StructureError: A loop is left over, or a joint follows twice, or joints follow each other in a circle.
            AssemblyError: A closure does not close its loop.
        """
        self._m = instance(m, Mechanism, "m")
        self._layout = layout_for(m, instance(s, State, "s"))
        parts = [*_closures(closures), *_couplings(m)]
        self._parts = self._ordered(parts)
        replaced = [loop for part in parts for loop in part.loops]
        left = [loop.name for loop in self._layout.loops if loop.name not in replaced]
        if left:
            raise StructureError(f"no closure replaces the loops {left}")
        follows = {joint for part in parts for joint in part.follows}
        leading = [slot for slot in self._layout.slots if slot.name not in follows]
        self._columns = [k for slot in leading for k in range(slot.v.start, slot.v.stop)]
        self.independent = tuple(self._layout.freedom_name(k) for k in self._columns)
        self._check(s)

    def complete(self, s: State) -> State:
        """State in which the dependent joints are where, and move as, the independent ones of `s` make them."""
        require_fit(self._layout, s)
        done = s.copy()
        for part in self._parts:
            q, G, _ = self._evaluate(part, done)
            v = G @ np.array([done[joint].v for joint in part.leads])
            for joint, coordinate, rate in zip(part.follows, q, v, strict=True):
                done[joint].q, done[joint].v = coordinate, rate
        return done

    def matrices(self, s: State) -> tuple[Array, Array]:
        """G (n_v, n_independent) and g (n_v,) at a complete state."""
        require_fit(self._layout, s)
        G, g = np.zeros((self._layout.n_v, len(self._columns))), np.zeros(self._layout.n_v)
        G[self._columns, np.arange(len(self._columns))] = 1.0
        for part in self._parts:
            _, slope, bend = self._evaluate(part, s)
            leads, follows = (self._freedoms(joints) for joints in (part.leads, part.follows))
            G[follows] = slope @ G[leads]
            g[follows] = bend + slope @ g[leads]
        return G, g

    def forward_dynamics(self, s: State, tau: Any = None, forces: Iterable[ExternalForce] = ()) -> Array:
        """Accelerations (n_v,): (G^T H G) a_ind = G^T (tau - C - H g), a = G a_ind + g [HYR, (11)]."""
        layout, table = opened_with_mass(self._m, s)
        G, g = self.matrices(s)
        H, C = np.empty((layout.n_v, layout.n_v)), np.empty(layout.n_v)
        mass_matrix(table, s.q, H)
        with applied(layout, table, s, forces):
            inverse_dynamics(table, s.q, s.v, np.zeros(layout.n_v), C)
        force = joint_vector(layout, tau, "tau") - C - H @ g
        a: Array = G @ np.linalg.solve(G.T @ H @ G, G.T @ force) + g
        return a

    def inverse_dynamics(self, s: State, a_ind: Any, forces: Iterable[ExternalForce] = ()) -> Array:
        """Torques of the actuated joints, as (n_v,) with zeros elsewhere: u = G_u^-T G^T tau_ID [HYR, (14)].

        Args:
            s: Complete state.
            a_ind: Accelerations of the independent freedoms (n_independent,).
            forces: External forces on links.

        Raises:
            ActuationError: The actuated joints are not as many as the independent ones, or G_u is singular.
        """
        layout, table = opened_with_mass(self._m, s)
        G, g = self.matrices(s)
        a = G @ finite_array(np.asarray(a_ind, dtype=float), (len(self._columns),), "a_ind") + g
        tau = np.empty(layout.n_v)
        with applied(layout, table, s, forces):
            inverse_dynamics(table, s.q, s.v, np.ascontiguousarray(a), tau)
        actuated = [k for slot in layout.slots if slot.actuated for k in range(slot.v.start, slot.v.stop)]
        G_u = G[actuated]
        if G_u.shape[0] != G_u.shape[1] or np.linalg.matrix_rank(G_u, tol=1e-9) < len(G_u):
            raise ActuationError(
                f"{len(actuated)} actuated freedoms do not drive the {len(self._columns)} independent ones one for "
                "one; vc.inverse_dynamics shares the load among more actuators",
                float(np.abs(G.T @ tau).max(initial=0.0)),
                list(self.independent),
            )
        u = np.zeros(layout.n_v)
        u[actuated] = np.linalg.solve(G_u.T, G.T @ tau)
        return u

    def _evaluate(self, part: Closure, s: State) -> tuple[Array, Array, Array]:
        y, v = (np.array([getattr(s[joint], key) for joint in part.leads], dtype=float) for key in ("q", "v"))
        return part.evaluate(y, v, np.array([s[joint].q for joint in part.follows], dtype=float))

    def _freedoms(self, joints: tuple[str, ...]) -> list[int]:
        return [self._layout.slot(joint).v.start for joint in joints]

    def _ordered(self, parts: list[Closure]) -> list[Closure]:
        """Parts in an order in which leads are known before they lead."""
        for part in parts:
            for joint in (*part.leads, *part.follows):
                if joint not in self._layout.tree.slot_by_name:
                    raise UnknownNameError("joint", joint, self._layout.tree.slot_by_name)
                if len(self._layout.slot(joint).coordinates) != 1:
                    raise StructureError(f"joint {joint!r} has more than one freedom: closures take hinges and sliders")
        follows = [joint for part in parts for joint in part.follows]
        twice = {joint for joint in follows if follows.count(joint) > 1}
        if twice:
            raise StructureError(f"joints {sorted(twice)} follow in two closures")
        waiting, ordered, open_joints = list(parts), list[Closure](), set(follows)
        while waiting:
            ready = [part for part in waiting if not open_joints & set(part.leads)]
            if not ready:
                raise StructureError(f"joints follow each other in a circle: {sorted(open_joints)}")
            ordered += ready
            waiting = [part for part in waiting if part not in ready]
            open_joints -= {joint for part in ready for joint in part.follows}
        return ordered

    def _check(self, s: State) -> None:
        """Refuse closures that leave rows open, in position, velocity or acceleration, at the state or beside it."""
        rng = np.random.default_rng(0)
        for step in (0.0, _STEP, -_STEP):
            near = s.copy()
            move = np.zeros(self._layout.n_v)
            move[self._columns] = step * rng.uniform(0.5, 1.0, len(self._columns))
            near = near.integrate(move)
            near.v[self._columns] = rng.standard_normal(len(self._columns))
            try:
                done = self.complete(near)
            except AssemblyError:
                if step == 0.0:
                    raise
                continue  # beyond the end of the motion
            layout, table = self._layout, self._layout.workspaces.of_thread.table
            G, g = self.matrices(done)
            K = constraint_matrix(layout, table, done.q)
            for what, values in (
                ("position", closure_errors(layout, table, done.q)),
                ("velocity", (K @ G).ravel()),
                ("acceleration", K @ g + constraint_bias(layout, table, done)),
            ):
                worst = float(np.abs(values).max(initial=0.0))
                if not worst <= _CLOSED * (1.0 + float(done.v @ done.v)):
                    raise AssemblyError(
                        f"the closures do not close the loops of {self._m.name!r}: {what} is off by {worst:.3g}; "
                        f"{_WRONG[what]}",
                        {what: worst},
                    )


def _closures(given: Any) -> tuple[Closure, ...]:
    for part in listed(given, object, "closures"):
        if not isinstance(part, Closure):
            raise InputError(f"closures must be FourBar, SliderCrank, Linear, Given, ..., not {shown(part)}")
    return tuple(given)


def _couplings(m: Mechanism) -> list[Closure]:
    return [
        Linear((joint,), (leader,), np.array([[multiplier]]), np.array([offset]))
        for joint, (leader, multiplier, offset) in resolved(m.couplings).items()
    ]
