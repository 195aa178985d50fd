"""Derivatives of inverse dynamics: one sweep outward, one inward, then products along the ways to the ground.

Everything that freedom j carries moves by the motion vector s_j, about a point that is fixed in the world. With P the
parent of the body of j, and I, B, F sums over all bodies that freedom k, or j, carries [Singh 2022, in world axes]:

    psidot_j = V_P x s_j,  psiddot_j = A_P x s_j + V_P x psidot_j,  sdot_j = V_j x s_j
    dtau_k/dq_j = s_k . (I_k psiddot_j + B_k psidot_j)                     j carries k, or both are of one joint
                = s_k . (I_j psiddot_j + B_j psidot_j + s_j x* F_j)        k carries j
    dtau_k/dv_j = s_k . (I (psidot_j + sdot_j) + B s_j)                    I, B of the outer one of both

B x = [N w; 2 w x p] with w the angular part of x, p the momentum, N = 2 (tr(T) 1 - T), T the integral of xdot x^T dm.
"""

from varichain.kernels.derivative_chains import cross_force
from varichain.kernels.derivative_loads import add_load_derivatives
from varichain.kernels.derivative_loop_joints import add_loop_joint_derivatives
from varichain.kernels.derivative_passive import add_passive_derivatives
from varichain.kernels.freedoms import joint_motion, write_motion_vectors
from varichain.kernels.inertias import about_reference, inertial_force, rigid_mul
from varichain.kernels.jit import CUBE, MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move, place
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import (
    ZERO6,
    add3,
    add6,
    angular,
    cross3,
    cross_motion,
    dot3,
    dot6,
    join6,
    linear,
    load3,
    load6,
    load9,
    mat_t_vec,
    mat_vec,
    scale3,
    store3,
    store6,
    store9,
)

# Columns of the work rows of bodies: mass, mass times centre, rotational inertia, N, momentum.
BODY_WORK = 22
# Columns of the work rows of freedoms: psidot, psiddot, psidot + sdot.
DOF_WORK = 18


@helper
def _write_own(body, R, V, out):
    """Write the inertia of a body, its N and its momentum, about the reference point."""
    c, m, w = load3(body.c), body.mass, angular(V)
    h, I = scale3(m, c), about_reference(body, R, c)
    out[0] = m
    store3(out[1:4], h)
    store6(out[4:10], I)
    half = 0.5 * (I[0] + I[3] + I[5])
    v = linear(V)
    # T = v h^T + [w]x (half 1 - I), row by row
    x = cross3(w, (half - I[0], -I[1], -I[2]))
    y = cross3(w, (-I[1], half - I[3], -I[4]))
    z = cross3(w, (-I[2], -I[4], half - I[5]))
    T = (
        v[0] * h[0] + x[0],
        v[0] * h[1] + y[0],
        v[0] * h[2] + z[0],
        v[1] * h[0] + x[1],
        v[1] * h[1] + y[1],
        v[1] * h[2] + z[1],
        v[2] * h[0] + x[2],
        v[2] * h[1] + y[2],
        v[2] * h[2] + z[2],
    )
    trace = T[0] + T[4] + T[8]
    store9(
        out[10:19],
        (
            2.0 * (trace - T[0]),
            -2.0 * T[1],
            -2.0 * T[2],
            -2.0 * T[3],
            2.0 * (trace - T[4]),
            -2.0 * T[5],
            -2.0 * T[6],
            -2.0 * T[7],
            2.0 * (trace - T[8]),
        ),
    )
    store3(out[19:22], add3(scale3(m, v), cross3(w, h)))


@helper
def _write_turning(body, V_P, A_P, dofs, work):
    """Write psidot, psiddot and psidot + sdot of a body's freedoms.

    Needs: bodies moved.
    """
    V = load6(body.V)
    for k in range(body.dof, body.dof + body.n_dof):
        s = load6(dofs[k].s)
        psidot = cross_motion(V_P, s)
        store6(work[k, 0:6], psidot)
        store6(work[k, 6:12], add6(cross_motion(A_P, s), cross_motion(V_P, psidot)))
        store6(work[k, 12:18], add6(psidot, cross_motion(V, s)))


@routine
def gather_derivative_sums(bodies, dofs, body_work, dof_work):
    """Sums over carried bodies, and rates of motion vectors, from velocities and whole accelerations of the bodies.

    Bodies must have their accelerations in A, joint accelerations included.

    Needs: bodies moved.
    """
    store6(bodies[0].f, ZERO6)
    for i in range(1, len(bodies)):
        body = bodies[i]
        parent = bodies[body.parent]
        R, V = load9(body.R), load6(body.V)
        store6(body.f, inertial_force(body, R, load3(body.c), V, load6(body.A)))
        _write_own(body, R, V, body_work[i])
        _write_turning(body, load6(parent.V), load6(parent.A), dofs, dof_work)
    for i in range(len(bodies) - 1, 0, -1):
        p = bodies[i].parent
        if p > 0:
            own, total = body_work[i], body_work[p]
            for c in range(BODY_WORK):
                total[c] += own[c]
            store6(bodies[p].f, add6(load6(bodies[p].f), load6(bodies[i].f)))


