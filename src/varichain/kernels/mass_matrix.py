"""Mass matrix by the composite-rigid-body algorithm [Featherstone 2008, table 6.2, in world axes]."""

from varichain.kernels.inertias import about_reference, rigid_mul
from varichain.kernels.jit import MATRIX, TABLE, VECTOR, helper, kernel
from varichain.kernels.kinematics import place_all
from varichain.kernels.lanes import lane, pack
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import ZERO6, dot6, load3, load6, load9, store3, store6


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


@helper
def _carried_force(bodies, dofs, k):
    """Force I_c s_k that accelerates freedom k with all that it carries.

    Needs: composites gathered.
    """
    m, h, I = load_composite(bodies[dofs[k].body].I_A)
    return rigid_mul(m, h, I, load6(dofs[k].s))


@helper
def _write(M_out, j, k, entry):
    """Write an entry and the same on the other side of the diagonal."""
    M_out[j, k] = entry
    M_out[k, j] = entry


@helper
def _write_own(dofs, first, k, F, M_out):
    """Entries of freedom k with itself, and with those of its group from the first on to before it."""
    M_out[k, k] = dot6(load6(dofs[k].s), F) + dofs[k].armature
    for j in range(first, k):
        _write(M_out, j, k, dot6(load6(dofs[j].s), F))


@helper
def _end_of_group(dofs, first):
    """End of a group of freedoms, four at most, that follow each other on one way from the ground."""
    end = first + 1
    while end < len(dofs) and end < first + 4 and dofs[end].parent == end - 1:
        end += 1
    return end


@kernel(TABLE, VECTOR, MATRIX)
def mass_matrix(
    # layout
    table,
    # in
    q,
    # out (n_v, n_v)
    M_out,
):
    """M: s_j . I_c s_k for freedoms j on the way from k to the ground, armature on the diagonal.

    The freedoms k of a group go their way together, four entries side by side.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    place_all(q, bodies, dofs)
    gather_composites(bodies)
    M_out[:, :] = 0.0
    first = 0
    while len(dofs) > first:
        end = _end_of_group(dofs, first)
        f0, f1, f2, f3 = _carried_force(bodies, dofs, first), ZERO6, ZERO6, ZERO6
        _write_own(dofs, first, first, f0, M_out)
        if end > first + 1:
            f1 = _carried_force(bodies, dofs, first + 1)
            _write_own(dofs, first, first + 1, f1, M_out)
        if end > first + 2:
            f2 = _carried_force(bodies, dofs, first + 2)
            _write_own(dofs, first, first + 2, f2, M_out)
        if end > first + 3:
            f3 = _carried_force(bodies, dofs, first + 3)
            _write_own(dofs, first, first + 3, f3, M_out)
        F = (
            pack(f0[0], f1[0], f2[0], f3[0]),
            pack(f0[1], f1[1], f2[1], f3[1]),
            pack(f0[2], f1[2], f2[2], f3[2]),
            pack(f0[3], f1[3], f2[3], f3[3]),
            pack(f0[4], f1[4], f2[4], f3[4]),
            pack(f0[5], f1[5], f2[5], f3[5]),
        )
        j = dofs[first].parent
        while j >= 0:
            entries = dot6(load6(dofs[j].s), F)
            _write(M_out, j, first, lane(entries, 0))
            if end > first + 1:
                _write(M_out, j, first + 1, lane(entries, 1))
            if end > first + 2:
                _write(M_out, j, first + 2, lane(entries, 2))
            if end > first + 3:
                _write(M_out, j, first + 3, lane(entries, 3))
            j = dofs[j].parent
        first = end
