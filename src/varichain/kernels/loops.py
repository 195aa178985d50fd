"""Geometry of the loops: joint frames, directions of the rows, and position errors.

A loop joins frame A of one link to frame B of another through a joint whose freedoms are eliminated. It leaves
rows, the directions in which A must not move against B. All rows of a loop act at one point, the origin of A, as equal
and opposite wrenches: no solution can create momentum.
"""

import math

from varichain.kernels.jit import helper, routine
from varichain.kernels.records import ANGULAR, AXIS, COUPLED, DISTANCE, HELICAL, LINEAR, SLID, TWISTED
from varichain.kernels.relative_rotation import rotation_vector, tilt_between, turned_back, twist_about
from varichain.kernels.row_kinds import (
    ball_of,
    bias_along,
    coordinate_along,
    direction,
    pick,
    unit_wrench,
    velocity_along,
)
from varichain.kernels.tuples import (
    ZERO3,
    ZERO6,
    add3,
    angular,
    column,
    cross3,
    dot3,
    linear,
    load3,
    load6,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    store3,
    store6,
    sub3,
)


@helper
def frame_A(bodies, loop):
    """Orientation of frame A and its origin from the reference point of body A's tree.

    Needs: bodies placed.
    """
    body = bodies[loop.body_A]
    R = load9(body.R)
    return mat_mul(R, load9(loop.R_A)), add3(load3(body.p), mat_vec(R, load3(loop.p_A)))


@helper
def frame_B(bodies, loop):
    """Orientation of frame B and its origin from the reference point of body B's tree.

    Needs: bodies placed.
    """
    body = bodies[loop.body_B]
    R = load9(body.R)
    return mat_mul(R, load9(loop.R_B)), add3(load3(body.p), mat_vec(R, load3(loop.p_B)))


@helper
def offset_between_trees(bodies, loop):
    """Reference point of body A's tree seen from that of body B's.

    Needs: bodies placed.
    """
    root_A, root_B = bodies[loop.body_A].root, bodies[loop.body_B].root
    if root_A == root_B:
        return ZERO3
    return sub3(load3(bodies[root_A].reference), load3(bodies[root_B].reference))


@helper
def place_loop(bodies, loop):
    """Place a loop's point and axes; returns the orientations of its frames A and B.

    Needs: bodies placed.
    Gives: loop points placed, loop axes placed.
    """
    R_WA, x_A = frame_A(bodies, loop)
    R_WB, origin = frame_B(bodies, loop)
    store3(loop.x_A, x_A)
    x_B = add3(x_A, offset_between_trees(bodies, loop))
    store3(loop.x_B, x_B)
    store3(loop.d, sub3(x_B, origin))
    store3(loop.u, column(R_WB, 2))
    store3(loop.w, mat_vec(R_WA, load3(loop.axis_A)))
    return R_WA, R_WB


@helper
def wrench_at(row, loop, e, x):
    """Unit wrench of a row at the point x, about the reference point."""
    return unit_wrench(row.kind, loop, e, x)


@helper
def place_rows(bodies, loops, rows):
    """Directions and wrenches of all rows.

    Needs: bodies placed.
    Gives: loop points placed, loop axes placed, rows placed.
    """
    for i in range(len(loops)):
        place_rows_of(bodies, loops[i], rows)


@helper
def place_rows_of(bodies, loop, rows):
    """Directions and wrenches of a loop's rows; returns the orientations of its frames A and B.

    Needs: bodies placed.
    """
    R_WA, R_WB = place_loop(bodies, loop)
    x_A, x_B = load3(loop.x_A), load3(loop.x_B)
    is_one_tree = bodies[loop.body_A].root == bodies[loop.body_B].root  # with one reference point
    for r in range(loop.row, loop.row + loop.n_rows):
        row = rows[r]
        e = direction(row.kind, row.axis, loop, R_WA, R_WB)
        store3(row.e, e)
        # an open row pushes nothing: it depends on the others like a row of zeros, and its multiplier is zero
        f = ZERO6 if row.is_open else wrench_at(row, loop, e, x_A)
        store6(row.f_A, f)
        if not (is_one_tree or row.is_open):
            f = wrench_at(row, loop, e, x_B)
        store6(row.f_B, f)
    return R_WA, R_WB


