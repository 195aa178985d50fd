"""World poses of all links of a structure, for one configuration or many at once: forward kinematics in plain numpy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from varichain.errors import InputError, UnknownNameError
from varichain.mechanism.joint import Joint, Primitive
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance, shown
from varichain.spatial.pose import Pose


@dataclass(frozen=True, eq=False)
class Poses:
    """Poses of named frames in the world; `...` stands for the shape of the samples, empty for one configuration.

    Attributes:
        names: Names of the frames (k,).
        p: Origins (..., k, 3) [m].
        R: Axes as columns (..., k, 3, 3).
    """

    names: tuple[str, ...]
    p: Array
    R: Array

    @cached_property
    def quaternions(self) -> Array:
        """Orientations as unit quaternions (w, x, y, z), w >= 0 (..., k, 4)."""
        return quaternions_from_matrices(self.R)

    def of(self, name: str) -> tuple[Array, Array]:
        """Origin (..., 3) [m] and axes (..., 3, 3) of one frame.

        Raises:
            UnknownNameError: There is no such frame.
        """
        if name not in self._places:
            raise UnknownNameError("link", name, self.names)
        i = self._places[name]
        return self.p[..., i, :], self.R[..., i, :, :]

    @cached_property
    def _places(self) -> dict[str, int]:
        return {name: i for i, name in enumerate(self.names)}


def link_poses(mechanism: Mechanism, q: ArrayLike) -> Poses:
    """Poses of all links, ground first, then in the order of their ids; virtual links are not among them.

    X_WL = X_WP X_PJ X_J(q) from the root outwards.

    Args:
        mechanism: The structure.
        q: Coordinates of the tree's joints (n_q,), or of any number of samples (n, n_q).

    Raises:
        InputError: q has another width, or numbers that are not finite.
    """
    instance(mechanism, Mechanism, "mechanism")
    try:
        numbers = np.asarray(q, dtype=float)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"q must be coordinates, not {shown(q)}") from None
    if numbers.ndim == 0 or numbers.shape[-1] != mechanism.n_q:
        raise InputError(f"q must have {mechanism.n_q} coordinates in its last axis, not the shape {numbers.shape}")
    if not np.isfinite(numbers).all():
        raise InputError("q must be finite, and has infinite numbers or NaN")
    links, samples = mechanism.links, numbers.shape[:-1]
    p, R = np.zeros((*samples, len(links) + 1, 3)), np.empty((*samples, len(links) + 1, 3, 3))
    R[..., 0, :, :] = np.eye(3)
    place, first = {mechanism.ground.name: 0}, 0
    for i, link in enumerate(links, 1):
        assert link.parent is not None and link.joint is not None  # only ground has none
        k, joint = place[link.parent.name], link.joint
        p_PL, R_PL = joint_motion(joint, numbers[..., first : first + joint.n_q])
        R_WJ = R[..., k, :, :] @ link.at.R
        p[..., i, :] = p[..., k, :] + _turned(R[..., k, :, :], link.at.p) + _turned(R_WJ, p_PL)
        R[..., i, :, :] = R_WJ @ R_PL
        place[link.name] = i
        first += joint.n_q
    return Poses(tuple(place), p, R)


def frame_on(poses: Poses, link: str, at: Pose) -> tuple[Array, Array]:
    """Origin (..., 3) [m] and axes (..., 3, 3) in the world of a frame that is fixed to a link."""
    p, R = poses.of(link)
    return p + _turned(R, at.p), R @ at.R


def joint_motion(joint: Joint, q: Array) -> tuple[Array, Array]:
    """Pose X_J(q) of the link in the joint frame: p (..., 3) [m] and R (..., 3, 3) for coordinates (..., n_q)."""
    p, R = np.zeros((*q.shape[:-1], 3)), np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))
    for k, primitive in enumerate(joint.primitives()):
        p_k, R_k = _MOTIONS[primitive.kind](primitive, q[..., k:])
        p, R = p + _turned(R, p_k), R @ R_k
    return p, R


def _revolute(primitive: Primitive, q: Array) -> tuple[Array, Array]:
    return np.zeros((*q.shape[:-1], 3)), _about(primitive.R[:, 2], q[..., 0])


def _prismatic(primitive: Primitive, q: Array) -> tuple[Array, Array]:
    return q[..., :1] * primitive.R[:, 2], np.broadcast_to(np.eye(3), (*q.shape[:-1], 3, 3))


def _screw(primitive: Primitive, q: Array) -> tuple[Array, Array]:
    return primitive.pitch * q[..., :1] * primitive.R[:, 2], _about(primitive.R[:, 2], q[..., 0])


def _spherical(primitive: Primitive, q: Array) -> tuple[Array, Array]:
    return np.zeros((*q.shape[:-1], 3)), matrices_from_quaternions(q[..., :4])


def _free(primitive: Primitive, q: Array) -> tuple[Array, Array]:
    return q[..., 4:7], matrices_from_quaternions(q[..., :4])


_MOTIONS: dict[str, Callable[[Primitive, Array], tuple[Array, Array]]] = {
    "revolute": _revolute,
    "prismatic": _prismatic,
    "screw": _screw,
    "spherical": _spherical,
    "free": _free,
}


def matrices_from_quaternions(quaternions: Array) -> Array:
    """Rotation matrices (..., 3, 3) of quaternions (..., 4) of any length but zero."""
    w, x, y, z = np.moveaxis(quaternions, -1, 0)
    s = 2.0 / (w * w + x * x + y * y + z * z)
    R = np.empty((*w.shape, 3, 3))
    R[..., 0, 0], R[..., 0, 1], R[..., 0, 2] = 1.0 - s * (y * y + z * z), s * (x * y - w * z), s * (x * z + w * y)
    R[..., 1, 0], R[..., 1, 1], R[..., 1, 2] = s * (x * y + w * z), 1.0 - s * (x * x + z * z), s * (y * z - w * x)
    R[..., 2, 0], R[..., 2, 1], R[..., 2, 2] = s * (x * z - w * y), s * (y * z + w * x), 1.0 - s * (x * x + y * y)
    return R


def quaternions_from_matrices(R: Array) -> Array:
    """Unit quaternions (w, x, y, z), w >= 0 (..., 4) of rotation matrices (..., 3, 3) [Shepperd 1978]."""
    a, b, c, d, e, f, g, h, i = np.moveaxis(R.reshape(*R.shape[:-2], 9), -1, 0)
    outer = np.empty((*a.shape, 4, 4))  # four times q q^T
    outer[..., 0, :] = np.stack([1.0 + a + e + i, h - f, c - g, d - b], -1)
    outer[..., 1, :] = np.stack([h - f, 1.0 + a - e - i, b + d, c + g], -1)
    outer[..., 2, :] = np.stack([c - g, b + d, 1.0 - a + e - i, f + h], -1)
    outer[..., 3, :] = np.stack([d - b, c + g, f + h, 1.0 - a - e + i], -1)
    largest = np.argmax(np.diagonal(outer, axis1=-2, axis2=-1), axis=-1)
    column = np.take_along_axis(outer, largest[..., None, None], axis=-2)[..., 0, :]
    column = column * np.where(column[..., :1] < 0.0, -1.0, 1.0)
    unit: Array = column / np.linalg.norm(column, axis=-1, keepdims=True)
    return unit


def _about(axis: Array, angle: Array) -> Array:
    """Rotation matrices (..., 3, 3) about one unit axis: c 1 + s [axis] + (1 - c) axis axis^T."""
    x, y, z = axis
    cross = np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]])
    s, versine = np.sin(angle)[..., None, None], 2.0 * np.sin(0.5 * angle)[..., None, None] ** 2
    R: Array = np.eye(3) + s * cross + versine * (cross @ cross)
    return R


def _turned(R: Array, p: Array) -> Array:
    """R p (..., 3) for matrices (..., 3, 3) and vectors (..., 3)."""
    turned: Array = (R @ p[..., None])[..., 0]
    return turned
