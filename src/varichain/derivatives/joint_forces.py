"""Derivatives of what joints carry: a joint's wrench is the force of a free joint that holds it in its place."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from varichain.derivatives.closure import closed_directions, closure_at
from varichain.derivatives.directions import Indices
from varichain.derivatives.forward import ByTorque, forward_dynamics_derivatives
from varichain.derivatives.loads import loads_of, memory_of
from varichain.derivatives.named import Derivative, freedom_places
from varichain.derivatives.places import Places
from varichain.dynamics.arguments import opened
from varichain.dynamics.forces import Force, applied, constant_forces
from varichain.errors import InputError
from varichain.kernels.derivative_closure import K_ROWS
from varichain.kernels.derivative_inverse import inverse_dynamics_derivatives
from varichain.kernels.inverse_dynamics import inverse_dynamics
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
        prefer: Joints or freedoms that must be independent.

    Raises:
        AssemblyError: The loops are open.
        UnknownNameError: No such joint.
    """
    layout, table = opened(m, s)
    given = constant_forces(forces)
    wanted = [slot.name for slot in layout.slots] if joints is None else list(listed(joints, str, "joints"))
    for name in wanted:
        layout.slot(name)
    if not wanted:
        raise InputError("joints must name at least one joint of the tree")
    motion = forward_dynamics_derivatives(m, s, tau, given, prefer=prefer)
    a, x, W = motion.a, motion.multipliers, motion.W
    ends = [(name, False) for name in wanted]
    places = Places(m, s, ends)
    value, by_q, by_v, by_a, by_x = _carried(places, places.columns(ends), a.value, x.value, given)
    turning = closed_directions(layout, table, s, motion.independent).turning
    nothing = np.zeros_like(W)

    def along(dq: Array, dv: Array, da: Derivative, dx: Derivative) -> Array:
        return np.asarray(by_q @ dq + by_v @ dv + by_a @ da.array - by_x @ dx.array, dtype=np.float64)

    rows = {name: list(range(6 * i, 6 * i + 6)) for i, name in enumerate(wanted)}
    rows |= {f"{name}.{label}": [6 * i + k] for i, name in enumerate(wanted) for k, label in enumerate(_LABELS)}
    columns, every = a.by_q.columns, freedom_places(layout, range(layout.n_v))
    return ByTorque(
        value,
        Derivative(along(W, turning, a.by_q, x.by_q), rows, columns),
        Derivative(along(nothing, W, a.by_v, x.by_v), rows, columns),
        Derivative(by_a @ a.by_tau.array - by_x @ x.by_tau.array, rows, every),
        motion.is_nearly_singular,
    )


def _carried(places: Places, carried: Indices, a: Array, x: Array, forces: Iterable[Force]) -> tuple[Array, ...]:
    """Wrenches of the places (n,); their derivatives by q, v and a of the mechanism; what multipliers take of them."""
    layout, own, s = places.layout, places.own, places.state
    table, n = layout.workspaces.of_thread.table, layout.n_v
    motion, tree, needed = np.zeros(n), np.empty((3, n, n)), np.empty(n)
    motion[own] = a
    with applied(layout, table, s, forces):
        inverse_dynamics(table, s.q, s.v, motion, needed)
    inverse_dynamics_derivatives(table, s.q, s.v, motion, loads_of(layout, forces), tree, *memory_of(layout)[:3])
    equations, by_loops = closure_at(layout, table, s.q, s.v, motion, x)
    K = equations[K_ROWS][:, carried].T
    by_q = tree[0][np.ix_(carried, own)] - by_loops[np.ix_(carried, own)]
    return needed[carried] - K @ x, by_q, tree[1][np.ix_(carried, own)], tree[2][np.ix_(carried, own)], K
