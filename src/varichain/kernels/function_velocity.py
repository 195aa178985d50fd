"""Inverse kinematics in one call: functions are evaluated, and joint velocities found that move them as wanted.

Least squares of what is missing, each dimension times its importance, and of velocities times the damping, subject to
firm dimensions and bounds: A x = f with A = J^T J + d^2 is factored, firm dimensions are corrected in the metric of A,
then those that exceed bounds.
"""

import math

from varichain.kernels.function_bounds import keep_bounds
from varichain.kernels.function_evaluation import fill_block, fill_leaves
from varichain.kernels.function_factor import add_multiple, copy, dot, factor_dense, solve_factor, solve_transposed
from varichain.kernels.function_records import BLOCKS, GRADIENTS, INPUTS, LEAVES, STEPS, TERMS
from varichain.kernels.jit import INTEGER, INTEGERS, MATRIX, NUMBER, TABLE, VECTOR, helper, kernel, routine
from varichain.kernels.lanes import load_lanes, spread, store_lanes
from varichain.kernels.tables import open_bodies, open_dofs

_DEPENDENT = 1e-13  # parts of the squares of firm rows, left beside those before: less is rounding
_NOTHING = 1e-20  # parts of the square of the longest firm row: what is shorter is rounding


@routine
def _add_block(
    # in
    block,
    support,
    n_soft,
    G,
    right,
    importance,
    scale,
    n,
    # in and out: upper triangle (n * n), (n)
    A,
    f,
    # work: zeros (3 * n), and zeros again afterwards
    rows,
):
    """Add J^T J and J^T times the right-hand sides of a block's dimensions, three at a time."""
    first, last = block.support, block.support + block.n_support
    end = min(block.dimension + block.n_dimensions, n_soft)
    if first == last:
        return
    length = support[last - 1] + 1
    for d in range(block.dimension, end, 3):
        for i in range(min(3, end - d)):
            c = importance[d + i]
            for j in range(first, last):
                k = support[j]
                rows[i * n + k] = c * scale[k] * G[d + i, k]
                f[k] += c * right[d + i] * rows[i * n + k]
        for j in range(first, last):
            k = support[j]
            x, y, z = spread(rows, k), spread(rows, n + k), spread(rows, 2 * n + k)
            for i in range(k - k % 4, length, 4):
                total = load_lanes(A, k * n + i) + x * load_lanes(rows, i)
                total += y * load_lanes(rows, n + i)
                total += z * load_lanes(rows, 2 * n + i)
                store_lanes(A, k * n + i, total)
        for j in range(first, last):
            k = support[j]
            rows[k], rows[n + k], rows[2 * n + k] = 0.0, 0.0, 0.0


@helper
def _damp(A, n, n_v, damping, relaxation):
    """Add damping to the diagonal; what is beyond n_v is that of a unit matrix."""
    trace = 0.0
    for k in range(n_v):
        trace += A[k * n + k]
    for k in range(n):
        A[k * n + k] = A[k * n + k] + damping * damping + relaxation * trace if k < n_v else 1.0


@routine
def _keep_firm(
    # in: the factor
    A,
    n,
    n_soft,
    n_firm,
    G,
    right,
    scale,
    # in and out: U x (n)
    x,
    # work: (n_firm * n)
    firm,
):
    """Correct U x so that n_firm dimensions from n_soft on have their rates, one by one.

    A row U^-T C^T is made orthogonal to those before, which keep their rates then; a dependent one is left out.
    """
    largest = 0.0
    for i in range(n_firm):
        own = firm[i * n : i * n + n]
        own[:] = 0.0
        for k in range(len(scale)):
            own[k] = scale[k] * G[n_soft + i, k]
        largest = max(largest, dot(own, own))
    for i in range(n_firm):
        own = firm[i * n : i * n + n]
        is_row = dot(own, own) > _NOTHING * largest
        solve_transposed(A, n, own)
        length, missing = dot(own, own), right[n_soft + i] - dot(own, x)
        for j in range(i):
            earlier = firm[j * n : j * n + n]
            add_multiple(own, -dot(own, earlier), earlier)
        left = dot(own, own)
        is_kept = is_row and left > _DEPENDENT * length
        add_multiple(own, (1.0 / math.sqrt(left) if is_kept else 0.0) - 1.0, own)
        if is_kept:
            add_multiple(x, missing / math.sqrt(left), own)


