"""What happens at an instant: stops are hit and let go, friction sticks and slips, connections strike.

Both questions, which freedoms are held after an impact and which go on being held, are complementarity problems: a
stop pushes and never pulls, friction holds up to its bound. They are solved by pivoting: all violated choices are
turned over at once as long as that helps, then the first alone, which always ends where the rows are independent
[Judice and Pires 1994].
"""

import math

from varichain.kernels.controls import DRIVES, drive, lock_drives
from varichain.kernels.derivative import derivative
from varichain.kernels.forward_dynamics import forced_motion
from varichain.kernels.holds import aim, along, bias, position, take_in
from varichain.kernels.impact import jump
from varichain.kernels.jit import fragment, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.records import COORDINATE
from varichain.kernels.tables import open_bodies, open_dofs
from varichain.kernels.totals import kinetic_energy
from varichain.kernels.tuples import ZERO6, add6, load6, store6

# Slack before something counts as an event: positions [rad, m], velocities, forces. What is beyond is seen to be.
SLACK_POSITION, SLACK_VELOCITY, SLACK_FORCE = 1e-12, 1e-11, 1e-10
# [rad or m] A joint that is so little beyond its stop, and at rest or on its way back, is left in peace.
_HAIR = 1e-10
# Velocity [rad/s or m/s] with which a stop is left, or friction let go, after an impact; slower, it is not. Positions
# are resolved to the slack: what falls through that at 1000 m/s^2 has half of this.
AT_REST = 1e-4
_TURN_ALL, _MOST_TURNS = 10, 400
FREE_BEFORE, BY_FRICTION, AT_STOP = 0, 1, 2  # what has held a freedom before an event


@routine
def lock_all(context):
    """Lock what the modes hold, and all driven freedoms."""
    table, holds, _, channels, _, _, counts, _ = context
    bodies, dofs = open_bodies(table), open_dofs(table)
    take_in(holds, bodies, dofs)
    lock_drives(channels, counts, bodies, dofs)


@routine
def force_bounds(hold):
    """Least and largest force that can hold the freedom: friction either way, a stop away from itself."""
    least, most = -hold.friction, hold.friction
    if hold.at < 0:
        most = math.inf
    if hold.at > 0:
        least = -math.inf
    return least, most


@routine
def smallest_signal(context, q, v):
    """What is closest to an event, negative behind it: gaps, sliding velocities, margins of forces.

    Forces are those of the last evaluation, which must have been of this state.
    """
    table, holds = context[0], context[1]
    dofs = open_dofs(table)
    # Euler's new velocities moved the joints: what moves back now has only been put there as its loops were closed
    hair = math.inf if context[7] > 0.0 else _HAIR
    smallest = math.inf
    for i in range(len(holds)):
        hold = holds[i]
        if hold.held:
            least, most = force_bounds(hold)
            r = dofs[hold.dof].reaction
            smallest = min(smallest, r - least + SLACK_FORCE, most - r + SLACK_FORCE)
        else:
            if hold.friction > 0.0:
                smallest = min(smallest, hold.slide * v[hold.dof] + SLACK_VELOCITY)
            if not hold.soft and (hold.lower > -math.inf or hold.upper < math.inf):
                x = position(hold, q)
                gap = min(x - hold.lower, hold.upper - x)
                inward = 1.0 if x < hold.lower else -1.0
                if -hair < gap < 0.0 and inward * along(hold, q, v) > -SLACK_VELOCITY:
                    continue
                smallest = min(smallest, gap + SLACK_POSITION)
    return smallest


@routine
def touch(context, q, v):
    """Note which stops have been reached and which sliding has come to rest; returns whether a stop is struck."""
    holds = context[1]
    struck = False
    for i in range(len(holds)):
        hold = holds[i]
        if hold.held:
            continue
        if hold.friction > 0.0 and hold.slide != 0 and hold.slide * v[hold.dof] <= SLACK_VELOCITY:
            v[hold.dof] = 0.0
        if hold.soft or not (hold.lower > -math.inf or hold.upper < math.inf):
            continue
        x, rate = position(hold, q), along(hold, q, v)
        hold.at = 0
        if x <= hold.lower + SLACK_POSITION:
            hold.at = -1
        elif x >= hold.upper - SLACK_POSITION:
            hold.at = 1
        if hold.at * rate > SLACK_VELOCITY:
            struck = True
    return struck


@fragment
def _forced_jump(context, q, v, dv):
    """Velocity jump with the locked freedoms brought to rest, or to their motion's velocity."""
    table, holds = context[0], context[1]
    bodies, dofs = open_bodies(table), open_dofs(table)
    aim(holds, bodies, dofs, q, v)
    move_all(q, v, bodies, dofs)
    for i in range(len(holds)):
        if holds[i].held:
            dofs[holds[i].dof].forced = -along(holds[i], q, v)
    store6(bodies[0].forced, ZERO6)
    for b in range(1, len(bodies)):
        body = bodies[b]
        motion = load6(bodies[body.parent].forced)
        if body.held:
            motion = add6(motion, forced_motion(body, dofs))
        store6(body.forced, motion)
    jump(table, v, dv)
    for b in range(1, len(bodies)):
        body = bodies[b]
        store6(body.forced, ZERO6)
        if body.held:
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
def _drive_jumps(context, t, q, v, dv, wanted):
    """Jumps that bring driven freedoms to their motion's velocity; dv (n_v) and `wanted` (n_q + n_v) are work."""
    table, _, _, channels, motion, _, counts, _ = context
    dofs = open_dofs(table)
    n_q = len(q)
    there, then = wanted[:n_q], wanted[n_q : n_q + len(v)]
    drive(channels, motion, counts, t, there, then, dv)
    for k in range(len(dofs)):
        if dofs[k].lock:
            dofs[k].forced = then[k] - v[k]


