"""What contacts do at one instant: the impact of all that touches, then the modes from now on."""

from varichain.kernels.constraint_solve import factor_at_rest
from varichain.kernels.contact_closed import SLOW, STEADY, across, solve_problem, touching_derivative
from varichain.kernels.contact_geometry import contact_velocity, measure_contact
from varichain.kernels.contact_items import BOUNCES, new_item, write_rows, write_velocities
from varichain.kernels.contact_keeping import keep_closed_positions, keep_closed_velocities
from varichain.kernels.contact_records import APART, CONE, DRY, DRY_BALL, SLIDE, SLIPS, STICKS, STOP
from varichain.kernels.contact_rows import fill_problem, respond
from varichain.kernels.contact_signals import MOVES, RIGHT, TOUCHES, stop_gap
from varichain.kernels.contact_step import SOLVED, work_of
from varichain.kernels.impact import SLACK_FORCE, SLACK_VELOCITY, lock_all
from varichain.kernels.jit import helper, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.restraints import BALL_STOPS, measure, rub_nothing
from varichain.kernels.run_records import (
    CLOSED,
    CONTACT_ACCOUNT,
    CROWDED,
    GRIPPED,
    JAMMED,
    LEFT,
    PARTED,
    REACHED,
    SLID,
    SLIPPED,
    STRUCK,
    STUCK,
    UNDECIDED,
    UNSOLVED,
    WHOLE_BALL,
)
from varichain.kernels.running import note
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.tuples import add3, dot3, length3, load3, scale3, store3

_CLOSES = 1e-10  # [m/s or rad/s] with which something must close to have an impact
_LEAVES = 1e-8  # [m/s or rad/s] with which something must open to be apart at once
_RESTS = 1e-7  # [rad/s or m/s] A joint whose sliding has just come to rest has so little velocity left
_MOST_TURNS = 8
_BRIEF = 1e-10  # [s] for which forces press contacts that jam
_NOTHING = 1e-7  # [N s] of impulses that are those of the forces, of no jam


@routine
def free_restraints(table, restraints, channels, run):
    """Lock nothing but drives; joints that slide rub, those that are stuck do not: they are items."""
    for i in range(len(restraints)):
        restraints[i].before = restraints[i].locked
        restraints[i].locked = 0
    lock_all(table, restraints, channels, run)
    for i in range(len(restraints)):
        restraint = restraints[i]
        restraint.locked = restraint.before
        if restraint.locked:
            rub_nothing(table, restraint)


@helper
def _touched_side(restraint):
    """Which stop a joint touches: -1, 1 or 0."""
    if restraint.soft:
        return 0
    if stop_gap(restraint, -1) <= TOUCHES:
        return -1
    return 1 if stop_gap(restraint, 1) <= TOUCHES else 0


@routine
def _gather_touched(context, q, v):
    """Items of all contacts and stops that are touched; numbers of items and rows, -1 if there is no room.

    Gives: bodies moved.
    """
    contacts, restraints, items = context.contacts, context.restraints, context.problem.items
    bodies, n_items, n = open_bodies(context.table), 0, 0
    most = len(items) - 2 * len(restraints)  # stops and friction have room of their own
    move_all(q, v, bodies, open_dofs(context.table))
    measure(context.table, restraints, q, v)
    for c in range(len(contacts)):
        contact = contacts[c]
        measure_contact(bodies, contact)
        if contact.mode == APART and contact.gap > TOUCHES:
            continue
        if n_items >= most:
            return -1, -1
        item = new_item(items, n_items, CONE, c, n, 3)
        item.friction = contact.friction
        item.gap = contact.gap
        n_items += 1
        n += 3
    for i in range(len(restraints)):
        side = _touched_side(restraints[i])
        if side != 0:
            item = new_item(items, n_items, STOP, i, n, 1)
            item.side = side
            n_items += 1
            n += 1
    return n_items, n


@routine
def _aim(contacts, items, n_items, b, with_bounces):
    """Velocities that contacts open with at least; returns whether one bounces."""
    is_any = False
    for i in range(n_items):
        item = items[i]
        item.target = 0.0
        if item.kind == CONE and with_bounces and b[item.row] < -BOUNCES:
            item.target = -contacts[item.source].restitution * b[item.row]
            is_any = is_any or item.target > 0.0
    return is_any


@routine
def _enter(context, n_items, n, transitions):
    """Books and notes of an impact whose impulses have been found."""
    run, problem = context.run, context.problem
    items, x, b, u = problem.items, problem.x, problem.b, problem.u
    lost = -work_of(x, b, u, 0, n)
    for i in range(n_items):
        item = items[i]
        r = item.row
        work = work_of(x, b, u, r, r + item.n_rows)
        if item.kind == STOP:
            run.lost -= work
        else:
            run.work[CONTACT_ACCOUNT] += work
        if x[r] > SLACK_FORCE if item.kind == STOP else b[r] < -_CLOSES:
            note(run, transitions, STRUCK if item.kind == STOP else CLOSED, item.source, x[r], lost)
            lost = 0.0


