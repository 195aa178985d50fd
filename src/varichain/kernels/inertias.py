"""Rigid spatial inertias about the reference point: mass, mass times centre (3), rotational inertia about it (6)."""

from varichain.kernels.jit import helper
from varichain.kernels.tuples import (
    add3,
    angular,
    cross3,
    join6,
    linear,
    load6,
    mat_t_vec,
    mat_vec,
    rotate_sym,
    scale3,
    sub3,
    sym_vec,
)


@helper
def about_reference(body, R, c):
    """Rotational inertia of the body about the reference point: R I R^T + m (c.c 1 - c c^T)."""
    I = rotate_sym(R, load6(body.inertia))
    m = body.mass
    x, y, z = m * c[0], m * c[1], m * c[2]
    return (
        I[0] + y * c[1] + z * c[2],
        I[1] - x * c[1],
        I[2] - x * c[2],
        I[3] + x * c[0] + z * c[2],
        I[4] - y * c[2],
        I[5] + x * c[0] + y * c[1],
    )


@helper
def inertial_force(body, R, c, V, A):
    """Force required by the body's motion, about the reference point [Newton-Euler].

    m a_c at the centre of mass and I alpha + omega x I omega about it; rotational inertia stays in body axes, where
    it is constant: cheaper than turning it.
    """
    omega, alpha = angular(V), angular(A)
    a_c = add3(
        add3(linear(A), cross3(alpha, c)),
        cross3(omega, add3(linear(V), cross3(omega, c))),
    )
    I = load6(body.inertia)
    omega_B, alpha_B = mat_t_vec(R, omega), mat_t_vec(R, alpha)
    moment_B = add3(sym_vec(I, alpha_B), cross3(omega_B, sym_vec(I, omega_B)))
    force = scale3(body.mass, a_c)
    return join6(add3(mat_vec(R, moment_B), cross3(c, force)), force)


@helper
def external_force(body, p):
    """External wrench on the body, moved from the body's origin to the reference point."""
    wrench = load6(body.wrench)
    return join6(add3(angular(wrench), cross3(p, linear(wrench))), linear(wrench))


@helper
def rigid_mul(m, h, I, x):
    """Momentum (or force) of a rigid inertia (mass m, m c = h, I) moving with x: [I w + h x v; m v - h x w]."""
    return join6(
        add3(sym_vec(I, angular(x)), cross3(h, linear(x))),
        sub3(scale3(m, linear(x)), cross3(h, angular(x))),
    )
