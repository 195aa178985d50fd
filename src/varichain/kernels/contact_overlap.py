"""Overlaps of two boxes: where they press on each other, face on face or edge across edge; and where all pairs do.

Of the directions that may separate two boxes, faces of either and pairs of edges, the one that separates them best is
taken [Gottschalk, Lin and Manocha 1996]. Where it belongs to a face, the face of the other box that looks at it is
clipped to it: up to eight points. They are found where a step begins, and stay in their bodies until it ends: a gap is
n . (x_A - x_B), with n in the body of the face.
"""

import math

from varichain.kernels.contact_edges import find_caps, find_sides
from varichain.kernels.contact_geometry import measure_contact
from varichain.kernels.contact_hulls import find_hulls, transposed, write_overlap
from varichain.kernels.contact_records import (
    BOX,
    CAP,
    FLUSH,
    IN_A,
    IN_B,
    N_CAPS,
    N_EDGES,
    N_OVERLAP,
    NOWHERE,
    OVERLAP,
    RIM,
    SIDE,
)
from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import offset_between_trees
from varichain.kernels.relative_rotation import turned_back
from varichain.kernels.tuples import (
    add3,
    cross3,
    dot3,
    length3,
    load3,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    scale3,
    store3,
    sub3,
)

FAVOUR, EQUAL = 0.01, 1e-7  # of faces over edges: in a step, so that faces bear; and where depths are looked at
_LEVEL = 0.91  # square of the cosine of a rim's axis with the normal, above which it is nearly level
_PARALLEL = 1e-3  # sine of the angle of two edges that have no direction of their own


@helper
def _sign(x):
    return 1.0 if x >= 0.0 else -1.0


@helper
def _unit(k):
    return (1.0 if k == 0 else 0.0, 1.0 if k == 1 else 0.0, 1.0 if k == 2 else 0.0)


@helper
def _axis(R, k):
    """Column k of a matrix."""
    return mat_vec(R, _unit(k))


@helper
def _relative(bodies, contact):
    """Middle and axes of A's box, hull, capsule or cylinder in the frame of B's box or hull.

    Needs: bodies placed.
    """
    A, B = bodies[contact.body_A], bodies[contact.body_B]
    R_A, R_B = load9(A.R), load9(B.R)
    R_WS = mat_mul(R_B, load9(contact.R_B))
    x = add3(load3(A.p), mat_vec(R_A, load3(contact.p_A)))
    origin = sub3(add3(load3(B.p), mat_vec(R_B, load3(contact.p_B))), offset_between_trees(bodies, contact))
    return mat_t_vec(R_WS, sub3(x, origin)), turned_back(mat_mul(R_A, load9(contact.R_A)), R_WS)


@helper
def _reach(half, R, m):
    """How far a box with axes R reaches along m, from its middle."""
    y = mat_t_vec(R, m)
    return half[0] * abs(y[0]) + half[1] * abs(y[1]) + half[2] * abs(y[2])


@routine
def _best_face(own, other, c, R):
    """How well faces of a box separate it from another with middle c and axes R; and the best one's axis."""
    best, k = -math.inf, 0
    for i in range(3):
        e = _unit(i)
        s = abs(dot3(e, c)) - dot3(e, own) - _reach(other, R, e)
        if s > best:
            best, k = s, i
    return best, k


@routine
def _best_edges(own, other, c, R):
    """How well pairs of edges separate two boxes; axes of the best, and the direction from the first to the second."""
    best, i, j, m = -math.inf, 0, 0, (0.0, 0.0, 1.0)
    for a in range(3):
        for b in range(3):
            across = cross3(_unit(a), _axis(R, b))
            length = length3(across)
            if length < _PARALLEL:
                continue
            e = scale3(_sign(dot3(across, c)) / length, across)
            s = dot3(e, c) - (own[0] * abs(e[0]) + own[1] * abs(e[1]) + own[2] * abs(e[2])) - _reach(other, R, e)
            if s > best:
                best, i, j, m = s, a, b, e
    return best, i, j, m


