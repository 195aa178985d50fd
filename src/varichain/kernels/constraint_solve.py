"""The one solve of all constraints: factor once, then accelerations, jumps or steps from their right-hand sides."""

from varichain.kernels.articulated import store_articulated, store_force
from varichain.kernels.factorization import SURELY_DEPENDENT, SURELY_INDEPENDENT, choose_rows, factor_gram, solve_gram
from varichain.kernels.forward_dynamics import inward_articulated, outward_accelerations
from varichain.kernels.gram import fill_gram
from varichain.kernels.inertias import about_reference, external_force, rigid_mul
from varichain.kernels.jit import routine
from varichain.kernels.loops import place_rows
from varichain.kernels.propagation import add_multipliers, propagate
from varichain.kernels.tables import (
    open_answers,
    open_bodies,
    open_dofs,
    open_gram,
    open_groups,
    open_loops,
    open_multipliers,
    open_pairs,
    open_propagated,
    open_rows,
    open_shared,
    open_support,
)
from varichain.kernels.tuples import add_scaled6, load3, load6, load9, scale3


@routine
def factor(table):
    """Propagated rows, Gram matrix and its factor.

    Returns the smallest pivot kept and the largest dropped, as parts of their diagonals.

    Needs: inertias articulated, rows placed.
    Gives: rows factored.
    """
    dofs, loops, rows, pairs = open_dofs(table), open_loops(table), open_rows(table), open_pairs(table)
    support, shared = open_support(table), open_shared(table)
    groups, propagated, gram = open_groups(table), open_propagated(table), open_gram(table)
    propagate(open_bodies(table), dofs, loops, rows, support, propagated)
    fill_gram(loops, pairs, support, shared, groups, dofs, propagated, rows, gram)
    smallest_kept, largest_dropped = factor_gram(False, groups, rows, gram)
    if smallest_kept < SURELY_INDEPENDENT or largest_dropped > SURELY_DEPENDENT:
        fill_gram(loops, pairs, support, shared, groups, dofs, propagated, rows, gram)
        smallest_kept, largest_dropped = choose_rows(groups, gram, rows)
        factor_gram(True, groups, rows, gram)
    return smallest_kept, largest_dropped


@routine
def solve(table, out):
    """Multipliers from the rows' right-hand sides, then accelerations (or jumps, or steps) of all freedoms.

    Needs: rows factored.
    """
    bodies, dofs, multipliers = open_bodies(table), open_dofs(table), open_multipliers(table)
    answers = open_answers(table)
    solve_gram(open_groups(table), open_gram(table), multipliers, answers)
    add_multipliers(open_loops(table), open_support(table), open_propagated(table), answers, dofs)
    outward_accelerations(bodies, dofs, out)


@routine
def factor_at_rest(table):
    """Articulated inertias and the factor of G, without velocities and torques.

    Body forces: prescribed jumps of locked freedoms and external impulses only.

    Needs: bodies placed.
    Gives: bias forces loaded, torques loaded.
    """
    bodies, dofs = open_bodies(table), open_dofs(table)
    for i in range(1, len(bodies)):
        body = bodies[i]
        c = load3(body.c)
        h, I = scale3(body.mass, c), about_reference(body, load9(body.R), c)
        store_articulated(body.I_A, body.mass, h, I)
        asked = rigid_mul(body.mass, h, I, load6(body.forced))
        store_force(body.f, add_scaled6(asked, -1.0, external_force(body, load3(body.p))))
    for k in range(len(dofs)):
        dofs[k].u = 0.0
    inward_articulated(bodies, dofs)
    place_rows(bodies, open_loops(table), open_rows(table))
    return factor(table)
