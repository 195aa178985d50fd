"""Loops as the papers write them: virtual joints with coordinates of their own, and J_C v_all = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.dynamics.arguments import Table, opened
from varichain.dynamics.kinematics import poses
from varichain.kernels.closure import row_biases, row_errors, row_jacobian
from varichain.kernels.links import link_jacobian
from varichain.kernels.loop_motion import joint_rows
from varichain.layout.layout import Layout, LoopSlot
from varichain.layout.state import State
from varichain.mechanism.joint import Joint
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.spatial.report import Listing, Report, Reported, numbers
from varichain.spatial.rotation import quaternion_from_matrix, skew

_ROUNDING = 1e-14  # of distances in the mechanism


@dataclass(frozen=True, eq=False, repr=False)
class LoopState(Reported):
    """One loop in a state.

    Attributes:
        name: Name of the virtual joint that closes it.
        q: The virtual joint's coordinates (n_q,), whole turns left out.
        v: Its velocities (n_v,).
        gap: How far the loop is open [m or rad]: the largest error of its rows.
        X_WA: World pose of the virtual link's frame as its real link carries it.
        X_WB: World pose of the joint frame on the other link.
    """

    name: str
    q: Array
    v: Array
    gap: float
    X_WA: Pose
    X_WB: Pose

    def report(self) -> Report:
        """Coordinates, velocities and gap."""
        row = (numbers(self.q), numbers(self.v), f"{self.gap:.3g}", numbers(self.X_WB.p))
        return f"loop {self.name!r}", (Listing(("q [rad or m]", "v [rad/s or m/s]", "gap", "at [m]"), [row]),)


def loop_states(m: Mechanism, s: State) -> dict[str, LoopState]:
    """Coordinates, velocities and gap of every loop's virtual joint, by its name."""
    layout, table = opened(m, s)
    errors = closure_errors(layout, table, s.q)
    states = {}
    for i, (loop, (X_WA, X_WB)) in enumerate(zip(layout.loops, loop_frames(layout, table, s), strict=True)):
        v = freedom_rows(layout, table, s, i) @ relative_jacobian(layout, table, s, loop, X_WA) @ s.v
        gap = float(np.abs(errors[loop.rows]).max(initial=0.0))
        states[loop.name] = LoopState(loop.name, virtual_coordinates(loop.joint, X_WB, X_WA), v, gap, X_WA, X_WB)
    return states


def closure_errors(layout: Layout, table: Table, q: Array) -> Array:
    """How far every row is from closed (n_rows,) [m or rad]."""
    errors = np.empty(layout.n_rows)
    row_errors(table, q, errors)
    return errors


def constraint_matrix(layout: Layout, table: Table, q: Array) -> Array:
    """K (n_rows, n_v): the rows with the virtual joints' coordinates eliminated, K v = 0 [HYR, (3)].

    What can only be rounding is zero: a row that nothing moves must not pass for a small one.
    """
    K = np.empty((layout.n_rows, layout.n_v))
    row_jacobian(table, q, K)
    reach = 1.0 + float(np.abs(layout.arrays["bodies"]["p_PJ"]).sum())
    K[np.abs(K) < _ROUNDING * reach] = 0.0
    return K


def constraint_bias(layout: Layout, table: Table, s: State) -> Array:
    """Kdot v (n_rows,)."""
    bias = np.empty(layout.n_rows)
    row_biases(table, s.q, s.v, bias)
    return bias


def loop_frames(layout: Layout, table: Table, s: State) -> list[tuple[Pose, Pose]]:
    """World poses of the frames A and B of every loop."""
    R, p = poses(layout, table, s)

    def frame(link: str, on_link: Pose) -> Pose:
        row = layout.link_index[link]
        return Pose._trusted(p[row].copy(), R[row].reshape(3, 3).copy()) @ on_link

    return [(frame(loop.link_A, loop.on_A), frame(loop.link_B, loop.on_B)) for loop in layout.loops]


def loop_jacobian(layout: Layout, table: Table, s: State) -> Array:
    """J_C (6 N_L, N_J): velocity [angular; linear] of every real link at its loop, minus the virtual link's [NY, (11)].

    World axes, at the origin of the virtual link's frame; columns as in v_all: tree joints, then virtual ones.
    Couplings add a row each behind the loops: v_joint - multiplier v_to.
    """
    J_C = np.zeros((6 * len(layout.loops) + len(layout.couplings), layout.n_all))
    for row, coupling in enumerate(layout.couplings, start=6 * len(layout.loops)):
        J_C[row, coupling.k], J_C[row, coupling.k_to] = 1.0, -coupling.multiplier
    for i, (loop, (X_WA, _)) in enumerate(zip(layout.loops, loop_frames(layout, table, s), strict=True)):
        block = J_C[6 * i : 6 * i + 6]
        block[:, : layout.n_v] = relative_jacobian(layout, table, s, loop, X_WA)
        block[:, loop.slot.v] = -np.linalg.inv(_joint_rows(table, s, i)[0])[:, _n_rows(loop) :]
    return J_C


