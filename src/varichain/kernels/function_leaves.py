"""Leaves of functions: numbers of a configuration, their gradients in closed form, rates and biases.

G_k = E_k f is the derivative along freedom k; the bias is v^T H v, the second rate while joint accelerations are zero.
"""

from varichain.kernels.function_records import COORDINATE, GIVEN, ROTATION, SPINNING, SUM, TURNING
from varichain.kernels.inertias import rigid_mul
from varichain.kernels.jit import helper, routine
from varichain.kernels.links import velocity_at
from varichain.kernels.mass_matrix import load_composite
from varichain.kernels.relative_rotation import turned_back
from varichain.kernels.totals import mass_and_center, momentum_about
from varichain.kernels.tuples import (
    ZERO3,
    add3,
    angular,
    cross3,
    dot3,
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
    sub3,
    sym_vec,
)


@helper
def last_dof(body):
    """Last of a body's own freedoms; -1 of the ground."""
    return body.dof + body.n_dof - 1


@helper
def moment_of_term(bodies, term):
    """weight * (origin of the body) + R offset, from the reference point of the body's tree.

    Needs: bodies placed.
    """
    body = bodies[term.body]
    return add3(scale3(term.weight, load3(body.p)), mat_vec(load9(body.R), load3(term.offset)))


@helper
def frames_of_rotation(bodies, leaf):
    """Orientations R_WA and R_WB of the two frames of a rotation.

    Needs: bodies placed.
    """
    R_WA = mat_mul(load9(bodies[leaf.body_A].R), load9(leaf.R_A))
    return R_WA, mat_mul(load9(bodies[leaf.body_B].R), load9(leaf.R_B))


@helper
def quaternion_between(R_WA, R_WB):
    """Quaternion of frame B seen from frame A, w >= 0."""
    return quaternion_from_matrix(turned_back(R_WB, R_WA))


@helper
def store_quaternion_rate(Q, turning, out):
    """Write Qdot = Q (0, turning) / 2, turning the angular velocity of B against A in the axes of B."""
    v = (Q[1], Q[2], Q[3])
    out[0] = -0.5 * dot3(v, turning)
    store3(out[1:4], scale3(0.5, add3(scale3(Q[0], turning), cross3(v, turning))))


@routine
def leaf_value(
    # in
    bodies,
    q,
    given,
    leaf,
    terms,
    # out: its numbers
    value_out,
):
    """Numbers of a leaf; those of rates, which have none, are zero.

    Needs: bodies placed.
    """
    if leaf.kind == SUM:
        far, near = ZERO3, ZERO3  # reference points apart from what is measured from them: they may be far away
        for t in range(leaf.term, leaf.term + leaf.n_terms):
            root = bodies[bodies[terms[t].body].root]
            far = add3(far, scale3(terms[t].weight, load3(root.reference)))
            near = add3(near, moment_of_term(bodies, terms[t]))
        store3(value_out, add3(far, near))
    elif leaf.kind == ROTATION:
        R_WA, R_WB = frames_of_rotation(bodies, leaf)
        Q = quaternion_between(R_WA, R_WB)
        value_out[0], value_out[1], value_out[2], value_out[3] = Q[0], Q[1], Q[2], Q[3]
    elif leaf.kind == COORDINATE:
        value_out[0] = q[leaf.place]
    elif leaf.kind == GIVEN:
        value_out[0] = given[leaf.place, 0]
    else:
        store3(value_out, ZERO3)


@helper
def _sum_motion(bodies, leaf, terms):
    """Rate and bias of a sum.

    Needs: bodies moved.
    """
    rate, bias, ground = ZERO3, ZERO3, linear(load6(bodies[0].A))
    for t in range(leaf.term, leaf.term + leaf.n_terms):
        term = terms[t]
        V, A = load6(bodies[term.body].V), load6(bodies[term.body].A)
        x = moment_of_term(bodies, term)
        own = add3(scale3(term.weight, linear(V)), cross3(angular(V), x))
        push = add3(scale3(term.weight, sub3(linear(A), ground)), cross3(angular(A), x))
        rate, bias = add3(rate, own), add3(bias, add3(push, cross3(angular(V), own)))
    return rate, bias


@helper
def _turning_motion(bodies, leaf):
    """Angular velocity of body B against A, and its rate while joint accelerations are zero, world axes.

    Needs: bodies moved.
    """
    A, B = bodies[leaf.body_A], bodies[leaf.body_B]
    rate = sub3(angular(load6(B.V)), angular(load6(A.V)))
    return rate, sub3(angular(load6(B.A)), angular(load6(A.A)))


@routine
def _rotation_motion(bodies, leaf, rate_out, bias_out):
    """Write rate and bias of a quaternion: Qddot = (Qdot w + Q wdot) / 2, w the angular velocity in axes of B.

    Needs: bodies moved.
    """
    R_WA, R_WB = frames_of_rotation(bodies, leaf)
    Q = quaternion_between(R_WA, R_WB)
    turning, growth = _turning_motion(bodies, leaf)
    w_B = angular(load6(bodies[leaf.body_B].V))
    w, wdot = mat_t_vec(R_WB, turning), mat_t_vec(R_WB, sub3(growth, cross3(w_B, turning)))
    store_quaternion_rate(Q, w, rate_out)
    store_quaternion_rate(Q, wdot, bias_out)
    square = -0.25 * dot3(w, w)  # Q w w / 4
    for i in range(4):
        bias_out[i] += square * Q[i]


