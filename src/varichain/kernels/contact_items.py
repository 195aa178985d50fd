"""Items of a step's contact problem: which contacts, stops and dry frictions take part, with rows and velocities."""

import math

from varichain.kernels.contact_geometry import contact_velocity, measure_contact
from varichain.kernels.contact_records import APART, CONE, DRY, DRY_BALL, ROLL, SLIDE, SPIN, STOP
from varichain.kernels.contact_rows import clear_row, point_wrench, spread_force, spread_wrench
from varichain.kernels.jit import helper, routine
from varichain.kernels.loops import place_loop
from varichain.kernels.restraints import ball_angles, ball_velocity, measure
from varichain.kernels.row_kinds import direction, unit_wrench
from varichain.kernels.run_records import COORDINATE, SWING, TWIST, WHOLE_BALL
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import ZERO3, angular, dot3, join6, length3, load3, load6, scale3, sub3

# A contact takes part if it could close within two steps: by its velocity, and by this acceleration [m/s^2].
_FALL = 50.0
_NEAR = 1e-5  # [m or rad] that takes part in any case
_FAR, _FASTEST = 0.05, 100.0  # [m], [m/s] beyond which a contact is not looked at
_CLOSED = 1e-8  # [m or rad] of a gap that counts as closed
BOUNCES = 1e-3  # [m/s] a slower impact does not bounce


@helper
def _reach(speed, h):
    return 2.0 * h * (abs(speed) + h * _FALL) + _NEAR


@helper
def closing_target(gap, h):
    """Velocity that closes a gap within a step; a closed one stays as it is, however little it is open."""
    return -gap / h if gap > _CLOSED else 0.0


@helper
def new_item(items, n_items, kind, source, row, n_rows):
    """The next item, apart and without bounds."""
    item = items[n_items]
    item.kind = kind
    item.source = source
    item.row = row
    item.n_rows = n_rows
    item.normal = row
    item.friction = 0.0
    item.bound = 0.0
    item.target = 0.0
    item.gap = math.inf
    item.side = 0
    item.mode = APART
    return item


@routine
def _count_restraint(restraint, h):
    """Whether its dry friction takes part, and which of its stops: -1, 1 or 0; its rate must be known."""
    side = 0
    if not restraint.soft:
        if restraint.x - restraint.lower < _reach(restraint.rate, h):
            side = -1
        elif restraint.upper - restraint.x < _reach(restraint.rate, h):
            side = 1
    return restraint.friction > 0.0, side


@helper
def _turn_item(items, n_items, kind, c, row, n_rows, normal, friction):
    """Torsional or rolling friction of a contact as the next item."""
    item = new_item(items, n_items, kind, c, row, n_rows)
    item.normal = normal
    item.friction = friction


@routine
def gather_contacts(table, contacts, h, most_items, most_rows, items, first_item, first_row):
    """Items of the contacts within reach; returns the numbers of items and rows, or -1 if there is no room.

    Gaps must be those at the start of the step; they stay in the items, while directions and points become those of
    the present placement.

    Needs: bodies moved.
    """
    bodies = open_bodies(table)
    n_items, n = first_item, first_row
    for c in range(len(contacts)):
        contact = contacts[c]
        contact.item = -1
        gap = contact.gap
        if gap > _FAR + h * _FASTEST:
            continue
        measure_contact(bodies, contact)
        v = contact_velocity(bodies, contact)
        if gap > _reach(length3(v), h):
            continue
        spins, rolls = contact.torsional > 0.0, contact.rolling > 0.0
        if n_items + 1 + spins + rolls > most_items or n + 3 + spins + 2 * rolls > most_rows:
            return -1, -1
        item = new_item(items, n_items, CONE, c, n, 3)
        item.friction = contact.friction
        item.gap = gap
        item.target = closing_target(gap, h)
        contact.item = n_items
        first = n
        n_items += 1
        n += 3
        if spins:
            _turn_item(items, n_items, SPIN, c, n, 1, first, contact.torsional)
            n_items += 1
            n += 1
        if rolls:
            _turn_item(items, n_items, ROLL, c, n, 2, first, contact.rolling)
            n_items += 1
            n += 2
    return n_items, n


