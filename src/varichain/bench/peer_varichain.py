"""Our own ways: the prepared handle, which writes into arrays made beforehand, and the engine of simulations."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from varichain.bench.contenders import (
    CONSTRAINED,
    D_CONSTRAINED,
    D_FORWARD,
    D_INVERSE,
    FORWARD,
    IMPACT,
    INVERSE,
    LEFT_OPEN,
    LONGEST,
    MASS,
    TIME_STEP,
    Contender,
    method_of,
    steps_of,
)
from varichain.bench.mechanisms import Question
from varichain.simulation import Simulation
from varichain.simulation.controls import Controls
from varichain.simulation.settings import checked_settings
from varichain.spatial.arrays import Array


def varichain_contenders(task: str, given: Question) -> list[Contender]:
    """The one way that we have for a task; steps by Runge-Kutta, runs by both methods."""
    m, q, v = given.m, given.s.q.copy(), given.s.v.copy()
    handle, n = m.prepare(), m.n_v
    vector, matrix = np.empty(n), np.empty((n, n))

    def one(calls: str, run: Callable[[], object], result: Array = vector) -> list[Contender]:
        return [Contender("varichain", calls, run, lambda: np.array(result))]

    if task == INVERSE:
        return one("handle.inverse_dynamics", lambda: handle.inverse_dynamics(q, v, given.a, vector))
    if task == MASS:
        return one("handle.mass_matrix", lambda: handle.mass_matrix(q, matrix), matrix)
    if task in (FORWARD, CONSTRAINED):
        return one("handle.forward_dynamics", lambda: handle.forward_dynamics(q, v, given.tau, vector))
    if task == D_INVERSE:
        cube = np.empty((3, n, n))
        return one(
            "handle.inverse_dynamics_derivatives",
            lambda: handle.inverse_dynamics_derivatives(q, v, given.a, cube),
            cube,
        )
    if task in (D_FORWARD, D_CONSTRAINED):
        cube = np.empty((3, n, n))
        return one(
            "handle.forward_dynamics_derivatives",
            lambda: handle.forward_dynamics_derivatives(q, v, given.tau, cube),
            cube,
        )
    if task == IMPACT:
        before = impact_velocity(given)
        return one("handle.velocity_jump", lambda: handle.velocity_jump(q, before, vector))
    steps = _single_step if steps_of(task) == 1 else _simulation
    return [steps(given, task)]


def impact_velocity(given: Question) -> Array:
    """Velocities (n_v,) with which all loops open, as at the instant before they close."""
    velocity: Array = given.s.v + given.a
    return velocity


def _single_step(given: Question, task: str) -> Contender:
    """Steps that Python calls one by one, as in a control loop; they follow each other for a while."""
    handle, method = given.m.prepare(), method_of(task)
    q, v, tau, n_taken = given.s.q.copy(), given.s.v.copy(), np.zeros(given.m.n_v), 0

    def run() -> None:
        nonlocal n_taken
        if n_taken * TIME_STEP > LONGEST:
            q[:], v[:], n_taken = given.s.q, given.s.v, 0
        n_taken += 1
        handle.advance(q, v, tau, TIME_STEP, 1, method, closed)

    closed = task != LEFT_OPEN
    calls = f"handle.advance, {method}" + ("" if closed else ", closed=False")
    return Contender("varichain", calls, run, lambda: v.copy())


def _simulation(given: Question, task: str) -> Contender:
    """Steps in the core, with a sample at their end."""
    method, steps = method_of(task), steps_of(task)
    settings = checked_settings(method, TIME_STEP, steps * TIME_STEP, 1e-9, None, "off")
    simulation = Simulation(given.m.copy(), given.s.copy(), settings, [], Controls(None, None, ()))
    simulation.begin()
    start, engine = simulation.engine.snapshot(), simulation.engine

    def run() -> None:
        engine.restore(start)
        engine.advance(engine.time + steps * TIME_STEP, steps)

    return Contender("varichain", f"{method}, in the core", run, lambda: engine.v.copy())
