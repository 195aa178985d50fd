"""Forward dynamics of the tree by the articulated-body algorithm, freedom by freedom.

The outward sweep is the recursive Newton-Euler one with all joint accelerations zero; the unknown rest, dA and a,
then obeys a homogeneous recursion without velocity-product terms: a product I_A c per body less than in the book.

A locked freedom has a prescribed acceleration, part of the outward sweep, and does not give way: 1 / d is zero
in the later sweeps. The constraint force is an output, its `reaction` (Featherstone's hybrid dynamics).
"""

from varichain.kernels.articulated import (
    add_articulated,
    add_scaled_pair,
    articulated_mul,
    deflate,
    dot_pair,
    load_articulated,
    load_pair,
    store_articulated,
    store_force,
    store_pair,
)
from varichain.kernels.freedoms import write_motion_vectors
from varichain.kernels.inertias import about_reference, external_force, inertial_force
from varichain.kernels.jit import TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move, place
from varichain.kernels.passive import load_passive
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import (
    ZERO6,
    add6,
    add_scaled6,
    dot6,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    scale3,
    store6,
)


@routine
def forced_motion(body, dofs):
    """Prescribed acceleration (or velocity jump) of the body relative to its parent, by its locked freedoms."""
    motion = ZERO6
    for k in range(body.dof, body.dof + body.n_dof):
        if dofs[k].lock:
            motion = add_scaled6(motion, dofs[k].forced, load6(dofs[k].s))
    return motion


@routine
def turn_forces(body, dofs):
    """Generalized forces of a ball, from its link's axes to the columns of its basis."""
    k = body.dof
    x, y, z = mat_t_vec(load9(body.basis), (dofs[k].u, dofs[k + 1].u, dofs[k + 2].u))
    dofs[k].u = x
    dofs[k + 1].u = y
    dofs[k + 2].u = z


@routine
def turn_back(body, a_out):
    """Accelerations of a ball, from the columns of its basis to its link's axes."""
    k = body.dof
    x, y, z = mat_vec(load9(body.basis), (a_out[k], a_out[k + 1], a_out[k + 2]))
    a_out[k] = x
    a_out[k + 1] = y
    a_out[k + 2] = z


@routine
def outward_bias(bodies, dofs, q, v):
    """Motion, bias forces, motion vectors and rigid inertias of all bodies while joint accelerations are zero.

    Gives: bodies moved, bias forces loaded.
    """
    for i in range(1, len(bodies)):
        body = bodies[i]
        R, p = place(bodies, i, q)
        V, A = move(bodies, i, R, p, v)
        write_motion_vectors(body, R, p, dofs)
        if body.locked:
            A = add6(A, forced_motion(body, dofs))
        store6(body.A, A)
        c = load3(body.c)
        store_force(body.f, add_scaled6(inertial_force(body, R, c, V, A), -1.0, external_force(body, p)))
        store_articulated(body.I_A, body.mass, scale3(body.mass, c), about_reference(body, R, c))
        if body.passive:
            load_passive(body, q, v, dofs)


@helper
def load_torques(dofs, tau):
    """Generalized forces on the freedoms: torques minus those of springs, dampers and friction.

    Gives: torques loaded.
    """
    for k in range(len(dofs)):
        dofs[k].u = tau[k] - dofs[k].passive


@helper
def _give_way(inertia, f, dof):
    """Let one freedom give way: U = I_A s, d = s . U, I_A <- I_A - U U^T / d; returns the remaining I_A and f."""
    s = load_pair(dof.s)
    U = articulated_mul(inertia, load6(dof.s))
    d_inverse = 0.0 if dof.lock else 1.0 / (dot_pair(s, U) + dof.inertia)
    u = dof.u - dot_pair(s, f)
    store_pair(dof.U, U)
    dof.d_inverse = d_inverse
    dof.u = u
    return deflate(inertia, U, d_inverse), add_scaled_pair(f, u * d_inverse, U)


