"""One step of each method of integration, in a chart about the step's start; loops are closed by the caller.

All start from a node: a state whose acceleration and powers are known. Results are q and v at the end, and the
work of the step, integrated by the same formula.
"""

from typing import Any, NamedTuple

import numpy as np

from varichain.kernels.charts import chart_rate
from varichain.kernels.implicit import implicit_step
from varichain.kernels.jit import fragment, helper, routine
from varichain.kernels.manifold import step_all
from varichain.kernels.run_records import EULER, IMPLICIT, N_ACCOUNTS, RK4, RK45
from varichain.kernels.tables import open_bodies

_MOST_STAGES, _MOST_ROWS = 8, 8  # of Runge-Kutta methods, and of the extrapolation table


class Scratch(NamedTuple):
    """Working memory of a step between its nodes; entries of u, v and the work follow each other in long rows."""

    q: Any  # of a stage
    v: Any
    u: Any  # step in the chart
    tau: Any
    rates: Any  # (stages, n_v) of u
    accelerations: Any  # (stages, n_v)
    before: Any  # long rows of the midpoint rule: the last point but one, and the last
    now: Any
    rules: Any  # results of the midpoint rules, as long rows
    diagonal: Any  # of the extrapolation table, as long rows


_N_ROWS = 5 + 2 * _MOST_STAGES + 2 + 2 * _MOST_ROWS


def scratch_shape(n_q: int, n_v: int) -> tuple[int, int]:
    """Shape of the matrix of a Scratch."""
    return _N_ROWS, max(n_q, 2 * n_v + N_ACCOUNTS)


@helper
def open_scratch(work, n_q, n_v):
    """Rows of a matrix, of shape `scratch_shape`, as a Scratch."""
    rates = 4
    accelerations = rates + _MOST_STAGES
    before = accelerations + _MOST_STAGES
    rules = before + 2
    diagonal = rules + _MOST_ROWS
    return Scratch(
        q=work[0, :n_q],
        v=work[1, :n_v],
        u=work[2, :n_v],
        tau=work[3, :n_v],
        rates=work[rates:accelerations],
        accelerations=work[accelerations:before],
        before=work[before],
        now=work[before + 1],
        rules=work[rules:diagonal],
        diagonal=work[diagonal : _N_ROWS - 1],
    )


@helper
def extra_forces(work, n_v):
    """The last row of the matrix of a Scratch: zeros, but while a step is implicit."""
    return work[_N_ROWS - 1, :n_v]


_RK4_A = np.array([[0.0, 0.0, 0.0], [0.5, 0.0, 0.0], [0.0, 0.5, 0.0], [0.0, 0.0, 1.0]])
_RK4_B = np.array([1.0 / 6.0, 1.0 / 3.0, 1.0 / 3.0, 1.0 / 6.0])
_RK4_C = np.array([0.0, 0.5, 0.5, 1.0])

# [Dormand and Prince 1980]; the seventh stage is the next step's first.
_DP_A = np.array(
    [
        [0.0, 0.0, 0.0, 0.0, 0.0],
        [1.0 / 5.0, 0.0, 0.0, 0.0, 0.0],
        [3.0 / 40.0, 9.0 / 40.0, 0.0, 0.0, 0.0],
        [44.0 / 45.0, -56.0 / 15.0, 32.0 / 9.0, 0.0, 0.0],
        [19372.0 / 6561.0, -25360.0 / 2187.0, 64448.0 / 6561.0, -212.0 / 729.0, 0.0],
        [9017.0 / 3168.0, -355.0 / 33.0, 46732.0 / 5247.0, 49.0 / 176.0, -5103.0 / 18656.0],
    ]
)
_DP_B = np.array([35.0 / 384.0, 0.0, 500.0 / 1113.0, 125.0 / 192.0, -2187.0 / 6784.0, 11.0 / 84.0])
_DP_C = np.array([0.0, 0.2, 0.3, 0.8, 8.0 / 9.0, 1.0])
_DP_ERROR = np.array(
    [71.0 / 57600.0, 0.0, -71.0 / 16695.0, 71.0 / 1920.0, -17253.0 / 339200.0, 22.0 / 525.0, -1.0 / 40.0]
)


