"""Loops as the papers write them: virtual joints with coordinates of their own, and J_C v_all = 0."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from varichain.dynamics.arguments import Table, opened
from varichain.dynamics.kinematics import poses
from varichain.kernels.closure import row_biases, row_errors, row_jacobian
from varichain.kernels.links import link_bias_acceleration, link_jacobian, link_velocity
from varichain.layout.layout import Layout, LoopSlot
from varichain.layout.state import State
from varichain.mechanism.joint import Joint
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_from_axis_angle, quaternion_from_matrix, skew

_ROUNDING = 1e-14  # of distances in the mechanism


@dataclass(frozen=True, eq=False)
class LoopState:
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


def loop_states(m: Mechanism, s: State) -> dict[str, LoopState]:
    """Coordinates, velocities and gap of every loop's virtual joint, by its name."""
    layout, table = opened(m, s)
    errors = closure_errors(layout, table, s.q)
    states = {}
    for loop, (X_WA, X_WB) in zip(layout.loops, loop_frames(layout, table, s), strict=True):
        v = _virtual_velocity(loop, relative_jacobian(layout, table, s, loop, X_WA) @ s.v, X_WA, X_WB)
        gap = float(np.abs(errors[loop.rows]).max(initial=0.0))
        states[loop.name] = LoopState(loop.name, virtual_coordinates(loop.joint, X_WB, X_WA), v, gap, X_WA, X_WB)
    return states


def closure_errors(layout: Layout, table: Table, q: Array) -> Array:
    """How far every row is from closed (n_rows,) [m or rad]."""
    errors = np.empty(layout.n_rows)
    row_errors(table, q, errors)
    return errors


def constraint_matrix(layout: Layout, table: Table, q: Array) -> Array:
    """K (n_rows, n_v): the rows with the virtual joints' coordinates eliminated, K v = 0.

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
    for i, (loop, (X_WA, X_WB)) in enumerate(zip(layout.loops, loop_frames(layout, table, s), strict=True)):
        block = J_C[6 * i : 6 * i + 6]
        block[:, : layout.n_v] = relative_jacobian(layout, table, s, loop, X_WA)
        block[:, loop.slot.v] = -virtual_subspace(loop.joint, X_WA.R, X_WB.R)
    return J_C


def loop_bias(layout: Layout, table: Table, s: State) -> Array:
    """Jdot_C v_all (rows of J_C,): relative accelerations at the loops while no joint, virtual or not, accelerates.

    Couplings are linear in the coordinates: their part is zero.
    """
    bias = np.zeros(6 * len(layout.loops) + len(layout.ties))
    for i, (loop, (X_WA, X_WB)) in enumerate(zip(layout.loops, loop_frames(layout, table, s), strict=True)):
        bias[6 * i : 6 * i + 6] = _relative_bias(layout, table, s, loop, X_WA, X_WB)
    return bias


def relative_jacobian(layout: Layout, table: Table, s: State, loop: LoopSlot, X_WA: Pose) -> Array:
    """Jacobian (6, n_v) of frame A's motion against link B, world axes at the origin of A."""
    J_A, J_B = np.empty((6, layout.n_v)), np.empty((6, layout.n_v))
    link_jacobian(table, s.q, layout.link_index[loop.link_A], loop.on_A.p.copy(), 0, J_A)
    link_jacobian(table, s.q, layout.link_index[loop.link_B], _point_on_B(layout, table, s, loop, X_WA), 0, J_B)
    return J_A - J_B


def virtual_subspace(joint: Joint, R_WA: Array, R_WB: Array) -> Array:
    """Motion (6, n_v) of the virtual link against the joint frame B per joint velocity, world axes at its origin."""
    columns = []
    for i, primitive in enumerate(joint.primitives()):
        if primitive.kind in ("spherical", "free"):  # velocities in the link's own axes
            columns += [np.concatenate([R_WA[:, k], np.zeros(3)]) for k in range(3)]
            if primitive.kind == "free":
                columns += [np.concatenate([np.zeros(3), R_WA[:, k]]) for k in range(3)]
            continue
        carried = joint.kind == "universal" and i == 1  # its second axis moves with the link
        axis = (R_WA if carried else R_WB) @ primitive.R[:, 2]
        turns, slides = {"revolute": (1.0, 0.0), "prismatic": (0.0, 1.0), "screw": (1.0, primitive.pitch)}[
            primitive.kind
        ]
        columns.append(np.concatenate([turns * axis, slides * axis]))
    return np.array(columns).reshape(-1, 6).T


