"""Derivatives of what joints carry: a joint's wrench is the force of a free joint that holds it in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varichain.derivatives.closure import is_nearly_singular
from varichain.derivatives.equations import Equations
from varichain.derivatives.forward import ByTorque
from varichain.derivatives.modes import modes_of
from varichain.derivatives.named import Derivative, freedom_places
from varichain.derivatives.restrained import checked_stops, free_directions
from varichain.dynamics.arguments import joint_vector, opened, require_mass
from varichain.dynamics.forces import Force, constant_forces
from varichain.dynamics.loop_forces import require_closed
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import listed

_LABELS = ("mx", "my", "mz", "fx", "fy", "fz")


def joint_force_derivatives(
    m: Mechanism,
    s: State,
    tau: Any = None,
    forces: Iterable[Force] = (),
    *,
    joints: Iterable[str] | None = None,
    limits: str = "off",
    prefer: Iterable[str] = (),
) -> ByTorque:
    """Wrenches that joints of the tree carry under torques, and their derivatives by positions, velocities and torques.

    A wrench [moment; force] (6,) is what the parent exerts on the link, at the origin and in the axes of the joint's
    frame on the parent: what a bearing there feels. Rows are named by joints, or "knee.mx" to "knee.fz". Directions,
    and what takes part, are as in `forward_dynamics_derivatives`; of redundant loops the forces are those of one
    choice.

    Args:
        m: Mechanism.
        s: State, its loops closed.
        tau: Torques of the tree joints (n_v,), or {joint: value}; None for none.
        forces: External forces on links.
        joints: Names of joints of the tree, fixed ones included; all by default.
        limits: "off", or "hard" for stops and dry friction by their present mode, as of `forward_dynamics_derivatives`.
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        UnknownNameError: No such joint.
    """
    layout, table = opened(m, s)
    require_mass(layout)
    given, torque = constant_forces(forces), joint_vector(layout, tau, "tau")
    wanted = [slot.name for slot in layout.slots] if joints is None else list(listed(joints, str, "joints"))
    for name in wanted:
        layout.slot(name)
    if not wanted:
        raise InputError("joints must name at least one joint of the tree")
    if not layout.is_tree:
        require_closed(layout, table, s)
    ends, modes = [(name, False) for name in wanted], modes_of(m, s, torque, given, checked_stops(limits))
    equations = Equations(m, s, forces=given, limits=limits, ends=ends)
    equations.restraining.set(modes)
    there, n = equations.places.state, layout.n_v
    directions = free_directions(layout, equations, there.q, there.v, prefer)
    W, turning, loads = _put(directions.W, equations), _put(directions.turning, equations), _put(np.eye(n), equations)
    found, none, still = equations.solve(there.q, there.v, _put(torque[:, None], equations)[:, 0]), 0.0 * W, 0.0 * loads
    carried = equations.places.columns(ends)
    by_q, by_v, by_tau = (
        found.change(*changes)[2][carried]
        for changes in ((W, turning, none, none), (none, W, none, none), (still, still, loads, still))
    )
    rows = {name: list(range(6 * i, 6 * i + 6)) for i, name in enumerate(wanted)}
    rows |= {f"{name}.{label}": [6 * i + k] for i, name in enumerate(wanted) for k, label in enumerate(_LABELS)}
    columns, every = freedom_places(layout, directions.independent), freedom_places(layout, range(n))
    return ByTorque(
        found.reactions[carried],
        Derivative(by_q, rows, columns),
        Derivative(by_v, rows, columns),
        Derivative(by_tau, rows, every),
        equations.is_nearly_singular or is_nearly_singular(m, s),
    )


def _put(x: Array, equations: Equations) -> Array:
    """Numbers of the mechanism's own freedoms (n_v, k) among those of its places."""
    whole = np.zeros((equations.n, x.shape[1]))
    whole[equations.own] = x
    return whole
