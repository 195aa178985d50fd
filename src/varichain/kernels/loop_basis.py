"""Motions that closed loops allow: v = W v_ind, from an elimination of the rows that count [NY, (17)-(23)].

The kept rows are factored, K = L [U_D U_I], with columns exchanged so that pivots are large and ones on the diagonal of
U_D. Freedoms of the first columns are dependent (D), the others independent (I): v_D = -E v_I with E = U_D^-1 U_I.
"""

import math

from varichain.kernels.closure import write_jacobian
from varichain.kernels.constraint_solve import factor_at_rest
from varichain.kernels.jit import INTEGERS, MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.loop_joints import freedom_direction, freedom_wrench
from varichain.kernels.loops import place_loop, relative, row_bias
from varichain.kernels.row_kinds import relative_bias
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import dot6, load3, load6


@helper
def _exchange(K, columns, j, k):
    """Exchange two columns of K."""
    columns[j], columns[k] = columns[k], columns[j]
    for i in range(len(K)):
        K[i, j], K[i, k] = K[i, k], K[i, j]


@routine
def eliminate(rows, readiness, K, columns, kept):
    """Factor the kept rows of K in place; row i of the factor is row kept[i], column j freedom columns[j].

    Freedoms become dependent by the size of their pivots, each times its `readiness`; those without it only if none
    other is left. Returns the rank, and the smallest pivot as a part of the largest entry that its row began with.
    """
    n, rank, smallest = K.shape[1], 0, 1.0
    for k in range(n):
        columns[k] = k
    for i in range(len(rows)):
        if not rows[i].kept or rank == n:
            continue
        row, largest = K[rank], 0.0
        for k in range(n):
            row[k] = K[i, k]
            largest = max(largest, abs(row[k]))
        for j in range(rank):
            part = row[j]
            if part != 0.0:
                above = K[j]
                for k in range(j + 1, n):
                    row[k] -= part * above[k]
        best, most = rank, -1.0
        for k in range(rank, n):
            size = abs(row[k]) * readiness[columns[k]]
            if size > most:
                best, most = k, size
        smallest = min(smallest, abs(row[best]) / largest)
        _exchange(K, columns, rank, best)
        inverse = 1.0 / row[rank]
        for k in range(rank + 1, n):
            row[k] *= inverse
        kept[rank] = i
        rank += 1
    return rank, smallest


@routine
def reduce_rows(K, rank):
    """Replace U_I by E = U_D^-1 U_I; U_D and L stay."""
    n = K.shape[1]
    for i in range(rank - 2, -1, -1):
        row = K[i]
        for j in range(i + 1, rank):
            part = row[j]
            if part != 0.0:
                below = K[j]
                for k in range(rank, n):
                    row[k] -= part * below[k]


@routine
def solve_dependent(K, rank, x):
    """Replace right-hand sides x of the kept rows by the solution of K_D x = L U_D x."""
    for i in range(rank):
        row = K[i]
        for j in range(i):
            x[i] -= row[j] * x[j]
        x[i] /= row[i]
    for i in range(rank - 1, -1, -1):
        row = K[i]
        for j in range(i + 1, rank):
            x[i] -= row[j] * x[j]


@routine
def solve_reaction(K, rank, x):
    """Replace forces x of the dependent freedoms by the rows' multipliers: K_D^T x = U_D^T L^T x."""
    for i in range(rank):
        row = K[i]
        for j in range(i + 1, rank):
            x[j] -= row[j] * x[i]
    for i in range(rank - 1, -1, -1):
        row = K[i]
        x[i] /= row[i]
        for j in range(i):
            x[j] -= row[j] * x[i]


@routine
def along_independent(K, columns, rank, x, out):
    """W^T x: what generalized forces x (n_v) of the tree are for the independent freedoms."""
    for c in range(rank, len(columns)):
        out[c - rank] = x[columns[c]]
    for i in range(rank):
        part, row = x[columns[i]], K[i]
        if part != 0.0:
            for c in range(rank, len(columns)):
                out[c - rank] -= part * row[c]


