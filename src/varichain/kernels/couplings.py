"""Couplings as rows: one joint follows another, v_A - multiplier v_B = 0 [HYR, (15)].

Where a loop's row is a wrench on two bodies, a coupling's is a generalized force on two freedoms: 1 on that of joint A,
-multiplier on that of joint B. It is propagated as a wrench is: e_kr = c_k + s_k . f, f <- f - U_k e_kr / d_k.
"""

from varichain.kernels.jit import helper, routine
from varichain.kernels.records import COORDINATES
from varichain.kernels.tuples import ZERO6, add6, add_scaled6, dot6, load6


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
    """Walk a coupling's row through freedoms towards the root; returns what is left of the wrench."""
    place = loop.propagated + 3 * (first - loop.support)  # one row, padded to three
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
        place += 3
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
def _rate(dof, of_body, of_parent):
    """Rate of a freedom from the motions of its body and the parent, which differ by it alone."""
    s = load6(dof.s)
    return dot6(s, add_scaled6(load6(of_body), -1.0, load6(of_parent))) / dot6(s, s)


@routine
def load_slips(bodies, loops, q):
    """Position errors of all couplings."""
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            loop.slip = q[bodies[loop.body_A].q] - loop.pitch * q[bodies[loop.body_B].q] - loop.angle


@routine
def load_slip_rates(bodies, dofs, loops):
    """Velocity errors of all couplings, of bodies that have been moved."""
    for i in range(len(loops)):
        loop = loops[i]
        if loop.orientation == COORDINATES:
            A, B = bodies[loop.body_A], bodies[loop.body_B]
            v_A = _rate(dofs[A.dof], A.V, bodies[A.parent].V)
            loop.slip_rate = v_A - loop.pitch * _rate(dofs[B.dof], B.V, bodies[B.parent].V)


@helper
def slip_change(bodies, dofs, loop):
    """What the last solution does to a coupling's row: its jump, step or acceleration."""
    A, B = bodies[loop.body_A], bodies[loop.body_B]
    a_A = _rate(dofs[A.dof], A.dA, bodies[A.parent].dA)
    return a_A - loop.pitch * _rate(dofs[B.dof], B.dA, bodies[B.parent].dA)
