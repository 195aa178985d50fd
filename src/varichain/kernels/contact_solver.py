"""Contacts, stops and dry friction together: block Gauss-Seidel, each item solved exactly, then semismooth Newton.

Velocities of the rows are u = W x + b, with W symmetric and positive semidefinite: rows may depend on each other, as
those of a box on four corners. W is what loops leave: their rows, which are bilateral, are eliminated before. Items are
CONE, STOP, DRY, DRY_BALL, SLIDE, SPIN and ROLL of `contact_records`. SLIDE slips in a direction d that is given: its
force is along n - mu d. SPIN and ROLL follow the item of their contact, whose normal impulse bounds them. Forces and
accelerations are the same problem. The measure of a solution is Alart and Curnier's: how far x is from its projection
after a step against u, as a velocity [Alart and Curnier 1991].
"""

import math

from varichain.kernels.contact_records import APART, CONE, DRY, ITEMS, ROLL, SLIDE, SLIPS, SPIN, STICKS, STOP
from varichain.kernels.jit import MATRIX, NUMBER, VECTOR, helper, kernel, routine
from varichain.kernels.single_contact import ball_impulse, cone_impulse, disk_impulse

_ROUNDS, _SWEEPS, _MOST_NEWTON, _MOST_HALVINGS = 12, 25, 12, 6
_CONTINUATIONS = 6
_FIRST_SWEEPS = 8  # with the modes of the last step, Newton's method mostly needs no more
_EXACTING = 1  # rounds that go for rounding; after them a tenth of what is promised is enough
_FIRM = 1e-10  # part of an item's own W that holds its rows where nothing moves them; it vanishes from the solution
_DEPENDENT = 1e-9  # part of a pivot's diagonal below which the row depends on others
# Residuals that end the search: as a part of the largest velocity, and [m/s] if more would take long.
_PART, _ENOUGH = 1e-13, 1e-10


@helper
def _add_row(W, r, n, change, u):
    """Velocities after an impulse in row r has changed."""
    if change != 0.0:
        for j in range(n):
            u[j] += W[r, j] * change


@routine
def load_velocities(W, x, b, n, u):
    """Write u = W x + b."""
    for j in range(n):
        u[j] = b[j]
    for r in range(n):
        _add_row(W, r, n, x[r], u)


@helper
def _firmness(W, r, n_rows):
    total = 0.0
    for i in range(r, r + n_rows):
        total += W[i, i]
    return _FIRM * total


@routine
def _slide(item, W, n, x, u):
    """Solve an item whose slip is given; returns the change, as a velocity."""
    r, mu = item.row, item.friction
    own = W[r, r] - mu * (W[r, r + 1] * item.slip[0] + W[r, r + 2] * item.slip[1])
    if not own > _DEPENDENT * W[r, r]:  # pushing draws it in: Painleve's case, in which sweeps find nothing
        own = W[r, r]
    if W[r, r] == 0.0:
        return 0.0
    change = max(0.0, x[r] - (u[r] - item.target) / own) - x[r]
    x[r] += change
    _add_row(W, r, n, change, u)
    for j in range(2):
        across = -mu * x[r] * item.slip[j] - x[r + 1 + j]
        x[r + 1 + j] += across
        _add_row(W, r + 1 + j, n, across, u)
    return abs(change) * W[r, r]


@helper
def _bound(item, x):
    """Largest impulse of torsional or rolling friction, by the present normal impulse of its contact."""
    return item.friction * max(0.0, x[item.normal])


