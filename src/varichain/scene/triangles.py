"""Triangles: what every picture of a surface is made of."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

Faces = NDArray[np.int32]

_AROUND = 24  # corners of a circle
_SMOOTH = 0.8  # cosine of the angle between a triangle and the surface around it up to which there is no edge


@dataclass(frozen=True, eq=False)
class Triangles:
    """A surface.

    Attributes:
        vertices: Corners (n, 3) [m]; where the surface has an edge there are two at one place.
        normals: Unit vectors across the surface at the corners, outwards (n, 3).
        faces: Three corners of each triangle (m, 3), anticlockwise seen from outside.
    """

    vertices: Array
    normals: Array
    faces: Faces

    def moved(self, pose: Pose) -> Triangles:
        """The surface seen from frame A, for X_AB = `pose` and the surface given in frame B."""
        return Triangles(self.vertices @ pose.R.T + pose.p, self.normals @ pose.R.T, self.faces)

    def stretched(self, scale: Sequence[float]) -> Triangles:
        """The surface stretched along x, y and z; a mirrored one is turned inside out again."""
        factors = np.asarray(scale, dtype=float)
        normals = self.normals / factors
        normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-300)
        is_mirrored = float(np.prod(factors)) < 0.0
        return Triangles(self.vertices * factors, normals, self.faces[:, ::-1] if is_mirrored else self.faces)


def joined(parts: Sequence[Triangles]) -> Triangles:
    """Several surfaces as one."""
    starts = np.cumsum([0, *[len(part.vertices) for part in parts]])
    return Triangles(
        np.concatenate([np.zeros((0, 3)), *[part.vertices for part in parts]]),
        np.concatenate([np.zeros((0, 3)), *[part.normals for part in parts]]),
        np.concatenate(
            [np.zeros((0, 3), np.int32), *[part.faces + int(k) for part, k in zip(parts, starts, strict=False)]]
        ).astype(np.int32),
    )


def box(size: Sequence[float]) -> Triangles:
    """Box with full edge lengths (x, y, z) [m] about the origin: 24 corners, so that its edges are sharp."""
    vertices: list[Array] = []
    normals, faces = [], []
    for axis in range(3):
        for sign in (1.0, -1.0):
            normal, u = np.zeros(3), np.zeros(3)
            normal[axis], u[(axis + 1) % 3] = sign, 1.0
            w = np.cross(normal, u)
            faces += [[len(vertices) + k for k in corner] for corner in ((0, 1, 2), (0, 2, 3))]
            vertices += [normal - u - w, normal + u - w, normal + u + w, normal - u + w]
            normals += [normal] * 4
    return Triangles(0.5 * np.array(vertices) * np.asarray(size), np.array(normals), np.array(faces, np.int32))


def sphere(radius: float) -> Triangles:
    """Ball about the origin."""
    return capsule(radius, 0.0)


def capsule(radius: float, length: float) -> Triangles:
    """Cylinder along z between two half balls; `length` is of the cylindrical part [m]."""
    half = np.linspace(0.0, 0.5 * np.pi, _AROUND // 4 + 1)
    angles = (
        np.concatenate([half, half + 0.5 * np.pi]) if length > 0.0 else np.concatenate([half, half[1:] + np.pi / 2])
    )
    across, along = radius * np.sin(angles), radius * np.cos(angles)
    shift = np.where(np.arange(len(angles)) < len(half), 0.5, -0.5) * length
    return turned_profile(across, along + shift, np.sin(angles), np.cos(angles))


def cylinder(radius: float, length: float, top: float | None = None) -> Triangles:
    """Cylinder along z about the origin with flat ends; `top` is the radius there, 0 for a cone [m]."""
    above = radius if top is None else top
    lean = np.hypot(length, radius - above)
    side = ((radius - above) / lean, length / lean)
    half = 0.5 * length
    across = np.array([0.0, above, above, radius, radius, 0.0])
    along = np.array([half, half, half, -half, -half, -half])
    outward, upward = (
        np.array([0.0, 0.0, side[1], side[1], 0.0, 0.0]),
        np.array([1.0, 1.0, side[0], side[0], -1.0, -1.0]),
    )
    return turned_profile(across, along, outward, upward)


def ellipsoid(radii: Sequence[float]) -> Triangles:
    """Ellipsoid with half axes (x, y, z) [m] about the origin."""
    return sphere(1.0).stretched(radii)


def sheet(points: Array, normals: Array) -> Triangles:
    """Surface through points (n_x, n_y, 3) [m] on a grid, with normals (n_x, n_y, 3)."""
    n_x, n_y, _ = points.shape
    first = (np.arange(n_x - 1)[:, None] * n_y + np.arange(n_y - 1)).reshape(-1, 1)
    faces = np.concatenate([first + np.array(corners) for corners in ([0, n_y, n_y + 1], [0, n_y + 1, 1])])
    return Triangles(points.reshape(-1, 3), normals.reshape(-1, 3), faces.astype(np.int32))


def shaded(vertices: Array, faces: Faces) -> Triangles:
    """A surface of which only corners and triangles are known: smooth where it bends little, with edges elsewhere."""
    corners = vertices[faces]
    across = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])  # as long as the area counts
    area = np.linalg.norm(across, axis=1)
    faces, across, area = faces[area > 0.0], across[area > 0.0], area[area > 0.0]  # a line has no normal
    used, same = np.unique(vertices, axis=0, return_inverse=True)  # STL files repeat corners for each triangle
    index = same.reshape(-1)[faces]
    mean = np.zeros((len(used), 3))
    np.add.at(mean, index, across[:, None])
    mean /= np.maximum(np.linalg.norm(mean, axis=1, keepdims=True), 1e-300)
    own = np.repeat((across / area[:, None])[:, None], 3, axis=1)
    is_smooth = np.einsum("fki,fki->fk", mean[index], own) > _SMOOTH
    normals = np.where(is_smooth[..., None], mean[index], own).reshape(-1, 3)
    both = np.concatenate([used[index].reshape(-1, 3), normals.round(6)], axis=1)
    _, first, order = np.unique(both, axis=0, return_index=True, return_inverse=True)
    return Triangles(both[first, :3], normals[first], order.reshape(-1, 3).astype(np.int32))


def turned_profile(across: Array, along: Array, outward: Array, upward: Array) -> Triangles:
    """Surface that a line in a plane through z leaves behind when it turns about z; from the top downwards."""
    angle = np.linspace(0.0, 2.0 * np.pi, _AROUND + 1)
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    ones = np.ones_like(c)
    vertices = np.stack([c * across, s * across, ones * along], -1).reshape(-1, 3)
    normals = np.stack([c * outward, s * outward, ones * upward], -1).reshape(-1, 3)
    n, faces = len(across), []
    is_wide = across > 1e-9 * across.max()
    for j in range(n - 1):
        if across[j] == across[j + 1] and along[j] == along[j + 1]:
            continue  # an edge: one place, two normals
        for k in range(_AROUND):
            here, there = k * n + j, (k + 1) * n + j
            if is_wide[j + 1]:
                faces.append((here, here + 1, there + 1))
            if is_wide[j]:
                faces.append((here, there + 1, there))
    return Triangles(vertices, normals, np.array(faces, np.int32))
