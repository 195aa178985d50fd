"""MuJoCo's ways to the same answers: its whole passes with all else switched off, and the bare stages one by one.

The state lies in MjData from the start, where a loop that thinks in MuJoCo's terms would keep it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mujoco as mj
import numpy as np

from varichain.bench.contenders import (
    CONSTRAINED,
    FORWARD,
    IMPACT,
    INVERSE,
    LONGEST,
    MASS,
    TIME_STEP,
    Contender,
    agreement_of_accelerations,
    method_of,
    steps_of,
)
from varichain.bench.mechanisms import Question
from varichain.bench.twin_mujoco import MujocoTwin
from varichain.spatial.arrays import Array

SOFT = "soft loops"
_STAGES = "stages: kinematics, comPos, "
_INTEGRATORS = {"euler": mj.mjtIntegrator.mjINT_EULER, "rk4": mj.mjtIntegrator.mjINT_RK4}


def mujoco_contenders(task: str, given: Question) -> list[Contender]:
    """All ways, each checked and timed: none is known beforehand to be the fastest. It has no impacts."""
    if task == IMPACT:
        return []
    twin = MujocoTwin(given.m)
    twin.model.opt.disableflags = _switched_off(given)
    if task == INVERSE:
        return _inverse(twin, given)
    if task == MASS:
        return [_mass(twin, given)]
    if task == FORWARD:
        return _forward(twin, given)
    if task == CONSTRAINED:
        return [_constrained(twin, given)]
    return [_steps(twin, given, method_of(task), steps_of(task))]


def _inverse(twin: MujocoTwin, given: Question) -> list[Contender]:
    model, data, result = twin.model, twin.data(given.s.q, given.s.v), np.empty(twin.model.nv)
    data.qacc[:] = twin.a_from(given.a, given.s.q, given.s.v)

    def stages() -> None:
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, 1, result)

    def whole() -> None:
        mj.mj_inverseSkip(model, data, 0, 1)  # no stage skipped, sensors skipped

    return [
        Contender("MuJoCo", "mj_inverse", whole, lambda: twin.v_to(data.qfrc_inverse, given.s.q)),
        Contender("MuJoCo", _STAGES + "comVel, rne", stages, lambda: twin.v_to(result, given.s.q)),
    ]


def _forward(twin: MujocoTwin, given: Question) -> list[Contender]:
    model, data = twin.model, twin.data(given.s.q, given.s.v)
    tau = data.qfrc_applied[:] = twin.v_from(given.tau, given.s.q)
    bias, force, result = np.empty(model.nv), np.empty((1, model.nv)), np.empty((1, model.nv))

    def whole() -> None:
        mj.mj_forwardSkip(model, data, 0, 1)  # no stage skipped, sensors skipped

    def stages() -> None:
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_makeM(model, data)
        mj.mj_factorM(model, data)
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, 0, bias)
        np.subtract(tau, bias, force[0])
        mj.mj_solveM(model, data, result, force)

    stage_names = _STAGES + "makeM, factorM, comVel, rne, solveM"
    near = agreement_of_accelerations(given)
    return [
        Contender("MuJoCo", "mj_forward", whole, lambda: _accelerations(twin, given, data.qacc), tolerance=near),
        Contender("MuJoCo", stage_names, stages, lambda: _accelerations(twin, given, result[0]), tolerance=near),
    ]


def _mass(twin: MujocoTwin, given: Question) -> Contender:
    model, data, M = twin.model, twin.data(given.s.q, given.s.v), np.empty((twin.model.nv, twin.model.nv))

    def stages() -> None:
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_makeM(model, data)
        mj.mj_fullM(model, data, M)

    return Contender("MuJoCo", _STAGES + "makeM, fullM", stages, lambda: twin.matrix_to(M, given.s.q))


def _constrained(twin: MujocoTwin, given: Question) -> Contender:
    model, data = twin.model, twin.data(given.s.q, given.s.v)
    data.qfrc_applied[:] = twin.v_from(given.tau, given.s.q)

    def whole() -> None:
        mj.mj_forwardSkip(model, data, 0, 1)

    return Contender("MuJoCo", "mj_forward", whole, lambda: _accelerations(twin, given, data.qacc), SOFT)


def _steps(twin: MujocoTwin, given: Question, method: str, steps: int) -> Contender:
    model, data, s = twin.model, twin.data(given.s.q, given.s.v), given.s
    model.opt.timestep, model.opt.integrator = TIME_STEP, _INTEGRATORS[method]
    q, v = twin.q_from(s.q), twin.v_from(s.v, s.q)

    def run() -> None:
        if steps > 1 or data.time > LONGEST:
            data.qpos[:], data.qvel[:], data.time = q, v, 0.0
        mj.mj_step(model, data, steps)

    differs = f"{SOFT}, other errors of the method" if given.m.virtual_links else "other errors of the method"
    return Contender("MuJoCo", f"mj_step, {method}", run, lambda: _velocities(twin, data), differs)


def mujoco_recompile(given: Question) -> Callable[[], None]:
    """Connect, and at the next call cut, one more hand: an equality between two sites, then a recompile."""
    twin = MujocoTwin(given.m)
    data, name = mj.MjData(twin.model), f"{given.m.virtual_links[0].joint.name}.0"  # type: ignore[union-attr]
    added: list[Any] = []

    def change() -> None:
        if added:
            twin.spec.delete(added.pop())
        else:
            equality = twin.spec.add_equality()
            equality.type, equality.objtype = mj.mjtEq.mjEQ_CONNECT, mj.mjtObj.mjOBJ_SITE
            equality.name1, equality.name2 = f"{name}A", f"{name}B"
            added.append(equality)
        twin.spec.recompile(twin.model, data)

    return change


def mujoco_rollout(given: Question, q: Array, v: Array, steps: int, threads: int) -> Callable[[], object]:
    """Runs of a number of Euler steps from many states of ours (n, n_q) and (n, n_v), on a pool of threads."""
    from mujoco import rollout

    twin = MujocoTwin(given.m)
    twin.model.opt.disableflags = _switched_off(given)
    twin.model.opt.timestep = TIME_STEP
    start = np.zeros((len(q), mj.mj_stateSize(twin.model, mj.mjtState.mjSTATE_FULLPHYSICS)))
    start[:, 1 : 1 + twin.model.nq] = [twin.q_from(row) for row in q]
    start[:, 1 + twin.model.nq : 1 + twin.model.nq + twin.model.nv] = [
        twin.v_from(speed, row) for row, speed in zip(q, v, strict=True)
    ]
    datas = [mj.MjData(twin.model) for _ in range(threads)]
    pool = rollout.Rollout(nthread=threads)
    out = np.empty((len(q), steps, start.shape[1]))
    return lambda: pool.rollout(twin.model, datas, start, nstep=steps, state=out, skip_checks=False)


def _accelerations(twin: MujocoTwin, given: Question, found: Array) -> Array:
    return twin.a_to(np.array(found), given.s.q, given.s.v)


def _velocities(twin: MujocoTwin, data: Any) -> Array:
    return twin.v_to(np.array(data.qvel), twin.q_to(np.array(data.qpos)))


def _switched_off(given: Question) -> int:
    """Disable flags for what a question does not contain: contacts, limits, actuators; loops too where it has none."""
    bits = mj.mjtDisableBit
    names = ["mjDSBL_CONTACT", "mjDSBL_LIMIT", "mjDSBL_ACTUATION", "mjDSBL_SENSOR"]
    if not given.m.virtual_links:
        names = [name for name in dir(bits) if name.startswith("mjDSBL_") and name != "mjDSBL_GRAVITY"]
    return sum(int(getattr(bits, name)) for name in names)
