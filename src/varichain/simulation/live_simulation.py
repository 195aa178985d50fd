"""A simulation that can be changed between two chunks of steps and begun again, with reports of every change."""

from __future__ import annotations

import time as clock
from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.dynamics.assembly import assemble
from varichain.dynamics.kinematics import pose
from varichain.errors import (
    DivergenceError,
    DuplicateNameError,
    EventError,
    GapError,
    InputError,
    StructureError,
    UnknownNameError,
)
from varichain.instants.actions import Connect, SetGravity
from varichain.layout.state import State
from varichain.mechanism.joint_text import loop_joint
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.controllers import PD, ComputedTorque
from varichain.simulation.controls import Controls
from varichain.simulation.dragging import Drag
from varichain.simulation.events import Action, Event, Use
from varichain.simulation.holding import hold_posture
from varichain.simulation.live_frames import LiveFrame, Report, structure_of
from varichain.simulation.live_recording import LiveRecorder, Recording
from varichain.simulation.observing import aims_of
from varichain.simulation.pacing import CHUNK, Pace
from varichain.simulation.recording import described
from varichain.simulation.settings import Settings
from varichain.simulation.simulation import Changed, Memory, Simulation
from varichain.simulation.start import checked_start
from varichain.spatial.checks import finite_array, finite_scalar
from varichain.spatial.pose import Pose

# Refusals of an event whose actions have become impossible through commands: nothing was changed.
_REFUSED = (UnknownNameError, DuplicateNameError, StructureError, GapError)
_BY_HAND = "by hand"  # name of commands among the events of a trace
_MOST_REPORTS = 100
_MOST_UNDONE = 20  # changes that can be undone
_LONGEST = 2.0 * CHUNK  # [s] of wall time after which commands are carried out


@dataclass(frozen=True)
class Start:
    """Mechanism, state, events and controls at the start, and after every reset."""

    m: Mechanism
    s: State
    settings: Settings
    events: list[Event]
    controls: dict[str, Any]  # controller, motion and forces


@dataclass(frozen=True)
class Past:
    """An instant before a change.

    Attributes:
        what: The change in words.
        number: Number of its report.
        time: When it was [s].
        is_event: Whether an event made it.
        memory: The simulation just before.
    """

    what: str
    number: int
    time: float
    is_event: bool
    memory: Memory


