"""Linearly implicit Euler steps for stiff links and joints.

(M + h C + h^2 K) dv = h (f - h K v), x' = x + h (v + dv), with K = J^T k J and C = J^T c J of braces, restrictions,
couplings, and springs, dampers, drives, stops and friction in freedoms, whose gradients are the rows of J. The unknowns
of a link are the rates of its centre and its arms, 12 numbers with the link's mass each. The ground and torques are
explicit.
"""

import math

from varichain.kernels.jit import (
    CHANNELS,
    CUBE,
    FORCES,
    INTEGER,
    INTEGERS,
    MATRIX,
    NUMBER,
    VECTOR,
    helper,
    kernel,
    routine,
)
from varichain.kernels.particle_blocks import N, factor_blocks, solve_blocks
from varichain.kernels.particle_freedoms import axis_of_pose, push_drive, push_position, push_rotation, push_scalar
from varichain.kernels.particle_records import (
    ALONG_A,
    ANGLE,
    CHUNKS,
    CLOSE,
    COLUMNS,
    CONTACTS,
    DRIVE,
    ENTRIES,
    GROUNDS,
    OF_FREEDOM,
    OF_RESTRICTION,
    OPEN,
    PARTICLE_COUPLINGS,
    PARTICLE_FREEDOMS,
    PARTICLE_JOINTS,
    PARTICLE_LINKS,
    PARTICLE_RUNS,
    REACHED,
    RESTRICTIONS,
    SLIDE,
    SPRINGS,
    STIFF_ROWS,
    SWING,
    TERRAINS,
    TRIOS,
)
from varichain.kernels.particle_restrictions import push_gradient
from varichain.kernels.rows import ROOM, call
from varichain.kernels.tuples import length3, scale3


@routine
def _empty(link):
    """No force acts on a link."""
    for k in range(3):
        link.f[k] = 0.0
    for k in range(9):
        link.G[k] = 0.0


@routine
def _push_way(F, a, b, way):
    """A force of one along a way of a freedom.

    Needs: links oriented.
    """
    if F.kind == ANGLE or F.kind == SLIDE:
        if way == DRIVE:
            push_drive(F, a, b, 1.0)
        else:
            push_scalar(F, a, b, 1.0)
    elif way >= SWING:
        k = 3 * (way - SWING)
        push_rotation(F, a, b, (F.cone[k], F.cone[k + 1], F.cone[k + 2]))
    elif way >= ALONG_A:
        push_position(F, a, b, axis_of_pose(F, a, b, way - ALONG_A))
    else:
        push_rotation(F, a, b, (1.0 if way == 0 else 0.0, 1.0 if way == 1 else 0.0, 1.0 if way == 2 else 0.0))


@routine
def _push_row(row, links, restrictions, freedoms, couplings):
    """A force of one along the gradient of a row; stiffness and damping of its spring.

    Needs: links oriented.
    """
    if row.kind == OF_RESTRICTION:
        r = restrictions[row.place]
        push_gradient(r, links[r.a], links[r.b], links, freedoms)
        return r.stiffness, r.damping
    if row.kind == OF_FREEDOM:
        F = freedoms[row.place]
        stiffness, damping = F.firm[row.way], F.drag[row.way]
        if stiffness != 0.0 or damping != 0.0:
            _push_way(F, links[F.a], links[F.b], row.way)
        return stiffness, damping
    c = couplings[row.place]
    A, B = freedoms[c.follower], freedoms[c.leader]
    push_scalar(A, links[A.a], links[A.b], 1.0)
    push_scalar(B, links[B.a], links[B.b], -c.multiplier)
    return c.stiffness, c.damping


@helper
def _rate(link, gradient, place):
    """Gradient of one link times the rates of its centre and arms."""
    sum_ = 0.0
    for k in range(3):
        sum_ += gradient[place + k] * link.o_rate[k]
    for k in range(9):
        sum_ += gradient[place + 3 + k] * link.A_rate[k]
    return sum_


@routine
def _add_row(row, links, stiffness, damping, h, blocks, right):
    """Add a spring-damper to the matrix and to the right-hand side; the links' forces are its gradient."""
    g, rate = row.gradient, 0.0
    for i in range(row.n):
        link = links[row.links[i]]
        for k in range(3):
            g[N * i + k] = link.f[k]
        for k in range(9):
            g[N * i + 3 + k] = link.G[k]
        _empty(link)
        rate += _rate(link, g, N * i)
    weight, push, n = h * damping + h * h * stiffness, -h * h * stiffness * rate, 0
    for i in range(row.n):
        y = right[row.columns[i]]
        for k in range(N):
            y[k] += push * g[N * i + k]
        for j in range(i, row.n):
            B = blocks[row.blocks[n]]
            n += 1
            for k in range(N):
                a = weight * g[N * i + k]
                for m in range(N):
                    B[k, m] += a * g[N * j + m]


@routine
def _brace(B, y, link, a, gradient, b, other, h):
    """Add a brace whose gradient by arm a is given, and that by arm b."""
    rate = 0.0
    for k in range(3):
        rate += gradient[k] * link.A_rate[3 * a + k] + other[k] * link.A_rate[3 * b + k]
    weight, push = h * link.damping + h * h * link.stiffness, -h * h * link.stiffness * rate
    i, j = 3 + 3 * a, 3 + 3 * b
    for k in range(3):
        y[i + k] += push * gradient[k]
        y[j + k] += push * other[k]
        for m in range(3):
            B[i + k, i + m] += weight * gradient[k] * gradient[m]
            B[i + k, j + m] += weight * gradient[k] * other[m]
            B[j + k, i + m] += weight * other[k] * gradient[m]
            B[j + k, j + m] += weight * other[k] * other[m]


