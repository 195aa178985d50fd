"""The chain of freedoms from B to A of a loop, seen from B: how A moves, and how that changes with each freedom.

Freedom k of the chain moves A by the twist tau_k = s_k on A's way, -s_k on B's, about the loop's point. U and G are
velocities and accelerations of bodies against B, X = U_A, Y = G_A. With P the parent of the body of j:

    dX/dq_j = tau_j x (X - U_P),     dY/dq_j = tau_j x (Y - G_P) + (U_P x tau_j) x (X - U_P)
    dtau_k/dq_j = tau_j x tau_k if j comes before k on the way from B to A; in one ball, if the ball is on A's way
"""

from varichain.kernels.function_leaves import last_dof
from varichain.kernels.jit import helper, routine
from varichain.kernels.tuples import (
    ZERO6,
    add3,
    add6,
    add_scaled6,
    angular,
    cross3,
    cross_motion,
    dot6,
    join6,
    linear,
    load3,
    load6,
    store6,
)

# Columns of the work rows of a chain: tau, its rate seen from B, dX/dq, dY/dq, the freedom.
CHAIN_WORK = 25
_FREEDOM = 24


@helper
def at_point(V, x):
    """Motion vector about the reference point, moved to the point x."""
    return join6(angular(V), add3(linear(V), cross3(angular(V), x)))


@helper
def cross_force(V, f):
    """Rate of a force f that moves with velocity V: V x* f."""
    return join6(add3(cross3(angular(V), angular(f)), cross3(linear(V), linear(f))), cross3(angular(V), linear(f)))


@helper
def freedom_at(chain_work, i):
    """Freedom in place i of a chain."""
    return int(chain_work[i, _FREEDOM])


@routine
def _write_way(dofs, k, end, place, chain_work):
    """Write the freedoms from k inward to (not including) `end`; returns the next place."""
    while k != end:
        chain_work[place, _FREEDOM] = k
        k, place = dofs[k].parent, place + 1
    return place


@routine
def _write_ways(bodies, dofs, loop, chain_work):
    """Write the freedoms of A's own way, then of B's, each from its end inward; returns where A's end, and B's."""
    k_A, k_B = last_dof(bodies[loop.body_A]), last_dof(bodies[loop.body_B])
    i, j = k_A, k_B
    while i != j:  # of two freedoms on ways that meet, the outer one has the larger number
        if i > j:
            i = dofs[i].parent
        else:
            j = dofs[j].parent
    n_A = _write_way(dofs, k_A, i, 0, chain_work)
    return n_A, _write_way(dofs, k_B, i, n_A, chain_work)


@helper
def motion_of(body, x, V_B, A_B):
    """Velocity and acceleration of a body against B, about the loop's point, which is x from its reference point.

    Needs: bodies moved, loop points placed.
    """
    U = add_scaled6(at_point(load6(body.V), x), -1.0, V_B)
    G = add_scaled6(at_point(load6(body.A), x), -1.0, A_B)
    return U, add_scaled6(G, -1.0, cross_motion(V_B, U))


@routine
def write_chain(bodies, dofs, loop, chain_work):
    """Write the work rows of a loop's chain; returns X, Y and the ends of A's way and of the chain.

    Bodies must have their whole accelerations in A.

    Needs: bodies moved, loop points placed.
    """
    x_A, x_B = load3(loop.x_A), load3(loop.x_B)
    B = bodies[loop.body_B]
    V_B, A_B = at_point(load6(B.V), x_B), at_point(load6(B.A), x_B)
    X, Y = motion_of(bodies[loop.body_A], x_A, V_B, A_B)
    n_A, n = _write_ways(bodies, dofs, loop, chain_work)
    for i in range(n):
        is_on_A = i < n_A
        x = x_A if is_on_A else x_B
        dof = dofs[freedom_at(chain_work, i)]
        body = bodies[dof.body]
        twist = at_point(load6(dof.s), x)
        if not is_on_A:
            twist = add_scaled6(ZERO6, -1.0, twist)
        U, _ = motion_of(body, x, V_B, A_B)
        U_P, G_P = motion_of(bodies[body.parent], x, V_B, A_B)
        ahead = add_scaled6(X, -1.0, U_P)
        row = chain_work[i]
        store6(row[0:6], twist)
        store6(row[6:12], cross_motion(U, twist))
        store6(row[12:18], cross_motion(twist, ahead))
        bend = cross_motion(cross_motion(U_P, twist), ahead)
        store6(row[18:24], add6(cross_motion(twist, add_scaled6(Y, -1.0, G_P)), bend))
    return X, Y, (n_A, n)


@helper
def _moves_twist(dofs, chain_work, n_A, j, k):
    """Whether the chain's freedom j moves the twist of its freedom k."""
    is_j_on_A, is_k_on_A = j < n_A, k < n_A
    if is_j_on_A != is_k_on_A:
        return is_k_on_A
    is_one_body = dofs[freedom_at(chain_work, j)].body == dofs[freedom_at(chain_work, k)].body
    if is_j_on_A:
        return is_one_body or k < j  # ways are listed from their ends towards the root
    return j < k and not is_one_body


@routine
def add_wrench_change(
    # in: wrench f on A, about the loop's point, and its change along the chain's freedom j; a number for both
    dofs,
    chain_work,
    ends,
    j,
    f,
    change,
    factor,
    # in and out (n_v, n_v)
    by_q,
):
    """Add the derivative by freedom j of the generalized forces that a wrench on A, and its opposite on B, mean."""
    twist_j, column = load6(chain_work[j, 0:6]), freedom_at(chain_work, j)
    moved = add_scaled6(change, -1.0, cross_force(twist_j, f))  # f . (tau_j x tau_k) = -(tau_j x* f) . tau_k
    for k in range(ends[1]):
        twist_k = load6(chain_work[k, 0:6])
        is_moved = _moves_twist(dofs, chain_work, ends[0], j, k)
        by_q[freedom_at(chain_work, k), column] += factor * dot6(twist_k, moved if is_moved else change)
