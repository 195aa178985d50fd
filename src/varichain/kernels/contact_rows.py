"""Rows of contacts, stops and dry friction, and what the tree and its loops make of impulses in them.

A row's wrenches, or generalized forces, walk towards the root as those of loops do: e_k = g_k + s_k . f,
f <- f - U_k e_k / d_k. W = E D^-1 E^T, less what the loops take back: G_lc^T G_ll^-1 G_lc, with the factor of G_ll that
is there.
"""

from typing import Any, NamedTuple

from varichain.kernels.constraint_solve import solve
from varichain.kernels.factorization import solve_gram
from varichain.kernels.jit import helper, routine
from varichain.kernels.propagation import groups_of
from varichain.kernels.tables import (
    open_answers,
    open_dofs,
    open_gram,
    open_groups,
    open_loops,
    open_multipliers,
    open_propagated,
    open_rows,
    open_support,
)
from varichain.kernels.tuples import ZERO6, add_scaled6, cross3, dot6, join6, load6

# Part of a row's own diagonal that loops must leave of it: a row with less is one that nothing can move.
_MOVABLE = 1e-11


class Problem(NamedTuple):
    """Working memory of a contact problem, for a number of rows that is at most the room's."""

    items: Any
    E: Any  # (room, n_v) propagated rows
    W: Any  # (room, room)
    G: Any  # (room, n_rows of loops) with the rows of the loops
    J: Any  # (room, room + 2) equations of Newton's method
    b: Any  # (room) velocities without impulses
    x: Any  # impulses
    u: Any  # velocities after them
    best: Any
    before: Any
    other: Any
    start: Any  # velocities before the step


N_VECTORS = 7


@helper
def open_problem(items, E, W, G, J, vectors):
    """Arrays as a Problem."""
    return Problem(
        items, E, W, G, J, vectors[0], vectors[1], vectors[2], vectors[3], vectors[4], vectors[5], vectors[6]
    )


@helper
def point_wrench(e, x):
    """Unit force along e at the point x, about the reference point."""
    return join6(cross3(x, e), e)


@routine
def clear_row(row, n):
    """Empty a row."""
    for k in range(n):
        row[k] = 0.0


@routine
def spread_wrench(bodies, dofs, b, f, row):
    """Add a wrench on body b to a propagated row.

    Needs: inertias articulated.
    """
    if b == 0:
        return
    k = bodies[b].dof + bodies[b].n_dof - 1
    while k >= 0:
        dof = dofs[k]
        e = dot6(load6(dof.s), f)
        f = add_scaled6(f, -e * dof.d_inverse, load6(dof.U))
        row[k] += e
        k = dof.parent


@routine
def spread_force(dofs, first, g, n, row):
    """Add generalized forces g on n freedoms of one body, from `first` on, to a propagated row.

    Needs: inertias articulated.
    """
    f, k = ZERO6, first + n - 1
    while k >= 0:
        dof = dofs[k]
        e = dot6(load6(dof.s), f)
        if k == first:
            e += g[0]
        elif k == first + 1 and n > 1:
            e += g[1]
        elif k == first + 2 and n > 2:
            e += g[2]
        f = add_scaled6(f, -e * dof.d_inverse, load6(dof.U))
        row[k] += e
        k = dof.parent


@routine
def _load_shared(loops, support, propagated, dofs, e, shared):
    """Products of one propagated row with the rows of all loops."""
    for l in range(len(loops)):
        loop = loops[l]
        stride, place = 4 * groups_of(loop.n_rows), loop.propagated
        for r in range(loop.n_rows):
            shared[loop.row + r] = 0.0
        for i in range(loop.support, loop.support + loop.n_support):
            k = support[i]
            y = e[k] * dofs[k].d_inverse
            if y != 0.0:
                for r in range(loop.n_rows):
                    shared[loop.row + r] += propagated[place + r] * y
            place += stride


@routine
def fill_problem(table, problem, n):
    """W of n rows whose E has been written; the multipliers of loops are overwritten.

    Needs: rows factored.
    """
    dofs, loops = open_dofs(table), open_loops(table)
    E, W, G = problem.E, problem.W, problem.G
    n_v, n_loop_rows = len(dofs), len(open_rows(table))
    for r in range(n):
        for s in range(r + 1):
            W[r, s] = 0.0
        for k in range(n_v):
            y = E[r, k] * dofs[k].d_inverse
            if y != 0.0:
                for s in range(r + 1):
                    W[r, s] += y * E[s, k]
    if n_loop_rows > 0:
        multipliers, answers = open_multipliers(table), open_answers(table)
        for r in range(n):
            _load_shared(loops, open_support(table), open_propagated(table), dofs, E[r], G[r])
        for r in range(n):
            for l in range(n_loop_rows):
                multipliers[l] = G[r, l]
            solve_gram(open_groups(table), open_gram(table), multipliers, answers)
            own = W[r, r]
            for s in range(r + 1):
                for l in range(n_loop_rows):
                    W[r, s] -= G[s, l] * multipliers[l]
            if W[r, r] < _MOVABLE * own:
                W[r, r] = 0.0
    for r in range(n):
        if W[r, r] == 0.0:
            for s in range(r):
                W[r, s] = 0.0
        for s in range(r):
            if W[s, s] == 0.0:
                W[r, s] = 0.0
            W[s, r] = W[r, s]


@routine
def respond(table, problem, n, x, step_out):
    """Change of the joint velocities, or step of the coordinates, by impulses x of n rows, with all loops kept.

    The multipliers of loops are overwritten by their answers.

    Needs: rows factored.
    """
    dofs, multipliers = open_dofs(table), open_multipliers(table)
    E, G = problem.E, problem.G
    for k in range(len(dofs)):
        dofs[k].u = 0.0
    for l in range(len(multipliers)):
        multipliers[l] = 0.0
    for r in range(n):
        if x[r] != 0.0:
            for k in range(len(dofs)):
                dofs[k].u += E[r, k] * x[r]
            for l in range(len(multipliers)):
                multipliers[l] -= G[r, l] * x[r]
    solve(table, step_out)
