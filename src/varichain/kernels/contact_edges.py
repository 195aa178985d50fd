"""Edges and corners of boxes and hulls: where they meet sides of capsules and cylinders, and flat ends of cylinders.

They are looked for where a step begins. On a side, the edges that cross the axis and the corners beside it are the
nearest ones that there is room for; which they are stays so until the step ends, while where they touch moves on with
the bodies. At a flat end, corners press on the face and edges on the rim that they cross, with the direction across
both; these points stay in their bodies, as those of two boxes do.
"""

import math

from varichain.kernels.contact_records import IN_A, N_CAPS, N_EDGES, NOWHERE
from varichain.kernels.hulls import begin_of, count_edges, count_vertices, direction_of, length_of, open_hull, vertex_of
from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    cross3,
    dot3,
    length3,
    load3,
    load9,
    mat_t_vec,
    mat_vec,
    scale3,
    store3,
    sub3,
)

N_BOX_EDGES, N_BOX_CORNERS = 12, 8
_PARALLEL = 1e-9  # square of the sine of the angle between lines that meet along a stretch: ends bear
_TANGENT = 1e-3  # sine of the angle between an edge and the rim that it crosses, below which it has no direction
_OUT_OF_REACH = 0.25  # [m] from a box beyond which no edge is looked at


@helper
def _sign(bit):
    return 1.0 if bit else -1.0


@helper
def _from_axis(k, x, y, z):
    """A vector with component z along axis k, x and y along the next ones."""
    if k == 2:
        return x, y, z
    if k == 0:
        return z, x, y
    return y, z, x


@helper
def _to_axis(k, v):
    """Components of a vector along the two axes after k, and along k."""
    if k == 2:
        return v[0], v[1], v[2]
    if k == 0:
        return v[1], v[2], v[0]
    return v[2], v[0], v[1]


@helper
def corner_of(half, i):
    """Corner i of a box."""
    return _sign(i & 1) * half[0], _sign(i & 2) * half[1], _sign(i & 4) * half[2]


@helper
def edge_of(half, i):
    """Middle of edge i of a box, its axis, and half of its length."""
    k = i // 4
    x, y, z = _to_axis(k, half)
    return _from_axis(k, _sign(i & 1) * x, _sign(i & 2) * y, 0.0), k, z


@routine
def _cross(p, d, half, e, length):
    """Where the axis of a capsule crosses an edge: (place on the axis, distance, direction from the edge).

    p is the capsule's middle from that of the edge, d and e are the directions of both, `half` is half of the length of
    the axis and `length` that of the edge.
    """
    r, along = dot3(d, e), dot3(p, e)
    square = 1.0 - r * r
    s = (r * along - dot3(d, p)) / square if square > _PARALLEL else math.inf
    if not abs(s) < half or abs(along + s * r) > length:
        return 0.0, math.inf, ZERO3
    away = sub3(add3(p, scale3(s, d)), scale3(along + s * r, e))
    distance = length3(away)
    return s, distance, scale3(1.0 / distance, away) if distance > 0.0 else (0.0, 0.0, 1.0)


@routine
def pass_side(contact, feature, p, d):
    """Where the axis of a capsule passes an edge or a corner of a box or hull, as `_cross`; all in that one's frame.

    What is deeper in the side of a cylinder than in its flat end meets that.
    """
    half, flat = contact.radii[0], contact.radii[1]
    if contact.hull_B[0] != 0:
        s, distance, n = _pass_hull(open_hull(contact.hull_B), feature, p, d, half)
    else:
        s, distance, n = _pass_box(load3(contact.sizes), feature, p, d, half)
    if flat - distance > half - abs(s):
        return 0.0, math.inf, ZERO3
    return s, distance, n


@helper
def _pass_box(sizes, feature, p, d, half):
    """Where the axis of a capsule passes an edge or a corner of a box."""
    if feature >= N_BOX_EDGES:
        return _pass_corner(sub3(p, corner_of(sizes, feature - N_BOX_EDGES)), d, half)
    middle, k, length = edge_of(sizes, feature)
    return _cross(sub3(p, middle), d, half, _from_axis(k, 0.0, 0.0, 1.0), length)


@helper
def _pass_hull(hull, feature, p, d, half):
    """Where the axis of a capsule passes an edge or a corner of a hull."""
    n = count_edges(hull)
    if feature >= n:
        return _pass_corner(sub3(p, vertex_of(hull, feature - n)), d, half)
    e, length = direction_of(hull, feature), 0.5 * length_of(hull, feature)
    middle = add3(begin_of(hull, feature), scale3(length, e))
    return _cross(sub3(p, middle), d, half, e, length)


@routine
def _pass_corner(away, d, half):
    """Where the axis of a capsule passes a corner, from which its middle is `away`."""
    s = -dot3(d, away)
    away = add3(away, scale3(s, d))
    distance = length3(away)
    if not abs(s) < half or distance == 0.0:
        return 0.0, math.inf, ZERO3
    return s, distance, scale3(1.0 / distance, away)


@helper
def _is_outward(i, k, n):
    """Whether a direction is between those of the two faces beside edge i, which is along axis k."""
    a, b, _ = _to_axis(k, n)
    return min(_sign(i & 1) * a, _sign(i & 2) * b) > -_TANGENT


@helper
def is_beside(p, half):
    """Whether a point is beyond two or three faces of a box."""
    beyond = (1 if abs(p[0]) > half[0] else 0) + (1 if abs(p[1]) > half[1] else 0) + (1 if abs(p[2]) > half[2] else 0)
    return beyond > 1


