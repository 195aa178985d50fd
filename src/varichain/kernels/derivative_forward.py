"""Derivatives of forward dynamics, with all loops closed, through the articulated factor of the mass matrix.

M a + bias = tau + K^T x and K a + Kdot v = 0, differentiated, are the same equations with other right-hand sides:

    M da - K^T dx = dtau - d(M a + bias - K^T x),     K da = -d(K a + Kdot v)
"""

import numpy as np

from varichain.kernels.constrained_dynamics import accelerate
from varichain.kernels.derivative_chains import CHAIN_WORK
from varichain.kernels.derivative_closure import (
    ACCELERATIONS_BY_Q,
    K_RATES,
    SPEEDS_BY_Q,
    differentiate_closure,
)
from varichain.kernels.derivative_inverse import (
    BODY_WORK,
    DOF_WORK,
    add_own_derivatives,
    fill_derivatives,
    gather_derivative_sums,
)
from varichain.kernels.derivative_loads import put_on_loads, take_off_loads
from varichain.kernels.derivative_sides import inward, padded, solve_sides, write_inward
from varichain.kernels.forward_dynamics import load_torques, outward_bias
from varichain.kernels.jit import CUBE, MATRIX, TABLE, VECTOR, helper, kernel, plain, routine
from varichain.kernels.kinematics import place_all
from varichain.kernels.loop_joints import load_loop_forces
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers
from varichain.kernels.tuples import add6, load6, store6


def derivative_memory(n_bodies, n_v, n_rows):
    """Arrays that derivatives of the dynamics are worked out in; those of inverse dynamics are the first three."""
    columns = 3 * plain(padded)(n_v)
    bodies, freedoms, chains = (n_bodies, BODY_WORK), (n_v, DOF_WORK), (n_v, CHAIN_WORK)
    return tuple(np.zeros(shape) for shape in (bodies, freedoms, chains, (n_v, n_v), (n_v, columns), (n_rows, columns)))


@routine
def _accelerate(table, q, v, tau, loads, a_out):
    """Accelerations of freedoms and whole accelerations of bodies; returns the pivots of `accelerate`.

    Gives: bodies moved, rows placed, rows factored.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    if len(loads) > 0:
        place_all(q, bodies, dofs)
        put_on_loads(table, loads)
    outward_bias(bodies, dofs, q, v)
    take_off_loads(table, loads)
    load_loop_forces(bodies, open_loops(table))
    load_torques(dofs, tau)
    pivots = accelerate(table, 0.0, q, v, a_out)
    for i in range(1, len(bodies)):
        store6(bodies[i].A, add6(load6(bodies[i].A), load6(bodies[i].dA)))
    return pivots


@helper
def _copy(source, factor, target, place):
    """Write a row, times a number, from a place on; short loops over two arrays become vector instructions."""
    for c in range(len(source)):
        target[place + c] = factor * source[c]


@routine
def _write_sides(by_q, by_v, E, equations, X, Y):
    """Write the right-hand sides for q, v and tau beside each other, those of freedoms for tau already inward."""
    width = padded(len(E))
    X[:, :] = 0.0
    Y[:, :] = 0.0
    for k in range(len(E)):
        _copy(by_q[k], -1.0, X[k], 0)
        _copy(by_v[k], -1.0, X[k], width)
        _copy(E[k], 1.0, X[k], 2 * width)
    for r in range(len(Y)):
        _copy(equations[ACCELERATIONS_BY_Q, r], -1.0, Y[r], 0)
        row, rates, speeds = Y[r], equations[K_RATES, r], equations[SPEEDS_BY_Q, r]
        for c in range(len(E)):
            row[width + c] = -rates[c] - speeds[c]


@routine
def _split(X, out):
    """Write the three matrices that stand beside each other in X one after the other."""
    n = out.shape[2]
    width = padded(n)
    for i in range(3):
        for k in range(len(X)):
            _copy(X[k, i * width : i * width + n], 1.0, out[i, k], 0)


@kernel(TABLE, VECTOR, VECTOR, VECTOR, MATRIX, VECTOR, CUBE, CUBE, CUBE, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX, MATRIX)
def forward_dynamics_derivatives(
    # layout
    table,
    # in: loads (n, LOAD), see `derivative_loads`
    q,
    v,
    tau,
    loads,
    # out (n_v), (3, n_v, n_v), (3, n_rows, n_v), (4, n_rows, n_v)
    a_out,
    accelerations_out,
    multipliers_out,
    equations_out,
    # work (n_bodies, BODY_WORK), (n_v, DOF_WORK), (n_v, CHAIN_WORK), (n_v, n_v), (n_v, 3 n), (n_rows, 3 n)
    body_work,
    dof_work,
    chain_work,
    E,
    X,
    Y,
):
    """Accelerations with all loops closed; their derivatives by q, v and tau, and those of the rows' multipliers.

    `equations_out` has the derivatives of the loops' equations. Along directions that open the loops the derivatives
    are those of the formulas. Returns the smallest pivot kept and the largest dropped.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    by_q, by_v, by_tau = accelerations_out[0], accelerations_out[1], accelerations_out[2]
    pivots = _accelerate(table, q, v, tau, loads, a_out)
    gather_derivative_sums(bodies, dofs, body_work, dof_work)
    fill_derivatives(bodies, dofs, body_work, dof_work, by_q, by_v, by_tau)
    add_own_derivatives(table, q, v, loads, by_q, by_v, chain_work)
    differentiate_closure(table, open_multipliers(table), by_q, equations_out, chain_work)
    write_inward(bodies, dofs, E)
    _write_sides(by_q, by_v, E, equations_out, X, Y)
    inward(bodies, dofs, E, X, 2 * padded(len(dofs)))
    solve_sides(table, E, X, Y)
    _split(X, accelerations_out)
    _split(Y, multipliers_out)
    return pivots
