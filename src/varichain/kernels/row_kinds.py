"""Kinds of rows: direction, unit wrench, velocity along the row, and the rate of that velocity.

Freedoms of a loop's joint are rows of the same kinds. The loop must be placed, see `loops.place_loop`.
"""

import math

from varichain.kernels.balls import swing_and_twist, swing_bias
from varichain.kernels.jit import helper, routine
from varichain.kernels.records import (
    ACROSS,
    ANGULAR,
    AROUND,
    CARDAN,
    CARRIED,
    CROSSED,
    DISTANCE,
    HELICAL,
    LINEAR,
    SLID,
    SWUNG,
    TURNED,
    TWISTED,
)
from varichain.kernels.relative_rotation import angle_about, rotation_vector, turned_back, twist_about
from varichain.kernels.tuples import (
    ZERO3,
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
    sub3,
)

_Z = (0.0, 0.0, 1.0)


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
def unit3(x):
    """Unit vector along x."""
    return scale3(1.0 / math.sqrt(dot3(x, x)), x)


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
    R_WA = mat_mul(load9(bodies[loop.body_A].R), load9(loop.R_A))
    R_WB = mat_mul(load9(bodies[loop.body_B].R), load9(loop.R_B))
    swing, _, _, b, n, _ = ball_of(loop, turned_back(R_WA, R_WB))
    return swing_bias(swing, load3(loop.axis_A), b, n, mat_t_vec(R_WA, w_rel))


@helper
def turn_of(R_BA, R_WB):
    """Angle of a torsion spring, within half a turn, and its gradient: rate = gradient . w_rel, world axes.

    phi = atan2(y, x) with x = b . a, y = c . a: directions b, c across the axis, fixed in B, and a = b as A carries it.
    """
    a = (R_BA[0], R_BA[3], R_BA[6])  # b is the first axis of B, c the second
    x, y = a[0], a[1]
    square = x * x + y * y
    if square == 0.0:
        return 0.0, ZERO3
    g = sub3(scale3(x / square, cross3(a, (0.0, 1.0, 0.0))), scale3(y / square, cross3(a, (1.0, 0.0, 0.0))))
    return math.atan2(y, x), mat_vec(R_WB, g)


@helper
def direction(kind, axis, loop, R_WA, R_WB):
    """Direction that a row looks along, world axes; the loop must be placed. A unit vector, but for CARDAN and AROUND.

    The angular velocity of a universal joint is u rate_0 + w rate_1: its rates are products with the dual vectors.
    """
    if kind in (LINEAR, ANGULAR):  # most rows, so first
        return pick_column(R_WB, axis)
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
    if kind == AROUND:
        return turn_of(turned_back(R_WA, R_WB), R_WB)[1]
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
    if kind == ANGULAR:
        return join6(e, ZERO3)
    if kind in (LINEAR, CARRIED, DISTANCE, ACROSS):
        return join6(cross3(x, e), e)
    if kind == SLID:  # through the origin of B
        return join6(cross3(sub3(x, load3(loop.d)), e), e)
    if kind == HELICAL:  # the joint's own freedom does no work: v_z - pitch w_z is what the row sees
        return join6(sub3(cross3(x, e), scale3(loop.pitch, e)), e)
    return join6(e, ZERO3)


@helper
def velocity_along(kind, loop, e, w_rel, v_rel):
    """Velocity of A against B that a row along e sees."""
    if kind == ANGULAR:
        return dot3(e, w_rel)
    if kind in (LINEAR, CARRIED, DISTANCE, ACROSS):
        return dot3(e, v_rel)
    if kind == SLID:
        return dot3(e, sub3(v_rel, cross3(w_rel, load3(loop.d))))
    if kind == HELICAL:
        return dot3(e, v_rel) - loop.pitch * dot3(e, w_rel)
    return dot3(e, w_rel)


@helper
def _cardan_bias(axis, loop, e, w_rel):
    """Part of Kdot v that stems from the turning of a dual vector; zero while the angle of the axes is constant."""
    u, w = load3(loop.u), load3(loop.w)
    n = cross3(u, w)
    c, growth = dot3(u, w), dot3(w_rel, cross3(w, u))  # cosine of the angle between the axes, and its rate
    return growth * (2.0 * c * dot3(e, w_rel) - dot3(w if axis == 0 else u, w_rel)) / dot3(n, n)


@helper
def relative_bias(bodies, loop, motion):
    """Accelerations of A against B while those of freedoms are zero: angular, and of the loop's point; B's axes stand.

    Of all rows of a loop at once: (turning, moving).

    Needs: bodies moved.
    """
    w_B, v_B, w_rel, v_rel = motion
    A_A, A_B = load6(bodies[loop.body_A].A), load6(bodies[loop.body_B].A)
    turning = sub3(sub3(angular(A_A), angular(A_B)), cross3(w_B, w_rel))
    a_A = add3(linear(A_A), cross3(angular(A_A), load3(loop.x_A)))
    a_B = add3(linear(A_B), cross3(angular(A_B), load3(loop.x_B)))
    moving = sub3(sub3(sub3(a_A, a_B), cross3(w_B, v_rel)), cross3(v_B, w_rel))
    return turning, moving


@helper
def bias_along(kind, axis, bodies, loop, e, motion, bias):
    """Rate of `velocity_along`, of which the accelerations of freedoms are left out.

    Rows turn with B, and their point moves with A: d/dt (f . V_rel) = f . (A_A - A_B) - f . (V_B x V_rel)
    + e . (w_rel x v_rel), all about the point. The last term vanishes for CARRIED rows, which turn with A.

    Needs: bodies moved.
    """
    _, _, w_rel, v_rel = motion
    turning, moving = bias
    if kind == LINEAR:
        return dot3(e, add3(moving, cross3(w_rel, v_rel)))
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
