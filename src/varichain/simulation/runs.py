"""Whole simulations, from a state or from a saved trace."""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

from varichain.errors import DivergenceError, InputError, SimulationError, SimulationInterrupted
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.simulation.books import require_balance, warn_if_coarse
from varichain.simulation.controls import Controls
from varichain.simulation.events import Event, changes_forces, check_times, checked_events
from varichain.simulation.progress import Progress
from varichain.simulation.recording import TraceRecorder
from varichain.simulation.settings import DEFAULT_METHOD, Settings, checked_settings, checked_until
from varichain.simulation.simulation import Simulation
from varichain.simulation.start import checked_start
from varichain.trace import Trace, TraceWriter

Path = str | os.PathLike[str]


def simulate(
    m: Mechanism,
    s: State,
    until: float,
    *,
    events: Any = (),
    controller: Any = None,
    motion: Motion | None = None,
    forces: Any = (),
    method: str = DEFAULT_METHOD,
    step: float | None = None,
    sample: float | None = None,
    tolerance: float = 1e-9,
    control_step: float | None = None,
    limits: Any = "hard",
    contacts: str = "off",
    out: Path | None = None,
    overwrite: bool = False,
    progress: bool | Callable[[float, float], Any] = False,
) -> Trace:
    """Simulate a mechanism from a state to a time, through structure changes; both arguments stay as they are.

    Args:
        m: Mechanism.
        s: State, whose loops are closed and whose joints are inside their limits.
        until: Time to reach [s].
        events: `vc.at(...)`, `vc.when(...)`, `vc.when_force(...)`; those of one instant are one change. Joints with
            `breaks` give way by themselves.
        controller: Source of torques: `vc.PD`, `vc.Torques`, `vc.ComputedTorque`, a function (m, s) that returns
            torques and is called every `control_step`, a function (t, q, v, tau) jitted by Numba; or a list of these,
            which add up.
        motion: Motion that joints are driven along; the forces that this takes are the block `holding` of the trace.
        forces: External forces on links: `vc.Force` objects; `vc.LinkForces`, compiled functions of the links' motion
            that act at every stage; or a function (m, s) that returns `vc.Force` objects every `control_step`, constant
            in between: an error of first order in it.
        method: "rk45" (Dormand-Prince, adaptive, order 5), "gbs" (Gragg-Bulirsch-Stoer, adaptive, of high order), "rk4"
            (fixed steps, order 4), "euler" (fixed steps, semi-implicit, order 1), "implicit" (fixed steps, order 2,
            linearly implicit in dampers, springs, force elements and PD gains: for those that are stiff).
        step: Grid of time [s]; 1 ms by default, 10 ms for "gbs". Fixed steps are as long; adaptive ones land on it.
        sample: Time between stored samples [s], a multiple of `step`, which is the default.
        tolerance: Error allowed in a step of the adaptive methods [rad, m and per second].
        control_step: Time between calls of Python functions [s]; `step` by default.
        limits: Joint limits: "hard" stops, "soft" or `vc.SoftLimits(stiffness, damping)` for springs, "off".
        contacts: "off"; or links touch the mechanism's surfaces: "exact", where contacts close, open, stick and slip at
            events, with any method but "implicit"; "stepping", in fixed steps of first order where something touches,
            for which `method` and `tolerance` have no meaning. See `docs/contact.md`.
        out: File to which the trace is written during the run (HDF5); a killed program leaves a readable file.
        overwrite: Whether an existing file may be replaced.
        progress: True for a bar on standard error; or a function, called with the time and `until`.

    Returns:
        The trace. Its last state is `trace.final`, its mechanism then `trace.epochs[-1].mechanism`.

    Raises:
        InputError, LimitError, AssemblyError, SingularMassError: The run cannot begin.
        SimulationError: The run cannot continue; the error's `trace` has its samples.
        SimulationInterrupted: Ctrl-C; a KeyboardInterrupt whose `trace` has the samples.
    """
    if not isinstance(m, Mechanism) or not isinstance(s, State):
        raise InputError(f"expected a Mechanism and a State, not {type(m).__name__} and {type(s).__name__}")
    settings = checked_settings(method, step, sample, tolerance, control_step, limits, contacts)
    own = m.copy()
    start = checked_start(own, s.copy(), settings)
    end = checked_until(until, s.time)
    given = checked_events(events)
    check_times(given, s.time)
    controls = Controls(controller, motion, forces)
    simulation = Simulation(own, start, settings, given, controls)
    simulation.check_drives(end)
    writer = TraceWriter(out, overwrite=overwrite)
    writer.begin(_meta(settings, s.time, forces, given))
    recorder = TraceRecorder(writer)
    return _run_and_record(simulation, recorder, writer, end, progress, is_new=True)


