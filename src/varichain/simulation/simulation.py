"""A simulation in progress: spans of compiled steps, with events between them."""

from __future__ import annotations

import time as clock
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import brentq

from varichain.dynamics.arguments import link_row, opened_with_mass
from varichain.dynamics.forces import Force
from varichain.dynamics.limits import limit_excess
from varichain.errors import (
    ChatteringError,
    ControllerError,
    DivergenceError,
    InputError,
    LimitError,
    SimulationError,
)
from varichain.kernels import running
from varichain.kernels.closure import row_velocities
from varichain.kernels.methods import METHOD_CODES
from varichain.kernels.records import FORCE
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.simulation.changes import apply_actions
from varichain.simulation.controllers import PD, Compiled, Torques, checked_controllers, torques_from
from varichain.simulation.engine import Engine
from varichain.simulation.events import At, Stop, Use, When, checked_events, planned_actions
from varichain.simulation.holds import holds_of
from varichain.simulation.laws import laws_of
from varichain.simulation.settings import Settings
from varichain.simulation.watches import BreakWatch, ConditionWatch, ForceWatch, Watch, has_breaks
from varichain.trace import Trace

Array = NDArray[np.float64]

SAME_INSTANT = 1e-9  # [s]
_LOCATED = 1e-11  # [s]
_MOST_CHANGES = 100  # at one instant
_INSIDE = 1e-9  # [rad or m] beyond a limit that counts as at it
_CLOSING = 1e-8  # [m/s or rad/s] that loops may open with at the start, relative to the fastest velocity
_SPAN = 0.1  # [s] of wall time that a call of the kernel may take, so that Ctrl-C is heard


