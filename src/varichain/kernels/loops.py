"""Geometry of the loops: where each joint frame is, along what its rows look, and how far it is from closed.

A loop joins frame A of one link to frame B of another through a joint whose freedoms are eliminated: what is left are
rows, the directions in which A must not move against B. All rows of a loop act at one point, the origin of A, as equal
and opposite wrenches: no solution can create momentum.
"""

import math

from varichain.kernels.balls import swing_and_twist, swing_bias
from varichain.kernels.jit import helper, routine
from varichain.kernels.records import (
    ACROSS,
    ANGULAR,
    AXIS,
    CARDAN,
    CARRIED,
    COUPLED,
    CROSSED,
    DISTANCE,
    HELICAL,
    LINEAR,
    SLID,
    SWUNG,
    TURNED,
    TWISTED,
)
from varichain.kernels.tuples import (
    ZERO3,
    ZERO6,
    add3,
    angular,
    column,
    cross3,
    dot3,
    join6,
    linear,
    load3,
    load6,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    quaternion_from_matrix,
    scale3,
    store3,
    store6,
    sub3,
)

_Z = (0.0, 0.0, 1.0)


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
def pick(x, axis):
    """Entry of a 3-vector; branches are cheaper than a variable index over a tuple."""
    if axis == 0:
        return x[0]
    if axis == 1:
        return x[1]
    return x[2]


@helper
def pick_column(R, axis):
    """Column of a rotation matrix, chosen at run time."""
    if axis == 0:
        return column(R, 0)
    if axis == 1:
        return column(R, 1)
    return column(R, 2)


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
def line_of(loop, R_WB):
    """Direction from the origin of B to that of A, and their distance; along the joint's axis where they coincide."""
    d = load3(loop.d)
    size = math.sqrt(dot3(d, d))
    return (scale3(1.0 / size, d), size) if size > 0.0 else (column(R_WB, 2), 0.0)


@helper
def least_aligned(e, R_WB):
    """The axis of B that is nearest to a right angle with e."""
    x, y, z = abs(dot3(e, column(R_WB, 0))), abs(dot3(e, column(R_WB, 1))), abs(dot3(e, column(R_WB, 2)))
    if x <= y and x <= z:
        return column(R_WB, 0)
    return column(R_WB, 1) if y <= z else column(R_WB, 2)


@helper
def unit3(x):
    """Unit vector along x."""
    return scale3(1.0 / math.sqrt(dot3(x, x)), x)


@routine
def ball_of(loop, R_BA):
    """Swing, twist, cos(swing / 2), and the directions b, n, m of a ball in a loop."""
    c = loop.rest
    return swing_and_twist(quaternion_from_matrix(R_BA), load3(loop.axis_A), (c[0], c[1], c[2], c[3]))


@routine
def ball_direction(kind, loop, R_WA, R_WB):
    """Direction of the swing, or of the twist, of a ball in a loop, world axes."""
    _, _, _, _, n, m = ball_of(loop, turned_back(R_WA, R_WB))
    return mat_vec(R_WA, n if kind == SWUNG else m)


@routine
def ball_bias(bodies, loop, w_rel):
    """Part of a swing's acceleration that stems from the turning of its direction.

    Needs: bodies placed.
    """
    R_WA, _ = frame_A(bodies, loop)
    R_WB, _ = frame_B(bodies, loop)
    swing, _, _, b, n, _ = ball_of(loop, turned_back(R_WA, R_WB))
    return swing_bias(swing, load3(loop.axis_A), b, n, mat_t_vec(R_WA, w_rel))


@helper
def direction(kind, axis, loop, R_WA, R_WB):
    """Direction that a row looks along, world axes: a unit vector, but for CARDAN.

    The angular velocity of a universal joint is u rate_0 + w rate_1: its rates are products with the dual vectors.

    Needs: loop axes placed.
    """
    if kind in (CROSSED, CARDAN):
        u, w = load3(loop.u), load3(loop.w)
        n = cross3(u, w)
        if kind == CROSSED:
            return unit3(n)
        return scale3(1.0 / dot3(n, n), cross3(w, n) if axis == 0 else cross3(n, u))
    if kind in (TURNED, CARRIED, SLID):
        return pick_column(R_WA, axis)
    if kind in (SWUNG, TWISTED):
        return ball_direction(kind, loop, R_WA, R_WB)
    if kind in (DISTANCE, ACROSS):
        e, _ = line_of(loop, R_WB)
        if kind == DISTANCE:
            return e
        t = unit3(cross3(e, least_aligned(e, R_WB)))
        return t if axis == 0 else cross3(e, t)
    return pick_column(R_WB, axis)


