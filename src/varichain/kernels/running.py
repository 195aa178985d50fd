"""Whole stretches of a simulation in one call: steps, events of stops and friction, samples.

Time runs on a grid, start + i * step. Fixed methods take one step to each grid point, adaptive ones as many as they
need; events lie between grid points, and the next step leads back to the grid.
"""

import math

from varichain.kernels.couplings import count_couplings
from varichain.kernels.derivative import N_ACCOUNTS, derivative
from varichain.kernels.impact import gather_wrenches
from varichain.kernels.jit import (
    CHANNELS,
    FORCES,
    HOLDS,
    INTEGER,
    INTEGERS,
    MATRIX,
    NUMBER,
    TABLE,
    VECTOR,
    fragment,
    kernel,
    routine,
)
from varichain.kernels.keeping import keep_holds, keep_positions, keep_velocities
from varichain.kernels.loop_joints import loop_spring_energy
from varichain.kernels.methods import EULER, GBS, RK45, embedded_error, take_step
from varichain.kernels.passive import spring_energy
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers, open_rows
from varichain.kernels.totals import kinetic_energy, mass_and_center, momentum_about
from varichain.kernels.transitions import (
    AT_STOP,
    BY_FRICTION,
    FREE_BEFORE,
    SLACK_FORCE,
    decide,
    lock_all,
    smallest_signal,
    strike,
    touch,
)
from varichain.kernels.tuples import ZERO6, add3, dot3, linear, load3, load6, store3, store6

# Entries of `memo`, what a run remembers beside q and v: its clock, the step that an adaptive method would take next,
# energy that stops have taken, the closure error of the last step, the work done so far.
TIME, START, STEP, NEXT, TOLERANCE, LOST, CLOSURE, WORK = 0, 1, 2, 3, 4, 5, 6, 7
N_MEMO = WORK + N_ACCOUNTS
# Entries of `tally`: method, grid points passed, grid points between samples; then what the call reports: why it
# returned, at which freedom, samples and happenings written; counters of steps, evaluations and events since the last
# grid point; whether the node is evaluated; rejected steps.
METHOD, GRID, EVERY, STATUS, FREEDOM, SAMPLES, HAPPENINGS, STEPS, EVENTS, NODE, REJECTED = range(11)
N_TALLY = 11
# Why a call returned.
REACHED, FULL, DIVERGED, TOO_SMALL, CHATTERING, UNDECIDED, OPEN = 0, 1, 2, 3, 4, 5, 6
# What a call is to do.
ADVANCE, SETTLE, STRIKE, SAMPLE = 0, 1, 2, 3
# What happened to a hold: rows of `happenings` are (time, what, hold, impulse, energy lost).
STRUCK, LET_GO, STUCK, SLIPPED = 0, 1, 2, 3

# Rows of the node matrix (N_NODE, max(n_q, n_v, N_ACCOUNTS)): the node's torques, accelerations and powers, then the
# next node's coordinates, velocities, torques, accelerations, powers and work.
TAU, ACC, POWERS, Q_END, V_END, TAU_END, ACC_END, POWERS_END, DONE, STEP_WORK, WANTED = range(11)
N_NODE = 12  # the last row is twice as long as q: two rows

_LOCATED = 1e-11  # [s] within which an instant is found
_PATIENCE, _MOST_TRIES = 3, 400  # tries that do not halve the span in a row, and all together
_MOST_EVENTS = 500  # between two grid points
_LEAST_STEP = 1e-12  # [s]
_FASTEST = 1e12  # beyond, a velocity has lost its meaning
_OPEN = 1e-9  # [m or rad] a loop that stays further open cannot be closed


@fragment
def _evaluate(context, t, q, v, tau, a, powers):
    """Evaluate a node."""
    spent = derivative(context, t, q, v, tau, a)
    for i in range(N_ACCOUNTS):
        powers[i] = spent[i]


@routine
def first_lost(v, a):
    """Index of the first freedom whose motion is not finite; -1 if all are."""
    for k in range(len(v)):
        if not (abs(v[k]) < _FASTEST and math.isfinite(a[k])):
            return k
    return -1


