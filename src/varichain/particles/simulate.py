"""Whole simulations of links as particles, with a trace like any other."""

from __future__ import annotations

import math
import time as clock
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np

from varichain.dynamics.sharing import checked_threads
from varichain.errors import DivergenceError, InputError, SimulationError, SimulationInterrupted, quoted
from varichain.files import Path
from varichain.mechanism.describe import description
from varichain.mechanism.log import as_dict
from varichain.particles.changes import Changed
from varichain.particles.estimate import Estimate
from varichain.particles.linked import LinkedSystem
from varichain.particles.run import ParticleRun
from varichain.particles.samples import columns_of, sample_of
from varichain.simulation.controls import Controls
from varichain.simulation.events import check_times, checked_events
from varichain.simulation.progress import Progress
from varichain.simulation.recording import described
from varichain.simulation.settings import checked_until
from varichain.spatial.checks import positive_scalar
from varichain.trace import Trace, TraceWriter

METHODS = ("verlet", "implicit")
_SAMPLE = 1e-3  # [s]
_MANY = 2048  # links, from which on threads pay


def simulate(
    system: LinkedSystem,
    until: float,
    *,
    events: Any = (),
    controller: Any = None,
    motion: Any = None,
    forces: Any = (),
    method: str = "verlet",
    step: float | None = None,
    sample: float = _SAMPLE,
    control_step: float = 1e-3,
    error: bool = False,
    threads: int | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    progress: bool | Callable[[float, float], Any] = False,
) -> Trace:
    """Simulate links as particles to a time, through structure changes; the system itself stays as it is.

    The trace has the joint coordinates that are nearest to the particles, so that all that reads traces reads it; its
    block `closure` has the largest error of a joint [m], and `strain` the largest strain of each link.

    Args:
        system: From `vc.particles.from_mechanism`.
        until: Time to reach [s].
        events: As of `vc.simulate`; conditions are looked at every `control_step`. Couplings are refused. Joints
            with `breaks` give way when their springs are overloaded, vibration included.
        controller: As of `vc.simulate`; all of them are asked every `control_step` and act unchanged until the next.
        motion: `vc.Motion` that joints are driven along, by springs as stiff as the joints are; the forces that this
            takes are the block `holding` of the trace.
        forces: As of `vc.simulate`.
        method: "verlet" (velocity Verlet, order 2, explicit), or "implicit" (linearly implicit Euler, order 1) for
            links so stiff that explicit steps are too many; it damps vibrations.
        step: Longest step [s]; half of the longest stable one by default.
        sample: Time between stored samples [s].
        control_step: Time between control ticks [s].
        error: Whether the error that the steps make is estimated, by a second run with half the steps: block `error` of
            the trace has that of the particle that is furthest off [m]. Controllers are called by both runs. What the
            stiffness makes is not in it.
        threads: That share out the links of large systems, with the same bits whatever their number; one a core if
            there are thousands of links, else one.
        out: File to which the trace is written during the run.
        overwrite: Whether an existing file may be replaced.
        progress: True for a bar on standard error; or a function, called with the time and `until`.

    Raises:
        InputError: An argument is wrong, or the step is too long for the stiffest spring.
        DivergenceError: A link is torn all the same.
        SimulationError: The run cannot continue; the error's `trace` has its samples.
    """
    if not isinstance(system, LinkedSystem):
        raise InputError(
            f"expected what vc.particles.from_mechanism returns, not {type(system).__name__}; a system that was made "
            "by hand has `advance`"
        )
    if system.particles:
        raise InputError(f"particles that were added by hand, as {system.particles[0]!r}, have no place in a trace")
    own = system.copy()
    end, given = checked_until(until, own.time), checked_events(events)
    check_times(given, own.time)
    every, tick = positive_scalar(sample, "sample"), positive_scalar(control_step, "control_step")
    if method not in METHODS:
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, not {quoted(method)}")
    longest = None if step is None else positive_scalar(step, "step")
    crew = threads_of(own, threads)
    run = ParticleRun(own, method, longest, tick, given, Controls(controller, motion, forces), crew)
    estimate = None
    if error:
        controls = Controls(controller, motion, forces)
        estimate = Estimate(ParticleRun(system.copy(), method, 0.5 * run.step, tick, given, controls, crew))
    writer = TraceWriter(out, overwrite=overwrite)
    settings = {"engine": "particles", "method": method, "step": run.step, "sample": every, "control_step": tick}
    spring = {"stiffness": own.spring.stiffness, "damping": own.spring.damping}
    writer.begin({"start": own.time, **settings, **spring})
    return _run_and_record(run, _Recorder(writer, estimate), end, every, progress)


