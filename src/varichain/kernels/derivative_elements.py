"""Derivatives of force elements: forces along lines, and torques about axes, between two links."""

from varichain.kernels.derivative_chains import add_wrench_change, freedom_at, write_chain
from varichain.kernels.derivative_rows import wrench_change
from varichain.kernels.force_elements import tension_slopes, turning_of
from varichain.kernels.jit import helper, routine
from varichain.kernels.loop_joints import pose_of_A
from varichain.kernels.loops import place_loop, relative
from varichain.kernels.records import DISTANCE, LINE
from varichain.kernels.row_kinds import line_of
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    angular,
    cross3,
    dot3,
    dot6,
    join6,
    load6,
    mat_t_vec,
    mat_vec,
    scale3,
    sub3,
)


@helper
def _turning_change(pose, R_WB, w):
    """Change of the gradient of an angle while A turns by w; see `turn_of`."""
    _, R_BA = pose
    a = (R_BA[0], R_BA[3], R_BA[6])
    moved = cross3(mat_t_vec(R_WB, w), a)
    x, y, dx, dy = a[0], a[1], moved[0], moved[1]
    square = x * x + y * y
    if square == 0.0:
        return ZERO3
    b, c = (1.0, 0.0, 0.0), (0.0, 1.0, 0.0)
    n = sub3(scale3(x, cross3(a, c)), scale3(y, cross3(a, b)))
    n_change = sub3(scale3(dx, cross3(a, c)), scale3(dy, cross3(a, b)))
    n_change = add3(n_change, sub3(scale3(x, cross3(moved, c)), scale3(y, cross3(moved, b))))
    change = sub3(n_change, scale3(2.0 * (x * dx + y * dy) / square, n))
    return mat_vec(R_WB, scale3(1.0 / square, change))


@routine
def add_element_derivatives(bodies, dofs, loop, by_q, by_v, chain_work):
    """Add the derivatives of what one force element asks for.

    Needs: bodies moved.
    """
    R_WA, R_WB = place_loop(bodies, loop)
    X, _, ends = write_chain(bodies, dofs, loop, chain_work)
    _, _, w_rel, v_rel = relative(bodies, loop)
    pose = pose_of_A(loop, R_WA, R_WB)
    e, length = line_of(loop, R_WB)
    f = join6(ZERO3, e)
    force, by_length, by_rate = 0.0, loop.stiffness[0], loop.damping[0]
    if loop.law == LINE:
        force, by_length, by_rate = tension_slopes(loop, length, dot3(e, v_rel))
    else:
        angle, g = turning_of(loop, pose, R_WB)
        f = join6(g, ZERO3)
        force = by_length * angle + by_rate * dot3(g, w_rel)
    for j in range(ends[1]):
        row, column = chain_work[j], freedom_at(chain_work, j)
        twist = load6(row[0:6])
        change = wrench_change(DISTANCE, 0, loop, e, R_WB, twist)
        if loop.law != LINE:
            change = join6(_turning_change(pose, R_WB, angular(twist)), ZERO3)
        add_wrench_change(dofs, chain_work, ends, j, f, change, force, by_q)
        along = dot6(f, twist)
        by_position = by_length * along + by_rate * (dot6(f, load6(row[12:18])) + dot6(change, X))
        for i in range(ends[1]):
            entry = dot6(f, load6(chain_work[i, 0:6]))
            by_q[freedom_at(chain_work, i), column] += entry * by_position
            by_v[freedom_at(chain_work, i), column] += entry * by_rate * along
