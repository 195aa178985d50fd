"""Overlaps of two hulls: where they press on each other, face on face or edge across edge.

The direction that separates them best is taken, among the normals of the faces of both and the directions across pairs
of edges, of which only those count whose arcs cross on the sphere of normals [Gregorius 2013]. Where it belongs to a
face, the face of the other hull that looks at it is cut to it; of more corners than there is room for, the deepest one
and those farthest out in some directions are kept. Boxes could be hulls; two of them take half to two thirds of the
time in their own way, which needs no lists (`contact_overlap`).
"""

import math

from varichain.kernels.contact_records import FLUSH, IN_A, IN_B, N_OVERLAP, NOWHERE
from varichain.kernels.hulls import (
    begin_of,
    corner_of_face,
    count_corners,
    count_edges,
    count_faces,
    count_vertices,
    direction_of,
    distance_of,
    is_over,
    length_of,
    normal_beside,
    normal_of,
    open_hull,
    side_of_face,
    vertex_of,
)
from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import (
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

_PARALLEL = 1e-3  # sine of the angle of two edges that have no direction of their own
_UPRIGHT = 1e-3  # cosine of the angle between two faces of which neither is seen from the other


@helper
def transposed(R):
    """The inverse of a rotation."""
    return R[0], R[3], R[6], R[1], R[4], R[7], R[2], R[5], R[8]


@routine
def write_overlap(contact, holder, t, R, p_A, p_B, n):
    """Points of both shapes and the direction between them, all in the frame of B's, as numbers of their bodies.

    t and R are the middle and the axes of A's shape in that frame.
    """
    contact.holder = holder
    R_A, R_B = load9(contact.R_A), load9(contact.R_B)
    store3(contact.x_in_A, add3(load3(contact.p_A), mat_vec(R_A, mat_t_vec(R, sub3(p_A, t)))))
    store3(contact.x_in_B, add3(load3(contact.p_B), mat_vec(R_B, p_B)))
    store3(contact.n_in, mat_vec(R_B, n) if holder == IN_B else mat_vec(R_A, mat_t_vec(R, n)))


@routine
def _farthest(hull, m):
    """The vertex of a hull that is farthest along m."""
    best, p = -math.inf, (0.0, 0.0, 0.0)
    for i in range(count_vertices(hull)):
        v = vertex_of(hull, i)
        s = dot3(m, v)
        if s > best:
            best, p = s, v
    return p


@routine
def _best_face(own, other, t, R):
    """How well faces of a hull separate it from another one with origin t and axes R; and which one does best."""
    best, k = -math.inf, 0
    for f in range(count_faces(own)):
        n = normal_of(own, f)
        m = mat_t_vec(R, n)
        s = dot3(n, t) + dot3(m, _farthest(other, scale3(-1.0, m))) - distance_of(own, f)
        if s > best:
            best, k = s, f
    return best, k


@routine
def _best_edges(own, other, t, R):
    """How well pairs of edges separate two hulls; the best two, and the direction from the first to the second."""
    best, i, j, m = -math.inf, 0, 0, (0.0, 0.0, 1.0)
    for l in range(count_edges(other)):
        w = mat_vec(R, direction_of(other, l))
        c, d = mat_vec(R, normal_beside(other, l, 0)), mat_vec(R, normal_beside(other, l, 1))
        for k in range(count_edges(own)):
            u = direction_of(own, k)
            x = dot3(c, u)
            if not x * dot3(d, u) < 0.0:
                continue
            a, b = normal_beside(own, k, 0), normal_beside(own, k, 1)
            z = dot3(b, w)
            if not (dot3(a, w) * z < 0.0 and x * z < 0.0):
                continue
            across = cross3(u, w)
            length = length3(across)
            if length < _PARALLEL:
                continue
            e = scale3((1.0 if dot3(across, add3(a, b)) > 0.0 else -1.0) / length, across)
            q = add3(t, mat_vec(R, begin_of(other, l)))
            s = dot3(e, sub3(q, begin_of(own, k)))
            if s > best:
                best, i, j, m = s, k, l, e
    return best, i, j, m


@routine
def _write_edges(contact, own, other, t, R, i, j, m):
    """The contact of edge i of B's hull with edge j of A's, along m: where the two lines are nearest."""
    p, u = begin_of(own, i), direction_of(own, i)
    q, w = add3(t, mat_vec(R, begin_of(other, j))), mat_vec(R, direction_of(other, j))
    d, r = sub3(q, p), dot3(u, w)
    x, y, k = dot3(u, d), dot3(w, d), 1.0 / (1.0 - r * r)
    along_B = min(length_of(own, i), max(0.0, k * (x - r * y)))
    along_A = min(length_of(other, j), max(0.0, k * (r * x - y)))
    write_overlap(contact, IN_B, t, R, add3(q, scale3(along_A, w)), add3(p, scale3(along_B, u)), m)


@routine
def _facing(hull, m):
    """The face of a hull that looks most against m."""
    least, k = math.inf, 0
    for f in range(count_faces(hull)):
        s = dot3(normal_of(hull, f), m)
        if s < least:
            least, k = s, f
    return k


@routine
def _cut(hull, f, p, q):
    """The part of the way from p to q that is over a face: where it begins and ends; it ends first if there is none."""
    begin, end = 0.0, 1.0
    for i in range(count_corners(hull, f)):
        corner, out = side_of_face(hull, f, i)
        a, b = dot3(out, sub3(p, corner)), dot3(out, sub3(q, corner))
        if a > FLUSH and b > FLUSH:
            return 1.0, 0.0
        if a > FLUSH:
            begin = max(begin, min(1.0, a / (a - b)))
        elif b > FLUSH:
            end = min(end, max(0.0, a / (a - b)))
    return begin, end


@routine
def _keep(contacts, c, n, p, count, is_full):
    """Keep a corner in x_A of the contacts from c on, as the next one or, if there are too many, as one of the best.

    Those are the one deepest along n, and the ones farthest out in directions across n. `gap` has how far they are.
    Returns the number of corners.
    """
    if not is_full:
        if count < N_OVERLAP:
            store3(contacts[c + count].x_A, p)
        return count + 1
    e = (1.0, 0.0, 0.0) if abs(n[0]) < 0.7 else (0.0, 1.0, 0.0)
    e = cross3(n, e)
    f = cross3(n, e)
    for i in range(N_OVERLAP):
        turn = 2.0 * math.pi * i / (N_OVERLAP - 1)
        out = add3(scale3(math.cos(turn), e), scale3(math.sin(turn), f)) if i > 0 else scale3(-1.0, n)
        far = dot3(out, p)
        if count == 0 or far > contacts[c + i].gap + FLUSH:  # ties go to the first
            contacts[c + i].gap = far
            store3(contacts[c + i].x_A, p)
    return count + 1


@routine
def _cut_face(contacts, c, own, other, t, R, k, is_full):
    """Corners, into x_A, of what lies before face k of a hull of the face of another one that looks at it.

    All is in the frame of the hull with the face; t and R are origin and axes of the other. Returns their number.
    """
    n, count = normal_of(own, k), 0
    j = _facing(other, mat_t_vec(R, n))
    for i in range(count_corners(other, j)):
        p = add3(t, mat_vec(R, corner_of_face(other, j, i)))
        q = add3(t, mat_vec(R, corner_of_face(other, j, i + 1)))
        begin, end = _cut(own, k, p, q)
        if begin <= end:
            count = _keep(contacts, c, n, add3(p, scale3(begin, sub3(q, p))), count, is_full)
            if end < 1.0:
                count = _keep(contacts, c, n, add3(p, scale3(end, sub3(q, p))), count, is_full)
    m = normal_of(other, j)
    down = mat_t_vec(R, n)
    slope = dot3(m, down)
    if slope > -_UPRIGHT:
        return count
    for i in range(count_corners(own, k)):
        p = mat_t_vec(R, sub3(corner_of_face(own, k, i), t))  # of the face itself, if it is over the other's
        p = sub3(p, scale3((dot3(m, p) - distance_of(other, j)) / slope, down))
        if is_over(other, j, p, -FLUSH):
            count = _keep(contacts, c, n, add3(t, mat_vec(R, p)), count, is_full)
    return count


@helper
def _from_those_before(contacts, c, i):
    """Distance of corner i from the nearest of those before it."""
    p, least = load3(contacts[c + i].x_A), math.inf
    for j in range(i):
        least = min(least, length3(sub3(load3(contacts[c + j].x_A), p)))
    return least


@routine
def _corners_before(contacts, c, own, other, t, R, k):
    """As `_cut_face`, at most as many as there is room for."""
    n = _cut_face(contacts, c, own, other, t, R, k, False)
    if n > N_OVERLAP:
        _cut_face(contacts, c, own, other, t, R, k, True)
        n = 0
        for i in range(N_OVERLAP):
            if _from_those_before(contacts, c, i) > FLUSH:
                store3(contacts[c + n].x_A, load3(contacts[c + i].x_A))
                n += 1
    return n


@routine
def _write_faces(contacts, c, t, R, a, b, k, is_B):
    """Contacts of face k of B's hull, or of A's, with what looks at it; returns their number."""
    if is_B:
        e = normal_of(b, k)
        n = _corners_before(contacts, c, b, a, t, R, k)
        for i in range(n):
            p = load3(contacts[c + i].x_A)
            on_face = add3(p, scale3(distance_of(b, k) - dot3(e, p), e))
            write_overlap(contacts[c + i], IN_B, t, R, p, on_face, e)
        return n
    e = normal_of(a, k)
    n = _corners_before(contacts, c, a, b, scale3(-1.0, mat_t_vec(R, t)), transposed(R), k)
    for i in range(n):
        p = load3(contacts[c + i].x_A)
        on_face = add3(p, scale3(distance_of(a, k) - dot3(e, p), e))
        p_A, p_B = add3(t, mat_vec(R, on_face)), add3(t, mat_vec(R, p))
        write_overlap(contacts[c + i], IN_A, t, R, p_A, p_B, mat_vec(R, scale3(-1.0, e)))
    return n


@routine
def find_hulls(contacts, c, t, R, favour):
    """Points where two hulls touch, or would: the eight contacts from c on.

    t and R are the origin and the axes of A's hull in the frame of B's.
    """
    a, b = open_hull(contacts[c].hull_A), open_hull(contacts[c].hull_B)
    s_B, k_B = _best_face(b, a, t, R)
    s_A, k_A = _best_face(a, b, scale3(-1.0, mat_t_vec(R, t)), transposed(R))
    s_edges, i, j, m = _best_edges(b, a, t, R)
    n = 0
    if s_edges > max(s_A, s_B) + favour * min(a.half_width, b.half_width):
        _write_edges(contacts[c], b, a, t, R, i, j, m)
        n = 1
    elif s_B >= s_A - FLUSH:
        n = _write_faces(contacts, c, t, R, a, b, k_B, True)
    else:
        n = _write_faces(contacts, c, t, R, a, b, k_A, False)
    if n == 0:  # beside each other: what would touch first if they came nearer
        e = normal_of(b, k_B) if s_B >= s_A - FLUSH else scale3(-1.0, mat_vec(R, normal_of(a, k_A)))
        p_A = add3(t, mat_vec(R, _farthest(a, scale3(-1.0, mat_t_vec(R, e)))))
        write_overlap(contacts[c], IN_B, t, R, p_A, _farthest(b, e), e)
        n = 1
    for other in range(n, N_OVERLAP):
        contacts[c + other].holder = NOWHERE
