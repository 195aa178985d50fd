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

_FEW = 3  # terms of a sum up to which each is taken by itself


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
def quaternion_rate(Q, turning):
    """Qdot = Q (0, turning) / 2, turning the angular velocity of B against A in the axes of B."""
    v = (Q[1], Q[2], Q[3])
    x, y, z = scale3(0.5, add3(scale3(Q[0], turning), cross3(v, turning)))
    return -0.5 * dot3(v, turning), x, y, z


@helper
def _write3(numbers, row, at, x):
    """Write three numbers into a row, from a place on; slices would cost more than the numbers."""
    numbers[row, at], numbers[row, at + 1], numbers[row, at + 2] = x[0], x[1], x[2]


@helper
def _write4(numbers, row, at, x):
    """Write four numbers into a row, from a place on."""
    numbers[row, at], numbers[row, at + 1], numbers[row, at + 2], numbers[row, at + 3] = x[0], x[1], x[2], x[3]


@helper
def _write_column(G, at, k, x):
    """Write three numbers into column k, from a row on."""
    G[at, k], G[at + 1, k], G[at + 2, k] = x[0], x[1], x[2]


@routine
def leaf_value(
    # in
    bodies,
    q,
    given,
    leaf,
    terms,
    # out: (3, n_numbers), its numbers in the first row
    numbers,
):
    """Numbers of a leaf; those of rates, which have none, are zero.

    Needs: bodies placed.
    """
    at = leaf.number
    if leaf.kind == SUM:
        far, near = ZERO3, ZERO3  # reference points apart from what is measured from them: they may be far away
        for t in range(leaf.term, leaf.term + leaf.n_terms):
            root = bodies[bodies[terms[t].body].root]
            far = add3(far, scale3(terms[t].weight, load3(root.reference)))
            near = add3(near, moment_of_term(bodies, terms[t]))
        _write3(numbers, 0, at, add3(far, near))
    elif leaf.kind == ROTATION:
        R_WA, R_WB = frames_of_rotation(bodies, leaf)
        _write4(numbers, 0, at, quaternion_between(R_WA, R_WB))
    elif leaf.kind == COORDINATE:
        numbers[0, at] = q[leaf.place]
    elif leaf.kind == GIVEN:
        numbers[0, at] = given[leaf.place, 0]
    else:
        _write3(numbers, 0, at, ZERO3)


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
def _rotation_motion(bodies, leaf, numbers):
    """Write rate and bias of a quaternion: Qddot = (Qdot w + Q wdot) / 2, w the angular velocity in axes of B.

    Needs: bodies moved.
    """
    R_WA, R_WB = frames_of_rotation(bodies, leaf)
    Q = quaternion_between(R_WA, R_WB)
    turning, growth = _turning_motion(bodies, leaf)
    w_B = angular(load6(bodies[leaf.body_B].V))
    w, wdot = mat_t_vec(R_WB, turning), mat_t_vec(R_WB, sub3(growth, cross3(w_B, turning)))
    square = -0.25 * dot3(w, w)  # Q w w / 4
    a, b, c, d = quaternion_rate(Q, wdot)
    _write4(numbers, 1, leaf.number, quaternion_rate(Q, w))
    bias = (a + square * Q[0], b + square * Q[1], c + square * Q[2], d + square * Q[3])
    _write4(numbers, 2, leaf.number, bias)


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
    # out: (3, n_numbers), in the second row and the third
    numbers,
):
    """Rates of a leaf's numbers, and their second rates while joint accelerations are zero.

    Needs: bodies moved.
    """
    at = leaf.number
    if leaf.kind == ROTATION:
        _rotation_motion(bodies, leaf, numbers)
    elif leaf.kind == COORDINATE:
        numbers[1, at], numbers[2, at] = v[leaf.dof], 0.0
    elif leaf.kind == GIVEN:
        numbers[1, at], numbers[2, at] = given[leaf.place, 1], given[leaf.place, 2]
    else:
        if leaf.kind == SUM:
            rate, bias = _sum_motion(bodies, leaf, terms)
        elif leaf.kind == TURNING:
            rate, bias = _turning_motion(bodies, leaf)
        else:
            _, center = mass_and_center(bodies)
            rate, bias = angular(momentum_about(bodies, center)), _spinning_bias(bodies, center)
        _write3(numbers, 1, at, rate)
        _write3(numbers, 2, at, bias)


