"""Actuation: how the actuators of a closed chain share a load, S^T tau_act = tau_ind [NY, (8)]."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from varichain.dynamics.mobility import Mobility
from varichain.dynamics.torque_limits import within_limits
from varichain.errors import ActuationError, InputError, UnknownNameError
from varichain.layout.layout import Layout
from varichain.layout.tree import JointSlot
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_numbers, mapping, positive_scalar
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
        null_space: Torques (N_A, n) that move nothing and only strain the mechanism: any combination may be added.
    """

    tau_act: Array
    names: tuple[str, ...]
    tree: Array
    virtual: dict[str, Array]
    null_space: Array

    def report(self) -> Report:
        """Torques of the actuated freedoms."""
        strain = self.null_space.shape[1]
        more = f", {strain} ways to strain without motion" if strain else ""
        largest = float(np.abs(self.tau_act).max(initial=0.0))
        rows = [(name, numbers(tau, largest)) for name, tau in zip(self.names, self.tau_act, strict=True)]
        return f"actuation: {len(self.names)} freedoms{more}", (Listing(("freedom", "tau [N m or N]"), rows),)


def distribute(
    layout: Layout,
    coordinates: Mobility,
    load: Array,
    weights: Mapping[str, float] | None,
    limits: Mapping[str, tuple[float, float]] | None,
    carriers: Sequence[JointSlot] = (),
) -> tuple[Actuation, dict[str, Array]]:
    """Share the generalized load tau_ind (N_F,) among the actuators, and joints that may carry the rest of it."""
    S, names = coordinates.S, coordinates.actuated
    cost = np.ones(len(names))
    for name, weight in mapping(weights, "weights").items():
        cost[_freedoms(layout, names, name)] = positive_scalar(weight, f"weight of joint {name!r}")
    carried = [k for slot in carriers for k in range(slot.v.start, slot.v.stop)]
    R = coordinates.W[carried]
    rest = _beyond_actuators(S, R, load)
    tau = _least_norm(S, cost, load - R.T @ rest)
    missing = load - S.T @ tau - R.T @ rest
    size = float(np.abs(load).max(initial=0.0))
    if np.abs(missing).max(initial=0.0) > _DRIVEN * max(1.0, size):
        raise _undrivable(coordinates, missing)
    if limits and mapping(limits, "limits"):
        bounds = _bounds(layout, names, limits)
        if (tau < bounds[0]).any() or (tau > bounds[1]).any():
            tau, rest = within_limits(S, R, load, cost, bounds, names)
    places = dict(zip(carried, rest.tolist(), strict=True))
    residuals = {slot.name: np.array([places[k] for k in range(slot.v.start, slot.v.stop)]) for slot in carriers}
    return _as_actuation(layout, coordinates, tau), residuals


def _least_norm(S: Array, cost: Array, load: Array) -> Array:
    """Torques of least sum cost tau^2 with S^T tau = load, as far as they can."""
    if not S.size:
        return np.zeros(len(S))
    root = np.sqrt(cost)
    return np.asarray(np.linalg.lstsq((S / root[:, None]).T, load, rcond=_RANK)[0] / root, float)


def _beyond_actuators(S: Array, R: Array, load: Array) -> Array:
    """Residual of least norm with which R^T residual leaves a load that the actuators can drive, as far as it can."""
    if not R.size:
        return np.zeros(len(R))
    U, sigma, _ = np.linalg.svd(S.T) if S.size else (np.eye(len(load)), np.zeros(0), None)
    beyond = U[:, int(np.count_nonzero(sigma > _RANK * sigma.max(initial=1e-300))) :].T
    return np.asarray(np.linalg.lstsq(beyond @ R.T, beyond @ load, rcond=_RANK)[0], float)


def _as_actuation(layout: Layout, coordinates: Mobility, tau: Array) -> Actuation:
    tree = np.zeros(layout.n_v)
    virtual: dict[str, Array] = {}
    start = 0
    for slot in layout.all_slots:
        if slot.actuated:
            part = tau[start : start + len(slot.coordinates)]
            start += len(slot.coordinates)
            if slot.v.start < layout.n_v:
                tree[slot.v] = part
            else:
                virtual[slot.name] = part
    return Actuation(tau, coordinates.actuated, tree, virtual, _null_space(coordinates.S))


def _null_space(S: Array) -> Array:
    """Orthonormal torques with S^T tau = 0 (N_A, n)."""
    if S.shape[1] == 0:
        return np.eye(S.shape[0])
    U, sigma, _ = np.linalg.svd(S)
    rank = int(np.count_nonzero(sigma > _RANK * sigma.max(initial=1e-300)))
    return U[:, rank:]


def _undrivable(coordinates: Mobility, missing: Array) -> ActuationError:
    """What force is missing, and where."""
    lacking = [
        name
        for name, force in zip(coordinates.independent, missing, strict=True)
        if abs(force) > 1e-3 * np.abs(missing).max()
    ]
    residual = float(np.abs(missing).max())
    return ActuationError(
        f"the {coordinates.n_actuated} actuators ({coordinates.actuation}) cannot drive this motion: a generalized "
        f"force of {residual:.3g} is missing along {', '.join(map(repr, lacking))}; actuate a joint there, or give an "
        "acceleration that the mechanism has by itself",
        residual,
        lacking,
    )


def _freedoms(layout: Layout, names: tuple[str, ...], joint: str) -> list[int]:
    """Places of a joint's freedoms among the actuated ones."""
    places = [i for i, name in enumerate(names) if name == joint or name.rsplit(".", 1)[0] == joint]
    if not places:
        raise UnknownNameError("actuated joint", joint, [slot.name for slot in layout.all_slots if slot.actuated])
    return places


def _bounds(layout: Layout, names: tuple[str, ...], limits: Mapping[str, tuple[float, float]]) -> tuple[Array, Array]:
    lower, upper = np.full(len(names), -np.inf), np.full(len(names), np.inf)
    for joint, given in limits.items():
        low, high = finite_numbers(given, 2, f"torque limits of joint {joint!r}")
        if low > high:
            raise InputError(f"torque limits of joint {joint!r} must be lower <= upper, not {low:g} and {high:g}")
        places = _freedoms(layout, names, joint)
        lower[places], upper[places] = low, high
    return lower, upper