@helper
def _three_give_way(inertia, f, dof_1, dof_2, dof_3):
    """Let three freedoms give way, the third first: same numbers as one by one, fewer dependent operations.

    All products with I_A come first; the elimination itself needs s . U (3 x 3) only.
    """
    s_1, s_2, s_3 = load_pair(dof_1.s), load_pair(dof_2.s), load_pair(dof_3.s)
    U_1 = articulated_mul(inertia, load6(dof_1.s))
    U_2 = articulated_mul(inertia, load6(dof_2.s))
    U_3 = articulated_mul(inertia, load6(dof_3.s))
    D_31, D_32, D_21 = dot_pair(s_1, U_3), dot_pair(s_2, U_3), dot_pair(s_1, U_2)
    u_1, u_2, u_3 = dof_1.u - dot_pair(s_1, f), dof_2.u - dot_pair(s_2, f), dof_3.u - dot_pair(s_3, f)
    d_3 = 0.0 if dof_3.lock else 1.0 / (dot_pair(s_3, U_3) + dof_3.inertia)
    l_31, l_32 = D_31 * d_3, D_32 * d_3
    d_2 = 0.0 if dof_2.lock else 1.0 / (dot_pair(s_2, U_2) - l_32 * D_32 + dof_2.inertia)
    D_21 -= l_31 * D_32
    l_21 = D_21 * d_2
    d_1 = 0.0 if dof_1.lock else 1.0 / (dot_pair(s_1, U_1) - l_31 * D_31 - l_21 * D_21 + dof_1.inertia)
    u_2 -= l_32 * u_3
    u_1 -= l_31 * u_3 + l_21 * u_2
    U_2 = add_scaled_pair(U_2, -l_32, U_3)
    U_1 = add_scaled_pair(add_scaled_pair(U_1, -l_31, U_3), -l_21, U_2)
    store_pair(dof_1.U, U_1)
    store_pair(dof_2.U, U_2)
    store_pair(dof_3.U, U_3)
    dof_1.d_inverse, dof_2.d_inverse, dof_3.d_inverse = d_1, d_2, d_3
    dof_1.u, dof_2.u, dof_3.u = u_1, u_2, u_3
    f = add_scaled_pair(add_scaled_pair(add_scaled_pair(f, u_3 * d_3, U_3), u_2 * d_2, U_2), u_1 * d_1, U_1)
    return deflate(deflate(deflate(inertia, U_3, d_3), U_2, d_2), U_1, d_1), f


@routine
def inward_articulated(bodies, dofs):
    """Articulated inertias and bias forces: U = I_A s, d = s . U, I_A <- I_A - U U^T / d, last freedom to first.

    On entry u is the freedoms' generalized force, on exit the same minus the bias forces.

    Needs: bias forces loaded, torques loaded.
    Gives: inertias articulated.
    """
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        if body.turned:
            turn_forces(body, dofs)
        inertia, f = load_articulated(body.I_A), load_pair(body.f)
        k = body.dof + body.n_dof - 1
        while k >= body.dof:
            if k >= body.dof + 2:
                inertia, f = _three_give_way(inertia, f, dofs[k - 2], dofs[k - 1], dofs[k])
                k -= 3
            else:
                inertia, f = _give_way(inertia, f, dofs[k])
                k -= 1
        if body.parent > 0:
            parent = bodies[body.parent]
            add_articulated(parent.I_A, inertia)
            store_pair(parent.f, add_scaled_pair(load_pair(parent.f), 1.0, f))


@routine
def outward_accelerations(bodies, dofs, a_out):
    """Joint accelerations from the ground outward: a = (u - U . dA) / d, dA <- dA + s a.

    Of a locked freedom: the part beyond its prescribed acceleration, which is zero.

    Needs: inertias articulated.
    """
    store6(bodies[0].dA, ZERO6)
    for i in range(1, len(bodies)):
        body = bodies[i]
        dA = load6(bodies[body.parent].dA)
        for k in range(body.dof, body.dof + body.n_dof):
            dof = dofs[k]
            unbalanced = dof.u - dot6(load6(dof.U), dA)
            a = unbalanced * dof.d_inverse
            dA = add_scaled6(dA, a, load6(dof.s))
            a_out[k] = a
            if dof.lock:
                dof.reaction = dof.armature * dof.forced - unbalanced
        store6(body.dA, dA)
        if body.turned:
            turn_back(body, a_out)


@kernel(TABLE, VECTOR, VECTOR, VECTOR, VECTOR)
def forward_dynamics(
    # layout
    table,
    # in
    q,
    v,
    tau,
    # out
    a_out,
):
    """Joint accelerations a = M^-1 (tau - bias) of the tree."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    outward_bias(bodies, dofs, q, v)
    load_torques(dofs, tau)
    inward_articulated(bodies, dofs)
    outward_accelerations(bodies, dofs, a_out)
