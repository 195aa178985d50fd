"""One step of time stepping with contact: velocities first, positions after them.

Forces and rows are taken in the middle of the step's own way, q + h v / 2. The velocities after the step obey

    (M + h D + h^2 K) (v' - v) = h (f - h K v / 2) + rows^T x,   u = rows v',

with damping D and stiffness K of joints and PD controllers, all loops kept, and for every contact and stop
0 <= x_n, u_n >= -gap / h, one of the two equal; |x_t| <= mu x_n against slip; moments of torsional and rolling friction
bounded by x_n likewise; dry friction of joints between its bounds
[Moreau 1988; Anitescu and Potra 1997; Stewart and Trinkle 1996]. Coordinates move with v' where something presses, else
with the mean of v and v'. What has then gone too deep is moved out of the surface by the least step in the mass metric.
"""

from varichain.kernels.constraint_solve import factor_at_rest
from varichain.kernels.contact_geometry import measure_contact
from varichain.kernels.contact_items import (
    aim_bounces,
    forget_bounces,
    gather_all,
    write_rows,
    write_velocities,
)
from varichain.kernels.contact_overlap import EQUAL, FAVOUR, find_overlaps
from varichain.kernels.contact_records import BOX, CAP, CONE, DRY, OVERLAP, RIM, ROLL, SIDE, SLIPS, SPIN, STICKS, STOP
from varichain.kernels.contact_rows import fill_problem, respond
from varichain.kernels.contact_solver import solve_items
from varichain.kernels.implicit_gains import lend_inertia, load_gains
from varichain.kernels.jit import helper, routine
from varichain.kernels.kinematics import move_all, place_all
from varichain.kernels.loops import place_rows
from varichain.kernels.manifold import quaternion_exp, step_all
from varichain.kernels.passages import derivative, keep_positions, keep_velocities
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.restraints import measure
from varichain.kernels.run_records import CONTACT_ACCOUNT, CROWDED, DIVERGED, OPEN, REACHED
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_multipliers, open_rows
from varichain.kernels.totals import gravitational_energy, kinetic_energy
from varichain.kernels.tuples import cross3, mat_vec, matrix_from_quaternion

SOLVED = 1e-9  # [m/s or rad/s] residual, at velocities of 1 or less, that is worth a word
_ENDS = 1e-13  # [m/s or rad/s] at which the search for impulses ends
DEEP = 1e-9  # [m] or [rad] of penetration that is moved out
_CLOSES = 1e-12  # [m] or [rad] to which it is
_MOST_CLOSINGS = 8
_MOST_LOOKS = 6  # for what is in surfaces after a step
_NEAR = 0.1  # [m] within which such contacts are looked at again
_FAR = 1.0  # [m] of a gap, as which one without end counts
_OPEN = 1e-9  # [m or rad] a loop that stays further open cannot be closed
_STILL = 1e-9  # [m/s] below which nothing slides
_FASTEST = 1e12


@routine
def measure_all(bodies, contacts):
    """Gaps of all contacts.

    Needs: bodies placed.
    """
    for c in range(len(contacts)):
        measure_contact(bodies, contacts[c])


@helper
def _turn_three(R, x, k):
    y = mat_vec(R, (x[k], x[k + 1], x[k + 2]))
    x[k] = y[0]
    x[k + 1] = y[1]
    x[k + 2] = y[2]


