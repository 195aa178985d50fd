"""Forward dynamics of the tree by the articulated-body algorithm, freedom by freedom.

The outward sweep is the recursive Newton-Euler one with all joint accelerations zero; what is left to find, dA and a,
then obeys a homogeneous recursion without velocity-product terms: a product I_A c per body less than in the book.

A held freedom (`lock`) has a given acceleration, which takes part in the outward sweep, and does not give way: 1 / d is
zero in all that follows. What holds it is a result, its `reaction` (Featherstone's hybrid dynamics).
"""

from varichain.kernels.freedoms import write_motion_vectors
from varichain.kernels.inertias import (
    about_reference,
    add_articulated,
    articulated_mul,
    deflate,
    external_force,
    inertial_force,
    load_articulated,
    store_articulated,
)
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
    """Acceleration (or jump of the velocity) that the body's held freedoms give it beyond its parent's."""
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
    """Motion, bias forces, motion vectors and rigid inertias of all bodies while joint accelerations are zero."""
    for i in range(1, len(bodies)):
        body = bodies[i]
        R, p = place(bodies, i, q)
        V, A = move(bodies, i, R, p, v)
        write_motion_vectors(body, R, p, dofs)
        if body.held:
            A = add6(A, forced_motion(body, dofs))
        store6(body.A, A)
        c = load3(body.c)
        store6(body.f, add_scaled6(inertial_force(body, R, c, V, A), -1.0, external_force(body, p)))
        store_articulated(body.I_A, body.mass, scale3(body.mass, c), about_reference(body, R, c))
        if body.passive:
            load_passive(body, q, v, dofs)


@helper
def load_torques(dofs, tau):
    """Generalized forces that the freedoms are driven by, less what springs, dampers and friction take."""
    for k in range(len(dofs)):
        dofs[k].u = tau[k] - dofs[k].passive


@routine
def inward_articulated(bodies, dofs):
    """Articulated inertias and bias forces: U = I_A s, d = s . U, I_A <- I_A - U U^T / d, last freedom to first.

    On entry u holds the freedoms' generalized forces, on exit what is left of them after the bias forces.
    """
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        if body.turned:
            turn_forces(body, dofs)
        A, B, D = load_articulated(body.I_A)
        f = load6(body.f)
        for k in range(body.dof + body.n_dof - 1, body.dof - 1, -1):
            dof = dofs[k]
            s = load6(dof.s)
            U = articulated_mul(A, B, D, s)
            d_inverse = 0.0 if dof.lock else 1.0 / (dot6(s, U) + dof.armature)
            u = dof.u - dot6(s, f)
            A, B, D = deflate(A, B, D, U, d_inverse)
            f = add_scaled6(f, u * d_inverse, U)
            store6(dof.U, U)
            dof.d_inverse = d_inverse
            dof.u = u
        if body.parent > 0:
            parent = bodies[body.parent]
            add_articulated(parent.I_A, A, B, D)
            store6(parent.f, add6(load6(parent.f), f))


@routine
def outward_accelerations(bodies, dofs, a_out):
    """Joint accelerations from the ground outward: a = (u - U . dA) / d, dA <- dA + s a.

    Of a held freedom: what is beyond its given acceleration, which is zero.
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
