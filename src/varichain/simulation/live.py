"""A live simulation: it runs in a thread of its own, and can be cut, connected, dragged and paused."""

from __future__ import annotations

import os
import queue
import threading
import time as clock
from collections.abc import Callable, Mapping
from concurrent.futures import Future
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from numpy.typing import ArrayLike

from varichain.errors import InputError
from varichain.instants.actions import Cut, SetGravity
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.simulation.events import check_times, checked_events
from varichain.simulation.live_frames import LiveFrame, Report
from varichain.simulation.live_recording import Recording
from varichain.simulation.live_simulation import LiveSimulation, Start
from varichain.simulation.settings import DEFAULTS, checked_settings, checked_speed, checked_until
from varichain.simulation.subscription import Subscription
from varichain.spatial.checks import finite_array, flag, mapping, name_string

Answer = Future[Report | None]
Command = tuple[str, Callable[[], Any], Answer]


class LiveRun:
    """A simulation in its own thread, in real time.

    Commands (`pause`, `cut`, ...) are carried out between two chunks of steps, one after the other. Each returns a
    Future at once; its result is the report of the command, None if there is nothing to report. A command that fails
    changes nothing; its future and a report have the error. A run that cannot continue pauses; its message says why.
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
            s: State at the start, and after `reset`.
            events: See `simulate`, also for `controller`, `motion` and `forces`.
            controller: Torques.
            motion: Driven joints.
            forces: External forces.
            until: When the run pauses [s], None for never; `resume` goes on, unless joints follow a motion.
            speed: Simulated seconds in a second of wall time.
            is_paused: Whether it waits for `resume`.
            out: File to write the trace to; after a reset, the next goes to a file with a number in its name.
            overwrite: Whether existing files may be replaced.
            settings: method, step, sample, tolerance, control_step, limits and contacts; see `simulate`.

        Raises:
            InputError, LimitError, AssemblyError, SingularMassError, TraceFileError: It cannot begin.
        """
        unknown = [name for name in settings if name not in DEFAULTS]
        if unknown:
            raise InputError(f"a live run has no setting {', '.join(unknown)}; settings: {', '.join(DEFAULTS)}")
        if not isinstance(m, Mechanism) or not isinstance(s, State):
            raise InputError(f"expected a Mechanism and a State, not {type(m).__name__} and {type(s).__name__}")
        checked, given = checked_settings(**(DEFAULTS | settings)), checked_events(events)
        check_times(given, s.time)
        controls = {"controller": controller, "motion": motion, "forces": forces}
        end = None if until is None else checked_until(until, s.time)
        is_paused, overwrite = flag(is_paused, "is_paused"), flag(overwrite, "overwrite")
        self._recording = Recording(out, overwrite, checked) if out is not None else None
        start = Start(m.copy(), s.copy(), checked, given, controls)
        self._simulation = LiveSimulation(start, end, checked_speed(speed), is_paused, self._recording)
        self._lock = threading.Lock()
        self._watchers: list[Subscription] = []
        self._frame = self._simulation.frame()
        self._commands: queue.SimpleQueue[Command | None] = queue.SimpleQueue()
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
            is_closed = self._is_closed
        if is_closed:
            watcher.close()
        return watcher

    def _forget(self, watcher: Subscription) -> None:
        with self._lock:
            self._watchers = [other for other in self._watchers if other is not watcher]

    @property
    def paths(self) -> tuple[Path, ...]:
        """Files that traces were written to."""
        return () if self._recording is None else tuple(self._recording.paths)

    # Commands

    def pause(self) -> Answer:
        """Stop the clock."""
        return self._command("pause", lambda: self._simulation.set_paused(True))

    def resume(self) -> Answer:
        """Let the clock go on, also after an event or an error has stopped it."""
        return self._command("resume", lambda: self._simulation.set_paused(False))

    def step(self) -> Answer:
        """Pause, and go on by a sixtieth of a second, or by one step if that is longer."""
        return self._command("step", self._simulation.step)

    def reset(self) -> Answer:
        """Begin again with the mechanism and the state of the start."""
        return self._command("reset", self._simulation.reset)

    def undo(self) -> Answer:
        """Go back to before the last change of structure or gravity, by hand or by an event, and pause.

        An event that made the change does not come again. A trace ends, and the next goes to a file with a number.
        """
        return self._command("undo", self._simulation.undo)

    def set_speed(self, speed: float) -> Answer:
        """Choose how many simulated seconds a second of wall time should take."""
        return self._command(f"set the speed to {speed}", lambda: self._simulation.set_speed(checked_speed(speed)))

    def set_gravity(self, gravity: ArrayLike) -> Answer:
        """Set the gravity (3,) [m/s^2]."""
        return self._command(
            f"set the gravity to {gravity!r}",
            lambda: self._simulation.change([SetGravity(finite_array(gravity, (3,), "gravity").copy())]),
        )

    def cut(self, joint: str) -> Answer:
        """Cut a joint, of a loop or of the tree, or a coupling."""
        return self._command(f"cut {joint!r}", lambda: self._simulation.change([Cut(joint)]))

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
            kind: Of a joint that one axis describes, or none, such as "fixed", "spherical" or "revolute".
            axis: Axis of the joint, in the world: "x", "-y", ...; without meaning for the first two.
            point: Where the joint is, in the link's frame (3,) [m]; its origin, or the named frame, by default.
            name: Name of the joint; "link to other" by default.
        """
        return self._command(
            f"connect {link!r} to {other!r}",
            lambda: self._simulation.connect(link, other, kind, axis, point, name),
        )

    def drag(self, link: str, target: ArrayLike, point: ArrayLike = (0.0, 0.0, 0.0)) -> Answer:
        """Pull a point of a link (3,) [m], in its frame, to a target in the world (3,) [m] with spring and damper."""
        return self._command(f"drag {link!r}", lambda: self._simulation.drag(link, target, point))

    def release(self) -> Answer:
        """Drag no longer."""
        return self._command("release", self._simulation.release)

    def pose(self, joints: Mapping[str, float]) -> Answer:
        """Set the coordinates of tree joints [rad or m] of a paused run, {"knee": 0.3, ...}; all come to rest.

        Loops and couplings are closed with these joints as given. A run whose trace is written cannot be posed.
        """
        wanted = {name_string(name, "joint"): value for name, value in mapping(joints, "joints").items()}
        return self._command(f"pose {', '.join(map(repr, wanted))}", lambda: self._simulation.pose(wanted))

    def hold(self, is_kept: bool = True) -> Answer:
        """Hold the present posture by torques of the actuated joints, besides the run's own; False ends it."""
        is_kept = flag(is_kept, "is_kept")
        return self._command("hold the posture" if is_kept else "let go", lambda: self._simulation.hold(is_kept))

    def close(self) -> None:
        """End the run and its thread; a trace is finished. Called again it does nothing."""
        with self._lock:
            if not self._is_closed:
                self._is_closed = True
                self._commands.put(None)
        self._thread.join()

    def __enter__(self) -> Self:
        """Nothing to do."""
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, traceback: TracebackType | None) -> None:
        """Close."""
        self.close()

    def _command(self, what: str, call: Callable[[], Any]) -> Answer:
        answer: Answer = Future()
        with self._lock:  # no command may come after the one to end
            if self._is_closed:
                answer.set_exception(_over(what))
            else:
                self._commands.put((what, call, answer))
        return answer

    # In the thread of the run

    def _work(self) -> None:
        try:
            while True:
                is_paused, due = self._simulation.is_paused, self._simulation.pace.due
                try:
                    command = self._commands.get(timeout=None if is_paused else max(0.0, due - clock.perf_counter()))
                except queue.Empty:
                    self._simulation.advance()
                    self._publish()
                else:
                    if command is None:
                        return
                    self._obey(*command)
        finally:
            self._end()

    def _obey(self, what: str, call: Callable[[], Any], answer: Answer) -> None:
        number, fault = self._simulation.begin_command(what), None
        try:
            call()
        except Exception as error:
            fault = error
            self._simulation.refuse(what, error)
        self._publish()  # before the future is done: its owner then sees a frame with the change
        if fault is not None:
            answer.set_exception(fault)
        else:
            answer.set_result(self._simulation.report_since(number))

    def _publish(self) -> None:
        self._frame = self._simulation.frame()
        with self._lock:
            for watcher in self._watchers:
                watcher.put(self._frame)

    def _end(self) -> None:
        try:
            self._simulation.finish()
        finally:
            with self._lock:
                watchers = [*self._watchers]
            for watcher in watchers:
                watcher.close()
            while not self._commands.empty():
                left = self._commands.get()
                if left is not None:
                    left[2].set_exception(_over(left[0]))


def _over(what: str) -> InputError:
    return InputError(f"the run is over; it cannot {what}")
