"""Unit quaternions (w, x, y, z) by the row: what `spatial.rotation` does for one, for many at once."""

from __future__ import annotations

import numpy as np

from varichain.spatial.arrays import Array

# Below this angle [rad] sin(angle) = angle in double precision.
_SMALL_ANGLE = 1e-8


def multiplied(a: Array, b: Array) -> Array:
    """Hamilton products a b (n, 4): the rotation b followed by the rotation a."""
    aw, ax, ay, az = np.moveaxis(a, -1, 0)
    bw, bx, by, bz = np.moveaxis(b, -1, 0)
    return np.stack(
        [
            aw * bw - ax * bx - ay * by - az * bz,
            aw * bx + ax * bw + ay * bz - az * by,
            aw * by - ax * bz + ay * bw + az * bx,
            aw * bz + ax * by - ay * bx + az * bw,
        ],
        axis=-1,
    )


def conjugated(a: Array) -> Array:
    """Inverse rotations (n, 4)."""
    return np.concatenate([a[..., :1], -a[..., 1:]], axis=-1)


def exponential(phi: Array) -> Array:
    """Unit quaternions (n, 4) of rotation vectors (n, 3) [rad]."""
    angle = np.linalg.norm(phi, axis=-1, keepdims=True)
    is_small = angle < _SMALL_ANGLE
    k = np.where(is_small, 0.5, np.sin(0.5 * angle) / np.where(is_small, 1.0, angle))
    return np.concatenate([np.cos(0.5 * angle), k * phi], axis=-1)


def logarithm(a: Array) -> Array:
    """Rotation vectors (n, 3) [rad] of unit quaternions (n, 4); their angles are in [0, pi]."""
    a = np.where(a[..., :1] < 0.0, -a, a)
    w, vector = a[..., :1], a[..., 1:]
    sine = np.linalg.norm(vector, axis=-1, keepdims=True)
    is_small = sine < _SMALL_ANGLE
    k = np.where(is_small, 2.0, 2.0 * np.arctan2(sine, w) / np.where(is_small, 1.0, sine))
    return k * vector


def turns(quaternions: Array) -> Array:
    """Rotation vectors (n - 1, 3) [rad] from each orientation to the next, in the axes of the former."""
    return logarithm(multiplied(conjugated(quaternions[:-1]), quaternions[1:]))


def with_signs_of(quaternions: Array, reached: Array) -> Array:
    """The quaternions (n, 4) with signs such that each follows what was reached from the one before (n - 1, 4).

    `reached[i]` is where a smooth motion that begins at `quaternions[i]` comes to at the time of the next.
    """
    flips = np.where((reached * quaternions[1:]).sum(axis=1) < 0.0, -1.0, 1.0)
    return quaternions * np.cumprod(np.concatenate([[1.0], flips]))[:, None]
