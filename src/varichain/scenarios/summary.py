"""What came of a run, in numbers: structure by epoch, accuracy, speed."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

import varichain as vc
from varichain.errors import InputError
from varichain.scenarios.scenario import Scenario
from varichain.spatial.checks import instance
from varichain.trace import Trace

if TYPE_CHECKING:
    from varichain.trace import Epoch


def summary(scenario: Scenario | str, trace: Trace) -> dict[str, Any]:
    """Plain values that tell what a run of a scenario was, and how good.

    Keys: scenario (its name); epochs, a list with start, end [s], event (what ended it, in words, or None), n_all,
    rank, n_independent (N_J, rank of J_C and N_F at the epoch's first sample); max_closure_error, how far a loop was
    open in any sample [m or rad]; energy_drift (see `energy_drift`); steps; simulated_seconds; wall_seconds.

    Raises InputError if the trace has no samples.
    """
    instance(scenario, (Scenario, str), "scenario")
    instance(trace, Trace, "trace")
    epochs = [epoch for epoch in trace.epochs if len(epoch)]
    if not epochs or trace.checkpoint is None:
        raise InputError("the trace has no samples: there is nothing to sum up")
    return {
        "scenario": scenario if isinstance(scenario, str) else scenario.name,
        "epochs": [_epoch_summary(epoch) for epoch in epochs],
        "max_closure_error": max(float(epoch["closure"].max()) for epoch in epochs),
        "energy_drift": energy_drift(trace),
        "steps": trace.checkpoint["run"]["steps"],
        "simulated_seconds": epochs[-1].end - epochs[0].start,
        "wall_seconds": trace.checkpoint["wall_seconds"],
    }


def energy_drift(trace: Trace) -> float:
    """Largest residual of the energy's account over a run, relative to the energy that was turned over.

    The account: the change of kinetic and potential energy since the start is the work of controllers, joints (their
    damping and friction), external forces, drives and soft limits, less what impacts took. The energy turned over is
    what went into and out of motion: the sum of all rises and falls of the kinetic energy and of every account, from
    sample to sample. Zero if nothing moved at all.
    """
    instance(trace, Trace, "trace")
    energy, work = _joined(trace, "energy"), _joined(trace, "work")
    work[:, -1] *= -1.0  # what impacts have taken
    balance = energy.sum(axis=1) - work.sum(axis=1)
    turned_over = sum(float(np.abs(np.diff(account, axis=0)).sum()) for account in (energy[:, 0], work))
    residual = float(np.abs(balance - balance[0]).max())
    return residual / turned_over if turned_over > 0.0 else 0.0


def _joined(trace: Trace, block: str) -> NDArray[np.float64]:
    """A block of the samples of all epochs."""
    return np.concatenate([epoch[block] for epoch in trace.epochs if len(epoch)])


def _epoch_summary(epoch: Epoch) -> dict[str, Any]:
    counts = vc.mobility(epoch.mechanism, epoch.state(0), probe=False)
    event = None
    if epoch.event is not None:
        event = f"{', '.join(epoch.event['names'])}: {'; '.join(epoch.event['actions'])}"
    return {
        "start": epoch.start,
        "end": epoch.end,
        "event": event,
        "n_all": counts.n_all,
        "rank": counts.rank,
        "n_independent": counts.n_independent,
    }
