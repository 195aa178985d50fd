"""Accelerations of contacts: how fast the velocities of a contact's rows change.

The point of contact x moves on both bodies. With g = v_A(x) - v_B(x),

    d g / dt = a_A(x) - a_B(x) + (w_A - w_B) x xdot,        d (n . g) / dt = n . d g / dt + ndot . g,

where a(x) is the spatial acceleration of a body at x. A ball with its middle c has x = c - r n, and its normal turns
with the surface and by the surface's curvature H: ndot = w_B x n + H (v_A(c) - v_B(c)). An ellipsoid's lowest point
moves as the normal turns in the axes of its link; surfaces that it touches are flat.
"""

import math

from varichain.kernels.contact_records import BOX, CAPSULE, CYLINDER, ELLIPSOID, FLUSH, HALF_SPACE
from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    add6,
    angular,
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
    sub3,
)


@routine
def _velocity_at(body, x):
    V = load6(body.V)
    return add3(linear(V), cross3(angular(V), x))


@helper
def _beyond(x, half):
    """How far a coordinate is beyond either end of -half .. half; not at all, if by rounding."""
    d = abs(x) - half
    return d if d > FLUSH else 0.0


@routine
def _curved_box(p, half, n, w):
    """H w of a box for a point p, in the box's frame: a face is flat, an edge a line, a corner a point."""
    d = (_beyond(p[0], half[0]), _beyond(p[1], half[1]), _beyond(p[2], half[2]))
    distance = length3(d)
    if distance == 0.0:
        return ZERO3
    beside = (w[0] if d[0] > 0.0 else 0.0, w[1] if d[1] > 0.0 else 0.0, w[2] if d[2] > 0.0 else 0.0)
    return scale3(1.0 / distance, sub3(beside, scale3(dot3(n, w), n)))


@routine
def _curved_cylinder(p, radius, half, n, w):
    """H w of a cylinder about the z axis for a point p: a flat end, a side, or the circle of a rim."""
    away = math.sqrt(p[0] * p[0] + p[1] * p[1])
    d_r, d_z = away - radius, abs(p[2]) - half
    if d_z >= d_r and d_r <= FLUSH:  # before a flat end
        return ZERO3
    out = (p[0] / away, p[1] / away, 0.0)
    along = (-out[1], out[0], 0.0)
    turned = scale3(dot3(n, out) * dot3(along, w) / away, along)
    if d_z <= FLUSH:
        return turned
    distance = math.sqrt(d_r * d_r + d_z * d_z)
    beside = add3(scale3(dot3(out, w), out), (0.0, 0.0, w[2]))
    return add3(turned, scale3(1.0 / distance, sub3(beside, scale3(dot3(n, w), n))))


@routine
def _curved(bodies, contact, w):
    """H w: how the normal turns in the axes of the surface while the middle of the ball moves with w against it."""
    if contact.surface_kind == HALF_SPACE:
        return ZERO3
    B = bodies[contact.body_B]
    R_B = load9(B.R)
    R_WS = mat_mul(R_B, load9(contact.R_B))
    n = load3(contact.n)
    middle = add3(load3(contact.x_B), scale3(contact.radius, n))
    origin = add3(load3(B.p), mat_vec(R_B, load3(contact.p_B)))
    p, n_S, w_S = mat_t_vec(R_WS, sub3(middle, origin)), mat_t_vec(R_WS, n), mat_t_vec(R_WS, w)
    if contact.surface_kind == BOX:
        return mat_vec(R_WS, _curved_box(p, load3(contact.sizes), n_S, w_S))
    if contact.surface_kind == CYLINDER:
        return mat_vec(R_WS, _curved_cylinder(p, contact.sizes[0], contact.sizes[1], n_S, w_S))
    across = sub3(w_S, scale3(dot3(n_S, w_S), n_S))
    if contact.surface_kind == CAPSULE and abs(p[2]) < contact.sizes[1]:  # on its side, which is straight along z
        across = (across[0], across[1], 0.0)
    distance = contact.gap + contact.radius + contact.sizes[0]
    return mat_vec(R_WS, scale3(1.0 / distance, across)) if distance > 0.0 else ZERO3


@routine
def _lowest_moves(R, radii, n, n_rate):
    """Velocity of an ellipsoid's lowest point in its own axes R, while n moves with n_rate there; world axes."""
    m, m_rate = mat_t_vec(R, n), mat_t_vec(R, n_rate)
    r = radii
    s, s_rate = (r[0] * m[0], r[1] * m[1], r[2] * m[2]), (r[0] * m_rate[0], r[1] * m_rate[1], r[2] * m_rate[2])
    square = dot3(s, s)
    # d/dt of -r s / |s|
    change = sub3(scale3(dot3(s, s_rate) / square, s), s_rate)
    k = square**-0.5
    return mat_vec(R, (k * r[0] * change[0], k * r[1] * change[1], k * r[2] * change[2]))


@routine
def _turning(bodies, contact):
    """Rates of a contact's normal and of its point, world axes.

    Needs: bodies moved.
    """
    A, B = bodies[contact.body_A], bodies[contact.body_B]
    n, r = load3(contact.n), contact.radius
    n_rate = cross3(angular(load6(B.V)), n)
    if contact.point_kind == ELLIPSOID:
        R = mat_mul(load9(A.R), load9(contact.R_A))
        seen = sub3(n_rate, cross3(angular(load6(A.V)), n))
        return n_rate, add3(_velocity_at(A, load3(contact.x_A)), _lowest_moves(R, load3(contact.radii), n, seen))
    up = scale3(r, n)
    v_A = _velocity_at(A, add3(load3(contact.x_A), up))
    v_B = _velocity_at(B, add3(load3(contact.x_B), up))
    n_rate = add3(n_rate, _curved(bodies, contact, sub3(v_A, v_B)))
    return n_rate, sub3(v_A, scale3(r, n_rate))


@routine
def contact_acceleration(bodies, contact, g):
    """Rates of the velocities of a contact's rows (n, t_1, t_2), with those of the bodies' last solution.

    g is the velocity of the link's point against the surface's. Across the normal, its rate in axes that stand: all
    that counts while the contact sticks.

    Needs: bodies moved.
    """
    A, B = bodies[contact.body_A], bodies[contact.body_B]
    n_rate, x_rate = _turning(bodies, contact)
    A_A, A_B = add6(load6(A.A), load6(A.dA)), add6(load6(B.A), load6(B.dA))
    a_A = add3(linear(A_A), cross3(angular(A_A), load3(contact.x_A)))
    a_B = add3(linear(A_B), cross3(angular(A_B), load3(contact.x_B)))
    w_rel = sub3(angular(load6(A.V)), angular(load6(B.V)))
    g_rate = add3(sub3(a_A, a_B), cross3(w_rel, x_rate))
    return (
        dot3(load3(contact.n), g_rate) + dot3(n_rate, g),
        dot3(load3(contact.t_1), g_rate),
        dot3(load3(contact.t_2), g_rate),
    )
