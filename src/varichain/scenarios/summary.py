"""What a run came to, in numbers."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from varichain.scenarios.scenario import Scenario
    from varichain.trace import Trace


def summary(scenario: Scenario, trace: Trace) -> dict[str, Any]:
    """Epochs with their counts, and how well the run kept its energy and its loops; plain values.

    `energy_drift` is what the balance of energy leaves open, relative to the largest kinetic energy; `wall_seconds` is
    None, for traces do not tell.
    """
    from varichain.dynamics import mobility

    epochs = []
    for epoch in trace.epochs:
        counts = mobility(epoch.mechanism, epoch.state(0), probe=False)
        names = ", ".join(epoch.event["names"]) if epoch.event else None
        entry = {"start": epoch.start, "end": epoch.end, "event": names, "n_all": counts.n_all}
        epochs.append(entry | {"rank": counts.rank, "n_independent": counts.n_independent})
    energy = np.concatenate([epoch.energy for epoch in trace.epochs])
    gained = np.array([1.0, 1.0, 1.0, 1.0, 1.0, -1.0])  # the last account is what impacts took
    done = np.concatenate([epoch.work @ gained for epoch in trace.epochs])
    balance = energy.sum(axis=1) - done
    turned_over = max(float(energy[:, 0].max()), 1e-300)
    return {
        "scenario": scenario.name,
        "epochs": epochs,
        "max_closure_error": max((float(epoch.closure.max()) for epoch in trace.epochs), default=0.0),
        "energy_drift": float(np.abs(balance - balance[0]).max()) / turned_over,
        "steps": int(trace.checkpoint["tally"][7]) if trace.checkpoint else 0,
        "simulated_seconds": float(trace.time[-1] - trace.time[0]),
        "wall_seconds": None,
    }
