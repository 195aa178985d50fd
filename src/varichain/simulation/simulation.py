"""A simulation in progress: spans of compiled steps, with events between them."""

from __future__ import annotations

import time as clock
from collections.abc import Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq

from varichain.errors import ChatteringError, InputError
from varichain.kernels import running
from varichain.kernels.methods import METHOD_CODES
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.changes import Changed, apply_actions
from varichain.simulation.controls import Controls, guarded
from varichain.simulation.engine import Engine, Snapshot
from varichain.simulation.events import At, Event, Stop, Use, planned_actions
from varichain.simulation.failures import check_status
from varichain.simulation.holds import holds_of
from varichain.simulation.settings import Settings
from varichain.simulation.watches import BREAKS, Watch, has_breaks, watches_of

SAME_INSTANT = 1e-9  # [s]: events closer than this are one change
_LOCATED = 1e-11  # [s]
_MOST_CHANGES = 100  # at one instant
_SPAN = 0.1  # [s] of wall time that a call of the kernel may take, so that Ctrl-C is heard


class Recorder:
    """Listens to a simulation; this one keeps nothing."""

    def samples(self, engine: Engine) -> None:
        """Samples and happenings of the last span."""

    def before_change(self, simulation: Simulation, names: list[str], actions: list[Any]) -> None:
        """Events are about to change something."""

    def after_change(self, simulation: Simulation, changed: Changed) -> None:
        """They have."""


