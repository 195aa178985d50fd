"""A simulation that goes on while somebody watches, and may take part: cut, connect, drag, pause."""

from __future__ import annotations

import os
import queue
import threading
import time as clock
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from varichain.dynamics.actions import Connect, Cut
from varichain.dynamics.kinematics import pose
from varichain.errors import ControllerError, DuplicateNameError, GapError, InputError, StructureError, UnknownNameError
from varichain.layout.state import State
from varichain.mechanism.joints import JOINT_TYPES
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.simulation.changes import Changed
from varichain.simulation.controls import Controls
from varichain.simulation.dragging import Drag
from varichain.simulation.events import Action, SetGravity, Use, check_times, checked_events
from varichain.simulation.live_frames import LiveFrame, Report, sample_of, structure_of
from varichain.simulation.live_recording import LiveRecorder, Recording
from varichain.simulation.pacing import CHUNK, Pace
from varichain.simulation.recording import told
from varichain.simulation.settings import checked_settings, checked_until
from varichain.simulation.simulation import Simulation
from varichain.simulation.start import checked_start
from varichain.simulation.subscription import Subscription
from varichain.spatial.checks import finite_array, positive_scalar
from varichain.spatial.pose import Pose

LOOP_JOINTS = ("fixed", "spherical", "revolute", "prismatic", "cylindrical", "planar")
# An edit of the structure that the user's own edits have made impossible: it was refused before it touched anything.
_REFUSED = (UnknownNameError, DuplicateNameError, StructureError, GapError)
_BY_HAND = "by hand"  # name of the events that commands are, in traces
_MOST_REPORTS = 100
_LONGEST = 2.0 * CHUNK  # [s] of wall time between two looks at the commands
_SETTINGS = {"method": "rk4", "step": None, "sample": None, "tolerance": 1e-9, "control_step": None, "limits": "hard"}

Answer = Future[Report | None]