def threads_of(system: LinkedSystem, threads: int | None = None) -> int:
    """Number of threads that share a system: as many as are said, else one for each core if the system is large."""
    return 1 if threads is None and len(system.links) < _MANY else checked_threads(threads)


class _Recorder:
    """Recorder that writes samples and events to a trace."""

    def __init__(self, writer: TraceWriter, estimate: Estimate | None) -> None:
        self.writer, self._estimate = writer, estimate
        self._event: dict[str, Any] = {}
        self._last = math.nan  # time of the last sample of the epoch
        self._begun = clock.monotonic()
        self._trodden: dict[tuple[float, float], float] = {}  # when the cells of footprints were

    def open_epoch(self, run: ParticleRun) -> None:
        """Begin an epoch with the present structure and its first sample."""
        self.writer.open_epoch(description(run.system.mechanism), columns_of(run.system, self._estimate is not None))
        self._last = math.nan
        self.sample(run)

    def sample(self, run: ParticleRun) -> None:
        """Write the present state, unless it is written already."""
        if self._last != run.time:
            self._last = run.time
            sample = sample_of(run.system)
            if self._estimate is not None:
                sample = np.append(sample, self._estimate.at(run))
            self.writer.append(sample[None])
            for x, y, *_ in run.system.footprints():
                self._trodden.setdefault((x, y), run.time)

    def listen(self, run: ParticleRun, changed: Changed | None, names: list[str], actions: list[Any]) -> None:
        """Write what is before a change, and what came of it."""
        if changed is None:
            self.sample(run)
            self._event = {"time": run.time, "names": names, "actions": [described(action) for action in actions]}
            return
        self._event["energy_lost"] = changed.energy_lost
        if changed.entry is not None:
            entry = as_dict(changed.entry)
            self._event["edits"] = entry["edits"]
            self.writer.log({"kind": "structure", **entry})
        self.writer.end_epoch(self._event)
        self.open_epoch(run)

    def finish(self, run: ParticleRun, outcome: str, message: str | None = None) -> Trace:
        """End the trace, with the footprints in its log."""
        prints = run.system.footprints()
        if len(prints):
            cells = [[*row, self._trodden.get((row[0], row[1]), run.time)] for row in prints.tolist()]
            columns, size = ["x", "y", "depth", "height", "time"], float(run.system.terrain["cell"][0])
            self.writer.log({"kind": "footprints", "time": run.time, "columns": columns, "cells": cells, "cell": size})
        wall = clock.monotonic() - self._begun
        self.writer.checkpoint(
            {"engine": "particles", "run": {"steps": int(run.system.run["steps"][0])}, "wall_seconds": wall}
        )
        return self.writer.finish(outcome, message)


def _run_and_record(
    run: ParticleRun, recorder: _Recorder, end: float, every: float, progress: bool | Callable[[float, float], Any]
) -> Trace:
    """Run to the end and finish the trace in any case, on errors and Ctrl-C too."""
    try:
        with Progress(progress, run.time, end) as bar:
            recorder.open_epoch(run)
            run.begin(recorder.listen)
            for now in run.spans(_stops(run.time, end, every), recorder.listen):
                recorder.sample(run)
                bar.at(now)
        return recorder.finish(run, "complete" if run.stopped is None else "stopped", run.stopped)
    except KeyboardInterrupt:
        message = f"interrupted at t = {run.time:.9g} s of {end:g} s"
        raise SimulationInterrupted(recorder.finish(run, "interrupted", message), message) from None
    except SimulationError as error:
        outcome = "diverged" if isinstance(error, DivergenceError) else "error"
        error.trace = recorder.finish(run, outcome, str(error))
        raise
    except BaseException as error:
        recorder.finish(run, "error", f"{type(error).__name__}: {error}")
        raise


def _stops(start: float, end: float, every: float) -> Iterator[float]:
    """Times of samples after the start, the end last."""
    n = math.floor((end - start) / every * (1.0 - 1e-12))
    for k in range(1, n + 1):
        if start + k * every < end:
            yield start + k * every
    yield end
