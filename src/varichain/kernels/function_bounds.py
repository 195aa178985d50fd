"""Velocities within bounds: the least change of a solution of least squares after which no bound is exceeded.

Dual active set [Goldfarb and Idnani 1983]: the bound that is exceeded most is met, and kept from then on, one after the
other; a bound whose force would pull is let go. In coordinates y = U x of the factor A = U^T U all changes cost the
same: the row of a bound is U^-T c, without its parts along firm rows, and rows of kept bounds are D = R^T Q, Q
orthonormal.
"""

import math

from varichain.kernels.function_factor import add_multiple, copy, dot, solve_factor, solve_transposed
from varichain.kernels.jit import helper, routine

_KEPT = 1e-9  # [rad/s, m/s] beyond a bound that counts as inside
_DEPENDENT = 1e-13  # parts of the squares of rows, left beside those before: less is rounding
_NOTHING = 1e-20  # squares of rows that are shorter: no freedom moves them


@helper
def _row(rows, i, n):
    """Row i of a matrix with rows of length n."""
    return rows[i * n : i * n + n]


@routine
def _orthogonal(own, Q, n, n_kept, h, new):
    """Part of a row that is orthogonal to kept ones, and its square; h has the components along them.

    It is made orthogonal twice: once leaves rounding.
    """
    copy(own, new)
    h[:] = 0.0
    for _ in range(2):
        for i in range(n_kept):
            part = dot(new, _row(Q, i, n))
            h[i] += part
            add_multiple(new, -part, _row(Q, i, n))
    return dot(new, new)


@routine
def _keep(i, own, Q, R, D, n, h, new):
    """Make a row number i of those that are kept."""
    copy(own, _row(D, i, n))
    length = math.sqrt(_orthogonal(own, Q, n, i, h, new))
    for j in range(i):
        R[j * n + i] = h[j]
    R[i * n + i] = length
    _row(Q, i, n)[:] = 0.0
    add_multiple(_row(Q, i, n), 1.0 / length, new)


@routine
def _worst(G, first, lower, upper, slowest, fastest, is_kept, v):
    """Number of the bound that is exceeded most, of those that are not kept, and by how much; below is negative."""
    worst, most, excess, n_bounds = -1, _KEPT, 0.0, len(lower)
    for i in range(n_bounds + len(slowest)):
        if is_kept[i] != 0.0:
            continue
        if i < n_bounds:
            rate, low, high = 0.0, lower[i], upper[i]
            for k in range(len(v)):
                rate += G[first + i, k] * v[k]
        else:
            rate, low, high = v[i - n_bounds], slowest[i - n_bounds], fastest[i - n_bounds]
        if max(rate - high, low - rate) > most:
            worst, most, excess = i, max(rate - high, low - rate), rate - high if rate > high else rate - low
    return worst, excess


@routine
def _load_row(p, sign, G, first, n_bounds, scale, A, n, firm, own):
    """Row of a bound, without its parts along firm rows; returns its square before, 0 if no freedom moves it."""
    own[:] = 0.0
    if p < n_bounds:
        for k in range(len(scale)):
            own[k] = sign * scale[k] * G[first + p, k]
    else:
        own[p - n_bounds] = sign * scale[p - n_bounds]
    if dot(own, own) < _NOTHING:
        return 0.0
    solve_transposed(A, n, own)
    length = dot(own, own)
    for i in range(len(firm) // n):
        add_multiple(own, -dot(own, _row(firm, i, n)), _row(firm, i, n))
    return length


@routine
def keep_bounds(
    # in: the factor (n * n); orthonormal rows of firm dimensions; G (m, n_v); bounds of rates, from a dimension on
    A,
    n,
    firm,
    G,
    first,
    lower,
    upper,
    slowest,
    fastest,
    scale,
    # in and out: U x (n)
    y,
    # out: velocities (n_v)
    v,
    # work: (3 * n * n + 6 * n + the number of bounds)
    work,
):
    """Change U x so that all bounds are kept, those of rates, then those of velocities, which may be none.

    Returns 0, or the number of a bound that cannot be kept together with others, counted from 1.
    """
    Q, R, D = work[: n * n], work[n * n : 2 * n * n], work[2 * n * n : 3 * n * n]
    six, is_kept = work[3 * n * n : 3 * n * n + 6 * n], work[3 * n * n + 6 * n :]
    h, own, new = _row(six, 0, n), _row(six, 1, n), _row(six, 2, n)
    x, forces, places = _row(six, 3, n), _row(six, 4, n), _row(six, 5, n)
    is_kept[:] = 0.0
    n_kept, p = 0, -1
    for _ in range(10 * len(is_kept) + 10):
        copy(y, x)
        solve_factor(A, n, x)
        for k in range(len(scale)):
            v[k] = scale[k] * x[k]
        p, excess = _worst(G, first, lower, upper, slowest, fastest, is_kept, v)
        if p < 0:
            return 0
        sign, missing, force = -1.0 if excess > 0.0 else 1.0, abs(excess), 0.0
        length = _load_row(p, sign, G, first, len(lower), scale, A, n, firm, own)
        is_kept[p] = 1.0
        while length > 0.0:
            left = _orthogonal(own, Q, n, n_kept, h, new)
            for i in range(n_kept - 1, -1, -1):
                for j in range(i + 1, n_kept):
                    h[i] -= R[i * n + j] * h[j]
                h[i] /= R[i * n + i]
            is_free = left > _DEPENDENT * length
            step, gone = missing / left if is_free else math.inf, -1
            for i in range(n_kept):
                if h[i] > 0.0 and forces[i] < step * h[i]:
                    step, gone = forces[i] / h[i], i
            if step == math.inf:
                return p + 1
            for i in range(n_kept):
                forces[i] -= step * h[i]
            force += step
            if is_free:
                add_multiple(y, step, new)
                missing -= step * left
            if gone < 0:
                _keep(n_kept, own, Q, R, D, n, h, new)
                forces[n_kept], places[n_kept] = force, float(p)
                n_kept += 1
                break
            is_kept[int(places[gone])] = 0.0
            n_kept -= 1
            for i in range(gone, n_kept):
                forces[i], places[i] = forces[i + 1], places[i + 1]
                _keep(i, _row(D, i + 1, n), Q, R, D, n, h, new)
    return p + 1
