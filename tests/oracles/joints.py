"""What each joint does, written out type by type from its definition.

A joint takes the joint frame J (fixed in the parent) to the link's frame L. `joint_transform` is X_JL(q). The motion
subspace is 6 x n_v: its columns are the link's velocity relative to the joint frame, [angular; linear of the link's
origin], in the link's axes.
"""

import numpy as np

from oracles.rotations import (
    quaternion_exp,
    quaternion_inverse,
    quaternion_log,
    quaternion_product,
    rotation,
    rotation_of_quaternion,
)
from varichain.spatial.rotation import matrix_with_z_along

QUATERNION_KINDS = ("spherical", "free")


def plane_axes(joint):
    """Directions of x and y, and the normal, of a planar joint in its joint frame."""
    return tuple(matrix_with_z_along(np.asarray(joint.normal)).T)


def universal_axes(joint):
    """First (fixed in the parent) and second (carried by the first) axis of a universal joint."""
    return np.asarray(joint.axes[0]), np.asarray(joint.axes[1])


def joint_transform(joint, q):
    """Rotation R_JL (3 x 3) and position p_JL (3,) of the link's frame in the joint frame."""
    here = np.zeros(3)
    match joint.kind:
        case "fixed":
            return np.eye(3), here
        case "revolute":
            return rotation(joint.axis, q[0]), here
        case "prismatic":
            return np.eye(3), q[0] * np.asarray(joint.axis)
        case "screw":
            return rotation(joint.axis, q[0]), joint.pitch * q[0] * np.asarray(joint.axis)
        case "cylindrical":
            return rotation(joint.axis, q[0]), q[1] * np.asarray(joint.axis)
        case "universal":
            first, second = universal_axes(joint)
            return rotation(first, q[0]) @ rotation(second, q[1]), here
        case "planar":
            x, y, normal = plane_axes(joint)
            return rotation(normal, q[2]), q[0] * x + q[1] * y
        case "spherical":
            return rotation_of_quaternion(q), here
        case "free":
            return rotation_of_quaternion(q[:4]), np.array(q[4:7])
    raise ValueError(f"no such joint: {joint.kind}")


def joint_subspace(joint, q):
    """Motion subspace (6 x n_v): [angular; linear at the link's origin] in the link's axes."""
    S = np.zeros((6, joint.n_v))
    match joint.kind:
        case "fixed":
            pass
        case "revolute":
            S[:3, 0] = joint.axis
        case "prismatic":
            S[3:, 0] = joint.axis
        case "screw":
            S[:3, 0] = joint.axis
            S[3:, 0] = joint.pitch * np.asarray(joint.axis)
        case "cylindrical":
            S[:3, 0] = joint.axis
            S[3:, 1] = joint.axis
        case "universal":
            first, second = universal_axes(joint)
            S[:3, 0] = rotation(second, q[1]).T @ first
            S[:3, 1] = second
        case "planar":
            x, y, normal = plane_axes(joint)
            S[3:, 0] = rotation(normal, q[2]).T @ x
            S[3:, 1] = rotation(normal, q[2]).T @ y
            S[:3, 2] = normal
        case "spherical":
            S[:3] = np.eye(3)
        case "free":
            S[:] = np.eye(6)
        case _:
            raise ValueError(f"no such joint: {joint.kind}")
    return S


def joint_subspace_rate(joint, q, v):
    """Time derivative of the subspace's components in the link's axes (6 x n_v): zero but for universal and planar.

    There a direction e fixed in the joint frame is seen from a link turning with angular velocity w as R^T e, and
    d/dt (R^T e) = -w x (R^T e).
    """
    rate = np.zeros((6, joint.n_v))
    S = joint_subspace(joint, q)
    if joint.kind == "universal":
        _, second = universal_axes(joint)
        rate[:3, 0] = -np.cross(v[1] * second, S[:3, 0])
    if joint.kind == "planar":
        _, _, normal = plane_axes(joint)
        rate[3:, 0] = -np.cross(v[2] * normal, S[3:, 0])
        rate[3:, 1] = -np.cross(v[2] * normal, S[3:, 1])
    return rate


def joint_integrate(joint, q, step):
    """Coordinates reached from q by a step in the tangent space.

    Quaternions: q exp(step), the rotation vector in the link's axes. Free: the exponential of SO(3) x R^3, that is
    R' = R exp([w]), p' = p + R v with R at the start of the step. All others: q + step.
    """
    q, step = np.asarray(q, dtype=float), np.asarray(step, dtype=float)
    if joint.kind not in QUATERNION_KINDS:
        return q + step
    quaternion = quaternion_product(q[:4], quaternion_exp(step[:3]))
    return np.concatenate((quaternion / np.linalg.norm(quaternion), q[4:] + _turned(q, step[3:])))


def joint_difference(joint, q0, q1):
    """Step that takes q0 to q1: the inverse of `joint_integrate` (rotation vectors no longer than pi)."""
    q0, q1 = np.asarray(q0, dtype=float), np.asarray(q1, dtype=float)
    if joint.kind not in QUATERNION_KINDS:
        return q1 - q0
    turn = quaternion_log(quaternion_product(quaternion_inverse(q0[:4]), q1[:4]))
    if joint.kind == "spherical":
        return turn
    return np.concatenate((turn, rotation_of_quaternion(q0[:4]).T @ (q1[4:] - q0[4:])))


def _turned(q, linear):
    return rotation_of_quaternion(q[:4]) @ linear if len(linear) else linear
