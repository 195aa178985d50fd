"""Spatial inertias about the reference point: rigid (10 numbers) and articulated (21 numbers).

Rigid: mass, mass times centre (3), rotational inertia about the reference point (6). Articulated: symmetric 6x6 in
blocks [[A, B], [B^T, D]], A (6, symmetric), B (9, by rows), D (6, symmetric).
"""

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
    """Force that the body's motion asks for, about the reference point [Newton-Euler].

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


@helper
def store_articulated(a, m, h, I):
    """Write a rigid inertia as an articulated one: A = I, B = [h]x, D = m 1."""
    a[0] = I[0]
    a[1] = I[1]
    a[2] = I[2]
    a[3] = I[3]
    a[4] = I[4]
    a[5] = I[5]
    a[6] = 0.0
    a[7] = -h[2]
    a[8] = h[1]
    a[9] = h[2]
    a[10] = 0.0
    a[11] = -h[0]
    a[12] = -h[1]
    a[13] = h[0]
    a[14] = 0.0
    a[15] = m
    a[16] = 0.0
    a[17] = 0.0
    a[18] = m
    a[19] = 0.0
    a[20] = m


@helper
def load_articulated(a):
    """Blocks A, B, D of an articulated inertia."""
    return (
        (a[0], a[1], a[2], a[3], a[4], a[5]),
        (a[6], a[7], a[8], a[9], a[10], a[11], a[12], a[13], a[14]),
        (a[15], a[16], a[17], a[18], a[19], a[20]),
    )


@helper
def add_articulated(a, A, B, D):
    """Add the blocks to a stored articulated inertia: no transformation, all share one reference point."""
    a[0] += A[0]
    a[1] += A[1]
    a[2] += A[2]
    a[3] += A[3]
    a[4] += A[4]
    a[5] += A[5]
    a[6] += B[0]
    a[7] += B[1]
    a[8] += B[2]
    a[9] += B[3]
    a[10] += B[4]
    a[11] += B[5]
    a[12] += B[6]
    a[13] += B[7]
    a[14] += B[8]
    a[15] += D[0]
    a[16] += D[1]
    a[17] += D[2]
    a[18] += D[3]
    a[19] += D[4]
    a[20] += D[5]


@helper
def articulated_mul(A, B, D, s):
    """U = I_A s."""
    w, v = angular(s), linear(s)
    return join6(add3(sym_vec(A, w), mat_vec(B, v)), add3(mat_t_vec(B, w), sym_vec(D, v)))


@helper
def deflate(A, B, D, U, d_inverse):
    """I_A - U U^T / d: what is left of the inertia once the freedom gives way."""
    k = scale3(d_inverse, angular(U))
    e = scale3(d_inverse, linear(U))
    return (
        (
            A[0] - k[0] * U[0],
            A[1] - k[0] * U[1],
            A[2] - k[0] * U[2],
            A[3] - k[1] * U[1],
            A[4] - k[1] * U[2],
            A[5] - k[2] * U[2],
        ),
        (
            B[0] - k[0] * U[3],
            B[1] - k[0] * U[4],
            B[2] - k[0] * U[5],
            B[3] - k[1] * U[3],
            B[4] - k[1] * U[4],
            B[5] - k[1] * U[5],
            B[6] - k[2] * U[3],
            B[7] - k[2] * U[4],
            B[8] - k[2] * U[5],
        ),
        (
            D[0] - e[0] * U[3],
            D[1] - e[0] * U[4],
            D[2] - e[0] * U[5],
            D[3] - e[1] * U[4],
            D[4] - e[1] * U[5],
            D[5] - e[2] * U[5],
        ),
    )