@fragment
def _attempt(method, context, t, h, q, v, node, tolerance, work, is_kept):
    """A step to the next node, closed if it `is_kept`, and evaluated: (error, rules used, closure error)."""
    n_q, n_v = len(q), len(v)
    q_end, v_end = node[Q_END, :n_q], node[V_END, :n_v]
    error, used = take_step(
        method, context, t, h, q, v, node[ACC, :n_v], node[POWERS], tolerance, work, q_end, v_end, node[DONE]
    )
    closure = 0.0
    if is_kept:
        closure = keep_positions(context, t + h, q_end, v_end, node[STEP_WORK, :n_v])
        keep_velocities(context, q_end, v_end, node[STEP_WORK, :n_v])
    else:
        keep_holds(context, t + h, q_end, v_end, node[STEP_WORK, :n_v])
    _evaluate(context, t + h, q_end, v_end, node[TAU_END, :n_v], node[ACC_END, :n_v], node[POWERS_END])
    if method == RK45:
        error = embedded_error(context, h, v, v_end, node[ACC_END, :n_v], tolerance, work)
    return error, used, closure


@fragment
def _locate(method, context, t, h, q, v, node, tolerance, work):
    """Shorten a step that passes an event to just behind it; the node's end is there. Returns its length."""
    n_q, n_v = len(q), len(v)
    early, late = 0.0, h
    signal_early, signal_late = math.nan, smallest_signal(context, node[Q_END, :n_q], node[V_END, :n_v])
    side, slow = 0, 0
    tried = h
    for _ in range(_MOST_TRIES):
        width = late - early
        if width <= max(_LOCATED, 4e-16 * abs(t)):
            break
        tried = 0.5 * (early + late)
        # Illinois' rule; where another signal that hardly changes is smallest it creeps, and halving goes on
        if math.isfinite(signal_early) and slow < _PATIENCE:
            guess = (early * signal_late - late * signal_early) / (signal_late - signal_early)
            # half the wanted width behind the guess: when it is right, both ends are close to it
            guess += 0.4 * _LOCATED
            if early < guess < late:
                tried = guess
        _attempt(method, context, t, tried, q, v, node, tolerance, work, True)
        signal = smallest_signal(context, node[Q_END, :n_q], node[V_END, :n_v])
        if signal < 0.0:
            late, signal_late = tried, signal
            if side == -1 and math.isfinite(signal_early):
                signal_early *= 0.5
            side = -1
        else:
            early, signal_early = tried, signal
            if side == 1:
                signal_late *= 0.5
            side = 1
        slow = slow % (_PATIENCE + 1) + 1 if late - early > 0.5 * width else 0
    if tried != late:
        _attempt(method, context, t, late, q, v, node, tolerance, work, True)
    return late


@fragment
def _accept(q, v, node, memo, t):
    """Make the next node the present one."""
    for i in range(len(q)):
        q[i] = node[Q_END, i]
    for k in range(len(v)):
        v[k] = node[V_END, k]
        node[TAU, k] = node[TAU_END, k]
        node[ACC, k] = node[ACC_END, k]
    for i in range(N_ACCOUNTS):
        node[POWERS, i] = node[POWERS_END, i]
        memo[WORK + i] += node[DONE, i]
    memo[TIME] = t


@routine
def _note(memo, tally, happenings, what, i, impulse, lost):
    """Write a happening, if there is room."""
    n = tally[HAPPENINGS]
    if n < len(happenings):
        row = happenings[n]
        row[0], row[1], row[2], row[3], row[4] = memo[TIME], what, i, impulse, lost
        tally[HAPPENINGS] += 1


@fragment
def settle_node(context, is_impact, q, v, node, memo, tally, happenings, impulses_out):
    """Impact if there is one, then what is held from now on; the node is evaluated. Returns a status."""
    table, holds = context[0], context[1]
    n_v = len(v)
    for i in range(len(holds)):
        holds[i].before = (AT_STOP if holds[i].at != 0 else BY_FRICTION) if holds[i].held else FREE_BEFORE
    struck = touch(context, q, v)
    lost = 0.0
    if struck or is_impact:
        for i in range(len(holds)):
            holds[i].impulse = 0.0
        lost = strike(context, memo[TIME], q, v, node[STEP_WORK, :n_v], node[WANTED:].reshape(-1))
        memo[LOST] += lost
        gather_wrenches(open_loops(table), open_rows(table), open_multipliers(table), impulses_out)
        bodies = open_bodies(table)
        for b in range(len(bodies)):
            store6(bodies[b].wrench, ZERO6)
        for i in range(len(holds)):
            if abs(holds[i].impulse) > SLACK_FORCE:
                _note(memo, tally, happenings, STRUCK, i, holds[i].impulse, lost)
                lost = 0.0  # of one impact, noted once
    found = decide(context, memo[TIME], q, v, node[TAU, :n_v], node[ACC, :n_v])
    _evaluate(context, memo[TIME], q, v, node[TAU, :n_v], node[ACC, :n_v], node[POWERS])
    for i in range(len(holds)):
        hold = holds[i]
        if hold.before and not hold.held:
            _note(memo, tally, happenings, LET_GO if hold.before == AT_STOP else SLIPPED, i, 0.0, 0.0)
        elif hold.held and not hold.before and hold.friction > 0.0 and hold.at == 0:
            _note(memo, tally, happenings, STUCK, i, 0.0, 0.0)
    tally[NODE] = 1
    lost_freedom = first_lost(v, node[ACC, :n_v])
    if lost_freedom >= 0:
        tally[FREEDOM] = lost_freedom
        return DIVERGED
    return REACHED if found else UNDECIDED


