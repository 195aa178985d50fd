"""How the rows of a loop change while A moves against B: first and second derivatives of their wrenches.

Everything is seen from B, about the point where A's origin is now. A moves by a twist [w; v], v the velocity of its
origin. A row's wrench f changes by D [w; v], and D itself with it. Along a motion X and acceleration Y of A,

    K v = f . X,     K a + Kdot v = f . Y + X . D X.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.records import (
    ACROSS,
    CARDAN,
    CARRIED,
    CROSSED,
    DISTANCE,
    HELICAL,
    LINEAR,
    SLID,
    TURNED,
)
from varichain.kernels.row_kinds import least_aligned, line_of
from varichain.kernels.tuples import (
    ZERO3,
    ZERO6,
    add3,
    angular,
    cross3,
    dot3,
    join6,
    linear,
    load3,
    scale3,
    sub3,
)

X_AXIS, Y_AXIS, Z_AXIS = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0)


@helper
def _across(e, x):
    """Part of x at right angles with the unit vector e."""
    return sub3(x, scale3(dot3(e, x), e))


@helper
def _line_change(loop, e, v):
    """Change of the direction e of the line from B's origin to A's; zero where they coincide."""
    d = load3(loop.d)
    size = math.sqrt(dot3(d, d))
    return scale3(1.0 / size, _across(e, v)) if size > 0.0 else ZERO3


@helper
def _crossed_change(loop, e, w):
    """Change of the direction across both axes of a universal joint."""
    u, axis = load3(loop.u), load3(loop.w)
    n = cross3(u, axis)
    return scale3(1.0 / math.sqrt(dot3(n, n)), _across(e, cross3(u, cross3(w, axis))))


@helper
def _cardan_change(axis, loop, e, w):
    """Change of a dual vector of a universal joint's axes."""
    u, second = load3(loop.u), load3(loop.w)
    moved = cross3(w, second)
    n, n_change = cross3(u, second), cross3(u, moved)
    change = add3(cross3(moved, n), cross3(second, n_change)) if axis == 0 else cross3(n_change, u)
    return scale3(1.0 / dot3(n, n), sub3(change, scale3(2.0 * dot3(n, n_change), e)))


@helper
def _across_change(axis, loop, R_WB, v):
    """Change of a direction at right angles with the line."""
    e, _ = line_of(loop, R_WB)
    e_change, b = _line_change(loop, e, v), least_aligned(e, R_WB)
    n = cross3(e, b)
    size = math.sqrt(dot3(n, n))
    t = scale3(1.0 / size, n)
    change = scale3(1.0 / size, _across(t, cross3(e_change, b)))
    return change if axis == 0 else add3(cross3(e_change, t), cross3(e, change))


@routine
def wrench_change(kind, axis, loop, e, R_WB, twist):
    """Change D twist of the wrench of a row along e; the loop must be placed. Rows of stops are not known here."""
    w, v = angular(twist), linear(twist)
    if kind in (LINEAR, HELICAL):
        return join6(cross3(v, e), ZERO3)
    if kind == TURNED:
        return join6(cross3(w, e), ZERO3)
    if kind == CARRIED:
        return join6(cross3(v, e), cross3(w, e))
    if kind == SLID:
        e_change = cross3(w, e)
        return join6(cross3(e_change, load3(loop.d)), e_change)
    if kind == CROSSED:
        return join6(_crossed_change(loop, e, w), ZERO3)
    if kind == CARDAN:
        return join6(_cardan_change(axis, loop, e, w), ZERO3)
    if kind == DISTANCE:
        return join6(cross3(v, e), _line_change(loop, e, v))
    if kind == ACROSS:
        return join6(cross3(v, e), _across_change(axis, loop, R_WB, v))
    return ZERO6


@routine
def change_transposed(kind, loop, e, x):
    """D^T x of a row of a loop."""
    moment, force = angular(x), linear(x)
    if kind in (LINEAR, HELICAL):
        return join6(ZERO3, cross3(e, moment))
    if kind == SLID:
        return join6(cross3(e, add3(cross3(load3(loop.d), moment), force)), ZERO3)
    if kind == CROSSED:
        u, axis = load3(loop.u), load3(loop.w)
        n = cross3(u, axis)
        part = scale3(1.0 / math.sqrt(dot3(n, n)), _across(e, moment))
        return join6(cross3(axis, cross3(part, u)), ZERO3)
    if kind == DISTANCE:
        return join6(ZERO3, add3(cross3(e, moment), _line_change(loop, e, force)))
    return ZERO6


@helper
def _crossed_slope(loop, e, w_X, w):
    """Change of w_X . (change of e along w_X) while A turns by w."""
    u, axis = load3(loop.u), load3(loop.w)
    n = cross3(u, axis)
    shrink = 1.0 / math.sqrt(dot3(n, n))
    m, moved = cross3(u, cross3(w_X, axis)), cross3(w, axis)
    along, opening = dot3(e, m), dot3(e, w_X)
    m_change, n_change = cross3(u, cross3(w_X, moved)), cross3(u, moved)
    e_change = scale3(shrink, _across(e, n_change))
    bend = shrink * (dot3(m, w_X) - along * opening)
    change = dot3(m_change, w_X) - (dot3(e_change, m) + dot3(e, m_change)) * opening - along * dot3(e_change, w_X)
    return shrink * (change - bend * dot3(e, n_change))


@helper
def _line_slope(loop, e, w_X, v_X, v):
    """Change of X . D X of a distance while A is displaced by v."""
    d = load3(loop.d)
    shrink = 1.0 / math.sqrt(dot3(d, d))
    at_B = sub3(v_X, cross3(w_X, d))  # velocity of the point of A that is at B's origin
    along, opening = dot3(e, v_X), dot3(e, at_B)
    v_change, e_change = cross3(w_X, v), scale3(shrink, _across(e, v))
    bend = shrink * (dot3(v_X, at_B) - along * opening)
    change = dot3(v_change, at_B) - (dot3(e_change, v_X) + dot3(e, v_change)) * opening
    return shrink * (change - along * dot3(e_change, at_B) - bend * dot3(e, v))


@routine
def bend_gradient(kind, loop, e, X):
    """Gradient of X . D X by twists of A, X being constant: the second derivative of a row of a loop."""
    w, v = angular(X), linear(X)
    if kind in (LINEAR, HELICAL):
        return join6(ZERO3, cross3(cross3(e, w), w))
    if kind == SLID:
        at_B = sub3(v, cross3(w, load3(loop.d)))
        return join6(cross3(e, cross3(at_B, w)), ZERO3)
    if kind == CROSSED:
        slopes = (
            _crossed_slope(loop, e, w, X_AXIS),
            _crossed_slope(loop, e, w, Y_AXIS),
            _crossed_slope(loop, e, w, Z_AXIS),
        )
        return join6(slopes, ZERO3)
    if kind == DISTANCE and dot3(load3(loop.d), load3(loop.d)) > 0.0:
        slopes = (
            _line_slope(loop, e, w, v, X_AXIS),
            _line_slope(loop, e, w, v, Y_AXIS),
            _line_slope(loop, e, w, v, Z_AXIS),
        )
        return join6(ZERO3, slopes)
    return ZERO6
