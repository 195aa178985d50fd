"""Hulls: convex meshes and boxes as vertices, faces and edges, by which links touch."""

from __future__ import annotations

from functools import cached_property, lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.mechanism.shapes import Box, Mesh
from varichain.spatial.arrays import Array
from varichain.spatial.frozen import read_only
from varichain.spatial.pose import Pose

_DENT = 1e-3  # part of a mesh's size that a vertex may lie inside of the hull: rounding of files
_FLAT = 1e-6  # part of it that a vertex may be off the plane of its face: triangles of a face are one polygon
CORNERS = tuple((x, y, z) for x in (-0.5, 0.5) for y in (-0.5, 0.5) for z in (-0.5, 0.5))
"""Of a box, as parts of its edges."""


class Hull:
    """A convex polyhedron.

    Attributes:
        at: Its frame in the link's.
        vertices: Its vertices (n, 3) in that frame [m].
        normals: Of its faces (f, 3), outwards.
        distances: Of its faces from the origin of its frame (f,) [m].
        faces: Vertices of each face, counterclockwise as seen from outside.
        edges: Two vertices and two faces of each edge (e, 4); it is along n_2 x n_1, the normals of its faces.
    """

    def __init__(self, at: Pose, vertices: Array, faces: list[list[int]], normals: Array) -> None:
        """Take over vertices, faces and their normals."""
        self.at, self.vertices, self.faces, self.normals = at, vertices, faces, normals
        self.distances: Array = np.array([(vertices[f] @ n).max() for f, n in zip(faces, normals, strict=True)])
        self.edges = _edges(faces, normals, vertices)

    @property
    def half(self) -> Array:
        """Half edges (3,) [m] of a box about the origin of its frame that it fits in."""
        found: Array = np.abs(self.vertices).max(axis=0)
        return found

    @property
    def counts(self) -> tuple[int, int, int]:
        """Numbers of vertices, faces and edges."""
        return len(self.vertices), len(self.faces), len(self.edges)

    def nearest(self, points: Array) -> Array:
        """Places of the hull that are nearest to points (..., 3), all in its frame: the points themselves inside."""
        p = points.reshape(-1, 3)
        found, least = p.copy(), np.where((p @ self.normals.T <= self.distances).all(axis=1), 0.0, np.inf)
        for a, b in self.vertices[self.edges[:, :2]]:
            part = np.clip((p - a) @ (b - a) / ((b - a) @ (b - a)), 0.0, 1.0)
            _take_nearer(p, a + part[:, None] * (b - a), np.True_, found, least)
        for face, n, distance in zip(self.faces, self.normals, self.distances, strict=True):
            corners = self.vertices[face]
            out = np.cross(np.roll(corners, -1, axis=0) - corners, n)
            is_over = (p @ out.T <= np.einsum("ci,ci->c", out, corners)).all(axis=1)
            _take_nearer(p, p - (p @ n - distance)[:, None] * n, is_over, found, least)
        return found.reshape(points.shape)

    @cached_property
    def numbers(self) -> Array:
        """All of it in one array, as kernels read it: half of the least width, vertices, faces, corners and edges."""
        width = (self.distances - (self.vertices @ self.normals.T).min(axis=0)).min()
        sizes = [len(face) for face in self.faces]
        firsts = np.cumsum([0, *sizes[:-1]])
        faces = np.column_stack([self.normals, self.distances, firsts, sizes])
        a, b, f, g = self.edges.T
        along = self.vertices[b] - self.vertices[a]
        lengths = np.linalg.norm(along, axis=1, keepdims=True)
        edges = np.column_stack([self.vertices[a], along / lengths, self.normals[f], self.normals[g], lengths])
        corners = np.concatenate(self.faces)
        parts = (np.array([0.5 * width]), self.vertices.ravel(), faces.ravel(), corners, edges.ravel())
        return read_only(np.concatenate(parts).astype(np.float64))


class _Triangles(NamedTuple):
    """A hull as Qhull gives it: triangles of vertices, counterclockwise, with their normals and neighbours."""

    vertices: Array
    corners: NDArray[np.int64]
    normals: Array
    neighbours: NDArray[np.int64]


def hull_of(shape: Box | Mesh, link: str) -> Hull:
    """The hull of a box, or of a convex mesh of a link.

    Raises:
        InputError: The mesh cannot be read, is flat, or is not convex.
    """
    found = _hull(shape)
    if isinstance(found, str):
        raise InputError(f"link {link!r} cannot touch by {found}")
    return found