@routine
def _rest(holds, q, v, dv):
    """Let what would leave its stop, or start to slide, too slowly to be worth it stay; returns whether there is such.

    Stops that push each other off by turns come to rest only in the limit of ever smaller blows, and so does friction
    that every one of them sets sliding.
    """
    found = False
    for i in range(len(holds)):
        hold = holds[i]
        if hold.held:
            continue
        if hold.at != 0:
            stays = hold.at * (along(hold, q, v) + along(hold, q, dv)) > -AT_REST
        else:
            stays = hold.before == BY_FRICTION and abs(v[hold.dof] + dv[hold.dof]) < AT_REST
        if stays:
            hold.held = 1
            found = True
    return found


@routine
def strike(context, t, q, v, dv, work):
    """Impact of everything that is joined, touched or driven; v in place. Returns the kinetic energy lost.

    Friction is finite and gives no impulse. Stops push: which of those touched do is found by pivoting.
    """
    table, holds = context[0], context[1]
    bodies, dofs = open_bodies(table), open_dofs(table)
    move_all(q, v, bodies, dofs)
    before = kinetic_energy(bodies, dofs, v)
    for i in range(len(holds)):
        hold = holds[i]
        hold.impulse = 0.0
        hold.held = 1 if hold.at != 0 and hold.at * along(hold, q, v) > -SLACK_VELOCITY else 0
    for turn in range(_MOST_TURNS):
        lock_all(context)
        if context[6][DRIVES] > 0:
            _drive_jumps(context, t, q, v, dv, work)
        _forced_jump(context, q, v, dv)
        turned = False
        for i in range(len(holds)):
            hold = holds[i]
            if hold.at == 0 or (turned and turn >= _TURN_ALL):
                continue
            if hold.held:
                hold.impulse = dofs[hold.dof].reaction
                wrong = hold.at * hold.impulse > SLACK_FORCE
            else:
                hold.impulse = 0.0
                wrong = hold.at * (along(hold, q, v) + along(hold, q, dv)) > SLACK_VELOCITY
            if wrong:
                hold.held = 1 - hold.held
                turned = True
        if not turned:
            break
    if _rest(holds, q, v, dv):
        lock_all(context)
        if context[6][DRIVES] > 0:
            _drive_jumps(context, t, q, v, dv, work)
        _forced_jump(context, q, v, dv)
        for i in range(len(holds)):
            if holds[i].held and holds[i].at != 0:
                holds[i].impulse = dofs[holds[i].dof].reaction
    for k in range(len(v)):
        v[k] += dv[k]
    lock_all(context)
    move_all(q, v, bodies, dofs)
    return before - kinetic_energy(bodies, dofs, v)


@routine
def _is_candidate(hold, q, v):
    """Whether the freedom is at rest where something could hold it; at rest means exactly so afterwards."""
    rate = along(hold, q, v)
    if hold.at != 0 and abs(rate) <= 10.0 * SLACK_VELOCITY:
        if hold.kind == COORDINATE:
            v[hold.dof] = 0.0
        return True
    if hold.at != 0:
        hold.at = 0
    if hold.friction > 0.0 and abs(v[hold.dof]) <= SLACK_VELOCITY:
        v[hold.dof] = 0.0
        return True
    return False


@routine
def decide(context, t, q, v, tau, a):
    """Which freedoms are held from now on, so that forces are within bounds and nothing moves against its stop.

    Ends with the evaluation of the state. Returns whether a choice was found in which all agree.
    """
    table, holds = context[0], context[1]
    dofs = open_dofs(table)
    n_open = 0
    for i in range(len(holds)):
        hold = holds[i]
        candidate = _is_candidate(hold, q, v)
        hold.turns = 0
        hold.held = 1 if candidate else 0
        hold.slide = 0 if candidate or hold.friction == 0.0 else (1 if v[hold.dof] > 0.0 else -1)
        n_open += hold.held
    for turn in range(_MOST_TURNS):
        lock_all(context)
        derivative(context, t, q, v, tau, a)
        if n_open == 0:
            return True
        turned = False
        for i in range(len(holds)):
            hold = holds[i]
            if turned and turn >= _TURN_ALL:
                break
            if hold.held:
                least, most = force_bounds(hold)
                r = dofs[hold.dof].reaction
                if r < least - 0.5 * SLACK_FORCE or r > most + 0.5 * SLACK_FORCE:
                    hold.held = 0
                    hold.slide = 1 if r < least else -1
                    turned = True
            elif _turns_back(hold, q, v, a):
                # at rest where its mechanism moves on (a dead point of a loop) nothing can hold it: then it slides the
                # other way
                hold.turns += 1
                if hold.at == 0 and hold.turns % 2 == 0:
                    hold.slide = -hold.slide
                else:
                    hold.held = 1
                    hold.slide = 0
                turned = True
        if not turned:
            _leave(holds)
            return True
    _leave(holds)
    return False


@routine
def _turns_back(hold, q, v, a):
    """Whether a freedom that was let go from rest accelerates against the direction that it was let go in."""
    if hold.slide == 0 or abs(along(hold, q, v)) > 10.0 * SLACK_VELOCITY:
        return False
    return hold.slide * (along(hold, q, a) + bias(hold, q, v)) < -SLACK_FORCE


@routine
def _leave(holds):
    """Stops that do not hold are not touched any more; without friction there is no sliding."""
    for i in range(len(holds)):
        hold = holds[i]
        if not hold.held:
            hold.at = 0
            if hold.friction == 0.0:
                hold.slide = 0
