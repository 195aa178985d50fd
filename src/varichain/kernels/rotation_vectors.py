"""Rotation vectors that move: angular velocity and acceleration of R = exp([phi]), in R's own axes.

w = J phi' with J = 1 - a [phi] + b [phi]^2, a = (1 - cos x) / x^2, b = (x - sin x) / x^3, x = |phi|. Differentiated
once more, with a_1 = (da/dx) / x, b_1 = (db/dx) / x and c = phi x phi':

    w' = J phi'' + (phi . phi') (b_1 phi x c - a_1 c) + b phi' x c.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import add3, cross3, dot3, scale3

# Below half a radian the closed forms lose digits, b_1 most of all: its numerator is x^5 / 60. Seven terms of the
# series in x^2 leave less than rounding there.
_SERIES_BELOW = 0.25
_A = tuple((-1) ** k / math.factorial(2 * k + 2) for k in range(7))
_B = tuple((-1) ** k / math.factorial(2 * k + 3) for k in range(7))
_A1 = tuple((-1) ** (k + 1) * (2 * k + 2) / math.factorial(2 * k + 4) for k in range(7))
_B1 = tuple((-1) ** (k + 1) * (2 * k + 2) / math.factorial(2 * k + 5) for k in range(7))


@helper
def _series(c, s):
    """Polynomial with the seven coefficients c, lowest first."""
    return c[0] + s * (c[1] + s * (c[2] + s * (c[3] + s * (c[4] + s * (c[5] + s * c[6])))))


@helper
def _coefficients(s):
    """Return a, b, a_1 and b_1 of s = x^2."""
    if s < _SERIES_BELOW:
        return _series(_A, s), _series(_B, s), _series(_A1, s), _series(_B1, s)
    x = math.sqrt(s)
    half = math.sin(0.5 * x)
    a, b = 2.0 * half * half / s, (x - math.sin(x)) / (s * x)
    return a, b, (1.0 - s * b - 2.0 * a) / s, (a - 3.0 * b) / s


@routine
def angular_motion(phi, rate, acceleration):
    """Angular velocity and acceleration of exp([phi]), in its own axes, from phi and its two derivatives."""
    a, b, a_1, b_1 = _coefficients(dot3(phi, phi))
    c, d = cross3(phi, rate), cross3(phi, acceleration)
    w = add3(rate, add3(scale3(-a, c), scale3(b, cross3(phi, c))))
    growth = dot3(phi, rate)
    bending = add3(scale3(-a_1 * growth, c), scale3(b_1 * growth, cross3(phi, c)))
    straight = add3(acceleration, add3(scale3(-a, d), scale3(b, cross3(phi, d))))
    return w, add3(straight, add3(bending, scale3(b, cross3(rate, c))))