@routine
def virtual_row(bodies, dofs, loops, freedom, out):
    """Velocity of a freedom of the virtual joints, counted through all loops, over the tree's freedoms (n_v).

    Needs: bodies placed.
    """
    for k in range(len(out)):
        out[k] = 0.0
    i = 0
    while freedom >= loops[i].n_free:
        freedom -= loops[i].n_free
        i += 1
    loop = loops[i]
    R_WA, R_WB = place_loop(bodies, loop)
    e = freedom_direction(loop, freedom, R_WA, R_WB)
    f_A, f_B = freedom_wrench(loop, freedom, e, load3(loop.x_A)), freedom_wrench(loop, freedom, e, load3(loop.x_B))
    k = bodies[loop.body_A].dof + bodies[loop.body_A].n_dof - 1
    while k >= 0:
        out[k] += dot6(load6(dofs[k].s), f_A)
        k = dofs[k].parent
    k = bodies[loop.body_B].dof + bodies[loop.body_B].n_dof - 1
    while k >= 0:
        out[k] -= dot6(load6(dofs[k].s), f_B)
        k = dofs[k].parent


@kernel(TABLE, VECTOR, VECTOR, VECTOR, INTEGERS, INTEGERS, MATRIX, VECTOR, INTEGERS, MATRIX, VECTOR, MATRIX)
def motion_basis(
    # layout
    table,
    # in
    q,
    v,
    readiness,
    # in: freedoms that are to be independent
    independent,
    # in: freedoms with actuators, in v_all
    actuated,
    # work (n_rows, n_v), (n_v + n_rows), (n_v + n_rows)
    K,
    work,
    places,
    # out (n_v, n_independent), (n_v), (n_actuated, n_independent)
    W_out,
    w_out,
    S_out,
):
    """W and w of a = W a_ind + w, and S of v_act = S v_ind, for independent freedoms that were chosen before.

    Their `readiness` to become dependent is 0.

    Returns the rank, and the smallest pivot as a part of its row: how well the choice determines the others. Nothing is
    written if the rank is another than the choice leaves room for.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    n = len(dofs)
    columns, kept, row, x = places[:n], places[n:], work[:n], work[n:]
    move_all(q, v, bodies, dofs)
    factor_at_rest(table)
    write_jacobian(bodies, dofs, loops, rows, K)
    rank, smallest = eliminate(rows, readiness, K, columns, kept)
    if rank + len(independent) != n:
        return rank, 0.0
    reduce_rows(K, rank)
    load_biases(bodies, loops, rows, kept, rank, x)
    solve_dependent(K, rank, x)
    W_out[:, :] = 0.0
    for c in range(len(independent)):
        W_out[independent[c], c] = 1.0
        place = rank
        while place < n and columns[place] != independent[c]:
            place += 1
        if place == n:  # a freedom that should be independent had to become dependent
            return rank, 0.0
        for i in range(rank):
            W_out[columns[i], c] = -K[i, place]
    w_out[:] = 0.0
    for i in range(rank):
        w_out[columns[i]] = x[i]
    for k in range(len(actuated)):
        for c in range(len(independent)):
            S_out[k, c] = W_out[actuated[k], c] if actuated[k] < n else 0.0
        if actuated[k] >= n:
            virtual_row(bodies, dofs, loops, actuated[k] - n, row)
            for j in range(n):
                for c in range(len(independent)):
                    S_out[k, c] += row[j] * W_out[j, c]
    return rank, smallest if math.isfinite(smallest) else 0.0


@routine
def load_biases(bodies, loops, rows, kept, rank, x):
    """-Kdot v of the kept rows.

    Needs: bodies moved, rows placed.
    """
    i = 0
    for l in range(len(loops)):
        loop = loops[l]
        motion = relative(bodies, loop)
        bias = relative_bias(bodies, loop, motion)
        for r in range(loop.row, loop.row + loop.n_rows):
            if i < rank and kept[i] == r:
                x[i] = -row_bias(bodies, rows[r], loop, motion, bias)
                i += 1