@routine
def _turn_holding(bodies, dofs, holding):
    """Bring the moments that hold balls at their stops from the basis of the stops to the links' axes."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.held and body.turned:
            k, E = body.dof, body.basis
            x, y, z = holding[k], holding[k + 1], holding[k + 2]
            holding[k] = E[0] * x + E[1] * y + E[2] * z
            holding[k + 1] = E[3] * x + E[4] * y + E[5] * z
            holding[k + 2] = E[6] * x + E[7] * y + E[8] * z


@routine
def write_sample(context, q, v, node, memo, row):
    """Write a sample: time, q, v, torques; forces of holds, loops and couplings; energies, work, momentum and so on."""
    table = context[0]
    bodies, dofs, loops = open_bodies(table), open_dofs(table), open_loops(table)
    n_q, n_v = len(q), len(v)
    row[0] = memo[TIME]
    row[1 : 1 + n_q] = q
    i = 1 + n_q
    for k in range(n_v):
        row[i + k] = v[k]
        row[i + n_v + k] = node[TAU, k]
        row[i + 2 * n_v + k] = dofs[k].reaction if dofs[k].lock else 0.0
    _turn_holding(bodies, dofs, row[i + 2 * n_v : i + 3 * n_v])
    i += 3 * n_v
    n_couplings, multipliers = count_couplings(loops), open_multipliers(table)
    n_loops = len(loops) - n_couplings
    wrenches = row[i : i + 6 * n_loops].reshape((n_loops, 6))
    gather_wrenches(loops, open_rows(table), multipliers, wrenches)
    i += 6 * n_loops
    for j in range(n_couplings):
        row[i + j] = multipliers[loops[n_loops + j].row]
    i += n_couplings
    gravitational, elastic = 0.0, loop_spring_energy(bodies, loops)
    up = linear(load6(bodies[0].A))
    for b in range(1, len(bodies)):
        body = bodies[b]
        gravitational += body.mass * dot3(up, add3(load3(bodies[body.root].reference), load3(body.c)))
        if body.passive:
            elastic += spring_energy(body, q, dofs)
    row[i] = kinetic_energy(bodies, dofs, v)
    row[i + 1] = gravitational
    row[i + 2] = elastic
    i += 3
    for j in range(N_ACCOUNTS):
        row[i + j] = memo[WORK + j]
    row[i + N_ACCOUNTS] = memo[LOST]
    i += N_ACCOUNTS + 1
    _, center = mass_and_center(bodies)
    store6(row[i : i + 6], momentum_about(bodies, center))
    store3(row[i + 6 : i + 9], center)
    row[i + 9] = memo[CLOSURE]


@routine
def _next_length(method, h, error, used, target):
    """Length that an adaptive method proposes after a step with this error."""
    error = max(error, 1e-10)
    if method == RK45:
        return h * min(5.0, max(0.2, 0.9 * error**-0.2))
    factor = 0.9 * error ** (-1.0 / (2.0 * used + 1.0))
    if error > 1.0:
        return h * min(0.7, max(0.1, factor))
    return h * min(3.0, max(0.5, factor * (1.6 if used <= 4 else (1.0 if used <= 6 else 0.7))))


@fragment
def _step(context, target, is_kept, q, v, node, memo, tally, work, happenings, impulses):
    """One accepted step towards a time, or to an event before it; returns a status, REACHED if all is well."""
    method, tolerance, t = tally[METHOD], memo[TOLERANCE], memo[TIME]
    n_v = len(v)
    is_adaptive = method in (RK45, GBS)
    left = h = target - t
    while True:
        h = left
        # no step so short that the rest of the way would be a sliver
        if is_adaptive and memo[NEXT] < 0.99 * left:
            h = memo[NEXT] if memo[NEXT] < 0.6 * left else 0.5 * left
        error, used, closure = _attempt(method, context, t, h, q, v, node, tolerance, work, is_kept)
        lost = first_lost(node[V_END, :n_v], node[ACC_END, :n_v])
        if is_adaptive and (lost >= 0 or not error <= 1.0 or not closure <= _OPEN):
            tally[REJECTED] += 1
            memo[NEXT] = _next_length(method, h, error, used, target) if error > 1.0 and lost < 0 else 0.25 * h
            if memo[NEXT] < _LEAST_STEP:
                tally[FREEDOM] = max(lost, 0)
                return TOO_SMALL
            continue
        break
    if lost >= 0:
        tally[FREEDOM] = lost
        return DIVERGED
    if is_adaptive:
        proposed = _next_length(method, h, error, used, target)
        memo[NEXT] = proposed if h < left or proposed < h else max(proposed, memo[NEXT])
    if not closure <= _OPEN:
        return OPEN
    tally[STEPS] += 1
    if len(context[1]) > 0 and smallest_signal(context, node[Q_END, : len(q)], node[V_END, :n_v]) < 0.0:
        h = _locate(method, context, t, h, q, v, node, tolerance, work)
        _accept(q, v, node, memo, min(t + h, target))
        memo[CLOSURE] = closure
        tally[EVENTS] += 1
        if tally[EVENTS] > _MOST_EVENTS:
            return CHATTERING
        return settle_node(context, False, q, v, node, memo, tally, happenings, impulses)

    _accept(q, v, node, memo, target if h == left else t + h)
    if is_kept:
        memo[CLOSURE] = closure
    return REACHED


@kernel(
    TABLE,
    HOLDS,
    FORCES,
    CHANNELS,
    VECTOR,
    MATRIX,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    INTEGERS,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    INTEGER,
    NUMBER,
    INTEGER,
)
def run(
    # layout
    table,
    # in and out: modes
    holds,
    # in
    forces,
    channels,
    motion,
    gains,
    counts,
    # in and out
    q,
    v,
    memo,
    tally,
    node,
    # work
    work,
    # out
    samples,
    happenings,
    impulses,
    # in: ADVANCE, SETTLE, STRIKE or SAMPLE; time to reach and most steps to take
    task,
    stop,
    most_steps,
):
    """Advance to a time, or to where something needs attention: see the status in `tally`.

    Samples are written at every EVERY-th grid point that is passed. A call that ends early may be repeated. Other
    tasks: to settle what happens at this instant, with or without an impact; to write one sample of the present state.
    All in one kernel, for what they have in common takes long to compile.
    """
    rate = 1.0 / memo[STEP] if tally[METHOD] == EULER else 0.0
    context = (table, holds, forces, channels, motion, gains, counts, rate)
    n_v = len(v)
    tally[STATUS] = REACHED
    tally[SAMPLES] = 0
    tally[HAPPENINGS] = 0
    if task in (SETTLE, STRIKE):
        lock_all(context)
        status = settle_node(context, task == STRIKE, q, v, node, memo, tally, happenings, impulses)
        tally[STATUS] = status
        return
    if task == SAMPLE or not tally[NODE]:
        lock_all(context)
        _evaluate(context, memo[TIME], q, v, node[TAU, :n_v], node[ACC, :n_v], node[POWERS])
        tally[NODE] = 1
    if task == SAMPLE:
        write_sample(context, q, v, node, memo, samples[0])
        return
    taken = 0
    while memo[TIME] < stop and taken < most_steps:
        grid = memo[START] + (tally[GRID] + 1) * memo[STEP]
        # a grid point that rounding has put a hair before or behind the end is the end
        on_grid = grid <= stop + 1e-9 * memo[STEP]
        target = grid if grid < stop - 1e-9 * memo[STEP] else stop
        # Euler's steps undo what they opened in the step after; closed to rounding are those that somebody sees
        is_kept = tally[METHOD] != EULER or not on_grid or target == stop or (tally[GRID] + 1) % tally[EVERY] == 0
        status = _step(context, target, is_kept, q, v, node, memo, tally, work, happenings, impulses)
        taken += 1
        if status != REACHED:
            tally[STATUS] = status
            tally[NODE] = 0
            return
        if memo[TIME] >= target and on_grid:
            tally[GRID] += 1
            tally[EVENTS] = 0
            if tally[GRID] % tally[EVERY] == 0:
                write_sample(context, q, v, node, memo, samples[tally[SAMPLES]])
                tally[SAMPLES] += 1
        if tally[SAMPLES] == len(samples) or tally[HAPPENINGS] > len(happenings) - 2 * len(holds) - 2:
            if memo[TIME] < stop:
                tally[STATUS] = FULL
            return