def _meta(settings: Settings, start: float, forces: Any, events: list[Event]) -> dict[str, Any]:
    """What the trace says of the run; whether forces act from outside, since the trace does not hold them."""
    acts = Controls(None, None, forces).has_forces or any(changes_forces(event) for event in events)
    return {"start": start, "has_forces": acts, **settings.as_dict()}


def _run_and_record(
    simulation: Simulation,
    recorder: TraceRecorder,
    writer: TraceWriter,
    end: float,
    progress: bool | Callable[[float, float], Any],
    is_new: bool,
) -> Trace:
    """Run to the end and finish the trace in any case, on errors and Ctrl-C too."""
    try:
        with Progress(progress, simulation.time, end) as bar:
            if is_new:
                simulation.begin()
                recorder.open_epoch(simulation)
                recorder.samples(simulation.engine)
                recorder.checkpoint(simulation)
            # the step to an end between grid points is shorter than in a longer run: go on from before it
            for stop in dict.fromkeys((simulation.last_grid_point(end), end)):
                for now in simulation.spans(stop, recorder):
                    recorder.checkpoint_now_and_then(simulation)
                    bar.at(now)
                if stop < end and simulation.stopped is None:
                    recorder.checkpoint(simulation)
                    recorder.has_last_checkpoint = True
        if simulation.stopped is None:
            recorder.sample(simulation)
        recorder.checkpoint(simulation)
        n_steps = int(simulation.engine.record["steps"][0])
        require_balance(recorder.books, simulation.method, simulation.time, n_steps)
        if simulation.stopped is None:
            writer.end_epoch(None)
            trace = writer.finish("complete")
        else:
            trace = writer.finish("stopped", simulation.stopped)
    except KeyboardInterrupt:
        trace = writer.finish("interrupted", f"interrupted at t = {simulation.time:.9g} s")
        raise SimulationInterrupted(trace, f"interrupted at t = {simulation.time:.9g} s of {end:g} s") from None
    except SimulationError as error:
        recorder.sample_good(simulation)
        outcome = "diverged" if isinstance(error, DivergenceError) else "error"
        error.trace = writer.finish(outcome, str(error))
        raise
    except BaseException as error:
        writer.finish("error", f"{type(error).__name__}: {error}")
        raise
    warn_if_coarse(recorder.books, simulation.method)
    return trace


def resume(
    trace: Trace | Path,
    until: float,
    *,
    events: Any = (),
    controller: Any = None,
    motion: Motion | None = None,
    forces: Any = (),
    out: Path | None = None,
    overwrite: bool = False,
    progress: bool | Callable[[float, float], Any] = False,
) -> Trace:
    """Continue the run of a trace with its method, steps and limits: bit-identical to a run without a break.

    A trace that ended between points of its grid of time is continued from the last of them. Events, controllers,
    motions and forces are code, which traces do not contain: give the same ones again. Events that have happened do not
    happen again. Traces of particles are continued too; see `vc.particles.resume`.

    Args:
        trace: A Trace, or the name of its file.
        until: Time to reach [s].
        events: See `simulate`, also for the next three.
        controller: Torques.
        motion: Driven joints.
        forces: External forces.
        out: File for the whole trace, the earlier part included.
        overwrite: Whether an existing file may be replaced.
        progress: See `simulate`.
    """
    given = trace if isinstance(trace, Trace) else Trace.load(trace)
    checkpoint = given.checkpoint
    if given.meta.get("engine") == "particles":
        from varichain.particles import resume as resume_particles

        options = {"events": events, "controller": controller, "motion": motion, "forces": forces}
        return resume_particles(given, until, **options, out=out, overwrite=overwrite, progress=progress)
    if checkpoint is None or not given.epochs:
        raise InputError("the trace has no checkpoint to continue from: it has no samples")
    if given.outcome == "stopped":
        raise InputError(f"the trace was ended by an event ({given.message}); begin a new simulation from trace.final")
    settings = Settings.from_dict({key: given.meta[key] for key in Settings.__dataclass_fields__})
    kept = given.at_checkpoint()
    m = kept.epochs[-1].mechanism.copy()
    m.log.n_written = sum(entry["kind"] == "structure" for entry in kept.log)  # entries are numbered over the whole run
    controls = Controls(controller, motion, forces)
    # joints that controls name may have been cut since
    is_strict = len(kept.epochs) == 1
    simulation = Simulation(m, m.state(), settings, checked_events(events), controls, is_strict)
    simulation.go_on(checkpoint)
    last = float(given.epochs[-1].time[-1]) if len(given.epochs[-1]) else simulation.time
    end = checked_until(until, max(last, simulation.time))
    simulation.check_drives(end)
    writer = TraceWriter(out, overwrite=overwrite)
    recorder = TraceRecorder(writer)
    recorder.repeat(given, simulation)
    return _run_and_record(simulation, recorder, writer, end, progress, is_new=False)