@routine
def gather_restraints(table, restraints, h, q, v, most_items, most_rows, items, first_item, first_row):
    """Items of stops within reach and of dry friction; returns the numbers of items and rows, or -1 without room.

    Needs: bodies moved.
    """
    n_items, n = first_item, first_row
    measure(table, restraints, q, v)
    for i in range(len(restraints)):
        restraint = restraints[i]
        rubs, side = _count_restraint(restraint, h)
        if n_items + 2 > most_items or n + 4 > most_rows:
            return -1, -1
        if rubs:
            is_ball = restraint.kind == WHOLE_BALL
            item = new_item(items, n_items, DRY_BALL if is_ball else DRY, i, n, 3 if is_ball else 1)
            item.bound = h * restraint.friction
            n_items += 1
            n += item.n_rows
        if side != 0:
            item = new_item(items, n_items, STOP, i, n, 1)
            item.side = side
            # at the start of the step, half of it before
            x = restraint.x - 0.5 * h * restraint.rate
            item.gap = restraint.upper - x if side > 0 else x - restraint.lower
            if restraint.kind == TWIST:  # the row is the rate of the twist times this
                _, _, cos_half, _, _, _ = ball_angles(restraint, q)
                item.gap *= cos_half
            item.target = closing_target(item.gap, h)
            n_items += 1
            n += 1
    return n_items, n


@routine
def gather_all(table, contacts, restraints, h, q, v, problem):
    """Items of all that takes part in a step; returns the numbers of items and rows, or -1 if there is no room.

    Needs: bodies moved.
    """
    items, most_rows = problem.items, len(problem.x)
    n_items, n = gather_contacts(table, contacts, h, len(items), most_rows, items, 0, 0)
    if n_items >= 0:
        n_items, n = gather_restraints(table, restraints, h, q, v, len(items), most_rows, items, n_items, n)
    return n_items, n


@routine
def _write_contact_rows(bodies, dofs, contact, r, E, n_v):
    """Rows n, t_1 and t_2 of a contact.

    Needs: inertias articulated.
    """
    x_A, x_B = load3(contact.x_A), load3(contact.x_B)
    for j in range(3):
        e = load3(contact.n) if j == 0 else (load3(contact.t_1) if j == 1 else load3(contact.t_2))
        clear_row(E[r + j], n_v)
        spread_wrench(bodies, dofs, contact.body_A, point_wrench(e, x_A), E[r + j])
        minus = scale3(-1.0, e)
        spread_wrench(bodies, dofs, contact.body_B, point_wrench(minus, x_B), E[r + j])


@helper
def _turn_axis(contact, item, j):
    """Axis of row j of torsional or rolling friction."""
    if item.kind == SPIN:
        return load3(contact.n)
    return load3(contact.t_1) if j == 0 else load3(contact.t_2)


@routine
def _write_turn_rows(bodies, dofs, contact, item, E, n_v):
    """Rows of torsional or rolling friction: moments on the two bodies.

    Needs: inertias articulated.
    """
    for j in range(item.n_rows):
        e = _turn_axis(contact, item, j)
        row = E[item.row + j]
        clear_row(row, n_v)
        spread_wrench(bodies, dofs, contact.body_A, join6(e, ZERO3), row)
        spread_wrench(bodies, dofs, contact.body_B, join6(scale3(-1.0, e), ZERO3), row)


