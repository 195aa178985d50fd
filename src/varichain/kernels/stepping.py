"""Runge-Kutta 4 on the manifold of configurations, with all loops closed after every step."""

from varichain.kernels.charts import chart_rate
from varichain.kernels.closure import close_positions
from varichain.kernels.constrained_dynamics import constrained_accelerations
from varichain.kernels.impact import jump
from varichain.kernels.jit import INTEGER, MATRIX, NUMBER, TABLE, VECTOR, kernel
from varichain.kernels.kinematics import move_all
from varichain.kernels.manifold import step_all
from varichain.kernels.tables import open_bodies, open_dofs, open_loops

# Newton steps end when the loops are closed to rounding; the number is a bound for steps that are far too long.
_CLOSED, _MOST_NEWTON_STEPS = 1e-13, 5


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
            jump(table, v, u)
            for k in range(n_v):
                v[k] += u[k]
