"""Linear equations of contacts, stops and dry friction: those of a step of Newton's method, and their solution.

Equations are rows of a matrix J for the changes of n impulses: n coefficients, the right-hand side, and whether the
equation has one unknown alone: equation r then is for the impulse of row r.
"""

import math

from varichain.kernels.contact_records import APART, CONE, DRY, ROLL, SLIDE, SPIN, STICKS
from varichain.kernels.jit import helper, routine
from varichain.kernels.lanes import add_both_scaled, add_scaled

_FIRM = 1e-10  # part of an item's own W that holds its rows where nothing moves them; it vanishes from the solution
DEPENDENT = 1e-9  # part of a pivot's diagonal below which the row depends on others
N_BESIDE = 2  # columns beside those of the unknowns


@helper
def firmness(W, r, n_rows):
    """What is added to the diagonal of an item's own W."""
    total = 0.0
    for i in range(r, r + n_rows):
        total += W[i, i]
    return _FIRM * total


@helper
def bound_of(item, x):
    """Largest impulse of torsional or rolling friction, by the present normal impulse of its contact."""
    return item.friction * max(0.0, x[item.normal])


@helper
def steps_of(item, W):
    """Impulses per velocity of the projection: of the first row, and of the others."""
    r = item.row
    if item.n_rows == 1:
        return 1.0 / W[r, r], 0.0
    if item.kind == ROLL:
        alike = 1.0 / (max(W[r, r], W[r + 1, r + 1]) + firmness(W, r, 2))
        return alike, alike
    across = max(W[r + 1, r + 1], W[r + 2, r + 2])
    floor = firmness(W, r, 3)
    if item.kind not in (CONE, SLIDE):  # a ball is projected as a whole
        alike = 1.0 / (max(W[r, r], across) + floor)
        return alike, alike
    return 1.0 / (W[r, r] + floor), 1.0 / (across + floor)


@routine
def equation(J, e, n, W, r, right, scale):
    """Equation e: the velocity of row r changes by `right`."""
    for j in range(n):
        J[e, j] = W[r, j] * scale
    J[e, n] = right * scale
    J[e, n + 1] = 0.0


@helper
def fixed(J, e, n, right):
    """Equation e: the impulse of row e changes by `right`."""
    for j in range(n):
        J[e, j] = 0.0
    J[e, e] = 1.0
    J[e, n] = right
    J[e, n + 1] = 1.0


@routine
def _slipping(J, W, item, n, x, u, rho, first, d, bound, length):
    """Equations of the rows from `first` on that slip: x = bound d, d = y / |y|, y = x - rho u."""
    m = item.row + item.n_rows - first
    turn = bound / length
    for a in range(m):
        e = first + a
        for j in range(n):
            J[e, j] = 0.0
        for c in range(m):
            part = turn * ((1.0 if a == c else 0.0) - d[a] * d[c])
            add_scaled(J[e], part * rho, W[first + c], 0, n)
            J[e, first + c] -= part
        J[e, e] += 1.0
        if item.kind == CONE:
            J[e, item.row] -= item.friction * d[a]
        J[e, n] = bound * d[a] - x[e]
        J[e, n + 1] = 0.0


@routine
def _turning(J, W, item, n, x, u, rho):
    """Equations of torsional or rolling friction at its bound."""
    r, bound = item.row, bound_of(item, x)
    y_0 = x[r] - rho * u[r]
    y_1 = x[r + 1] - rho * u[r + 1] if item.kind == ROLL else 0.0
    length = math.sqrt(y_0 * y_0 + y_1 * y_1)
    d = (y_0 / length, y_1 / length, 0.0)
    if item.kind == ROLL:
        _slipping(J, W, item, n, x, u, rho, r, d, bound, length)
    else:
        fixed(J, r, n, d[0] * bound - x[r])
    if x[item.normal] > 0.0:
        for a in range(item.n_rows):
            J[r + a, item.normal] -= item.friction * d[a]
            J[r + a, n + 1] = 0.0