@routine
def _turn(item, W, n, x, u):
    """Solve an item of torsional or rolling friction; returns the change, as a velocity."""
    r, bound = item.row, _bound(item, x)
    firm = _firmness(W, r, item.n_rows)
    if firm == 0.0:
        return 0.0
    if item.kind == SPIN:
        change = min(bound, max(-bound, x[r] - u[r] / W[r, r])) - x[r]
        x[r] += change
        _add_row(W, r, n, change, u)
        return abs(change) * W[r, r]
    s = r + 1
    W_00, W_01, W_11 = W[r, r] + firm, W[r, s], W[s, s] + firm
    b_0, b_1 = u[r] - W_00 * x[r] - W_01 * x[s], u[s] - W_01 * x[r] - W_11 * x[s]
    y_0, y_1 = disk_impulse(W_00, W_01, W_11, b_0, b_1, bound)
    d_0, d_1 = y_0 - x[r], y_1 - x[s]
    x[r] = y_0
    x[s] = y_1
    _add_row(W, r, n, d_0, u)
    _add_row(W, s, n, d_1, u)
    return max(abs(d_0) * W_00, abs(d_1) * W_11)


@routine
def _sweep(items, n_items, W, n, x, u):
    """Solve every item once, with all others as they are; returns the largest change, as a velocity."""
    largest = 0.0
    for i in range(n_items):
        item = items[i]
        r = item.row
        if item.kind == STOP or item.kind == DRY:
            if W[r, r] <= 0.0:
                continue
            y = x[r] - (u[r] - item.target) / W[r, r]
            y = max(0.0, y) if item.kind == STOP else min(item.bound, max(-item.bound, y))
            change = y - x[r]
            x[r] = y
            _add_row(W, r, n, change, u)
            largest = max(largest, abs(change) * W[r, r])
            continue
        if item.kind == SLIDE:
            largest = max(largest, _slide(item, W, n, x, u))
            continue
        if item.kind == SPIN or item.kind == ROLL:
            largest = max(largest, _turn(item, W, n, x, u))
            continue
        firm = _firmness(W, r, 3)
        if firm == 0.0 or (W[r, r] == 0.0 and item.kind == CONE):
            continue
        s = r + 1
        t = r + 2
        W_00, W_01, W_02 = W[r, r] + firm, W[r, s], W[r, t]
        W_11, W_12, W_22 = W[s, s] + firm, W[s, t], W[t, t] + firm
        b_0 = u[r] - item.target - W_00 * x[r] - W_01 * x[s] - W_02 * x[t]
        b_1 = u[s] - W_01 * x[r] - W_11 * x[s] - W_12 * x[t]
        b_2 = u[t] - W_02 * x[r] - W_12 * x[s] - W_22 * x[t]
        if item.kind == CONE:
            y_0, y_1, y_2 = cone_impulse(W_00, W_01, W_02, W_11, W_12, W_22, b_0, b_1, b_2, item.friction)
        else:
            y_0, y_1, y_2 = ball_impulse((W_00, W_01, W_02, W_11, W_12, W_22), (b_0, b_1, b_2), item.bound)
        d_0, d_1, d_2 = y_0 - x[r], y_1 - x[s], y_2 - x[t]
        x[r] = y_0
        x[s] = y_1
        x[t] = y_2
        _add_row(W, r, n, d_0, u)
        _add_row(W, s, n, d_1, u)
        _add_row(W, t, n, d_2, u)
        largest = max(largest, abs(d_0) * W_00, abs(d_1) * W_11, abs(d_2) * W_22)
    return largest


@helper
def _steps(item, W):
    """Impulses per velocity of the projection: of the first row, and of the others."""
    r = item.row
    if item.n_rows == 1:
        return 1.0 / W[r, r], 0.0
    if item.kind == ROLL:
        alike = 1.0 / (max(W[r, r], W[r + 1, r + 1]) + _firmness(W, r, 2))
        return alike, alike
    across = max(W[r + 1, r + 1], W[r + 2, r + 2])
    floor = _firmness(W, r, 3)
    if item.kind not in (CONE, SLIDE):  # a ball is projected as a whole
        alike = 1.0 / (max(W[r, r], across) + floor)
        return alike, alike
    return 1.0 / (W[r, r] + floor), 1.0 / (across + floor)


