"""Operations of functions: value, first and second partial derivatives of each.

Outside of its domain an operation is NaN or infinite. Functions of numpy say so in plain Python too, where those of
`math` raise.
"""

import numpy as np

from varichain.kernels.function_records import (
    ADD,
    ARCCOS,
    ARCSIN,
    ARCTAN,
    ARCTAN2,
    CONSTANT,
    COS,
    DIVIDE,
    EXP,
    LOG,
    MULTIPLY,
    POWER,
    SIN,
    SUBTRACT,
    TAN,
    TANH,
)
from varichain.kernels.jit import helper, routine

_SERIES = 0.1  # below this the series is accurate, above it the recursion of the derivatives is
_FEW_TERMS, _SOME_TERMS, _MANY_TERMS = 7, 11, 18  # for t below 1e-3, 1e-2 and 0.1: what is left out is rounding


@helper
def _half_log(w):
    """2 acos(w) / sqrt(1 - w^2) for 0 <= w <= 1, and its first two derivatives.

    With t = (1 - w) / 2 it is twice sum c_n t^n, c_0 = 1, c_n = c_n-1 2n / (2n + 1); and (1 - w^2) h' = w h - 2.
    """
    t = 0.5 * (1.0 - w)
    if t < _SERIES:
        f, d, dd = 0.0, 0.0, 0.0
        n_terms = _FEW_TERMS if t < 1e-3 else _SOME_TERMS if t < 1e-2 else _MANY_TERMS
        for n in range(n_terms, 0, -1):  # c_0 + t c_1 / c_0 (1 + t c_2 / c_1 (...)), with its derivatives in t
            k = 2.0 * n / (2.0 * n + 1.0)
            dd = k * (2.0 * d + t * dd)
            d = k * (1.0 + f + t * d)
            f = k * t * (1.0 + f)
        return 2.0 * (1.0 + f), -d, 0.5 * dd
    rest = (1.0 - w) * (1.0 + w)
    h = 2.0 * np.arccos(w) / np.sqrt(rest)
    slope = (w * h - 2.0) / rest
    return h, slope, (h + 3.0 * w * slope) / rest


@helper
def _power(x, c):
    """x^c and its first two derivatives; a factor of zero is not multiplied with an infinite power."""
    slope = c * np.power(x, c - 1.0) if c != 0.0 else 0.0
    curve = c * (c - 1.0) * np.power(x, c - 2.0) if c * (c - 1.0) != 0.0 else 0.0
    return np.power(x, c), slope, curve


@helper
def _angle(y, x):
    """atan2(y, x) and its partial derivatives (f, f_y, f_x, f_yy, f_yx, f_xx)."""
    square = y * y + x * x
    a, b = x / square, y / square
    return np.arctan2(y, x), a, -b, -2.0 * a * b, b * b - a * a, 2.0 * a * b


@helper
def _of_one(operation, x, c):
    """Value and first two derivatives of an operation on one node."""
    if operation == POWER:
        return _power(x, c)
    if operation == SIN:
        return np.sin(x), np.cos(x), -np.sin(x)
    if operation == COS:
        return np.cos(x), -np.sin(x), -np.cos(x)
    if operation == TAN:
        f = np.tan(x)
        return f, 1.0 + f * f, 2.0 * f * (1.0 + f * f)
    if operation in (ARCSIN, ARCCOS):
        slope = 1.0 / np.sqrt(1.0 - x * x)
        curve = x * slope * slope * slope
        if operation == ARCSIN:
            return np.arcsin(x), slope, curve
        return np.arccos(x), -slope, -curve
    if operation == ARCTAN:
        slope = 1.0 / (1.0 + x * x)
        return np.arctan(x), slope, -2.0 * x * slope * slope
    if operation == EXP:
        f = np.exp(x)
        return f, f, f
    if operation == LOG:
        return np.log(x), 1.0 / x, -1.0 / (x * x)
    if operation == TANH:
        f = np.tanh(x)
        return f, 1.0 - f * f, -2.0 * f * (1.0 - f * f)
    return _half_log(x)


@routine
def partials(operation, x, y, c):
    """Value and partial derivatives (f, f_x, f_y, f_xx, f_xy, f_yy) of an operation on nodes x and y."""
    if operation == CONSTANT:
        return c, 0.0, 0.0, 0.0, 0.0, 0.0
    if operation == ADD:
        return x + y, 1.0, 1.0, 0.0, 0.0, 0.0
    if operation == SUBTRACT:
        return x - y, 1.0, -1.0, 0.0, 0.0, 0.0
    if operation == MULTIPLY:
        return x * y, y, x, 0.0, 1.0, 0.0
    if operation == DIVIDE:
        inverse = 1.0 / y
        f = x * inverse
        return f, inverse, -f * inverse, 0.0, -inverse * inverse, 2.0 * f * inverse * inverse
    if operation == ARCTAN2:
        return _angle(x, y)
    f, slope, curve = _of_one(operation, x, c)
    return f, slope, 0.0, curve, 0.0, 0.0
