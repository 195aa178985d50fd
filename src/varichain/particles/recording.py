"""Recorder of a run of particles that writes its trace."""

from __future__ import annotations

import math
import time as clock
from typing import Any

import numpy as np

from varichain.mechanism.describe import description
from varichain.mechanism.log import as_dict
from varichain.particles.changes import Changed
from varichain.particles.estimate import Estimate
from varichain.particles.plain import MOST_PARTICLES, Snapshot, snapshot
from varichain.particles.run import ParticleRun
from varichain.particles.samples import columns_of, sample_of
from varichain.simulation.observing import Observation
from varichain.simulation.recording import described
from varichain.trace import Trace, TraceWriter

_CHECKPOINT_EVERY = 1.0  # [s] of wall time
_MOST = 0.05  # part of the wall time that checkpoints may take


class Recorder:
    """Recorder that writes samples, events and checkpoints to a trace."""

    def __init__(self, writer: TraceWriter, estimate: Estimate | None) -> None:
        """Use a writer that has begun."""
        self.writer, self._estimate = writer, estimate
        self._event: dict[str, Any] = {}
        self._last = math.nan  # time of the last sample of the epoch
        self._sampled: Snapshot = {}  # the motion just before that sample
        self._begun = self._checkpointed = clock.monotonic()
        self._took = self._wall = 0.0  # [s]: the last checkpoint, and the earlier runs that this one continues
        self._trodden: dict[tuple[float, float], float] = {}  # when the cells of footprints were

    def open_epoch(self, run: ParticleRun) -> None:
        """Begin an epoch with the present structure and its first sample."""
        self._observe(run)
        self._columns = columns_of(run.system, self._estimate is not None, self._observation)
        self.writer.open_epoch(description(run.system.mechanism), self._columns)
        self._last = math.nan
        self.sample(run)

    def sample(self, run: ParticleRun) -> None:
        """Write the present state, unless it is written already."""
        if self._last != run.time:
            self._last, self._sampled = run.time, snapshot(run.system)
            sample = sample_of(run.system)
            if self._estimate is not None:
                sample = np.append(sample, self._estimate.at(run))
            self.writer.append(self._observation.extended(sample[None], self._columns))
            for x, y, *_ in run.system.footprints():
                self._trodden.setdefault((x, y), run.time)

    def _observe(self, run: ParticleRun) -> None:
        """Look at what controllers have to say."""
        self._observation = Observation(run.system.mechanism, run.system.measure(), run.observers)

    def repeat(self, trace: Trace, run: ParticleRun) -> None:
        """Copy the trace of an earlier run up to its latest checkpoint, and leave its last epoch open."""
        self.writer.resume(trace)
        self._columns = trace.at_checkpoint().epochs[-1].columns
        self._observe(run)
        point = trace.checkpoint or {}
        self._wall, self._last, self._sampled = point["wall_seconds"], run.time, snapshot(run.system)
        self._trodden = {(x, y): t for x, y, t in point["trodden"]}
        sample_of(run.system)  # as the run had it: an evaluation of the forces

    def checkpoint(self, run: ParticleRun) -> None:
        """Write a checkpoint of the last sample's instant; of too many particles, the counts alone."""
        began = clock.monotonic()
        content: dict[str, Any] = {"engine": "particles", "run": {"steps": int(run.system.run["steps"][0])}}
        content["wall_seconds"] = self._wall + began - self._begun
        if len(run.system.x) <= MOST_PARTICLES:
            content |= run.checkpoint(self._sampled)
            content["trodden"] = [[x, y, t] for (x, y), t in self._trodden.items()]
            if self._estimate is not None:
                content["twin"] = self._estimate.checkpoint()
        self.writer.checkpoint(content)
        self._checkpointed = clock.monotonic()
        self._took = self._checkpointed - began

    def checkpoint_now_and_then(self, run: ParticleRun) -> None:
        """Write a checkpoint about once a second, of large systems less often."""
        if clock.monotonic() - self._checkpointed > max(_CHECKPOINT_EVERY, self._took / _MOST):
            self.checkpoint(run)

    def listen(self, run: ParticleRun, changed: Changed | None, names: list[str], actions: list[Any]) -> None:
        """Write what is before a change, and what came of it."""
        if changed is None:
            self.sample(run)
            self._event = {"time": run.time, "names": names, "actions": [described(action) for action in actions]}
            return
        self._event["energy_lost"] = changed.energy_lost
        if changed.entry is not None:
            entry = as_dict(changed.entry)
            self._event["edits"] = entry["edits"]
            self.writer.log({"kind": "structure", **entry})
        self.writer.end_epoch(self._event)
        self.open_epoch(run)

    def finish(self, run: ParticleRun, outcome: str, message: str | None = None) -> Trace:
        """End the trace, with the footprints in its log."""
        prints = run.system.footprints()
        if len(prints):
            cells = [[*row, self._trodden.get((row[0], row[1]), run.time)] for row in prints.tolist()]
            columns, size = ["x", "y", "depth", "height", "time"], float(run.system.terrain["cell"][0])
            self.writer.log({"kind": "footprints", "time": run.time, "columns": columns, "cells": cells, "cell": size})
        return self.writer.finish(outcome, message)