def virtual_coordinates(joint: Joint, X_WB: Pose, X_WA: Pose) -> Array:
    """Coordinates (n_q,) of a joint from the poses of its two frames; angles within half a turn either way."""
    X = X_WB.inverse() @ X_WA
    if joint.has_quaternion:
        quaternion = quaternion_from_matrix(X.R)
        return np.concatenate([quaternion, X.p]) if joint.kind == "free" else quaternion
    coordinates = []
    R = X.R
    for i, primitive in enumerate(joint.primitives()):
        axis = primitive.R[:, 2]
        if primitive.kind == "prismatic":
            coordinates.append(float(axis @ X.p))
        elif joint.kind == "universal" and i == 0:
            second = joint.primitives()[1].R[:, 2]
            coordinates.append(_angle_about(axis, second, R @ second))
            R = matrix_from_axis_angle(axis, -coordinates[0]) @ R
        else:
            side = primitive.R[:, 0]
            coordinates.append(_angle_about(axis, side, R @ side))
    return np.array(coordinates)


def _angle_about(axis: Array, before: Array, after: Array) -> float:
    """Angle about an axis that turns one direction into another, both seen along the axis."""
    return float(np.arctan2(axis @ (skew(before) @ after), before @ after - (axis @ before) * (axis @ after)))


def _virtual_velocity(loop: LoopSlot, V_relative: Array, X_WA: Pose, X_WB: Pose) -> Array:
    if loop.joint.n_v == 0:
        return np.zeros(0)
    v, *_ = np.linalg.lstsq(virtual_subspace(loop.joint, X_WA.R, X_WB.R), V_relative, rcond=None)
    return np.asarray(v, dtype=np.float64)


def _point_on_B(layout: Layout, table: Table, s: State, loop: LoopSlot, X_WA: Pose) -> Array:
    """Origin of frame A as a point of link B, in B's frame."""
    R, p = poses(layout, table, s)
    row = layout.link_index[loop.link_B]
    return np.ascontiguousarray(R[row].reshape(3, 3).T @ (X_WA.p - p[row]))


def _relative_bias(layout: Layout, table: Table, s: State, loop: LoopSlot, X_WA: Pose, X_WB: Pose) -> Array:
    """Jdot_C v_all of one loop: real link's acceleration minus the virtual link's, all joint accelerations zero."""
    row_A, row_B = layout.link_index[loop.link_A], layout.link_index[loop.link_B]
    on_A, on_B = loop.on_A.p.copy(), _point_on_B(layout, table, s, loop, X_WA)
    real, carrier, V_A, V_B = (np.empty(6) for _ in range(4))
    link_bias_acceleration(table, s.q, s.v, row_A, on_A, 0, real)
    link_bias_acceleration(table, s.q, s.v, row_B, on_B, 0, carrier)
    link_velocity(table, s.q, s.v, row_A, on_A, 0, V_A)
    link_velocity(table, s.q, s.v, row_B, on_B, 0, V_B)
    subspace = virtual_subspace(loop.joint, X_WA.R, X_WB.R)
    v = _virtual_velocity(loop, V_A - V_B, X_WA, X_WB)
    V = subspace @ v  # the virtual link against B
    virtual = carrier.copy()
    virtual[:3] += skew(V_B[:3]) @ V[:3]
    virtual[3:] += 2.0 * skew(V_B[:3]) @ V[3:]
    if loop.joint.kind == "universal":
        virtual[:3] += skew(subspace[:3, 0] * v[0]) @ (subspace[:3, 1] * v[1])
    if loop.joint.kind == "free":
        virtual[3:] += skew(V[:3]) @ V[3:]
    return real - virtual
