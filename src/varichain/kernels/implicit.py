"""A linearly implicit step: stiff dampers, springs and PD gains of joints do not limit its length.

ROS2 [Verwer 1999] with gamma = 1 - 1 / sqrt(2), L-stable. It is of order two whatever the Jacobian is, so that only
what is stiff need be in it: here damping D and stiffness K of joints and of PD controllers, which are diagonal. Those
of loops and of force elements are soft rows (`kernels/soft_rows.py`). With
y = (q, v), stages k = (k_q, k_v) and z = k_2v + 2 k_1v, the solves are those of forward dynamics with more inertia:

    (M + E) k_1v = F(t, q, v) - g h K v,                                  E = g h D + (g h)^2 K, g = gamma
    (M + E) z    = F(t + h, q + h k_1q, v + h k_1v) - g h K r + 2 E k_1v,     k_1q = v + g h k_1v
    v' = v + h / 2 (k_1v + z),    q' = q + h / 2 (v + c + g h (z - k_1v)),    r = c - 2 k_1q,

where c is the rate of the chart's coordinates in the second stage: its velocities, but of balls and free links.

K and D also act in the stages by -g h (K k_q + D k_v): the work of dampers and controllers is that of the mean force
along the step's own way.
"""

import math

from varichain.kernels.charts import chart_rate
from varichain.kernels.implicit_gains import added_inertia, damped_work, lend_inertia, load_gains, way_of
from varichain.kernels.jit import routine
from varichain.kernels.manifold import step_all
from varichain.kernels.passages import derivative
from varichain.kernels.run_records import N_ACCOUNTS
from varichain.kernels.soft_rows import close_soft_rows, lead_soft_rows, open_soft_rows
from varichain.kernels.tables import open_bodies, open_dofs

_GAMMA = 1.0 - math.sqrt(0.5)


@routine
def implicit_step(context, t, h, q, v, tau, scratch, q_out, v_out, done_out):
    """One step from q, v at time t, whose torques are tau."""
    bodies, dofs = open_bodies(context.table), open_dofs(context.table)
    n, gh = len(v), _GAMMA * h
    extra, rates, accelerations = context.extra, scratch.rates, scratch.accelerations
    D, K, D_pd, K_pd = rates[0, :n], rates[1, :n], rates[2, :n], rates[3, :n]
    tau_1, c, k_1, z = rates[4, :n], rates[5, :n], accelerations[0, :n], accelerations[1, :n]
    q_stage, v_stage, u = scratch.q, scratch.v, scratch.u
    load_gains(dofs, context.controls, tau, D, K, D_pd, K_pd)
    lend_inertia(dofs, gh, D, K, D_pd, K_pd, 1.0)
    for k in range(n):
        extra[k] = -gh * (K[k] + K_pd[k]) * v[k]
    close_soft_rows(context.table, gh, q, v)
    first = derivative(context, t, q, v, tau_1, k_1)
    for k in range(n):
        u[k] = h * (v[k] + gh * k_1[k])
        v_stage[k] = v[k] + h * k_1[k]
    chart_rate(bodies, u, v_stage, c)
    for k in range(n):
        stiff = K[k] + K_pd[k]
        r = c[k] - 2.0 * (v[k] + gh * k_1[k])
        extra[k] = -gh * stiff * r + 2.0 * added_inertia(gh, D[k] + D_pd[k], stiff) * k_1[k]
    lead_soft_rows(context.table, h, gh)
    step_all(bodies, q, u, 1.0, q_stage)
    second = derivative(context, t + h, q_stage, v_stage, scratch.tau, z)
    lend_inertia(dofs, gh, D, K, D_pd, K_pd, -1.0)
    for k in range(n):
        extra[k] = 0.0
        v_out[k] = v[k] + 0.5 * h * (k_1[k] + z[k])
        u[k] = way_of(h, _GAMMA, v[k], c[k], k_1[k], z[k])
    step_all(bodies, q, u, 1.0, q_out)
    for i in range(N_ACCOUNTS):
        done_out[i] = 0.5 * h * (first[i] + second[i])
    controlled, damped = 0.0, open_soft_rows(context.table, h, _GAMMA)
    for k in range(n):
        k_2 = z[k] - 2.0 * k_1[k]
        turned = c[k] - v[k] + gh * (k_2 - k_1[k])  # k_1q + k_2q
        gained = k_1[k] + k_2
        torque = tau_1[k] + scratch.tau[k] - gh * (K_pd[k] * turned + D_pd[k] * gained)
        controlled += 0.5 * torque * way_of(h, _GAMMA, v[k], v_stage[k], k_1[k], z[k])
        damped += damped_work(h, _GAMMA, D[k], v[k], v_stage[k], k_1[k], z[k])
    done_out[0] = controlled
    done_out[1] += damped
