"""Whole stretches of a simulation in one call: steps, events of stops and friction, samples.

Time runs on a grid, start + i * step. Fixed methods take one step to each grid point, adaptive ones as many as they
need; events lie between grid points, and the next step leads back to the grid.
"""

import math

from varichain.kernels.closing import keep_locks
from varichain.kernels.context import Context
from varichain.kernels.couplings import load_slip_rates
from varichain.kernels.impact import AT_STOP, SLACK_FORCE, collide, find_touched, lock_all
from varichain.kernels.jit import (
    CHANNELS,
    CONTROLS,
    FORCES,
    INTEGER,
    LAWS,
    MATRIX,
    NUMBER,
    RESTRAINTS,
    RUNS,
    TABLE,
    TRANSITIONS,
    VECTOR,
    fragment,
    kernel,
    routine,
)
from varichain.kernels.laws import tick
from varichain.kernels.locating import MOST_TRIES, is_located, narrowed, next_try, open_bracket
from varichain.kernels.methods import embedded_error, extra_forces, take_step
from varichain.kernels.modes import OPENING, allowed_opening, choose_modes, opening_acceleration, smallest_signal
from varichain.kernels.nodes import open_node
from varichain.kernels.passages import derivative, foresee_opening, keep_positions, keep_velocities
from varichain.kernels.restraints import longest_step, renew_directions
from varichain.kernels.run_records import (
    CHATTERING,
    CONTRADICTED,
    DIVERGED,
    EULER,
    FULL,
    GBS,
    JOLTED,
    LEFT,
    N_ACCOUNTS,
    OPEN,
    REACHED,
    RK45,
    SLIPPED,
    STRUCK,
    STUCK,
    TOO_SMALL,
    UNDECIDED,
)
from varichain.kernels.samples import write_sample
from varichain.kernels.tables import open_bodies, open_loops, open_rows
from varichain.kernels.velocity_jump import largest_opening

# What a call is to do.
ADVANCE, SETTLE, CHOOSE, SAMPLE = 0, 1, 2, 3

_MOST_EVENTS = 500  # between two grid points
LEAST_STEP = 1e-12  # [s]
_FASTEST = 1e12  # beyond, a velocity has lost its meaning
LARGEST_GAP = 1e-9  # [m or rad] a loop that stays further open cannot be closed
# Part of the kinetic energy that keeping loops closed may take in a step. A step that is right takes far less than a
# millionth, and no account has it. Euler's steps are so coarse by themselves.
LARGEST_JOLT = 1e-3


@fragment
def _evaluate(context, t, q, v, tau, a, powers):
    """Evaluate a node."""
    spent = derivative(context, t, q, v, tau, a)
    for i in range(N_ACCOUNTS):
        powers[i] = spent[i]


@fragment
def _renew(context, q, v, node):
    """Evaluate the present node, whose torques or forces have changed."""
    lock_all(context.table, context.restraints, context.channels, context.run)
    _evaluate(context, context.run.time, q, v, node.tau, node.a, node.powers)
    renew_directions(context.table, context.restraints, v)
    context.run.is_evaluated = 1


@routine
def first_nonfinite(v, a):
    """Index of the first freedom whose motion is not finite; -1 if all are."""
    for k in range(len(v)):
        if not (abs(v[k]) < _FASTEST and math.isfinite(a[k])):
            return k
    return -1


@fragment
def _attempt(context, t, h, q, v, node, work, is_kept):
    """A step to the next node, closed if it `is_kept`, and evaluated: (error, rules used, closure error, jolt).

    The jolt is the part of the kinetic energy that closing has taken.
    """
    method, tolerance = context.run.method, context.run.tolerance
    error, used = take_step(
        method,
        context,
        t,
        h,
        q,
        v,
        node.tau,
        node.a,
        node.bend,
        node.powers,
        tolerance,
        work,
        node.q_end,
        node.v_end,
        node.work_done,
    )
    closure, jolt = 0.0, 0.0
    if is_kept:
        closure = keep_positions(context, t + h, node.q_end, node.v_end, node.step, method == EULER)
        jolt = keep_velocities(context, node.q_end, node.v_end, node.step)
    else:
        keep_locks(context, t + h, node.q_end, node.v_end, node.step)
    _evaluate(context, t + h, node.q_end, node.v_end, node.tau_end, node.a_end, node.powers_end)
    if method == RK45:
        error = embedded_error(context, h, v, node.v_end, node.a_end, tolerance, work)
    return error, used, closure, jolt