def loop_bias(layout: Layout, table: Table, s: State) -> Array:
    """Jdot_C v_all (rows of J_C,): relative accelerations at the loops while no joint, virtual or not, accelerates.

    Couplings are linear in the coordinates: their part is zero.
    """
    bias = np.zeros(6 * len(layout.loops) + len(layout.ties))
    for i in range(len(layout.loops)):
        # the real link and the virtual one move alike: all that differs is C times their accelerations
        C, biases = _joint_rows(table, s, i)
        bias[6 * i : 6 * i + 6] = np.linalg.solve(C, biases)
    return bias


def relative_jacobian(layout: Layout, table: Table, s: State, loop: LoopSlot, X_WA: Pose) -> Array:
    """Jacobian (6, n_v) of frame A's motion against link B, world axes at the origin of A."""
    J_A, J_B = np.empty((6, layout.n_v)), np.empty((6, layout.n_v))
    link_jacobian(table, s.q, layout.link_index[loop.link_A], loop.on_A.p.copy(), 0, J_A)
    link_jacobian(table, s.q, layout.link_index[loop.link_B], _point_on_B(layout, table, s, loop, X_WA), 0, J_B)
    return J_A - J_B


def freedom_rows(layout: Layout, table: Table, s: State, i: int) -> Array:
    """Matrix (n_v of the joint, 6): velocities of loop i's joint from those of frame A against B, as in J_C."""
    return _joint_rows(table, s, i)[0][_n_rows(layout.loops[i]) :]


def virtual_coordinates(joint: Joint, X_WB: Pose, X_WA: Pose) -> Array:
    """Coordinates (n_q,) of a joint from the poses of its two frames; angles within half a turn either way."""
    X = X_WB.inverse() @ X_WA
    R, second, *_ = joint.loop_geometry()
    p, turn = R.T @ X.p, R.T @ X.R @ R
    coordinates: dict[str, Array | float] = {}
    for kind, axis in joint.freedoms:
        if kind == "turned":
            coordinates["orientation"] = quaternion_from_matrix(turn)
        elif kind in ("carried", "across"):
            coordinates["position"] = p
        elif kind == "slid":
            coordinates[f"slide {axis} of A"] = turn[:, axis] @ p
        elif kind == "linear":
            coordinates[f"slide {axis}"] = p[axis]
        elif kind == "cardan":
            coordinates[f"angle {axis}"] = _cardan_angle(axis, np.array(second), turn)
        else:
            before = np.eye(3)[:, axis - 2]
            coordinates[f"turn {axis}"] = _angle_about(np.eye(3)[:, axis], before, turn @ before)
    return np.concatenate([np.zeros(0), *map(np.atleast_1d, coordinates.values())])


def _cardan_angle(axis: int, second: Array, turn: Array) -> float:
    """First or second angle of a universal joint whose first axis is z."""
    z = np.array([0.0, 0.0, 1.0])
    return _angle_about(z, second, turn @ second) if axis == 0 else _angle_about(second, turn.T @ z, z)


def _angle_about(axis: Array, before: Array, after: Array) -> float:
    """Angle about an axis that turns one direction into another, both seen along the axis."""
    return float(np.arctan2(axis @ (skew(before) @ after), before @ after - (axis @ before) * (axis @ after)))


def _n_rows(loop: LoopSlot) -> int:
    return len(loop.joint.rows or ())


def _joint_rows(table: Table, s: State, i: int) -> tuple[Array, Array]:
    """C (6, 6) and Cdot V (6,) of loop i, rows before freedoms; see `joint_rows`."""
    C, biases = np.empty((6, 6)), np.empty(6)
    joint_rows(table, s.q, s.v, i, C, biases)
    return C, biases


def _point_on_B(layout: Layout, table: Table, s: State, loop: LoopSlot, X_WA: Pose) -> Array:
    """Origin of frame A as a point of link B, in B's frame."""
    R, p = poses(layout, table, s)
    row = layout.link_index[loop.link_B]
    return np.ascontiguousarray(R[row].reshape(3, 3).T @ (X_WA.p - p[row]))
