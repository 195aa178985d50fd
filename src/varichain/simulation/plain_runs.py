"""Runs from many states without Python functions: all steps are compiled."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.sharing import share
from varichain.errors import DivergenceError, SimulationError
from varichain.kernels import running
from varichain.kernels.many_runs import run_rows
from varichain.kernels.rows import address_of_kernel
from varichain.kernels.run_records import REACHED, RUN
from varichain.kernels.tables import as_records
from varichain.layout.layout import layout_of
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controls import Controls
from varichain.simulation.discrete import Discrete
from varichain.simulation.engine import Engine
from varichain.simulation.failures import failure
from varichain.simulation.laws import Laws
from varichain.simulation.rollout_result import Rollout
from varichain.simulation.settings import Settings
from varichain.simulation.simulation import Simulation

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Plan:
    """A rollout to be carried out.

    Attributes:
        m: Mechanism of all runs.
        q, v: Start states, (n, n_q) and (n, n_v).
        times: Times of the samples (T,), start and end included [s].
        settings: Method and steps.
        controls: Controllers and external forces.
        laws: Discrete controllers of each run.
        torques: Torques (n, K, n_v), each a zero-order hold over one control step; K may be zero.
        threads: Number of runs at the same time.
    """

    m: Mechanism
    q: Array
    v: Array
    times: Array
    settings: Settings
    controls: Controls
    laws: list[list[Discrete]]
    torques: Array
    threads: int


def plain_rollout(plan: Plan) -> Rollout:
    """Carry out the runs; a failed run is reported, and the others continue."""
    layout, n = layout_of(plan.m), len(plan.q)
    start, end = plan.times[[0, -1]].tolist()
    engines = [_engine(plan, start) for _ in range(min(plan.threads, n))]
    q_out = np.full((n, len(plan.times), plan.q.shape[1]), np.nan)
    v_out = np.full((n, len(plan.times), plan.v.shape[1]), np.nan)
    ends = as_records(np.zeros(n, RUN))
    ticks = start + np.arange(1, plan.torques.shape[1] + 1) * plan.settings.control_step
    ticks[-1:] = np.inf
    cancelled = np.zeros(1, np.int64)
    address = address_of_kernel(running.run, None)
    begins = [(engine.restraints.copy(), engine.laws.records.copy(), engine.record.copy()) for engine in engines]
    step, n_v = plan.settings.step, layout.n_v
    memories = np.zeros((n, sum(law.size + n_v for law in plan.controls.laws)))
    for memory, laws in zip(memories, plan.laws, strict=True):
        memory[:] = Laws(laws, n_v, step).memory

    def run(thread: int, first: int, last: int) -> None:
        given = (plan.q, plan.v, end, plan.torques, ticks, memories, cancelled, q_out, v_out, ends)
        run_rows(address, *engines[thread].arguments, *begins[thread], *given, first, last)  # type: ignore[call-arg]

    share(run, n, plan.threads, at_once=max(1, min(16, n // (4 * plan.threads))), cancel=lambda: cancelled.fill(1))
    faults = {}
    for i in np.flatnonzero(ends["status"] != REACHED).tolist():
        faults[i] = failure(layout, int(ends["status"][i]), float(ends["time"][i]), int(ends["freedom"][i]))
    outcomes = tuple([_outcome(faults.get(i)) for i in range(n)])
    return Rollout(plan.times, q_out, v_out, outcomes, faults, (), layout, _states(plan, memories))


def _states(plan: Plan, memories: Array) -> dict[str, dict[str, Array]]:
    """States of the discrete controllers at the end of all runs, by controller and name."""
    place, found = 0, {}
    for law in plan.controls.laws:
        found[str(law.name)] = law.part(memories[:, place : place + law.size], "state")
        place += law.size + plan.v.shape[1]
    return found


def _engine(plan: Plan, start: float) -> Engine:
    """An engine with a workspace of its own, ready to begin anywhere."""
    state = plan.m.state()
    state.time = start
    return Simulation(plan.m, state, plan.settings, [], plan.controls).engine


def _outcome(fault: SimulationError | None) -> str:
    if fault is None:
        return "complete"
    return "diverged" if isinstance(fault, DivergenceError) else "error"