class LiveSimulation:
    """A simulation of a live run; one thread at a time.

    Attributes:
        pace: Simulated time that is due.
        is_paused: Whether the clock is stopped.
        message: Why the clock is stopped; empty if there is no reason to give.
    """

    def __init__(
        self, start: Start, until: float | None, speed: float, is_paused: bool, recording: Recording | None
    ) -> None:
        """Begin; pause at `until`."""
        self._start, self._end, self._until = start, until, np.inf if until is None else until
        self.is_paused, self.message = is_paused, ""
        self._failure: Exception | None = None  # error that ended the run
        self._what = ""  # the command that is being carried out
        self._drag: Drag | None = None
        self._kept: PD | ComputedTorque | None = None  # holds a posture
        self._n_structures = self._n_reports = 0
        self._reports: deque[Report] = deque(maxlen=_MOST_REPORTS)
        self._past: deque[Past] = deque(maxlen=_MOST_UNDONE)  # instants before changes
        self._before: Memory | None = None  # instant before the change that is being made
        self._recording = recording
        self._recorder = LiveRecorder(recording, self._will_change, self._has_changed)
        self.pace = Pace(start.s.time, start.settings.step, speed)
        self._begin()

    def _begin(self) -> None:
        start, m = self._start, self._start.m.copy()
        self._simulation = Simulation(
            m,
            checked_start(m, start.s.copy(), start.settings),
            start.settings,
            start.events,
            Controls(**start.controls),
        )
        self._simulation.check_drives(self._until)
        self._simulation.begin()
        if self._recording is not None:
            self._recording.begin(self._simulation)
        self._new_structure()
        self.pace.begin(self._simulation.time)  # from now: the first run in a process compiles before

    def _new_structure(self) -> None:
        self._structure = structure_of(self._simulation.m, self._simulation.engine, self._n_structures)
        self._n_structures += 1

    # Clock

    def advance(self, target: float | None = None) -> None:
        """Advance to a time [s], by default to the one that is due; an error pauses the run and is reported."""
        begun = clock.perf_counter()
        target = min(self.pace.target(self._simulation.time) if target is None else target, self._until)
        try:
            for _ in self._simulation.spans(target, self._recorder):
                if clock.perf_counter() - begun > _LONGEST:
                    break
            if self._recording is not None:
                self._recording.checkpoint_now_and_then(self._simulation)
        except Exception as error:  # any error must reach the watchers
            self._fail(error)
            return
        self.pace.reached(self._simulation.time)
        if self._simulation.stopped is not None:
            self._stop(f"stopped by an event: {self._simulation.stopped}")
        elif self._simulation.time >= self._until:
            more = "" if self._is_driven else "resume it to go on, "
            self._stop(f"the end at {self._until:g} s: {more}reset it to begin again")

    def _fail(self, error: Exception) -> None:
        if isinstance(error, EventError) and isinstance(error.__cause__, _REFUSED):
            self._report("an event of the run", error=str(error.__cause__))  # nothing was changed: the run continues
            return
        self._failure = error
        self._stop(f"the run cannot go on: {error}")
        self._report("simulate", error=self.message)

    def _stop(self, message: str) -> None:
        self.is_paused, self.message = True, message

    @property
    def _is_driven(self) -> bool:
        """Whether joints follow a motion, which may end where the run ends."""
        return self._start.controls["motion"] is not None

    def set_paused(self, is_paused: bool) -> None:
        """Stop the clock, or restart it, also after the end."""
        if not is_paused and self._simulation.time >= self._until:
            if self._is_driven:
                raise InputError(f"the motion that joints follow ends at {self._until:g} s; reset the run")
            self._until = np.inf
        self.is_paused, self.message = is_paused, ""
        self._simulation.stopped, self._failure = None, None
        self.pace.begin(self._simulation.time)

    def step(self) -> None:
        """Pause, and go on by a sixtieth of a second, or by one step if that is longer."""
        self.set_paused(True)
        ahead = max(CHUNK, self._start.settings.step)
        target = min(self.pace.on_grid(self._simulation.time + ahead), self._until)
        while self._simulation.time < target and not self.message:
            self.advance(target)

    def set_speed(self, speed: float) -> None:
        """Choose the simulated seconds in a second of wall time."""
        self.pace.speed = speed
        self.pace.begin(self._simulation.time)

    def reset(self) -> None:
        """Begin again."""
        self.finish()
        self._drag, self._kept, self.message, self._failure = None, None, "", None
        self._until = np.inf if self._end is None else self._end
        self._reports.clear()
        self._past.clear()
        self._begin()
        self._report("reset")

    def undo(self) -> None:
        """Go back to before the last change, by hand or by an event, and pause; the event does not come again.

        A trace ends, and the next begins there.

        Raises:
            InputError: Nothing has changed since the start.
        """
        if not self._past:
            raise InputError("there is no change to undo since the start")
        past = self._past.pop()
        while past.is_event and self._past and self._past[-1].is_event and self._past[-1].time == past.time:
            past = self._past.pop()  # one event causes another: an instant is undone as a whole
        self.finish()
        self._simulation.go_back(past.memory)
        self._drag = forces if isinstance(forces := self._simulation.forces, Drag) else None
        given = self._simulation.controller
        self._kept = self._kept if isinstance(given, list) and self._kept in given else None
        self._stop("")
        self._failure = None
        self._reports = deque((r for r in self._reports if r.number < past.number), maxlen=_MOST_REPORTS)
        self._new_structure()
        if self._recording is not None:
            self._recording.begin(self._simulation)
        self.pace.begin(self._simulation.time)
        self._report(f"undo: {past.what}")

    def finish(self) -> None:
        """End the trace, if there is one, with the outcome of the run."""
        if self._recording is None:
            return
        if self._failure is not None:
            outcome = "diverged" if isinstance(self._failure, DivergenceError) else "error"
            self._recording.finish(self._simulation, outcome, str(self._failure))
        elif self._simulation.stopped is not None:
            self._recording.finish(self._simulation, "stopped", self._simulation.stopped)
        else:
            self._recording.finish(self._simulation, "complete")

    # Changes

    def change(self, actions: list[Action]) -> None:
        """Change structure, forces or gravity now, wholly or not at all."""
        self._simulation.change(actions, [_BY_HAND], self._recorder)

    def connect(self, link: str, other: str, kind: str, axis: str, point: ArrayLike | None, name: str | None) -> None:
        """Connect two links where they are, by a joint whose frame has the axes of the world."""
        joint = loop_joint(kind, axis)
        m, s = self._simulation.m, self._simulation.engine.state
        frame = m.frames.get(link)
        real = link if frame is None else frame.link
        place = (np.zeros(3) if frame is None else frame.at.p) if point is None else finite_array(point, (3,), "point")
        self.change([Connect(real, other, joint, Pose(place, R=pose(m, s, real).R.T), name=name)])

    def drag(self, link: str, target: ArrayLike, point: ArrayLike) -> None:
        """Pull a point of a link to a target; if it is being pulled already, only the target moves."""
        place, goal = finite_array(point, (3,), "point"), finite_array(target, (3,), "target")
        if self._drag is not None and self._drag.link == link and np.array_equal(self._drag.point, place):
            self._drag.target = goal
            return
        m, s = self._simulation.m, self._simulation.engine.state
        drag = Drag(m, s, link, place, goal, self._own_forces(), self._start.settings.control_step)
        self.change([Use({"forces": drag})])
        self._drag = drag

    def release(self) -> None:
        """End the drag."""
        if self._drag is not None:
            self.change([Use({"forces": self._own_forces()})])
            self._drag = None

    def pose(self, joints: Mapping[str, float]) -> None:
        """Set coordinates of joints of a paused run, at rest; loops and couplings are closed, the others follow.

        Raises:
            InputError: The run is not paused, its trace is written, or a joint does not have one coordinate.
            LimitError, AssemblyError: There is no such posture.
        """
        if not self.is_paused:
            raise InputError("pause the run to pose it")
        if self._recording is not None:
            raise InputError(
                "a run whose trace is written cannot be posed: nothing in it would explain the new posture"
            )
        m, s = self._simulation.m, self._simulation.engine.state.copy()
        for name, value in joints.items():
            n_q = m.joint(name).n_q
            if name not in s.joints or n_q != 1:
                raise InputError(f"joint {name!r} has {n_q} coordinates; only tree joints of one are posed so")
            s[name].q = finite_scalar(value, f"coordinate of {name!r}")
        s.v = np.zeros(m.n_v)
        if m.virtual_links or m.couplings:
            s = assemble(m, s, hold=[*joints]).state
        self._simulation.put(checked_start(m, s, self._start.settings))
        if self._kept is not None:
            self.hold(True)

    def hold(self, is_kept: bool) -> None:
        """Hold the present posture by torques of all actuated joints, or no longer.

        Raises:
            InputError: No joint has an actuator.
        """
        given, keeper = self._simulation.controller, self._kept
        laws = [law for law in (given if isinstance(given, list | tuple) else [given]) if law not in (None, keeper)]
        if is_kept:
            keeper = hold_posture(self._simulation.m, self._simulation.engine.state)
            self.change([Use({"controller": [*laws, keeper]})])
            self._kept = keeper
        elif keeper is not None:
            self.change([Use({"controller": laws or None})])
            self._kept = None

    def _own_forces(self) -> Any:
        """The run's own forces, which an event may have chosen since the start."""
        forces = self._simulation.forces
        return forces.given if isinstance(forces, Drag) else forces

    # Reports

    def begin_command(self, what: str) -> int:
        """Remember the command that causes the next changes; returns the number of the next report."""
        self._what = what
        return self._n_reports

    def refuse(self, what: str, error: Exception) -> None:
        """Report a command that was not carried out."""
        self._report(what, error=str(error))

    def report_since(self, number: int) -> Report | None:
        """The newest report, if it has at least this number."""
        return self._reports[-1] if self._n_reports > number else None

    def _will_change(self, actions: list[Any]) -> None:
        """Remember the instant before a change; forces and controllers alone are none."""
        self._before = None if all(isinstance(action, Use) for action in actions) else self._simulation.memory()

    def _has_changed(self, names: list[str], actions: list[Any], changed: Changed) -> None:
        """Report a change by a command or by an event."""
        before, after = self._structure.counts, None
        if changed.entry is not None or any(isinstance(action, SetGravity) for action in actions):
            self._new_structure()
            after = self._structure.counts
        edits = () if changed.entry is None else changed.entry.edits
        impulses = [float(np.linalg.norm(edit.impulse[3:])) for edit in edits if edit.impulse is not None]
        what = self._what if names == [_BY_HAND] else ", ".join(names)
        if self._before is not None:
            is_event = names != [_BY_HAND]
            self._past.append(Past(what, self._n_reports, self._simulation.time, is_event, self._before))
        did = () if edits else tuple(map(described, actions))
        self._report(
            what,
            entries=(*map(str, edits), *(did if names != [_BY_HAND] else ())),
            impulse=max(impulses, default=0.0),
            energy_lost=changed.energy_lost,
            before=before if after is not None else None,
            after=after,
        )

    def _report(self, what: str, **more: Any) -> None:
        self._reports.append(Report(self._n_reports, self._simulation.time, what, **more))
        self._n_reports += 1

    def frame(self) -> LiveFrame:
        """Frame of the present state."""
        sample, drag = self._simulation.engine.blocks(), self._drag
        kinetic, gravity, springs = sample.energy.tolist()
        return LiveFrame(
            time=self._simulation.time,
            q=sample.q.copy(),
            v=sample.v.copy(),
            loop_forces=sample.loop_forces.reshape(-1, 6).copy(),
            contact_forces=np.array(sample.contact_forces).reshape(-1, 3),
            contact_modes=np.array(sample.contact_modes),
            energy=(kinetic, gravity, springs),
            structure=self._structure,
            speed=self.pace.speed,
            rate=0.0 if self.is_paused else self.pace.rate,
            is_paused=self.is_paused,
            message=self.message,
            until=self._end,
            is_kept=self._kept is not None,
            drag=None if drag is None else (drag.link, drag.point, drag.target),
            reports=tuple(self._reports),
            aims=aims_of(self._simulation.m, self._simulation.engine.state, self._simulation.observers),
        )
