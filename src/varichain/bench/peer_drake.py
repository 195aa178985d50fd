"""Drake's ways to the same answers, on open chains; its loops exist in discrete time alone.

Drake keeps what it has computed as long as the state stays: the state is set anew before every call.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from pydrake.multibody.tree import MultibodyForces

from varichain.bench.contenders import FORWARD, INVERSE, MASS, Contender, agreement_of_accelerations
from varichain.bench.mechanisms import Question
from varichain.bench.twin_drake import DrakeTwin
from varichain.spatial.arrays import Array


def drake_contenders(task: str, given: Question) -> list[Contender]:
    """CalcInverseDynamics, CalcMassMatrix, and the derivatives of the plant."""
    if task not in (INVERSE, MASS, FORWARD):
        return []
    twin = DrakeTwin(given.m)
    plant, context, T = twin.plant, twin.context, twin.v_map(given.s.q)
    q, v = twin.q_from(given.s.q), T @ given.s.v
    a, tau, state = T @ (given.a + twin.rate(given.s.v)), T @ given.tau, np.concatenate([q, v])
    found: dict[str, Any] = {}

    def timed(work: Callable[[], Any]) -> Callable[[], None]:
        def run() -> None:
            plant.SetPositionsAndVelocities(context, state)
            found["answer"] = work()

        return run

    if task == INVERSE:
        forces = MultibodyForces(plant)

        def inverse() -> Array:
            forces.SetZero()
            plant.CalcForceElementsContribution(context, forces)
            torques: Array = plant.CalcInverseDynamics(context, a, forces)
            return torques

        return [Contender("Drake", "CalcInverseDynamics", timed(inverse), lambda: T.T @ found["answer"])]
    if task == MASS:
        mass = timed(lambda: plant.CalcMassMatrix(context))
        return [Contender("Drake", "CalcMassMatrix", mass, lambda: T.T @ found["answer"] @ T)]
    plant.get_applied_generalized_force_input_port().FixValue(context, tau)
    port = plant.get_generalized_acceleration_output_port()

    def accelerations() -> Array:
        answer: Array = T.T @ found["answer"] - twin.rate(given.s.v)
        return answer

    run, near = timed(lambda: port.Eval(context)), agreement_of_accelerations(given)
    return [Contender("Drake", "generalized_acceleration port", run, accelerations, tolerance=near)]