@helper
def _is_far(p, sizes, reach):
    """Whether a point is so far from a box that nothing within a reach of it comes near."""
    beyond = (max(abs(p[0]) - sizes[0], 0.0), max(abs(p[1]) - sizes[1], 0.0), max(abs(p[2]) - sizes[2], 0.0))
    return length3(beyond) > reach + _OUT_OF_REACH


@routine
def find_sides(contacts, c, p, d):
    """Choose the edges and corners of a box or hull that are nearest to the side of a capsule: the contacts from c on.

    p is the capsule's middle and d its axis, in the frame of the box or hull.
    """
    sizes, half, n = load3(contacts[c].sizes), contacts[c].radii[0], N_BOX_EDGES + N_BOX_CORNERS
    if contacts[c].hull_B[0] != 0:
        hull = open_hull(contacts[c].hull_B)
        n = count_edges(hull) + count_vertices(hull)
    for i in range(N_EDGES):
        contacts[c + i].holder = NOWHERE
        contacts[c + i].gap = math.inf
    if _is_far(p, sizes, half + contacts[c].radius):
        return
    for feature in range(n):
        _, distance, _ = pass_side(contacts[c], feature, p, d)
        chosen = feature
        for i in range(N_EDGES):  # in the order of their distances
            contact = contacts[c + i]
            if distance < contact.gap:
                contact.gap, distance = distance, contact.gap
                contact.holder, chosen = chosen, contact.holder


@routine
def _enter(contacts, c, gap, R, x_A, x_B, n):
    """Put a point at a flat end among the contacts from c on, if it is one of the nearest.

    x_A, x_B and n are in the cylinder's frame, of which R has the axes in the box's frame.
    """
    for i in range(N_CAPS):
        if gap < contacts[c + i].gap:
            for j in range(N_CAPS - 1, i, -1):
                to, other = contacts[c + j], contacts[c + j - 1]
                to.gap = other.gap
                to.holder = other.holder
                store3(to.x_in_A, load3(other.x_in_A))
                store3(to.x_in_B, load3(other.x_in_B))
                store3(to.n_in, load3(other.n_in))
            contact = contacts[c + i]
            R_A, R_B, p = load9(contact.R_A), load9(contact.R_B), load3(contact.x_A)
            contact.gap = gap
            contact.holder = IN_A
            store3(contact.x_in_A, add3(load3(contact.p_A), mat_vec(R_A, x_A)))
            store3(contact.x_in_B, add3(load3(contact.p_B), mat_vec(R_B, add3(p, mat_vec(R, x_B)))))
            store3(contact.n_in, mat_vec(R_A, n))
            return


@routine
def _press_corners(contacts, c, p, R, side):
    """Corners of a box on a flat end."""
    sizes, r, half = load3(contacts[c].sizes), contacts[c].radius, contacts[c].radii[0]
    for i in range(N_BOX_CORNERS):
        v = mat_t_vec(R, sub3(corner_of(sizes, i), p))
        away = math.sqrt(v[0] * v[0] + v[1] * v[1])
        gap = side * v[2] - half
        if away < r and gap > max(away - r, -half):  # out by this end, which is nearer than the side and the other end
            _enter(contacts, c, gap, R, (v[0], v[1], side * half), v, (0.0, 0.0, -side))


@routine
def _press_edges(contacts, c, p, R, side):
    """Edges of a box on the rim of a flat end, where they cross it."""
    sizes, r, half = load3(contacts[c].sizes), contacts[c].radius, contacts[c].radii[0]
    for i in range(N_BOX_EDGES):
        middle, k, length = edge_of(sizes, i)
        m, e = mat_t_vec(R, sub3(middle, p)), mat_t_vec(R, _from_axis(k, 0.0, 0.0, 1.0))
        square, along = e[0] * e[0] + e[1] * e[1], e[0] * m[0] + e[1] * m[1]
        if square < _TANGENT * _TANGENT:
            continue
        t = -along / square
        nearest = (m[0] + t * e[0]) * (m[0] + t * e[0]) + (m[1] + t * e[1]) * (m[1] + t * e[1])
        if nearest >= r * r:
            continue
        reach = math.sqrt((r * r - nearest) / square)
        for end in (-1.0, 1.0):
            w = t + end * reach
            x = add3(m, scale3(w, e))
            if abs(w) > length or side * x[2] - half < max(math.sqrt(nearest) - r, -half):
                continue
            n = cross3(e, (-x[1], x[0], 0.0))
            size = length3(n)
            if size < _TANGENT * r or abs(n[2]) < _TANGENT * size:
                continue
            n = scale3((-side if n[2] > 0.0 else side) / size, n)
            # it leaves the end upwards, and the other crossing is lower; or a face beside the edge is in the way
            if n[0] * x[0] + n[1] * x[1] > _TANGENT * r or not _is_outward(i, k, mat_vec(R, n)):
                continue
            gap = (side * half - x[2]) * n[2]
            _enter(contacts, c, gap, R, (x[0], x[1], side * half), x, n)


@routine
def find_caps(contacts, c, p, R):
    """Points where a box presses on the flat ends of a cylinder, or would: the contacts from c on.

    p is the cylinder's middle and R its axes, in the box's frame.
    """
    for i in range(N_CAPS):
        contacts[c + i].holder = NOWHERE
        contacts[c + i].gap = math.inf
        store3(contacts[c + i].x_A, p)
    r, half = contacts[c].radius, contacts[c].radii[0]
    if _is_far(p, load3(contacts[c].sizes), math.sqrt(r * r + half * half)):
        return
    for side in (-1.0, 1.0):
        _press_corners(contacts, c, p, R, side)
        _press_edges(contacts, c, p, R, side)