@helper
def _inertia_of(row):
    return row[0], load3(row[1:4]), load6(row[4:10])


@helper
def _coriolis(row, x):
    """B x."""
    w = angular(x)
    return join6(mat_vec(load9(row[10:19]), w), scale3(2.0, cross3(w, load3(row[19:22]))))


@helper
def _coriolis_transposed(row, x):
    """B^T x: its angular part; the linear one is zero."""
    return add3(mat_t_vec(load9(row[10:19]), angular(x)), scale3(2.0, cross3(load3(row[19:22]), linear(x))))


@routine
def fill_derivatives(bodies, dofs, body_work, dof_work, by_q_out, by_v_out, by_a_out):
    """Write dtau/dq, dtau/dv and M from the sums; joints' own springs and dampers come after.

    Needs: bodies placed.
    """
    by_q_out[:, :] = 0.0
    by_v_out[:, :] = 0.0
    by_a_out[:, :] = 0.0
    for j in range(len(dofs)):
        body = bodies[dofs[j].body]
        row, s, rates = body_work[dofs[j].body], load6(dofs[j].s), dof_work[j]
        m, h, I = _inertia_of(row)
        psidot, psiddot, both = load6(rates[0:6]), load6(rates[6:12]), load6(rates[12:18])
        P, C = rigid_mul(m, h, I, s), _coriolis_transposed(row, s)
        carried = add6(rigid_mul(m, h, I, psiddot), _coriolis(row, psidot))
        carried = add6(carried, cross_force(s, load6(body.f)))
        damped = add6(rigid_mul(m, h, I, both), _coriolis(row, s))
        for k in range(body.dof, body.dof + body.n_dof):
            _write_outer(dofs, dof_work[k], j, k, P, C, by_q_out, by_v_out)
            by_a_out[j, k] = dot6(load6(dofs[k].s), P)
        k = dofs[body.dof].parent
        while k >= 0:
            s_k = load6(dofs[k].s)
            by_q_out[k, j] = dot6(s_k, carried)
            by_v_out[k, j] = dot6(s_k, damped)
            entry = dot6(s_k, P)
            by_a_out[k, j] = entry
            by_a_out[j, k] = entry
            _write_outer(dofs, dof_work[k], j, k, P, C, by_q_out, by_v_out)
            k = dofs[k].parent
        by_a_out[j, j] += dofs[j].armature


@helper
def _write_outer(dofs, rates, j, k, P, C, by_q_out, by_v_out):
    """Write the derivatives of tau_j by q_k and v_k, where k carries j or belongs to its joint."""
    by_q_out[j, k] = dot6(P, load6(rates[6:12])) + dot3(C, load3(rates[0:3]))
    by_v_out[j, k] = dot6(P, load6(rates[12:18])) + dot3(C, angular(load6(dofs[k].s)))


@routine
def add_own_derivatives(table, q, v, loads, by_q_out, by_v_out, chain_work):
    """Add the derivatives of what joints' springs, dampers and friction, and external forces, ask for.

    Needs: bodies moved.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(1, len(bodies)):
        if bodies[i].passive:
            add_passive_derivatives(bodies[i], dofs, q, v, by_q_out, by_v_out)
    add_loop_joint_derivatives(table, by_q_out, by_v_out, chain_work)
    add_load_derivatives(table, loads, by_q_out)


@kernel(TABLE, VECTOR, VECTOR, VECTOR, MATRIX, CUBE, MATRIX, MATRIX, MATRIX)
def inverse_dynamics_derivatives(
    # layout
    table,
    # in: loads (n, LOAD), see `derivative_loads`
    q,
    v,
    a,
    loads,
    # out (3, n_v, n_v)
    by_out,
    # work (n_bodies, BODY_WORK), (n_v, DOF_WORK), (n_v, CHAIN_WORK)
    body_work,
    dof_work,
    chain_work,
):
    """Derivatives of tau = M a + bias by q, v and a; dtau_k/dq_j stands in row k, column j."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    by_q, by_v = by_out[0], by_out[1]
    for i in range(1, len(bodies)):
        body = bodies[i]
        R, p = place(bodies, i, q)
        write_motion_vectors(body, R, p, dofs)
        _, A = move(bodies, i, R, p, v)
        store6(body.A, add6(A, joint_motion(body, R, p, a)))
    gather_derivative_sums(bodies, dofs, body_work, dof_work)
    fill_derivatives(bodies, dofs, body_work, dof_work, by_q, by_v, by_out[2])
    add_own_derivatives(table, q, v, loads, by_q, by_v, chain_work)
