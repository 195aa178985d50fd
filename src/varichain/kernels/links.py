"""Poses, velocities, Jacobians and bias accelerations of the user's links, fixed ones included.

World axes; [angular; linear]; linear quantities belong to a point that moves with the link.
"""

from varichain.kernels.jit import INTEGER, MATRIX, TABLE, VECTOR, helper, kernel
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.tables import open_bodies, open_dofs, open_links
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    angular,
    cross3,
    join6,
    linear,
    load3,
    load6,
    load9,
    mat_mul,
    mat_t_vec,
    mat_vec,
    quaternion_from_matrix,
    store3,
    store6,
    store9,
    sub3,
)


@helper
def point_of_link(bodies, link, offset):
    """Position from the tree's reference point of a point given in the link's frame.

    Needs: bodies placed.
    """
    body = bodies[link.body]
    return add3(load3(body.p), mat_vec(load9(body.R), add3(load3(link.p), mat_vec(load9(link.R), offset))))


@helper
def rotation_of_link(bodies, link):
    """Orientation R_WL of a link.

    Needs: bodies placed.
    """
    return mat_mul(load9(bodies[link.body].R), load9(link.R))


@helper
def reference_of_link(bodies, link):
    """World position of the reference point of the tree that a link belongs to.

    Needs: bodies placed.
    """
    return load3(bodies[bodies[link.body].root].reference)


@helper
def velocity_at(V, x):
    """Linear velocity of the point x of a body that moves with V about the reference point."""
    return add3(linear(V), cross3(angular(V), x))


@kernel(TABLE, VECTOR, MATRIX, MATRIX)
def link_poses(
    # layout
    table,
    # in
    q,
    # out (n_links, 9), (n_links, 3)
    R_out,
    p_out,
):
    """World poses of all links."""
    bodies, links = open_bodies(table), open_links(table)
    place_all(q, bodies, open_dofs(table))
    for i in range(len(links)):
        link = links[i]
        store9(R_out[i], rotation_of_link(bodies, link))
        store3(p_out[i], add3(reference_of_link(bodies, link), point_of_link(bodies, link, ZERO3)))


@kernel(TABLE, VECTOR, VECTOR, MATRIX)
def link_velocities(
    # layout
    table,
    # in
    q,
    v,
    # out (n_links, 6)
    V_out,
):
    """Velocities [angular; linear] of all links at their origins, world axes."""
    bodies, links = open_bodies(table), open_links(table)
    move_all(q, v, bodies, open_dofs(table))
    for i in range(len(links)):
        V = load6(bodies[links[i].body].V)
        x = point_of_link(bodies, links[i], ZERO3)
        store6(V_out[i], join6(angular(V), velocity_at(V, x)))


@kernel(TABLE, VECTOR, VECTOR, INTEGER, VECTOR, INTEGER, VECTOR)
def link_velocity(
    # layout
    table,
    # in: link, point (3) in the link's frame, axes of the link instead of the world's
    q,
    v,
    link_index,
    point,
    local,
    # out (6)
    V_out,
):
    """Velocity [angular; linear] of a point of a link."""
    bodies = open_bodies(table)
    link = open_links(table)[link_index]
    move_all(q, v, bodies, open_dofs(table))
    V = load6(bodies[link.body].V)
    turning, moving = angular(V), velocity_at(V, point_of_link(bodies, link, load3(point)))
    if local:
        R = rotation_of_link(bodies, link)
        turning, moving = mat_t_vec(R, turning), mat_t_vec(R, moving)
    store6(V_out, join6(turning, moving))


