"""Soft rows: springs and dampers of loops, and force elements, in the matrix of an implicit step.

Stiffness K and damping D along a row B add B^T E B to the inertia of a step, E = g h D + (g h)^2 K. With the force x of
this part as an unknown, that is one more row: B a + x / E = wanted, whose compliance 1 / E stands in the Gram matrix.
"""

from varichain.kernels.force_elements import gains_along
from varichain.kernels.implicit_gains import added_inertia, damped_work
from varichain.kernels.jit import helper, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.loops import place_loop, relative
from varichain.kernels.records import LINE, LINEAR
from varichain.kernels.row_kinds import direction, line_of, unit3, velocity_along
from varichain.kernels.tables import open_bodies, open_dofs, open_loops, open_rows
from varichain.kernels.tuples import cross3, dot6, load3, load6, load9, mat_t_vec, store3, store9


@helper
def _first_soft(loops):
    """First of the soft loops, which are the last of all."""
    first = len(loops)
    while first > 0 and loops[first - 1].is_soft:
        first -= 1
    return first


@helper
def _face_line(bodies, loop, e):
    """Turn a soft loop's frame B, for this step, so that its z axis is along the line e of a force element.

    For springs that are relaxed at a point: rows that followed their line would turn about within a step.
    """
    R = load9(bodies[loop.body_B].R)
    e = mat_t_vec(R, e)
    x, y, z = abs(e[0]), abs(e[1]), abs(e[2])
    away = (1.0, 0.0, 0.0) if x <= y and x <= z else ((0.0, 1.0, 0.0) if y <= z else (0.0, 0.0, 1.0))
    a = unit3(cross3(e, away))
    b = cross3(e, a)
    store9(loop.R_B, (a[0], b[0], e[0], a[1], b[1], e[1], a[2], b[2], e[2]))


@routine
def close_soft_rows(table, gh, q, v):
    """Close soft rows for the first stage of an implicit step, where q and v are."""
    bodies, dofs, loops, rows = open_bodies(table), open_dofs(table), open_loops(table), open_rows(table)
    first = _first_soft(loops)
    if first == len(loops):
        return
    move_all(q, v, bodies, dofs)
    for i in range(first, len(loops)):
        loop = loops[i]
        owner = loops[loop.owner]
        _, R_WB = place_loop(bodies, owner)
        if owner.law == LINE and rows[loop.row].kind == LINEAR:
            _face_line(bodies, loop, line_of(owner, R_WB)[0])
        R_WA, R_WS = place_loop(bodies, loop)
        _, _, w_rel, v_rel = relative(bodies, loop)
        for j in range(loop.n_rows):
            row = rows[loop.row + j]
            K, D = gains_along(owner, j, R_WB, v_rel)
            added = added_inertia(gh, D, K)
            row.is_open = 0 if added > 0.0 else 1
            row.is_stuck = 1
            if not row.is_open:
                store3(row.e, direction(row.kind, row.axis, loop, R_WA, R_WS))
                row.rate = velocity_along(row.kind, loop, load3(row.e), w_rel, v_rel)
                row.compliance = 1.0 / added
                row.lead = gh * K / added
                row.wanted = -row.lead * row.rate


@helper
def _along(bodies, loop, row):
    """Acceleration B a along a row, without that of locked freedoms, of the last solution."""
    return dot6(load6(row.f_A), load6(bodies[loop.body_A].dA)) - dot6(load6(row.f_B), load6(bodies[loop.body_B].dA))


@routine
def lead_soft_rows(table, h, gh):
    """Set what soft rows want in the second stage, after the first."""
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    for i in range(_first_soft(loops), len(loops)):
        loop = loops[i]
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            if not row.is_open:
                row.gain = _along(bodies, loop, row)
                row.wanted = 2.0 * row.gain - row.lead * ((h - 2.0 * gh) * row.gain - row.rate)


@routine
def open_soft_rows(table, h, gamma):
    """Open soft rows after the second stage; returns what dampers did beyond the mean of their powers.

    Needs: bodies moved, loop points placed, loop axes placed.
    """
    bodies, loops, rows = open_bodies(table), open_loops(table), open_rows(table)
    done = 0.0
    for i in range(_first_soft(loops), len(loops)):
        loop = loops[i]
        _, _, w_rel, v_rel = relative(bodies, loop)
        for r in range(loop.row, loop.row + loop.n_rows):
            row = rows[r]
            if row.is_open:
                continue
            # of E = gh D + gh (gh K), the part that is damping
            D = (1.0 / row.compliance) * (1.0 - gamma * h * row.lead) / (gamma * h)
            rate = velocity_along(row.kind, loop, load3(row.e), w_rel, v_rel)
            done += damped_work(h, gamma, D, row.rate, rate, row.gain, _along(bodies, loop, row))
            row.is_open = 1
            row.compliance = 0.0
    return done
