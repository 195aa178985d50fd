"""Dynamics in an animation space: inertia, velocity products and forces of functions [PFB, (34)-(40)]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.animation.inverse import InverseMotion, Resolution, _answer, wanted_rows, weights_of
from varichain.animation.reduced import Following, Reduced, closed_copy, follow, reduce
from varichain.animation.resolution import RANK
from varichain.animation.space import AnimationSpace
from varichain.dynamics.arguments import opened_with_mass
from varichain.dynamics.forces import ExternalForce
from varichain.dynamics.inertia import bias_force, mass_matrix
from varichain.dynamics.preferences import actuated_columns
from varichain.errors import ActuationError, InputError
from varichain.kernels.function_records import GRADIENTS, HESSIANS
from varichain.layout.state import State
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, flag, instance, non_negative_scalar
from varichain.spatial.report import Listing, Report, Reported, numbers

_BLOCKED = 1e-9  # parts of rows that loops leave: less is rounding


@dataclass(frozen=True, eq=False, repr=False)
class SpaceDynamics(Reported):
    """Dynamics of a space in a state: tau_u = I_uu uddot + bias [PFB, (35)].

    Attributes:
        names: Of the dimensions.
        inertia: I_uu (m, m) = G_u^T A G_u [PFB, (34)]: kinetic energy is udot^T I_uu udot / 2 if u has all freedoms.
        bias: (m,) of the state's velocities: velocity products, gravity, springs, dampers and external forces.
        motion: v = motion udot (n_v, m): W G_u, of least kinetic energy if u has fewer dimensions than there are
            freedoms.
        curvature: H_uu (n_v, m, m), a = motion uddot + udot^T H_uu udot [PFB, (37)]; None if it was not asked for.
        products: P_uuu (m, m, m), tau_u = I_uu uddot + udot^T P_uuu udot + loads [PFB, (38)], symmetric in its last two
            indices: the Christoffel symbols of I_uu; None if it was not asked for.
    """

    names: tuple[str, ...]
    inertia: Array
    bias: Array
    motion: Array
    curvature: Array | None
    products: Array | None

    def force(self, acceleration: Any) -> Array:
        """tau_u (m,) that gives functions their accelerations (m,): of a position that stays, the reaction there."""
        uddot = finite_array(acceleration, (len(self.names),), "acceleration")
        result: Array = self.inertia @ uddot + self.bias
        return result

    def acceleration(self, force: Any) -> Array:
        """uddot (m,) under forces tau_u (m,)."""
        tau = finite_array(force, (len(self.names),), "force")
        return np.asarray(np.linalg.solve(self.inertia, tau - self.bias), dtype=np.float64)

    def report(self) -> Report:
        """Inertia and bias, dimension by dimension."""
        rows = [
            (name, numbers(row), f"{b:.4g}") for name, row, b in zip(self.names, self.inertia, self.bias, strict=True)
        ]
        return "dynamics in an animation space", (Listing(("dimension", "I_uu", "bias"), rows),)


def space_dynamics(
    space: AnimationSpace, s: State, forces: Iterable[ExternalForce] = (), products: bool = False
) -> SpaceDynamics:
    """Dynamics in u, from those of the joints and the loops: u has all freedoms, or fewer.

    With as many dimensions as freedoms, G_u = G^-1 [PFB, (36)] and tau_u = G_u^T tau. With fewer, I_uu =
    (G A^-1 G^T)^-1, and tau_u is what moves u while nothing else is driven.

    Args:
        space: Functions and rates whose gradients are independent in this state.
        s: State, its loops closed.
        forces: External forces on links.
        products: Whether to compute H_uu and P_uuu, which needs as many dimensions as freedoms.

    Raises:
        InputError: The gradients depend on each other, with the combination that is blocked.
    """
    instance(space, AnimationSpace, "space")
    layout, table = opened_with_mass(space.mechanism, s)
    wants_products = flag(products, "products")
    if wants_products:
        space._require_positions()
    closed = closed_copy(layout, table, s)
    following = follow(space._closures_of(layout), layout, table, closed, has_change=wants_products)
    found = space._at(closed, HESSIANS if wants_products else GRADIENTS)
    reduced = reduce(space, layout, found, following, wants_products)
    _require_independent(reduced, wants_products)
    W = reduced.W
    inertia, G_u, bias = _in_u(space, closed, following, reduced.gradient, reduced.bias, forces)
    curvature = products_in_u = None
    if wants_products:
        assert reduced.hessian is not None and following.dW is not None
        H = np.einsum("jb,ijl,la->iba", G_u, reduced.hessian, G_u, optimize=True)
        own = -np.einsum("ki,iba->kba", G_u, H)
        P = np.einsum("jb,kjl,la->kba", G_u, _joint_products(space, closed, following), G_u, optimize=True)
        products_in_u = _symmetric(np.einsum("ki,kba->iba", G_u, P) - np.einsum("ip,pba->iba", inertia, H))
        bent = np.einsum("jb,kjl,la->kba", G_u, following.dW, G_u, optimize=True)
        curvature = _symmetric(np.einsum("kj,jba->kba", W, own) + bent)
    return SpaceDynamics(space.names, inertia, bias, np.asarray(W @ G_u), curvature, products_in_u)


def least_torque(
    space: AnimationSpace,
    s: State,
    acceleration: Mapping[str, Any] | Array,
    weights: Any = None,
    damping: float = 0.0,
    forces: Iterable[ExternalForce] = (),
) -> tuple[InverseMotion, Array]:
    """Accelerations with which functions have wanted ones, by torques (n_v,) of actuated joints of least weighted norm.

    Solved for torques through B = G M^-1, not for accelerations. Torques that are least at each instant let joint
    rates grow over a long motion; `damping` [N m s/rad] makes them least beside -damping v, which brakes these rates.

    Raises:
        ActuationError: The actuators cannot give these accelerations.
    """
    instance(space, AnimationSpace, "space")
    layout, table = opened_with_mass(space.mechanism, s)
    rows = wanted_rows(space, acceleration, Resolution(), "acceleration")
    if not rows:
        raise InputError("acceleration must name at least one function")
    where, right, _ = rows[0]
    closed = closed_copy(layout, table, s)
    following = follow(space._closures_of(layout), layout, table, closed)
    found = space.at(closed)
    W, M = following.W, mass_matrix(space.mechanism, closed)
    A, G = W.T @ M @ W, found.gradient[where] @ W
    load = W.T @ (bias_force(space.mechanism, closed, forces) + M @ following.w)
    driven = [int(k) for k in actuated_columns(layout) if k < layout.n_v]
    B = np.linalg.solve(A, G.T).T @ W[driven].T
    start = -non_negative_scalar(damping, "damping") * closed.v[driven]
    free = G @ np.linalg.solve(A, load)
    wanted = right - found.bias[where] - found.gradient[where] @ following.w + free - B @ start
    root = 1.0 / np.sqrt(weights_of(layout, weights)[driven])
    step = np.linalg.lstsq(B * root, wanted, rcond=RANK)[0]
    tau = np.zeros(layout.n_v)
    tau[driven] = start + root * step
    ydot = np.linalg.solve(A, W.T @ tau - load)
    a = np.asarray(W @ ydot + following.w, dtype=np.float64)
    answer = _answer(space, a, found.gradient @ a + found.bias, acceleration)
    if answer.residual > 1e-6 * (1.0 + float(np.abs(right).max())):
        lacking = [name for name, x in answer.missing.items() if np.abs(x).max() > 0.5 * answer.residual]
        raise ActuationError(
            f"the actuators cannot give {', '.join(map(repr, lacking))} the wanted acceleration: {answer.residual:.3g} "
            "is missing",
            answer.residual,
            lacking,
        )
    return answer, tau


def function_torques(space: AnimationSpace, s: State, acceleration: Mapping[str, Any]) -> Array:
    """Torques tau = G^T tau_u (n_v,) of functions alone [PFB, (40)], with which they have wanted accelerations.

    Dimensions that loops block are no part of u: forces of the loops take the place of their tau_u.
    """
    layout, table = opened_with_mass(space.mechanism, s)
    where, right, _ = wanted_rows(space, acceleration, Resolution(), "acceleration")[0]
    closed = closed_copy(layout, table, s)
    following = follow(space._closures_of(layout), layout, table, closed)
    found = space.at(closed)
    G = found.gradient[where]
    length = np.linalg.norm(G @ following.W, axis=1)
    is_moving = length > _BLOCKED * np.maximum(1.0, np.linalg.norm(G, axis=1))
    own = found.bias[where] + G @ following.w
    inertia, _, bias = _in_u(space, closed, following, (G @ following.W)[is_moving], own[is_moving], ())
    tau: Array = G[is_moving].T @ (inertia @ right[is_moving] + bias)
    return tau


def _in_u(
    space: AnimationSpace, s: State, following: Following, G: Array, own: Array, forces: Iterable[ExternalForce]
) -> tuple[Array, Array, Array]:
    """I_uu, G_u and the bias of dimensions with rows G over independent velocities and biases of their own."""
    W, M = following.W, mass_matrix(space.mechanism, s)
    load = W.T @ (bias_force(space.mechanism, s, forces) + M @ following.w)
    inverse = np.linalg.solve(W.T @ M @ W, G.T)
    inertia = np.linalg.inv(G @ inverse)
    inertia = 0.5 * (inertia + inertia.T)
    G_u = np.asarray(inverse @ inertia, dtype=np.float64)
    return inertia, G_u, np.asarray(G_u.T @ load - inertia @ own, dtype=np.float64)


def _require_independent(reduced: Reduced, wants_all: bool) -> None:
    m, n = reduced.gradient.shape
    if reduced.rank < m:
        raise InputError(
            f"the functions depend on each other in this state: no motion changes {dict(reduced.blocked[0])}; leave "
            "one of them out"
        )
    if wants_all and m < n:
        raise InputError(f"H_uu and P_uuu need as many dimensions as there are freedoms: {n}, not {m}")


def _joint_products(space: AnimationSpace, s: State, following: Following) -> Array:
    """P* (n_f, n_f, n_f) of the independent velocities: the part of the bias that is quadratic in them.

    Polarised: gravity and springs do not change, dampers and friction change their sign, with the velocity.
    """
    W, dW, M = following.W, following.dW, mass_matrix(space.mechanism, s)
    assert dW is not None
    probe, n = s.copy(), W.shape[1]

    def bias(v: Array) -> Array:
        probe.v[:] = v
        return bias_force(space.mechanism, probe)

    rest = bias(np.zeros(len(W)))

    def quadratic(v: Array) -> Array:
        return 0.5 * (bias(v) + bias(-v)) - rest

    own = [quadratic(W[:, a]) for a in range(n)]
    P = np.empty((n, n, n))
    for a in range(n):
        for b in range(a + 1):
            both = own[a] if a == b else 0.5 * (quadratic(W[:, a] + W[:, b]) - own[a] - own[b])
            P[:, a, b] = P[:, b, a] = W.T @ (both + 0.5 * M @ (dW[:, a, b] + dW[:, b, a]))
    return P


def _symmetric(tensor: Array) -> Array:
    return np.asarray(0.5 * (tensor + tensor.transpose(0, 2, 1)), dtype=np.float64)
