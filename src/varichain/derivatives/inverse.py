"""Derivatives of inverse dynamics, of open and closed chains."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.derivatives.closure import is_nearly_singular
from varichain.derivatives.directions import Directions
from varichain.derivatives.equations import Equations
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.modes import modes_in_motion
from varichain.derivatives.named import Derivative, Places, freedom_places, sizes
from varichain.derivatives.restrained import checked_stops, free_directions
from varichain.dynamics.actuator_solve import Actuators, actuators_of
from varichain.dynamics.arguments import opened, require_mass
from varichain.dynamics.forces import Force, constant_forces
from varichain.dynamics.inverse import inverse_dynamics
from varichain.kernels.derivative_closure import ACCELERATIONS_BY_Q, K_RATES, SPEEDS_BY_Q
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives as _derivatives
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.report import Report, Reported, names

_REGULAR = 1e-9  # singular values of S below this part of the largest: some motion cannot be driven


@dataclass(frozen=True, slots=True, eq=False)
class ByMotion:
    """Forces and their derivatives by a motion.

    Attributes:
        value: The forces (n,) [N m or N].
        by_q, by_v, by_a: Their derivatives (n, n_f).
    """

    value: Array
    by_q: Derivative
    by_v: Derivative
    by_a: Derivative


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class InverseDynamicsDerivatives(Reported):
    """Derivatives of inverse dynamics in a state, along motions that keep all loops closed.

    Columns are independent freedoms: q moves along W's columns, v = W v_ind and a = W a_ind + w follow. In an open
    chain all freedoms are independent, and W is the identity.

    Attributes:
        tau: Forces of the tree joints, tau = M a + bias (tau_O), in which loops play no part.
        tau_ind: W^T tau, what the loops leave of them, by independent freedoms.
        tau_act: Forces of the actuated freedoms, of least weighted norm where they are more than degrees of freedom.
            None unless they belong to joints of the tree and can drive every motion.
        a: The accelerations (n_v,).
        W: Directions of q (n_v, n_f).
        independent: Names of the freedoms that are columns.
        is_nearly_singular: Whether which rows of the loops are independent was a close decision: derivatives may then
            be huge, and mean nothing but that.
    """

    tau: ByMotion
    tau_ind: ByMotion
    tau_act: ByMotion | None
    a: Array
    W: Array
    independent: tuple[str, ...]
    is_nearly_singular: bool
    name: str

    @property
    def by_q(self) -> Derivative:
        """Derivative of tau by q."""
        return self.tau.by_q

    @property
    def by_v(self) -> Derivative:
        """Derivative of tau by v."""
        return self.tau.by_v

    @property
    def by_a(self) -> Derivative:
        """Derivative of tau by a."""
        return self.tau.by_a

    def report(self) -> Report:
        """Sizes, and the largest entries."""
        note = ": nearly singular" if self.is_nearly_singular else ""
        title = f"derivatives of inverse dynamics of {self.name!r}{note}, by {names(self.independent)}"
        return title, (sizes({"tau by q": self.by_q, "tau by v": self.by_v, "tau by a": self.by_a}),)


def inverse_dynamics_derivatives(
    m: Mechanism,
    s: State,
    a: Any = None,
    forces: Iterable[Force] = (),
    *,
    weights: Mapping[str, float] | None = None,
    limits: str = "off",
    prefer: Iterable[str] = (),
) -> InverseDynamicsDerivatives:
    """Derivatives of the forces that give accelerations, by positions, velocities and accelerations.

    Exact, by recursion [Singh 2022]. Springs, dampers, armature and friction of all joints, of those that close loops
    too, and external forces take part; dry friction keeps its direction. Directions are those of `State.integrate`. A
    force in world axes does not turn with its link, one in local axes does.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        a: Accelerations (n_v,) that keep the loops closed, or {joint: value}; None for none.
        forces: External forces on links.
        weights: Cost of an actuated joint's torque squared, 1 if not named, as of `inverse_dynamics`.
        limits: "off"; or "hard": what rests at a stop, or in dry friction, and is not accelerated, is locked, and
            motions keep it so.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open, or the accelerations would open them.
        PreferenceError: The preferred freedoms depend on each other.
        SingularMassError: A link that can move has no mass.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    given = constant_forces(forces)
    found = inverse_dynamics(m, s, a, given, actuators=False)
    equations = Equations(m, s, limits=checked_stops(limits))
    if limits == "hard":
        equations.restraining.set(modes_in_motion(s, found.a, equations.restraining))
    chain = _Chain(layout, equations, s, found.a, found.tau, prefer)
    tree = np.empty((3, layout.n_v, layout.n_v))
    _derivatives(table, s.q, s.v, found.a, loads_of(layout, given), tree, *memory_of(layout)[:3])
    by = chain.closed(tree)
    W, columns = chain.directions.W, freedom_places(layout, chain.directions.independent)
    return InverseDynamicsDerivatives(
        _named(found.tau, by, freedom_places(layout, range(layout.n_v)), columns),
        _named(W.T @ found.tau, chain.reduced(by, found.tau), columns, columns),
        _actuated(layout, chain, by, columns, actuators_of(layout, weights)),
        found.a,
        W,
        tuple(layout.freedom_name(int(k)) for k in chain.directions.independent),
        equations.is_nearly_singular or is_nearly_singular(m, s),
        layout.mechanism_name,
    )