@kernel(TABLE, VECTOR, INTEGER, VECTOR, INTEGER, MATRIX)
def link_jacobian(
    # layout
    table,
    # in: link, point (3) in the link's frame, axes of the link instead of the world's
    q,
    link_index,
    point,
    local,
    # out (6, n_v)
    J_out,
):
    """Geometric Jacobian of a point of a link: its velocity [angular; linear] is J v."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    link = open_links(table)[link_index]
    place_all(q, bodies, dofs)
    R = rotation_of_link(bodies, link)
    x = point_of_link(bodies, link, load3(point))
    J_out[:, :] = 0.0
    body = bodies[link.body]
    k = body.dof + body.n_dof - 1
    while k >= 0:
        s = load6(dofs[k].s)
        turning, moving = angular(s), velocity_at(s, x)
        if local:
            turning, moving = mat_t_vec(R, turning), mat_t_vec(R, moving)
        for i in range(3):
            J_out[i, k] = turning[i]
            J_out[3 + i, k] = moving[i]
        k = dofs[k].parent


@kernel(TABLE, VECTOR, VECTOR, INTEGER, VECTOR, INTEGER, VECTOR)
def link_bias_acceleration(
    # layout
    table,
    # in
    q,
    v,
    link_index,
    point,
    local,
    # out (6)
    a_out,
):
    """Jdot v: acceleration of a point of a link while all joint accelerations are zero.

    In local axes the Jacobian turns with the link: d/dt (R^T J) v = R^T (Jdot v - omega x J v).
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    link = open_links(table)[link_index]
    move_all(q, v, bodies, dofs)
    body = bodies[link.body]
    V, A, ground = load6(body.V), load6(body.A), load6(bodies[0].A)
    x = point_of_link(bodies, link, load3(point))
    omega, alpha, moving = angular(V), angular(A), velocity_at(V, x)
    classical = add3(sub3(linear(A), linear(ground)), add3(cross3(alpha, x), cross3(omega, moving)))
    if local:
        R = rotation_of_link(bodies, link)
        alpha, classical = mat_t_vec(R, alpha), mat_t_vec(R, sub3(classical, cross3(omega, moving)))
    store6(a_out, join6(alpha, classical))


@kernel(TABLE, VECTOR, INTEGER, INTEGER, VECTOR, MATRIX)
def frame_on_other(
    # layout
    table,
    # in: rows of two links
    q,
    link_A,
    link_B,
    # in and out: position (3) and orientation (3, 3) of a frame on the first, then on the other
    p,
    R,
):
    """Where a frame on one link is in the frame of another."""
    bodies, links = open_bodies(table), open_links(table)
    place_all(q, bodies, open_dofs(table))
    A, B = links[link_A], links[link_B]
    R_WA, R_WB = rotation_of_link(bodies, A), rotation_of_link(bodies, B)
    x_A = point_of_link(bodies, A, load3(p))
    x_B = point_of_link(bodies, B, ZERO3)
    between_trees = sub3(reference_of_link(bodies, A), reference_of_link(bodies, B))
    gap = add3(between_trees, sub3(x_A, x_B))
    flat = R.reshape(9)
    R_BW = (R_WB[0], R_WB[3], R_WB[6], R_WB[1], R_WB[4], R_WB[7], R_WB[2], R_WB[5], R_WB[8])
    store9(flat, mat_mul(R_BW, mat_mul(R_WA, load9(flat))))
    store3(p, mat_t_vec(R_WB, gap))


@kernel(TABLE, VECTOR, VECTOR, INTEGER, VECTOR)
def free_coordinates(
    # layout
    table,
    # in
    q,
    v,
    link_index,
    # out (13): quaternion and position of the link in the world, its velocity [angular; linear] in its own axes
    out,
):
    """Coordinates and velocities of a free joint between the ground and a link."""
    bodies = open_bodies(table)
    link = open_links(table)[link_index]
    move_all(q, v, bodies, open_dofs(table))
    R, x = rotation_of_link(bodies, link), point_of_link(bodies, link, ZERO3)
    V = load6(bodies[link.body].V)
    w, i, j, k = quaternion_from_matrix(R)
    out[0], out[1], out[2], out[3] = w, i, j, k
    store3(out[4:7], add3(reference_of_link(bodies, link), x))
    store3(out[7:10], mat_t_vec(R, angular(V)))
    store3(out[10:13], mat_t_vec(R, velocity_at(V, x)))
