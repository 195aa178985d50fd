"""Inverse dynamics of closed chains: the torques of actuators alone, S^T tau_act = W^T tau_O [NY, (7)-(8)]."""

import math

from varichain.kernels.closure import write_jacobian
from varichain.kernels.constraint_solve import factor_at_rest
from varichain.kernels.couplings import slip_of
from varichain.kernels.inverse_dynamics import newton_euler
from varichain.kernels.jit import INTEGER, INTEGERS, MATRIX, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.loop_basis import (
    along_independent,
    eliminate,
    load_biases,
    reduce_rows,
    solve_dependent,
    solve_reaction,
    virtual_row,
)
from varichain.kernels.loops import place_rows, relative, row_bias
from varichain.kernels.records import COORDINATES
from varichain.kernels.row_kinds import relative_bias
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows

_LITTLE = 1e-10  # weight of freedoms that nothing is wished for: enough to decide what is open otherwise
_DRIVEN = 1e-9  # rows of S^T with less than this part of the largest drive nothing
_RENEWED = 1e-4  # a row with a smaller square than this part of what it was is orthogonalized anew


@helper
def _dot(x, y, n):
    """Product of the first n numbers; in eight sums at a time, which do not wait for each other."""
    a, b, c, d, e, f, g, h = 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0
    whole = n - n % 8
    for k in range(0, whole, 8):
        a += x[k] * y[k]
        b += x[k + 1] * y[k + 1]
        c += x[k + 2] * y[k + 2]
        d += x[k + 3] * y[k + 3]
        e += x[k + 4] * y[k + 4]
        f += x[k + 5] * y[k + 5]
        g += x[k + 6] * y[k + 6]
        h += x[k + 7] * y[k + 7]
    for k in range(whole, n):
        a += x[k] * y[k]
    return ((a + b) + (c + d)) + ((e + f) + (g + h))


@helper
def _subtract(x, part, y):
    for k in range(len(x)):
        x[k] -= part * y[k]


@routine
def opening_of(bodies, loops, rows, a):
    """Largest K a + Kdot v, with the accelerations a in those of the bodies.

    Needs: bodies moved, rows placed.
    """
    largest = 0.0
    for i in range(len(loops)):
        loop = loops[i]
        motion = relative(bodies, loop)
        bias = relative_bias(bodies, loop, motion)
        for r in range(loop.row, loop.row + loop.n_rows):
            opening = slip_of(bodies, loop, a) if loop.orientation == COORDINATES else 0.0
            largest = max(largest, abs(opening + row_bias(bodies, rows[r], loop, motion, bias)))
    return largest


@routine
def least_norm(B, squares):
    """Solve B y = b for the y of least norm; b is the last column of B, and y replaces it in the order of its rows.

    Rows are orthogonalized with pivoting (Gram-Schmidt), twice where much is subtracted. Returns the rank, the smallest
    pivot as a part of the largest, and the largest part of b that no y meets. On return b_i are the components of y
    along the first rows, which are orthonormal.
    """
    n_rows, n = len(B), B.shape[1] - 1
    for i in range(n_rows):
        squares[i] = _dot(B[i], B[i], n)
    largest, smallest, rank = 0.0, 1.0, 0
    for step in range(n_rows):
        best = step
        for i in range(step + 1, n_rows):
            if squares[i] > squares[best]:
                best = i
        largest = max(largest, squares[best])
        if not squares[best] > _DRIVEN * _DRIVEN * largest:
            break
        squares[best] = squares[step]
        row, other = B[step], B[best]
        for k in range(n + 1):
            row[k], other[k] = other[k], row[k]
        square = _dot(row, row, n)
        if square < _RENEWED * largest:  # much was subtracted: what is left of the others' directions counts
            for i in range(step):
                _subtract(row, _dot(row, B[i], n), B[i])
            square = _dot(row, row, n)
        if not square > _DRIVEN * _DRIVEN * largest:  # rounding had hidden that it depends on the others
            squares[step] = 0.0
            break
        smallest = min(smallest, square / largest)
        inverse = 1.0 / math.sqrt(square)
        for k in range(n + 1):
            row[k] *= inverse
        for i in range(step + 1, n_rows):
            below = B[i]
            part = _dot(below, row, n)
            if part != 0.0:
                before = squares[i]
                _subtract(below, part, row)
                squares[i] -= part * part
                if squares[i] < _RENEWED * before:
                    squares[i] = _dot(below, below, n)
        rank = step + 1
    missing = 0.0
    for i in range(rank, n_rows):
        missing = max(missing, abs(B[i, n]))
    return rank, math.sqrt(smallest), missing