@routine
def _jump(context, n, q, v, step):
    """Velocities after the impulses of the problem.

    Needs: rows factored.
    """
    respond(context.table, context.problem, n, context.problem.x, step)
    for k in range(len(v)):
        v[k] += step[k]


@routine
def _collide(context, q, v, step, transitions):
    """Impact of all that touches, if something closes; returns a status."""
    run, problem = context.run, context.problem
    contacts, items, b, x = context.contacts, problem.items, problem.b, problem.x
    n_items, n = _gather_touched(context, q, v)
    if n_items < 0:
        return CROWDED
    write_velocities(context.table, contacts, context.restraints, q, v, items, n_items, b)
    fastest, closes = 1.0, False
    for i in range(n_items):
        closes = closes or b[items[i].row] < -_CLOSES
    if not closes:
        return REACHED
    factor_at_rest(context.table)
    write_rows(context.table, contacts, context.restraints, q, problem, n_items)
    fill_problem(context.table, problem, n)
    for r in range(n):
        x[r] = 0.0
        fastest = max(fastest, abs(b[r]))
    bounces = _aim(contacts, items, n_items, b, True)
    found = solve_problem(problem, n_items, n)
    if bounces and work_of(x, b, problem.u, 0, n) > 0.0:  # Newton's restitution may give energy beside friction
        _aim(contacts, items, n_items, b, False)
        found = solve_problem(problem, n_items, n)
    if found > SOLVED * fastest:
        note(run, transitions, UNSOLVED, -1, found, 0.0)
    _enter(context, n_items, n, transitions)
    _jump(context, n, q, v, step)
    return REACHED


@routine
def _close_contact(bodies, contact):
    """Mode of a contact by its gap and velocity, as long as no forces are known.

    Needs: bodies moved.
    """
    is_closed, was_slipping = contact.mode != APART or contact.gap <= TOUCHES, contact.mode == SLIPS
    g = contact_velocity(bodies, contact)
    contact.mode = APART
    if not is_closed or dot3(load3(contact.n), g) > _LEAVES:
        return
    slip = across(contact, g)
    has_rested = was_slipping and dot3(slip, load3(contact.slip)) <= SLOW
    contact.speed = length3(slip)
    contact.mode = STICKS
    if contact.speed > 2.0 * (STEADY if has_rested else SLOW):
        contact.mode = SLIPS
        store3(contact.slip, scale3(1.0 / contact.speed, slip))


@routine
def _close_restraint(restraint):
    """Modes of a stop and of dry friction by position and rate, as long as no forces are known."""
    side = _touched_side(restraint)
    restraint.at = side if side * restraint.rate > -_LEAVES else 0
    if restraint.friction == 0.0:
        restraint.locked = 0
        return
    has_rested = restraint.slide != 0 and restraint.slide * restraint.rate <= SLACK_VELOCITY
    slowest = _RESTS if has_rested else SLOW
    if restraint.kind == WHOLE_BALL:
        slowest = 1.01 * BALL_STOPS
    restraint.locked = 1 if abs(restraint.rate) <= slowest else 0
    restraint.slide = 0 if restraint.locked else (1 if restraint.rate > 0.0 else -1)


@routine
def _close_all(context, q, v):
    """Modes of everything by positions and velocities."""
    bodies = open_bodies(context.table)
    move_all(q, v, bodies, open_dofs(context.table))
    measure(context.table, context.restraints, q, v)
    for c in range(len(context.contacts)):
        measure_contact(bodies, context.contacts[c])
        _close_contact(bodies, context.contacts[c])
    for i in range(len(context.restraints)):
        _close_restraint(context.restraints[i])


@helper
def _beginning(contact, u, r):
    """Direction in which a contact begins to slip, from the accelerations of its rows; world axes."""
    d = add3(scale3(u[r + 1], load3(contact.t_1)), scale3(u[r + 2], load3(contact.t_2)))
    return scale3(1.0 / length3(d), d)


@routine
def _open_by_forces(context):
    """Open what lifts, and let slip what does, by the accelerations of the last evaluation; whether something did."""
    run, problem = context.run, context.problem
    x, u = problem.x, problem.u
    allowed, found = MOVES * run.fastest, False
    for i in range(run.n_closed):
        item = problem.items[i]
        r = item.row
        if item.kind in (CONE, SLIDE):
            contact = context.contacts[item.source]
            if u[r] > allowed:
                contact.mode = APART
                found = True
            elif item.kind == CONE and max(abs(u[r + 1]), abs(u[r + 2])) > allowed:
                contact.mode = SLIPS
                contact.speed = 0.0
                store3(contact.slip, _beginning(contact, u, r))
                found = True
            continue
        restraint = context.restraints[item.source]
        if item.kind == STOP and u[r] > allowed:
            restraint.at = 0
            found = True
        elif item.kind == DRY and abs(u[r]) > allowed:
            restraint.locked = 0
            restraint.slide = 1 if u[r] > 0.0 else -1
            found = True
        elif item.kind == DRY_BALL and max(abs(u[r]), abs(u[r + 1]), abs(u[r + 2])) > allowed:
            f = (x[r], x[r + 1], x[r + 2])
            restraint.locked = 0
            restraint.slide = 1
            restraint.speed = 0.0
            store3(restraint.direction, scale3(-1.0 / length3(f), f))
            found = True
    return found


