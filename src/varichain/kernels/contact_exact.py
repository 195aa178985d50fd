"""Whole stretches of a simulation with contacts that close, open, stick and slip at instants that are located.

As `running` for stops and friction alone: time runs on a grid, events lie between grid points. Steps are those of the
method that was asked for; between events contacts are part of the derivative (`contact_closed`), at events their modes
are chosen (`contact_settle`). Where events come without end, or no forces agree with the modes, the run is given up
here and goes on by time stepping.
"""

from varichain.kernels.contact_closed import TouchingContext, touching_derivative
from varichain.kernels.contact_geometry import contact_force
from varichain.kernels.contact_keeping import keep_closed_positions, keep_closed_velocities
from varichain.kernels.contact_records import ITEMS, PAIRS_OF_CONTACT
from varichain.kernels.contact_rows import open_problem
from varichain.kernels.contact_settle import free_restraints, keep_forces, settle_contacts
from varichain.kernels.contact_signals import contact_signal, longest_slip, renew_slips
from varichain.kernels.couplings import count_loops
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
from varichain.kernels.methods import embedded_error, extra_forces, take_explicit_step
from varichain.kernels.nodes import open_node
from varichain.kernels.restraints import longest_step, renew_directions
from varichain.kernels.run_records import (
    CHATTERING,
    CROWDED,
    DIVERGED,
    EULER,
    FULL,
    GBS,
    GIVEN_UP,
    HANDED_OVER,
    JOLTED,
    N_ACCOUNTS,
    OPEN,
    REACHED,
    RK45,
    TOO_SMALL,
    UNDECIDED,
)
from varichain.kernels.running import (
    LARGEST_GAP,
    LARGEST_JOLT,
    LEAST_STEP,
    SAMPLE,
    accept,
    first_nonfinite,
    next_length,
    note,
    why_rejected,
)
from varichain.kernels.samples import open_sample, sample_widths, write_sample
from varichain.kernels.tables import open_loops
from varichain.kernels.tuples import store3

_MOST_EVENTS = 50  # between two grid points


@routine
def _evaluate(context, t, q, v, tau, a, powers):
    """Evaluate a node."""
    spent = touching_derivative(context, t, q, v, tau, a)
    for i in range(N_ACCOUNTS):
        powers[i] = spent[i]


@fragment
def _renew(context, q, v, node):
    """Evaluate the present node from the guess that it was found from, or whose torques or forces have changed."""
    free_restraints(context.table, context.restraints, context.channels, context.run)
    _evaluate(context, context.run.time, q, v, node.tau, node.a, node.powers)
    keep_forces(context)
    renew_directions(context.table, context.restraints, v)
    context.run.is_evaluated = 1


@routine
def _attempt(context, t, h, q, v, node, work):
    """A step to the next node, which is closed and evaluated: (error, rules used, closure error, jolt)."""
    method, tolerance = context.run.method, context.run.tolerance
    q_end, v_end = node.q_end, node.v_end
    error, used = take_explicit_step(
        method, context, t, h, q, v, node.a, node.bend, node.powers, tolerance, work, q_end, v_end, node.work_done
    )
    closure = keep_closed_positions(context, t + h, q_end, v_end, node.step)
    jolt = keep_closed_velocities(context, q_end, v_end, node.step)
    _evaluate(context, t + h, q_end, v_end, node.tau_end, node.a_end, node.powers_end)
    if method == RK45:
        error = embedded_error(context, h, v, v_end, node.a_end, tolerance, work)
    return error, used, closure, jolt


@routine
def _locate(context, t, h, q, v, node, work):
    """Shorten a step that passes an event to just after it; returns its length, closure error and jolt.

    Needs: bodies moved, rows placed.
    """
    closure, jolt, tried = 0.0, 0.0, h
    bracket = open_bracket(h, contact_signal(context, node.q_end, node.v_end))
    for _ in range(MOST_TRIES):
        if is_located(bracket, t):
            break
        tried = next_try(bracket)
        _, _, closure, jolt = _attempt(context, t, tried, q, v, node, work)
        bracket = narrowed(bracket, tried, contact_signal(context, node.q_end, node.v_end))
    if tried != bracket.late:
        _, _, closure, jolt = _attempt(context, t, bracket.late, q, v, node, work)
    return bracket.late, closure, jolt


@routine
def _guess_again(contacts):
    """Let the next evaluations begin at the forces of this node."""
    for c in range(len(contacts)):
        for j in range(3):
            contacts[c].guess[j] = contacts[c].force[j]


@fragment
def _settle(context, q, v, node, modes, transitions):
    """What happens at this instant; returns a status."""
    _guess_again(context.contacts)
    status = settle_contacts(context, q, v, node.tau, node.a, node.powers, node.step, modes, transitions)
    lost = first_nonfinite(v, node.a)
    if status == REACHED and lost >= 0:
        context.run.freedom = lost
        return DIVERGED
    context.run.is_unsettled = 1 if status == CROWDED else 0
    return status


