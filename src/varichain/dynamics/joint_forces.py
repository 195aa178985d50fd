"""Forces and moments that tree joints carry: what a bearing, a bone or a grip has to bear."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

import numpy as np

from varichain.dynamics.arguments import Table, opened_with_mass
from varichain.dynamics.forces import ExternalForce, checked_forces, force_records
from varichain.errors import InputError
from varichain.kernels.joint_wrenches import joint_wrenches
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import shown


class Loaded(Protocol):
    """Accelerations of all joints and forces of all loops: what dynamics functions return."""

    @property
    def a(self) -> Array:
        """Accelerations (n_v,)."""

    @property
    def loop_forces(self) -> Mapping[str, Array]:
        """Wrench of every loop by name."""


def joint_forces(m: Mechanism, s: State, result: Loaded, forces: Iterable[ExternalForce] = ()) -> dict[str, Array]:
    """Wrench [moment; force] (6,) [N m, N] of every tree joint, fixed ones included, by the joint's name.

    What the parent exerts on the link, at the origin of the link's frame, world axes: constraint forces, and the
    torques of actuators, springs and dampers along the joint's freedoms.

    Args:
        m: Mechanism.
        s: The state that `result` was computed in.
        result: Result of `forward_dynamics` or `inverse_dynamics`; its accelerations and loop forces are used.
        forces: External forces on links, the same as given there.
    """
    layout, table = opened_with_mass(m, s)
    given = checked_result(layout, result)
    loops = np.array([given.loop_forces[loop.name] for loop in layout.loops]).reshape(1, -1)
    rows = (np.array([s.time]), s.q[None], s.v[None], given.a[None], loops)
    found = carried_wrenches(layout, table, rows, forces)
    return {slot.name: wrench.copy() for slot, wrench in zip(layout.slots, found[0], strict=True)}


def carried_wrenches(layout: Layout, table: Table, rows: tuple[Array, ...], forces: Any) -> Array:
    """Wrenches (n, n_joints, 6) of the joints of a tree in n states.

    `rows` has their times, coordinates, velocities, accelerations, and wrenches of loops, a row a state.
    """
    wrenches = np.empty((len(rows[0]), len(layout.link_index), 6))
    own = [np.array(x) for x in rows]  # kernels take what may be written
    joint_wrenches(table, *own, force_records(layout, checked_forces(forces)), wrenches)  # type: ignore[call-arg]
    return wrenches[:, 1:]


def checked_result(layout: Layout, result: Any) -> Loaded:
    """`result` if it has accelerations of this structure, and loop forces."""
    a = getattr(result, "a", None)
    if not isinstance(a, np.ndarray) or a.shape != (layout.n_v,) or not isinstance(result.loop_forces, Mapping):
        raise InputError(f"result must be that of forward_dynamics or inverse_dynamics there, not {shown(result)}")
    return cast(Loaded, result)
