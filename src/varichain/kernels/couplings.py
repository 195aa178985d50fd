"""Couplings as rows: one joint follows another, v_A - multiplier v_B = 0 [HYR, (15)].

Where a loop's row is a wrench on two bodies, a coupling's is a generalized force on two freedoms: 1 on that of joint A,
-multiplier on that of joint B. It is propagated as a wrench is: e_kr = c_k + s_k . f, f <- f - U_k e_kr / d_k.
"""

from varichain.kernels.jit import helper, routine
from varichain.kernels.records import COORDINATES
from varichain.kernels.tuples import ZERO6, add6, add_scaled6, dot6, load6

_ROUNDING = 2.3e-16


@helper
def freedoms_of(bodies, loop):
    """Freedoms of the two joints; each has one."""
    return bodies[loop.body_A].dof, bodies[loop.body_B].dof


@routine
def walk_coupling(
    # in: force left on the way, freedoms support[first : last]
    f,
    loop,
    k_A,
    k_B,
    support,
    first,
    last,
    dofs,
    # out
    propagated,
):
    """Walk a coupling's row through freedoms towards the root; returns the remaining wrench."""
    place = loop.propagated + 4 * (first - loop.support)  # one row in a group of four
    for i in range(first, last):
        k = support[i]
        dof = dofs[k]
        e = dot6(load6(dof.s), f)
        if k == k_A:
            e += 1.0
        elif k == k_B:
            e -= loop.pitch
        f = add_scaled6(f, -e * dof.d_inverse, load6(dof.U))
        propagated[place] = e
        place += 4
    return f


@routine
def propagate_coupling(bodies, loop, support, dofs, propagated):
    """Propagate the row of a coupling: joint A's own way, joint B's own way, then the way they share."""
    k_A, k_B = freedoms_of(bodies, loop)
    end_A = loop.support + loop.n_support_A
    end_B = end_A + loop.n_support_B
    end = loop.support + loop.n_support
    f = walk_coupling(ZERO6, loop, k_A, k_B, support, loop.support, end_A, dofs, propagated)
    g = walk_coupling(ZERO6, loop, k_A, k_B, support, end_A, end_B, dofs, propagated)
    walk_coupling(add6(f, g), loop, k_A, k_B, support, end_B, end, dofs, propagated)


@helper
def count_loops(loops):
    """Numbers of loops that joints close, and of couplings, which follow them; modal loops are last."""
    n_loops = 0
    while n_loops < len(loops) and loops[n_loops].orientation != COORDINATES and not loops[n_loops].is_modal:
        n_loops += 1
    n_couplings = 0
    while n_loops + n_couplings < len(loops) and not loops[n_loops + n_couplings].is_modal:
        n_couplings += 1
    return n_loops, n_couplings


@routine
def load_slips(bodies, loops, q):
    """Position errors of all couplings; zero where the error is only rounding of large coordinates.

    Gives: slips loaded.
    """
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            x, y = q[bodies[loop.body_A].q], loop.pitch * q[bodies[loop.body_B].q]
            slip = x - y - loop.angle
            loop.slip = slip if abs(slip) > _ROUNDING * (abs(x) + abs(y) + abs(loop.angle)) else 0.0


@routine
def load_slip_rates(bodies, loops, v):
    """Velocity errors of all couplings.

    Gives: slip rates loaded.
    """
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            loop.slip_rate = slip_of(bodies, loop, v)


@helper
def slip_of(bodies, loop, x):
    """Row of a coupling times velocities, jumps or accelerations x of the tree's freedoms."""
    k_A, k_B = freedoms_of(bodies, loop)
    return x[k_A] - loop.pitch * x[k_B]


@helper
def forced_slip(bodies, dofs, loop):
    """Row of a coupling times the prescribed accelerations, or jumps, of locked freedoms."""
    k_A, k_B = freedoms_of(bodies, loop)
    slip = dofs[k_A].forced if dofs[k_A].lock else 0.0
    return slip - (loop.pitch * dofs[k_B].forced if dofs[k_B].lock else 0.0)
