"""Runs from many states with events, breaking joints or Python functions, each with its own trace."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.sharing import share
from varichain.errors import DivergenceError, SimulationError
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.rollout_result import Rollout
from varichain.simulation.runs import simulate
from varichain.trace import Trace

Array = NDArray[np.float64]


class _CancelledError(Exception):
    """The rollout was cancelled."""


def traced_rollout(
    m: Mechanism, q: Array, v: Array, times: Array, threads: int, options: dict[str, Any], controllers: list[Any]
) -> Rollout:
    """Simulate from every state, each with its own controllers; a failed run is reported, and the others continue."""
    layout, n = layout_of(m), len(q)
    traces: list[Trace | None] = [None] * n
    faults: dict[int, SimulationError] = {}
    cancelled: list[bool] = []

    def look(now: float, end: float) -> None:
        if cancelled:
            raise _CancelledError

    def run(thread: int, first: int, last: int) -> None:
        for i in range(first, last):
            start = State(layout, q[i].copy(), v[i].copy(), float(times[0]))
            try:
                traces[i] = simulate(m, start, float(times[-1]), progress=look, controller=controllers[i], **options)
            except SimulationError as error:
                faults[i], traces[i] = error, error.trace

    share(run, n, threads, at_once=1, cancel=lambda: cancelled.append(True))
    q_out, v_out = np.full((n, len(times), layout.n_q), np.nan), np.full((n, len(times), layout.n_v), np.nan)
    found = [trace for trace in traces if trace is not None]
    for i, trace in enumerate(found):
        _gather(trace, layout, times, q_out[i], v_out[i])
    outcomes = tuple([_outcome(trace, faults.get(i)) for i, trace in enumerate(found)])
    return Rollout(times, q_out, v_out, outcomes, dict(sorted(faults.items())), tuple(found), layout, _states(found))


def _states(traces: list[Trace]) -> dict[str, dict[str, Array]]:
    """States of the discrete controllers at the end of all runs, by controller and name."""
    names = traces[0].memory if traces else {}
    return {
        law: {name: np.array([trace.memory[law][name] for trace in traces]) for name in state}
        for law, state in names.items()
    }


def _outcome(trace: Trace, fault: SimulationError | None) -> str:
    if fault is None:
        return trace.outcome
    return "diverged" if isinstance(fault, DivergenceError) else "error"


def _gather(trace: Trace, layout: Layout, times: Array, q_out: Array, v_out: Array) -> None:
    """Write the samples at the rollout's times, as long as the joints are those of the start.

    At the instant of an event, the later of the two samples counts.
    """
    for epoch in trace.epochs:
        q, v = epoch.q, epoch.v
        # a cut of the tree gives a joint all six freedoms, and no connection takes them away again
        if q.shape[1] != layout.n_q or v.shape[1] != layout.n_v:
            continue
        places = np.minimum(np.searchsorted(times, epoch.time), len(times) - 1)
        is_on = times[places] == epoch.time
        q_out[places[is_on]], v_out[places[is_on]] = q[is_on], v[is_on]