@routine
def load_actuators(bodies, dofs, loops, actuated, K, columns, rank, row, B):
    """S^T in the first columns of B (n_independent, n_actuated + 1); `row` (n_v) is for work.

    Needs: bodies placed.
    """
    n_v = len(columns)
    B[:, :] = 0.0
    for k in range(len(actuated)):
        if actuated[k] < n_v:
            place = 0
            while columns[place] != actuated[k]:
                place += 1
            if place >= rank:
                B[place - rank, k] = 1.0
            else:
                for c in range(rank, n_v):
                    B[c - rank, k] = -K[place, c]
        else:
            virtual_row(bodies, dofs, loops, actuated[k] - n_v, row)
            for c in range(rank, n_v):
                B[c - rank, k] = row[columns[c]]
            for i in range(rank):
                part = row[columns[i]]
                for c in range(rank, n_v):
                    B[c - rank, k] -= part * K[i, c]


@routine
def share_load(bodies, dofs, loops, actuated, scale, root_cost, K, columns, rank, tau_O, row, B, tau_out):
    """Torques of least cost with S^T tau = W^T tau_O, in tau_out (n_all); returns what `least_norm` does.

    Generalized forces along slides count times `scale`, so that all are in [N m].

    Needs: bodies placed.
    """
    n_free, n_actuated = len(columns) - rank, len(actuated)
    load_actuators(bodies, dofs, loops, actuated, K, columns, rank, row, B)
    load = row[:n_free]
    along_independent(K, columns, rank, tau_O, load)
    for c in range(n_free):
        size = scale[columns[rank + c]]
        B[c, n_actuated] = size * load[c]
        for k in range(n_actuated):
            B[c, k] *= size / root_cost[k]
    sure = least_norm(B[:n_free], row[:n_free])
    tau_out[:] = 0.0
    for i in range(sure[0]):
        for k in range(n_actuated):
            tau_out[actuated[k]] += B[i, n_actuated] * B[i, k]
    for k in range(n_actuated):
        tau_out[actuated[k]] /= root_cost[k]
    return sure


@routine
def load_reaction(bodies, dofs, loops, actuated, K, columns, kept, rank, tau_O, tau, row, x, x_out):
    """Multipliers x of the rows, zero of redundant ones, with K^T x = tau_O less what the actuators give.

    Needs: bodies placed.
    """
    n_v = len(columns)
    for k in range(n_v):
        tau_O[k] -= tau[k]
    for k in range(len(actuated)):
        if actuated[k] >= n_v and tau[actuated[k]] != 0.0:
            virtual_row(bodies, dofs, loops, actuated[k] - n_v, row)
            _subtract(tau_O, tau[actuated[k]], row)
    for i in range(rank):
        x[i] = tau_O[columns[i]]
    solve_reaction(K, rank, x[:rank])
    x_out[:] = 0.0
    for i in range(rank):
        x_out[kept[i]] = x[i]


