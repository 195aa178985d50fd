"""Whole stretches of a simulation with contacts in one call: steps along the grid of time, samples."""

from typing import Any, NamedTuple

from varichain.kernels.constraint_solve import factor_at_rest
from varichain.kernels.contact_geometry import contact_force, contact_moment
from varichain.kernels.contact_items import gather_all, write_rows
from varichain.kernels.contact_overlap import EQUAL, FAVOUR, find_overlaps
from varichain.kernels.contact_parts import divided_step
from varichain.kernels.contact_records import ITEMS, PAIRS_OF_CONTACT
from varichain.kernels.contact_rows import fill_problem, open_problem
from varichain.kernels.contact_step import (
    DEEP,
    SOLVED,
    close_contacts,
    keep_forces,
    measure_all,
    restore_forces,
    solve_step,
)
from varichain.kernels.context import Context
from varichain.kernels.couplings import count_loops
from varichain.kernels.impact import lock_all
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
    helper,
    kernel,
    routine,
)
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.laws import tick
from varichain.kernels.loops import place_rows
from varichain.kernels.methods import extra_forces, open_scratch
from varichain.kernels.nodes import open_node
from varichain.kernels.passages import derivative
from varichain.kernels.restraints import rub_nothing
from varichain.kernels.run_records import CROWDED, FULL, REACHED, UNSOLVED
from varichain.kernels.running import SAMPLE
from varichain.kernels.samples import open_sample, sample_widths, write_sample
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import store3

# A task beside those of `running`: move links that are in surfaces out of them.
SEPARATE = 4
_MOST_SEPARATIONS = 20


class Room(NamedTuple):
    """Working memory of a step with contact between its nodes."""

    rates: Any  # damping and stiffness of joints and controllers
    v: Any
    u: Any
    tau: Any  # forces of locks in the last step
    loops: Any  # and of loops
    q_start: Any  # where the step begins
    v_start: Any
    work_start: Any  # accounts there, and energy lost


@routine
def _release_restraints(table, restraints, channels, run):
    """Lock nothing but drives, and let no joint rub by itself: stops and dry friction are items of every step."""
    for i in range(len(restraints)):
        restraints[i].locked = 0
        restraints[i].slide = 0
        restraints[i].at = 0
    lock_all(table, restraints, channels, run)
    for i in range(len(restraints)):
        if restraints[i].friction > 0.0:
            rub_nothing(table, restraints[i])


@helper
def _place_start(table, contacts, q, favour):
    """Gaps where a step begins, with a favour of faces over edges."""
    bodies = open_bodies(table)
    place_all(q, bodies, open_dofs(table))
    find_overlaps(bodies, contacts, favour)
    measure_all(bodies, contacts)


@helper
def _count_moments(contacts):
    """Number of contacts that samples have moments of: all, if one may have torsional or rolling friction."""
    for c in range(len(contacts)):
        if contacts[c].torsional > 0.0 or contacts[c].rolling > 0.0:
            return len(contacts)
    return 0


@routine
def _write_sample(context, contacts, room, q, v, node, row_out):
    """A sample of the present state, with the forces of the last step."""
    table = context.table
    bodies, loops = open_bodies(table), open_loops(table)
    move_all(q, v, bodies, open_dofs(table))
    place_rows(bodies, loops, open_rows(table))
    restore_forces(table, room)
    n_loops, n_couplings = count_loops(loops)
    write_sample(table, q, v, node.a, node.tau, context.run, len(contacts), row_out)
    n_moments = _count_moments(contacts)
    sample = open_sample(row_out, sample_widths(len(q), len(v), n_loops, n_couplings, len(contacts), n_moments))
    for c in range(len(contacts)):
        store3(sample.contact_forces[3 * c : 3 * c + 3], contact_force(contacts[c]))
        sample.contact_modes[c] = contacts[c].mode
    for c in range(n_moments):
        store3(sample.contact_moments[3 * c : 3 * c + 3], contact_moment(contacts[c]))


@routine
def _note_unsolved(run, transitions, found):
    """Note a residual that is worth a word, if there is room."""
    if found > SOLVED and run.n_transitions < len(transitions):
        transition = transitions[run.n_transitions]
        transition.time = run.time
        transition.kind = UNSOLVED
        transition.source = -1
        transition.impulse = found
        transition.energy_lost = 0.0
        run.n_transitions += 1


