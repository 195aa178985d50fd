"""Root of a function of time, with few calls: each of them is a step of a simulation."""

from __future__ import annotations

import math
from collections.abc import Callable


def crossing(f: Callable[[float], float], low: float, high: float, tolerance: float) -> float:
    """Time at which f has just become positive, at most `tolerance` after it was not, as far as floats allow.

    It is `low` if f is positive there, and `high` if f is not positive there. Interpolate, truncate, project
    [OT, algorithm 1] with k_1 = 0.2 / (high - low), k_2 = 2, n_0 = 1: at most two calls more than bisection, and few
    where f is smooth.
    """
    f_low = f(low)
    if f_low > 0.0:
        return low
    f_high = f(high)
    if f_high <= 0.0:
        return high
    slope = 0.2 / (high - low)
    left = max(0, math.ceil(math.log2((high - low) / tolerance))) + 1
    while high - low > tolerance:
        middle, width = 0.5 * (low + high), high - low
        interpolated = (f_high * low - f_low * high) / (f_high - f_low)
        side = math.copysign(1.0, middle - interpolated)
        truncation = slope * width * width
        t = interpolated + side * truncation if truncation <= abs(middle - interpolated) else middle
        radius = math.ldexp(0.5 * tolerance, left) - 0.5 * width
        if abs(t - middle) > radius:
            t = middle - side * radius
        if not low < t < high:
            t = middle
            if not low < t < high:  # neighbours
                break
        value = f(t)
        if value > 0.0:
            high, f_high = t, value
        else:
            low, f_low = t, value
        left -= 1
    return high
