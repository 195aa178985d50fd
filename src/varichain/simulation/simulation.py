"""A simulation in progress: spans of compiled steps, with events between them."""

from __future__ import annotations

import time as clock
from collections.abc import Collection, Iterator
from typing import Any

import numpy as np
from scipy.optimize import brentq

from varichain.errors import ChatteringError, InputError
from varichain.kernels import running
from varichain.kernels.methods import METHOD_CODES
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.mechanism.transaction import transaction
from varichain.simulation.changes import Changed, apply_actions
from varichain.simulation.controls import Controls, guarded
from varichain.simulation.drives import check_on_motion, check_smooth
from varichain.simulation.engine import Engine, Snapshot
from varichain.simulation.events import SAME_INSTANT, Action, At, Event, Stop, Use, check_times, planned_actions
from varichain.simulation.failures import check_status
from varichain.simulation.holds import holds_of
from varichain.simulation.settings import Settings
from varichain.simulation.watches import BREAKS, ConditionWatch, Watch, has_breaks, watches_of

_LOCATED = 1e-11  # [s]
_MOST_CHANGES = 100  # at one instant
_NEAR = 1e-8  # [s] to where a condition that has passed zero is looked at again
_ACCUMULATE = 1e-6  # [s]: events that follow themselves sooner have no end
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

    def __init__(
        self,
        m: Mechanism,
        s: State,
        settings: Settings,
        events: list[Event],
        controls: Controls,
        is_strict: bool = True,
    ) -> None:
        """Begin at a state that is fit to begin with; `m` is taken over.

        All joints that the controls name must be there if `is_strict`.
        """
        self.m = m
        self.settings = settings
        self.stopped: str | None = None
        self._events = events
        self._times = [event for event in events if isinstance(event, At)]
        self._watches = watches_of(events)
        self._values: dict[Watch, float] = {}  # what the last look at each watch has found
        self._controls = controls
        self._first_tick, self._n_ticks = s.time, 0  # when Python was asked first, and how often since
        self._has_begun = False  # whether events of the first instant have happened
        self._is_near = False  # whether a condition that may come again has just passed zero
        self._fired: dict[Watch, float] = {}  # when each of the watches last fired
        self._used: dict[str, list[int] | None] = {}  # controls that events chose: event and action, None if unknown
        self._until = np.inf
        self._most_steps = 200
        self._memo, self._tally = np.zeros(running.N_MEMO), np.zeros(running.N_TALLY, np.int64)
        self._memo[[running.TIME, running.START]] = s.time
        self._memo[running.STEP] = self._memo[running.NEXT] = settings.step
        self._memo[running.TOLERANCE] = settings.tolerance
        self._tally[running.METHOD], self._tally[running.EVERY] = METHOD_CODES[settings.method], settings.every
        self.engine = self._new_engine(s, ("controller", "motion") if is_strict else ())

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.engine.time

    @property
    def forces(self) -> Any:
        """External forces as they were given, or as an event has chosen them."""
        return self._controls.given["forces"]

    def check_drives(self, until: float) -> None:
        """Raise InputError if driven joints are not on their motion, or cannot follow it to a time."""
        motion = self._controls.motion
        if motion is not None:
            check_on_motion(motion, self.engine.state)
            check_smooth(motion, self.engine.state, until)

    def begin(self) -> None:
        """Find what acts and what holds at the start."""
        self._ask()
        self.engine.settle(is_impact=False)
        check_status(self.engine)

    def _new_engine(self, s: State, new: Collection[str] = ()) -> Engine:
        """Engine of a structure; joints that `new` controls name must be there."""
        holds, names = holds_of(s.layout, self.settings.limits, self._controls.driven)
        engine = Engine(s, holds, names, self._controls.laws(s.layout, new), self._memo, self._tally)
        self._controls.load_forces(engine)
        return engine

    # Advancing

    def spans(self, until: float, record: Recorder) -> Iterator[float]:
        """Move on to a time, through all events; an event may end it earlier. Yields the time after every span."""
        self._until = until
        if not self._has_begun:
            self._has_begun = True
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
                self._n_ticks += 1

    @property
    def _tick(self) -> float:
        """When Python is asked next [s]: counted, for sums of steps would drift off the grid."""
        return self._first_tick + self._n_ticks * (self._controls.tick or self.settings.control_step)

    def _run(self, stop: float) -> None:
        begun = clock.perf_counter()
        self.engine.run(stop, self._most_steps)
        longer = _SPAN / max(clock.perf_counter() - begun, 1e-4)
        self._most_steps = min(100_000, max(10, int(self._most_steps * min(4.0, longer))))

    def _watched_step(self, stop: float, watches: list[Watch], record: Recorder) -> None:
        """One step, or a shorter one to just behind the first of what happens in it."""
        if self._is_near:  # which way it leaves must be seen before it can come back
            stop = min(stop, self.time + _NEAR)
            self._is_near = False
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
        if passed(late) <= 0.0:  # by a rounding: it will be found in the next step
            return late
        t = float(brentq(passed, low, late, xtol=_LOCATED, rtol=1e-15))
        while t < late and passed(t) <= 0.0:
            t = min(late, t + max(_LOCATED, float(np.spacing(t))))
        return t

    # Events

    def _active_watches(self) -> list[Watch]:
        return [*self._watches, BREAKS] if has_breaks(self.m) else [*self._watches]

    def _look(self, watch: Watch) -> float:
        value: float = guarded(self.time, lambda: watch.value(self.m, self.engine, self._controls.acting))
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
            self._note_fired(fired, answered)
            answered |= set(fired)
            self._values = values | {watch: 0.0 for watch in answered if watch in values}
            if not due and not fired:
                return
            names = [event.name or f"t = {event.time:g} s" for event in due] + [watch.name for watch in fired]
            planned = [action for event in due for action in event.actions]
            for watch in fired:
                planned += watch.actions(self.m, self.engine, self._controls.acting)
            self._watches = [watch for watch in self._watches if not (watch in fired and watch.once)]
            self._carry_out(planned, names, record)
            # what a change makes jump over zero has passed it
            before = {watch: value for watch, value in values.items() if watch not in answered}
            if self.stopped is not None:
                return
        raise ChatteringError(
            f"more than {_MOST_CHANGES} changes at t = {self.time:.9g} s, the last by {', '.join(names)}", self.time
        )

    def _note_fired(self, fired: list[Watch], answered: set[Watch]) -> None:
        """Remember when conditions passed zero; ChatteringError if one does so again and again in no time."""
        soonest = min(_ACCUMULATE, 0.1 * self.settings.step)
        for watch in fired:
            if not isinstance(watch, ConditionWatch) or watch.once:
                continue
            if watch not in answered and self.time - self._fired.get(watch, -np.inf) < soonest:
                raise ChatteringError(
                    f"{watch.name} follows itself within {soonest:g} s at t = {self.time:.9g} s: events accumulate; "
                    "let it connect or stop what comes to rest, or happen once",
                    self.time,
                )
            self._fired[watch] = self.time
            self._is_near = True

    def _carry_out(self, planned: list[Any], names: list[str], record: Recorder) -> None:
        actions = guarded(self.time, lambda: self._asked_actions(planned))
        record.before_change(self, names, actions)
        new = {name for action in actions if isinstance(action, Use) for name in action.changes}
        changed = guarded(self.time, lambda: self._changed(actions, new))
        self.engine = changed.engine
        check_status(self.engine)
        if new and self._controls.is_asked:
            self._ask()
            self.engine.settle_again()
            check_status(self.engine)
        reasons = [action.reason for action in actions if isinstance(action, Stop)]
        if reasons:
            self.stopped = next(filter(None, reasons), ", ".join(names))
        record.after_change(self, changed)

    def change(self, actions: list[Action], name: str, record: Recorder) -> None:
        """Carry out actions now, between two spans, as an event called `name` would: all of them, or nothing.

        Events that the change calls for happen in the next step.
        """
        engine, kept, log = self.engine, self.engine.snapshot(), self.m.log.copy()
        controls, used, ticks = self._controls, dict(self._used), (self._first_tick, self._n_ticks)
        try:
            with transaction(self.m):
                self._carry_out(actions, [name], record)
        except BaseException:
            self.m.log = log
            self._controls, self._used, (self._first_tick, self._n_ticks) = controls, used, ticks
            self.engine = engine
            engine.restore(kept)
            raise

    def _asked_actions(self, planned: list[Any]) -> list[Action]:
        """Actions of this instant; functions may look at the mechanism, not change it."""
        revision = self.m.revision
        actions = planned_actions(planned, self.m, self.engine.state)
        if self.m.revision != revision:
            raise InputError("an action's function has edited the mechanism; return vc.cut(...) or vc.connect(...)")
        return actions

    def _changed(self, actions: list[Action], new: set[str]) -> Changed:
        for action in actions:
            if isinstance(action, Use):
                self._controls = Controls(**(self._controls.given | action.changes))
                self._used |= dict.fromkeys(action.changes, self._place(action))
                self._first_tick, self._n_ticks = self.time, 0
        if "motion" in new and self._controls.motion is not None:
            check_on_motion(self._controls.motion, self.engine.state, with_velocities=False)
            check_smooth(self._controls.motion, self.engine.state, self._until)
        return apply_actions(self.m, self.engine, actions, lambda s: self._new_engine(s, new))

    def _place(self, action: Use) -> list[int] | None:
        """Event and place in it of an action; None if a function made it."""
        for i, event in enumerate(self._events):
            for j, other in enumerate(event.actions):
                if other is action:
                    return [i, j]
        return None

    # Continuing

    def checkpoint(self) -> dict[str, Any]:
        """All that a continuation needs, as plain values."""
        return {
            **self.engine.plain(),
            "ticks": [self._first_tick, self._n_ticks],
            "n_events": len(self._events),
            "steps": int(self.engine.tally[running.STEPS]),
            "times": [self._events.index(event) for event in self._times],
            "watches": [self._events.index(watch.event) for watch in self._watches],
            "values": [self._values.get(watch) for watch in self._watches],
            "fired": [self._fired.get(watch) for watch in self._watches],
            "has_begun": self._has_begun,
            "is_near": self._is_near,
            "used": self._used,
            "forces": self._controls.plain_forces(),
        }

    def go_on(self, checkpoint: dict[str, Any]) -> None:
        """Take up what a checkpoint says; the structure must be the one that it was taken in.

        Raises:
            InputError: Events or controls of the run are missing.
        """
        n = checkpoint["n_events"]
        if len(self._events) < n:
            raise InputError(
                f"the run had {n} events; {len(self._events)} are given now: give the same, and new ones last"
            )
        left = {*checkpoint["times"], *checkpoint["watches"], *range(n, len(self._events))}
        self._times = [event for event in self._times if self._events.index(event) in left]
        self._watches = [watch for watch in self._watches if self._events.index(watch.event) in left]
        # new events come last, and have no values yet
        for store, values in ((self._values, checkpoint["values"]), (self._fired, checkpoint["fired"])):
            store |= {watch: x for watch, x in zip(self._watches, values, strict=False) if x is not None}
        self._first_tick, self._n_ticks = checkpoint["ticks"]
        self._has_begun, self._is_near = checkpoint["has_begun"], checkpoint["is_near"]
        self._use_again(checkpoint["used"])
        self._controls.take_forces(checkpoint["forces"])
        self.engine = self._new_engine(self.engine.state)
        self.engine.take_up(checkpoint)
        check_times(self._times, self.time)

    def _use_again(self, used: dict[str, list[int] | None]) -> None:
        """Choose the controls that events of the run have chosen."""
        for name, place in used.items():
            if place is None:
                raise InputError(
                    f"the run's {name} was chosen by a function at an event, which a trace does not contain; begin a "
                    "new simulation from trace.final"
                )
            actions = self._events[place[0]].actions
            action = actions[place[1]] if place[1] < len(actions) else None
            if not isinstance(action, Use) or name not in action.changes:
                raise InputError(f"event {place[0]} is not the one that chose the run's {name}; give the same events")
            self._controls = Controls(**(self._controls.given | {name: action.changes[name]}))
        self._used = dict(used)