@fragment
def _evaluate(context, contacts, problem, q, v, node, room):
    """Forces at this instant, as in a step from here; nothing moves. Returns a status."""
    h = context.run.step
    _place_start(context.table, contacts, q, FAVOUR)
    n_items, _, _, _, _ = solve_step(context, contacts, problem, h, q, v, node, room)
    if n_items < 0:
        return CROWDED
    keep_forces(contacts, context.restraints, h, problem.items, n_items, problem.x, problem.u)
    _place_start(context.table, contacts, q, FAVOUR)
    context.run.is_evaluated = 1
    return REACHED


@fragment
def _separate(context, contacts, problem, q, v, node):
    """Move links out of surfaces, and joints to their stops; returns a status."""
    table, h = context.table, context.run.step
    for count in range(_MOST_SEPARATIONS):
        move_all(q, v, open_bodies(table), open_dofs(table))
        find_overlaps(open_bodies(table), contacts, EQUAL)
        measure_all(open_bodies(table), contacts)
        n_items, n = gather_all(table, contacts, context.restraints, h, q, v, problem)
        if n_items < 0:
            return CROWDED
        factor_at_rest(table)
        write_rows(table, contacts, context.restraints, q, problem, n_items)
        fill_problem(table, problem, n)
        _, deepest = close_contacts(context, contacts, problem, n_items, n, context.run.time, q, v, node.step)
        if deepest <= DEEP and count > 0:
            break
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
    PAIRS_OF_CONTACT,
    ITEMS,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    MATRIX,
    VECTOR,
    INTEGER,
    NUMBER,
    INTEGER,
)
def run_contacts(
    # layout
    table,
    # in and out: memory of dry friction
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
    # work: matrices of `node_shape` and `scratch_shape`; both are kept between calls
    node_matrix,
    work,
    # out
    samples,
    transitions,
    # in and out: modes and forces
    contacts,
    # work: a contact problem, and forces of loops, which are kept between calls
    items,
    E,
    W,
    G,
    J,
    vectors,
    loop_forces,
    # in: a task; time to reach and most steps to take
    task,
    stop,
    most_steps,
):
    """Advance to a time in steps along the grid, as `run` does, with contacts; see the status in the run's record.

    Nothing is located: contacts close and open, stops are reached and joints stick within steps. Other tasks: find the
    forces of this instant (SETTLE, CHOOSE), write one sample (SAMPLE), move links out of surfaces (SEPARATE).
    """
    run = runs[0]
    extra = extra_forces(work, len(v))
    context = Context(table, restraints, forces, channels, motion, controls, run, extra, 0.0, derivative)
    node = open_node(node_matrix, len(q), len(v))
    scratch = open_scratch(work, len(q), len(v))
    start = scratch.rules  # of another method
    room = Room(scratch.rates, scratch.v, scratch.u, scratch.tau, loop_forces, start[0], start[1], start[2])
    problem = open_problem(items, E, W, G, J, vectors)
    run.status = REACHED
    run.n_samples = 0
    run.n_transitions = 0
    _release_restraints(table, restraints, channels, run)
    if task == SEPARATE:
        run.status = _separate(context, contacts, problem, q, v, node)
        return
    if task != 0:
        if task != SAMPLE:
            tick(laws, memory, controls, run, q, v)
        if task != SAMPLE or not run.is_evaluated:
            run.status = _evaluate(context, contacts, problem, q, v, node, room)
        if task == SAMPLE and run.status == REACHED:
            _write_sample(context, contacts, room, q, v, node, samples[0])
        return
    _place_start(table, contacts, q, FAVOUR)
    taken = 0
    while run.time < stop and taken < most_steps:
        tick(laws, memory, controls, run, q, v)
        grid = run.start + (run.grid + 1) * run.step
        # a grid point that rounding has put a hair before or after the end is the end
        on_grid = grid <= stop + 1e-9 * run.step
        target = grid if grid < stop - 1e-9 * run.step else stop
        whole = target - run.time
        status, h, found = divided_step(context, contacts, problem, whole, q, v, node, room)
        if status != REACHED:
            run.status = status
            run.is_evaluated = 0
            return
        taken += 1
        run.steps += 1
        run.time = target if h == whole else run.time + h
        run.is_evaluated = 1
        _note_unsolved(run, transitions, found)
        if on_grid and h == whole:
            run.grid += 1
            if run.grid % run.every == 0:
                _write_sample(context, contacts, room, q, v, node, samples[run.n_samples])
                run.n_samples += 1
        if run.n_samples == len(samples) or run.n_transitions == len(transitions):
            if run.time < stop:
                run.status = FULL
            return


@kernel(TABLE, VECTOR, PAIRS_OF_CONTACT)
def contact_gaps(
    # layout
    table,
    # in
    q,
    # in and out: gaps, directions and points
    contacts,
):
    """Gaps of all contacts, negative where a link is in a surface."""
    _place_start(table, contacts, q, EQUAL)
