"""Recorder of a simulation that writes its trace."""

from __future__ import annotations

import time as clock
from typing import Any

import numpy as np

from varichain.instants.actions import Connect, Couple, Cut, Push, SetGravity
from varichain.kernels.run_records import (
    CHATTERING,
    CLOSED,
    GRIPPED,
    HANDED_OVER,
    JAMMED,
    LEFT,
    PARTED,
    SLID,
    SLIPPED,
    STRUCK,
    STUCK,
    TOO_SMALL,
    UNDECIDED,
    UNSOLVED,
)
from varichain.kernels.samples import WORK_LABELS
from varichain.mechanism.describe import description
from varichain.mechanism.log import as_dict
from varichain.simulation.engine import Array, Engine, widths_of
from varichain.simulation.events import Stop, Use
from varichain.simulation.observing import Observation
from varichain.simulation.simulation import Changed, Recorder, Simulation
from varichain.trace import Columns, Trace, TraceWriter
from varichain.trace.books import Books

_CHECKPOINT_EVERY = 1.0  # [s] of wall time

_TRANSITIONS = {STRUCK: "limit reached", LEFT: "limit left", STUCK: "friction sticks", SLIPPED: "friction slips"}
_TRANSITIONS[UNSOLVED] = "contacts not solved"
_TRANSITIONS |= {CLOSED: "contact closed", PARTED: "contact opened", GRIPPED: "contact sticks", SLID: "contact slips"}
_TRANSITIONS |= {JAMMED: "contacts jammed", HANDED_OVER: "stepping from here"}
_OF_CONTACTS = (CLOSED, PARTED, GRIPPED, SLID)
_REASONS = {
    CHATTERING: "more than 50 events within a step",
    UNDECIDED: "no forces agree with the modes of contacts",
    TOO_SMALL: "steps became too small",
}