@routine
def _sum_gradient(bodies, dofs, leaf, terms, moments, G):
    """Gradient of a sum of many terms: a column is what the freedom does to all terms that it carries.

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
        _write_column(G, leaf.number, k, add3(scale3(own[0], linear(s)), cross3(angular(s), load3(own[1:4]))))


@routine
def _few_gradient(bodies, dofs, leaf, terms, support, G):
    """Gradient of a sum of few terms: each adds its columns along its own way to the ground.

    Needs: bodies placed.
    """
    at = leaf.number
    for i in range(leaf.support, leaf.support + leaf.n_support):
        _write_column(G, at, support[i], ZERO3)
    for t in range(leaf.term, leaf.term + leaf.n_terms):
        term = terms[t]
        x, k = moment_of_term(bodies, term), last_dof(bodies[term.body])
        while k >= 0:
            s = load6(dofs[k].s)
            column = add3(scale3(term.weight, linear(s)), cross3(angular(s), x))
            _write_column(G, at, k, add3((G[at, k], G[at + 1, k], G[at + 2, k]), column))
            k = dofs[k].parent


@routine
def _turning_gradient(bodies, dofs, leaf, G):
    """Gradient of a rotation or an angular velocity: freedoms on the way from A to B, up to where both ways meet.

    Needs: bodies placed.
    """
    R_WA, R_WB = frames_of_rotation(bodies, leaf)
    Q = quaternion_between(R_WA, R_WB)
    i, j = last_dof(bodies[leaf.body_A]), last_dof(bodies[leaf.body_B])
    while i != j:  # parents come before what they carry
        k, sign = (i, -1.0) if i > j else (j, 1.0)
        turning = scale3(sign, angular(load6(dofs[k].s)))
        if leaf.kind == ROTATION:
            rate = quaternion_rate(Q, mat_t_vec(R_WB, turning))
            G[leaf.number, k] = rate[0]
            _write_column(G, leaf.number + 1, k, (rate[1], rate[2], rate[3]))
        else:
            _write_column(G, leaf.number, k, turning)
        if i > j:
            i = dofs[i].parent
        else:
            j = dofs[j].parent


@routine
def _spinning_gradient(bodies, dofs, leaf, G):
    """Gradient of the angular momentum about the centre of mass.

    Needs: bodies placed, composites gathered.
    """
    _, center = mass_and_center(bodies)
    for k in range(len(dofs)):
        body = bodies[dofs[k].body]
        m, h, I = load_composite(body.I_A)
        F = rigid_mul(m, h, I, load6(dofs[k].s))
        arm = sub3(load3(bodies[body.root].reference), center)
        _write_column(G, leaf.number, k, add3(angular(F), cross3(arm, linear(F))))


@routine
def leaf_gradient(
    # in
    bodies,
    dofs,
    leaf,
    terms,
    support,
    # out: (n_numbers, n_v), zero outside of the supports
    G,
    # work: (n_bodies, 4)
    moments,
):
    """Gradients of a leaf's numbers, written where its support is.

    Needs: bodies placed, composites gathered.
    """
    if leaf.kind == SUM and leaf.n_terms > _FEW:
        _sum_gradient(bodies, dofs, leaf, terms, moments, G)
    elif leaf.kind == SUM:
        _few_gradient(bodies, dofs, leaf, terms, support, G)
    elif leaf.kind == COORDINATE:
        G[leaf.number, leaf.dof] = 1.0
    elif leaf.kind == ROTATION or leaf.kind == TURNING:
        _turning_gradient(bodies, dofs, leaf, G)
    elif leaf.kind == SPINNING:
        _spinning_gradient(bodies, dofs, leaf, G)