@fragment
def euler(context, h, q, v, a, bend, powers, u, q_out, v_out, done_out):
    """Semi-implicit Euler: the new velocities move the coordinates, balls by Rodrigues' formula [NY, (39)].

    `bend` are further accelerations of the coordinates alone: see `passages.foresee_opening`. u is work (n_v).
    """
    for k in range(len(v)):
        v_out[k] = v[k] + h * a[k]
        u[k] = v_out[k] + 0.5 * h * bend[k]
    step_all(open_bodies(context.table), q, u, h, q_out)
    for i in range(N_ACCOUNTS):
        done_out[i] = h * powers[i]


@routine
def runge_kutta(context, A, B, C, t, h, q, v, a, powers, work, q_out, v_out, done_out):
    """An explicit Runge-Kutta step; rates and accelerations of all stages stay in `work`."""
    bodies = open_bodies(context.table)
    n_v = len(v)
    scratch = open_scratch(work, len(q), n_v)
    q_stage, v_stage, u, rates, accelerations = scratch.q, scratch.v, scratch.u, scratch.rates, scratch.accelerations
    for k in range(n_v):
        rates[0, k] = v[k]
        accelerations[0, k] = a[k]
    for i in range(N_ACCOUNTS):
        done_out[i] = h * B[0] * powers[i]
    for stage in range(1, len(B)):
        for k in range(n_v):
            turned, gained = 0.0, 0.0
            for j in range(stage):
                turned += A[stage, j] * rates[j, k]
                gained += A[stage, j] * accelerations[j, k]
            u[k] = h * turned
            v_stage[k] = v[k] + h * gained
        step_all(bodies, q, u, 1.0, q_stage)
        spent = context.derivative(context, t + C[stage] * h, q_stage, v_stage, scratch.tau, accelerations[stage, :n_v])
        chart_rate(bodies, u, v_stage, rates[stage, :n_v])
        for i in range(N_ACCOUNTS):
            done_out[i] += h * B[stage] * spent[i]
    for k in range(n_v):
        turned, gained = 0.0, 0.0
        for j in range(len(B)):
            turned += B[j] * rates[j, k]
            gained += B[j] * accelerations[j, k]
        u[k] = h * turned
        v_out[k] = v[k] + h * gained
    step_all(bodies, q, u, 1.0, q_out)


@routine
def embedded_error(context, h, v, v_end, a_end, tolerance, work):
    """Error of the last Dormand-Prince step as a multiple of the tolerance, with the derivative at its end."""
    n_v = len(v)
    scratch = open_scratch(work, n_v, n_v)
    rates, accelerations = scratch.rates, scratch.accelerations
    rate = rates[6, :n_v]
    chart_rate(open_bodies(context.table), scratch.u, v_end, rate)
    largest = 0.0
    for k in range(n_v):
        turned, gained = _DP_ERROR[6] * rate[k], _DP_ERROR[6] * a_end[k]
        for j in range(6):
            turned += _DP_ERROR[j] * rates[j, k]
            gained += _DP_ERROR[j] * accelerations[j, k]
        allowed = tolerance * (1.0 + max(abs(v[k]), abs(v_end[k])))
        largest = max(largest, abs(h * turned) / tolerance, abs(h * gained) / allowed)
    return largest


@fragment
def _midpoint(context, t, h, n, q, v, a, powers, scratch, end_out):
    """Modified midpoint rule with n substeps, smoothed at its end [Gragg 1965]: (u, v, work done)."""
    bodies = open_bodies(context.table)
    n_v = len(v)
    q_stage, v_stage, u, before, now = scratch.q, scratch.v, scratch.u, scratch.before, scratch.now
    rate, acc = scratch.rates[0, :n_v], scratch.accelerations[0, :n_v]
    d = h / n
    for k in range(n_v):
        before[k] = 0.0
        before[n_v + k] = v[k]
        now[k] = d * v[k]
        now[n_v + k] = v[k] + d * a[k]
    for i in range(N_ACCOUNTS):
        before[2 * n_v + i] = 0.0
        now[2 * n_v + i] = d * powers[i]
    for m in range(1, n + 1):
        for k in range(n_v):
            u[k] = now[k]
            v_stage[k] = now[n_v + k]
        step_all(bodies, q, u, 1.0, q_stage)
        spent = context.derivative(context, t + m * d, q_stage, v_stage, scratch.tau, acc)
        chart_rate(bodies, u, v_stage, rate)
        last = m == n
        for k in range(n_v):
            _leap(before, now, k, rate[k], d, last)
            _leap(before, now, n_v + k, acc[k], d, last)
        for i in range(N_ACCOUNTS):
            _leap(before, now, 2 * n_v + i, spent[i], d, last)
    for k in range(2 * n_v + N_ACCOUNTS):
        end_out[k] = now[k]


