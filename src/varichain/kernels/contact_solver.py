"""Contacts, stops and dry friction together: semismooth Newton, and block Gauss-Seidel with each item solved exactly.

Velocities of the rows are u = W x + b, with W symmetric and positive semidefinite: rows may depend on each other, as
those of a box on four corners. W is what loops leave: their rows, which are bilateral, are eliminated before. Items are
CONE, STOP, DRY, DRY_BALL, SLIDE, SPIN and ROLL of `contact_records`. SLIDE slips in a direction d that is given: its
force is along n - mu d. SPIN and ROLL follow the item of their contact, whose normal impulse bounds them. Forces and
accelerations are the same problem. The measure of a solution is Alart and Curnier's: how far x is from its projection
after a step against u, as a velocity [Alart and Curnier 1991].
"""

import math

from varichain.kernels.contact_equations import (
    DEPENDENT,
    bound_of,
    eliminate,
    firmness,
    load_equations,
    steps_of,
)
from varichain.kernels.contact_records import APART, CONE, DRY, ITEMS, ROLL, SLIDE, SLIPS, SPIN, STICKS, STOP
from varichain.kernels.jit import MATRIX, NUMBER, VECTOR, helper, kernel, routine
from varichain.kernels.lanes import add_scaled
from varichain.kernels.single_contact import ball_impulse, cone_impulse, disk_impulse

_ROUNDS, _SWEEPS, _MOST_NEWTON = 12, 25, 14
_MOST_CUTS, _CUT = 3, 1.0 / 3.0  # of a step that does not help
_ADDED, _MOST_ADDED = 1e-3, 0.1  # to the diagonal of equations, which is 1
_CONTINUATIONS = 9
_FIRST_SWEEPS = 8
# Residuals that end the search: as a part of the largest velocity; [m/s] if less cannot be had at once, 1 nm in 100 s;
# and [m/s] if less is not found by easier problems.
_PART, _ENOUGH, _SLIGHT = 1e-13, 1e-11, 1e-7


@helper
def _add_row(W, r, n, change, u):
    """Velocities after an impulse in row r has changed."""
    if change != 0.0:
        add_scaled(u, change, W[r], 0, n)


@routine
def load_velocities(W, x, b, n, u):
    """Write u = W x + b."""
    for j in range(n):
        u[j] = b[j]
    for r in range(n):
        _add_row(W, r, n, x[r], u)


@routine
def _slide(item, W, n, x, u):
    """Solve an item whose slip is given; returns the change, as a velocity."""
    r, mu = item.row, item.friction
    own = W[r, r] - mu * (W[r, r + 1] * item.slip[0] + W[r, r + 2] * item.slip[1])
    if not own > DEPENDENT * W[r, r]:  # pushing draws it in: Painleve's case, in which sweeps find nothing
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


@routine
def _turn(item, W, n, x, u):
    """Solve an item of torsional or rolling friction; returns the change, as a velocity."""
    r, bound = item.row, bound_of(item, x)
    firm = firmness(W, r, item.n_rows)
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
        firm = firmness(W, r, 3)
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
def _residual_of_turn(item, x, u, rho):
    """Distance of torsional or rolling friction from its law, as a velocity; the item also gets its mode."""
    r, bound = item.row, bound_of(item, x)
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
        if firmness(W, r, item.n_rows) == 0.0 or (W[r, r] == 0.0 and item.kind in (CONE, STOP, SLIDE)):
            if item.kind in (CONE, STOP, SLIDE):  # no impulse can move it
                largest = max(largest, item.target - u[r])
            item.mode = APART
            continue
        rho, rho_t = steps_of(item, W)
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
            x[r] = min(bound_of(item, x), max(-bound_of(item, x), x[r]))
        elif item.kind == ROLL:
            length, bound = math.sqrt(x[r] * x[r] + x[r + 1] * x[r + 1]), bound_of(item, x)
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
            longest = min(longest, _length_within(x[r], x_1, d[r], d_1, bound_of(item, x), growth))
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
    """Newton's method from x, whose residual is `found`, as long as it helps; returns the residual.

    Where its step does not help, one with something added to the diagonal may: among forces that rows share, which have
    no or hardly any effect, such a step takes small ones [Levenberg 1944].
    """
    added = 0.0
    for _ in range(_MOST_NEWTON):
        if found <= ends or added > _MOST_ADDED:
            break
        load_equations(items, n_items, W, n, x, u, added, J)
        eliminate(J, n, u)
        for j in range(n):
            J[0, j] = x[j]
            J[1, j] = u[j]
        part, now = 1.0, math.inf
        for _ in range(_MOST_CUTS):
            for j in range(n):
                x[j] = J[0, j] + part * J[1, j]
            _into_cones(items, n_items, x)
            load_velocities(W, x, b, n, u)
            now = residual(items, n_items, W, x, u)
            if now < found:
                break
            part *= _CUT
        is_stuck = found <= _ENOUGH and now > 0.5 * found
        if now < found:
            found = now
            added *= _CUT
        else:
            for j in range(n):
                x[j] = J[0, j]
            load_velocities(W, x, b, n, u)
            residual(items, n_items, W, x, u)
            added = max(_ADDED, 10.0 * added)
        if is_stuck:
            break
    return found