@helper
def unit_wrench(kind, loop, e, x):
    """Unit wrench of a row along e at the point x, about the reference point."""
    if kind in (LINEAR, CARRIED, DISTANCE, ACROSS):
        return join6(cross3(x, e), e)
    if kind == SLID:  # through the origin of B
        return join6(cross3(sub3(x, load3(loop.d)), e), e)
    if kind == HELICAL:  # the joint's own freedom does no work: v_z - pitch w_z is what the row sees
        return join6(sub3(cross3(x, e), scale3(loop.pitch, e)), e)
    return join6(e, ZERO3)


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
        loop = loops[i]
        R_WA, R_WB = place_loop(bodies, loop)
        x_A, x_B = load3(loop.x_A), load3(loop.x_B)
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            e = direction(row.kind, row.axis, loop, R_WA, R_WB)
            store3(row.e, e)
            # an open row pushes nothing: it depends on the others like a row of zeros, and its multiplier is zero
            store6(row.f_A, ZERO6 if row.is_open else wrench_at(row, loop, e, x_A))
            store6(row.f_B, ZERO6 if row.is_open else wrench_at(row, loop, e, x_B))


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
def velocity_along(kind, loop, e, w_rel, v_rel):
    """Velocity of A against B that a row along e sees."""
    if kind in (LINEAR, CARRIED, DISTANCE, ACROSS):
        return dot3(e, v_rel)
    if kind == SLID:
        return dot3(e, sub3(v_rel, cross3(w_rel, load3(loop.d))))
    if kind == HELICAL:
        return dot3(e, v_rel) - loop.pitch * dot3(e, w_rel)
    return dot3(e, w_rel)


@helper
def row_velocity(row, loop, w_rel, v_rel):
    """K v of one row.

    Needs: rows placed, slip rates loaded.
    """
    if row.kind == COUPLED:
        return loop.slip_rate
    return velocity_along(row.kind, loop, load3(row.e), w_rel, v_rel)


@helper
def _cardan_bias(axis, loop, e, w_rel):
    """Part of Kdot v that stems from the turning of a dual vector; zero while the angle of the axes is what it was."""
    u, w = load3(loop.u), load3(loop.w)
    n = cross3(u, w)
    c, growth = dot3(u, w), dot3(w_rel, cross3(w, u))  # cosine of the angle between the axes, and its rate
    return growth * (2.0 * c * dot3(e, w_rel) - dot3(w if axis == 0 else u, w_rel)) / dot3(n, n)


@helper
def row_bias(bodies, row, loop, motion):
    """Kdot v of one row, with the bodies' accelerations for zero joint accelerations in `A`; zero of a coupling."""
    if row.kind == COUPLED:
        return 0.0
    return bias_along(row.kind, row.axis, bodies, loop, load3(row.e), motion)


@helper
def bias_along(kind, axis, bodies, loop, e, motion):
    """Rate of `velocity_along`, of which the accelerations of freedoms are left out.

    Rows turn with B, and their point moves with A: d/dt (f . V_rel) = f . (A_A - A_B) - f . (V_B x V_rel)
    + e . (w_rel x v_rel), all about the point. The last term vanishes for CARRIED rows, which turn with A.

    Needs: bodies moved, rows placed.
    """
    w_B, v_B, w_rel, v_rel = motion
    A_A, A_B = load6(bodies[loop.body_A].A), load6(bodies[loop.body_B].A)
    turning = sub3(sub3(angular(A_A), angular(A_B)), cross3(w_B, w_rel))
    if kind in (ANGULAR, TURNED, TWISTED):  # of a twist, while it is locked
        return dot3(e, turning)
    if kind == SWUNG:
        return dot3(e, turning) + ball_bias(bodies, loop, w_rel)
    if kind == CARDAN:
        return dot3(e, turning) + _cardan_bias(axis, loop, e, w_rel)
    if kind == CROSSED:  # its direction turns with both links
        u, w = load3(loop.u), load3(loop.w)
        size, opening = dot3(e, cross3(u, w)), dot3(e, w_rel)
        spread = (dot3(w_rel, w_rel) - opening * opening) * dot3(u, w) - dot3(w, w_rel) * dot3(u, w_rel)
        return dot3(e, turning) + spread / size
    a_A = add3(linear(A_A), cross3(angular(A_A), load3(loop.x_A)))
    a_B = add3(linear(A_B), cross3(angular(A_B), load3(loop.x_B)))
    moving = sub3(sub3(sub3(a_A, a_B), cross3(w_B, v_rel)), cross3(v_B, w_rel))
    if kind == CARRIED:
        return dot3(e, moving)
    moving = add3(moving, cross3(w_rel, v_rel))
    if kind == HELICAL:
        return dot3(e, moving) - loop.pitch * dot3(e, turning)
    if kind == SLID:  # d/dt e . (v_rel - w_rel x d) while e turns with A
        d = load3(loop.d)
        swept = sub3(cross3(w_rel, cross3(w_rel, d)), scale3(2.0, cross3(w_rel, v_rel)))
        return dot3(e, add3(sub3(moving, cross3(turning, d)), swept))
    if kind == DISTANCE:  # its direction turns with the line
        size, opening = math.sqrt(dot3(load3(loop.d), load3(loop.d))), dot3(e, v_rel)
        return dot3(e, moving) + ((dot3(v_rel, v_rel) - opening * opening) / size if size > 0.0 else 0.0)
    return dot3(e, moving)


