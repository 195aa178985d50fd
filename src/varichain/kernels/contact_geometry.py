"""Gaps of contacts: how far a point of a link is from a surface, where the two meet, and in which direction."""

import math

from varichain.kernels.contact_edges import is_beside, pass_side
from varichain.kernels.contact_ellipsoids import ellipsoid_on_box, is_in_box
from varichain.kernels.contact_records import (
    BALL_POINT,
    BOX,
    CAP,
    CAPSULE,
    CYLINDER,
    ELLIPSOID,
    FLUSH,
    HALF_SPACE,
    HEIGHTS,
    IN_A,
    NOWHERE,
    OVERLAP,
    RIM,
    SIDE,
    SPHERE,
)
from varichain.kernels.height_field import field_distance
from varichain.kernels.hulls import hull_distance, open_hull
from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import offset_between_trees
from varichain.kernels.relative_rotation import turned_back
from varichain.kernels.tuples import (
    add3,
    angular,
    column,
    cross3,
    dot3,
    length3,
    linear,
    load3,
    load6,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    scale3,
    store3,
    sub3,
)

_Z = (0.0, 0.0, 1.0)
_TURNS = 8  # of the normal of a surface that is not flat: it is another one at the lowest point than at the middle
_PARALLEL = 1e-9  # square of the sine of the angle between capsules that meet along a line: their ends bear


@helper
def _outwards(x):
    return 1.0 if x >= 0.0 else -1.0


@helper
def _away(d_x, d_y, d_z, p):
    """Distance of a point outside of a box, from how far it is beyond its faces; and its direction."""
    away = (max(d_x, 0.0) * _outwards(p[0]), max(d_y, 0.0) * _outwards(p[1]), max(d_z, 0.0) * _outwards(p[2]))
    distance = length3(away)
    return distance, scale3(1.0 / distance, away)


@routine
def _box(p, half):
    """Distance of a point p from a box, and the direction out of it there, in the box's frame."""
    d_x, d_y, d_z = abs(p[0]) - half[0], abs(p[1]) - half[1], abs(p[2]) - half[2]
    if d_z >= max(d_x, d_y):
        if max(d_x, d_y) <= FLUSH:
            return d_z, (0.0, 0.0, _outwards(p[2]))
    elif d_y >= d_x:
        if max(d_x, d_z) <= FLUSH:
            return d_y, (0.0, _outwards(p[1]), 0.0)
    elif max(d_y, d_z) <= FLUSH:
        return d_x, (_outwards(p[0]), 0.0, 0.0)
    return _away(d_x, d_y, d_z, p)


@routine
def _cylinder(p, radius, half):
    """Distance of a point p from a cylinder about the z axis, and the direction out of it there."""
    away = math.sqrt(p[0] * p[0] + p[1] * p[1])
    d_r, d_z, up = away - radius, abs(p[2]) - half, _outwards(p[2])
    if d_z >= d_r and d_r <= FLUSH:
        return d_z, (0.0, 0.0, up)
    out = (p[0] / away, p[1] / away, 0.0) if away > 0.0 else (1.0, 0.0, 0.0)
    if d_z <= FLUSH:
        return d_r, out
    distance = math.sqrt(d_r * d_r + d_z * d_z)
    return distance, scale3(1.0 / distance, add3(scale3(d_r, out), (0.0, 0.0, up * d_z)))


@helper
def _from_middle(p, radius):
    """Distance of a point from a sphere about the origin, and its direction; up, if the point is its middle."""
    distance = length3(p)
    return distance - radius, (scale3(1.0 / distance, p) if distance > 0.0 else _Z)


@routine
def surface_distance(contact, p):
    """Distance of a point p, in the surface's frame, from the surface; and the surface's normal there."""
    if contact.surface_kind == HALF_SPACE:
        return p[2], _Z
    if contact.surface_kind == BOX:
        if contact.hull_B[0] != 0:
            return hull_distance(open_hull(contact.hull_B), p)
        if contact.point_kind == RIM and is_beside(p, load3(contact.sizes)):
            half = contact.sizes
            return _away(abs(p[0]) - half[0], abs(p[1]) - half[1], abs(p[2]) - half[2], p)
        return _box(p, load3(contact.sizes))
    if contact.surface_kind == SPHERE:
        return _from_middle(p, contact.sizes[0])
    if contact.surface_kind == CYLINDER:
        return _cylinder(p, contact.sizes[0], contact.sizes[1])
    if contact.surface_kind == HEIGHTS:
        return field_distance(contact, p, contact.radius if contact.point_kind == BALL_POINT else 0.0)
    along = min(contact.sizes[1], max(-contact.sizes[1], p[2]))
    return _from_middle((p[0], p[1], p[2] - along), contact.sizes[0])