@routine
def load_equations(items, n_items, W, n, x, u, added, J):
    """Linear equations of a Newton step for the changes of x, by the modes of the present projection.

    `added` is added to their diagonal, which is about 1.
    """
    for i in range(n_items):
        item = items[i]
        r = item.row
        if item.mode == APART or firmness(W, r, item.n_rows) == 0.0:
            for e in range(r, r + item.n_rows):
                fixed(J, e, n, -x[e])
            continue
        rho, rho_t = steps_of(item, W)
        if item.mode == STICKS:
            for e in range(r, r + item.n_rows):
                equation(J, e, n, W, e, (item.target if e == r else 0.0) - u[e], rho if e == r else rho_t)
        elif item.kind == SLIDE:
            equation(J, r, n, W, r, item.target - u[r], rho)
            for j in range(2):
                e, part = r + 1 + j, item.friction * item.slip[j]
                fixed(J, e, n, -part * x[r] - x[e])
                J[e, r] = part
                J[e, n + 1] = 0.0
        elif item.kind == SPIN or item.kind == ROLL:
            _turning(J, W, item, n, x, u, rho)
        elif item.kind == DRY:
            y = x[r] - rho * u[r]
            fixed(J, r, n, (item.bound if y > 0.0 else -item.bound) - x[r])
        elif item.kind == CONE:
            equation(J, r, n, W, r, item.target - u[r], rho)
            y_1, y_2 = x[r + 1] - rho_t * u[r + 1], x[r + 2] - rho_t * u[r + 2]
            length = math.sqrt(y_1 * y_1 + y_2 * y_2)
            d = (y_1 / length, y_2 / length, 0.0)
            _slipping(J, W, item, n, x, u, rho_t, r + 1, d, item.friction * x[r], length)
        else:
            y = (x[r] - rho * u[r], x[r + 1] - rho * u[r + 1], x[r + 2] - rho * u[r + 2])
            length = math.sqrt(y[0] * y[0] + y[1] * y[1] + y[2] * y[2])
            d = (y[0] / length, y[1] / length, y[2] / length)
            _slipping(J, W, item, n, x, u, rho, r, d, item.bound, length)
    for e in range(n):
        if J[e, n + 1] == 0.0:
            J[e, e] += added


@routine
def _insert_known(J, n):
    """Insert the unknowns that are alone in an equation in all others."""
    for c in range(n):
        if J[c, n + 1] != 0.0:
            for e in range(n):
                if e != c and J[e, c] != 0.0:
                    J[e, n] -= J[e, c] * J[c, n]
                    J[e, c] = 0.0


@routine
def _bring_pivot(J, n, k, c, first):
    """Bring the equation with the largest coefficient of column c, of those from k on, to place k, if there is one."""
    best, most = -1, DEPENDENT
    for e in range(k, n):
        size = abs(J[e, c])
        if size > most:
            best, most = e, size
    if best > k:
        for j in range(first, n + 1):
            J[k, j], J[best, j] = J[best, j], J[k, j]
    return best >= 0


@routine
def eliminate(J, n, x):
    """Solve the equations in place; of dependent ones a basic solution, into x.

    Two columns at once, as far as both have pivots: equations are then passed through half as often.
    """
    _insert_known(J, n)
    for c in range(n):
        x[c] = -1.0  # a column without pivot
    k, c = 0, 0  # equations and columns used so far
    while c < n:
        if not _bring_pivot(J, n, k, c, c):
            c += 1
            continue
        x[c] = float(k)
        inverse = 1.0 / J[k, c]
        for e in range(k + 1, n):
            J[e, c] *= inverse  # from here on the factor with which it takes the pivot's equation
            J[e, c + 1] -= J[e, c] * J[k, c + 1]
        if c + 1 < n and _bring_pivot(J, n, k + 1, c + 1, c):
            x[c + 1] = float(k + 1)
            add_scaled(J[k + 1], -J[k + 1, c], J[k], c + 2, n + 1)
            inverse = 1.0 / J[k + 1, c + 1]
            for e in range(k + 2, n):
                y, z = -J[e, c], -J[e, c + 1] * inverse
                if y != 0.0 or z != 0.0:
                    add_both_scaled(J[e], y, J[k], z, J[k + 1], c + 2, n + 1)
            k += 1
        else:
            for e in range(k + 1, n):
                if J[e, c] != 0.0:
                    add_scaled(J[e], -J[e, c], J[k], c + 2, n + 1)
        k += 1
        c += 2
    for c in range(n - 1, -1, -1):
        if x[c] < 0.0:
            x[c] = 0.0
            continue
        e = int(x[c])
        total = J[e, n]
        for j in range(c + 1, n):
            total -= J[e, j] * x[j]
        x[c] = total / J[e, c]