@routine
def _turn(bodies, w, t, x):
    """Turn velocities x of balls and free links, which are components in their links' axes, by rotation vectors t w."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.kind != FREE and body.kind != SPHERICAL:
            continue
        k = body.dof
        e = quaternion_exp(t * w[k], t * w[k + 1], t * w[k + 2])
        R = matrix_from_quaternion(e[0], e[1], e[2], e[3])
        _turn_three(R, x, k)
        if body.kind == FREE:
            _turn_three(R, x, k + 3)


@routine
def _steady_axes(bodies, v, a):
    """Accelerations of free links in axes that do not turn: a + w x v in place of the rates of components."""
    for b in range(1, len(bodies)):
        body = bodies[b]
        if body.kind == FREE:
            k = body.dof
            y = cross3((v[k], v[k + 1], v[k + 2]), (v[k + 3], v[k + 4], v[k + 5]))
            a[k + 3] += y[0]
            a[k + 4] += y[1]
            a[k + 5] += y[2]


@routine
def _load_guess(contacts, restraints, h, items, n_items, x):
    """Forces of the last step as a guess."""
    for i in range(n_items):
        item = items[i]
        for j in range(item.n_rows):
            x[item.row + j] = 0.0
        if item.kind == CONE:
            for j in range(3):
                x[item.row + j] = h * contacts[item.source].force[j]
        elif item.kind == SPIN:
            x[item.row] = h * contacts[item.source].moment[0]
        elif item.kind == ROLL:
            for j in range(2):
                x[item.row + j] = h * contacts[item.source].moment[1 + j]
        elif item.kind == DRY:
            x[item.row] = h * restraints[item.source].impulse
        elif item.kind == STOP:
            x[item.row] = max(0.0, h * restraints[item.source].push * item.side)


@routine
def keep_forces(contacts, restraints, h, items, n_items, x, u):
    """Remember the forces of this step; a contact at the edge of its cone that does not slide sticks."""
    for c in range(len(contacts)):
        contact = contacts[c]
        contact.mode = 0
        for j in range(3):
            contact.force[j] = 0.0
            contact.moment[j] = 0.0
    for i in range(len(restraints)):
        restraints[i].push = 0.0
    for i in range(n_items):
        item = items[i]
        if item.kind == CONE:
            contact = contacts[item.source]
            slides = item.mode == SLIPS and max(abs(u[item.row + 1]), abs(u[item.row + 2])) >= _STILL
            if x[item.row] > 0.0:
                contact.mode = SLIPS if slides else STICKS
            for j in range(3):
                contact.force[j] = x[item.row + j] / h
        elif item.kind == SPIN:
            contacts[item.source].moment[0] = x[item.row] / h
        elif item.kind == ROLL:
            for j in range(2):
                contacts[item.source].moment[1 + j] = x[item.row + j] / h
        elif item.kind == DRY:
            restraints[item.source].impulse = x[item.row] / h
        elif item.kind == STOP:
            restraints[item.source].push = x[item.row] * item.side / h


@helper
def _solve(problem, n_items, n, ends):
    """Impulses of a problem; returns the residual and the number of sweeps."""
    items, W, b, x, u = problem.items, problem.W, problem.b, problem.x, problem.u
    return solve_items(items, n_items, W, b, n, ends, x, u, problem.best, problem.before, problem.other, problem.J)


@routine
def solve_step(context, contacts, problem, h, q, v, node, scratch):
    """Velocities after a step, and its forces; q, v and the gaps are left as they are at its start.

    The node's `q_end` becomes the middle configuration, its `v_end` the velocities, in the axes that links have there,
    as those of the scratch before the step; `a_end` the accelerations without impulses. Returns the numbers of items
    and rows, -1 without room for them; the part of the step that coordinates move with the velocities before it; the
    residual; and the power of external forces and soft stops.
    """
    table, restraints, run = context.table, context.restraints, context.run
    bodies, dofs = open_bodies(table), open_dofs(table)
    n_v = len(v)
    items, x, u = problem.items, problem.x, problem.u
    D, K, D_pd, K_pd = scratch.rates[0], scratch.rates[1], scratch.rates[2], scratch.rates[3]
    v_mid, q_mid, v_end = scratch.v, node.q_end, node.v_end
    for k in range(n_v):
        v_mid[k] = v[k]
    step_all(bodies, q, v, 0.5 * h, q_mid)
    _turn(bodies, v, -0.5 * h, v_mid)
    load_gains(dofs, context.controls, node.tau, D, K, D_pd, K_pd)
    lend_inertia(dofs, h, D, K, D_pd, K_pd, 1.0)
    for k in range(n_v):
        context.extra[k] = -0.5 * h * (K[k] + K_pd[k]) * v[k]
    powers = derivative(context, run.time + 0.5 * h, q_mid, v_mid, node.tau, node.a_end)
    _steady_axes(bodies, v_mid, node.a_end)
    for k in range(n_v):
        context.extra[k] = 0.0
        v_end[k] = v_mid[k] + h * node.a_end[k]
    n_items, n = gather_all(table, contacts, restraints, h, q_mid, v_mid, problem)
    found, is_pressed, part = 0.0, False, 0.0
    _keep_smooth(table, scratch)
    if n_items > 0:
        write_velocities(table, contacts, restraints, q_mid, v_mid, items, n_items, problem.start)
        write_rows(table, contacts, restraints, q_mid, problem, n_items)
        fill_problem(table, problem, n)
        move_all(q_mid, v_end, bodies, dofs)
        write_velocities(table, contacts, restraints, q_mid, v_end, items, n_items, problem.b)
        _load_guess(contacts, restraints, h, items, n_items, x)
        part = aim_bounces(contacts, problem.start, problem.b, h, items, n_items)
        found, _ = _solve(problem, n_items, n, _ENDS)
        if part > 0.0 and work_of(x, problem.b, u, 0, n) > 0.0:  # Newton's restitution may give energy beside friction
            part = 0.0
            forget_bounces(h, items, n_items)
            found, _ = _solve(problem, n_items, n, _ENDS)
        respond(table, problem, n, x, scratch.u)
        for k in range(n_v):
            v_end[k] += scratch.u[k]
        for i in range(n_items):
            is_pressed = is_pressed or (items[i].kind in (CONE, STOP) and x[items[i].row] > 0.0)
        _add_smooth(table, scratch, h)
    lend_inertia(dofs, h, D, K, D_pd, K_pd, -1.0)
    if not is_pressed:
        part = 0.5
    return n_items, n, part, found, powers.forces + powers.soft_limits


@routine
def work_of(x, b, u, first, last):
    """Kinetic energy that the impulses of some rows give, from their velocities before and after."""
    total = 0.0
    for r in range(first, last):
        total += 0.5 * x[r] * (b[r] + u[r])
    return total


@helper
def _keep_smooth(table, scratch):
    """Keep the forces of loops and locks of the last evaluation: those without impulses."""
    dofs, multipliers = open_dofs(table), open_multipliers(table)
    for k in range(len(dofs)):
        scratch.tau[k] = dofs[k].reaction
    for l in range(len(multipliers)):
        scratch.loops[l] = multipliers[l]


@helper
def _add_smooth(table, scratch, h):
    """Forces of loops and locks of the whole step, impulses included."""
    dofs, multipliers = open_dofs(table), open_multipliers(table)
    for k in range(len(dofs)):
        dof = dofs[k]
        if dof.lock:  # the last solution had the impulses alone
            scratch.tau[k] += (dof.reaction - dof.armature * dof.forced) / h
    for l in range(len(multipliers)):
        scratch.loops[l] += multipliers[l] / h


@helper
def restore_forces(table, scratch):
    """Put the forces of loops and locks of the last step back where samples look for them."""
    dofs, multipliers = open_dofs(table), open_multipliers(table)
    for k in range(len(dofs)):
        dofs[k].reaction = scratch.tau[k]
    for l in range(len(multipliers)):
        multipliers[l] = scratch.loops[l]


@routine
def _load_depths(table, contacts, restraints, q, v, items, n_items, b):
    """Gaps of the items, into b; friction has none. Returns the deepest penetration.

    Needs: bodies moved.
    """
    bodies, deepest = open_bodies(table), 0.0
    measure_all(bodies, contacts)
    measure(table, restraints, q, v)
    for i in range(n_items):
        item = items[i]
        for j in range(item.n_rows):
            b[item.row + j] = 0.0
        if item.kind == CONE:
            b[item.row] = min(contacts[item.source].gap, _FAR)
        elif item.kind == STOP:
            restraint = restraints[item.source]
            b[item.row] = restraint.upper - restraint.x if item.side > 0 else restraint.x - restraint.lower
        if item.kind in (CONE, STOP):
            deepest = max(deepest, -b[item.row])
    return deepest


@routine
def close_contacts(context, contacts, problem, n_items, n, t, q, v, step):
    """Move what has gone too deep out of surfaces and stops, q in place.

    Returns the energy that this gave, and the depth that is left.

    t is the time that the coordinates are of. Positions are moved by the least step in the mass metric that leaves no
    item too deep; loops are kept. The factor is the last one: what it leaves is closed by the next correction.

    Needs: rows factored.
    """
    table, restraints = context.table, context.restraints
    bodies, dofs = open_bodies(table), open_dofs(table)
    items, x, gained, deepest = problem.items, problem.x, 0.0, 0.0
    move_all(q, v, bodies, dofs)
    for count in range(_MOST_CLOSINGS + 1):
        deepest = _load_depths(table, contacts, restraints, q, v, items, n_items, problem.b)
        if not deepest > DEEP or count == _MOST_CLOSINGS:
            break
        before = gravitational_energy(bodies)
        for i in range(n_items):
            items[i].target = 0.0
            items[i].friction = 0.0
            items[i].bound = 0.0
        for r in range(n):
            x[r] = 0.0
        _solve(problem, n_items, n, _CLOSES)
        respond(table, problem, n, x, step)
        step_all(bodies, q, step, 1.0, q)
        keep_positions(context, t, q, v, step, False)
        move_all(q, v, bodies, dofs)
        gained += gravitational_energy(bodies) - before
    return gained, deepest


@routine
def move_out(context, contacts, problem, h, t, q, v, step):
    """Look where links are in surfaces, and move them out, q in place, as often as it takes; t is the time of q.

    Points of boxes, sides, flat ends and rims are those of a step's start while it lasts: after it others may be
    deeper. Returns the energy that this gave.

    Gives: bodies moved.
    """
    table = context.table
    bodies, dofs = open_bodies(table), open_dofs(table)
    gained = 0.0
    for _ in range(_MOST_LOOKS):
        move_all(q, v, bodies, dofs)
        find_overlaps(bodies, contacts, EQUAL)
        measure_all(bodies, contacts)
        if not _deepest_of(contacts) > DEEP:
            break
        n_items, n = gather_all(table, contacts, context.restraints, h, q, v, problem)
        if n_items < 0:  # the next step finds no room either, and gets it
            break
        factor_at_rest(table)
        write_rows(table, contacts, context.restraints, q, problem, n_items)
        fill_problem(table, problem, n)
        given, _ = close_contacts(context, contacts, problem, n_items, n, t, q, v, step)
        gained += given
    return gained


@helper
def _are_to_be_looked_at(contacts):
    """Whether a contact is too deep after a step, or has points that were those of the step's start."""
    for c in range(len(contacts)):
        contact = contacts[c]
        is_fixed = contact.point_kind == RIM or (
            contact.surface_kind == BOX and contact.point_kind in (OVERLAP, SIDE, CAP)
        )
        if contact.gap < -DEEP or (is_fixed and contact.gap < _NEAR):
            return True
    return False