class Simulation:
    """A mechanism in motion; `advance` moves it on, and structure changes happen by events or between calls.

    Attributes:
        m: The mechanism, a copy of the one given.
        engine: What moves it.
        stopped: Why an event ended the run; None as long as none did.
    """

    def __init__(
        self,
        m: Mechanism,
        s: State,
        settings: Settings,
        events: Any = (),
        controller: Any = None,
        motion: Motion | None = None,
        forces: Any = (),
    ) -> None:
        """Begin at a state."""
        opened_with_mass(m, s)
        self.m = m.copy()
        self.settings = settings
        self.stopped: str | None = None
        self._events = checked_events(events)
        self._times = [event for event in self._events if isinstance(event, At)]
        self._watches = _watches(self._events)
        self._set_controls(controller, motion, forces)
        self._values: dict[Watch, float] = {}
        self._span = 200
        memo, tally = np.zeros(running.N_MEMO), np.zeros(running.N_TALLY, np.int64)
        memo[[running.TIME, running.START]] = s.time
        memo[running.STEP] = memo[running.NEXT] = settings.step
        memo[running.TOLERANCE] = settings.tolerance
        tally[running.METHOD], tally[running.EVERY] = METHOD_CODES[settings.method], settings.every
        self._tick = s.time  # when Python controllers are asked next
        start = s.copy()
        self._check_start(start)
        self._memo, self._tally = memo, tally
        self.engine = self._new_engine(start)

    # What is there

    @property
    def time(self) -> float:
        """Time [s]."""
        return self.engine.time

    @property
    def state(self) -> State:
        """The state now; a copy."""
        return self.engine.state.copy()

    # How it begins

    def begin(self) -> None:
        """Take up what holds at the start, then the events of that instant."""
        self.engine.settle(is_impact=False)
        self._check_status()

    def _check_start(self, s: State) -> None:
        if self.settings.limits == "hard":
            excess = {name: x for name, x in limit_excess(self.m, s).items() if x > _INSIDE}
            if excess:
                raise LimitError(excess)
        layout, table = opened_with_mass(self.m, s)
        if not layout.loops:
            return
        from varichain.dynamics.projection import project

        closed = project(self.m, s)
        if np.abs(s.difference(closed)).max() > 1e-6:
            raise InputError("the state's loops are open; begin with vc.project(m, s) or vc.assemble(m, s)")
        rates = np.empty(layout.n_rows)
        row_velocities(table, s.q, s.v, rates)
        if np.abs(rates).max(initial=0.0) > _CLOSING * (1.0 + np.abs(s.v).max(initial=0.0)):
            worst = int(np.abs(rates).argmax())
            name = next(loop.name for loop in layout.loops if loop.rows.start <= worst < loop.rows.stop)
            raise InputError(
                f"the state's velocities open loop {name!r} with {abs(rates[worst]):.3g} m/s or rad/s; begin with "
                "vc.project(m, s), which gives the nearest velocities that do not"
            )
        s._become(closed)

    def checkpoint(self) -> dict[str, Any]:
        """All that a continuation needs, as plain values."""
        engine = self.engine
        return {
            "q": engine.q.tolist(),
            "v": engine.v.tolist(),
            "memo": engine.memo.tolist(),
            "tally": engine.tally.tolist(),
            "modes": engine.modes(),
            "held_torques": engine.held_torques.tolist(),
            "tick": self._tick,
            "times": [self._events.index(event) for event in self._times],
            "watches": [self._events.index(watch.event) for watch in self._watches],
            "values": [self._values.get(watch) for watch in self._watches],
        }

    @classmethod
    def from_checkpoint(
        cls,
        trace: Trace,
        settings: Settings,
        events: Any,
        controller: Any,
        motion: Motion | None,
        forces: Any,
    ) -> Simulation:
        """Go on from a trace's checkpoint."""
        kept, m = trace.checkpoint, trace.epochs[-1].mechanism
        assert kept is not None
        simulation = object.__new__(cls)
        simulation.m = m.copy()
        simulation.settings, simulation.stopped, simulation._span = settings, None, 200
        simulation._events = checked_events(events)
        n_needed = 1 + max([*kept["times"], *kept["watches"]], default=-1)
        if len(simulation._events) < n_needed:
            raise InputError(f"the run had at least {n_needed} events, and {len(simulation._events)} are given now")
        times = [simulation._events[i] for i in kept["times"]]
        simulation._times = [event for event in times if isinstance(event, At)]
        watches = _watches(simulation._events)
        simulation._watches = [watch for watch in watches if simulation._events.index(watch.event) in kept["watches"]]
        values = zip(simulation._watches, kept["values"], strict=True)
        simulation._values = {watch: value for watch, value in values if value is not None}
        simulation._set_controls(controller, motion, forces)
        simulation._tick = kept["tick"]
        simulation._memo = np.array(kept["memo"], np.float64)
        simulation._tally = np.array(kept["tally"], np.int64)
        s = m.state()
        s.q[:], s.v[:] = kept["q"], kept["v"]
        s._time = float(simulation._memo[running.TIME])
        simulation.engine = simulation._new_engine(s)
        simulation.engine.set_modes(kept["modes"])
        simulation.engine.hold_torques(np.array(kept["held_torques"]))
        return simulation

    # Controls

    def _set_controls(self, controller: Any, motion: Any, forces: Any) -> None:
        self._controllers = checked_controllers(controller)
        self._asked = [law for law in self._controllers if not isinstance(law, PD | Torques | Compiled)]
        if motion is not None and not isinstance(motion, Motion):
            raise InputError(f"motion must be a vc.Motion, not {motion!r}")
        self._motion = motion
        self._forces = forces
        self._controls = {"controller": controller, "motion": motion, "forces": forces}

    def _new_engine(self, s: State) -> Engine:
        layout = s.layout
        driven = frozenset(self._motion.joints) if self._motion is not None else frozenset()
        holds, names = holds_of(layout, self.settings.limits, driven)
        laws = laws_of(layout, self._controllers, self._motion)
        engine = Engine(s, holds, names, laws, self._memo, self._tally)
        engine.set_forces(self._force_records(engine))
        return engine

    def _force_records(self, engine: Engine) -> NDArray[Any]:
        given = self._given_forces(engine)
        records = np.zeros(len(given), FORCE)
        for record, force in zip(records, given, strict=True):
            record["link"] = link_row(engine.layout, force.link)
            record["local"], record["point"], record["wrench"] = force._local, force._point, force._wrench
        return records

    def _given_forces(self, engine: Engine) -> tuple[Force, ...]:
        forces = self._forces(self.m, engine.state) if callable(self._forces) else self._forces
        given = () if forces is None else (tuple(forces) if isinstance(forces, Iterable) else (forces,))
        for force in given:
            if not isinstance(force, Force):
                raise InputError(
                    f"forces must be vc.Force objects or a function (m, s) that returns them, not {force!r}"
                )
        return given

    def _ask(self) -> None:
        """Ask Python controllers, and forces that are functions, what acts until the next tick."""
        engine = self.engine
        tau = np.zeros(engine.layout.n_v)
        for law in self._asked:
            what = getattr(law, "__name__", type(law).__name__)
            tau += self._guarded(
                lambda law=law, what=what: torques_from(law(self.m, engine.state), engine.layout, what)
            )
        engine.hold_torques(tau)
        if callable(self._forces):
            engine.set_forces(self._guarded(lambda: self._force_records(engine)))

    def _guarded(self, call: Callable[[], Any]) -> Any:
        """Call something of the user; what it raises is told with the time."""
        try:
            return call()
        except Exception as error:
            raise ControllerError(f"at t = {self.time:.9g} s: {error}", self.time) from error

    # Advancing

    def spans(self, until: float, record: Recorder) -> Iterator[float]:
        """Move on to a time, through all events; an event may end it earlier. Yields the time after every span."""
        self._events_now(record, {})
        while self.time < until and self.stopped is None:
            self._advance_once(until, record)
            yield self.time

    def _advance_once(self, until: float, record: Recorder) -> None:
        engine = self.engine
        if (self._asked or callable(self._forces)) and self.time >= self._tick - SAME_INSTANT:
            self._ask()
            while self._tick <= self.time + SAME_INSTANT:
                self._tick += self.settings.control_step
        stop = min([until, *(event.time for event in self._times)])
        if self._asked or callable(self._forces):
            stop = min(stop, self._tick)
        watches = self._active_watches()
        if not watches:
            self._run(stop, self._span)
            record.samples(engine)
            self._check_status()
        else:
            snapshot, before = engine.snapshot(), self._looks(watches)
            self._run(stop, 1)
            self._check_status()
            happened = self._happened(watches, before)
            if happened:
                self._locate(snapshot, happened, before, record)
                self._events_now(record, before)
                return
            record.samples(engine)
        if any(event.time <= self.time + SAME_INSTANT for event in self._times):
            self._events_now(record, {})

    def _run(self, stop: float, most_steps: int) -> None:
        begun = clock.perf_counter()
        self.engine.run(stop, most_steps)
        if most_steps > 1:
            taken = clock.perf_counter() - begun
            self._span = min(100_000, max(10, int(self._span * min(4.0, _SPAN / max(taken, 1e-4)))))

    def _locate(self, snapshot: Any, happened: list[Watch], before: dict[Watch, float], record: Recorder) -> None:
        """Go back, and on to just behind the first of what happened in the last step."""
        engine = self.engine
        start, end = float(snapshot.memo[running.TIME]), self.time

        def earliest(t: float) -> float:
            """Negative before anything has happened, positive behind it."""
            self._go_to(snapshot, t)
            found = [self._passage(watch, before[watch]) for watch in happened]
            return max(found)

        if earliest(end) <= 0.0:
            root = end
        else:
            low = start + min(1e-12, 0.5 * (end - start))
            root = low if earliest(low) > 0.0 else float(brentq(earliest, low, end, xtol=_LOCATED, rtol=1e-15))
        while earliest(root) <= 0.0 and root < end:
            root = min(end, root + 2.0 * _LOCATED)
        engine.restore(snapshot)
        while engine.time < root:
            engine.run(root, 1_000_000)
            record.samples(engine)
            self._check_status()

    def _go_to(self, snapshot: Any, t: float) -> None:
        self.engine.restore(snapshot)
        while self.engine.time < t:
            self.engine.run(t, 1_000_000)
            self._check_status()

    def _passage(self, watch: Watch, before: float) -> float:
        """How far a watch has got beyond what counts as happened; negative as long as it has not."""
        now = self._look(watch)
        if watch.happened(before, now):
            return max(abs(now), 1e-300)
        return -max(abs(now), 1e-300)

    # Looking

    def _active_watches(self) -> list[Watch]:
        watches = list(self._watches)
        if has_breaks(self.m):
            watches.append(_BREAKS)
        return watches

    def _look(self, watch: Watch) -> float:
        value: float = self._guarded(lambda: watch.value(self.m, self.engine, self._given_forces(self.engine)))
        return value

    def _looks(self, watches: list[Watch]) -> dict[Watch, float]:
        """Values at the step's start; those that the last look has found are kept."""
        return {watch: self._values[watch] if watch in self._values else self._look(watch) for watch in watches}

    def _happened(self, watches: list[Watch], before: dict[Watch, float]) -> list[Watch]:
        self._values = {watch: self._look(watch) for watch in watches}
        return [watch for watch in watches if watch.happened(before[watch], self._values[watch])]

    # Events

    def _events_now(self, record: Recorder, before: dict[Watch, float]) -> None:
        """Carry out all events of this instant; what they change may call for more at the same instant."""
        answered: set[Watch] = set()
        for _ in range(_MOST_CHANGES):
            due = [event for event in self._times if event.time <= self.time + SAME_INSTANT]
            self._times = [event for event in self._times if event not in due]
            watches = self._active_watches()
            values = {watch: self._look(watch) for watch in watches}
            fired = [watch for watch in watches if watch.happened(before.get(watch, 0.0), values[watch])]
            # a passage that has been answered is over: what follows is counted from there, as from a start at zero
            answered |= set(fired)
            self._values = values | dict.fromkeys(answered, 0.0)
            if not due and not fired:
                return
            names = [event.name or f"t = {event.time:g} s" for event in due] + [watch.name for watch in fired]
            planned = [action for event in due for action in event.actions]
            for watch in fired:
                planned += watch.actions(self.m, self.engine, self._given_forces(self.engine))
            self._watches = [watch for watch in self._watches if not (watch in fired and watch.once)]
            self._carry_out(planned, names, record)
            before = {}
            if self.stopped is not None:
                return
        raise ChatteringError(
            f"more than {_MOST_CHANGES} changes at t = {self.time:.9g} s, the last by {', '.join(names)}", self.time
        )

    def _carry_out(self, planned: list[Any], names: list[str], record: Recorder) -> None:
        actions = self._guarded(lambda: planned_actions(planned, self.m, self.engine.state))
        for action in actions:
            if isinstance(action, Use):
                self._set_controls(**(self._controls | action.changes))
                self._tick = self.time
        record.end_epoch(self, names, actions)
        changed = apply_actions(self.m, self.engine, actions, self._new_engine, lambda e: float(e.memo[running.LOST]))
        self.engine = changed.engine
        self._check_status()
        if any(isinstance(action, Stop) for action in actions):
            reasons = [action.reason for action in actions if isinstance(action, Stop)]
            self.stopped = next((reason for reason in reasons if reason), ", ".join(names))
        record.changed(self, changed)

    # Trouble

    def _check_status(self) -> None:
        engine, status = self.engine, self.engine.status
        if status in (running.REACHED, running.FULL):
            return
        t = self.time
        freedom = engine.layout.freedom_name(int(engine.tally[running.FREEDOM]))
        if status == running.DIVERGED:
            raise DivergenceError(
                f"the motion ceased to be finite after t = {t:.9g} s, at {freedom!r} first; take a smaller step, or look "
                "at the forces and controllers there",
                t,
                freedom,
            )
        if status == running.TOO_SMALL:
            raise DivergenceError(
                f"the steps became too small after t = {t:.9g} s, at {freedom!r} first; loosen the tolerance, or look "
                "at the forces there",
                t,
                freedom,
            )
        if status == running.CHATTERING:
            names = ", ".join(name for name, hold in zip(engine.hold_names, engine.holds, strict=True) if hold["held"])
            raise ChatteringError(
                f"stops and friction chatter at t = {t:.9g} s: events without end within one step; held: {names or '-'}",
                t,
            )
        if status == running.UNDECIDED:
            raise SimulationError(
                f"at t = {t:.9g} s no set of held joints agrees with its forces: stops or friction that depend on each "
                "other through loops; use limits='soft'",
                t,
            )
        raise SimulationError(
            f"loops cannot be kept closed after t = {t:.9g} s: driven joints, stops or the step's length work against "
            "them; take a smaller step, or drive fewer joints",
            t,
        )


class Recorder:
    """Listens to a simulation; does nothing itself."""

    def samples(self, engine: Engine) -> None:
        """Samples and happenings of the last span."""

    def end_epoch(self, simulation: Simulation, names: list[str], actions: list[Any]) -> None:
        """An event is about to change something."""

    def changed(self, simulation: Simulation, changed: Any) -> None:
        """An event has changed something."""


_BREAKS = BreakWatch()


def _watches(events: list[Any]) -> list[Watch]:
    found: list[Watch] = []
    for index, event in enumerate(events):
        if isinstance(event, When):
            found.append(ConditionWatch(event, index))
        elif not isinstance(event, At):
            found.append(ForceWatch(event, index))
    return found
