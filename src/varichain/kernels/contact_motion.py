"""Accelerations of contacts: how fast the velocities of a contact's rows change.

The point of contact x moves on both bodies. With g = v_A(x) - v_B(x),

    d g / dt = a_A(x) - a_B(x) + (w_A - w_B) x xdot,        d (n . g) / dt = n . d g / dt + ndot . g,

where a(x) is the spatial acceleration of a body at x. A ball with its middle c has x = c - r n, and its normal turns
with the surface and by the surface's curvature H: ndot = w_B x n + H (v_A(c) - v_B(c)). An ellipsoid's lowest point
moves as the normal turns in the axes of its link; surfaces that it touches are flat.
"""

from varichain.kernels.contact_records import CAPSULE, ELLIPSOID, HALF_SPACE
from varichain.kernels.jit import routine
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    add6,
    angular,
    column,
    cross3,
    dot3,
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


@routine
def _curved(bodies, contact, w):
    """H w: how the normal turns in the axes of the surface while the middle of the ball moves with w against it."""
    if contact.surface_kind == HALF_SPACE:
        return ZERO3
    n = load3(contact.n)
    across = sub3(w, scale3(dot3(n, w), n))
    if contact.surface_kind == CAPSULE:
        B = bodies[contact.body_B]
        R_B = load9(B.R)
        axis = column(mat_mul(R_B, load9(contact.R_B)), 2)
        middle = add3(load3(contact.x_B), scale3(contact.radius, n))
        origin = add3(load3(B.p), mat_vec(R_B, load3(contact.p_B)))
        if abs(dot3(axis, sub3(middle, origin))) < contact.sizes[1]:  # on its side, which is straight along the axis
            across = sub3(across, scale3(dot3(axis, across), axis))
    distance = contact.gap + contact.radius + contact.sizes[0]
    return scale3(1.0 / distance, across) if distance > 0.0 else ZERO3


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
