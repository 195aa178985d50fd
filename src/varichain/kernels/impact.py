"""The impact of an instant: of everything that is joined, pushed, driven or at a stop.

Which of the touched stops push is a complementarity problem: a stop pushes and never pulls. It is solved by pivoting:
all violated choices are turned over at once as long as that helps, then the first alone, which always ends where the
rows are independent [Judice and Pires 1994].
"""

import math

from varichain.kernels.controls import drive, lock_drives
from varichain.kernels.couplings import load_slip_rates
from varichain.kernels.forward_dynamics import forced_motion
from varichain.kernels.jit import CHANNELS, MATRIX, RESTRAINTS, RUNS, TABLE, VECTOR, fragment, kernel, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.loop_wrenches import gather_wrenches
from varichain.kernels.pivots import massless_freedom
from varichain.kernels.restraints import BALL_STOPS, aim_locks, along, apply_modes, bring_to_rest, measure, reaction_of
from varichain.kernels.run_records import WHOLE_BALL
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers, open_rows
from varichain.kernels.totals import kinetic_energy
from varichain.kernels.tuples import ZERO6, add6, load6, store6
from varichain.kernels.velocity_jump import jump, largest_opening

# Slack before something counts as an event: positions [rad, m], velocities, forces. What is beyond is seen to be.
SLACK_POSITION, SLACK_VELOCITY, SLACK_FORCE = 1e-12, 1e-11, 1e-10
# Velocity [rad/s or m/s] with which a stop is left, or friction let go, after an impact; slower, it is not. Positions
# are resolved to the slack: what falls through that at 1000 m/s^2 has half of this.
AT_REST = 1e-4
TURN_ALL, MOST_TURNS = 10, 400
# What has locked a freedom before an event; AT_REST_BEFORE if it rests in a state that no run has given modes.
AT_REST_BEFORE, FREE_BEFORE, BY_FRICTION, AT_STOP = -1, 0, 1, 2


@routine
def lock_all(table, restraints, channels, run):
    """Lock freedoms by the modes of their restraints, and all driven freedoms."""
    bodies, dofs = open_bodies(table), open_dofs(table)
    apply_modes(table, restraints)
    lock_drives(channels, run, bodies, dofs)


@routine
def release_all(bodies, dofs):
    """Release all freedoms."""
    for b in range(1, len(bodies)):
        bodies[b].locked = 0
        bodies[b].turned = 0
    for k in range(len(dofs)):
        dofs[k].lock = 0
        dofs[k].slide = 0.0
        dofs[k].forced = 0.0