@routine
def _jam(context, q, v, step, transitions):
    """Impact of contacts that slip although nothing collides: no forces let them slip on [Painleve 1895].

    Forces press them for an instant; the impulses that answer are finite. Returns whether they jammed.

    Needs: rows factored.
    """
    run, problem = context.run, context.problem
    n_items, n, is_any = run.n_closed, 0, False
    for i in range(n_items):
        item = problem.items[i]
        is_any = is_any or item.kind == SLIDE
        n = item.row + item.n_rows
        if item.kind == SLIDE:
            item.kind = CONE
        if item.kind in (DRY, DRY_BALL):
            item.bound = 0.0
    if not is_any:
        return False
    for r in range(n):
        problem.b[r] = problem.start[r] + _BRIEF * problem.b[r]
        problem.x[r] = 0.0
    solve_problem(problem, n_items, n)
    for r in range(n):
        problem.b[r] = problem.start[r]
    largest = 0.0
    for r in range(n):
        largest = max(largest, abs(problem.x[r]))
    if largest < _NOTHING:
        return False
    _enter(context, n_items, n, transitions)
    note(run, transitions, JAMMED, -1, largest, -work_of(problem.x, problem.b, problem.u, 0, n))
    _jump(context, n, q, v, step)
    return True


@routine
def _note_changes(context, transitions, modes):
    """Note what changed its mode, but for contacts that closed with an impact, which are noted."""
    run = context.run
    for c in range(len(context.contacts)):
        before, now = int(modes[c]), context.contacts[c].mode
        if before != APART and now == APART:
            note(run, transitions, PARTED, c, 0.0, 0.0)
        elif before == SLIPS and now == STICKS:
            note(run, transitions, GRIPPED, c, 0.0, 0.0)
        elif before == STICKS and now == SLIPS:
            note(run, transitions, SLID, c, 0.0, 0.0)
    first = len(context.contacts)
    for i in range(len(context.restraints)):
        restraint = context.restraints[i]
        was_at, was_stuck = modes[first + 2 * i] != 0.0, modes[first + 2 * i + 1] != 0.0
        if was_at and restraint.at == 0:
            note(run, transitions, LEFT, i, 0.0, 0.0)
        if restraint.locked and not was_stuck and restraint.at == 0:
            note(run, transitions, STUCK, i, 0.0, 0.0)
        elif was_stuck and not restraint.locked and not was_at:
            note(run, transitions, SLIPPED, i, 0.0, 0.0)


@routine
def _keep_modes(context, modes):
    for c in range(len(context.contacts)):
        modes[c] = context.contacts[c].mode
    first = len(context.contacts)
    for i in range(len(context.restraints)):
        modes[first + 2 * i] = context.restraints[i].at
        modes[first + 2 * i + 1] = context.restraints[i].locked


@routine
def keep_forces(context):
    """Remember the forces of the last evaluation."""
    problem, contacts = context.problem, context.contacts
    for c in range(len(contacts)):
        for j in range(3):
            contacts[c].force[j] = 0.0
    for i in range(context.run.n_closed):
        item = problem.items[i]
        if item.kind in (CONE, SLIDE):
            for j in range(3):
                contacts[item.source].force[j] = problem.x[item.row + j]


@routine
def settle_contacts(context, q, v, tau, a, powers, step, modes, transitions):
    """Impact if something closes, then the modes from now on; the node is evaluated. Returns a status.

    `modes` (contacts, and two for each restraint) is overwritten.
    """
    run = context.run
    _keep_modes(context, modes)
    status = _collide(context, q, v, step, transitions)
    if status != REACHED:
        return status
    has_jammed = False
    _close_all(context, q, v)
    for _ in range(_MOST_TURNS):
        free_restraints(context.table, context.restraints, context.channels, run)
        keep_closed_positions(context, run.time, q, v, step)
        keep_closed_velocities(context, q, v, step)
        spent = touching_derivative(context, run.time, q, v, tau, a)
        if run.residual > RIGHT:
            if has_jammed or not _jam(context, q, v, step, transitions):
                return UNDECIDED
            has_jammed = True
            _close_all(context, q, v)
            continue
        if _open_by_forces(context):
            continue
        for i in range(len(powers)):
            powers[i] = spent[i]
        keep_forces(context)
        run.is_evaluated = 1
        _note_changes(context, transitions, modes)
        return REACHED
    return UNDECIDED
