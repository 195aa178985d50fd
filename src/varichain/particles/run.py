"""A run of links as particles: steps, control ticks, events and breaks."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from varichain.errors import ChatteringError, EventError, InputError, SimulationError, VarichainError
from varichain.instants.actions import Action as InstantAction
from varichain.instants.actions import Cut
from varichain.kernels.particle_records import BROKEN_JOINT, REACHED
from varichain.particles.changes import Changed, change
from varichain.particles.controls import ParticleControls
from varichain.particles.failing import divergence
from varichain.particles.implicit import Implicit, implicit_step
from varichain.particles.linked import LinkedSystem
from varichain.particles.plain import Plain, Snapshot, plain_snapshot, restore, snapshot, take_snapshot
from varichain.particles.steps import stiffest
from varichain.simulation.controls import Controls, user_code
from varichain.simulation.drives import check_on_motion
from varichain.simulation.events import (
    SAME_INSTANT,
    At,
    Event,
    Stop,
    Use,
    When,
    WhenForce,
    check_times,
    condition_value,
    planned_actions,
    together,
)
from varichain.simulation.roots import crossing

_LOCATED = 1e-9  # [s]
_MOST_CHANGES = 100  # at one instant
_STEPS_AT_ONCE = 2000  # so that Ctrl-C acts soon

CHECKPOINT_VERSION = 1
"""Version of the names in a checkpoint."""

Watched = When | WhenForce
Listener = Callable[["ParticleRun", Changed | None, list[str], list[Any]], None]


class ParticleRun:
    """Links as particles in motion.

    Attributes:
        system: Particles of the present structure.
        method: "verlet" or "implicit".
        step: Longest step [s].
        threads: That share out large systems.
        stopped: Why an event ended the run; None as long as none did.
    """

    def __init__(
        self,
        system: LinkedSystem,
        method: str,
        step: float | None,
        tick: float,
        events: list[Event],
        given: Controls,
        threads: int = 1,
    ) -> None:
        """Begin at the system's time; `tick` is the time between control ticks and looks at conditions [s].

        Raises:
            InputError: The step is too long, or driven joints are not on their motion.
        """
        if given.motion is not None:
            check_on_motion(given.motion, system.measure())
        self._take(system, method, tick, events, threads)
        self._controls = ParticleControls(given, system, ("controller", "motion"), tick)
        self.step = checked_step(system, method, step)
        self._implicit = Implicit(system) if method == "implicit" else None

    def _take(self, system: LinkedSystem, method: str, tick: float, events: list[Event], threads: int) -> None:
        self.system, self.method, self.threads, self.stopped = system, method, threads, None
        self._tick, self._start, self._n_ticks = tick, system.time, 0
        self._events = list(events)
        self._times = [event for event in events if isinstance(event, At)]
        self._watches = [event for event in events if not isinstance(event, At)]
        self._values: dict[Watched, float] = {}
        self._used: dict[str, list[int] | None] = {}  # controls chosen by events: event and action, None of a function

    stopped: str | None

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.system.time

    @property
    def observers(self) -> list[Any]:
        """Controllers whose numbers are recorded."""
        return self._controls.given.observers

    def begin(self, listen: Listener) -> None:
        """Events of the first instant."""
        self._values = {watch: self._look(watch) for watch in self._watches}
        self._carry_out(listen, [])

    def spans(self, stops: Iterator[float], listen: Listener) -> Iterator[float]:
        """Advance from stop to stop through all events, unless one ends the run; yields the time of each stop."""
        for stop in stops:
            while self.time < stop and self.stopped is None:
                self._ask()
                due = [event.time for event in self._times]
                if self._controls.is_active or self._watches:
                    due.append(self._start + self._n_ticks * self._tick)
                self._advance_and_look(min(stop, *due) if due else stop, listen)
            if self.stopped is not None:
                return
            yield stop

    def _ask(self) -> None:
        """Ask controllers if a control tick is due."""
        if self.time >= self._start + self._n_ticks * self._tick - SAME_INSTANT:
            if self._controls.is_active:
                self._controls.tick(self._n_ticks)
            while self._start + self._n_ticks * self._tick <= self.time + SAME_INSTANT:
                self._n_ticks += 1

    # Steps

    def _advance_and_look(self, stop: float, listen: Listener) -> None:
        before_span, begun = snapshot(self.system), self.time
        before = dict(self._values)
        broken = self._advance(stop)
        if broken:
            self._carry_out(listen, [], broken)
            return
        self._values = {watch: self._look(watch) for watch in self._watches}
        fired = [watch for watch in self._watches if _happened(watch, before[watch], self._values[watch])]
        if fired:
            fired = self._locate(before_span, begun, stop, before)
        if fired or any(event.time <= self.time + SAME_INSTANT for event in self._times):
            self._carry_out(listen, fired)

    def _advance(self, stop: float) -> list[str]:
        """Advance to a time in equal steps, or until a joint breaks, whose name is returned."""
        system, span = self.system, stop - self.time
        n = max(1, math.ceil(span / self.step - 1e-9))
        for first in range(0, n, _STEPS_AT_ONCE):
            advance = system._advance if self._implicit is None else self._implicit.advance
            status = advance(min(_STEPS_AT_ONCE, n - first), span / n, self.threads)
            if status == BROKEN_JOINT:
                return [system.joints.names[int(system.run["culprit"][0])]]
            if status != REACHED:
                raise divergence(system, self.step if self._implicit is None else 0.5 * self.step)
        system.run["time"] = stop
        return []

    # Events

    def _look(self, watch: Watched) -> float:
        """Value of a condition, or the largest excess of a load over its threshold."""
        if isinstance(watch, When):
            state = self.system.measure()
            return float(user_code(self.time, lambda: condition_value(watch.condition, self.system.mechanism, state)))
        if watch.joint not in self.system.joints.names:
            return -1.0
        joint = self.system.joints.array[self.system.joints.names.index(watch.joint)]
        loads = ((joint["force"], watch.force), (joint["moment"], watch.moment))
        return max(float(np.linalg.norm(load)) / bound - 1.0 for load, bound in loads if bound is not None)

    def _locate(self, earlier: Snapshot, early: float, late: float, before: dict[Watched, float]) -> list[Watched]:
        """Go back to just after the first event of the last span; the events that have happened there."""

        def happened() -> list[Watched]:
            return [watch for watch in self._watches if _happened(watch, before[watch], self._look(watch))]

        def passed(t: float) -> float:
            restore(self.system, earlier)
            self._advance(t)
            return 1.0 if happened() else -1.0

        t = crossing(passed, early + min(_LOCATED, 0.5 * (late - early)), late, _LOCATED)
        restore(self.system, earlier)
        self._advance(t)
        self._values = {watch: self._look(watch) for watch in self._watches}
        return happened()

    def _carry_out(self, listen: Listener, fired: list[Watched], broken: list[str] | None = None) -> None:
        """Carry out all events of this instant."""
        for _ in range(_MOST_CHANGES):
            due = together([event for event in self._times if event.time <= self.time + SAME_INSTANT])
            self._times = [event for event in self._times if event not in due]
            if not due and not fired and not broken:
                return
            due_now = [*due, *fired]
            names = [_name(event) for event in due_now] + (["break"] if broken else [])
            planned: list[Any] = [action for event in due_now for action in event.actions]
            planned += [Cut(name) for name in broken or ()]
            self._watches = [watch for watch in self._watches if not (watch in fired and watch.once)]
            self._change(planned, names, listen)
            if self.stopped is not None:
                return
            self._values = {watch: self._look(watch) for watch in self._watches}
            fired, broken = [], None
        raise ChatteringError(f"more than {_MOST_CHANGES} changes at t = {self.time:.9g} s", self.time)

    def _change(self, planned: list[Any], names: list[str], listen: Listener) -> None:
        state = self.system.measure()
        actions = user_code(self.time, lambda: planned_actions(planned, self.system.mechanism, state))
        listen(self, None, names, actions)
        used = {name: value for action in actions if isinstance(action, Use) for name, value in action.changes.items()}
        try:
            given = Controls(**(self._controls.given.given | used)) if used else self._controls.given
            edits = [action for action in actions if isinstance(action, InstantAction)]
            changed = change(self.system, edits) if edits else Changed(self.system, None, 0.0)
            if used.get("motion") is not None:
                check_on_motion(used["motion"], changed.system.measure(), with_velocities=False)
            controls = ParticleControls(given, changed.system, tuple(used), self._tick, self._controls)
        except SimulationError:
            raise
        except VarichainError as error:
            raise EventError(f"at t = {self.time:.9g} s, event {', '.join(names)}: {error}", self.time) from error
        self.system, self._controls = changed.system, controls
        for action in actions:
            if isinstance(action, Use):
                self._used |= dict.fromkeys(action.changes, self._place(action))
        if controls.is_active:
            controls.tick(self._n_ticks - 1)
        if self._implicit is not None:
            self._implicit = Implicit(self.system)
        elif edits or used:
            self.step = min(self.step, stiffest(self.system).step)
        reasons = [action.reason for action in actions if isinstance(action, Stop)]
        if reasons:
            self.stopped = next(filter(None, reasons), ", ".join(names))
        listen(self, changed, names, actions)

    def _place(self, action: Use) -> list[int] | None:
        """Index of an action's event and its index there; None if a function returned the action."""
        for i, event in enumerate(self._events):
            for j, other in enumerate(event.actions):
                if other is action:
                    return [i, j]
        return None

    # Continuing

    def checkpoint(self, sampled: Snapshot) -> Plain:
        """All that a continuation needs, as plain values; `sampled` is the motion just before the last sample."""
        return {
            "version": CHECKPOINT_VERSION,
            "motion": plain_snapshot(self.system, sampled),
            "step": self.step,
            "ticks": {"first": self._start, "count": self._n_ticks},
            "n_events": len(self._events),
            "times": [self._events.index(event) for event in self._times],
            "watches": [self._events.index(watch) for watch in self._watches],
            "values": [self._values.get(watch) for watch in self._watches],
            "used": self._used,
            "forces": self._controls.given.plain_forces(),
            "laws": self._controls.laws.plain(),
        }

    @classmethod
    def continued(
        cls,
        system: LinkedSystem,
        method: str,
        tick: float,
        events: list[Event],
        given: Controls,
        threads: int,
        checkpoint: Plain,
    ) -> ParticleRun:
        """A run that goes on from a checkpoint, at a system of the checkpoint's structure.

        Raises:
            InputError: The checkpoint is of another version, or events of the run are missing.
        """
        self = cls.__new__(cls)
        self._take(system, method, tick, events, threads)
        if checkpoint.get("version") != CHECKPOINT_VERSION:
            raise InputError(
                f"the trace's checkpoint is of version {checkpoint.get('version')}, and this varichain continues runs "
                f"of particles from version {CHECKPOINT_VERSION} only; begin a new one from trace.final"
            )
        n = checkpoint["n_events"]
        if len(self._events) < n:
            raise InputError(
                f"the run had {n} events; {len(self._events)} are given now: give the same, and new ones last"
            )
        left = {*checkpoint["times"], *checkpoint["watches"], *range(n, len(self._events))}
        self._times = [event for event in self._times if self._events.index(event) in left]
        self._watches = [watch for watch in self._watches if self._events.index(watch) in left]
        given = self._use_again(given, checkpoint["used"])
        given.take_forces(checkpoint["forces"])
        self._controls = ParticleControls(given, system, (), tick)
        self._controls.laws.take_up(checkpoint["laws"])
        self._controls.take_laws_up()
        take_snapshot(system, checkpoint["motion"])
        check_times(self._times, system.time)
        ticks = checkpoint["ticks"]
        self.step, self._start, self._n_ticks = checkpoint["step"], ticks["first"], ticks["count"]
        known = dict(zip(self._watches, checkpoint["values"], strict=False))  # new events are last
        self._values = {watch: value for watch, value in known.items() if value is not None}
        self._implicit = Implicit(system) if method == "implicit" else None
        return self

    def look_at_new(self) -> None:
        """Look at the conditions of events that a continuation has added."""
        for watch in self._watches:
            if watch not in self._values:
                self._values[watch] = self._look(watch)

    def _use_again(self, given: Controls, used: dict[str, list[int] | None]) -> Controls:
        """Controls with those that events of the run have chosen."""
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
            given = Controls(**(given.given | {name: action.changes[name]}))
        self._used = dict(used)
        return given


def _happened(watch: Watched, before: float, now: float) -> bool:
    """Whether a condition passed zero in its direction, or a load its threshold."""
    if isinstance(watch, When):
        up, down = before < 0.0 <= now, before > 0.0 >= now
        return (up and watch.direction >= 0) or (down and watch.direction <= 0)
    return now >= 0.0 and (watch.once or before < 0.0)


def _name(event: Event) -> str:
    return event.name or (f"t = {event.time:g} s" if isinstance(event, At) else "event")


def checked_step(system: LinkedSystem, method: str, step: float | None) -> float:
    """A step in seconds, the default of the system and method if none is given.

    Raises:
        InputError: It is too long for the system's stiffest spring.
    """
    if method == "implicit":
        return implicit_step(system, step)
    found = stiffest(system)
    if step is None:
        return found.step
    if not step <= found.longest_step:
        raise InputError(
            f"step must be at most {found.longest_step:.3g} s, not {step:.3g} s: {found.name} vibrates with "
            f"{found.frequency:.4g} rad/s; {found.step:.2g} s would do, or a lower stiffness"
        )
    return step