@helper
def _residual_of_turn(item, x, u, rho):
    """Distance of torsional or rolling friction from its law, as a velocity; the item also gets its mode."""
    r, bound = item.row, _bound(item, x)
    y_0 = x[r] - rho * u[r]
    y_1 = x[r + 1] - rho * u[r + 1] if item.kind == ROLL else 0.0
    length, k = math.sqrt(y_0 * y_0 + y_1 * y_1), 1.0
    item.mode = STICKS
    if length > bound:
        item.mode = SLIPS
        k = bound / length
    away = abs(x[r] - k * y_0) / rho
    return max(away, abs(x[r + 1] - k * y_1) / rho) if item.kind == ROLL else away


@routine
def residual(items, n_items, W, x, u):
    """Largest distance of an item from its law, as a velocity; items also get their modes."""
    largest = 0.0
    for i in range(n_items):
        item = items[i]
        r = item.row
        if _firmness(W, r, item.n_rows) == 0.0 or (W[r, r] == 0.0 and item.kind in (CONE, STOP, SLIDE)):
            if item.kind in (CONE, STOP, SLIDE):  # no impulse can move it
                largest = max(largest, item.target - u[r])
            item.mode = APART
            continue
        rho, rho_t = _steps(item, W)
        if item.kind == STOP:
            y = max(0.0, x[r] - rho * (u[r] - item.target))
            item.mode = STICKS if y > 0.0 else APART
            largest = max(largest, abs(x[r] - y) / rho)
        elif item.kind == DRY:
            y = x[r] - rho * u[r]
            item.mode = STICKS if abs(y) <= item.bound else SLIPS
            largest = max(largest, abs(x[r] - min(item.bound, max(-item.bound, y))) / rho)
        elif item.kind == SPIN or item.kind == ROLL:
            largest = max(largest, _residual_of_turn(item, x, u, rho))
        elif item.kind == SLIDE:
            y = max(0.0, x[r] - rho * (u[r] - item.target))
            item.mode = SLIPS if y > 0.0 else APART
            largest = max(largest, abs(x[r] - y) / rho)
            for j in range(2):
                largest = max(largest, abs(x[r + 1 + j] + item.friction * x[r] * item.slip[j]) / rho_t)
        else:
            y_0, y_1, y_2 = x[r] - rho * (u[r] - item.target), x[r + 1] - rho_t * u[r + 1], x[r + 2] - rho_t * u[r + 2]
            if item.kind == CONE:
                y_0 = max(0.0, y_0)
                bound, length = item.friction * y_0, math.sqrt(y_1 * y_1 + y_2 * y_2)
            else:
                bound, length = item.bound, math.sqrt(y_0 * y_0 + y_1 * y_1 + y_2 * y_2)
            item.mode = SLIPS if length > bound else STICKS
            if length > bound:
                k = bound / length
                y_0, y_1, y_2 = (y_0 if item.kind == CONE else k * y_0), k * y_1, k * y_2
            if item.kind == CONE and y_0 == 0.0:
                item.mode = APART
            largest = max(largest, abs(x[r] - y_0) / rho, abs(x[r + 1] - y_1) / rho_t, abs(x[r + 2] - y_2) / rho_t)
    return largest


@routine
def equation(J, e, n, W, r, right, scale):
    """Equation e: the velocity of row r changes by `right`."""
    for j in range(n):
        J[e, j] = W[r, j] * scale
    J[e, n] = right * scale


@helper
def fixed(J, e, n, right):
    """Equation e: the impulse of row e changes by `right`."""
    for j in range(n):
        J[e, j] = 0.0
    J[e, e] = 1.0
    J[e, n] = right


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
            J[e, first + c] -= part
            for j in range(n):
                J[e, j] += part * rho * W[first + c, j]
        J[e, e] += 1.0
        if item.kind == CONE:
            J[e, item.row] -= item.friction * d[a]
        J[e, n] = bound * d[a] - x[e]


@routine
def _turning(J, W, item, n, x, u, rho):
    """Equations of torsional or rolling friction at its bound."""
    r, bound = item.row, _bound(item, x)
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


