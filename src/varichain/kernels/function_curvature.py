"""Second derivatives of leaves, each weighted and added: H_jk = E_j(E_k f), the first index differentiates last.

At a ball or a free joint H is not symmetric: its axes move with the link [PFB, (17) and (19), for all joints].
"""

from varichain.kernels.function_leaves import frames_of_rotation, last_dof, quaternion_between
from varichain.kernels.function_records import ROTATION, SUM
from varichain.kernels.jit import routine
from varichain.kernels.tuples import angular, cross3, dot3, load3, load6, mat_t_vec, scale3, sub3


@routine
def _add_sum(
    # in
    bodies,
    dofs,
    G,
    weights,
    # in and out
    H,
):
    """Of a sum: w_j x G_k if freedom j carries freedom k, w_k x G_j if k carries j.

    Needs: bodies placed.
    """
    for k in range(len(dofs)):
        column = (G[0, k], G[1, k], G[2, k])
        if column[0] == 0.0 and column[1] == 0.0 and column[2] == 0.0:
            continue
        across = cross3(column, load3(weights))  # weights . (w_j x column) = w_j . (column x weights)
        body = bodies[dofs[k].body]
        for j in range(body.dof, body.dof + body.n_dof):  # freedoms of one ball or free joint carry each other
            H[j, k] += dot3(angular(load6(dofs[j].s)), across)
        j = dofs[body.dof].parent
        while j >= 0:
            entry = dot3(angular(load6(dofs[j].s)), across)
            H[j, k] += entry
            H[k, j] += entry
            j = dofs[j].parent


@routine
def _mark_ways(bodies, dofs, leaf, ways):
    """Mark the freedoms that turn B against A in `ways` (2, n_v): first their signs, then their order from A to B.

    A freedom on the way to B alone has the sign 1, one on the way to A alone -1, all others 0.
    """
    n = len(dofs)
    ways[:, :] = 0.0
    k, i = last_dof(bodies[leaf.body_B]), 0
    while k >= 0:
        ways[0, k], ways[1, k] = 1.0, -i
        k, i = dofs[k].parent, i + 1
    k, i = last_dof(bodies[leaf.body_A]), 0
    while k >= 0:
        ways[0, k], ways[1, k] = ways[0, k] - 1.0, i - 2 * n
        k, i = dofs[k].parent, i + 1


@routine
def _add_rotation(
    # in
    bodies,
    dofs,
    leaf,
    weights,
    # in and out
    H,
    # work
    ways,
):
    """Of a quaternion: (-(Q . weights) w_j . w_k + (Q* weights) . (w_j x w_k) or its opposite) / 4.

    w_k is the signed angular velocity of freedom k in the axes of B. The second part is positive if freedom j comes
    before freedom k on the way from A to B; in one ball, if the ball is on B's side.

    Needs: bodies placed.
    """
    _mark_ways(bodies, dofs, leaf, ways)
    R_WA, R_WB = frames_of_rotation(bodies, leaf)
    Q = quaternion_between(R_WA, R_WB)
    v, u = (Q[1], Q[2], Q[3]), (weights[1], weights[2], weights[3])
    along = Q[0] * weights[0] + dot3(v, u)
    across = sub3(sub3(scale3(Q[0], u), scale3(weights[0], v)), cross3(v, u))
    for k in range(len(dofs)):
        if ways[0, k] == 0.0:
            continue
        w_k = scale3(ways[0, k], mat_t_vec(R_WB, angular(load6(dofs[k].s))))
        for j in range(len(dofs)):
            if ways[0, j] == 0.0:
                continue
            w_j = scale3(ways[0, j], mat_t_vec(R_WB, angular(load6(dofs[j].s))))
            is_before = ways[0, k] > 0.0 if dofs[j].body == dofs[k].body else ways[1, j] < ways[1, k]
            twist = dot3(across, cross3(w_j, w_k))
            H[j, k] += 0.25 * ((twist if is_before else -twist) - along * dot3(w_j, w_k))


@routine
def add_curvature(
    # in
    bodies,
    dofs,
    leaf,
    G,
    weights,
    # in and out: (n_v, n_v)
    H,
    # work: (2, n_v)
    ways,
):
    """Add the Hessians of a leaf's numbers, of which G are the gradients, times `weights`.

    Needs: bodies placed.
    """
    if leaf.kind == SUM:
        _add_sum(bodies, dofs, G, weights, H)
    elif leaf.kind == ROTATION:
        _add_rotation(bodies, dofs, leaf, weights, H, ways)
