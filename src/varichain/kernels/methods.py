"""One step of each method of integration, in a chart about the step's start; loops are closed by the caller.

All start from a node: a state whose acceleration and powers are known. What they give: q and v at the end, and the
work done on the way, integrated by the same formula.
"""

import numpy as np

from varichain.kernels.charts import chart_rate
from varichain.kernels.derivative import N_ACCOUNTS, derivative
from varichain.kernels.jit import fragment, routine
from varichain.kernels.manifold import step_all
from varichain.kernels.tables import open_bodies

EULER, RK4, RK45, GBS = 0, 1, 2, 3
METHOD_CODES = {"euler": EULER, "rk4": RK4, "rk45": RK45, "gbs": GBS}

# Rows of the work matrix, (N_WORK, max(n_q, 2 n_v + N_ACCOUNTS)).
_Q, _V, _U, _TAU, _RATE, _ACC, _POWER = 0, 1, 2, 3, 4, 12, 20
_BEFORE, _NOW, _TABLE = 21, 22, 23
_MOST_ROWS = 8  # of the extrapolation table
N_WORK = _TABLE + 2 * _MOST_ROWS


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
def euler(context, h, q, v, a, powers, q_out, v_out, done_out):
    """Semi-implicit Euler: the new velocities move the coordinates, balls by Rodrigues' formula [NY, (39)]."""
    for k in range(len(v)):
        v_out[k] = v[k] + h * a[k]
    step_all(open_bodies(context[0]), q, v_out, h, q_out)
    for i in range(N_ACCOUNTS):
        done_out[i] = h * powers[i]


@fragment
def _begin(work, v, a, powers):
    """The node as the first stage."""
    n_v = len(v)
    for k in range(n_v):
        work[_RATE, k] = v[k]
        work[_ACC, k] = a[k]
    for i in range(N_ACCOUNTS):
        work[_POWER, i] = powers[i]


@routine
def runge_kutta(context, A, B, C, t, h, q, v, a, powers, work, q_out, v_out, done_out):
    """An explicit Runge-Kutta step; rates and accelerations of all stages stay in `work`."""
    bodies = open_bodies(context[0])
    n_q, n_v = len(q), len(v)
    q_stage, v_stage, u, tau = work[_Q, :n_q], work[_V, :n_v], work[_U, :n_v], work[_TAU, :n_v]
    _begin(work, v, a, powers)
    for i in range(N_ACCOUNTS):
        done_out[i] = h * B[0] * powers[i]
    for stage in range(1, len(B)):
        for k in range(n_v):
            turned, gained = 0.0, 0.0
            for j in range(stage):
                turned += A[stage, j] * work[_RATE + j, k]
                gained += A[stage, j] * work[_ACC + j, k]
            u[k] = h * turned
            v_stage[k] = v[k] + h * gained
        step_all(bodies, q, u, 1.0, q_stage)
        spent = derivative(context, t + C[stage] * h, q_stage, v_stage, tau, work[_ACC + stage, :n_v])
        chart_rate(bodies, u, v_stage, work[_RATE + stage, :n_v])
        for i in range(N_ACCOUNTS):
            done_out[i] += h * B[stage] * spent[i]
    for k in range(n_v):
        turned, gained = 0.0, 0.0
        for j in range(len(B)):
            turned += B[j] * work[_RATE + j, k]
            gained += B[j] * work[_ACC + j, k]
        u[k] = h * turned
        v_out[k] = v[k] + h * gained
    step_all(bodies, q, u, 1.0, q_out)


@routine
def embedded_error(context, h, v, v_end, a_end, tolerance, work):
    """Error of the last Dormand-Prince step as a multiple of what is allowed, with the derivative at its end."""
    n_v = len(v)
    rate = work[_RATE + 6, :n_v]
    chart_rate(open_bodies(context[0]), work[_U, :n_v], v_end, rate)
    largest = 0.0
    for k in range(n_v):
        turned, gained = _DP_ERROR[6] * rate[k], _DP_ERROR[6] * a_end[k]
        for j in range(6):
            turned += _DP_ERROR[j] * work[_RATE + j, k]
            gained += _DP_ERROR[j] * work[_ACC + j, k]
        allowed = tolerance * (1.0 + max(abs(v[k]), abs(v_end[k])))
        largest = max(largest, abs(h * turned) / tolerance, abs(h * gained) / allowed)
    return largest


@fragment
def _midpoint(context, t, h, n, q, v, a, powers, work, end_out):
    """Modified midpoint rule with n substeps, smoothed at its end [Gragg 1965]: (u, v, work done)."""
    bodies = open_bodies(context[0])
    n_q, n_v = len(q), len(v)
    q_stage, v_stage, u, tau = work[_Q, :n_q], work[_V, :n_v], work[_U, :n_v], work[_TAU, :n_v]
    rate, acc = work[_RATE, :n_v], work[_ACC, :n_v]
    before, now = work[_BEFORE], work[_NOW]
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
        spent = derivative(context, t + m * d, q_stage, v_stage, tau, acc)
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

    Returns the error as a multiple of what is allowed, and the number of rules used.
    """
    n_v = len(v)
    n = 2 * n_v + N_ACCOUNTS
    error = 0.0
    used = 0
    for j in range(_MOST_ROWS):
        row = work[_TABLE + j]
        _midpoint(context, t, h, 2 * (j + 1), q, v, a, powers, work, row)
        error = 0.0
        # Aitken-Neville along the row: `row` holds T_jj at the end, the rows before it their own entries
        for k in range(n):
            best = row[k]
            for i in range(j):
                # entry (j, i) from (j, i - 1) and (j - 1, i - 1); earlier rows keep their diagonals' history below
                ratio = (j + 1.0) / (j - i)
                earlier = work[_TABLE + _MOST_ROWS + i, k]
                work[_TABLE + _MOST_ROWS + i, k] = best
                best = best + (best - earlier) / (ratio * ratio - 1.0)
            if j > 0 and k < 2 * n_v:
                latest = work[_TABLE + _MOST_ROWS + j - 1, k]
                scale = tolerance if k < n_v else tolerance * (1.0 + abs(v[k - n_v]))
                error = max(error, abs(best - latest) / scale)
            work[_TABLE + _MOST_ROWS + j, k] = best
        used = j + 1
        if j >= 2 and error <= 1.0:
            break
    last = work[_TABLE + _MOST_ROWS + used - 1]
    u = work[_U, :n_v]
    for k in range(n_v):
        u[k] = last[k]
        v_out[k] = last[n_v + k]
    for i in range(N_ACCOUNTS):
        done_out[i] = last[2 * n_v + i]
    step_all(open_bodies(context[0]), q, u, 1.0, q_out)
    return error, used


@fragment
def take_step(method, context, t, h, q, v, a, powers, tolerance, work, q_out, v_out, done_out):
    """One step of a method; returns the error of the extrapolation (of the others zero) and the rules that it used."""
    if method == EULER:
        euler(context, h, q, v, a, powers, q_out, v_out, done_out)
    elif method == RK4:
        runge_kutta(context, _RK4_A, _RK4_B, _RK4_C, t, h, q, v, a, powers, work, q_out, v_out, done_out)
    elif method == RK45:
        runge_kutta(context, _DP_A, _DP_B, _DP_C, t, h, q, v, a, powers, work, q_out, v_out, done_out)
    else:
        return bulirsch_stoer(context, t, h, q, v, a, powers, tolerance, work, q_out, v_out, done_out)
    return 0.0, 0