@routine
def _load_equations(items, n_items, W, n, x, u, J):
    """Linear equations of a Newton step for the changes of x, by the modes of the present projection."""
    for i in range(n_items):
        item = items[i]
        r = item.row
        if _firmness(W, r, item.n_rows) == 0.0:
            for e in range(r, r + item.n_rows):
                fixed(J, e, n, -x[e])
            continue
        rho, rho_t = _steps(item, W)
        if item.mode == APART:
            for e in range(r, r + item.n_rows):
                fixed(J, e, n, -x[e])
        elif item.mode == STICKS:
            for e in range(r, r + item.n_rows):
                equation(J, e, n, W, e, (item.target if e == r else 0.0) - u[e], rho if e == r else rho_t)
        elif item.kind == SLIDE:
            equation(J, r, n, W, r, item.target - u[r], rho)
            for j in range(2):
                e, part = r + 1 + j, item.friction * item.slip[j]
                fixed(J, e, n, -part * x[r] - x[e])
                J[e, r] = part
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


@routine
def eliminate(J, n, x):
    """Solve the equations in place, last column the right-hand sides; of dependent ones a basic solution, into x."""
    k = 0  # equations used so far
    for c in range(n):
        best, most = -1, _DEPENDENT
        for e in range(k, n):
            if abs(J[e, c]) > most:
                best, most = e, abs(J[e, c])
        x[c] = -1.0  # a column without pivot
        if best < 0:
            continue
        if best != k:
            for j in range(c, n + 1):
                J[k, j], J[best, j] = J[best, j], J[k, j]
        for e in range(k + 1, n):
            factor = J[e, c] / J[k, c]
            if factor != 0.0:
                for j in range(c, n + 1):
                    J[e, j] -= factor * J[k, j]
        x[c] = float(k)
        k += 1
    for c in range(n - 1, -1, -1):
        if x[c] < 0.0:
            x[c] = 0.0
            continue
        e = int(x[c])
        total = J[e, n]
        for j in range(c + 1, n):
            total -= J[e, j] * x[j]
        x[c] = total / J[e, c]


@helper
def _into_cones(items, n_items, x):
    """Bring impulses into their cones, and to signs that can be."""
    for i in range(n_items):
        item = items[i]
        r = item.row
        if item.kind == STOP:
            x[r] = max(0.0, x[r])
        elif item.kind == DRY:
            x[r] = min(item.bound, max(-item.bound, x[r]))
        elif item.kind == CONE:
            x[r] = max(0.0, x[r])
            length, bound = math.sqrt(x[r + 1] * x[r + 1] + x[r + 2] * x[r + 2]), item.friction * x[r]
            if length > bound:
                x[r + 1] *= bound / length
                x[r + 2] *= bound / length
        elif item.kind == SLIDE:
            x[r] = max(0.0, x[r])
            for j in range(2):
                x[r + 1 + j] = -item.friction * x[r] * item.slip[j]
        elif item.kind == SPIN:
            x[r] = min(_bound(item, x), max(-_bound(item, x), x[r]))
        elif item.kind == ROLL:
            length, bound = math.sqrt(x[r] * x[r] + x[r + 1] * x[r + 1]), _bound(item, x)
            if length > bound:
                x[r] *= bound / length
                x[r + 1] *= bound / length
        else:
            length = math.sqrt(x[r] * x[r] + x[r + 1] * x[r + 1] + x[r + 2] * x[r + 2])
            if length > item.bound:
                for e in range(r, r + 3):
                    x[e] *= item.bound / length


@helper
def _copy(x, n, out):
    for j in range(n):
        out[j] = x[j]