@routine
def _write_loop_row(table, restraint, row, sign, e_out):
    """Row of a modal loop, whether it is open or not.

    Needs: inertias articulated.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    loop = open_loops(table)[restraint.loop]
    R_WA, R_WB = place_loop(bodies, loop)
    e = direction(row.kind, row.axis, loop, R_WA, R_WB)
    f, g = unit_wrench(row.kind, loop, e, load3(loop.x_A)), unit_wrench(row.kind, loop, e, load3(loop.x_B))
    spread_wrench(
        bodies,
        dofs,
        loop.body_A,
        (sign * f[0], sign * f[1], sign * f[2], sign * f[3], sign * f[4], sign * f[5]),
        e_out,
    )
    spread_wrench(
        bodies,
        dofs,
        loop.body_B,
        (-sign * g[0], -sign * g[1], -sign * g[2], -sign * g[3], -sign * g[4], -sign * g[5]),
        e_out,
    )


@routine
def _write_restraint_rows(table, restraint, item, q, E, n_v):
    """Rows of a stop, or of dry friction.

    Needs: inertias articulated.
    """
    dofs, rows = open_dofs(table), open_rows(table)
    r = item.row
    for j in range(item.n_rows):
        clear_row(E[r + j], n_v)
    if item.kind == DRY_BALL:
        for j in range(3):
            g = (1.0 if j == 0 else 0.0, 1.0 if j == 1 else 0.0, 1.0 if j == 2 else 0.0)
            if restraint.dof >= 0:
                spread_force(dofs, restraint.dof, g, 3, E[r + j])
            else:
                _write_loop_row(table, restraint, rows[restraint.row + j], 1.0, E[r + j])
        return
    sign = -1.0 if item.side > 0 else 1.0
    if item.kind == DRY and restraint.dof >= 0:
        spread_force(dofs, restraint.dof, (1.0, 0.0, 0.0), 1, E[r])
    elif restraint.kind == COORDINATE:
        spread_force(dofs, restraint.dof, (sign, 0.0, 0.0), 1, E[r])
    elif restraint.kind == SWING or restraint.kind == TWIST:
        _, _, _, _, n, m = ball_angles(restraint, q)
        if restraint.kind == SWING:
            spread_force(dofs, restraint.dof, scale3(sign, n), 3, E[r])
        else:
            spread_force(dofs, restraint.dof - 1, scale3(sign, m), 3, E[r])
    else:
        _write_loop_row(table, restraint, rows[restraint.row], sign, E[r])


@routine
def write_rows(table, contacts, restraints, q, problem, n_items):
    """Propagated rows of all items.

    Needs: inertias articulated.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(n_items):
        item = problem.items[i]
        if item.kind in (CONE, SLIDE):
            _write_contact_rows(bodies, dofs, contacts[item.source], item.row, problem.E, len(dofs))
        elif item.kind == SPIN or item.kind == ROLL:
            _write_turn_rows(bodies, dofs, contacts[item.source], item, problem.E, len(dofs))
        else:
            _write_restraint_rows(table, restraints[item.source], item, q, problem.E, len(dofs))


@routine
def _write_own(bodies, contact, r, out):
    """Velocities of a contact's rows.

    Needs: bodies moved.
    """
    v = contact_velocity(bodies, contact)
    out[r] = dot3(load3(contact.n), v)
    out[r + 1] = dot3(load3(contact.t_1), v)
    out[r + 2] = dot3(load3(contact.t_2), v)


@routine
def _write_turns(bodies, contact, item, out):
    """Velocities of the rows of torsional or rolling friction.

    Needs: bodies moved.
    """
    w = sub3(angular(load6(bodies[contact.body_A].V)), angular(load6(bodies[contact.body_B].V)))
    for j in range(item.n_rows):
        out[item.row + j] = dot3(_turn_axis(contact, item, j), w)


@routine
def write_velocities(table, contacts, restraints, q, v, items, n_items, out):
    """Velocities of all rows.

    Needs: bodies moved.
    """
    bodies = open_bodies(table)
    measure(table, restraints, q, v)
    for i in range(n_items):
        item = items[i]
        if item.kind in (CONE, SLIDE):
            _write_own(bodies, contacts[item.source], item.row, out)
            continue
        if item.kind == SPIN or item.kind == ROLL:
            _write_turns(bodies, contacts[item.source], item, out)
            continue
        restraint = restraints[item.source]
        if item.kind == DRY_BALL:
            w = ball_velocity(table, restraint, v)
            for j in range(3):
                out[item.row + j] = w[0] if j == 0 else (w[1] if j == 1 else w[2])
        elif item.kind == DRY and restraint.dof >= 0:
            out[item.row] = v[restraint.dof]
        else:
            out[item.row] = -restraint.rate if item.side > 0 else restraint.rate


@routine
def aim_bounces(contacts, start, b, h, items, n_items):
    """Let contacts with restitution that close in this step open again; returns the part of the step until the first.

    The velocity after a bounce is that of the instant, which lies where the gap closes, and what acts until the end of
    the step. A contact that closes more slowly than it is pressed together within two steps does not bounce. Zero, if
    none does.
    """
    first, is_any = 1.0, False
    for i in range(n_items):
        item = items[i]
        if item.kind != CONE or contacts[item.source].restitution == 0.0:
            continue
        e, closing, change = contacts[item.source].restitution, start[item.row], b[item.row] - start[item.row]
        if item.gap + h * b[item.row] < 0.0 and closing < -max(BOUNCES, 2.0 * abs(change)):
            part = min(1.0, max(item.gap, 0.0) / (-h * closing))
            item.target = -e * (closing + part * change) + (1.0 - part) * change
            first = min(first, part)
            is_any = True
    return max(first, 1e-9) if is_any else 0.0


@routine
def forget_bounces(h, items, n_items):
    """Let no contact bounce."""
    for i in range(n_items):
        if items[i].kind == CONE:
            items[i].target = closing_target(items[i].gap, h)
