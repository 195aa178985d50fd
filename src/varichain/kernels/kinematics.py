"""Positions, velocities and bias accelerations of all bodies, outward from the ground."""

from varichain.kernels.freedoms import joint_motion, shifted_by, turned_by, write_motion_vectors
from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    add6,
    cross_motion,
    load3,
    load6,
    load9,
    mat_mul,
    mat_vec,
    store3,
    store6,
    store9,
)


@helper
def place(bodies, i, q):
    """Pose of body i from its parent's: R_WB and its origin p from the tree's reference point; both are also stored.

    Gives: bodies placed.
    """
    body = bodies[i]
    parent = bodies[body.parent]
    R_WP = load9(parent.R)
    R_WJ = R_WP if body.aligned else mat_mul(R_WP, load9(body.R_PJ))
    R = turned_by(body, R_WJ, q)
    p = add3(add3(load3(parent.p), mat_vec(R_WP, load3(body.p_PJ))), shifted_by(body, R_WJ, q))
    if body.parent == 0:  # a root: its own origin is the tree's reference point
        store3(body.reference, p)
        p = ZERO3
    store9(body.R, R)
    store3(body.p, p)
    store3(body.c, add3(p, mat_vec(R, load3(body.com))))
    return R, p


@helper
def move(bodies, i, R, p, v):
    """Velocity of body i, and its acceleration while all joint accelerations are zero; both are stored and returned.

    V = V_P + S v, A = A_P + V_P x (S v): the axes of an elementary freedom move with the body's parent or with the
    body itself, and S v x S v = 0 makes the two the same.

    Gives: bodies moved.
    """
    body = bodies[i]
    parent = bodies[body.parent]
    V_P = load6(parent.V)
    V_J = joint_motion(body, R, p, v)
    V = add6(V_P, V_J)
    A = add6(load6(parent.A), cross_motion(V_P, V_J))
    store6(body.V, V)
    return V, A


@routine
def place_all(
    # in
    q,
    # out
    bodies,
    dofs,
):
    """Poses of all bodies and motion vectors of all freedoms.

    Gives: bodies placed.
    """
    for i in range(1, len(bodies)):
        R, p = place(bodies, i, q)
        write_motion_vectors(bodies[i], R, p, dofs)


@routine
def move_all(
    # in
    q,
    v,
    # out
    bodies,
    dofs,
):
    """Poses, motion vectors, velocities and bias accelerations of all bodies.

    Gives: bodies moved.
    """
    for i in range(1, len(bodies)):
        R, p = place(bodies, i, q)
        write_motion_vectors(bodies[i], R, p, dofs)
        _, A = move(bodies, i, R, p, v)
        store6(bodies[i].A, A)


@routine
def move_placed(
    # in
    v,
    # out
    bodies,
):
    """Velocities and bias accelerations of all bodies where they are.

    Needs: bodies placed.
    Gives: bodies moved.
    """
    for i in range(1, len(bodies)):
        _, A = move(bodies, i, load9(bodies[i].R), load3(bodies[i].p), v)
        store6(bodies[i].A, A)
