"""Links of four particles: centre and arms from particles, braces that keep the arms, forces back to the particles.

Every force is the gradient of a scalar that does not change when the whole moves or turns, times a number: no sum of
such forces has a resultant or a moment, whatever the number is. Links conserve momentum to rounding, dampers included.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.particle_records import IN_DAMPERS, TORN
from varichain.kernels.tuples import (
    add3,
    cross3,
    dot3,
    length3,
    load3,
    load9,
    mat_mul,
    mat_vec,
    scale3,
    store3,
    store9,
)

# A link whose arm is shorter or longer than these parts of its length at rest is torn: the step is too long.
_SHORTEST, _LONGEST = 0.5, 2.0


@helper
def combined(A, k):
    """Sum of three arms (by rows) times three numbers."""
    return (
        k[0] * A[0] + k[1] * A[3] + k[2] * A[6],
        k[0] * A[1] + k[1] * A[4] + k[2] * A[7],
        k[0] * A[2] + k[1] * A[5] + k[2] * A[8],
    )


@helper
def point_of(link, k):
    """World position of a point of a link."""
    return add3(load3(link.o), combined(link.A, k))


@helper
def point_rate(link, k):
    """World velocity of a point of a link."""
    return add3(load3(link.o_rate), combined(link.A_rate, k))


@helper
def push_arms(link, k, force):
    """Add a force to the arms: the one that belongs to the direction with numbers k."""
    G = link.G
    G[0] += k[0] * force[0]
    G[1] += k[0] * force[1]
    G[2] += k[0] * force[2]
    G[3] += k[1] * force[0]
    G[4] += k[1] * force[1]
    G[5] += k[1] * force[2]
    G[6] += k[2] * force[0]
    G[7] += k[2] * force[1]
    G[8] += k[2] * force[2]


@helper
def push_point(link, k, force):
    """Add a force at a point of a link."""
    store3(link.f, add3(load3(link.f), force))
    push_arms(link, k, force)


@helper
def _gathered(x, i, axis):
    """One coordinate of the centre and of the three arms."""
    a, b, c, d = x[i, axis], x[i + 1, axis], x[i + 2, axis], x[i + 3, axis]
    return 0.25 * (a + b + c + d), 0.25 * (a + b - c - d), 0.25 * (a - b + c - d), 0.25 * (a - b - c + d)


@routine
def gather_link(link, x, v):
    """Centre and arms of a link and their rates, from its particles; no force acts on it yet.

    Gives: links gathered.
    """
    for axis in range(3):
        o, a, b, c = _gathered(x, link.first, axis)
        link.o[axis], link.A[axis], link.A[3 + axis], link.A[6 + axis] = o, a, b, c
        o, a, b, c = _gathered(v, link.first, axis)
        link.o_rate[axis], link.A_rate[axis], link.A_rate[3 + axis], link.A_rate[6 + axis] = o, a, b, c
        link.f[axis] = 0.0
    for k in range(9):
        link.G[k] = 0.0


@helper
def _row(A, a):
    return A[3 * a], A[3 * a + 1], A[3 * a + 2]


@helper
def _pull(G, a, force):
    G[3 * a] += force[0]
    G[3 * a + 1] += force[1]
    G[3 * a + 2] += force[2]


@routine
def brace_link(link, i, run):
    """Forces of the six braces: three keep the lengths of the arms, three keep them at right angles.

    The latter are (A_a . A_b) / (s_a^2 + s_b^2)^1/2: half of what two crossed springs from the end of one
    arm to both ends of the other differ by. A single one of the two would bend a link that is pulled.
    """
    k, c = link.stiffness, link.damping
    strain = 0.0
    for a in range(3):
        arm, rate = _row(link.A, a), _row(link.A_rate, a)
        length, rest = length3(arm), link.s[a]
        if not _SHORTEST * rest < length < _LONGEST * rest:
            run.status, run.culprit = TORN, i
            return
        n = scale3(1.0 / length, arm)
        excess, speed = length - rest, dot3(n, rate)
        _pull(link.G, a, scale3(-k * excess - c * speed, n))
        run.elastic += 0.5 * k * excess * excess
        run.power[IN_DAMPERS] -= c * speed * speed
        b = (a + 1) % 3
        other, other_rate = _row(link.A, b), _row(link.A_rate, b)
        diagonal = math.sqrt(rest * rest + link.s[b] * link.s[b])
        shear = dot3(arm, other) / diagonal
        speed = (dot3(rate, other) + dot3(arm, other_rate)) / diagonal
        force = (-k * shear - c * speed) / diagonal
        _pull(link.G, a, scale3(force, other))
        _pull(link.G, b, scale3(force, arm))
        run.elastic += 0.5 * k * shear * shear
        run.power[IN_DAMPERS] -= c * speed * speed
        strain = max(strain, abs(excess) / rest, abs(shear) / diagonal)
    link.strain = strain


@helper
def _scatter(f, g):
    """Forces on the four particles from those that belong to the centre and to the arms, along one axis."""
    a, b, c = g
    return 0.25 * (f + a + b + c), 0.25 * (f + a - b - c), 0.25 * (f - a + b - c), 0.25 * (f - a - b + c)


@routine
def scatter_link(link, force_out):
    """Share out a link's forces among its particles."""
    i = link.first
    for axis in range(3):
        g = (link.G[axis], link.G[3 + axis], link.G[6 + axis])
        a, b, c, d = _scatter(link.f[axis], g)
        force_out[i, axis], force_out[i + 1, axis], force_out[i + 2, axis], force_out[i + 3, axis] = a, b, c, d