@helper
def _deepest_of(contacts):
    """Deepest penetration of all contacts."""
    deepest = 0.0
    for c in range(len(contacts)):
        deepest = max(deepest, -contacts[c].gap)
    return deepest


@routine
def _keep_books(context, problem, n_items, h, part, given, v, mean, v_end, change, q_mid, tau, scratch):
    """Enter the works of the step, forces times the step's own way.

    Where something presses, coordinates move with the velocities at the end rather than with the mean of both: the
    energy of their change is then lost.
    """
    table, run, items = context.table, context.run, problem.items
    bodies, dofs, loops = open_bodies(table), open_dofs(table), open_loops(table)
    D, D_pd, K_pd = scratch.rates[0], scratch.rates[2], scratch.rates[3]
    controlled, damped, driven = 0.0, 0.0, 0.0
    for k in range(len(v)):
        ahead = h * v_end[k] - 0.5 * h * v[k]  # of the middle, where the end is
        torque = tau[k] - D_pd[k] * (v_end[k] - v[k]) - K_pd[k] * ahead
        controlled += torque * mean[k]
        damped += D[k] * v_end[k] * mean[k]
        if dofs[k].lock:
            driven += scratch.tau[k] * mean[k]
    for l in range(len(loops)):
        damped += loops[l].dissipated
    pressed, rubbed, struck, touches = 0.0, 0.0, 0.0, False
    for i in range(n_items):
        item = items[i]
        touches = touches or (item.kind == CONE and problem.x[item.row] > 0.0)
        for r in range(item.row, item.row + item.n_rows):
            work = problem.x[r] * (part * problem.start[r] + (1.0 - part) * problem.u[r])
            if item.kind in (CONE, SPIN, ROLL):
                pressed += work
            elif item.kind == STOP:
                struck += work
            else:
                rubbed += work
    run.work[0] += h * controlled
    run.work[1] += rubbed - h * damped
    run.work[2] += h * given
    run.work[3] += h * driven
    run.lost -= struck
    run.work[CONTACT_ACCOUNT] += pressed
    if part != 0.5:
        for k in range(len(v)):
            change[k] = v_end[k] - v[k]
        move_all(q_mid, change, bodies, dofs)
        taken = (1.0 - 2.0 * part) * kinetic_energy(bodies, dofs, change)
        if touches:
            run.work[CONTACT_ACCOUNT] -= taken
        else:
            run.lost += taken


