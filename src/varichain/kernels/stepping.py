"""Steps under constant generalized forces, for control loops of the user.

Loops are closed after every step; or Euler's steps leave them open by what the curvature of the motion makes, and each
undoes what the one before has opened, velocities and positions (deadbeat), as in runs between two samples.
"""

from typing import Any

import numpy as np

from varichain.kernels.context import Context
from varichain.kernels.faults import LARGEST
from varichain.kernels.jit import CONTROLS, INTEGER, MATRIX, NUMBER, RUNS, TABLE, VECTOR, kernel
from varichain.kernels.methods import euler, extra_forces, rk4, scratch_shape
from varichain.kernels.nodes import node_shape, open_node
from varichain.kernels.passages import derivative, foresee_opening, keep_positions, keep_velocities
from varichain.kernels.run_records import CHANNEL, CONTROL, EULER, FORCE, RESTRAINT, RK4, RUN
from varichain.kernels.tables import as_records, no_records

# Methods of `advance` by name.
STEP_METHODS = {"rk4": RK4, "euler": EULER}


def step_memory(n_q: int, n_v: int, method: str) -> tuple[Any, ...]:
    """Working memory of `advance`: its last four arguments. The record has the method, one of STEP_METHODS."""
    controls, runs = as_records(np.zeros(n_v, CONTROL)), as_records(np.zeros(1, RUN))
    runs["method"] = STEP_METHODS[method]
    return controls, runs, np.zeros(node_shape(n_q, n_v)), np.zeros(scratch_shape(n_q, n_v))


@kernel(TABLE, VECTOR, VECTOR, VECTOR, NUMBER, INTEGER, INTEGER, CONTROLS, RUNS, MATRIX, MATRIX)
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
    is_closed,
    # work: records (n_v) and (1), matrices of `node_shape` and `scratch_shape`
    controls,
    runs,
    node_matrix,
    work,
):
    """Move q and v by n_steps steps of dt [s] under constant generalized forces; loops `is_closed` after each.

    Returns 1, and moves nothing, if there are no such steps: their length is no number that can be computed with, or
    their number is negative.
    """
    if not abs(dt) < LARGEST or n_steps < 0:
        return 1
    n_v, run = len(v), runs[0]
    run.is_controlled = 1
    for k in range(n_v):
        controls[k].torque = tau[k]
        controls[k].largest = 1e300
    none = no_records(RESTRAINT)
    extra = extra_forces(work, n_v)
    forces, channels, motion = no_records(FORCE), no_records(CHANNEL), node_matrix[0]
    rate = 0.0 if is_closed else 1.0 / dt
    context = Context(table, none, forces, channels, motion, controls, run, extra, rate, derivative)
    node = open_node(node_matrix, len(q), n_v)
    for _ in range(n_steps):
        powers = derivative(context, 0.0, q, v, node.tau, node.a)
        if run.method == EULER:
            foresee_opening(context, is_closed, node.bend)
            euler(context, dt, q, v, node.a, node.bend, powers, node.step, node.q_end, node.v_end, node.work_done)
        else:
            rk4(context, 0.0, dt, q, v, node.a, powers, work, node.q_end, node.v_end, node.work_done)
        for i in range(len(q)):
            q[i] = node.q_end[i]
        for k in range(n_v):
            v[k] = node.v_end[k]
        if is_closed:
            keep_positions(context, 0.0, q, v, node.step, run.method == EULER)
            keep_velocities(context, q, v, node.step)
    return 0