@helper
def _stretch(link):
    """Directions of the arms by rows, each over its length at rest."""
    A, x, y, z = link.A, 1.0 / link.s[0], 1.0 / link.s[1], 1.0 / link.s[2]
    return x * A[0], x * A[1], x * A[2], y * A[3], y * A[4], y * A[5], z * A[6], z * A[7], z * A[8]


@helper
def _inverse_transposed(E):
    """E^-T by rows: cross products of rows over the determinant."""
    a, b, c = (E[0], E[1], E[2]), (E[3], E[4], E[5]), (E[6], E[7], E[8])
    x, y, z = cross3(b, c), cross3(c, a), cross3(a, b)
    k = 1.0 / dot3(a, x)
    return k * x[0], k * x[1], k * x[2], k * y[0], k * y[1], k * y[2], k * z[0], k * z[1], k * z[2]


@helper
def _solve_symmetric(S, b):
    """Solution of S x = b for a symmetric S = (xx, xy, xz, yy, yz, zz)."""
    x = cross3((S[1], S[3], S[4]), (S[2], S[4], S[5]))
    y = cross3((S[2], S[4], S[5]), (S[0], S[1], S[2]))
    z = cross3((S[0], S[1], S[2]), (S[1], S[3], S[4]))
    k = 1.0 / (S[0] * x[0] + S[1] * x[1] + S[2] * x[2])
    return k * dot3(x, b), k * dot3(y, b), k * dot3(z, b)


@routine
def _turn_inertia(E):
    """Half of (tr B) 1 - B for B = sum of e e^T over the rows of E: the inertia of six unit points of half a mass."""
    xx = E[0] * E[0] + E[3] * E[3] + E[6] * E[6]
    yy = E[1] * E[1] + E[4] * E[4] + E[7] * E[7]
    zz = E[2] * E[2] + E[5] * E[5] + E[8] * E[8]
    xy = -0.5 * (E[0] * E[1] + E[3] * E[4] + E[6] * E[7])
    xz = -0.5 * (E[0] * E[2] + E[3] * E[5] + E[6] * E[8])
    yz = -0.5 * (E[1] * E[2] + E[4] * E[5] + E[7] * E[8])
    return 0.5 * (yy + zz), xy, xz, 0.5 * (xx + zz), yz, 0.5 * (xx + yy)


@routine
def orient_link(link):
    """Rotation matrix and angular velocity of a link: its best rotation, the polar factor of the stretch of its arms.

    Five steps of Newton's iteration E <- (E + E^-T) / 2, each of which squares the strain, are enough up to one half.

    Needs: links gathered.
    Gives: links oriented.
    """
    E = _stretch(link)
    turning = (0.0, 0.0, 0.0)
    for a in range(3):
        rate = _row(link.A_rate, a)
        turning = add3(turning, scale3(0.5 / link.s[a], cross3((E[3 * a], E[3 * a + 1], E[3 * a + 2]), rate)))
    store3(link.w, _solve_symmetric(_turn_inertia(E), turning))
    for _ in range(5):
        F = _inverse_transposed(E)
        E = (
            0.5 * (E[0] + F[0]),
            0.5 * (E[1] + F[1]),
            0.5 * (E[2] + F[2]),
            0.5 * (E[3] + F[3]),
            0.5 * (E[4] + F[4]),
            0.5 * (E[5] + F[5]),
            0.5 * (E[6] + F[6]),
            0.5 * (E[7] + F[7]),
            0.5 * (E[8] + F[8]),
        )
    # the arms are the principal axes turned: R U = E^T, R = E^T U^T = (U E)^T
    T = mat_mul(load9(link.principal), E)
    store9(link.R, (T[0], T[3], T[6], T[1], T[4], T[7], T[2], T[5], T[8]))


@routine
def push_couple(link, moment):
    """Add a couple (world axes) to a link: no force, and exactly this moment; its power is moment . w."""
    E = _stretch(link)
    turn = scale3(0.5, _solve_symmetric(_turn_inertia(E), moment))
    for a in range(3):
        e = (E[3 * a], E[3 * a + 1], E[3 * a + 2])
        _pull(link.G, a, scale3(1.0 / link.s[a], cross3(turn, e)))


@helper
def in_world(link, R, x):
    """World components of a vector that is given in a frame of a link."""
    return mat_vec(load9(link.R), mat_vec(R, x))


@helper
def rigid_direction(link, k):
    """World components of a direction with numbers k, as if the link had not been strained."""
    return mat_vec(
        load9(link.R), mat_vec(load9(link.principal), (link.s[0] * k[0], link.s[1] * k[1], link.s[2] * k[2]))
    )