@routine
def contact_step(context, contacts, problem, h, q, v, node, scratch):
    """A step, however coarse, q and v in place.

    Returns a status, the residual of the impulses, and the energy that moving out what was too deep has given.

    Needs: bodies placed.
    """
    table, run = context.table, context.run
    bodies = open_bodies(table)
    find_overlaps(bodies, contacts, FAVOUR)
    n_items, n, part, found, given = solve_step(context, contacts, problem, h, q, v, node, scratch)
    if n_items < 0:
        return CROWDED, 0.0, 0.0
    mean = scratch.u
    for k in range(len(v)):
        if not abs(node.v_end[k]) < _FASTEST:
            run.freedom = k
            return DIVERGED, 0.0, 0.0
        mean[k] = part * scratch.v[k] + (1.0 - part) * node.v_end[k]
    keep_forces(contacts, context.restraints, h, problem.items, n_items, problem.x, problem.u)
    _keep_books(
        context,
        problem,
        n_items,
        h,
        part,
        given,
        scratch.v,
        mean,
        node.v_end,
        node.a,
        node.q_end,
        node.tau,
        scratch,
    )
    # from the axes of the middle to those of the start, and on to those of the end
    _turn(bodies, v, 0.5 * h, mean)
    _turn(bodies, v, 0.5 * h, node.v_end)
    _turn(bodies, mean, -h, node.v_end)
    step_all(bodies, q, mean, h, q)
    for k in range(len(v)):
        node.a[k] = (node.v_end[k] - v[k]) / h  # of samples: the mean of the step
        v[k] = node.v_end[k]
    closure = keep_positions(context, run.time + h, q, v, node.step, False)
    gained, _ = close_contacts(context, contacts, problem, n_items, n, run.time + h, q, v, node.step)
    if _are_to_be_looked_at(contacts):
        gained += move_out(context, contacts, problem, h, run.time + h, q, v, node.step)
    run.work[CONTACT_ACCOUNT] += gained
    place_all(q, bodies, open_dofs(context.table))
    place_rows(bodies, open_loops(context.table), open_rows(context.table))
    keep_velocities(context, q, v, node.step)
    run.closure = closure
    if not closure <= _OPEN:
        return OPEN, found, gained
    return REACHED, found, gained