@routine
def find_touched(table, restraints, q, v):
    """Mark the stops that are touched, and bring sliding that has come to rest to zero; returns whether one is struck.

    A restraint that was locked remembers by what.

    Gives: bodies moved.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    move_all(q, v, bodies, dofs)
    measure(table, restraints, q, v)
    struck, has_rested = False, False
    for i in range(len(restraints)):
        restraint = restraints[i]
        restraint.before = FREE_BEFORE
        restraint.resting = 0
        if restraint.locked:
            restraint.before = AT_STOP if restraint.at != 0 else BY_FRICTION
            continue
        if restraint.friction > 0.0 and restraint.slide == 0 and restraint.rate == 0.0:
            restraint.before = AT_REST_BEFORE
        if restraint.friction > 0.0 and restraint.slide != 0 and restraint.slide * restraint.rate <= SLACK_VELOCITY:
            restraint.resting = 1
            has_rested = True
            bring_to_rest(restraint, v)
        if restraint.kind == WHOLE_BALL:  # one that slides in another direction now is not at rest
            restraint.resting = 1 if restraint.x <= 1.01 * BALL_STOPS and restraint.speed > BALL_STOPS else 0
        if restraint.soft or not (restraint.lower > -math.inf or restraint.upper < math.inf):
            continue
        restraint.at = 0
        if restraint.x <= restraint.lower + SLACK_POSITION:
            restraint.at = -1
        elif restraint.x >= restraint.upper - SLACK_POSITION:
            restraint.at = 1
        if restraint.at * restraint.rate > SLACK_VELOCITY:
            struck = True
    if has_rested:
        move_all(q, v, bodies, dofs)
    return struck


@fragment
def _jump_with_locks(table, restraints, q, v, dv):
    """Velocity jump with the locked freedoms brought to rest, or to their motion's velocity.

    Needs: bodies moved.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked and restraint.kind == WHOLE_BALL and restraint.loop < 0:
            for j in range(3):
                dofs[restraint.dof + j].forced = -v[restraint.dof + j]
        elif restraint.locked and restraint.loop < 0:
            dofs[restraint.dof].forced = -along(restraint, q, v)
    store6(bodies[0].forced, ZERO6)
    for b in range(1, len(bodies)):
        body = bodies[b]
        motion = load6(bodies[body.parent].forced)
        if body.locked:
            motion = add6(motion, forced_motion(body, dofs))
        store6(body.forced, motion)
    jump(table, v, dv)
    for b in range(1, len(bodies)):
        body = bodies[b]
        store6(body.forced, ZERO6)
        if body.locked:
            k = body.dof
            for j in range(body.n_dof):
                if dofs[k + j].lock:
                    if body.turned:
                        E = body.basis
                        dv[k] += E[j] * dofs[k + j].forced
                        dv[k + 1] += E[3 + j] * dofs[k + j].forced
                        dv[k + 2] += E[6 + j] * dofs[k + j].forced
                    else:
                        dv[k + j] += dofs[k + j].forced


@fragment
def _load_drive_jumps(dofs, channels, motion, run, q, v, dv, work):
    """Jumps that bring driven freedoms to their motion's velocity; dv (n_v) and `work` (n_q + n_v) are overwritten."""
    there, then = work[: len(q)], work[len(q) : len(q) + len(v)]
    drive(channels, motion, run, run.time, there, then, dv)
    for k in range(len(dofs)):
        if dofs[k].lock:
            dofs[k].forced = then[k] - v[k]


