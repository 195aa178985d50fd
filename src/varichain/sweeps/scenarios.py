"""Trials that are runs of scenarios: parameters in, numbers of the run out."""

from __future__ import annotations

from typing import Any

import numpy as np


def run_scenario(name: str, seed: int, **parameters: Any) -> dict[str, float]:
    """Numbers of a scenario's run: its end, energies and books, and the states of its discrete controllers.

    Args:
        name: Of the scenario.
        seed: Given to the scenario if it has a parameter of that name.
        parameters: Of the scenario.
    """
    import inspect

    from varichain.scenarios import SCENARIOS
    from varichain.scenarios.summary import energy_drift

    make = SCENARIOS[name]
    more = {"seed": seed} if "seed" in inspect.signature(make).parameters else {}
    trace = make(**parameters, **more).run()
    last = trace.epochs[-1]
    found = {
        "end": float(last.time[-1]),
        "epochs": float(len(trace.epochs)),
        "kinetic_energy": float(last.energy[-1, 0]),
        "energy_drift": energy_drift(trace),
        "closure": float(max(np.max(epoch["closure"]) for epoch in trace.epochs if len(epoch))),
    }
    memory = {
        f"{law}.{name}": float(x) for law, state in trace.memory.items() for name, x in state.items() if x.ndim == 0
    }
    return found | {"height": float(last["center"][-1, 2])} | memory
