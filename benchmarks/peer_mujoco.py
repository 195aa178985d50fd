"""MuJoCo's ways to the same answers: its whole passes with all else switched off, and the bare stages one by one.

The state lies in MjData from the start, where a loop that thinks in MuJoCo's terms would keep it; inverse and forward
dynamics have an MjData each, since both use qacc.
"""

from __future__ import annotations

from typing import Any

import mujoco as mj
import numpy as np
from peers import FORWARD, INVERSE, MASS, Array, Contender, Question

from oracles.mujoco_model import mujoco_model

KINEMATICS = "mj_kinematics + mj_comPos + "


def mujoco_contenders(given: Question) -> list[Contender]:
    """All ways, each checked and timed: none is known beforehand to be the fastest."""
    twin = mujoco_model(given.mechanism)
    twin.model.opt.disableflags = _all_but_gravity()
    return [*_inverse(twin, given), *_forward(twin, given), _mass(twin, given)]


def _inverse(twin: Any, given: Question) -> list[Contender]:
    model, data, result = twin.model, _data(twin, given), np.empty(twin.model.nv)
    data.qacc[:] = twin.a_from(given.a, given.q, given.v)

    def whole() -> None:
        mj.mj_inverseSkip(model, data, 0, 1)  # no stage skipped, sensors skipped

    def stages() -> None:
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, 1, result)

    def torques(found: Array) -> Array:
        return twin.v_to(np.array(found), given.q)

    return [
        Contender(INVERSE, "mujoco", "mj_inverse", whole, lambda: torques(data.qfrc_inverse)),
        Contender(INVERSE, "mujoco", KINEMATICS + "mj_comVel + mj_rne", stages, lambda: torques(result)),
    ]


def _forward(twin: Any, given: Question) -> list[Contender]:
    model, data, tau = twin.model, _data(twin, given), twin.v_from(given.tau, given.q)
    data.qfrc_applied[:] = tau
    bias, force, result = np.empty(model.nv), np.empty((1, model.nv)), np.empty((1, model.nv))

    def whole() -> None:
        mj.mj_forwardSkip(model, data, 0, 1)  # no stage skipped, sensors skipped

    def parts() -> None:
        mj.mj_fwdPosition(model, data)
        mj.mj_fwdVelocity(model, data)
        mj.mj_fwdAcceleration(model, data)

    def stages() -> None:
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_makeM(model, data)
        mj.mj_factorM(model, data)
        mj.mj_comVel(model, data)
        mj.mj_rne(model, data, 0, bias)
        np.subtract(tau, bias, force[0])
        mj.mj_solveM(model, data, result, force)

    def accelerations(found: Array) -> Array:
        return twin.a_to(np.array(found), given.q, given.v)

    part_names = "mj_fwdPosition + mj_fwdVelocity + mj_fwdAcceleration"
    stage_names = KINEMATICS + "mj_makeM + mj_factorM + mj_comVel + mj_rne + mj_solveM"
    return [
        Contender(FORWARD, "mujoco", "mj_forward", whole, lambda: accelerations(data.qacc)),
        Contender(FORWARD, "mujoco", part_names, parts, lambda: accelerations(data.qacc_smooth)),
        Contender(FORWARD, "mujoco", stage_names, stages, lambda: accelerations(result[0])),
    ]


def _mass(twin: Any, given: Question) -> Contender:
    model, data, M = twin.model, _data(twin, given), np.empty((twin.model.nv, twin.model.nv))

    def stages() -> None:
        mj.mj_kinematics(model, data)
        mj.mj_comPos(model, data)
        mj.mj_makeM(model, data)
        mj.mj_fullM(model, data, M)

    return Contender(MASS, "mujoco", KINEMATICS + "mj_makeM + mj_fullM", stages, lambda: twin.matrix_to(M, given.q))


def _data(twin: Any, given: Question) -> Any:
    """New MjData at the question's state."""
    data = mj.MjData(twin.model)
    data.qpos[:], data.qvel[:] = twin.q_from(given.q), twin.v_from(given.v, given.q)
    return data


def _all_but_gravity() -> int:
    """Disable flags for everything that the question does not contain: contacts, limits, actuators, sensors, ..."""
    bits = mj.mjtDisableBit
    names = [name for name in dir(bits) if name.startswith("mjDSBL_") and name != "mjDSBL_GRAVITY"]
    return sum(int(getattr(bits, name)) for name in names)