@routine
def _support(half, R, m, without):
    """Place of a box, from its middle, that is farthest along m; in the middle of the edges along one axis, if any."""
    y = mat_t_vec(R, m)
    p = (_sign(y[0]) * half[0], _sign(y[1]) * half[1], _sign(y[2]) * half[2])
    if without >= 0:
        p = sub3(p, scale3(dot3(p, _unit(without)), _unit(without)))
    return mat_vec(R, p)


@routine
def _clip(contacts, c, n, axis, sign, limit):
    """Cut a polygon of n corners, in x_A of the contacts from c on, at a plane; returns the number that is left."""
    e, left = scale3(sign, _unit(axis)), 0
    for i in range(n):
        p, q = load3(contacts[c + i].x_A), load3(contacts[c + (i + 1) % n].x_A)
        a, b = dot3(e, p) - limit, dot3(e, q) - limit
        if a <= FLUSH:
            store3(contacts[c + left].x_B, p)
            left += 1
        if (a <= FLUSH) != (b <= FLUSH) and left < N_OVERLAP:
            store3(contacts[c + left].x_B, add3(p, scale3(a / (a - b), sub3(q, p))))
            left += 1
    for i in range(left):
        store3(contacts[c + i].x_A, load3(contacts[c + i].x_B))
    return left


@routine
def _clipped_face(contacts, c, own, other, middle, R, k):
    """Corners, into x_A, of what lies before face k of a box of the other box's face that looks at it.

    All is in the frame of the box with the face. Returns their number, and the side of the face.
    """
    e = _unit(k)
    side = _sign(dot3(e, middle))
    y = mat_t_vec(R, e)
    j = 0 if abs(y[0]) >= max(abs(y[1]), abs(y[2])) else (1 if abs(y[1]) >= abs(y[2]) else 2)
    a, b = (j + 1) % 3, (j + 2) % 3
    facing = -side * _sign(dot3(y, _unit(j)))
    center = add3(middle, scale3(facing * dot3(other, _unit(j)), _axis(R, j)))
    along, across = scale3(dot3(other, _unit(a)), _axis(R, a)), scale3(dot3(other, _unit(b)), _axis(R, b))
    store3(contacts[c].x_A, add3(center, add3(along, across)))
    store3(contacts[c + 1].x_A, add3(center, sub3(along, across)))
    store3(contacts[c + 2].x_A, sub3(center, add3(along, across)))
    store3(contacts[c + 3].x_A, sub3(center, sub3(along, across)))
    n = 4
    for beside in range(1, 3):
        axis = (k + beside) % 3
        for sign in (-1.0, 1.0):
            if n > 0:
                n = _clip(contacts, c, n, axis, sign, dot3(own, _unit(axis)))
    return n, side


@routine
def _write_edges(contact, t, R, a, b, i, j, m):
    """The contact of edge i of B's box with edge j of A's, along m: where the two lines are nearest."""
    identity = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
    p_B, p_A = _support(b, identity, m, i), sub3(t, _support(a, R, m, j))
    along_A, along_B = _axis(R, j), _unit(i)
    d, r = sub3(p_A, p_B), dot3(along_A, along_B)
    x, y = dot3(along_A, d), dot3(along_B, d)
    u = (r * y - x) / (1.0 - r * r)
    w = y + r * u
    most_A, most_B = dot3(a, _unit(j)), dot3(b, _unit(i))
    u, w = min(most_A, max(-most_A, u)), min(most_B, max(-most_B, w))
    write_overlap(contact, IN_B, t, R, add3(p_A, scale3(u, along_A)), add3(p_B, scale3(w, along_B)), m)