@lru_cache(maxsize=1024)  # the epochs of a run have the same shapes
def _hull(shape: Box | Mesh) -> Hull | str:
    """The hull of a box or mesh; or what is wrong with the mesh."""
    from varichain.scene.meshes import shape_triangles

    if isinstance(shape, Box):
        return _merged(_triangles(np.array(CORNERS) * shape.size), shape.at)
    notes: list[str] = []
    surface = shape_triangles(shape, notes)
    if surface is None:
        return f"its mesh: {notes[0]}"
    vertices = np.asarray(surface.vertices, float)
    middle = 0.5 * (vertices.min(axis=0) + vertices.max(axis=0))
    vertices = vertices - middle
    try:
        triangles = _triangles(vertices)
    except ValueError:
        return f"mesh {shape.path!r}: it is flat, and has no inside"
    distances = (triangles.vertices[triangles.corners] @ triangles.normals[:, :, None]).max(axis=(1, 2))
    deepest = -float((vertices @ triangles.normals.T - distances).max(axis=1).min())
    if deepest > _DENT * float(np.ptp(vertices, axis=0).max()):
        return (
            f"mesh {shape.path!r}: it is not convex: a vertex lies {deepest:.3g} m inside its hull; give "
            "m.set_contact_shapes(link, shapes) convex parts"
        )
    return _merged(triangles, Pose(p=middle))


def _triangles(points: Array) -> _Triangles:
    """Triangles of the hull of points; ValueError if it is flat."""
    from scipy.spatial import ConvexHull, QhullError  # which few runs need

    try:
        hull = ConvexHull(points)
    except QhullError:
        raise ValueError("flat") from None
    corners = hull.simplices.astype(np.int64)
    a, b, c = (points[corners[:, i]] for i in range(3))
    across = np.cross(b - a, c - a)
    inward = np.einsum("ti,ti->t", across, hull.equations[:, :3]) < 0.0
    corners[inward] = corners[inward][:, ::-1]
    across[inward] *= -1.0
    lengths = np.linalg.norm(across, axis=1, keepdims=True)
    normals = np.divide(across, lengths, out=hull.equations[:, :3].copy(), where=lengths > 0.0)
    return _Triangles(points, corners, normals, hull.neighbors)


def _merged(triangles: _Triangles, at: Pose) -> Hull:
    """The hull whose faces are the polygons that triangles in one plane make up."""
    vertices, corners = triangles.vertices, triangles.corners
    flat = _FLAT * float(np.ptp(vertices, axis=0).max())
    a, b, c = (vertices[corners[:, i]] for i in range(3))
    sizes = np.linalg.norm(np.cross(b - a, c - a), axis=1)
    # how far the vertices of each triangle's neighbours are off its plane
    off = (vertices[corners[triangles.neighbours]] - a[:, None, None]) @ triangles.normals[:, None, :, None]
    is_flat = np.abs(off).max(axis=(2, 3)) <= 10.0 * flat
    beside = [others[flags].tolist() for others, flags in zip(triangles.neighbours, is_flat, strict=True)]
    taken, faces, normals = set[int](), list[list[int]](), list[Array]()
    for first in np.argsort(-sizes, kind="stable").tolist():  # the largest tell a plane best
        if first in taken:
            continue
        taken.add(first)
        n, group, waiting = triangles.normals[first], [first], [first]
        while waiting:
            for other in beside[waiting.pop()]:
                if other not in taken and np.abs((vertices[corners[other]] - a[first]) @ n).max() <= flat:
                    taken.add(other)
                    group.append(other)
                    waiting.append(other)
        outline = _outline(corners[group])
        if outline is None:  # triangles of a smooth surface that is finer than a face is flat stay as they are
            faces += corners[group].tolist()
            normals += [*triangles.normals[group]]
        else:
            faces.append(outline)
            normals.append(n)
    used = np.unique(np.concatenate(faces))
    places = np.zeros(len(vertices), dtype=int)
    places[used] = np.arange(len(used))
    return Hull(at, vertices[used], [places[face].tolist() for face in faces], np.array(normals))


def _outline(corners: NDArray[np.int64]) -> list[int] | None:
    """Vertices round a polygon of triangles: ends of the sides of one of them alone; None if it is not in one piece."""
    ways = {(int(t[i]), int(t[(i + 1) % 3])) for t in corners for i in range(3)}
    sides = [(a, b) for a, b in ways if (b, a) not in ways]
    follows = dict(sides)
    found = [min(follows)]
    while len(found) < len(sides) and follows.get(found[-1], found[0]) != found[0]:
        found.append(follows[found[-1]])
    return found if len(found) == len(sides) else None


def _edges(faces: list[list[int]], normals: Array, vertices: Array) -> NDArray[np.int64]:
    """Vertices and faces of all edges (e, 4)."""
    owners = {(a, b): f for f, face in enumerate(faces) for a, b in zip(face, [*face[1:], face[0]], strict=True)}
    found = np.array([(a, b, f, owners[b, a]) for (a, b), f in owners.items() if a < b])
    along, across = vertices[found[:, 1]] - vertices[found[:, 0]], np.cross(normals[found[:, 3]], normals[found[:, 2]])
    is_against = np.einsum("ei,ei->e", along, across) < 0.0
    found[is_against] = found[is_against][:, [0, 1, 3, 2]]
    return found


def _take_nearer(p: Array, places: Array, where: NDArray[np.bool_] | np.bool_, found: Array, least: Array) -> None:
    """Enter places that are nearer to points than those found so far; inside of the hull, none is."""
    distances = np.linalg.norm(places - p, axis=1)
    is_nearer = where & (distances < least)
    found[is_nearer], least[is_nearer] = places[is_nearer], distances[is_nearer]