@routine
def _open_column(column, links, force, h, blocks, right):
    """Mass, braces and forces of a link."""
    link, B, y = links[column.link], blocks[column.block], right
    i = link.first
    for axis in range(3):
        p, q, r, s = force[i, axis], force[i + 1, axis], force[i + 2, axis], force[i + 3, axis]
        y[axis], y[3 + axis] = h * (p + q + r + s), h * (p + q - r - s)
        y[6 + axis], y[9 + axis] = h * (p - q + r - s), h * (p - q - r + s)
    for k in range(N):
        for m in range(N):
            B[k, m] = column.mass if k == m else 0.0
    none = (0.0, 0.0, 0.0)
    for a in range(3):
        b = (a + 1) % 3
        arm = (link.A[3 * a], link.A[3 * a + 1], link.A[3 * a + 2])
        other = (link.A[3 * b], link.A[3 * b + 1], link.A[3 * b + 2])
        diagonal = 1.0 / math.sqrt(link.s[a] * link.s[a] + link.s[b] * link.s[b])
        _brace(B, y, link, a, scale3(1.0 / length3(arm), arm), b, none, h)
        _brace(B, y, link, a, scale3(diagonal, other), b, scale3(diagonal, arm), h)


@routine
def _move(columns, links, v, right):
    """Change the velocities of all particles of links."""
    for j in range(len(columns)):
        i, y = links[columns[j].link].first, right[j]
        for axis in range(3):
            o, a, b, c = y[axis], y[3 + axis], y[6 + axis], y[9 + axis]
            v[i, axis] += o + a + b + c
            v[i + 1, axis] += o + a - b - c
            v[i + 2, axis] += o - a + b - c
            v[i + 3, axis] += o - a - b + c


@routine
def _solve(rows, columns, entries, updates, blocks, right, links, restrictions, freedoms, couplings, force, h):
    """Changes of all rates, in `right`.

    Needs: links oriented.
    """
    for e in range(len(entries)):
        B = blocks[entries[e].block]
        for k in range(N):
            for m in range(N):
                B[k, m] = 0.0
    for j in range(len(columns)):
        _open_column(columns[j], links, force, h, blocks, right[j])
    for i in range(len(links)):
        _empty(links[i])
    for i in range(len(rows)):
        stiffness, damping = _push_row(rows[i], links, restrictions, freedoms, couplings)
        if stiffness != 0.0 or damping != 0.0:
            _add_row(rows[i], links, stiffness, damping, h, blocks, right)
    factor_blocks(columns, entries, updates, blocks)
    solve_blocks(columns, entries, blocks, right)


@helper
def _evaluate(address, arguments):
    """Forces on all particles, by `verlet`.

    Gives: links oriented.
    """
    call(address, ROOM, arguments)


@kernel(
    INTEGER,
    MATRIX,
    MATRIX,
    VECTOR,
    SPRINGS,
    TRIOS,
    PARTICLE_LINKS,
    RESTRICTIONS,
    PARTICLE_FREEDOMS,
    PARTICLE_JOINTS,
    PARTICLE_COUPLINGS,
    CONTACTS,
    GROUNDS,
    TERRAINS,
    MATRIX,
    MATRIX,
    MATRIX,
    FORCES,
    VECTOR,
    CHANNELS,
    VECTOR,
    PARTICLE_RUNS,
    PARTICLE_RUNS,
    CHUNKS,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    STIFF_ROWS,
    COLUMNS,
    ENTRIES,
    INTEGERS,
    CUBE,
    MATRIX,
    INTEGER,
    NUMBER,
)
def implicit_steps(
    # in: address of `verlet`, which evaluates forces
    address,
    # in and out
    x,
    v,
    # layout
    inverse_mass,
    # in and out
    springs,
    trios,
    links,
    restrictions,
    freedoms,
    joints,
    couplings,
    contacts,
    # in
    grounds,
    terrains,
    heights,
    # in and out
    ruts,
    # work
    law,
    # in
    pushes,
    tau,
    drives,
    motion,
    # in and out
    runs,
    # work
    books,
    # layout
    chunks,
    loose,
    # out
    q,
    rates,
    # work
    q_drive,
    v_drive,
    a_drive,
    # out
    holding,
    # in and out
    force,
    # work
    half,
    # layout
    rows,
    columns,
    entries,
    updates,
    # work (n_blocks, 12, 12), (n_columns, 12)
    blocks,
    right,
    # in
    n_steps,
    h,
):
    """Advance by linearly implicit Euler steps; returns early with a status as `verlet` does."""
    run = runs[0]
    for _ in range(n_steps):
        run.time += h  # drives are taken where they are at the end of the step
        run.steps += 1
        run.is_evaluated = 0
        _evaluate(
            address,
            (
                x,
                v,
                inverse_mass,
                springs,
                trios,
                links,
                restrictions,
                freedoms,
                joints,
                couplings,
                contacts,
                grounds,
                terrains,
                heights,
                ruts,
                law,
                pushes,
                tau,
                drives,
                motion,
                runs,
                books,
                chunks,
                loose,
                q,
                rates,
                q_drive,
                v_drive,
                a_drive,
                holding,
                force,
                half,
                0,
                h,
                OPEN,
                CLOSE,
                0,
                len(chunks),
            ),
        )
        if run.status != REACHED:
            return
        for k in range(len(run.power)):
            run.work[k] += h * run.power[k]
        for k in range(6):
            run.impulse[k] += h * run.outside[k]
        _solve(rows, columns, entries, updates, blocks, right, links, restrictions, freedoms, couplings, force, h)
        _move(columns, links, v, right)
        for i in range(len(x)):
            for axis in range(3):
                x[i, axis] += h * v[i, axis]
    run.is_evaluated = 0