@kernel(
    TABLE,
    VECTOR,
    VECTOR,
    VECTOR,
    INTEGER,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    VECTOR,
    INTEGERS,
    VECTOR,
    VECTOR,
)
def actuator_torques(
    # layout
    table,
    # in
    q,
    v,
    a,
    # in: 1 if the rows say already which of them are kept
    is_decided,
    # in: freedoms with actuators, in v_all; square roots of their costs (n_actuated)
    actuated,
    root_cost,
    # in: lengths that freedoms are measured in (n_v); how gladly each becomes dependent
    scale,
    readiness,
    # work (n_rows, n_v), (n_v, n_actuated + 1), (2 n_v + n_rows), (n_v + n_rows)
    K,
    B,
    work,
    places,
    # out (n_all), (n_rows)
    tau_out,
    x_out,
):
    """Torques of actuators that give the accelerations a, which keep the loops closed; those of least cost.

    The rows' multipliers are x, zero of redundant rows. Returns the rank of the rows; the largest opening K a + Kdot v;
    the largest part of the load that the actuators cannot give, and the load itself [N m]; the smallest pivots of rows
    and of actuators.
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    n_v = len(dofs)
    tau_O, row, x = work[:n_v], work[n_v : 2 * n_v], work[2 * n_v :]
    columns, kept = places[:n_v], places[n_v:]
    newton_euler(table, q, v, a, tau_O)
    place_all(q, bodies, dofs)
    margin = 1.0
    if is_decided:
        place_rows(bodies, loops, rows)
    else:
        margin, _ = factor_at_rest(table)
    opening = opening_of(bodies, loops, rows, a)
    write_jacobian(bodies, dofs, loops, rows, K)
    rank, pivot = eliminate(rows, readiness, K, columns, kept)
    reduce_rows(K, rank)
    load = _largest(tau_O, scale)
    _, driven, missing = share_load(
        bodies, dofs, loops, actuated, scale, root_cost, K, columns, rank, tau_O, row, B, tau_out
    )
    load_reaction(bodies, dofs, loops, actuated, K, columns, kept, rank, tau_O, tau_out, row, x, x_out)
    return float(rank), opening, missing, load, min(pivot, math.sqrt(margin)), driven


@helper
def _largest(x, scale):
    largest = 0.0
    for k in range(len(x)):
        largest = max(largest, abs(x[k]) * scale[k])
    return largest


@routine
def _factor_normal(K, columns, rank, weight, scale, N):
    """Cholesky factor of W^T (D + e) W in N, with reciprocals on its diagonal; e is small, in all freedoms."""
    n_free = len(columns) - rank
    for c in range(n_free):
        k, row = columns[rank + c], N[c]
        for d in range(c):
            row[d] = 0.0
        row[c] = weight[k] + _LITTLE / (scale[k] * scale[k])
    for i in range(rank):
        k, dependent = columns[i], K[i]
        size = weight[k] + _LITTLE / (scale[k] * scale[k])
        for c in range(n_free):
            part, row = size * dependent[rank + c], N[c]
            for d in range(c + 1):
                row[d] += part * dependent[rank + d]
    for c in range(n_free):
        row = N[c]
        for d in range(c):
            row[d] = (row[d] - _dot(row, N[d], d)) * N[d, d]
        row[c] = 1.0 / math.sqrt(row[c] - _dot(row, row, c))


@routine
def _solve_normal(N, z):
    """Replace right-hand sides by the solution, with the factor."""
    for c in range(len(z)):
        z[c] = (z[c] - _dot(N[c], z, c)) * N[c, c]
    for c in range(len(z) - 1, -1, -1):
        row = N[c]
        z[c] *= row[c]
        for d in range(c):
            z[d] -= row[d] * z[c]


@routine
def nearest_allowed(K, columns, rank, x, wished, weight, scale, N, work, a_out):
    """Accelerations a = W z + w that loops allow, of least sum weight (a - wished)^2; x has w of dependent freedoms.

    Of these, the nearest to what is wished for in freedoms without weight, nearly. The little that these count at first
    is taken back by a second solution (iterated regularization). N (n_v, n_v) and `work` (2 n_v) are for work.
    """
    n, n_free = len(columns), len(columns) - rank
    z, missing = work[:n_free], work[n : 2 * n]
    for c in range(rank, n):
        a_out[columns[c]] = 0.0
    for i in range(rank):
        a_out[columns[i]] = x[i]
    _factor_normal(K, columns, rank, weight, scale, N)
    for turn in range(2):
        little = _LITTLE if turn == 0 else 0.0
        for k in range(n):
            missing[k] = (weight[k] + little / (scale[k] * scale[k])) * (wished[k] - a_out[k])
        along_independent(K, columns, rank, missing, z)
        _solve_normal(N, z)
        for c in range(n_free):
            a_out[columns[rank + c]] += z[c]
        for i in range(rank):
            row, part = K[i], 0.0
            for c in range(n_free):
                part += row[rank + c] * z[c]
            a_out[columns[i]] -= part


@kernel(
    TABLE,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    VECTOR,
    INTEGERS,
    MATRIX,
    VECTOR,
    VECTOR,
)
def wished_torques(
    # layout
    table,
    # in: accelerations that are wished for, and how much each freedom counts (n_v)
    q,
    v,
    wished,
    weight,
    # in: as of `actuator_torques`
    actuated,
    root_cost,
    scale,
    readiness,
    # work: as of `actuator_torques`, and (n_v, n_v)
    K,
    B,
    work,
    places,
    N,
    # out (n_v), (n_all)
    a_out,
    tau_out,
):
    """Torques of actuators that give the accelerations nearest to those wished for which the loops allow.

    Returns the largest part of the load that the actuators cannot give, and the load itself [N m].
    """
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    n_v = len(dofs)
    tau_O, row, x = work[:n_v], work[n_v : 2 * n_v], work[2 * n_v :]
    columns, kept = places[:n_v], places[n_v:]
    move_all(q, v, bodies, dofs)
    factor_at_rest(table)
    write_jacobian(bodies, dofs, loops, rows, K)
    rank, _ = eliminate(rows, readiness, K, columns, kept)
    load_biases(bodies, loops, rows, kept, rank, x)
    solve_dependent(K, rank, x)
    reduce_rows(K, rank)
    nearest_allowed(K, columns, rank, x, wished, weight, scale, N, work[: 2 * n_v], a_out)
    newton_euler(table, q, v, a_out, tau_O)
    load = _largest(tau_O, scale)
    _, _, missing = share_load(
        bodies, dofs, loops, actuated, scale, root_cost, K, columns, rank, tau_O, row, B, tau_out
    )
    return missing, load