@routine
def _spinning_bias(bodies, center):
    """Rate of the angular momentum about the centre of mass while joint accelerations are zero.

    Needs: bodies moved.
    """
    total, ground = ZERO3, linear(load6(bodies[0].A))
    for i in range(1, len(bodies)):
        body = bodies[i]
        V, A, R, c = load6(body.V), load6(body.A), load9(body.R), load3(body.c)
        w, alpha = angular(V), angular(A)
        a = add3(sub3(velocity_at(A, c), ground), cross3(w, velocity_at(V, c)))
        arm = add3(sub3(load3(bodies[body.root].reference), center), c)
        inertia = load6(body.inertia)
        spin = mat_vec(R, sym_vec(inertia, mat_t_vec(R, w)))
        growth = add3(mat_vec(R, sym_vec(inertia, mat_t_vec(R, alpha))), cross3(w, spin))
        total = add3(total, add3(cross3(arm, scale3(body.mass, a)), growth))
    return total


@routine
def leaf_motion(
    # in
    bodies,
    v,
    given,
    leaf,
    terms,
    # out: of its numbers
    rate_out,
    bias_out,
):
    """Rates of a leaf's numbers, and their second rates while joint accelerations are zero.

    Needs: bodies moved.
    """
    if leaf.kind == SUM:
        rate, bias = _sum_motion(bodies, leaf, terms)
        store3(rate_out, rate)
        store3(bias_out, bias)
    elif leaf.kind == ROTATION:
        _rotation_motion(bodies, leaf, rate_out, bias_out)
    elif leaf.kind == COORDINATE:
        rate_out[0], bias_out[0] = v[leaf.dof], 0.0
    elif leaf.kind == GIVEN:
        rate_out[0], bias_out[0] = given[leaf.place, 1], given[leaf.place, 2]
    elif leaf.kind == TURNING:
        rate, bias = _turning_motion(bodies, leaf)
        store3(rate_out, rate)
        store3(bias_out, bias)
    elif leaf.kind == SPINNING:
        _, center = mass_and_center(bodies)
        store3(rate_out, angular(momentum_about(bodies, center)))
        store3(bias_out, _spinning_bias(bodies, center))


@routine
def _sum_gradient(bodies, dofs, leaf, terms, moments, G):
    """Gradient of a sum: a column is what the freedom does to all terms that it carries.

    Needs: bodies placed.
    """
    moments[:, :] = 0.0
    for t in range(leaf.term, leaf.term + leaf.n_terms):
        x, own = moment_of_term(bodies, terms[t]), moments[terms[t].body]
        own[0] += terms[t].weight
        store3(own[1:4], add3(load3(own[1:4]), x))
    for i in range(len(bodies) - 1, 0, -1):
        parent = bodies[i].parent
        if parent > 0:
            for j in range(4):
                moments[parent, j] += moments[i, j]
    for k in range(len(dofs)):
        own, s = moments[dofs[k].body], load6(dofs[k].s)
        column = add3(scale3(own[0], linear(s)), cross3(angular(s), load3(own[1:4])))
        G[0, k], G[1, k], G[2, k] = column[0], column[1], column[2]


@routine
def mark_ways(bodies, dofs, leaf, ways):
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
def leaf_gradient(
    # in
    bodies,
    dofs,
    leaf,
    terms,
    # out: (its numbers, n_v)
    G,
    # work: (n_bodies, 4), (2, n_v)
    moments,
    ways,
):
    """Gradients of a leaf's numbers.

    Needs: bodies placed, composites gathered.
    """
    if leaf.kind == SUM:
        _sum_gradient(bodies, dofs, leaf, terms, moments, G)
        return
    G[:, :] = 0.0
    if leaf.kind == COORDINATE:
        G[0, leaf.dof] = 1.0
    elif leaf.kind == ROTATION or leaf.kind == TURNING:
        mark_ways(bodies, dofs, leaf, ways)
        R_WA, R_WB = frames_of_rotation(bodies, leaf)
        Q = quaternion_between(R_WA, R_WB)
        for k in range(len(dofs)):
            if ways[0, k] != 0.0:
                turning = scale3(ways[0, k], angular(load6(dofs[k].s)))
                if leaf.kind == ROTATION:
                    store_quaternion_rate(Q, mat_t_vec(R_WB, turning), G[:, k])
                else:
                    store3(G[:, k], turning)
    elif leaf.kind == SPINNING:
        _, center = mass_and_center(bodies)
        for k in range(len(dofs)):
            body = bodies[dofs[k].body]
            m, h, I = load_composite(body.I_A)
            F = rigid_mul(m, h, I, load6(dofs[k].s))
            arm = sub3(load3(bodies[body.root].reference), center)
            store3(G[:, k], add3(angular(F), cross3(arm, linear(F))))