class LiveRun:
    """A simulation in a thread of its own, in real time.

    Commands (`pause`, `cut`, ...) are carried out between two chunks of steps, one after the other. Each returns a
    Future at once; its result is the report of what was done, None where there is nothing to tell. A command that fails
    changes nothing; its future has the error, and so has a report. A run that cannot go on pauses and says why.
    """

    def __init__(
        self,
        m: Mechanism,
        s: State,
        *,
        events: Any = (),
        controller: Any = None,
        motion: Motion | None = None,
        forces: Any = (),
        until: float | None = None,
        speed: float = 1.0,
        is_paused: bool = False,
        out: str | os.PathLike[str] | None = None,
        overwrite: bool = False,
        **settings: Any,
    ) -> None:
        """Begin; neither the mechanism nor the state is changed.

        Args:
            m: Mechanism.
            s: State to begin with, and to come back to by `reset`.
            events: As of `simulate`, and so are `controller`, `motion` and `forces`.
            controller: Torques.
            motion: Driven joints.
            forces: External forces.
            until: When the run pauses for good [s]; None for never.
            speed: Simulated seconds in a second of wall time.
            is_paused: Whether it waits for `resume`.
            out: File to write the trace to; after a reset, the next goes to a file with a number in its name.
            overwrite: Whether existing files may be replaced.
            settings: method, step, sample, tolerance, control_step and limits, as of `simulate`.

        Raises:
            InputError, LimitError, AssemblyError, SingularMassError, TraceFileError: It cannot begin.
        """
        unknown = [name for name in settings if name not in _SETTINGS]
        if unknown:
            raise InputError(f"a live run has no setting {', '.join(unknown)}; settings: {', '.join(_SETTINGS)}")
        if not isinstance(m, Mechanism) or not isinstance(s, State):
            raise InputError(f"expected a Mechanism and a State, not {type(m).__name__} and {type(s).__name__}")
        self._m, self._s = m.copy(), s.copy()
        self._settings = checked_settings(**(_SETTINGS | settings))
        self._events = checked_events(events)
        check_times(self._events, s.time)
        self._given = {"controller": controller, "motion": motion, "forces": forces}
        self._until = np.inf if until is None else checked_until(until, s.time)
        self._is_paused = is_paused
        self._message = self._what = ""
        self._drag: Drag | None = None
        self._n_structures = self._n_reports = 0
        self._reports: deque[Report] = deque(maxlen=_MOST_REPORTS)
        self._recording = Recording(out, overwrite, self._settings) if out is not None else None
        self._recorder = LiveRecorder(self._recording, self._has_changed)
        self._pace = Pace(s.time, self._settings.step, positive_scalar(speed, "speed"))
        self._begin()
        self._lock = threading.Lock()
        self._watchers: list[Subscription] = []
        self._frame = self._new_frame()
        self._commands: queue.SimpleQueue[tuple[str, Callable[[], Any], Answer] | None] = queue.SimpleQueue()
        self._is_closed = False
        self._thread = threading.Thread(target=self._work, name="varichain live run", daemon=True)
        self._thread.start()

    # Watching

    @property
    def frame(self) -> LiveFrame:
        """The newest frame."""
        return self._frame

    def subscribe(self) -> Subscription:
        """Begin to watch; the newest frame is there at once."""
        watcher = Subscription(self._forget)
        with self._lock:
            self._watchers.append(watcher)
            watcher.put(self._frame)
        if self._is_closed:
            watcher.close()
        return watcher

    def _forget(self, watcher: Subscription) -> None:
        with self._lock:
            self._watchers = [other for other in self._watchers if other is not watcher]

    # Commands

    def pause(self) -> Answer:
        """Stop the clock."""
        return self._command("pause", lambda: self._set_paused(True))

    def resume(self) -> Answer:
        """Let the clock go on, also after an event or an error has stopped it."""
        return self._command("resume", lambda: self._set_paused(False))

    def step(self) -> Answer:
        """Pause, and go on by a sixtieth of a second, or by one step if that is longer."""
        return self._command("step", self._step)

    def reset(self) -> Answer:
        """Begin again with the mechanism and the state of the start."""
        return self._command("reset", self._reset)

    def set_speed(self, speed: float) -> Answer:
        """Choose how many simulated seconds a second of wall time should take."""
        return self._command(f"speed {speed}", lambda: self._set_speed(positive_scalar(speed, "speed")))

    def set_gravity(self, gravity: ArrayLike) -> Answer:
        """Set the gravity (3,) [m/s^2]."""
        return self._command(
            "set gravity", lambda: self._change([SetGravity(finite_array(gravity, (3,), "gravity").copy())])
        )

    def cut(self, joint: str) -> Answer:
        """Cut a joint, of a loop or of the tree, or a coupling."""
        return self._command(f"cut {joint!r}", lambda: self._change([Cut(joint)]))

    def connect(
        self,
        link: str,
        other: str,
        kind: str = "spherical",
        axis: str = "z",
        point: ArrayLike | None = None,
        name: str | None = None,
    ) -> Answer:
        """Connect two links where they are now.

        Args:
            link: Name of the link that gets a virtual copy, or of a named frame on it.
            other: Name of the other link, or "ground".
            kind: Kind of the joint, one of `LOOP_JOINTS`.
            axis: Its axis, in the world: "x", "-y", ...; ignored by kinds that have none.
            point: Where the joint is, in the link's frame (3,) [m]; its origin, or the named frame, by default.
            name: Name of the joint; "link to other" by default.
        """
        return self._command(
            f"connect {link!r} to {other!r}",
            lambda: self._change([self._connection(link, other, kind, axis, point, name)]),
        )

    def drag(self, link: str, target: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> Answer:
        """Pull a point of a link (3,) [m], in its frame, to a target in the world (3,) [m] with spring and damper."""
        return self._command(f"drag {link!r}", lambda: self._take_hold(link, target, point))

    def release(self) -> Answer:
        """Drag no longer."""
        return self._command("release", self._let_go)

    def close(self) -> None:
        """End the run and its thread; a trace is finished. Called again it does nothing."""
        with self._lock:
            is_first, self._is_closed = not self._is_closed, True
        if is_first:
            self._commands.put(None)
        self._thread.join()

    @property
    def is_closed(self) -> bool:
        """Whether the run is over."""
        return self._is_closed

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files that traces were written to."""
        return () if self._recording is None else tuple(self._recording.paths)

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Close."""
        self.close()

    # In the thread of the run

    def _command(self, what: str, call: Callable[[], Any]) -> Answer:
        answer: Answer = Future()
        if self._is_closed:
            answer.set_exception(InputError(f"the run is over; it cannot {what}"))
        else:
            self._commands.put((what, call, answer))
        return answer

    def _work(self) -> None:
        try:
            while True:
                wait = None if self._is_paused else max(0.0, self._pace.due - clock.perf_counter())
                try:
                    command = self._commands.get(timeout=wait)
                except queue.Empty:
                    self._advance(self._pace.target(self._simulation.time))
                    self._publish()
                else:
                    if command is None:
                        return
                    self._obey(*command)
        finally:
            self._end()

    def _end(self) -> None:
        try:
            if self._recording is not None:
                self._recording.finish(self._simulation)
        finally:
            with self._lock:
                watchers = [*self._watchers]
            for watcher in watchers:
                watcher.close()
            while not self._commands.empty():
                left = self._commands.get()
                if left is not None:
                    left[2].set_exception(InputError(f"the run is over; it cannot {left[0]}"))

    def _obey(self, what: str, call: Callable[[], Any], answer: Answer) -> None:
        n_reports, self._what, fault = self._n_reports, what, None
        try:
            call()
        except Exception as error:
            fault = _cause(error)
            self._report(what, error=str(fault))
        self._publish()  # before the answer: who has it sees what was done
        if fault is not None:
            answer.set_exception(fault)
        else:
            answer.set_result(self._reports[-1] if self._n_reports > n_reports else None)

    def _advance(self, target: float) -> None:
        begun, target = clock.perf_counter(), min(target, self._until)
        try:
            for _ in self._simulation.spans(target, self._recorder):
                if clock.perf_counter() - begun > _LONGEST:
                    break
            if self._recording is not None:
                self._recording.checkpoint_now_and_then(self._simulation)
        except Exception as error:  # whatever it is, those who watch must hear of it
            if isinstance(error, ControllerError) and isinstance(error.__cause__, _REFUSED):
                self._report("an event of the run", error=str(error.__cause__))  # it changed nothing: the run goes on
                return
            self._stop(f"the run cannot go on: {_cause(error)}")
            self._report("simulate", error=self._message)
            return
        self._pace.reached(self._simulation.time)
        if self._simulation.stopped is not None:
            self._stop(f"stopped by an event: {self._simulation.stopped}")
        elif self._simulation.time >= self._until:
            self._stop(f"the run ends at {self._until:g} s; reset it to begin again")

    def _stop(self, message: str) -> None:
        self._is_paused, self._message = True, message

    def _set_paused(self, is_paused: bool) -> None:
        if not is_paused and self._simulation.time >= self._until:
            raise InputError(f"the run ends at {self._until:g} s; reset it to begin again")
        self._is_paused, self._message = is_paused, ""
        self._simulation.stopped = None
        self._pace.begin(self._simulation.time)

    def _step(self) -> None:
        self._set_paused(True)
        ahead = max(CHUNK, self._settings.step)
        target = self._pace.on_grid(self._simulation.time + ahead)
        while self._simulation.time < min(target, self._until) and not self._message:
            self._advance(target)

    def _set_speed(self, speed: float) -> None:
        self._pace.speed = speed
        self._pace.begin(self._simulation.time)

    def _begin(self) -> None:
        m = self._m.copy()
        start = checked_start(m, self._s.copy(), self._settings)
        self._simulation = Simulation(m, start, self._settings, self._events, Controls(**self._given))
        self._simulation.check_drives(self._until)
        self._simulation.begin()
        if self._recording is not None:
            self._recording.begin(self._simulation)
        self._structure = structure_of(m, self._simulation.engine, self._n_structures)
        self._n_structures += 1
        self._pace.begin(self._simulation.time)  # now: the first run of all compiles before

    def _reset(self) -> None:
        if self._recording is not None:
            self._recording.finish(self._simulation)
        self._drag = None
        self._begin()
        self._message = ""
        self._report("reset")

    def _connection(
        self, link: str, other: str, kind: str, axis: str, point: ArrayLike | None, name: str | None
    ) -> Connect:
        """A connection whose joint frame has the axes of the world."""
        if kind not in LOOP_JOINTS:
            raise InputError(f"kind must be one of {', '.join(LOOP_JOINTS)}, not {kind!r}")
        m, s = self._simulation.m, self._simulation.engine.state
        frame = m.frames.get(link)
        held = link if frame is None else frame.link
        place = (np.zeros(3) if frame is None else frame.at.p) if point is None else finite_array(point, (3,), "point")
        turned = Pose(place, R=pose(m, s, held).R.T)
        words = (axis,) if kind in ("revolute", "prismatic", "cylindrical", "planar") else ()
        return Connect(held, other, JOINT_TYPES[kind.capitalize()](*words), turned, name=name)

    def _take_hold(self, link: str, target: ArrayLike, point: ArrayLike) -> None:
        place, goal = finite_array(point, (3,), "point"), finite_array(target, (3,), "target")
        if self._drag is not None and self._drag.link == link and np.array_equal(self._drag.point, place):
            self._drag.target = goal
            return
        given = self._forces()
        state = self._simulation.engine.state
        drag = Drag(self._simulation.m, state, link, place, goal, given, self._settings.control_step)
        self._change([Use({"forces": drag})])
        self._drag = drag

    def _let_go(self) -> None:
        if self._drag is not None:
            self._change([Use({"forces": self._forces()})])
            self._drag = None

    def _forces(self) -> Any:
        """The run's own forces, which an event may have chosen since the start."""
        forces = self._simulation.forces
        return forces.given if isinstance(forces, Drag) else forces

    def _change(self, actions: list[Action]) -> None:
        self._simulation.change(actions, _BY_HAND, self._recorder)

    def _has_changed(self, names: list[str], actions: list[Any], changed: Changed) -> None:
        """Tell what a change did, by hand or by an event."""
        words = "; ".join(map(told, actions))
        before, after = self._structure.counts, None
        if changed.entry is not None or any(isinstance(action, SetGravity) for action in actions):
            simulation = self._simulation
            self._structure = structure_of(simulation.m, changed.engine, self._n_structures)
            self._n_structures += 1
            after = self._structure.counts
        edits = () if changed.entry is None else changed.entry.edits
        impulses = [float(np.linalg.norm(edit.impulse[3:])) for edit in edits if edit.impulse is not None]
        self._report(
            self._what if names == [_BY_HAND] else f"{', '.join(names)}: {words}",
            entries=tuple(map(str, edits)),
            impulse=max(impulses, default=0.0),
            energy_lost=changed.energy_lost,
            before=before if after is not None else None,
            after=after,
        )

    def _report(self, what: str, **more: Any) -> None:
        self._reports.append(Report(self._n_reports, self._simulation.time, what, **more))
        self._n_reports += 1

    def _new_frame(self) -> LiveFrame:
        engine, drag = self._simulation.engine, self._drag
        blocks = sample_of(engine)
        kinetic, gravity, springs = blocks["energy"].tolist()
        return LiveFrame(
            time=self._simulation.time,
            q=blocks["q"].copy(),
            loop_forces=blocks["loop_forces"].reshape(-1, 6).copy(),
            energy=(kinetic, gravity, springs),
            structure=self._structure,
            speed=self._pace.speed,
            rate=0.0 if self._is_paused else self._pace.rate,
            is_paused=self._is_paused,
            message=self._message,
            drag=None if drag is None else (drag.link, drag.point, drag.target),
            reports=tuple(self._reports),
        )

    def _publish(self) -> None:
        self._frame = self._new_frame()
        with self._lock:
            for watcher in self._watchers:
                watcher.put(self._frame)


def _cause(error: Exception) -> Exception:
    """What was wrong; a command is no controller of the user."""
    cause = error.__cause__
    return cause if isinstance(error, ControllerError) and isinstance(cause, Exception) else error