@routine
def _side_distance(contact, p, d):
    """Distance of a capsule's axis from a sphere or capsule, and where: (place on the axis, distance, normal).

    p is the capsule's middle and d its axis, in the surface's frame. It meets an end of the surface, or crosses its
    side. Where that is not beside the axis the distance is infinite: the capsule's own ends are nearer.
    """
    length = contact.sizes[1] if contact.surface_kind == CAPSULE else 0.0
    along = contact.place * length
    if contact.place == 0:
        crossing = 1.0 - d[2] * d[2]
        s = (d[2] * p[2] - dot3(d, p)) / crossing if crossing > _PARALLEL else math.inf
        along = p[2] + s * d[2]
    else:
        s = d[2] * along - dot3(d, p)
    if not abs(s) < contact.radii[0] or abs(along) > length:
        return 0.0, math.inf, _Z
    distance, n = _from_middle(sub3(add3(p, scale3(s, d)), (0.0, 0.0, along)), contact.sizes[0])
    return s, distance, n


@routine
def _lowest_on_rim(contact, R, n):
    """Point of a rim, from its middle, that is lowest along n, or a place that is turned from there; world axes."""
    axis = column(R, 2)
    down = sub3(scale3(dot3(n, axis), axis), n)
    length = length3(down)
    # level, every point is as low: then the rim's own axis is the place to begin
    e = scale3(1.0 / length, down) if length > 1e-9 else column(R, 0)
    f = cross3(axis, e)
    cosine, sine = contact.radii[0], contact.radii[1]
    return scale3(contact.radius, add3(scale3(cosine, e), scale3(sine, f)))


@routine
def _lowest_of_ellipsoid(contact, R, n):
    """Point of an ellipsoid, from its middle, that is lowest along n; world axes."""
    m, r = mat_t_vec(R, n), contact.radii
    scaled = (r[0] * m[0], r[1] * m[1], r[2] * m[2])
    k = -1.0 / length3(scaled)
    return mat_vec(R, (k * r[0] * scaled[0], k * r[1] * scaled[1], k * r[2] * scaled[2]))


@routine
def _lowest(contact, R, c, n, R_WS, origin):
    """Point of a rim or ellipsoid with middle c and axes R that is lowest on a surface: (distance, normal, point).

    n is the normal at the middle. Where the surface is not flat it is another one at the lowest point. On a height
    field it is followed there; of a box, whose normals jump, the nearest of some points is taken.
    """
    is_box = contact.surface_kind == BOX
    best, n_best, x_best = math.inf, n, c
    for _ in range(_TURNS if is_box or contact.surface_kind == HEIGHTS else 1):
        lowest = _lowest_on_rim(contact, R, n) if contact.point_kind == RIM else _lowest_of_ellipsoid(contact, R, n)
        x = add3(c, lowest)
        p = mat_t_vec(R_WS, sub3(x, origin))
        distance, m = surface_distance(contact, p)
        n = mat_vec(R_WS, m)
        if is_box and not distance < best:
            break
        best, n_best, x_best = distance, n, x
    return best, n_best, x_best


@helper
def _across(n):
    """Two directions at right angles with n and each other; a function of n alone."""
    if abs(n[2]) > 0.7:
        e = (1.0, 0.0, 0.0)
    elif abs(n[0]) > 0.7:
        e = (0.0, 1.0, 0.0)
    else:
        e = (0.0, 0.0, 1.0)
    t = sub3(e, scale3(dot3(e, n), n))
    t = scale3(1.0 / length3(t), t)
    return t, cross3(n, t)


@helper
def _write_directions(contact, n, x, offset):
    """Write directions and point of a contact."""
    t_1, t_2 = _across(n)
    store3(contact.n, n)
    store3(contact.t_1, t_1)
    store3(contact.t_2, t_2)
    store3(contact.x_A, x)
    store3(contact.x_B, add3(x, offset))


