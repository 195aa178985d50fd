"""Derivatives of the loops' equations: of K v, of K a + Kdot v, and of the forces K^T x."""

from varichain.kernels.couplings import freedoms_of
from varichain.kernels.derivative_chains import add_wrench_change, freedom_at, write_chain
from varichain.kernels.derivative_rows import bend_gradient, change_transposed, wrench_change
from varichain.kernels.freedoms import joint_motion, write_motion_vectors
from varichain.kernels.jit import CUBE, MATRIX, TABLE, VECTOR, kernel, routine
from varichain.kernels.kinematics import move, place
from varichain.kernels.loops import place_loop, place_rows, wrench_at
from varichain.kernels.records import COORDINATES
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import ZERO3, ZERO6, add6, add_scaled6, dot6, load3, load6, store6

# Layers of the equations' matrices: K, Kdot, d(K v)/dq, d(K a + Kdot v)/dq.
K_ROWS, K_RATES, SPEEDS_BY_Q, ACCELERATIONS_BY_Q = 0, 1, 2, 3
UNIT_TWISTS = tuple(tuple(1.0 if i == j else 0.0 for i in range(6)) for j in range(6))


@routine
def _write_row(row, r, loop, R_WB, X, Y, chain_work, n, equations_out):
    """Write a row's entries in all layers."""
    e = load3(row.e)
    f = wrench_at(row, loop, e, ZERO3)
    forth = wrench_change(row.kind, row.axis, loop, e, R_WB, X)
    back = change_transposed(row.kind, loop, e, X)
    bend = add6(change_transposed(row.kind, loop, e, Y), bend_gradient(row.kind, loop, e, X))
    both = add6(forth, back)
    for i in range(n):
        k, chain = freedom_at(chain_work, i), chain_work[i]
        twist, rate = load6(chain[0:6]), load6(chain[6:12])
        speed, push = load6(chain[12:18]), load6(chain[18:24])
        equations_out[K_ROWS, r, k] = dot6(f, twist)
        equations_out[K_RATES, r, k] = dot6(f, rate) + dot6(forth, twist)
        equations_out[SPEEDS_BY_Q, r, k] = dot6(f, speed) + dot6(back, twist)
        equations_out[ACCELERATIONS_BY_Q, r, k] = dot6(f, push) + dot6(bend, twist) + dot6(both, speed)


@routine
def _column(rows, loop, R_WB, multipliers, twist):
    """Change of the wrench of all rows of a loop, its multipliers being constant, while A moves by a twist."""
    change = ZERO6
    for r in range(loop.row, loop.row + loop.n_rows):
        row = rows[r]
        part = wrench_change(row.kind, row.axis, loop, load3(row.e), R_WB, twist)
        change = add_scaled6(change, multipliers[r], part)
    return change


@routine
def _subtract_forces(rows, loop, dofs, R_WB, multipliers, chain_work, ends, by_q):
    """Subtract the derivative of the generalized forces K^T x of a loop, its multipliers x being constant."""
    f = ZERO6
    for r in range(loop.row, loop.row + loop.n_rows):
        f = add_scaled6(f, multipliers[r], wrench_at(rows[r], loop, load3(rows[r].e), ZERO3))
    turned_x = _column(rows, loop, R_WB, multipliers, UNIT_TWISTS[0])
    turned_y = _column(rows, loop, R_WB, multipliers, UNIT_TWISTS[1])
    turned_z = _column(rows, loop, R_WB, multipliers, UNIT_TWISTS[2])
    moved_x = _column(rows, loop, R_WB, multipliers, UNIT_TWISTS[3])
    moved_y = _column(rows, loop, R_WB, multipliers, UNIT_TWISTS[4])
    moved_z = _column(rows, loop, R_WB, multipliers, UNIT_TWISTS[5])
    for j in range(ends[1]):
        w, v = load3(chain_work[j, 0:3]), load3(chain_work[j, 3:6])
        change = add_scaled6(add_scaled6(add_scaled6(ZERO6, w[0], turned_x), w[1], turned_y), w[2], turned_z)
        change = add_scaled6(add_scaled6(add_scaled6(change, v[0], moved_x), v[1], moved_y), v[2], moved_z)
        add_wrench_change(dofs, chain_work, ends, j, f, change, -1.0, by_q)


@routine
def differentiate_closure(table, multipliers, by_q, equations_out, chain_work):
    """Write all layers of the loops' equations, and subtract the derivative of K^T x from `by_q`.

    Bodies must have their whole accelerations in A. Rows that depend on others have theirs too.

    Needs: bodies moved, rows placed.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    equations_out[:, :, :] = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            k_A, k_B = freedoms_of(bodies, loop)
            equations_out[K_ROWS, loop.row, k_A] = 1.0
            equations_out[K_ROWS, loop.row, k_B] = -loop.pitch
            continue
        _, R_WB = place_loop(bodies, loop)
        if loop.n_rows == 0:
            continue
        X, Y, ends = write_chain(bodies, dofs, loop, chain_work)
        for r in range(loop.row, loop.row + loop.n_rows):
            _write_row(rows[r], r, loop, R_WB, X, Y, chain_work, ends[1], equations_out)
        _subtract_forces(rows, loop, dofs, R_WB, multipliers, chain_work, ends, by_q)


@kernel(TABLE, VECTOR, VECTOR, VECTOR, VECTOR, CUBE, MATRIX, MATRIX)
def closure_derivatives(
    # layout
    table,
    # in
    q,
    v,
    a,
    multipliers,
    # out (4, n_rows, n_v), (n_v, n_v)
    equations_out,
    forces_by_q_out,
    # work (n_v, CHAIN_WORK)
    chain_work,
):
    """Derivatives of the loops' equations, and of the generalized forces K^T x of constant multipliers x."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(1, len(bodies)):
        body = bodies[i]
        R, p = place(bodies, i, q)
        write_motion_vectors(body, R, p, dofs)
        _, A = move(bodies, i, R, p, v)
        store6(body.A, add6(A, joint_motion(body, R, p, a)))
    place_rows(bodies, open_loops(table), open_rows(table))
    forces_by_q_out[:, :] = 0.0
    differentiate_closure(table, multipliers, forces_by_q_out, equations_out, chain_work)
    for k in range(len(dofs)):
        for j in range(len(dofs)):
            forces_by_q_out[k, j] = -forces_by_q_out[k, j]
