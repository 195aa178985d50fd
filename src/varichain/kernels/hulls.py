"""Hulls: convex polyhedra as lists of their vertices, faces and edges, and how far a point is from one.

Coordinates are those of the hull's own frame. Corners of a face go round it counterclockwise, as seen from outside; an
edge is along n_2 x n_1, the normals of its faces.
"""

import math
from typing import Any, NamedTuple

from varichain.kernels.contact_records import FLUSH
from varichain.kernels.jit import helper, routine
from varichain.kernels.tables import numbers_at
from varichain.kernels.tuples import add3, cross3, dot3, length3, scale3, sub3

_N_FACE, _N_EDGE = 6, 13  # numbers of a face and of an edge


class Hull(NamedTuple):
    """A convex polyhedron."""

    half_width: Any  # half of the least distance of two parallel planes that it fits between
    vertices: Any  # three numbers each
    faces: Any  # normal, its distance from the origin, the first of its corners, and how many it has
    corners: Any  # the vertices of all faces, one face after the other
    edges: Any  # each: where it begins, its direction, the normals of both faces, its length; pairs of them are many


@helper
def open_hull(of):
    """The hull of a record: address of its numbers, and how many vertices, faces and edges it has."""
    faces = 1 + 3 * of[1]
    corners = faces + _N_FACE * of[2]
    edges = corners + 2 * of[3]  # every edge belongs to two faces
    x = numbers_at(of[0], edges + _N_EDGE * of[3])
    return Hull(x[0], x[1:faces], x[faces:corners], x[corners:edges], x[edges:])


@helper
def count_vertices(hull):
    """Number of vertices."""
    return len(hull.vertices) // 3


@helper
def count_faces(hull):
    """Number of faces."""
    return len(hull.faces) // _N_FACE


@helper
def count_edges(hull):
    """Number of edges."""
    return len(hull.edges) // _N_EDGE


@helper
def vertex_of(hull, i):
    """Vertex i."""
    k = 3 * i
    return hull.vertices[k], hull.vertices[k + 1], hull.vertices[k + 2]


@helper
def normal_of(hull, f):
    """Normal of face f, outwards."""
    k = _N_FACE * f
    return hull.faces[k], hull.faces[k + 1], hull.faces[k + 2]


@helper
def distance_of(hull, f):
    """Distance of face f from the origin, along its normal."""
    return hull.faces[_N_FACE * f + 3]


@helper
def count_corners(hull, f):
    """Number of corners of face f."""
    return int(hull.faces[_N_FACE * f + 5])


@helper
def corner_of_face(hull, f, i):
    """Corner i of face f; after the last comes the first."""
    first, n = int(hull.faces[_N_FACE * f + 4]), count_corners(hull, f)
    return vertex_of(hull, int(hull.corners[first + i % n]))


@helper
def begin_of(hull, e):
    """Where edge e begins."""
    k = _N_EDGE * e
    return hull.edges[k], hull.edges[k + 1], hull.edges[k + 2]


@helper
def direction_of(hull, e):
    """Direction of edge e."""
    k = _N_EDGE * e + 3
    return hull.edges[k], hull.edges[k + 1], hull.edges[k + 2]


@helper
def normal_beside(hull, e, side):
    """Normal of the first face (0) or the second one (1) of edge e."""
    k = _N_EDGE * e + 6 + 3 * side
    return hull.edges[k], hull.edges[k + 1], hull.edges[k + 2]


@helper
def length_of(hull, e):
    """Length of edge e."""
    return hull.edges[_N_EDGE * e + 12]


@helper
def side_of_face(hull, f, i):
    """Corner i of face f, and the direction in the face that leads out of it over the edge that begins there."""
    p = corner_of_face(hull, f, i)
    out = cross3(sub3(corner_of_face(hull, f, i + 1), p), normal_of(hull, f))
    return p, scale3(1.0 / length3(out), out)


@routine
def is_over(hull, f, p, margin):
    """Whether a point is over face f, or beyond one of its edges by less than a margin."""
    for i in range(count_corners(hull, f)):
        corner, out = side_of_face(hull, f, i)
        if dot3(out, sub3(p, corner)) > margin:
            return False
    return True


@routine
def hull_distance(hull, p):
    """Distance of a point from a hull, negative inside, and the direction out of the hull there."""
    best, n = -math.inf, (0.0, 0.0, 1.0)
    for f in range(count_faces(hull)):
        m = normal_of(hull, f)
        s = dot3(m, p) - distance_of(hull, f)
        if s > best:
            best, n = s, m
        if s > 0.0 and is_over(hull, f, p, FLUSH):
            return s, m
    if not best > 0.0:
        return best, n
    nearest, away = math.inf, n
    for e in range(count_edges(hull)):
        a, u = begin_of(hull, e), direction_of(hull, e)
        along = min(length_of(hull, e), max(0.0, dot3(u, sub3(p, a))))
        d = sub3(p, add3(a, scale3(along, u)))
        square = dot3(d, d)
        if square < nearest:
            nearest, away = square, d
    distance = math.sqrt(nearest)
    return distance, scale3(1.0 / distance, away)