@helper
def _length_within(x_1, x_2, d_1, d_2, bound, growth):
    """Largest a with |x + a d| <= bound + a growth, from inside; infinite if there is none."""
    A = d_1 * d_1 + d_2 * d_2 - growth * growth
    B = x_1 * d_1 + x_2 * d_2 - bound * growth
    C = x_1 * x_1 + x_2 * x_2 - bound * bound
    if C >= 0.0:  # at the bound
        return 0.0 if B > 0.0 else math.inf
    root = B * B - A * C
    if root < 0.0:
        return math.inf
    # the smallest positive root of A a^2 + 2 B a + C = 0, where C < 0
    if A > 0.0:
        return (-B + math.sqrt(root)) / A if B < 0.0 else -C / (B + math.sqrt(root))
    if B <= 0.0:
        return math.inf
    return -C / (B + math.sqrt(root))


@routine
def _stride(items, n_items, x, d):
    """How often the change d of a sweep can be repeated until an item that sticks slips, or one that presses opens."""
    longest = math.inf
    for i in range(n_items):
        item = items[i]
        r = item.row
        if item.kind in (CONE, STOP, SLIDE) and d[r] < 0.0 and x[r] > 0.0:
            longest = min(longest, -x[r] / d[r])
        if item.mode != STICKS:
            continue
        if item.kind == DRY and d[r] != 0.0:
            longest = min(longest, (item.bound - x[r] if d[r] > 0.0 else item.bound + x[r]) / abs(d[r]))
        elif item.kind == CONE:
            growth = item.friction * d[r]
            bound = item.friction * x[r]
            longest = min(longest, _length_within(x[r + 1], x[r + 2], d[r + 1], d[r + 2], bound, growth))
        elif item.kind == SPIN or item.kind == ROLL:
            x_1, d_1 = (x[r + 1], d[r + 1]) if item.kind == ROLL else (0.0, 0.0)
            growth = item.friction * d[item.normal]
            longest = min(longest, _length_within(x[r], x_1, d[r], d_1, _bound(item, x), growth))
    return longest


@routine
def _leap(items, n_items, W, n, x, u, d, J):
    """Sweeps, and what many more would do: their changes shrink by a ratio, which is 1 where sweeps only drift."""
    for _ in range(_SWEEPS):
        _sweep(items, n_items, W, n, x, u)
    _copy(x, n, d)
    _sweep(items, n_items, W, n, x, u)
    for j in range(n):
        J[0, j] = x[j] - d[j]
        d[j] = x[j]
    _sweep(items, n_items, W, n, x, u)
    product, square = 0.0, 0.0
    for j in range(n):
        d[j] = x[j] - d[j]
        product += W[j, j] * d[j] * J[0, j]
        square += W[j, j] * J[0, j] * J[0, j]
    residual(items, n_items, W, x, u)
    left = 1.0 - product / square if square > 0.0 else 1.0
    longest = _stride(items, n_items, x, d)
    if 0.0 < left < 1.0 or longest < math.inf:
        many = min(2.0 * longest, 1.0 / left) if 0.0 < left < 1.0 else (2.0 * longest if left <= 0.0 else 0.0)
        for j in range(n):
            x[j] += many * d[j]
        _into_cones(items, n_items, x)


@routine
def _newton(items, n_items, W, b, n, ends, found, x, u, J):
    """Newton's method from x, whose residual is `found`, as long as it helps; returns the residual."""
    for _ in range(_MOST_NEWTON):
        _load_equations(items, n_items, W, n, x, u, J)
        eliminate(J, n, u)
        for j in range(n):
            J[0, j] = x[j]
            J[1, j] = u[j]
        part, now = 1.0, math.inf
        for _ in range(_MOST_HALVINGS):
            for j in range(n):
                x[j] = J[0, j] + part * J[1, j]
            _into_cones(items, n_items, x)
            load_velocities(W, x, b, n, u)
            now = residual(items, n_items, W, x, u)
            if now < found:
                break
            part *= 0.5
        if not now < found:
            for j in range(n):
                x[j] = J[0, j]
            load_velocities(W, x, b, n, u)
            return residual(items, n_items, W, x, u)
        found = now
        if found <= ends:
            break
    return found