@routine
def _measure_overlap(bodies, contact):
    """Write gap, directions and point of a contact of two boxes or hulls, or of a flat end, once its points are found.

    Needs: bodies placed.
    """
    if contact.holder == NOWHERE:
        contact.gap = math.inf
        return
    A, B = bodies[contact.body_A], bodies[contact.body_B]
    R_A, R_B = load9(A.R), load9(B.R)
    offset = offset_between_trees(bodies, contact)
    x_A = add3(load3(A.p), mat_vec(R_A, load3(contact.x_in_A)))
    x_B = sub3(add3(load3(B.p), mat_vec(R_B, load3(contact.x_in_B))), offset)
    in_A = contact.holder == IN_A
    n = mat_vec(R_A, load3(contact.n_in)) if in_A else mat_vec(R_B, load3(contact.n_in))
    contact.gap = dot3(n, sub3(x_A, x_B))
    _write_directions(contact, n, x_B if in_A else x_A, offset)


@routine
def measure_contact(bodies, contact):
    """Write gap, directions and point of a contact.

    Needs: bodies placed.
    """
    if contact.point_kind == OVERLAP or contact.point_kind == CAP:
        _measure_overlap(bodies, contact)
        return
    if contact.point_kind == SIDE and contact.surface_kind == BOX and contact.holder == NOWHERE:
        contact.gap = math.inf
        return
    A, B = bodies[contact.body_A], bodies[contact.body_B]
    R_A, R_B = load9(A.R), load9(B.R)
    R_WS = mat_mul(R_B, load9(contact.R_B))
    x = add3(load3(A.p), mat_vec(R_A, load3(contact.p_A)))
    offset = offset_between_trees(bodies, contact)
    origin = sub3(add3(load3(B.p), mat_vec(R_B, load3(contact.p_B))), offset)  # from the reference point of A's tree
    is_fixed = contact.point_kind == RIM and contact.holder == IN_A
    if is_fixed:
        x = add3(load3(A.p), mat_vec(R_A, load3(contact.x_in_A)))
    p = mat_t_vec(R_WS, sub3(x, origin))
    if contact.point_kind == SIDE:
        axis = column(mat_mul(R_A, load9(contact.R_A)), 2)
        if contact.surface_kind == BOX:
            along, distance, m = pass_side(contact, contact.holder, p, mat_t_vec(R_WS, axis))
        else:
            along, distance, m = _side_distance(contact, p, mat_t_vec(R_WS, axis))
        contact.gap = distance - contact.radius
        n = mat_vec(R_WS, m)
        _write_directions(contact, n, sub3(add3(x, scale3(along, axis)), scale3(contact.radius, n)), offset)
        return
    if contact.point_kind == ELLIPSOID and contact.surface_kind == BOX and not is_in_box(p, load3(contact.sizes)):
        R = turned_back(mat_mul(R_A, load9(contact.R_A)), R_WS)
        contact.gap, m, y = ellipsoid_on_box(p, R, load3(contact.radii), load3(contact.sizes))
        _write_directions(contact, mat_vec(R_WS, m), add3(origin, mat_vec(R_WS, y)), offset)
        return
    distance, m = surface_distance(contact, p)
    n = mat_vec(R_WS, m)
    if (contact.point_kind == RIM and not is_fixed) or contact.point_kind == ELLIPSOID:
        distance, n, x = _lowest(contact, mat_mul(R_A, load9(contact.R_A)), x, n, R_WS, origin)
    elif not is_fixed:
        distance -= contact.radius
        x = sub3(x, scale3(contact.radius, n))
    contact.gap = distance
    _write_directions(contact, n, x, offset)


@routine
def contact_velocity(bodies, contact):
    """Velocity of the link's point against the surface's, world axes.

    Needs: bodies moved.
    """
    V_A, V_B = load6(bodies[contact.body_A].V), load6(bodies[contact.body_B].V)
    v_A = add3(linear(V_A), cross3(angular(V_A), load3(contact.x_A)))
    v_B = add3(linear(V_B), cross3(angular(V_B), load3(contact.x_B)))
    return sub3(v_A, v_B)


@helper
def _on_link(contact, f):
    """A force or moment along the contact's directions, which acts on body A, as it acts on the link; world axes."""
    sideways = add3(scale3(f[1], load3(contact.t_1)), scale3(f[2], load3(contact.t_2)))
    return scale3(contact.sign, add3(scale3(f[0], load3(contact.n)), sideways))


@routine
def contact_moment(contact):
    """Moment of torsional and rolling friction of the last step on the link, world axes [N m]."""
    return _on_link(contact, load3(contact.moment))


@routine
def contact_force(contact):
    """Force of the last step on the link, world axes [N]."""
    return _on_link(contact, load3(contact.force))