@routine
def _write_faces(contacts, c, t, R, a, b, k, is_B):
    """Contacts of face k of B's box, or of A's, with what looks at it; returns their number."""
    e = _unit(k)
    if is_B:
        n, side = _clipped_face(contacts, c, b, a, t, R, k)
        for i in range(n):
            p = load3(contacts[c + i].x_A)
            on_face = add3(p, scale3(side * dot3(e, b) - dot3(e, p), e))
            write_overlap(contacts[c + i], IN_B, t, R, p, on_face, scale3(side, e))
        return n
    n, side = _clipped_face(contacts, c, a, b, scale3(-1.0, mat_t_vec(R, t)), transposed(R), k)
    for i in range(n):
        p = load3(contacts[c + i].x_A)
        on_face = add3(p, scale3(side * dot3(e, a) - dot3(e, p), e))
        p_A, p_B = add3(t, mat_vec(R, on_face)), add3(t, mat_vec(R, p))
        write_overlap(contacts[c + i], IN_A, t, R, p_A, p_B, mat_vec(R, scale3(-side, e)))
    return n


@routine
def _find_overlap(contacts, c, t, R, favour):
    """Points where two boxes touch, or would: the eight contacts from c on.

    t and R are the middle and the axes of A's box in the frame of B's.
    """
    a, b = load3(contacts[c].half), load3(contacts[c].sizes)
    s_B, k_B = _best_face(b, a, t, R)
    s_A, k_A = _best_face(a, b, scale3(-1.0, mat_t_vec(R, t)), transposed(R))
    s_edges, i, j, m = _best_edges(b, a, t, R)
    n = 0
    if s_edges > max(s_A, s_B) + favour * min(a[0], a[1], a[2], b[0], b[1], b[2]):
        _write_edges(contacts[c], t, R, a, b, i, j, m)
        n = 1
    elif s_B >= s_A - FLUSH:
        n = _write_faces(contacts, c, t, R, a, b, k_B, True)
    else:
        n = _write_faces(contacts, c, t, R, a, b, k_A, False)
    if n == 0:  # beside each other: what would touch first if they came nearer
        e = _unit(k_B) if s_B >= s_A - FLUSH else _axis(R, k_A)
        e = scale3(_sign(dot3(e, t)), e)
        p_A = sub3(t, _support(a, R, e, -1))
        identity = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
        write_overlap(contacts[c], IN_B, t, R, p_A, _support(b, identity, e, -1), e)
        n = 1
    for other in range(n, N_OVERLAP):
        contacts[c + other].holder = NOWHERE


@routine
def _find_rim(bodies, contact):
    """Point of a rim, with its gap; it stays in its link but for the lowest one of a rim that is tilted, which rolls.

    A rim that is nearly level has no lowest point for long.

    Needs: bodies placed.
    """
    contact.holder = NOWHERE
    measure_contact(bodies, contact)
    A = bodies[contact.body_A]
    R = load9(A.R)
    along = dot3(load3(contact.n), mat_vec(R, _axis(load9(contact.R_A), 2)))
    is_first = contact.radii[0] == 1.0
    if not (is_first and along * along < _LEVEL):
        contact.holder = IN_A
        store3(contact.x_in_A, mat_t_vec(R, sub3(load3(contact.x_A), load3(A.p))))


@routine
def find_overlaps(bodies, contacts, favour):
    """Points of rims, of pairs of boxes or hulls, and of sides and flat ends with them, where bodies are; with gaps.

    `favour` is the part of the smallest half width by which a pair of edges must separate two better than any face.

    Needs: bodies placed.
    """
    for c in range(len(contacts)):
        contact = contacts[c]
        n = 0
        if contact.place == 0 and contact.surface_kind == BOX:
            if contact.point_kind == OVERLAP:
                t, R = _relative(bodies, contact)
                if contact.hull_A[0] != 0:
                    find_hulls(contacts, c, t, R, favour)
                else:
                    _find_overlap(contacts, c, t, R, favour)
                n = N_OVERLAP
            elif contact.point_kind == SIDE:
                p, R = _relative(bodies, contact)
                find_sides(contacts, c, p, _axis(R, 2))
                n = N_EDGES
            elif contact.point_kind == CAP:
                p, R = _relative(bodies, contact)
                find_caps(contacts, c, p, R)
                n = N_CAPS
        if contact.point_kind == RIM:
            _find_rim(bodies, contact)
        for i in range(n):
            measure_contact(bodies, contacts[c + i])
