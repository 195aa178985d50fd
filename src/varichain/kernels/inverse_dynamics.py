"""Inverse dynamics by the recursive Newton-Euler algorithm [Featherstone 2008, table 5.1, in world axes]."""

from varichain.kernels.freedoms import joint_motion, project_force
from varichain.kernels.inertias import external_force, inertial_force
from varichain.kernels.jit import TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move, place
from varichain.kernels.loop_joints import load_loop_forces
from varichain.kernels.passive import load_passive
from varichain.kernels.tables import open_bodies, open_dofs, open_loops
from varichain.kernels.tuples import ZERO6, add6, load3, load6, load9, store6


@helper
def _subtract6(x, y):
    return x[0] - y[0], x[1] - y[1], x[2] - y[2], x[3] - y[3], x[4] - y[4], x[5] - y[5]


@routine
def newton_euler(table, q, v, a, tau_out):
    """tau = M a + bias of the tree. The bodies' A are their accelerations, those of the joints included.

    Gives: bodies moved.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    store6(bodies[0].f, ZERO6)
    for i in range(1, len(bodies)):
        body = bodies[i]
        R, p = place(bodies, i, q)
        V, A = move(bodies, i, R, p, v)
        A = add6(A, joint_motion(body, R, p, a))
        store6(body.A, A)
        force = inertial_force(body, R, load3(body.c), V, A)
        store6(body.f, _subtract6(force, external_force(body, p)))
        if body.passive:
            load_passive(body, q, v, dofs)
    load_loop_forces(bodies, open_loops(table))
    for i in range(len(bodies) - 1, 0, -1):
        body = bodies[i]
        f = load6(body.f)
        project_force(body, load9(body.R), load3(body.p), f, tau_out)
        parent = bodies[body.parent]
        store6(parent.f, add6(load6(parent.f), f))
    for k in range(len(dofs)):
        tau_out[k] += dofs[k].armature * a[k] + dofs[k].passive


@kernel(TABLE, VECTOR, VECTOR, VECTOR, VECTOR)
def inverse_dynamics(
    # layout
    table,
    # in
    q,
    v,
    a,
    # out
    tau_out,
):
    """tau = M a + bias: generalized forces of all tree joints that give the accelerations a (theta_O of [NY, (1)])."""
    newton_euler(table, q, v, a, tau_out)
