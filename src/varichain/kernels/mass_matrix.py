"""Mass matrix by the composite-rigid-body algorithm [Featherstone 2008, table 6.2, in world axes]."""

from varichain.kernels.inertias import about_reference, rigid_mul
from varichain.kernels.jit import MATRIX, TABLE, VECTOR, helper, kernel
from varichain.kernels.kinematics import place_all
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import dot6, load3, load6, load9, store3, store6


@helper
def add_composite(a, m, h, I):
    """Add a rigid inertia (mass, mass times centre, rotational inertia) to a composite one."""
    a[0] += m
    a[1] += h[0]
    a[2] += h[1]
    a[3] += h[2]
    a[4] += I[0]
    a[5] += I[1]
    a[6] += I[2]
    a[7] += I[3]
    a[8] += I[4]
    a[9] += I[5]


@helper
def load_composite(a):
    """Mass, mass times centre and rotational inertia of a composite inertia."""
    return a[0], (a[1], a[2], a[3]), (a[4], a[5], a[6], a[7], a[8], a[9])


@helper
def gather_composites(bodies):
    """Inertia of every body together with all bodies that it carries: sums, since a tree shares one reference point.

    Needs: bodies placed.
    Gives: composites gathered.
    """
    for i in range(1, len(bodies)):
        body = bodies[i]
        c = load3(body.c)
        body.I_A[0] = body.mass
        store3(body.I_A[1:4], (body.mass * c[0], body.mass * c[1], body.mass * c[2]))
        store6(body.I_A[4:10], about_reference(body, load9(body.R), c))
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        if body.parent > 0:
            m, h, I = load_composite(body.I_A)
            add_composite(bodies[body.parent].I_A, m, h, I)


@kernel(TABLE, VECTOR, MATRIX)
def mass_matrix(
    # layout
    table,
    # in
    q,
    # out (n_v, n_v)
    M_out,
):
    """M: s_j . I_c s_k for freedoms j on the way from k to the ground, armature on the diagonal."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    place_all(q, bodies, dofs)
    gather_composites(bodies)
    M_out[:, :] = 0.0
    for k in range(len(dofs)):
        dof = dofs[k]
        m, h, I = load_composite(bodies[dof.body].I_A)
        F = rigid_mul(m, h, I, load6(dof.s))
        M_out[k, k] = dot6(load6(dof.s), F) + dof.armature
        j = dof.parent
        while j >= 0:
            entry = dot6(load6(dofs[j].s), F)
            M_out[j, k] = entry
            M_out[k, j] = entry
            j = dofs[j].parent
