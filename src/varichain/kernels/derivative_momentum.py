"""Derivatives of momentum, centre of mass and kinetic energy."""

from varichain.kernels.derivative_chains import cross_force
from varichain.kernels.inertias import about_reference, rigid_mul
from varichain.kernels.jit import MATRIX, TABLE, VECTOR, kernel
from varichain.kernels.kinematics import move_all
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.totals import mass_and_center
from varichain.kernels.tuples import (
    add3,
    add6,
    angular,
    cross3,
    cross_motion,
    dot6,
    linear,
    load3,
    load6,
    load9,
    scale3,
    store3,
    store6,
    sub3,
)

# Columns of the work rows of bodies: mass, mass times centre, rotational inertia, momentum.
MOMENTUM_WORK = 16


@kernel(TABLE, VECTOR, VECTOR, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX)
def momentum_derivatives(
    # layout
    table,
    # in
    q,
    v,
    # out (6, n_v), (6, n_v), (3, n_v), (2, n_v): of kinetic energy by q, then by v
    by_q_out,
    by_v_out,
    center_by_q_out,
    kinetic_out,
    # work (n_bodies, MOMENTUM_WORK)
    body_work,
):
    """Derivatives of the momentum [angular about the centre of mass; linear], of that centre and of kinetic energy.

    What freedom j carries has the momentum H: dH/dq_j = s_j x* H + I (V_P x s_j), dH/dv_j = I s_j.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    move_all(q, v, bodies, dofs)
    mass, center = mass_and_center(bodies)
    for i in range(1, len(bodies)):
        body, row = bodies[i], body_work[i]
        c = load3(body.c)
        h, I = scale3(body.mass, c), about_reference(body, load9(body.R), c)
        row[0] = body.mass
        store3(row[1:4], h)
        store6(row[4:10], I)
        store6(row[10:16], rigid_mul(body.mass, h, I, load6(body.V)))
    total = (0.0, 0.0, 0.0)
    for i in range(len(bodies) - 1, 0, -1):
        parent = bodies[i].parent
        if parent > 0:
            for c in range(MOMENTUM_WORK):
                body_work[parent, c] += body_work[i, c]
        else:
            total = add3(total, load3(body_work[i, 13:16]))
    for k in range(len(dofs)):
        body, row, s = bodies[dofs[k].body], body_work[dofs[k].body], load6(dofs[k].s)
        m, h, I, H = row[0], load3(row[1:4]), load6(row[4:10]), load6(row[10:16])
        by_v = rigid_mul(m, h, I, s)
        by_q = add6(cross_force(s, H), rigid_mul(m, h, I, cross_motion(load6(bodies[body.parent].V), s)))
        moved = scale3(1.0 / mass, linear(by_v))
        arm = sub3(load3(bodies[body.root].reference), center)
        turned = sub3(add3(angular(by_q), cross3(arm, linear(by_q))), cross3(moved, total))
        store3(by_q_out[0:3, k], turned)
        store3(by_q_out[3:6, k], linear(by_q))
        store3(by_v_out[0:3, k], add3(angular(by_v), cross3(arm, linear(by_v))))
        store3(by_v_out[3:6, k], linear(by_v))
        store3(center_by_q_out[:, k], moved)
        # T = sum V.H / 2 over bodies: carried bodies move by s_j, and their velocity changes by V_P x s_j besides
        kinetic_out[0, k] = dot6(H, cross_motion(load6(bodies[body.parent].V), s))
        kinetic_out[1, k] = dot6(H, s) + dofs[k].armature * v[k]