@helper
def rotation_vector(R):
    """Rotation vector of a rotation matrix, accurate to rounding at any angle."""
    x, y, z = R[7] - R[5], R[2] - R[6], R[3] - R[1]
    sine = 0.5 * math.sqrt(x * x + y * y + z * z)
    cosine = 0.5 * (R[0] + R[4] + R[8] - 1.0)
    angle = math.atan2(sine, cosine)
    if sine > 1e-7:
        return scale3(0.5 * angle / sine, (x, y, z))
    if cosine > 0.0:
        return 0.5 * x, 0.5 * y, 0.5 * z
    # half a turn: the axis is the column of R + 1 with the largest diagonal entry
    a, b, c = R[0] + 1.0, R[4] + 1.0, R[8] + 1.0
    if a >= b and a >= c:
        axis = (a, R[3], R[6])
    elif b >= c:
        axis = (R[1], b, R[7])
    else:
        axis = (R[2], R[5], c)
    return scale3(angle / math.sqrt(dot3(axis, axis)), axis)


@helper
def tilt_between(R):
    """Rotation vector (its z is zero) of the shortest turn from the z axis to R's z axis."""
    x, y = -R[5], R[2]
    sine = math.sqrt(x * x + y * y)
    angle = math.atan2(sine, R[8])
    if sine > 1e-12:
        return x * angle / sine, y * angle / sine, 0.0
    if R[8] > 0.0:
        return x, y, 0.0
    return angle, 0.0, 0.0


@helper
def turned_back(R_WA, R_WB):
    """R_BA = R_WB^T R_WA."""
    x, y, z = mat_t_vec(R_WB, column(R_WA, 0)), mat_t_vec(R_WB, column(R_WA, 1)), mat_t_vec(R_WB, column(R_WA, 2))
    return x[0], y[0], z[0], x[1], y[1], z[1], x[2], y[2], z[2]


@helper
def loop_error(bodies, loop):
    """Pose of A in B as errors, in B's axes: position, rotation vector (of the axis alone if it may turn); and R_BA.

    Needs: bodies placed.
    """
    R_WA, x_A = frame_A(bodies, loop)
    R_WB, x_B = frame_B(bodies, loop)
    gap = mat_t_vec(R_WB, sub3(add3(x_A, offset_between_trees(bodies, loop)), x_B))
    R_BA = turned_back(R_WA, R_WB)
    turn = tilt_between(R_BA) if loop.orientation == AXIS else rotation_vector(R_BA)
    return gap, turn, R_BA


@helper
def angle_about(axis, before, after):
    """Angle about a unit vector that turns one direction into another, both seen along it."""
    across = dot3(before, after) - dot3(axis, before) * dot3(axis, after)
    return math.atan2(dot3(axis, cross3(before, after)), across)


@helper
def twist_about(R, axis):
    """Angle of a rotation about one of the coordinate axes, within half a turn."""
    if axis == 0:
        return math.atan2(R[7] - R[5], R[4] + R[8])
    if axis == 1:
        return math.atan2(R[2] - R[6], R[8] + R[0])
    return math.atan2(R[3] - R[1], R[0] + R[4])


@routine
def coordinate_along(kind, axis, loop, p, R_BA):
    """Coordinate of a joint's freedom from its zero configuration [m or rad]; angles within half a turn.

    Of a ball's freedoms, and of a free joint's, the entry of the rotation vector, or of the position in A's axes.
    """
    if kind == LINEAR:
        return pick(p, axis)
    if kind == ANGULAR:
        return twist_about(R_BA, axis)
    if kind == TURNED:
        return pick(rotation_vector(R_BA), axis)
    if kind in (CARRIED, SLID):
        return pick(mat_t_vec(R_BA, p), axis)
    if kind in (SWUNG, TWISTED):
        swing, twist, _, _, _, _ = ball_of(loop, R_BA)
        return swing if kind == SWUNG else twist
    second = load3(loop.axis_A)  # of a universal joint: R_BA turns about z, then about the second axis
    if axis == 0:
        return angle_about(_Z, second, mat_vec(R_BA, second))
    return angle_about(second, mat_t_vec(R_BA, _Z), _Z)


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
    gap, turn, R_BA = error
    if loop.is_modal:
        return modal_error(row, loop, gap, R_BA)
    if row.kind == LINEAR:
        return pick(gap, row.axis)
    if row.kind == SLID:
        return pick(mat_t_vec(R_BA, gap), row.axis)
    if row.kind == ANGULAR:
        return pick(turn, row.axis)
    if row.kind == COUPLED:
        return loop.slip
    if row.kind == DISTANCE:
        return math.sqrt(dot3(gap, gap)) - loop.length
    if row.kind == HELICAL:  # to the nearest thread: whole turns leave no mark on the twist
        thread = 2.0 * math.pi * loop.pitch
        slip = gap[2] - loop.pitch * twist_about(R_BA, 2)
        return slip - thread * math.floor(slip / thread + 0.5) if thread != 0.0 else slip
    normal = cross3(load3(loop.u), load3(loop.w))
    return math.atan2(math.sqrt(dot3(normal, normal)), dot3(load3(loop.u), load3(loop.w))) - loop.angle