@kernel(
    TABLE,
    VECTOR,
    VECTOR,
    MATRIX,
    LEAVES,
    TERMS,
    INPUTS,
    STEPS,
    BLOCKS,
    INTEGERS,
    INTEGERS,
    INTEGER,
    INTEGER,
    VECTOR,
    VECTOR,
    NUMBER,
    NUMBER,
    NUMBER,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    NUMBER,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    VECTOR,
    VECTOR,
    MATRIX,
    VECTOR,
    VECTOR,
)
def function_velocity(
    # layout
    table,
    # in: zeros (n_v); given numbers; tables of functions; how many dimensions are neither firm nor bounded, are firm
    q,
    still,
    given,
    leaves,
    terms,
    inputs,
    steps,
    blocks,
    results,
    support,
    n_soft,
    n_firm,
    # in (m), (m), numbers, (m), (n_v): roots of reciprocal costs of freedoms
    rate,
    target,
    gain,
    damping,
    relaxation,
    importance,
    scale,
    # in: bounds of values (2, n_bounds), kept after a time, and of velocities, (2, n_v) or (2, 0)
    limits,
    speeds,
    within,
    # out (n_v), (m), (m), zeros (m, n_v)
    v_out,
    value_out,
    drift_out,
    G_out,
    # work: of leaves; n is n_v, rounded up to fours: nodes, (m), (2, n_bounds), (n * n),
    # ((6 + n_firm) * n), then as many as `keep_bounds` needs
    numbers,
    gradients,
    moments,
    jets,
    right,
    bounds,
    A,
    rows,
):
    """Joint velocities with which udot = rate + gain (target - u) at best, and exactly where dimensions are firm.

    The square of the damping grows by `relaxation` times the squares of all gradients times the largest weighted rate
    that is asked for, or 1 if that is larger than 1: steps that lead far are short ones.

    Returns the number of the first dimension that has no value, or no derivative, here, counted from 1; 0 if all have;
    if bounds contradict each other, minus the number of one of them, those of velocities last.
    """
    n_v = len(scale)
    n = n_v + (-n_v) % 4
    bodies, dofs = open_bodies(table), open_dofs(table)
    fill_leaves(q, still, given, leaves, terms, support, GRADIENTS, bodies, dofs, numbers, gradients, moments)
    three, f, x, firm = rows[: 3 * n], rows[3 * n : 4 * n], rows[4 * n : 5 * n], rows[6 * n : (6 + n_firm) * n]
    A[:] = 0.0
    f[:] = 0.0
    three[:] = 0.0
    largest = 0.0
    for b in range(len(blocks)):
        block = blocks[b]
        fault = fill_block(
            block, inputs, steps, results, support, numbers, gradients, GRADIENTS,
            value_out, drift_out, right, G_out, jets,
        )  # fmt: skip
        if fault:
            return fault
        for d in range(block.dimension, block.dimension + block.n_dimensions):
            right[d] = rate[d] + gain * (target[d] - value_out[d]) - drift_out[d]
            if d < n_soft:
                largest = max(largest, abs(importance[d] * right[d]))
        _add_block(block, support, n_soft, G_out, right, importance, scale, n, A, f, three)
    _damp(A, n, n_v, damping, relaxation * min(1.0, largest))
    copy(f, x)
    factor_dense(n, A, rows[5 * n : 6 * n])
    solve_transposed(A, n, x)
    _keep_firm(A, n, n_soft, n_firm, G_out, right, scale, x, firm)
    first = n_soft + n_firm
    if limits.shape[1] + speeds.shape[1] > 0:
        for i in range(limits.shape[1]):
            for j in range(2):
                bounds[j, i] = (limits[j, i] - value_out[first + i]) / within - drift_out[first + i]
        return -keep_bounds(
            A, n, firm, G_out, first, bounds[0], bounds[1], speeds[0], speeds[1], scale, x, v_out,
            rows[(6 + n_firm) * n :],
        )  # fmt: skip
    solve_factor(A, n, x)
    for k in range(n_v):
        v_out[k] = scale[k] * x[k]
    return 0