@routine
def _leap(before, now, k, rate, d, last):
    """A leap over two substeps, or the smoothing at the end."""
    if last:
        now[k] = 0.5 * (now[k] + before[k] + d * rate)
    else:
        ahead = before[k] + 2.0 * d * rate
        before[k] = now[k]
        now[k] = ahead


@routine
def bulirsch_stoer(context, t, h, q, v, a, powers, tolerance, work, q_out, v_out, done_out):
    """Gragg-Bulirsch-Stoer step: midpoint rules with 2, 4, 6, ... substeps, extrapolated to none [PFB].

    Returns the error as a multiple of the tolerance, and the number of rules used.
    """
    n_v = len(v)
    n = 2 * n_v + N_ACCOUNTS
    scratch = open_scratch(work, len(q), n_v)
    diagonal = scratch.diagonal
    error = 0.0
    used = 0
    for j in range(_MOST_ROWS):
        row = scratch.rules[j]
        _midpoint(context, t, h, 2 * (j + 1), q, v, a, powers, scratch, row)
        error = 0.0
        # Aitken-Neville along the row: `row` is T_jj at the end; the rows before it have their own entries
        for k in range(n):
            best = row[k]
            for i in range(j):
                # entry (j, i) from (j, i - 1) and (j - 1, i - 1); earlier rows keep their diagonals' history below
                ratio = (j + 1.0) / (j - i)
                earlier = diagonal[i, k]
                diagonal[i, k] = best
                best = best + (best - earlier) / (ratio * ratio - 1.0)
            if j > 0 and k < 2 * n_v:
                latest = diagonal[j - 1, k]
                scale = tolerance if k < n_v else tolerance * (1.0 + abs(v[k - n_v]))
                error = max(error, abs(best - latest) / scale)
            diagonal[j, k] = best
        used = j + 1
        if j >= 2 and error <= 1.0:
            break
    last, u = diagonal[used - 1], scratch.u
    for k in range(n_v):
        u[k] = last[k]
        v_out[k] = last[n_v + k]
    for i in range(N_ACCOUNTS):
        done_out[i] = last[2 * n_v + i]
    step_all(open_bodies(context.table), q, u, 1.0, q_out)
    return error, used


@fragment
def rk4(context, t, h, q, v, a, powers, work, q_out, v_out, done_out):
    """Runge-Kutta step of order four."""
    runge_kutta(context, _RK4_A, _RK4_B, _RK4_C, t, h, q, v, a, powers, work, q_out, v_out, done_out)


@fragment
def take_step(method, context, t, h, q, v, tau, a, bend, powers, tolerance, work, q_out, v_out, done_out):
    """One step of a method; returns the error of the extrapolation (of the others zero) and the rules that it used."""
    if method == IMPLICIT:
        implicit_step(context, t, h, q, v, tau, open_scratch(work, len(q), len(v)), q_out, v_out, done_out)
        return 0.0, 0
    return take_explicit_step(method, context, t, h, q, v, a, bend, powers, tolerance, work, q_out, v_out, done_out)


@fragment
def take_explicit_step(method, context, t, h, q, v, a, bend, powers, tolerance, work, q_out, v_out, done_out):
    """One step of a method that is not implicit, as `take_step`."""
    if method == EULER:
        u = open_scratch(work, len(q), len(v)).u
        euler(context, h, q, v, a, bend, powers, u, q_out, v_out, done_out)
    elif method == RK4:
        rk4(context, t, h, q, v, a, powers, work, q_out, v_out, done_out)
    elif method == RK45:
        runge_kutta(context, _DP_A, _DP_B, _DP_C, t, h, q, v, a, powers, work, q_out, v_out, done_out)
    else:
        return bulirsch_stoer(context, t, h, q, v, a, powers, tolerance, work, q_out, v_out, done_out)
    return 0.0, 0