@helper
def relative(bodies, loop):
    """Motion of A against B at the loop's point: (w_B, v_B, w_rel, v_rel).

    Needs: bodies moved, loop points placed.
    """
    V_A, V_B = load6(bodies[loop.body_A].V), load6(bodies[loop.body_B].V)
    v_A = add3(linear(V_A), cross3(angular(V_A), load3(loop.x_A)))
    v_B = add3(linear(V_B), cross3(angular(V_B), load3(loop.x_B)))
    return angular(V_B), v_B, sub3(angular(V_A), angular(V_B)), sub3(v_A, v_B)


@helper
def row_velocity(row, loop, w_rel, v_rel):
    """K v of one row.

    Needs: rows placed, slip rates loaded.
    """
    if row.kind == COUPLED:
        return loop.slip_rate
    return velocity_along(row.kind, loop, load3(row.e), w_rel, v_rel)


@helper
def row_bias(bodies, row, loop, motion, bias):
    """Kdot v of one row, with the bodies' accelerations for zero joint accelerations in `A`; zero of a coupling.

    `motion` is the loop's `relative`, `bias` its `relative_bias`.

    Needs: bodies moved, rows placed.
    """
    if row.kind == COUPLED:
        return 0.0
    return bias_along(row.kind, row.axis, bodies, loop, load3(row.e), motion, bias)


@helper
def loop_error(bodies, loop):
    """Pose of A in B as errors, in B's axes: position, rotation vector (of the axis alone if it may turn); and R_BA.

    Needs: bodies placed.
    """
    R_WA, x_A = frame_A(bodies, loop)
    R_WB, x_B = frame_B(bodies, loop)
    return error_between(loop, R_WA, R_WB, sub3(add3(x_A, offset_between_trees(bodies, loop)), x_B))


@helper
def error_between(loop, R_WA, R_WB, d):
    """Errors of a loop, as `loop_error`, from its frames' orientations and the way d from B to A, in world axes."""
    gap = mat_t_vec(R_WB, d)
    R_BA = turned_back(R_WA, R_WB)
    turn = tilt_between(R_BA) if loop.orientation == AXIS else rotation_vector(R_BA)
    return gap, turn, R_BA


@routine
def modal_error(row, loop, p, R_BA):
    """How far a row that a stop closes is from its target [m or rad]; zero of open rows, and of stuck ones."""
    if row.is_open or row.is_stuck:
        return 0.0
    error = coordinate_along(row.kind, row.axis, loop, p, R_BA) - row.target
    if row.kind == TWISTED:  # K v is the rate of the twist times this
        _, _, cos_half, _, _, _ = ball_of(loop, R_BA)
        return error * cos_half
    return error


@helper
def row_error(row, loop, error):
    """How far one row is from closed [m or rad]; K v is its rate of change.

    Needs: loop axes placed, slips loaded.
    """
    if row.kind == COUPLED:
        return loop.slip
    return frame_error(row, loop, error)


@helper
def frame_error(row, loop, error):
    """How far a row that joins two frames is from closed [m or rad].

    Needs: loop axes placed.
    """
    gap, turn, R_BA = error
    if loop.is_modal:
        return modal_error(row, loop, gap, R_BA)
    if row.kind == LINEAR:
        return pick(gap, row.axis)
    if row.kind == SLID:
        return pick(mat_t_vec(R_BA, gap), row.axis)
    if row.kind == ANGULAR:
        return pick(turn, row.axis)
    if row.kind == DISTANCE:
        return math.sqrt(dot3(gap, gap)) - loop.length
    if row.kind == HELICAL:  # to the nearest thread: whole turns leave no mark on the twist
        thread = 2.0 * math.pi * loop.pitch
        slip = gap[2] - loop.pitch * twist_about(R_BA, 2)
        return slip - thread * math.floor(slip / thread + 0.5) if thread != 0.0 else slip
    normal = cross3(load3(loop.u), load3(loop.w))
    return math.atan2(math.sqrt(dot3(normal, normal)), dot3(load3(loop.u), load3(loop.w))) - loop.angle
