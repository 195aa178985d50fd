"""Forces at the loops, and conditions for computing them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from varichain.dynamics.arguments import Table, joint_vector
from varichain.dynamics.loops import closure_errors, constraint_matrix, freedom_rows, loop_frames, relative_jacobian
from varichain.dynamics.rank import counting, kept_rows, least_norm
from varichain.errors import AssemblyError, UnknownNameError
from varichain.kernels.closure import row_velocities
from varichain.kernels.loop_wrenches import loop_wrenches
from varichain.layout.layout import Layout, LoopSlot
from varichain.layout.state import State
from varichain.layout.workspace import Workspace
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar
from varichain.spatial.report import Listing, Report, Reported, numbers

_CLOSED = 1e-6  # [m or rad, m/s or rad/s]: what a step of integration leaves open is far below


class LoopForces(Reported, Mapping[str, Array]):
    """Wrenches [moment; force] (6,) [N m, N] at the loops, by the name of the joint that closes each.

    What the link that the virtual link hangs on exerts on the real link, at the origin of the joint frame, world axes;
    springs, dampers and friction of the joint included.

    Attributes:
        array: All of them (n_loops, 6), in the order of the virtual links' ids.
        is_unique: Whether the motion determines them. Where rows are redundant it does not: these are of least norm.
    """

    def __init__(self, layout: Layout | None, array: Array, multipliers: Array, is_unique: bool) -> None:
        """Take the results; names come from the layout."""
        self._connections, self._ties = (layout.connections, layout.ties) if layout is not None else ((), ())
        self.array = array
        self._rows = multipliers  # those of limits and friction follow
        self.is_unique = is_unique

    @cached_property
    def multipliers(self) -> Array:
        """One per row (n_rows,)."""
        n_rows = sum([len(connection.joint.rows or ()) for connection in self._connections]) + len(self._ties)
        return self._rows[:n_rows]

    @cached_property
    def _wrenches(self) -> dict[str, Array]:
        """By name, when it is first asked for: a structure change does not."""
        return {str(connection.joint.name): row for connection, row in zip(self._connections, self.array, strict=True)}

    @cached_property
    def couplings(self) -> dict[str, float]:
        """Force or torque of every coupling on the joint that follows, by the coupling's name [N m or N].

        The joint that leads feels -multiplier times as much.
        """
        rows = self.multipliers[len(self.multipliers) - len(self._ties) :].tolist()
        return {tie.name: x for tie, x in zip(self._ties, rows, strict=True)}

    def __getitem__(self, joint: str) -> Array:
        """Wrench of one loop."""
        try:
            return self._wrenches[joint]
        except KeyError:
            raise UnknownNameError("loop", joint, self._wrenches) from None

    def __iter__(self) -> Iterator[str]:
        """Iterate over the joints' names."""
        return iter(self._wrenches)

    def __len__(self) -> int:
        """Number of loops."""
        return len(self._connections)

    def listing(self, units: tuple[str, str] = ("[N]", "[N m]")) -> Listing:
        """Force and moment of every loop."""
        rows = []
        for name, wrench in self._wrenches.items():
            rows.append((name, numbers(wrench[3:]), numbers(wrench[:3], float(np.abs(wrench[3:]).max()))))
        return Listing(("loop", f"force {units[0]}", f"moment {units[1]}"), rows)

    def report(self) -> Report:
        """Wrenches loop by loop, then forces of couplings."""
        rows = [(name, numbers(x)) for name, x in self.couplings.items()]
        couplings = Listing(("coupling", "force [N m or N]"), rows)
        return "loop forces" + ("" if self.is_unique else " (not unique: of least norm)"), (self.listing(), couplings)


NO_LOOPS = LoopForces(None, np.zeros((0, 6)), np.zeros(0), True)


