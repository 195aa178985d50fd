"""Steps with contact in parts: one that leaves a loop open, or is too coarse for what moves fast, is divided.

A step is right if its books balance: the energy that it changes is the work that its forces do. Time stepping is of
first order, so that what spins fast after an impact loses energy that no account has; and what it moves into a surface
must be lifted out again.
"""

from varichain.kernels.contact_step import contact_step
from varichain.kernels.jit import helper, routine
from varichain.kernels.kinematics import move_placed, place_all
from varichain.kernels.run_records import N_ACCOUNTS, OPEN, REACHED
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.totals import energies
from varichain.kernels.tuples import length3, linear, load6

# A step is too coarse if its energy is off by more than a part of the energy of motion, and than what lifts everything
# by so much [m]; or if moving out what is too deep after it gives more than what lifts everything by so much [m]. Then
# it is taken in parts, of which each may be off by its part of that, down to the smallest part.
_OFF, _LIFT, _LIFTED, _ROUNDING, _FINEST = 5e-3, 1e-3, 1e-5, 1e-8, 1.0 / 16.0
_SHORTEST = 1.0 / 256.0  # part of a step in which a loop that is nearly stretched passes


@routine
def _books_of(table, run, q, v):
    """Energy that no account has yet, which a right step keeps; and that of motion [J].

    Needs: bodies moved.
    """
    kinetic, gravitational, elastic = energies(table, q, v)
    total = kinetic + gravitational + elastic + run.lost
    for i in range(N_ACCOUNTS):
        total -= run.work[i]
    return total, kinetic


@helper
def _weight(bodies):
    """Weight of everything [N]."""
    mass = 0.0
    for b in range(1, len(bodies)):
        mass += bodies[b].mass
    return mass * length3(linear(load6(bodies[0].A)))


@helper
def _keep_start(run, q, v, scratch):
    """Remember where a step begins, and the books there."""
    for i in range(len(q)):
        scratch.q_start[i] = q[i]
    for k in range(len(v)):
        scratch.v_start[k] = v[k]
    for i in range(N_ACCOUNTS):
        scratch.work_start[i] = run.work[i]
    scratch.work_start[N_ACCOUNTS] = run.lost


@helper
def _go_back(run, q, v, scratch):
    """Go back to where the step begins."""
    for i in range(len(q)):
        q[i] = scratch.q_start[i]
    for k in range(len(v)):
        v[k] = scratch.v_start[k]
    for i in range(N_ACCOUNTS):
        run.work[i] = scratch.work_start[i]
    run.lost = scratch.work_start[N_ACCOUNTS]


@routine
def divided_step(context, contacts, problem, h, q, v, node, scratch):
    """A step of length h, or of half of it, and so on, until it keeps loops closed and is not too coarse.

    q and v are moved in place. Returns a status, the length of the step, and the residual of the impulses. The forces
    of a step that was too long are the guess for the next.

    Needs: bodies placed.
    """
    table, run = context.table, context.run
    bodies, dofs = open_bodies(table), open_dofs(table)
    shortest = _SHORTEST * h
    _keep_start(run, q, v, scratch)
    move_placed(v, bodies)
    before, fast = _books_of(table, run, q, v)
    while True:
        status, found, gained = contact_step(context, contacts, problem, h, q, v, node, scratch)
        is_coarse = False
        if status == REACHED and h > _FINEST * run.step:
            move_placed(v, bodies)
            after, faster = _books_of(table, run, q, v)
            off, weight = abs(after - before) * run.step / h, _weight(bodies)
            is_coarse = off > _OFF * max(fast, faster) and off > _LIFT * weight + _ROUNDING
            is_coarse = is_coarse or gained > _LIFTED * weight + _ROUNDING
        if not (is_coarse or (status == OPEN and h > shortest)):
            return status, h, found
        _go_back(run, q, v, scratch)
        place_all(q, bodies, dofs)
        h *= 0.5