@fragment
def _locate(context, t, h, q, v, node, work):
    """Shorten a step that passes an event to just after it; the node's end is there.

    Returns its length, closure error and jolt.

    Needs: bodies moved, rows placed.
    """
    closure, jolt, tried = 0.0, 0.0, h
    bracket = open_bracket(h, smallest_signal(context, node.q_end, node.v_end, node.a_end))
    for _ in range(MOST_TRIES):
        if is_located(bracket, t):
            break
        tried = next_try(bracket)
        _, _, closure, jolt = _attempt(context, t, tried, q, v, node, work, True)
        bracket = narrowed(bracket, tried, smallest_signal(context, node.q_end, node.v_end, node.a_end))
    if tried != bracket.late:
        _, _, closure, jolt = _attempt(context, t, bracket.late, q, v, node, work, True)
    return bracket.late, closure, jolt


@fragment
def accept(q, v, node, run, t):
    """Make the next node the present one."""
    for i in range(len(q)):
        q[i] = node.q_end[i]
    for k in range(len(v)):
        v[k] = node.v_end[k]
        node.tau[k] = node.tau_end[k]
        node.a[k] = node.a_end[k]
    for i in range(N_ACCOUNTS):
        node.powers[i] = node.powers_end[i]
        run.work[i] += node.work_done[i]
    run.time = t


@routine
def note(run, transitions, kind, i, impulse, lost):
    """Write a transition, if there is room."""
    if run.n_transitions < len(transitions):
        transition = transitions[run.n_transitions]
        transition.time = run.time
        transition.kind = kind
        transition.source = i
        transition.impulse = impulse
        transition.energy_lost = lost
        run.n_transitions += 1


@routine
def _note_struck(run, restraints, transitions):
    """Note the stops that pushed in the last impact, once; its energy is noted at the first of them."""
    lost = run.impact_lost
    for i in range(len(restraints)):
        if abs(restraints[i].impulse) > SLACK_FORCE:
            note(run, transitions, STRUCK, i, restraints[i].impulse, lost)
            lost = 0.0
        restraints[i].impulse = 0.0


@fragment
def settle(context, is_after_impact, q, v, node, transitions):
    """Impact if a stop is struck, then the modes from now on; the node is evaluated. Returns a status."""
    table, restraints, run = context.table, context.restraints, context.run
    if not is_after_impact and find_touched(table, restraints, q, v):
        collide(table, restraints, context.channels, context.motion, run, q, v, node.step, node.scratch)
        bodies, loops = open_bodies(table), open_loops(table)
        load_slip_rates(bodies, loops, v)
        allowed = allowed_opening(v)
        if largest_opening(bodies, loops, open_rows(table), allowed / OPENING) > allowed:
            return CONTRADICTED
    _note_struck(run, restraints, transitions)
    found = choose_modes(context, run.time, q, v, node.tau, node.a)
    _evaluate(context, run.time, q, v, node.tau, node.a, node.powers)
    if opening_acceleration(table, node.a) > allowed_opening(node.a):
        return CONTRADICTED
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.before > 0 and not restraint.locked:
            note(run, transitions, LEFT if restraint.before == AT_STOP else SLIPPED, i, 0.0, 0.0)
        elif restraint.locked and restraint.before <= 0 and restraint.friction > 0.0 and restraint.at == 0:
            note(run, transitions, STUCK, i, 0.0, 0.0)
    run.is_evaluated = 1
    lost = first_nonfinite(v, node.a)
    if lost >= 0:
        run.freedom = lost
        return DIVERGED
    return REACHED if found else UNDECIDED


@routine
def next_length(method, h, error, used):
    """Length that an adaptive method proposes after a step with this error."""
    error = max(error, 1e-10)
    if method == RK45:
        return h * min(5.0, max(0.2, 0.9 * error**-0.2))
    factor = 0.9 * error ** (-1.0 / (2.0 * used + 1.0))
    if error > 1.0:
        return h * min(0.7, max(0.1, factor))
    return h * min(3.0, max(0.5, factor * (1.6 if used <= 4 else (1.0 if used <= 6 else 0.7))))


@routine
def why_rejected(run, error, closure, lost):
    """Status of a run whose steps are rejected however short they are."""
    run.freedom = max(lost, 0)
    if lost >= 0:
        return DIVERGED
    if not error <= 1.0:
        return TOO_SMALL
    return JOLTED if closure <= LARGEST_GAP else OPEN


