"""The problem of one contact alone, solved exactly: open, sticking or slipping against a circular cone.

Velocities u = W x + b of its rows (n, t_1, t_2), impulses x: 0 <= x_n, u_n >= 0, x_n u_n = 0; |x_t| <= mu x_n; slip
u_t = -kappa x_t with kappa >= 0, and |x_t| = mu x_n where kappa > 0. With kappa given, x solves a linear system with
W + kappa on its tangential diagonal, which is positive definite: |x_t| - mu x_n is continuous in kappa, positive at
zero where sticking needs too much, and negative beyond a bound that is known. There is a root, in Painleve's cases too.
"""

import math

from varichain.kernels.jit import helper, routine

_MOST_TRIES = 80


@helper
def _principal(a, b, d):
    """Eigenvalues of [[a, b], [b, d]], and cosine and sine of the direction of the first."""
    if b == 0.0:
        return a, d, 1.0, 0.0
    half, middle = 0.5 * (a - d), 0.5 * (a + d)
    root = math.sqrt(half * half + b * b)
    if half > 0.0:  # of cosine and sine the larger one first: the other is a quotient without cancellation
        cosine = math.sqrt(0.5 + 0.5 * half / root)
        sine = 0.5 * b / (root * cosine)
    else:
        sine = math.copysign(math.sqrt(0.5 - 0.5 * half / root), b)
        cosine = 0.5 * b / (root * sine)
    return middle + root, middle - root, cosine, sine


@routine
def slip_root(N, w_1, w_2, a_1, a_2, c_1, c_2, friction):
    """Kappa with |x_t| = friction x_n, in principal axes: x_t = -c / (a + kappa), x_n = N - w . x_t."""
    c = math.sqrt(c_1 * c_1 + c_2 * c_2)
    low, high = 0.0, c * (1.0 / friction + math.sqrt(w_1 * w_1 + w_2 * w_2)) / N
    kappa = 0.5 * high
    for _ in range(_MOST_TRIES):
        r_1, r_2 = 1.0 / (a_1 + kappa), 1.0 / (a_2 + kappa)
        x_1, x_2 = -c_1 * r_1, -c_2 * r_2
        length = math.sqrt(x_1 * x_1 + x_2 * x_2)
        f = length - friction * (N - w_1 * x_1 - w_2 * x_2)
        if f > 0.0:
            low = kappa
        else:
            high = kappa
        if high - low <= 4e-16 * high:
            break
        slope = -(x_1 * x_1 * r_1 + x_2 * x_2 * r_2) / length - friction * (w_1 * x_1 * r_1 + w_2 * x_2 * r_2)
        tried = kappa - f / slope if slope < 0.0 else low
        if abs(tried - kappa) <= 2e-16 * kappa:
            break
        kappa = tried if low < tried < high else 0.5 * (low + high)
    return kappa


@routine
def cone_impulse(W_nn, W_n1, W_n2, W_11, W_12, W_22, b_n, b_1, b_2, friction):
    """Impulses (x_n, x_1, x_2) of one contact, W positive definite."""
    if not b_n < 0.0:
        return 0.0, 0.0, 0.0
    N = -b_n / W_nn
    if friction == 0.0:
        return N, 0.0, 0.0
    w_1, w_2 = W_n1 / W_nn, W_n2 / W_nn
    a_1, a_2, cosine, sine = _principal(W_11 - w_1 * W_n1, W_12 - w_1 * W_n2, W_22 - w_2 * W_n2)
    c_1, c_2 = b_1 - w_1 * b_n, b_2 - w_2 * b_n
    c_1, c_2 = cosine * c_1 + sine * c_2, cosine * c_2 - sine * c_1
    w_1, w_2 = cosine * w_1 + sine * w_2, cosine * w_2 - sine * w_1
    x_1, x_2 = -c_1 / a_1, -c_2 / a_2
    x_n = N - w_1 * x_1 - w_2 * x_2
    length = math.sqrt(x_1 * x_1 + x_2 * x_2)
    if length > friction * x_n:
        kappa = slip_root(N, w_1, w_2, a_1, a_2, c_1, c_2, friction)
        x_1, x_2 = -c_1 / (a_1 + kappa), -c_2 / (a_2 + kappa)
        x_n = N - w_1 * x_1 - w_2 * x_2
        length = math.sqrt(x_1 * x_1 + x_2 * x_2)
        k = friction * x_n / length if length > 0.0 else 0.0
        x_1, x_2 = k * x_1, k * x_2
    return x_n, cosine * x_1 - sine * x_2, sine * x_1 + cosine * x_2


@helper
def _solved(W, kappa, b):
    """Return -(W + kappa)^-1 b of a symmetric W (00, 01, 02, 11, 12, 22)."""
    a, d, f = W[0] + kappa, W[3] + kappa, W[5] + kappa
    A, B, C = d * f - W[4] * W[4], W[2] * W[4] - W[1] * f, W[1] * W[4] - W[2] * d
    k = -1.0 / (a * A + W[1] * B + W[2] * C)
    D, E, F = a * f - W[2] * W[2], W[1] * W[2] - a * W[4], a * d - W[1] * W[1]
    return (
        k * (A * b[0] + B * b[1] + C * b[2]),
        k * (B * b[0] + D * b[1] + E * b[2]),
        k * (C * b[0] + E * b[1] + F * b[2]),
    )


@routine
def ball_impulse(W, b, bound):
    """Impulses of the dry friction of a ball: at rest if at most `bound` does it, else `bound` against the velocity."""
    if bound == 0.0:
        return 0.0, 0.0, 0.0
    x = _solved(W, 0.0, b)
    if x[0] * x[0] + x[1] * x[1] + x[2] * x[2] <= bound * bound:
        return x
    length = math.sqrt(b[0] * b[0] + b[1] * b[1] + b[2] * b[2])
    low, high = 0.0, length / bound
    for _ in range(_MOST_TRIES):
        kappa = 0.5 * (low + high)
        x = _solved(W, kappa, b)
        if x[0] * x[0] + x[1] * x[1] + x[2] * x[2] > bound * bound:
            low = kappa
        else:
            high = kappa
        if high - low <= 4e-16 * high:
            break
    length = math.sqrt(x[0] * x[0] + x[1] * x[1] + x[2] * x[2])
    k = bound / length if length > 0.0 else 0.0
    return k * x[0], k * x[1], k * x[2]


@helper
def disk_impulse(W_00, W_01, W_11, b_0, b_1, bound):
    """Impulses (x_0, x_1) of rolling friction, as of a ball that does not turn about its third axis."""
    x = ball_impulse((W_00, W_01, 0.0, W_11, 0.0, 1.0), (b_0, b_1, 0.0), bound)
    return x[0], x[1]
