"""Forces and moments that tree joints carry: what a bearing, a bone or a grip has to bear."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Protocol, cast

import numpy as np

from varichain.dynamics.arguments import Table, link_row, opened_with_mass
from varichain.dynamics.forces import Force, checked_forces
from varichain.dynamics.kinematics import poses
from varichain.dynamics.loops import loop_frames
from varichain.errors import InputError
from varichain.kernels.links import link_accelerations, link_velocities
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import shown
from varichain.spatial.rotation import skew


class Loaded(Protocol):
    """Accelerations of all joints and forces of all loops: what dynamics functions return."""

    @property
    def a(self) -> Array:
        """Accelerations (n_v,)."""

    @property
    def loop_forces(self) -> Mapping[str, Array]:
        """Wrench of every loop by name."""


def joint_forces(m: Mechanism, s: State, result: Loaded, forces: Iterable[Force] = ()) -> dict[str, Array]:
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
    R, p = poses(layout, table, s)
    needed = _inertial_wrenches(m, layout, table, s, checked_result(layout, result).a, R)
    _subtract_forces(layout, needed, checked_forces(forces), R)
    _subtract_loops(layout, table, s, needed, result, p)
    carried: dict[str, Array] = {}
    for link in reversed(m.links):
        assert link.joint is not None and link.parent is not None
        row, parent = layout.link_index[link.name], layout.link_index[link.parent.name]
        carried[str(link.joint.name)] = needed[row]
        needed[parent] += _moved(needed[row], p[row] - p[parent])
    return {slot.name: carried[slot.name] for slot in layout.slots}


def checked_result(layout: Layout, result: Any) -> Loaded:
    """`result` if it has accelerations of this structure, and loop forces."""
    a = getattr(result, "a", None)
    if not isinstance(a, np.ndarray) or a.shape != (layout.n_v,) or not isinstance(result.loop_forces, Mapping):
        raise InputError(f"result must be that of forward_dynamics or inverse_dynamics there, not {shown(result)}")
    return cast(Loaded, result)


def _inertial_wrenches(m: Mechanism, layout: Layout, table: Table, s: State, a: Array, R: Array) -> Array:
    """What each link's own motion and weight ask for, at its origin (n_links, 6) [Newton-Euler]."""
    V, A = np.empty((len(R), 6)), np.empty((len(R), 6))
    link_velocities(table, s.q, s.v, V)
    link_accelerations(table, s.q, s.v, np.ascontiguousarray(a), A)
    wrenches = np.zeros((len(R), 6))
    for link in m.links:
        row = layout.link_index[link.name]
        R_WL, omega, alpha = R[row].reshape(3, 3), V[row, :3], A[row, :3]
        arm = R_WL @ link.inertia.com
        a_c = A[row, 3:] + skew(alpha) @ arm + skew(omega) @ (skew(omega) @ arm)
        I = R_WL @ link.inertia.about_com @ R_WL.T
        force = link.inertia.mass * (a_c - m.gravity)
        wrenches[row] = np.concatenate([I @ alpha + skew(omega) @ (I @ omega) + skew(arm) @ force, force])
    return wrenches


def _subtract_forces(layout: Layout, needed: Array, forces: Iterable[Force], R: Array) -> None:
    for given in forces:
        row = link_row(layout, given.link)
        R_WL = R[row].reshape(3, 3)
        turn = R_WL if given.axes == "local" else np.eye(3)
        force = turn @ np.asarray(given.force)
        needed[row, :3] -= turn @ np.asarray(given.moment) + skew(R_WL @ np.asarray(given.at)) @ force
        needed[row, 3:] -= force


def _subtract_loops(layout: Layout, table: Table, s: State, needed: Array, result: Loaded, p: Array) -> None:
    """Loop forces act on the real link, their opposites on the other."""
    for loop, (X_WA, _) in zip(layout.loops, loop_frames(layout, table, s), strict=True):
        wrench = result.loop_forces[loop.name]
        row_A, row_B = layout.link_index[loop.link_A], layout.link_index[loop.link_B]
        needed[row_A] -= _moved(wrench, X_WA.p - p[row_A])
        needed[row_B] += _moved(wrench, X_WA.p - p[row_B])


def _moved(wrench: Array, arm: Array) -> Array:
    """The same wrench about a point from which it acts at `arm`."""
    return np.concatenate([wrench[:3] + skew(arm) @ wrench[3:], wrench[3:]])
