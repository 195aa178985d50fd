"""Result of a rollout."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError, SimulationError
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.spatial.report import Listing, Report, Reported
from varichain.trace import Trace

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class Rollout(Reported):
    """Runs from n states, sampled at the same T times.

    A run that ends early has NaN from there on. So has a run after the cut of a tree joint, which changes its joints:
    its trace has all samples.

    Attributes:
        times: Times of the samples (T,) [s], start and end included.
        q: Coordinates (n, T, n_q).
        v: Velocities (n, T, n_v).
        outcomes: How each run ended: "complete", "stopped" by an event, "diverged" or "error".
        faults: The errors, by number of the state.
        traces: One a state if there were events, joints that give way, or controllers in Python; else none.
        layout: Place of each joint in q and v.
        memory: States of discrete controllers at the end of all runs, by controller and name: (n,) or (n, length).
    """

    times: Array
    q: Array
    v: Array
    outcomes: tuple[str, ...]
    faults: dict[int, SimulationError]
    traces: tuple[Trace, ...]
    layout: Layout
    memory: dict[str, dict[str, Array]]

    def __len__(self) -> int:
        """Number of states."""
        return len(self.q)

    def state(self, run: int, sample: int = -1) -> State:
        """State of a run at a sample, the last by default.

        Raises:
            InputError: The run ended before, or has other joints at that sample.
        """
        q, v, t = self.q[run, sample], self.v[run, sample], float(self.times[sample])
        if not np.isfinite(q).all():
            raise InputError(
                f"run {run} ({self.outcomes[run]}) did not get to t = {t:g} s, or has other joints there; see its "
                "fault or its trace"
            )
        return State(self.layout, q.copy(), v.copy(), t)

    def report(self) -> Report:
        """Numbers of runs and samples, how they ended, and what went wrong."""
        ends = ", ".join(f"{n} {outcome}" for outcome, n in Counter(self.outcomes).most_common())
        span = f"{self.times[0]:g} s to {self.times[-1]:g} s"
        title = f"rollout of {len(self)} states, {len(self.times)} samples from {span}: {ends or 'none'}"
        return title, (Listing(("run", "fault"), [(str(run), str(fault)) for run, fault in self.faults.items()]),)