def loop_forces_from_rows(layout: Layout, workspace: Workspace, q: Array) -> LoopForces:
    """Loop forces from the multipliers that a kernel has just left in the rows of a workspace."""
    if layout.is_tree:
        return NO_LOOPS
    multipliers, is_unique = workspace.array("multipliers").copy(), bool(workspace.array("rows")["kept"].all())
    if not is_unique:  # of all that do the same, K^T x, those of least norm
        K = constraint_matrix(layout, workspace.table, q)
        rank = int(kept_rows(layout, layout.workspaces.of_thread.table, q).sum())
        multipliers = least_norm(K.T, K.T @ multipliers[: len(K)], rank)
    return loop_forces(layout, workspace.table, multipliers, is_unique)


def loop_forces(layout: Layout, table: Table, multipliers: Array, is_unique: bool) -> LoopForces:
    """Wrenches of all loops from the rows' multipliers; the rows of the workspace must be placed."""
    wrenches = np.empty((len(layout.connections), 6))
    loop_wrenches(table, multipliers, wrenches)
    return LoopForces(layout, wrenches, multipliers, is_unique)


def require_closed(layout: Layout, table: Table, s: State) -> None:
    """Raise AssemblyError if loops are open, in position or velocity, by more than integration leaves."""
    # a velocity error counts relative to the velocities there are
    fastest = 1.0 + float(np.abs(s.v).max(initial=0.0))
    for what, values, unit, size in (
        ("open", closure_errors(layout, table, s.q), "m or rad", 1.0),
        ("opening", _opening(layout, table, s), "m/s or rad/s", fastest),
    ):
        if not np.abs(values).max(initial=0.0) <= _CLOSED * size:
            values = counting(layout, values, kept_rows(layout, table, s.q), size)
        if not np.abs(values).max(initial=0.0) <= _CLOSED * size:
            residuals = {one.name: float(np.abs(values[one.rows]).max(initial=0.0)) for one in layout.constraints}
            worst = max(residuals, key=lambda name: residuals[name])
            raise AssemblyError(
                f"loops are {what} in this state, the worst, {worst!r}, by {residuals[worst]:.3g} {unit}: call "
                "assemble(m, s) or project(m, s) first",
                residuals,
            )


def tree_torque(layout: Layout, table: Table, s: State, tau: Any) -> Array:
    """Generalized forces of the tree joints (n_v,), those of virtual joints translated into them.

    A torque in a virtual joint is a pair of opposite wrenches along the joint's freedoms.
    """
    if tau is None or not layout.connections:
        return joint_vector(layout, tau, "tau")
    if isinstance(tau, Mapping):
        virtual = {loop.name: loop for loop in layout.loops}
        vector = joint_vector(layout, {name: value for name, value in tau.items() if name not in virtual}, "tau")
        for name in (name for name in tau if name in virtual):
            loop = virtual[name]
            vector = vector + virtual_map(layout, table, s, loop).T @ _virtual_torque(loop, tau[name])
        return vector
    if np.shape(tau) == (layout.n_all,) and layout.n_all != layout.n_v:
        whole = finite_array(tau, (layout.n_all,), "tau")
        vector = whole[: layout.n_v].copy()
        for loop in layout.loops:
            vector += virtual_map(layout, table, s, loop).T @ whole[loop.slot.v]
        return vector
    return joint_vector(layout, tau, "tau")


def virtual_map(layout: Layout, table: Table, s: State, loop: LoopSlot) -> Array:
    """Velocities of a virtual joint from those of the tree, v_virtual = map v (its n_v, n_v)."""
    i = layout.loops.index(loop)
    X_WA, _ = loop_frames(layout, table, s)[i]
    return freedom_rows(layout, table, s, i) @ relative_jacobian(layout, table, s, loop, X_WA)


def _virtual_torque(loop: LoopSlot, value: Any) -> Array:
    what = f"tau of {loop.joint.kind} joint {loop.name!r}"
    if loop.joint.n_v == 1 and np.ndim(value) == 0:
        return np.array([finite_scalar(value, what)])
    return finite_array(value, (loop.joint.n_v,), what)


def _opening(layout: Layout, table: Table, s: State) -> Array:
    rates = np.empty(layout.n_rows)
    row_velocities(table, s.q, s.v, rates)
    return rates
