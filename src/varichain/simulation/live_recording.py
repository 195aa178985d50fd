"""Traces of live runs."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

from varichain.files import file_name
from varichain.simulation.engine import Engine
from varichain.simulation.recording import TraceRecorder
from varichain.simulation.settings import Settings
from varichain.simulation.simulation import Changed, Recorder, Simulation
from varichain.trace import TraceWriter


class Recording:
    """Traces of a run, one from each start to the next: time does not go back in a trace.

    Attributes:
        paths: Files that were begun.
    """

    def __init__(self, out: str | os.PathLike[str], overwrite: bool, settings: Settings) -> None:
        """Write to `out`, and after a reset to files with numbers."""
        self._out, self._overwrite, self._settings = Path(file_name(out)), overwrite, settings
        self.paths: list[Path] = []

    def begin(self, simulation: Simulation) -> None:
        """Begin a trace."""
        path, n = self._out, len(self.paths) + 1
        while self.paths and (path in self.paths or (path.exists() and not self._overwrite)):
            path = self._out.with_stem(f"{self._out.stem}-{n}")
            n += 1
        self._writer = TraceWriter(path, overwrite=self._overwrite)
        self.paths.append(path)
        self._writer.begin({"start": simulation.time} | self._settings.as_dict())
        self.recorder = TraceRecorder(self._writer)
        self.recorder.open_epoch(simulation)
        self.recorder.samples(simulation.engine)
        self.recorder.checkpoint(simulation)

    def checkpoint_now_and_then(self, simulation: Simulation) -> None:
        """Write a checkpoint about once a second."""
        self.recorder.checkpoint_now_and_then(simulation)

    def finish(self, simulation: Simulation, outcome: str, message: str = "") -> None:
        """End the trace with the outcome of the run."""
        if simulation.stopped is None:
            self.recorder.sample_good(simulation)
        self.recorder.checkpoint(simulation)
        self._writer.finish(outcome, message)


class LiveRecorder(Recorder):
    """Recorder of a live run: reports its changes, and writes its trace if there is one."""

    def __init__(
        self,
        recording: Recording | None,
        before: Callable[[list[Any]], None],
        after: Callable[[list[str], list[Any], Changed], None],
    ) -> None:
        """Call `before` with the actions of every change, and `after` with its names, actions and result."""
        self._recording, self._before, self._after = recording, before, after
        self._names: list[str] = []
        self._actions: list[Any] = []

    def samples(self, engine: Engine) -> None:
        """Write the samples and transitions of the last span."""
        if self._recording is not None:
            self._recording.recorder.samples(engine)

    def before_change(self, simulation: Simulation, names: list[str], actions: list[Any]) -> None:
        """Remember the events and actions of the change."""
        self._names, self._actions = names, actions
        self._before(actions)
        if self._recording is not None:
            self._recording.recorder.before_change(simulation, names, actions)

    def after_change(self, simulation: Simulation, changed: Changed) -> None:
        """Report the change."""
        if self._recording is not None:
            self._recording.recorder.after_change(simulation, changed)
        self._after(self._names, self._actions, changed)