@fragment
def _step(context, target, q, v, node, work, modes, transitions):
    """One accepted step towards a time, or to an event before it; returns a status, REACHED if all is well.

    Needs: bodies moved, rows factored.
    """
    run = context.run
    method, t = run.method, run.time
    is_adaptive = method in (RK45, GBS)
    left = h = target - t
    limit = min(longest_slip(context), longest_step(context.table, context.restraints, node.a))
    _guess_again(context.contacts)
    while True:
        h = left if limit >= left else max(limit, min(left, LEAST_STEP))
        # no step so short that the rest of the way would be a sliver
        if is_adaptive and run.next_step < 0.99 * h:
            h = run.next_step if run.next_step < 0.6 * h else 0.5 * h
        error, used, closure, jolt = _attempt(context, t, h, q, v, node, work)
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
    has_event = contact_signal(context, node.q_end, node.v_end) < 0.0
    if has_event:
        h, closure, jolt = _locate(context, t, h, q, v, node, work)
    if not closure <= LARGEST_GAP:
        return OPEN
    if jolt > LARGEST_JOLT and method != EULER:
        return JOLTED
    run.steps += 1
    accept(q, v, node, run, min(t + h, target) if has_event else (target if h == left else t + h))
    keep_forces(context)
    renew_slips(context)
    renew_directions(context.table, context.restraints, v)
    run.closure = closure
    if not has_event:
        return REACHED
    run.n_events += 1
    if run.n_events > _MOST_EVENTS:
        return CHATTERING
    return _settle(context, q, v, node, modes, transitions)


@routine
def _write_sample(context, q, v, node, row_out):
    """A sample of the state that was evaluated last, with its contacts.

    Needs: bodies moved, rows placed.
    """
    contacts = context.contacts
    write_sample(context.table, q, v, node.a, node.tau, context.run, len(contacts), row_out)
    n_loops, n_couplings = count_loops(open_loops(context.table))
    sample = open_sample(row_out, sample_widths(len(q), len(v), n_loops, n_couplings, len(contacts), 0))
    for c in range(len(contacts)):
        store3(sample.contact_forces[3 * c : 3 * c + 3], contact_force(contacts[c]))
        sample.contact_modes[c] = contacts[c].mode


@routine
def _judge(run, status, transitions):
    """Status of a call: what time stepping can go on from is given up, and noted."""
    if status in (CHATTERING, UNDECIDED, TOO_SMALL):
        note(run, transitions, HANDED_OVER, status, 0.0, 0.0)
        return GIVEN_UP
    return status


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
    PAIRS_OF_CONTACT,
    ITEMS,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    VECTOR,
    VECTOR,
    INTEGER,
    NUMBER,
    INTEGER,
)
def run_exact(
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
    # in and out: modes and forces
    contacts,
    # work: a contact problem, forces of loops, modes before an event
    items,
    E,
    W,
    G,
    J,
    vectors,
    loop_forces,
    modes,
    # in: a task; time to reach and most steps to take
    task,
    stop,
    most_steps,
):
    """Advance to a time in steps of the method, as `run` does, with contacts; see the status in the run's record.

    Other tasks, as there: settle this instant (SETTLE, CHOOSE), write one sample (SAMPLE).
    """
    run = runs[0]
    n_v = len(v)
    node = open_node(node_matrix, len(q), n_v)
    problem = open_problem(items, E, W, G, J, vectors)
    context = TouchingContext(
        table,
        restraints,
        forces,
        channels,
        motion,
        controls,
        run,
        extra_forces(work, n_v),
        0.0,
        touching_derivative,
        contacts,
        problem,
        node.scratch[:n_v],
        node.scratch[n_v : 2 * n_v],
        loop_forces,
    )
    run.status = REACHED
    run.n_samples = 0
    run.n_transitions = 0
    if task == SAMPLE:
        _renew(context, q, v, node)
        _write_sample(context, q, v, node, samples[0])
        return
    if task != 0 or run.is_unsettled:
        tick(laws, memory, controls, run, q, v)
        free_restraints(table, restraints, channels, run)
        run.status = _judge(run, _settle(context, q, v, node, modes, transitions), transitions)
        if task != 0 or run.status != REACHED:
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
        status = _judge(run, _step(context, target, q, v, node, work, modes, transitions), transitions)
        taken += 1
        if status != REACHED:
            run.status = status
            run.is_evaluated = 0
            return
        if run.time >= target and on_grid:
            run.grid += 1
            run.n_events = 0
            if run.grid % run.every == 0:
                _write_sample(context, q, v, node, samples[run.n_samples])
                run.n_samples += 1
        room = 2 * len(restraints) + 2 * len(contacts) + 2
        if run.n_samples == len(samples) or run.n_transitions > len(transitions) - room:
            if run.time < stop:
                run.status = FULL
            return