@fragment
def _step(context, target, is_kept, q, v, node, work, transitions):
    """One accepted step towards a time, or to an event before it; returns a status, REACHED if all is well.

    Needs: bodies moved, rows factored.
    """
    run = context.run
    method, t = run.method, run.time
    is_adaptive = method in (RK45, GBS)
    left = h = target - t
    limit = longest_step(context.table, context.restraints, node.a)
    if method == EULER:
        foresee_opening(context, is_kept, node.bend)
    while True:
        h = left if limit >= left else max(limit, min(left, LEAST_STEP))
        # no step so short that the rest of the way would be a sliver
        if is_adaptive and run.next_step < 0.99 * h:
            h = run.next_step if run.next_step < 0.6 * h else 0.5 * h
        error, used, closure, jolt = _attempt(context, t, h, q, v, node, work, is_kept)
        lost = first_nonfinite(node.v_end, node.a_end)
        if is_adaptive and (lost >= 0 or not error <= 1.0 or not closure <= LARGEST_GAP or jolt > LARGEST_JOLT):
            run.rejected += 1
            run.next_step = next_length(method, h, error, used) if error > 1.0 and lost < 0 else 0.25 * h
            if run.next_step < LEAST_STEP:
                return why_rejected(run, error, closure, lost)
            continue
        break
    if lost >= 0:
        run.freedom = lost
        return DIVERGED
    if is_adaptive:
        proposed = next_length(method, h, error, used)
        run.next_step = proposed if h < left or proposed < h else max(proposed, run.next_step)
    # an event within the step may be why its end is open: the step to the event is judged instead
    has_event = len(context.restraints) > 0 and smallest_signal(context, node.q_end, node.v_end, node.a_end) < 0.0
    if has_event:
        h, closure, jolt = _locate(context, t, h, q, v, node, work)
    if not closure <= LARGEST_GAP:
        return OPEN
    if jolt > LARGEST_JOLT and method != EULER:
        return JOLTED
    run.steps += 1
    if has_event:
        accept(q, v, node, run, min(t + h, target))
        run.closure = closure
        run.n_events += 1
        if run.n_events > _MOST_EVENTS:
            return CHATTERING
        return settle(context, False, q, v, node, transitions)

    accept(q, v, node, run, target if h == left else t + h)
    renew_directions(context.table, context.restraints, v)
    if is_kept:
        run.closure = closure
    return REACHED


@kernel(
    TABLE,
    RESTRAINTS,
    FORCES,
    CHANNELS,
    VECTOR,
    CONTROLS,
    LAWS,
    VECTOR,
    RUNS,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    MATRIX,
    TRANSITIONS,
    INTEGER,
    NUMBER,
    INTEGER,
)
def run(
    # layout
    table,
    # in and out: modes
    restraints,
    # in
    forces,
    channels,
    motion,
    # in and out: torques, discrete controllers and their memory
    controls,
    laws,
    memory,
    # in and out
    runs,
    q,
    v,
    # work: matrices of `node_shape` and `scratch_shape`; the first is kept between calls
    node_matrix,
    work,
    # out
    samples,
    transitions,
    # in: ADVANCE, SETTLE, CHOOSE or SAMPLE; time to reach and most steps to take
    task,
    stop,
    most_steps,
):
    """Advance to a time, or to where something needs attention: see the status in the record of the run.

    Discrete controllers are called at their ticks, before the step that begins there.
    Samples are written at every `every`-th grid point that is passed. A call that ends early may be repeated. Other
    tasks: settle this instant, with impacts at stops that are struck; choose the modes of restraints after an impact;
    write one sample of the present state. All in one kernel, for their common part takes long to compile.
    """
    run = runs[0]
    rate = 1.0 / run.step if run.method == EULER else 0.0
    context = Context(
        table, restraints, forces, channels, motion, controls, run, extra_forces(work, len(v)), rate, derivative
    )
    node = open_node(node_matrix, len(q), len(v))
    run.status = REACHED
    run.n_samples = 0
    run.n_transitions = 0
    if task in (SETTLE, CHOOSE):
        tick(laws, memory, controls, run, q, v)
        lock_all(table, restraints, channels, run)
        run.status = settle(context, task == CHOOSE, q, v, node, transitions)
        return
    if task == SAMPLE or not run.is_evaluated:
        _renew(context, q, v, node)
    if task == SAMPLE:
        write_sample(table, q, v, node.a, node.tau, run, 0, samples[0])
        return
    taken = 0
    while run.time < stop and taken < most_steps:
        tick(laws, memory, controls, run, q, v)
        if not run.is_evaluated:
            _renew(context, q, v, node)
        grid = run.start + (run.grid + 1) * run.step
        # a grid point that rounding has put a hair before or after the end is the end
        on_grid = grid <= stop + 1e-9 * run.step
        target = grid if grid < stop - 1e-9 * run.step else stop
        # Euler's steps undo what they opened in the step after; closed to rounding are those that somebody sees
        is_kept = run.method != EULER or not on_grid or target == stop or (run.grid + 1) % run.every == 0
        status = _step(context, target, is_kept, q, v, node, work, transitions)
        taken += 1
        if status != REACHED:
            run.status = status
            run.is_evaluated = 0
            return
        if run.time >= target and on_grid:
            run.grid += 1
            run.n_events = 0
            if run.grid % run.every == 0:
                write_sample(table, q, v, node.a, node.tau, run, 0, samples[run.n_samples])
                run.n_samples += 1
        if run.n_samples == len(samples) or run.n_transitions > len(transitions) - 2 * len(restraints) - 2:
            if run.time < stop:
                run.status = FULL
            return