class Simulation:
    """A mechanism in motion.

    Attributes:
        m: The mechanism, which the simulation changes.
        engine: What moves it.
        stopped: Why an event ended the run; None as long as none did.
    """

    def __init__(self, m: Mechanism, s: State, settings: Settings, events: list[Event], controls: Controls) -> None:
        """Begin at a state that is fit to begin with; `m` is taken over."""
        self.m = m
        self.settings = settings
        self.stopped: str | None = None
        self._events = events
        self._times = [event for event in events if isinstance(event, At)]
        self._watches = watches_of(events)
        self._values: dict[Watch, float] = {}  # what the last look at each watch has found
        self._controls = controls
        self._tick = s.time  # when Python is asked next
        self._most_steps = 200
        self._memo, self._tally = np.zeros(running.N_MEMO), np.zeros(running.N_TALLY, np.int64)
        self._memo[[running.TIME, running.START]] = s.time
        self._memo[running.STEP] = self._memo[running.NEXT] = settings.step
        self._memo[running.TOLERANCE] = settings.tolerance
        self._tally[running.METHOD], self._tally[running.EVERY] = METHOD_CODES[settings.method], settings.every
        self.engine = self._new_engine(s, is_first=True)

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.engine.time

    def begin(self) -> None:
        """Find what holds at the start."""
        self.engine.settle(is_impact=False)
        check_status(self.engine)

    def _new_engine(self, s: State, is_first: bool = False) -> Engine:
        holds, names = holds_of(s.layout, self.settings.limits, self._controls.driven)
        engine = Engine(s, holds, names, self._controls.laws(s.layout, is_first), self._memo, self._tally)
        self._controls.load_forces(self.m, engine)
        return engine

    # Advancing

    def spans(self, until: float, record: Recorder) -> Iterator[float]:
        """Move on to a time, through all events; an event may end it earlier. Yields the time after every span."""
        self._happen(record, {})
        while self.time < until and self.stopped is None:
            self._ask()
            stop = min([until, *(event.time for event in self._times)])
            if self._controls.is_asked:
                stop = min(stop, self._tick)
            watches = self._active_watches()
            if watches:
                self._watched_step(stop, watches, record)
            else:
                self._run(stop)
                record.samples(self.engine)
                check_status(self.engine)
            if any(event.time <= self.time + SAME_INSTANT for event in self._times):
                self._happen(record, {})
            yield self.time

    def _ask(self) -> None:
        """Ask Python what acts, if it is time."""
        if self._controls.is_asked and self.time >= self._tick - SAME_INSTANT:
            self._controls.ask(self.m, self.engine)
            while self._tick <= self.time + SAME_INSTANT:
                self._tick += self.settings.control_step

    def _run(self, stop: float) -> None:
        begun = clock.perf_counter()
        self.engine.run(stop, self._most_steps)
        longer = _SPAN / max(clock.perf_counter() - begun, 1e-4)
        self._most_steps = min(100_000, max(10, int(self._most_steps * min(4.0, longer))))

    def _watched_step(self, stop: float, watches: list[Watch], record: Recorder) -> None:
        """One step, or a shorter one to just behind the first of what happens in it."""
        before = {watch: self._values[watch] if watch in self._values else self._look(watch) for watch in watches}
        start = self.engine.snapshot()
        self.engine.run(stop, 1)
        check_status(self.engine)
        self._values = {watch: self._look(watch) for watch in watches}
        happened = [watch for watch in watches if watch.happened(before[watch], self._values[watch])]
        if not happened:
            record.samples(self.engine)
            return
        t = self._instant(start, happened, before)
        self.engine.restore(start)
        while self.time < t:
            self.engine.run(t, self._most_steps)
            record.samples(self.engine)
            check_status(self.engine)
        self._happen(record, before)

    def _instant(self, start: Snapshot, happened: list[Watch], before: dict[Watch, float]) -> float:
        """Time just behind the first of what happened in the last step."""
        early, late = float(start.memo[running.TIME]), self.time

        def passed(t: float) -> float:
            """Negative as long as nothing has happened, positive behind."""
            self.engine.restore(start)
            while self.time < t:
                self.engine.run(t, self._most_steps)
                check_status(self.engine)
            found = []
            for watch in happened:
                value = self._look(watch)
                found.append(max(abs(value), 1e-300) * (1.0 if watch.happened(before[watch], value) else -1.0))
            return max(found)

        low = early + min(_LOCATED, 0.5 * (late - early))
        if passed(low) > 0.0:
            return low
        t = float(brentq(passed, low, late, xtol=_LOCATED, rtol=1e-15))
        while t < late and passed(t) <= 0.0:
            t = min(late, t + _LOCATED)
        return t

    # Events

    def _active_watches(self) -> list[Watch]:
        return [*self._watches, BREAKS] if has_breaks(self.m) else self._watches

    def _look(self, watch: Watch) -> float:
        forces = self._controls.forces(self.m, self.engine.state)
        value: float = guarded(self.time, lambda: watch.value(self.m, self.engine, forces))
        return value

    def _happen(self, record: Recorder, before: dict[Watch, float]) -> None:
        """Carry out all events of this instant; what they change may call for more at the same instant.

        Args:
            record: Who listens.
            before: Values of the watches at the start of the step; none if no step has led here.
        """
        answered: set[Watch] = set()
        names: list[str] = []
        for _ in range(_MOST_CHANGES):
            due = [event for event in self._times if event.time <= self.time + SAME_INSTANT]
            self._times = [event for event in self._times if event not in due]
            values = {watch: self._look(watch) for watch in self._active_watches()}
            fired = [watch for watch, value in values.items() if watch.happened(before.get(watch, 0.0), value)]
            # a passage that has been answered is over: what follows counts from there, as from a start at zero
            answered |= set(fired)
            self._values = values | {watch: 0.0 for watch in answered if watch in values}
            if not due and not fired:
                return
            names = [event.name or f"t = {event.time:g} s" for event in due] + [watch.name for watch in fired]
            planned = [action for event in due for action in event.actions]
            for watch in fired:
                planned += watch.actions(self.m, self.engine, self._controls.forces(self.m, self.engine.state))
            self._watches = [watch for watch in self._watches if not (watch in fired and watch.once)]
            self._carry_out(planned, names, record)
            before = {}
            if self.stopped is not None:
                return
        raise ChatteringError(
            f"more than {_MOST_CHANGES} changes at t = {self.time:.9g} s, the last by {', '.join(names)}", self.time
        )

    def _carry_out(self, planned: list[Any], names: list[str], record: Recorder) -> None:
        actions = guarded(self.time, lambda: planned_actions(planned, self.m, self.engine.state))
        record.before_change(self, names, actions)
        for action in actions:
            if isinstance(action, Use):
                self._controls = Controls(**(self._controls.given | action.changes))
                self._tick = self.time
        changed = apply_actions(self.m, self.engine, actions, self._new_engine)
        self.engine = changed.engine
        check_status(self.engine)
        reasons = [action.reason for action in actions if isinstance(action, Stop)]
        if reasons:
            self.stopped = next(filter(None, reasons), ", ".join(names))
        record.after_change(self, changed)

    # Continuing

    def checkpoint(self) -> dict[str, Any]:
        """All that a continuation needs, as plain values."""
        return {
            **self.engine.plain(),
            "steps": int(self.engine.tally[running.STEPS]),
            "tick": self._tick,
            "times": [self._events.index(event) for event in self._times],
            "watches": [self._events.index(watch.event) for watch in self._watches],
            "values": [self._values.get(watch) for watch in self._watches],
        }

    def go_on(self, checkpoint: dict[str, Any]) -> None:
        """Take up what a checkpoint says; the structure must be the one that it was taken in."""
        n_needed = 1 + max([*checkpoint["times"], *checkpoint["watches"]], default=-1)
        if len(self._events) < n_needed:
            raise InputError(f"the run had at least {n_needed} events; {len(self._events)} are given now")
        self._times = [event for event in self._times if self._events.index(event) in checkpoint["times"]]
        self._watches = [watch for watch in self._watches if self._events.index(watch.event) in checkpoint["watches"]]
        values = zip(self._watches, checkpoint["values"], strict=True)
        self._values = {watch: value for watch, value in values if value is not None}
        self._tick = checkpoint["tick"]
        self.engine.take_up(checkpoint)