@routine
def _solve_jump(table, restraints, channels, motion, run, is_moved, q, v, dv, work):
    """Velocity jump for the present choice of locks; bodies and restraints then have the velocities after it.

    `is_moved` if the bodies have the velocities before it, and no lock has come or gone since they were moved.

    Gives: bodies moved.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    lock_all(table, restraints, channels, run)
    if run.n_drives > 0:
        _load_drive_jumps(dofs, channels, motion, run, q, v, dv, work)
    aim_locks(restraints, bodies, dofs, q, v)
    if not is_moved:
        move_all(q, v, bodies, dofs)
    _jump_with_locks(table, restraints, q, v, dv)
    after = work[: len(v)]
    for k in range(len(v)):
        after[k] = v[k] + dv[k]
    move_all(q, after, bodies, dofs)
    measure(table, restraints, q, after)


@routine
def _let_rest(restraints):
    """Lock restraints that would leave their stop, or start to slide, too slowly to count; returns whether one does.

    Stops that push each other off by turns come to rest only in the limit of ever smaller impacts, and so does friction
    that every one of them sets sliding.
    """
    found = False
    for i in range(len(restraints)):
        restraint = restraints[i]
        if restraint.locked:
            continue
        if restraint.at != 0:
            stays = restraint.at * restraint.rate > -AT_REST
        else:
            stays = restraint.before in (BY_FRICTION, AT_REST_BEFORE) and abs(restraint.rate) < AT_REST
        if stays:
            restraint.locked = 1
            found = True
    return found


@routine
def collide(table, restraints, channels, motion, run, q, v, dv, work):
    """Impact of everything that is joined, touched, pushed or driven; v in place, dv and `work` are overwritten.

    Friction is finite and gives no impulse. Stops push: which of those touched do is found by pivoting. `find_touched`
    must have marked and measured them. Returns the kinetic energies before and after; the run's books take their
    difference.

    Needs: bodies moved.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    energy_before = kinetic_energy(bodies, dofs, v)
    is_apart, is_moved = True, True  # no restraint is touched or was at rest; none is locked or was
    for i in range(len(restraints)):
        restraint = restraints[i]
        restraint.impulse = 0.0
        restraint.locked = 1 if restraint.at != 0 and restraint.at * restraint.rate > -SLACK_VELOCITY else 0
        if restraint.at != 0 or restraint.before != FREE_BEFORE:
            is_apart = False
        if restraint.locked or restraint.before > 0:
            is_moved = False
    if is_apart:
        restraints = restraints[:0]
    for turn in range(MOST_TURNS):
        _solve_jump(table, restraints, channels, motion, run, is_moved and turn == 0, q, v, dv, work)
        turned = False
        for i in range(len(restraints)):
            restraint = restraints[i]
            if restraint.at == 0 or (turned and turn >= TURN_ALL):
                continue
            if restraint.locked:
                restraint.impulse = reaction_of(table, restraint)
                wrong = restraint.at * restraint.impulse > SLACK_FORCE
            else:
                restraint.impulse = 0.0
                wrong = restraint.at * restraint.rate > SLACK_VELOCITY
            if wrong:
                restraint.locked = 1 - restraint.locked
                turned = True
        if not turned:
            break
    if _let_rest(restraints):
        _solve_jump(table, restraints, channels, motion, run, False, q, v, dv, work)
        for i in range(len(restraints)):
            if restraints[i].locked and restraints[i].at != 0:
                restraints[i].impulse = reaction_of(table, restraints[i])
    for k in range(len(v)):
        v[k] += dv[k]
    energy_after = kinetic_energy(bodies, dofs, v)
    run.impact_lost = energy_before - energy_after
    run.lost += run.impact_lost
    return energy_before, energy_after


@kernel(TABLE, RESTRAINTS, CHANNELS, VECTOR, RUNS, VECTOR, VECTOR, VECTOR, VECTOR, VECTOR, MATRIX)
def impact(
    # layout
    table,
    # in and out: modes
    restraints,
    # in
    channels,
    motion,
    # in and out: energy lost
    runs,
    # in
    q,
    # in and out
    v,
    # out
    dv_out,
    # work (n_q + n_v)
    work,
    # out: impulses of the rows (n_rows) and of the first loops (n, 6)
    rows_out,
    wrenches_out,
):
    """Impact of the loops, of pushes on bodies, of drives and of touched stops, with its books [NY, (25)-(38)].

    A loop with restitution opens afterwards with that part of the velocity that it closed with. Pushes are the bodies'
    wrenches, which are cleared; nothing stays locked in the workspace, which others may share. Returns a freedom that
    moves no inertia, -1 if there is none; the number of rows that depend on others; kinetic energies before and after;
    and the largest velocity that a loop still opens with, as a part of the fastest.
    """
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    multipliers = open_multipliers(table)
    find_touched(table, restraints, q, v)
    fastest = 1.0
    for k in range(len(v)):
        fastest = max(fastest, abs(v[k]))
    energy_before, energy_after = collide(table, restraints, channels, motion, runs[0], q, v, dv_out, work)
    n_dependent = 0
    for r in range(len(rows)):
        rows_out[r] = multipliers[r]
        if not rows[r].kept and not rows[r].is_open:
            n_dependent += 1
    gather_wrenches(loops, rows, multipliers, wrenches_out)
    massless = massless_freedom(table)
    load_slip_rates(bodies, loops, v)
    opening = largest_opening(bodies, loops, rows, fastest) / fastest
    for b in range(len(bodies)):
        store6(bodies[b].wrench, ZERO6)
    release_all(bodies, open_dofs(table))
    return massless, n_dependent, energy_before, energy_after, opening
