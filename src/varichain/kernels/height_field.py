"""Height fields: a smooth surface through heights on a grid, and the place of it that is nearest to a point.

Between its nodes the surface is bicubic [Hermite]: each node has its height, its slopes along both axes and its twist,
all per cell, so that the normal turns without jumps. Beyond the last nodes it goes on straight. Coordinates are those
of the field's own frame, whose origin is the middle of the grid and whose z axis is up.
"""

import math
from typing import Any, NamedTuple

from varichain.kernels.jit import helper, routine
from varichain.kernels.tables import numbers_at
from varichain.kernels.tuples import dot3, scale3, sub3

_MOST_STEPS, _MOST_HALVINGS = 40, 12
_NEAREST = 1e-15  # of the distance and the place, to which the nearest place is found
_MOST_CELLS = 8  # on either side of a ball, whose nodes are looked at for a place to begin


class Patch(NamedTuple):
    """Height of a field at a place, with its first and second derivatives."""

    h: Any
    x: Any
    y: Any
    xx: Any
    xy: Any
    yy: Any


@helper
def _weights(t):
    """Hermite's four weights at t in 0..1 (value and slope at 0, value and slope at 1), their rates, and theirs."""
    s = 1.0 - t
    return (
        ((1.0 + 2.0 * t) * s * s, t * s * s, (1.0 + 2.0 * s) * t * t, -s * t * t),
        (-6.0 * t * s, s * (1.0 - 3.0 * t), 6.0 * t * s, t * (3.0 * t - 2.0)),
        (12.0 * t - 6.0, 6.0 * t - 4.0, 6.0 - 12.0 * t, 6.0 * t - 2.0),
    )


@helper
def _blend(nodes, k, step, a, b):
    """Sum of the values, slopes and twists of a cell's four nodes with weights a along x and b along y."""
    total = 0.0
    for i in range(2):
        for j in range(2):
            m = k + 4 * (i * step + j)
            a_0, a_1 = (a[0], a[1]) if i == 0 else (a[2], a[3])
            b_0, b_1 = (b[0], b[1]) if j == 0 else (b[2], b[3])
            total += a_0 * (b_0 * nodes[m] + b_1 * nodes[m + 2]) + a_1 * (b_0 * nodes[m + 1] + b_1 * nodes[m + 3])
    return total


@routine
def field_patch(contact, x, y):
    """Height and derivatives of a contact's field at a place of its frame."""
    n_x, n_y = contact.grid[1], contact.grid[2]
    nodes = numbers_at(contact.grid[0], 4 * n_x * n_y)
    d_x, d_y = contact.sizes[0], contact.sizes[1]
    u, w = x / d_x + 0.5 * (n_x - 1), y / d_y + 0.5 * (n_y - 1)
    u_in, w_in = min(max(u, 0.0), n_x - 1.0), min(max(w, 0.0), n_y - 1.0)
    i, j = min(int(u_in), n_x - 2), min(int(w_in), n_y - 2)
    a, a_1, a_2 = _weights(u_in - i)
    b, b_1, b_2 = _weights(w_in - j)
    k = 4 * (i * n_y + j)
    h, h_x, h_y = _blend(nodes, k, n_y, a, b), _blend(nodes, k, n_y, a_1, b), _blend(nodes, k, n_y, a, b_1)
    h_xx, h_xy, h_yy = _blend(nodes, k, n_y, a_2, b), _blend(nodes, k, n_y, a_1, b_1), _blend(nodes, k, n_y, a, b_2)
    beyond_x, beyond_y = u - u_in, w - w_in
    if beyond_x != 0.0 or beyond_y != 0.0:  # straight on
        h += h_x * beyond_x + h_y * beyond_y + h_xy * beyond_x * beyond_y
        h_x, h_y = h_x + h_xy * beyond_y, h_y + h_xy * beyond_x
        h_xx = 0.0 if beyond_x != 0.0 else h_xx
        h_yy = 0.0 if beyond_y != 0.0 else h_yy
    return Patch(h, h_x / d_x, h_y / d_y, h_xx / (d_x * d_x), h_xy / (d_x * d_y), h_yy / (d_y * d_y))


@helper
def _square(p, x, y, h):
    """Square of the distance of a point from a place of the field."""
    return (x - p[0]) * (x - p[0]) + (y - p[1]) * (y - p[1]) + (h - p[2]) * (h - p[2])


@helper
def _within(low, high, n):
    """First and last of n nodes between two numbers of cells; the last is before the first if there are none."""
    return math.ceil(min(max(low, 0.0), 1.0 * n)), math.floor(min(max(high, -1.0), n - 1.0))


@routine
def _beginning(contact, p, radius):
    """The place to begin at: below the point, or the node that is nearest to a ball's middle."""
    x, y = p[0], p[1]
    n_x, n_y = contact.grid[1], contact.grid[2]
    nodes = numbers_at(contact.grid[0], 4 * n_x * n_y)
    nearest = _square(p, x, y, field_patch(contact, x, y).h)
    d_x, d_y = contact.sizes[0], contact.sizes[1]
    u, w = p[0] / d_x + 0.5 * (n_x - 1), p[1] / d_y + 0.5 * (n_y - 1)
    cells_x, cells_y = min(radius / d_x, 1.0 * _MOST_CELLS), min(radius / d_y, 1.0 * _MOST_CELLS)
    first_i, last_i = _within(u - cells_x, u + cells_x, n_x)
    first_j, last_j = _within(w - cells_y, w + cells_y, n_y)
    for i in range(first_i, last_i + 1):
        for j in range(first_j, last_j + 1):
            a, b = (i - 0.5 * (n_x - 1)) * d_x, (j - 0.5 * (n_y - 1)) * d_y
            square = _square(p, a, b, nodes[4 * (i * n_y + j)])
            if square < nearest:
                x, y, nearest = a, b, square
    return x, y


@routine
def field_distance(contact, p, radius):
    """Distance of a point p from a contact's field, negative below it, and the field's normal at the nearest place.

    The nearest place is found by Newton's method, from below the point or, for a ball, from a node within its radius.
    """
    x, y = _beginning(contact, p, radius)
    f = field_patch(contact, x, y)
    for _ in range(_MOST_STEPS):
        up = f.h - p[2]
        g_x, g_y = x - p[0] + up * f.x, y - p[1] + up * f.y
        a, b, d = 1.0 + f.x * f.x, f.x * f.y, 1.0 + f.y * f.y
        A, B, D = a + up * f.xx, b + up * f.xy, d + up * f.yy
        is_convex = min(A - 0.1 * a, A * D - B * B - 0.1 * (a * d - b * b)) > 0.0
        if is_convex:  # curved towards a nearest place
            a, b, d = A, B, D
        k = -1.0 / (a * d - b * b)
        s_x, s_y = k * (d * g_x - b * g_y), k * (a * g_y - b * g_x)
        before, part = _square(p, x, y, f.h), 1.0
        for _ in range(_MOST_HALVINGS):
            f = field_patch(contact, x + part * s_x, y + part * s_y)
            if _square(p, x + part * s_x, y + part * s_y, f.h) <= before * (1.0 + 1e-15):
                break
            part *= 0.5
        x += part * s_x
        y += part * s_y
        if abs(s_x) + abs(s_y) <= _NEAREST * (abs(x) + abs(y) + math.sqrt(before)):
            break
    k = 1.0 / math.sqrt(1.0 + f.x * f.x + f.y * f.y)
    n = scale3(k, (-f.x, -f.y, 1.0))
    return dot3(n, sub3(p, (x, y, f.h))), n