class TraceRecorder(Recorder):
    """Recorder that writes samples, transitions and events to a trace."""

    def __init__(self, writer: TraceWriter) -> None:
        """Use a writer that has begun."""
        self._writer = writer
        self.books = Books()
        self._last = np.nan  # time of the last sample
        self._event: dict[str, Any] | None = None
        self._has_changed = False  # whether the event did more than stop the run
        self.has_last_checkpoint = False  # whether a continuation begins before the present instant
        self._begun = self._checkpointed = clock.monotonic()
        self._wall = 0.0  # [s] that the earlier runs took which this one continues

    def open_epoch(self, simulation: Simulation, with_sample: bool = True) -> None:
        """Begin an epoch with the present structure."""
        engine = simulation.engine
        self._observation = Observation(simulation.m, engine.state, simulation.observers)
        touching = [] if engine.touching is None else engine.touching.names
        contacts = None if engine.touching is None else engine.touching.contacts
        blocks = [*widths_of(engine.layout, contacts)._asdict().items(), *self._observation.blocks]
        labels = {"work": list(WORK_LABELS), "contact_modes": touching}
        labels["contact_forces"] = [f"{name}.{axis}" for name in touching for axis in ("fx", "fy", "fz")]
        if contacts is not None and contacts.has_moments:
            labels["contact_moments"] = [f"{name}.{axis}" for name in touching for axis in ("mx", "my", "mz")]
        columns = Columns(blocks, {**labels, **self._observation.labels})
        self._columns = columns
        self.books.open_epoch()
        self._writer.open_epoch(description(simulation.m), columns)
        self._last = np.nan
        if with_sample:
            self.sample(simulation)

    def samples(self, engine: Engine) -> None:
        """Write the samples and transitions of the last span."""
        rows = engine.new_samples()
        if len(rows):
            self._last = rows[-1, 0]
            self._append(rows)
        for transition in engine.new_transitions():
            kind = int(transition["kind"])
            entry: dict[str, Any] = {"time": float(transition["time"]), "kind": _TRANSITIONS[kind]}
            if kind == UNSOLVED:
                self._writer.log(entry | {"residual": float(transition["impulse"])})
                continue
            if kind == HANDED_OVER:
                entry["reason"] = _REASONS[int(transition["source"])]
            elif kind in _OF_CONTACTS:
                assert engine.touching is not None
                entry["contact"] = engine.touching.names[int(transition["source"])]
            elif kind != JAMMED:
                entry["joint"] = engine.restraint_names[int(transition["source"])]
            if kind in (STRUCK, CLOSED, JAMMED):
                entry |= {field: float(transition[field]) for field in ("impulse", "energy_lost")}
            self._writer.log(entry)

    def sample(self, simulation: Simulation) -> None:
        """Write the present state, unless it is written already."""
        if self._last != simulation.time:
            self._last = simulation.time
            self._append(simulation.engine.sample()[None])

    def _append(self, rows: Array) -> None:
        self._writer.append(self._observation.extended(rows, self._columns))
        self.books.write(rows[:, self._columns.slice("energy")], rows[:, self._columns.slice("work")])

    def sample_good(self, simulation: Simulation) -> None:
        """Write the last good state of a run that has failed."""
        try:
            self.sample(simulation)
        except Exception:  # no state to write: the failure itself is reported
            return

    def repeat(self, trace: Trace, simulation: Simulation) -> None:
        """Copy the trace of an earlier run up to its latest checkpoint, and leave its last epoch open."""
        self._observation = Observation(simulation.m, simulation.engine.state, simulation.observers)
        self._writer.resume(trace)
        self._wall = float((trace.checkpoint or {}).get("wall_seconds", 0.0))
        kept = trace.at_checkpoint()
        for epoch in kept.epochs:
            self._columns = epoch.columns
            self.books.open_epoch()
            if len(epoch):
                self.books.write(epoch.energy, epoch.work)
        last = kept.epochs[-1]
        self._last = float(last.time[-1]) if len(last) else np.nan

    def checkpoint(self, simulation: Simulation) -> None:
        """Write a checkpoint, with the wall time of the run so far, unless the last one is written."""
        if self.has_last_checkpoint:
            return
        self._checkpointed = clock.monotonic()
        wall = self._wall + self._checkpointed - self._begun
        self._writer.checkpoint({**simulation.checkpoint(), "wall_seconds": wall})

    def checkpoint_now_and_then(self, simulation: Simulation) -> None:
        """Write a checkpoint about once a second."""
        if clock.monotonic() - self._checkpointed > _CHECKPOINT_EVERY:
            self.checkpoint(simulation)

    def before_change(self, simulation: Simulation, names: list[str], actions: list[Any]) -> None:
        """Write the state before a change."""
        self.sample(simulation)
        self._has_changed = not all(isinstance(action, Stop) for action in actions)
        self._event = {"time": simulation.time, "names": names, "actions": [described(action) for action in actions]}

    def after_change(self, simulation: Simulation, changed: Changed) -> None:
        """End the epoch with the result of the change, and begin the next unless the run stopped."""
        assert self._event is not None
        self._event["energy_lost"] = changed.energy_lost
        if changed.entry is not None:
            entry = as_dict(changed.entry)
            self._event["edits"] = entry["edits"]
            self._writer.log({"kind": "structure", **entry})
        self._writer.end_epoch(self._event)
        if simulation.stopped is None or self._has_changed:
            self.open_epoch(simulation)
            self.samples(simulation.engine)
            self._checkpointed = -np.inf  # soon: after all events of this instant


def described(action: Any) -> str:
    """An action in words."""
    if isinstance(action, Cut):
        return f"cut {action.joint!r}"
    if isinstance(action, Connect):
        a, b = (getattr(end, "name", end) for end in (action.a, action.b))
        return f"connect {a!r} to {b!r} by a {action.joint.kind} joint"
    if isinstance(action, Couple):
        return f"couple {action.joint!r} to {action.to!r}"
    if isinstance(action, Push):
        return f"push {getattr(action.force.link, 'name', action.force.link)!r}"
    if isinstance(action, Use):
        return f"use another {', '.join(action.changes)}"
    if isinstance(action, SetGravity):
        return f"set gravity to {', '.join(f'{x:g}' for x in action.gravity)} m/s^2"
    assert isinstance(action, Stop)
    return f"stop{': ' + action.reason if action.reason else ''}"
