"""A simulation in progress: spans of compiled steps, with events between them."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Collection, Iterator
from copy import copy
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import require_inertia
from varichain.errors import ChatteringError, EventError, InputError, SimulationError, VarichainError
from varichain.instants.actions import Action as InstantAction
from varichain.instants.change import happen
from varichain.instants.contacts import contacts_of
from varichain.instants.restraints import restraints_of
from varichain.kernels.run_records import STEPPING
from varichain.layout.state import State
from varichain.mechanism.log import LogEntry
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controls import Controls, user_code
from varichain.simulation.drives import check_on_motion, check_smooth
from varichain.simulation.engine import Engine, Snapshot, new_record
from varichain.simulation.events import (
    SAME_INSTANT,
    Action,
    At,
    Event,
    Stop,
    Use,
    check_times,
    planned_actions,
    together,
)
from varichain.simulation.failures import check_status
from varichain.simulation.observing import Observer
from varichain.simulation.roots import crossing
from varichain.simulation.settings import Settings
from varichain.simulation.watches import BREAKS, ConditionWatch, Watch, has_breaks, refuse_breaking_joints, watches_of

CHECKPOINT_VERSION = 7
"""Version of the names in a checkpoint; those of version 1 were positions in arrays."""

_PLAN = ("_times", "_watches", "_values", "_first_tick", "_n_ticks", "_has_begun", "_is_near", "_fired", "_used")
_LOCATED = 1e-11  # [s]
_MOST_CHANGES = 100  # at one instant
_NEAR = 1e-8  # [s] after which a condition that has passed zero is evaluated again
_ACCUMULATE = 1e-6  # [s]: an event that repeats itself sooner would do so without end
_SPAN = 0.1  # [s] of wall time that a call of the kernel may take, so that Ctrl-C acts soon


@dataclass(frozen=True)
class Changed:
    """Result of the events of one instant.

    Attributes:
        engine: Engine of the next epoch.
        entry: Entry of the structure log; None if the structure stayed.
        energy_lost: Kinetic energy that impacts took; negative where a push gave some [J].
    """

    engine: Engine
    entry: LogEntry | None
    energy_lost: float


@dataclass(frozen=True, eq=False)
class Memory:
    """All that a simulation goes back to an instant with, its structure included.

    Attributes:
        m: Copy of the mechanism.
        values: Engine as plain values.
        controls, acting: Controls, and the external forces that acted.
        plan: Events that were to come, ticks and the like: members of the simulation by name.
    """

    m: Mechanism
    values: dict[str, Any]
    controls: Controls
    acting: Any
    plan: dict[str, Any]


class Recorder:
    """Listener of a simulation; the base class keeps nothing."""

    def samples(self, engine: Engine) -> None:
        """Called with the samples and transitions of every span."""

    def before_change(self, simulation: Simulation, names: list[str], actions: list[Any]) -> None:
        """Called before events change structure or controls."""

    def after_change(self, simulation: Simulation, changed: Changed) -> None:
        """Called after events changed structure or controls."""


class Simulation:
    """A mechanism in motion.

    Attributes:
        m: The mechanism, which the simulation changes.
        engine: Engine of the present epoch.
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
        """Begin at a checked state; the simulation owns and changes `m`.

        If `is_strict`, a joint that the controls name and `m` does not have is an error.
        """
        self.m = m
        self.settings = settings
        self.stopped: str | None = None
        self._events = events
        self._times = [event for event in events if isinstance(event, At)]
        self._watches = watches_of(events)
        self._values: dict[Watch, float] = {}  # last value of each watch
        self._controls = controls
        self._first_tick, self._n_ticks = s.time, 0  # time of the first control tick, and number of ticks since
        self._has_begun = False  # whether events of the first instant have happened
        self._is_near = False  # whether a repeating condition has just passed zero
        self._fired: dict[Watch, float] = {}  # time at which each watch last fired
        self._used: dict[str, list[int] | None] = {}  # controls chosen by events: event and action, None of a function
        self._until = np.inf
        self._most_steps = 200
        record = new_record(s.time, settings.code, settings.step, settings.every, settings.tolerance)
        self.engine = self._new_engine(s.copy(), controls, record, ("controller", "motion") if is_strict else ())

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.engine.time

    @property
    def method(self) -> str:
        """How the run goes on: the method of its settings, or "stepping" with contacts that are not located."""
        return "stepping" if self.engine.record["method"][0] == STEPPING else self.settings.method

    @property
    def forces(self) -> Any:
        """External forces of the run's arguments, or of the last event that changed them."""
        return self._controls.given["forces"]

    @property
    def controller(self) -> Any:
        """Controller of the run's arguments, or of the last event that changed it."""
        return self._controls.given["controller"]

    @property
    def observers(self) -> list[Observer]:
        """Controllers whose numbers are recorded."""
        return self._controls.observers

    def check_drives(self, until: float) -> None:
        """Raise InputError if driven joints are not on their motion, or cannot follow it to a time."""
        motion = self._controls.motion
        if motion is not None:
            check_on_motion(motion, self.engine.state)
            check_smooth(motion, self.engine.state, until)

    def begin(self) -> None:
        """Find the torques, forces and modes of restraints at the start.

        Joints that move into stops have an impact there, unless events of the same instant are due: then all is one.
        """
        self._update_controls()
        has_events = any(event.time <= self.time + SAME_INSTANT for event in self._times)
        self.engine.settle(meets_stops=not has_events)
        require_inertia(self.engine.layout, self.engine.workspace.table)
        check_status(self.engine)

    def _new_engine(self, s: State, controls: Controls, record: NDArray[Any], new: Collection[str] = ()) -> Engine:
        """Engine that owns a state; a missing joint is an error in `new` controls."""
        restraints = restraints_of(
            s.layout, self.settings.limits, controls.driven, softens=self.settings.method == "implicit"
        )
        contacts = contacts_of(self.m, restraints.workspace) if self.settings.contacts != "off" else None
        if contacts is not None:
            refuse_breaking_joints(s.layout)
        engine = Engine(s, restraints, controls.table(s.layout, new), record, contacts)
        engine.record["method"] = self.settings.code  # events are located again, if they were given up
        controls.load_forces(engine)
        return engine

    # Advancing

    def last_grid_point(self, end: float) -> float:
        """Last point of the grid of time before an end; the end itself if that is on the grid, or none is left."""
        start, step = float(self.engine.record["start"][0]), self.settings.step
        passed = math.floor((end - start) / step + 1e-9)
        point = start + passed * step
        return point if self.time < point < end - 1e-9 * step else end

    def spans(self, until: float, record: Recorder) -> Iterator[float]:
        """Advance to a time through all events, unless one stops the run; yields the time after every span."""
        self._until = until
        if not self._has_begun:
            self._has_begun = True
            self._carry_out_events(record, {})
        while self.time < until and self.stopped is None:
            self._update_controls()
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
                self._carry_out_events(record, {})
            yield self.time

    def _update_controls(self) -> None:
        """Call Python controllers if a control tick is due."""
        if self._controls.is_asked and self.time >= self._tick - SAME_INSTANT:
            self._controls.update(self.m, self.engine)
            self._count_ticks()

    def _count_ticks(self) -> None:
        while self._tick <= self.time + SAME_INSTANT:
            self._n_ticks += 1

    @property
    def _tick(self) -> float:
        """Time of the next control tick [s]: by counting, since sums of steps would drift off the grid."""
        return self._first_tick + self._n_ticks * (self._controls.tick or self.settings.control_step)

    def _run(self, stop: float) -> None:
        begun = clock.perf_counter()
        self.engine.advance(stop, self._most_steps)
        longer = _SPAN / max(clock.perf_counter() - begun, 1e-4)
        self._most_steps = min(100_000, max(10, int(self._most_steps * min(4.0, longer))))

    def _watched_step(self, stop: float, watches: list[Watch], record: Recorder) -> None:
        """One step, or a shorter one to just after the first event in it."""
        if self._is_near:  # its new sign must be known before the next passage
            stop = min(stop, self.time + _NEAR)
            self._is_near = False
        before = {watch: self._values[watch] if watch in self._values else self._look(watch) for watch in watches}
        start = self.engine.snapshot()
        self.engine.advance(stop, 1)
        check_status(self.engine)
        self._values = {watch: self._look(watch) for watch in watches}
        happened = [watch for watch in watches if watch.happened(before[watch], self._values[watch])]
        if not happened:
            record.samples(self.engine)
            return
        t = self._instant(start, happened, before)
        self.engine.restore(start)
        while self.time < t:
            self.engine.advance(t, self._most_steps)
            record.samples(self.engine)
            check_status(self.engine)
        self._carry_out_events(record, before)

    def _instant(self, start: Snapshot, happened: list[Watch], before: dict[Watch, float]) -> float:
        """Time just after the first of the events in the last step."""
        early, late = start.time, self.time

        def passed(t: float) -> float:
            """Negative as long as nothing has happened, positive afterwards."""
            self.engine.restore(start)
            while self.time < t:
                self.engine.advance(t, self._most_steps)
                check_status(self.engine)
            found = []
            for watch in happened:
                value = self._look(watch)
                found.append(max(abs(value), 1e-300) * (1.0 if watch.happened(before[watch], value) else -1.0))
            return max(found)

        low = early + min(_LOCATED, 0.5 * (late - early))
        return crossing(passed, low, late, _LOCATED)  # the end, if it is lost by rounding: the next step finds it

    # Events

    def _active_watches(self) -> list[Watch]:
        return [*self._watches, BREAKS] if has_breaks(self.m) else [*self._watches]

    def _look(self, watch: Watch) -> float:
        value: float = user_code(self.time, lambda: watch.value(self.m, self.engine, self._controls.acting))
        return value

    def _carry_out_events(self, record: Recorder, before: dict[Watch, float]) -> None:
        """Carry out all events of this instant; their changes may cause more events at the same instant.

        Args:
            record: Recorder of the changes.
            before: Values of the watches at the start of the step; empty if no step came before.
        """
        answered: set[Watch] = set()
        names: list[str] = []
        for _ in range(_MOST_CHANGES):
            due = together([event for event in self._times if event.time <= self.time + SAME_INSTANT])
            self._times = [event for event in self._times if event not in due]
            values = {watch: self._look(watch) for watch in self._active_watches()}
            fired = [watch for watch, value in values.items() if watch.happened(before.get(watch, 0.0), value)]
            # a passage whose actions are done is over: the next one counts from here, as from a start at zero
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
            actions = user_code(self.time, partial(self._planned_actions, planned))
            try:
                self.change(actions, names, record)
            except SimulationError:
                raise
            except VarichainError as error:
                message = f"at t = {self.time:.9g} s, event {', '.join(names)}: {error}"
                raise EventError(message, self.time) from error
            # a value that a change makes jump over zero counts as a passage
            before = {watch: value for watch, value in values.items() if watch not in answered}
            if self.stopped is not None:
                return
        raise ChatteringError(
            f"more than {_MOST_CHANGES} changes at t = {self.time:.9g} s, the last by {', '.join(names)}", self.time
        )

    def _note_fired(self, fired: list[Watch], answered: set[Watch]) -> None:
        """Remember when conditions passed zero; ChatteringError if one repeats itself too soon."""
        soonest = min(_ACCUMULATE, 0.1 * self.settings.step)
        for watch in fired:
            if not isinstance(watch, ConditionWatch) or watch.once:
                continue
            if watch not in answered and self.time - self._fired.get(watch, -np.inf) < soonest:
                raise ChatteringError(
                    f"{watch.name} follows itself within {soonest:g} s at t = {self.time:.9g} s: events accumulate; "
                    "give the event an action that ends the motion (vc.connect, vc.stop), or once=True",
                    self.time,
                )
            self._fired[watch] = self.time
            self._is_near = True

    def change(self, actions: list[Action], names: list[str], record: Recorder) -> None:
        """Carry out actions of this instant, wholly or not at all; `names` are those of their events.

        Events that the change causes happen in the next step.
        """
        record.before_change(self, names, actions)
        used = [action for action in actions if isinstance(action, Use)]
        new = {name for action in used for name in action.changes}
        controls = self._controls
        for action in used:
            controls = Controls(**(controls.given | action.changes))
        changed = self._happen(actions, controls, new)
        # nothing fails from here on
        self.engine, self._controls = changed.engine, controls
        for action in used:
            self._used |= dict.fromkeys(action.changes, self._place(action))
        if used:
            self._first_tick, self._n_ticks = self.time, 0
            if controls.is_asked:
                self._count_ticks()
        reasons = [action.reason for action in actions if isinstance(action, Stop)]
        if reasons:
            self.stopped = next(filter(None, reasons), ", ".join(names))
        record.after_change(self, changed)

    def _happen(self, actions: list[Action], controls: Controls, new: Collection[str]) -> Changed:
        """Carry out actions; returns the engine of the next epoch and leaves this simulation as it is."""
        earlier = self.engine
        if "motion" in new and controls.motion is not None:
            check_on_motion(controls.motion, earlier.state, with_velocities=False)
            check_smooth(controls.motion, earlier.state, self._until)

        def engine_for(after: State, has_impact: bool) -> Engine:
            engine = self._new_engine(after, controls, earlier.record, new)
            engine.take_over(earlier, with_torques="controller" not in new)
            return engine

        def settle(engine: Engine, has_impact: bool) -> None:
            engine.settle(meets_stops=not has_impact)
            require_inertia(engine.layout, engine.workspace.table)
            check_status(engine)
            if new and controls.is_asked:
                controls.update(self.m, engine)
                engine.settle_again()
                check_status(engine)

        edits = [action for action in actions if isinstance(action, InstantAction)]
        done = happen(self.m, earlier.state, edits, engine_for, settle, is_impact="motion" in new)
        lost = float(done.moving.record["lost"][0] - earlier.record["lost"][0])
        return Changed(done.moving, done.entry, lost)

    def _planned_actions(self, planned: list[Any]) -> list[Action]:
        """Actions of this instant; functions may look at the mechanism, not change it."""
        revision = self.m.revision
        actions = planned_actions(planned, self.m, self.engine.state)
        if self.m.revision != revision:
            raise InputError("an action's function has edited the mechanism; return vc.cut(...) or vc.connect(...)")
        return actions

    def _place(self, action: Use) -> list[int] | None:
        """Index of an action's event and its index there; None if a function returned the action."""
        for i, event in enumerate(self._events):
            for j, other in enumerate(event.actions):
                if other is action:
                    return [i, j]
        return None

    # Continuing

    def memory(self) -> Memory:
        """Memory of this instant; a simulation that goes back to it repeats itself to the bit."""
        plan = {name: copy(getattr(self, name)) for name in _PLAN}
        return Memory(self.m.copy(), self.engine.plain(), self._controls, self._controls.acting, plan)

    def go_back(self, memory: Memory) -> None:
        """Go back to an instant, also over changes of structure; events that happened there do not come again."""
        self.m, self._controls = memory.m.copy(), memory.controls
        self._controls.acting = memory.acting
        for name, value in memory.plan.items():
            setattr(self, name, copy(value))
        self.stopped = None
        self.engine = self._new_engine(self.m.state(), self._controls, _fresh(self.engine.record))
        self.engine.take_up(memory.values)

    def put(self, s: State) -> None:
        """Go on from another state of the present structure, at this time; as at a start, joints may meet stops."""
        engine = self._new_engine(s, self._controls, _fresh(self.engine.record))
        engine.settle()
        check_status(engine)
        self.engine, self._values = engine, {}
        self._update_controls()

    def checkpoint(self) -> dict[str, Any]:
        """Checkpoint: all that a continuation needs, as plain values."""
        return {
            "version": CHECKPOINT_VERSION,
            **self.engine.plain(),
            "ticks": {"first": self._first_tick, "count": self._n_ticks},
            "n_events": len(self._events),
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
        """Continue from a checkpoint; the structure must be that of the checkpoint.

        Raises:
            InputError: Events or controls of the run are missing, or the checkpoint is of another version.
        """
        version = checkpoint.get("version", 1)
        if version != CHECKPOINT_VERSION:
            raise InputError(
                f"the trace's checkpoint is of version {version}, and this varichain continues from version "
                f"{CHECKPOINT_VERSION} only; begin a new simulation from trace.final"
            )
        n = checkpoint["n_events"]
        if len(self._events) < n:
            raise InputError(
                f"the run had {n} events; {len(self._events)} are given now: give the same, and new ones last"
            )
        left = {*checkpoint["times"], *checkpoint["watches"], *range(n, len(self._events))}
        self._times = [event for event in self._times if self._events.index(event) in left]
        self._watches = [watch for watch in self._watches if self._events.index(watch.event) in left]
        # new events are last and have no values yet
        for store, values in ((self._values, checkpoint["values"]), (self._fired, checkpoint["fired"])):
            store |= {watch: x for watch, x in zip(self._watches, values, strict=False) if x is not None}
        self._first_tick, self._n_ticks = checkpoint["ticks"]["first"], checkpoint["ticks"]["count"]
        self._has_begun, self._is_near = checkpoint["has_begun"], checkpoint["is_near"]
        self._use_again(checkpoint["used"])
        self._controls.take_forces(checkpoint["forces"])
        self.engine = self._new_engine(self.engine.state, self._controls, self.engine.record)
        self.engine.take_up(checkpoint)
        check_times(self._times, self.time)

    def _use_again(self, used: dict[str, list[int] | None]) -> None:
        """Restore the controls that events of the run have chosen."""
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


def _fresh(record: NDArray[Any]) -> NDArray[Any]:
    """Copy of the record of a run, for an engine that has neither samples nor transitions to hand over."""
    found = record.copy()
    found["n_samples"] = found["n_transitions"] = 0
    return found
