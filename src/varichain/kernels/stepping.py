"""Runge-Kutta 4 on the manifold of configurations, with all loops closed after every step."""

from varichain.kernels.closure import close_positions
from varichain.kernels.constrained_dynamics import constrained_accelerations
from varichain.kernels.impact import jump
from varichain.kernels.jit import INTEGER, MATRIX, NUMBER, TABLE, VECTOR, kernel, routine
from varichain.kernels.kinematics import move_all
from varichain.kernels.manifold import quaternion_exp, step_all
from varichain.kernels.records import FREE, SPHERICAL
from varichain.kernels.tables import open_bodies, open_dofs, open_loops
from varichain.kernels.tuples import add3, cross3, mat_vec, matrix_from_quaternion, scale3

# Newton steps end when the loops are closed to rounding; the number is a bound for steps that are far too long.
_CLOSED, _MOST_NEWTON_STEPS = 1e-13, 5


@routine
def chart_rate(bodies, u, v, rate_out):
    """Rate of the step u from the start of a chart, q = q_0 (+) u, while the joints move with v.

    Of a rotation vector u under the angular velocity w in the link's axes: w + u x w / 2 + u x (u x w) / 12 + O(u^4),
    enough for order four; of a free link's position: R(u) v [Munthe-Kaas 1998].
    """
    for b in range(1, len(bodies)):
        body = bodies[b]
        k = body.dof
        if body.kind == SPHERICAL or body.kind == FREE:
            turn, w = (u[k], u[k + 1], u[k + 2]), (v[k], v[k + 1], v[k + 2])
            across = cross3(turn, w)
            rate = add3(w, add3(scale3(0.5, across), scale3(1.0 / 12.0, cross3(turn, across))))
            rate_out[k] = rate[0]
            rate_out[k + 1] = rate[1]
            rate_out[k + 2] = rate[2]
            if body.kind == FREE:
                Q = quaternion_exp(turn[0], turn[1], turn[2])
                R = matrix_from_quaternion(Q[0], Q[1], Q[2], Q[3])
                moving = mat_vec(R, (v[k + 3], v[k + 4], v[k + 5]))
                rate_out[k + 3] = moving[0]
                rate_out[k + 4] = moving[1]
                rate_out[k + 5] = moving[2]
        else:
            rate_out[k] = v[k]


@kernel(TABLE, VECTOR, VECTOR, VECTOR, NUMBER, INTEGER, MATRIX)
def advance(
    # layout
    table,
    # in and out
    q,
    v,
    # in
    tau,
    dt,
    n_steps,
    # work (7, n_q)
    work,
):
    """Move q and v by n_steps steps of dt [s] under constant generalized forces; loops are closed after each."""
    bodies, n_loops, n_v = open_bodies(table), len(open_loops(table)), len(v)
    q_stage, v_stage, u, a = work[0], work[1][:n_v], work[2][:n_v], work[3][:n_v]
    rate, rate_sum, a_sum = work[4][:n_v], work[5][:n_v], work[6][:n_v]
    for _ in range(n_steps):
        rate_sum[:] = 0.0
        a_sum[:] = 0.0
        for stage in range(4):
            part = 0.0 if stage == 0 else (1.0 if stage == 3 else 0.5)
            weight = 1.0 if stage == 0 or stage == 3 else 2.0
            for k in range(n_v):
                u[k] = part * dt * rate[k] if stage > 0 else 0.0
                v_stage[k] = v[k] + (part * dt * a[k] if stage > 0 else 0.0)
            step_all(bodies, q, u, 1.0, q_stage)
            constrained_accelerations(table, q_stage, v_stage, tau, a)
            chart_rate(bodies, u, v_stage, rate)
            for k in range(n_v):
                rate_sum[k] += weight * rate[k]
                a_sum[k] += weight * a[k]
        step_all(bodies, q, rate_sum, dt / 6.0, q)
        for k in range(n_v):
            v[k] += dt / 6.0 * a_sum[k]
        if n_loops > 0:
            close_positions(table, q, _CLOSED, _MOST_NEWTON_STEPS, u)
            move_all(q, v, bodies, open_dofs(table))
            jump(table, u)
            for k in range(n_v):
                v[k] += u[k]
