"""Pinocchio's ways to the same answers, called from Python on arrays that lie ready in its order."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pinocchio as pin
from peers import FORWARD, INVERSE, MASS, Array, Contender, Question

from oracles.pinocchio_model import pinocchio_model


def pinocchio_contenders(given: Question) -> list[Contender]:
    """The three algorithms; two of them exist in two conventions, of which either may be the faster one."""
    twin = pinocchio_model(given.mechanism)
    model, data = twin.model, twin.data
    q, (v, a, tau) = twin.q_from(given.q), (twin.v_from(x) for x in (given.v, given.a, given.tau))
    world, local = pin.Convention.WORLD, pin.Convention.LOCAL

    def rnea() -> Any:
        return pin.rnea(model, data, q, v, a)

    def aba(convention: Any) -> Callable[[], Any]:
        return lambda: pin.aba(model, data, q, v, tau, convention)

    def crba(convention: Any) -> Callable[[], Any]:
        return lambda: pin.crba(model, data, q, convention)

    def torques() -> Array:
        return twin.v_to(np.array(data.tau))

    def accelerations() -> Array:
        return twin.v_to(np.array(data.ddq))

    def matrix() -> Array:
        return twin.matrix_to(np.array(data.M))

    return [
        Contender(INVERSE, "pinocchio", "rnea", rnea, torques),
        Contender(FORWARD, "pinocchio", "aba, world convention", aba(world), accelerations),
        Contender(FORWARD, "pinocchio", "aba, local convention", aba(local), accelerations),
        Contender(MASS, "pinocchio", "crba, world convention", crba(world), matrix),
        Contender(MASS, "pinocchio", "crba, local convention", crba(local), matrix),
    ]
