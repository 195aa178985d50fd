"""Actuation: how the actuators of a closed chain share a load, S^T tau_act = tau_ind [NY, (8)]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from varichain.dynamics.actuator_solve import ActuatorSolve, freedoms_of
from varichain.dynamics.arguments import Table
from varichain.dynamics.loop_limits import LoopLimits, Programme
from varichain.dynamics.mobility import actuation_kind
from varichain.dynamics.torque_limits import within_limits
from varichain.errors import ActuationError, InputError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.layout.tree import JointSlot
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_numbers, mapping
from varichain.spatial.report import Listing, Report, Reported, numbers

_DRIVEN = 1e-9  # a generalized force missing by less than this part of the load is rounding
_RANK = 1e-9


@dataclass(frozen=True, eq=False, repr=False)
class Actuation(Reported):
    """Torques of the actuators.

    Attributes:
        tau_act: One per actuated freedom (N_A,) [N m or N], in the order of `names`.
        names: Names of the actuated freedoms.
        tree: The same as generalized forces of the tree joints (n_v,), zero where there is no actuator.
        virtual: The same for actuated virtual joints, by name.
    """

    tau_act: Array
    names: tuple[str, ...]
    tree: Array
    virtual: dict[str, Array]
    _found: ActuatorSolve

    @cached_property
    def null_space(self) -> Array:
        """Torques (N_A, n) that move nothing and only strain the mechanism: any combination may be added."""
        S = self._found.S
        if S.shape[1] == 0:
            return np.eye(S.shape[0])
        U, sigma, _ = np.linalg.svd(S)
        rank = int(np.count_nonzero(sigma > _RANK * sigma.max(initial=1e-300)))
        return U[:, rank:]

    def report(self) -> Report:
        """Torques of the actuated freedoms."""
        strain = self.null_space.shape[1]
        more = f", {strain} ways to strain without motion" if strain else ""
        largest = float(np.abs(self.tau_act).max(initial=0.0))
        rows = [(name, numbers(tau, largest)) for name, tau in zip(self.names, self.tau_act, strict=True)]
        return f"actuation: {len(self.names)} freedoms{more}", (Listing(("freedom", "tau [N m or N]"), rows),)


def distribute_within(
    found: ActuatorSolve,
    table: Table,
    s: State,
    limits: Mapping[str, tuple[float, float]] | None,
    loop_limits: LoopLimits,
    carriers: Sequence[JointSlot] = (),
) -> tuple[Actuation, dict[str, Array], Array]:
    """Torques of the actuators, residuals by joint and multipliers, within limits of torques and of loop forces."""
    carried = [k for slot in carriers for k in range(slot.v.start, slot.v.stop)]
    programme = Programme(found, table, s, carried)
    programme.bound_torques(_bounds(found.layout, found.actuators.names, limits or {}))
    for name, one in loop_limits.items():
        programme.bound_loop(name, one)
    tau, rest, x = programme.solve(loop_limits)
    if not found.is_driven and not carriers:  # equations that no torques meet were left out
        missing = found.tau_ind - found.S.T @ tau
        if np.abs(missing).max(initial=0.0) > _DRIVEN * max(1.0, float(np.abs(found.tau_ind).max(initial=0.0))):
            raise _undrivable(found, missing)
    return _as_actuation(found, tau), _by_joint(carriers, carried, rest), x


def _by_joint(carriers: Sequence[JointSlot], carried: list[int], rest: Array) -> dict[str, Array]:
    places = dict(zip(carried, rest.tolist(), strict=True))
    return {slot.name: np.array([places[k] for k in range(slot.v.start, slot.v.stop)]) for slot in carriers}


def distribute(
    found: ActuatorSolve, limits: Mapping[str, tuple[float, float]] | None, carriers: Sequence[JointSlot] = ()
) -> tuple[Actuation, dict[str, Array]]:
    """Torques of the actuators, within limits, and what joints carry that may carry the rest.

    `found` has torques of least cost; where these will not do, S^T tau + R^T rest = tau_ind is solved for others.
    """
    actuators, layout = found.actuators, found.layout
    tau = found.tau[actuators.columns]
    carried = [k for slot in carriers for k in range(slot.v.start, slot.v.stop)]
    rest = np.zeros(len(carried))
    if not found.is_driven:
        S, R, load = found.S, found.W[carried], found.tau_ind
        rest = _beyond_actuators(S, R, load)
        tau = _least_norm(S, actuators.root_cost, load - R.T @ rest)
        missing = load - S.T @ tau - R.T @ rest
        if np.abs(missing).max(initial=0.0) > _DRIVEN * max(1.0, float(np.abs(load).max(initial=0.0))):
            raise _undrivable(found, missing)
    if limits and mapping(limits, "limits"):
        bounds = _bounds(layout, actuators.names, limits)
        if (tau < bounds[0]).any() or (tau > bounds[1]).any():
            load = found.tau_ind
            tau, rest = within_limits(found.S, found.W[carried], load, actuators.root_cost**2, bounds, actuators.names)
    return _as_actuation(found, tau), _by_joint(carriers, carried, rest)


def _least_norm(S: Array, root: Array, load: Array) -> Array:
    """Torques of least sum (root tau)^2 with S^T tau = load, as far as they can."""
    if not S.size:
        return np.zeros(len(S))
    return np.asarray(np.linalg.lstsq((S / root[:, None]).T, load, rcond=_RANK)[0] / root, float)


def _beyond_actuators(S: Array, R: Array, load: Array) -> Array:
    """Residual of least norm with which R^T residual leaves a load that the actuators can drive, as far as it can."""
    if not R.size:
        return np.zeros(len(R))
    U, sigma, _ = np.linalg.svd(S.T) if S.size else (np.eye(len(load)), np.zeros(0), None)
    beyond = U[:, int(np.count_nonzero(sigma > _RANK * sigma.max(initial=1e-300))) :].T
    return np.asarray(np.linalg.lstsq(beyond @ R.T, beyond @ load, rcond=_RANK)[0], float)


def _as_actuation(found: ActuatorSolve, tau: Array) -> Actuation:
    whole = np.zeros(found.layout.n_all)
    whole[found.actuators.columns] = tau
    virtual = {loop.name: whole[loop.slot.v] for loop in found.layout.loops if loop.slot.actuated}
    return Actuation(tau, found.actuators.names, whole[: found.layout.n_v], virtual, found)


def _undrivable(found: ActuatorSolve, missing: Array) -> ActuationError:
    """What force is missing, and where."""
    lacking = [
        name
        for name, force in zip(found.independent, missing, strict=True)
        if abs(force) > 1e-3 * np.abs(missing).max()
    ]
    residual, S = float(np.abs(missing).max()), found.S
    drive = int(np.linalg.matrix_rank(S, tol=_RANK)) if S.size else 0
    return ActuationError(
        f"the {len(S)} actuators ({actuation_kind(drive, *S.shape)}) cannot drive this motion: a generalized force of "
        f"{residual:.3g} is missing along {', '.join(map(repr, lacking))}; actuate a joint there, or give an "
        "acceleration that the mechanism has by itself",
        residual,
        lacking,
    )


def _bounds(layout: Layout, names: tuple[str, ...], limits: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for joint, given in limits.items():
        low, high = finite_numbers(given, 2, f"torque limits of joint {joint!r}")
        if low > high:
            raise InputError(f"torque limits of joint {joint!r} must be lower <= upper, not {low:g} and {high:g}")
        places = freedoms_of(layout, names, joint)
        lower[places], upper[places] = low, high
    return lower, upper
