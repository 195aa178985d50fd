"""Passing singular configurations along the smooth branch.

Where rows become dependent for an instant, as in a parallelogram that folds flat, branches of the motion cross. There
the loops do not tell accelerations across the branch, and close to it they tell them badly: an error of closing e is
one of e v^2 / sigma^2 in the accelerations, with sigma the smallest singular value of the rows. On the branch itself
accelerations are smooth. They are interpolated from configurations on both sides, which the loops determine well.
"""

import math

import numpy as np

from varichain.kernels.closing import CHEAP, CLOSED, MOST, STILL, close_positions, close_velocities, correct, keep_locks
from varichain.kernels.derivative import derivative_at
from varichain.kernels.jit import allocates, routine
from varichain.kernels.manifold import step_all
from varichain.kernels.orthogonal import count_dropped
from varichain.kernels.tables import open_bodies, open_multipliers, open_rows

# Squared singular value below which a configuration is nearly singular.
NEAR = 1e-6
# [rad or m] from one configuration of the interpolation to the next, for the fastest joint.
_REACH = 1e-2
_ROUNDING, _CORRECTIONS = 1e-16, 12  # closed to rounding, with a new factor at each correction
# Values at -3, -2, -1, 1, 2, 3 give the value at 0 with an error of sixth order.
_WEIGHTS = (0.05, -0.3, 0.75, 0.75, -0.3, 0.05)
_PLACES = (-3.0, -2.0, -1.0, 1.0, 2.0, 3.0)
_GROWS = 4.0  # how much further from singular, squared, configurations on both sides must be
LEFT_OPEN = 1e-6  # [m or rad] by which loops may stay open there, until the next step
_EULER_CLOSED = 1e-12  # accelerations feel it by 1e-10 v^2 at most, far less than what a step of Euler's errs by
_SLOWEST = 1e-4  # [rad/s or m/s] below, the mechanism stands there and passes nothing


@routine
def is_near_singular(run):
    """Whether the last evaluation was close to a singular configuration that the motion passes.

    Rows that nearly depend for good, as in a file with rounded axes, are none: `persistent` remembers how nearly.
    """
    return run.pivot < NEAR and not (0.01 * run.persistent < run.pivot < 100.0 * run.persistent)


@routine
def derivative(context, t, q, v, tau, a_out):
    """Accelerations at a time, with all loops closed and all locks kept; q and v of driven joints are set.

    tau receives the controllers' torques. Returns the powers of all energy accounts. Near a singular configuration the
    accelerations and the forces in loops are those of the smooth branch.
    """
    powers = derivative_at(context, t, q, v, tau, a_out)
    if is_near_singular(context.run):
        _follow_branch(context, t, q, v, tau, a_out)
    return powers


@routine
@allocates
def _follow_branch(context, t, q, v, tau, a_out):
    """Accelerations and loop forces by interpolation along the branch, if there is one on both sides.

    Ends with the evaluation of the state itself.
    """
    table, run = context.table, context.run
    bodies, multipliers = open_bodies(table), open_multipliers(table)
    fastest = 0.0
    for k in range(len(v)):
        fastest = max(fastest, abs(v[k]))
    if fastest < _SLOWEST:
        return
    q_there, v_there, step = np.empty(len(q)), np.empty(len(v)), np.empty(len(v))
    a_there, tau_there = np.empty(len(v)), np.empty(len(v))
    a_smooth, x_smooth = np.zeros(len(v)), np.zeros(len(multipliers))
    pivot, is_smooth = run.pivot, True
    n_dropped, n_redundant = count_dropped(open_rows(table)), run.n_redundant
    for i in range(6):
        dt = _PLACES[i] * _REACH / fastest
        step_all(bodies, q, v, dt, q_there)
        for k in range(len(v)):
            v_there[k] = v[k]
        close_positions(table, context.restraints, q_there, v_there, step, _ROUNDING, False, 0, _CORRECTIONS)
        close_velocities(table, context.restraints, q_there, v_there, step, 0.0, 0)
        derivative_at(context, t + dt, q_there, v_there, tau_there, a_there)
        if n_redundant < n_dropped <= run.n_redundant:  # as many are redundant there: nothing is passed
            is_smooth = False
            break
        if not run.pivot > _GROWS * pivot:
            is_smooth = False
            run.persistent = pivot
            break
        for k in range(len(v)):
            a_smooth[k] += _WEIGHTS[i] * a_there[k]
        for r in range(len(multipliers)):
            x_smooth[r] += _WEIGHTS[i] * multipliers[r]
    derivative_at(context, t, q, v, tau, a_out)
    for k in range(len(v)):
        is_smooth = is_smooth and math.isfinite(a_smooth[k])
    if is_smooth:
        for k in range(len(v)):
            a_out[k] = a_smooth[k]
        for r in range(len(multipliers)):
            multipliers[r] = x_smooth[r]


@routine
def foresee_opening(context, is_closed, bend_out):
    """Accelerations (n_v) that undo what the curvature of the rows opens in an Euler step: K bend = Kdot v.

    The step opens rows by -h^2 / 2 Kdot v. The least step in the mass metric that closes them again is h^2 / 2 bend: it
    needs no new factor, and what stays open is of third order. Zero of steps after which loops are not closed, and near
    a singular configuration.

    Needs: rows factored.
    """
    table = context.table
    rows, multipliers = open_rows(table), open_multipliers(table)
    if len(rows) == 0 or not is_closed or is_near_singular(context.run):
        bend_out[:] = 0.0
        return
    for r in range(len(rows)):
        multipliers[r] = rows[r].bias
    correct(table, bend_out)


@routine
def _tightness(run):
    """Part of the usual tolerance to which loops are closed: the closer to a singular configuration, the better."""
    return min(1.0, 100.0 * run.pivot)


@routine
def keep_positions(context, t, q, v, step, is_new):
    """Close all loops after a step; returns the largest error left [m or rad].

    If `is_new`, and no row is redundant, with a factor of the configuration that the step has led to. Near a singular
    configuration loops are left as they are: closing would move across the branch.

    Gives: bodies placed, rows placed.
    """
    keep_locks(context, t, q, v, step)
    table, restraints = context.table, context.restraints
    if is_near_singular(context.run):
        left = close_positions(table, restraints, q, v, step, CLOSED, False, 0, 0)
        return 0.0 if left < LEFT_OPEN else left
    # which rows are redundant is better known where loops are closed, at the start of the step
    tolerance = (_EULER_CLOSED if is_new else CLOSED) * _tightness(context.run)
    is_new = is_new and count_dropped(open_rows(table)) == 0
    return close_positions(table, restraints, q, v, step, tolerance, is_new, CHEAP, MOST)


@routine
def keep_velocities(context, q, v, step):
    """Make loops stay closed after a step; returns the part of the kinetic energy that this took.

    Near a singular configuration velocities are left as they are.

    Needs: rows placed.
    """
    if is_near_singular(context.run):
        return 0.0
    return close_velocities(context.table, context.restraints, q, v, step, STILL * _tightness(context.run), CHEAP)