class _Chain:
    """A closed chain in a state, with accelerations and forces of its tree."""

    def __init__(
        self, layout: Layout, equations: Equations, s: State, a: Array, tau: Array, prefer: Iterable[str]
    ) -> None:
        self._of, self._s, self._a, self.tau = equations, s, a, tau
        self.directions: Directions = free_directions(layout, equations, s.q, s.v, prefer)
        self._n_rows = layout.n_rows + equations.restraining.n_closed
        self._equations = self._layers(s.v, a, np.zeros(self._n_rows))

    def _layers(self, v: Array, a: Array, x: Array) -> Array:
        """Derivatives of the equations of rows, and of locked freedoms, whose are constant."""
        layers = self._of.rows(self._s.q, v, a, x).layers
        locked = np.zeros((4, len(self.directions.kept) - self._n_rows, len(a)))
        return np.concatenate([layers, locked], axis=1)

    def closed(self, tree: Array) -> Array:
        """Derivatives (3, n_v, n_f) of tau along closed motions, from those of the tree (3, n_v, n_v)."""
        W, turning = self.directions.W, self.directions.turning
        by_speed = -(self._equations[K_RATES] + self._equations[SPEEDS_BY_Q])
        pushed = self.directions.following(-self._equations[ACCELERATIONS_BY_Q] @ W + by_speed @ turning)
        by_q = tree[0] @ W + tree[1] @ turning + tree[2] @ pushed
        by_v = tree[1] @ W + tree[2] @ self.directions.following(by_speed @ W)
        return np.array([by_q, by_v, tree[2] @ W])

    def turned(self, y: Array) -> Array:
        """Change of W y along closed motions (n_v, n_f), y being constant."""
        W = self.directions.W
        layers = self._layers(W @ y, 0.0 * self._a, np.zeros(self._n_rows))
        return self.directions.following(-layers[SPEEDS_BY_Q] @ W)

    def reduced(self, by: Array, forces: Array) -> Array:
        """Derivatives (3, n_f, n_f) of W^T forces, from those of the forces.

        dW^T forces is what multipliers that give these forces to the dependent freedoms take: K dW = -dK W.
        """
        W = self.directions.W
        made: Array = np.einsum("kf,ikg->ifg", W, by)
        x = self.directions.multipliers(forces)[: self._n_rows]
        made[0] -= W.T @ self._of.rows(self._s.q, self._s.v, self._a, x).forces @ W
        return made


def _actuated(layout: Layout, chain: _Chain, by: Array, columns: Places, actuators: Actuators) -> ByMotion | None:
    """Forces of the actuators in joints of the tree, S^T tau_act = W^T tau, of least weighted norm.

    tau_act = C S y with C the reciprocal costs, and S^T C S y = W^T tau; both are differentiated.
    """
    actuated, W = actuators.columns, chain.directions.W
    if len(actuated) < W.shape[1] or (actuated >= layout.n_v).any():
        return None
    S, C = W[actuated], 1.0 / actuators.root_cost[:, None] ** 2
    sigma = np.linalg.svd(S, compute_uv=False)
    if sigma.min(initial=np.inf) <= _REGULAR * sigma.max(initial=0.0):
        return None
    A = S.T @ (C * S)
    y = np.asarray(np.linalg.solve(A, W.T @ chain.tau), dtype=np.float64)
    tau_act = C[:, 0] * (S @ y)
    left = chain.tau.copy()
    left[actuated] -= tau_act  # what the loops carry
    turned, right = C * chain.turned(y)[actuated], chain.reduced(by, left)
    right[0] -= S.T @ turned
    made = np.array([C * (S @ np.linalg.solve(A, one)) for one in right])
    made[0] += turned
    return _named(tau_act, made, freedom_places(layout, actuated), columns)


def _named(value: Array, by: Array, rows: Places, columns: Places) -> ByMotion:
    by_q, by_v, by_a = (Derivative(np.asarray(one), rows, columns) for one in by)
    return ByMotion(np.asarray(value), by_q, by_v, by_a)