@routine
def _search(items, n_items, W, b, n, ends, x, u, best, before, J):
    """Rounds of sweeps, Newton's method and leaps; returns the least residual, whose x is in `best`, and the sweeps."""
    sweeps, least = 0, math.inf
    for count in range(_ROUNDS):
        load_velocities(W, x, b, n, u)
        for _ in range(_SWEEPS if count > 0 else _FIRST_SWEEPS):
            sweeps += 1
            if _sweep(items, n_items, W, n, x, u) <= 0.5 * ends:
                break
        load_velocities(W, x, b, n, u)
        found = residual(items, n_items, W, x, u)
        if found > ends:
            found = _newton(items, n_items, W, b, n, ends, found, x, u, J)
        if found < least:
            least = found
            _copy(x, n, best)
        if found <= ends or (count >= _EXACTING and found <= _ENOUGH):
            break
        sweeps += _SWEEPS + 2
        _leap(items, n_items, W, n, x, u, before, J)
    return least, sweeps


@helper
def _firm_up(W, n, part):
    for r in range(n):
        W[r, r] *= 1.0 + part


@helper
def _soften(W, n, diagonal):
    for r in range(n):
        W[r, r] = diagonal[r]


@routine
def _continue(items, n_items, W, b, n, ends, x, u, diagonal, J):
    """Solutions with ever less added to the diagonal, each the guess of the next: the first is easy, and unique."""
    part = 1.0
    for r in range(n):
        diagonal[r] = W[r, r]
        x[r] = 0.0
    for _ in range(_CONTINUATIONS):
        part *= 0.1
        _firm_up(W, n, part)
        for _ in range(3):
            load_velocities(W, x, b, n, u)
            for _ in range(_SWEEPS):
                if _sweep(items, n_items, W, n, x, u) <= 0.5 * ends:
                    break
            load_velocities(W, x, b, n, u)
            found = residual(items, n_items, W, x, u)
            if found > ends:
                found = _newton(items, n_items, W, b, n, ends, found, x, u, J)
            if found <= ends:
                break
        _soften(W, n, diagonal)


@routine
def solve_items(items, n_items, W, b, n, ends, x, u, best, before, other, J):
    """Impulses x of all items, from a guess in x; returns the residual [velocity] and the number of sweeps.

    u receives the velocities after them; `best`, `before` and `other` (n) and J (n, n + 1) are overwritten. The
    search ends at a residual of `ends`, or of rounding. Where it finds nothing from the guess it begins once more with
    a problem that is easier, and then from nothing.
    """
    fastest = 0.0
    for j in range(n):
        fastest = max(fastest, abs(b[j]))
    ends = max(ends, _PART * fastest)
    _into_cones(items, n_items, x)
    least, sweeps = _search(items, n_items, W, b, n, ends, x, u, best, before, J)
    for attempt in range(2):
        if least <= max(ends, 5.0 * _ENOUGH):
            break
        for j in range(n):
            other[j] = best[j]
            x[j] = 0.0
        if attempt == 0:
            _continue(items, n_items, W, b, n, ends, x, u, before, J)
        found, more = _search(items, n_items, W, b, n, ends, x, u, best, before, J)
        sweeps += more
        if found < least:
            least = found
        else:
            _copy(other, n, best)
    _copy(best, n, x)
    load_velocities(W, x, b, n, u)
    return residual(items, n_items, W, x, u), sweeps


@kernel(ITEMS, MATRIX, VECTOR, NUMBER, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX)
def contact_impulses(
    # in and out: modes; W (n, n) is left as it was
    items,
    W,
    # in (n)
    b,
    # in: residual that is good enough
    ends,
    # in and out: a guess, then the impulses
    x,
    # out
    u_out,
    # work (n), (n), (n), (n, n + 1) and at least two rows
    best,
    before,
    other,
    J,
):
    """Impulses of contacts, stops and dry friction with u = W x + b; returns the residual and the number of sweeps."""
    return solve_items(items, len(items), W, b, len(b), ends, x, u_out, best, before, other, J)