@routine
def _improve(items, n_items, W, b, n, most_sweeps, ends, x, u, J):
    """Sweeps from x, then Newton's method; returns the residual and the number of sweeps."""
    load_velocities(W, x, b, n, u)
    sweeps = 0
    while sweeps < most_sweeps:
        sweeps += 1
        if _sweep(items, n_items, W, n, x, u) <= 0.5 * ends:
            break
    load_velocities(W, x, b, n, u)
    found = residual(items, n_items, W, x, u)
    return _newton(items, n_items, W, b, n, ends, found, x, u, J), sweeps


@helper
def _presses(x, n):
    """Whether there is any impulse."""
    total = 0.0
    for j in range(n):
        total += abs(x[j])
    return total > 0.0


@routine
def _search(items, n_items, W, b, n, ends, x, u, best, before, J):
    """Rounds of sweeps, Newton's method and leaps; returns the least residual, whose x is in `best`, and the sweeps."""
    total, least = 0, math.inf
    for _ in range(_ROUNDS):
        found, sweeps = _improve(items, n_items, W, b, n, _SWEEPS, ends, x, u, J)
        total += sweeps
        if found < least:
            least = found
            _copy(x, n, best)
        if found <= max(ends, _ENOUGH):
            break
        total += _SWEEPS + 2
        _leap(items, n_items, W, n, x, u, before, J)
    return least, total


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
    """Solutions with ever less added to the diagonal, each the guess of the next; returns the last residual and sweeps.

    The first is easy, and unique.
    """
    part, total = 1.0, 0
    for r in range(n):
        diagonal[r] = W[r, r]
    for _ in range(_CONTINUATIONS):
        part *= 0.1
        _firm_up(W, n, part)
        found, _ = _improve(items, n_items, W, b, n, 0, ends, x, u, J)
        if found > ends:
            _, sweeps = _improve(items, n_items, W, b, n, _SWEEPS, ends, x, u, J)
            total += sweeps
        _soften(W, n, diagonal)
    found, _ = _improve(items, n_items, W, b, n, 0, ends, x, u, J)
    return found, total


@routine
def solve_items(items, n_items, W, b, n, ends, x, u, best, before, other, J):
    """Impulses x of all items, from a guess in x; returns the residual [velocity] and the number of sweeps.

    u receives the velocities after them; `best`, `before` and `other` (n) and J (n, n + 2) are overwritten. The
    search ends at a residual of `ends`, of rounding, or of what is enough. Newton's method mostly needs the guess
    alone. Where it finds nothing, sweeps bring it nearer; then problems that are easier; then rounds of all that, and
    once more from nothing.
    """
    fastest = 0.0
    for j in range(n):
        fastest = max(fastest, abs(b[j]))
    ends = max(ends, _PART * fastest)
    enough = max(ends, _ENOUGH)
    _into_cones(items, n_items, x)
    least, total = math.inf, 0
    if _presses(x, n):
        least, _ = _improve(items, n_items, W, b, n, 0, ends, x, u, J)
        _copy(x, n, best)
    if least > enough:
        found, total = _improve(items, n_items, W, b, n, _FIRST_SWEEPS, ends, x, u, J)
        if found < least:
            least = found
            _copy(x, n, best)
    if least > enough:
        found, sweeps = _continue(items, n_items, W, b, n, ends, x, u, before, J)
        total += sweeps
        if found < least:
            least = found
            _copy(x, n, best)
    for attempt in range(2):
        if least <= max(ends, _SLIGHT):
            break
        for j in range(n):
            other[j] = best[j]
            x[j] = best[j] if attempt == 0 else 0.0
        found, sweeps = _search(items, n_items, W, b, n, ends, x, u, best, before, J)
        total += sweeps
        if found < least:
            least = found
        else:
            _copy(other, n, best)
    _copy(best, n, x)
    load_velocities(W, x, b, n, u)
    return residual(items, n_items, W, x, u), total


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
    # work (n), (n), (n), (n, n + 2) and at least two rows
    best,
    before,
    other,
    J,
):
    """Impulses of contacts, stops and dry friction with u = W x + b; returns the residual and the number of sweeps."""
    return solve_items(items, len(items), W, b, len(b), ends, x, u_out, best, before, other, J)
