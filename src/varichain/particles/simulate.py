"""Whole simulations of links as particles, with a trace like any other."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from typing import Any

from varichain.dynamics.sharing import checked_threads
from varichain.errors import DivergenceError, InputError, SimulationError, SimulationInterrupted, quoted
from varichain.files import Path
from varichain.instants.restraints import SoftLimits
from varichain.mechanism.describe import mechanism_from
from varichain.mechanism.mechanism import Mechanism
from varichain.particles.estimate import Estimate
from varichain.particles.ground import checked_terrain
from varichain.particles.joints import Spring
from varichain.particles.linked import LinkedSystem
from varichain.particles.plain import MOST_PARTICLES, plain_standing, standing_from
from varichain.particles.recording import Recorder
from varichain.particles.run import ParticleRun
from varichain.simulation.controls import Controls
from varichain.simulation.events import check_times, checked_events
from varichain.simulation.progress import Progress
from varichain.simulation.settings import checked_until
from varichain.spatial.checks import flag, is_one_of, time_step
from varichain.trace import Trace, TraceWriter

METHODS = ("verlet", "implicit")
_SAMPLE = 1e-3  # [s]
_JUST = 1e-9  # of the time between samples
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
        events: As of `vc.simulate`; conditions are looked at every `control_step`. Joints with `breaks` give way when
            their springs are overloaded, vibration included.
        controller: As of `vc.simulate`; all of them are asked every `control_step` and act unchanged until the next;
            `vc.Discrete` at its own ticks, multiples of `control_step`.
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
    every, tick = time_step(sample, "sample"), time_step(control_step, "control_step")
    if not is_one_of(method, METHODS):
        raise InputError(f"method must be one of {', '.join(map(repr, METHODS))}, not {quoted(method)}")
    longest = None if step is None else time_step(step, "step")
    crew = threads_of(own, threads)
    run = ParticleRun(own, method, longest, tick, given, Controls(controller, motion, forces), crew)
    estimate = None
    if flag(error, "error"):
        controls = Controls(controller, motion, forces)
        estimate = Estimate(ParticleRun(system.copy(), method, 0.5 * run.step, tick, given, controls, crew))
    writer = TraceWriter(out, overwrite=overwrite)
    settings = {"engine": "particles", "method": method, "step": run.step, "sample": every, "control_step": tick}
    writer.begin({"start": own.time, **settings, **_made_with(own)})
    return _run_and_record(run, Recorder(writer, estimate), (own.time, end, every), progress, is_new=True)


def _made_with(system: LinkedSystem) -> dict[str, Any]:
    """What a trace says of the springs, stops and ground of its run."""
    limits: Any = system.limits
    if isinstance(limits, SoftLimits):
        limits = {"stiffness": limits.stiffness, "damping": limits.damping}
    spring = {"stiffness": system.spring.stiffness, "damping": system.spring.damping}
    return {**spring, "limits": limits, "standing": plain_standing(system.standing)}


def resume(
    trace: Trace | Path,
    until: float,
    *,
    events: Any = (),
    controller: Any = None,
    motion: Any = None,
    forces: Any = (),
    ground: Any = None,
    threads: int | None = None,
    out: Path | None = None,
    overwrite: bool = False,
    progress: bool | Callable[[float, float], Any] = False,
) -> Trace:
    """Continue a run of particles with its method, steps and ground: bit-identical to a run without a break.

    As `vc.resume`, which calls this for traces of particles. A trace that ended between two samples of its grid of time
    is continued from the last sample on the grid.

    Args:
        trace: A Trace, or the name of its file.
        until: Time to reach [s].
        events: The events of the run, and new ones last; those that have happened do not happen again.
        controller: Torques, the same as in the run; also the next two.
        motion: Driven joints.
        forces: External forces.
        ground: The run's ground again, if it has a law of yours or a height field of more than 250,000 points.
        threads: See `simulate`.
        out: File for the whole trace, the earlier part included.
        overwrite: Whether an existing file may be replaced.
        progress: See `simulate`.

    Raises:
        InputError: The trace is not of particles, has no checkpoint, or was ended by an event.
    """
    given = trace if isinstance(trace, Trace) else Trace.load(trace)
    point, meta = _continued_point(given), given.meta
    kept = given.at_checkpoint()
    standing = standing_from(meta["standing"], None if ground is None else checked_terrain(ground))

    def continued(m: Mechanism, checkpoint: dict[str, Any]) -> ParticleRun:
        limits = SoftLimits(**meta["limits"]) if isinstance(meta["limits"], dict) else meta["limits"]
        spring = Spring(meta["stiffness"], meta["damping"])
        system = LinkedSystem(m, m.state(), spring, limits, None, standing)
        controls, crew = Controls(controller, motion, forces), threads_of(system, threads)
        return ParticleRun.continued(
            system, meta["method"], meta["control_step"], checked_events(events), controls, crew, checkpoint
        )

    m = kept.epochs[-1].mechanism.copy()
    m.log.n_written = sum(entry["kind"] == "structure" for entry in kept.log)  # entries are numbered over the whole run
    run, twin = continued(m, point), point.get("twin")
    estimate = Estimate.continued(continued(mechanism_from(twin["structure"]), twin["run"])) if twin else None
    end = checked_until(until, max(float(given.time[-1]), run.time))
    recorder = Recorder(TraceWriter(out, overwrite=overwrite), estimate)
    recorder.repeat(given, run)
    return _run_and_record(run, recorder, (meta["start"], end, meta["sample"]), progress, is_new=False)


def _continued_point(trace: Trace) -> dict[str, Any]:
    """Checkpoint of a trace of particles that can be continued."""
    point = trace.checkpoint
    if trace.meta.get("engine") != "particles":
        raise InputError("the trace is not one of particles: vc.resume continues it")
    if point is None or not trace.epochs:
        raise InputError("the trace has no checkpoint to continue from: it has no samples")
    if trace.outcome == "stopped":
        raise InputError(f"the trace was ended by an event ({trace.message}); begin a new simulation from trace.final")
    if "motion" not in point:
        raise InputError(
            f"a run of more than {MOST_PARTICLES} particles cannot be continued: its checkpoint would be too large; "
            "begin a new one from trace.final"
        )
    if "error" in trace.epochs[-1].columns and point["twin"] is None:
        raise InputError("the twin that estimates the error was ended by an event before: begin a new run")
    return point


def threads_of(system: LinkedSystem, threads: int | None = None) -> int:
    """Number of threads that share a system: as many as are said, else one for each core if the system is large."""
    return 1 if threads is None and len(system.links) < _MANY else checked_threads(threads)


def _run_and_record(
    run: ParticleRun,
    recorder: Recorder,
    span: tuple[float, float, float],
    progress: bool | Callable[[float, float], Any],
    is_new: bool,
) -> Trace:
    """Run to the end and finish the trace in any case, on errors and Ctrl-C too; `span` is (start, end, sample) [s]."""
    start, end, every = span
    try:
        with Progress(progress, run.time, end) as bar:
            if is_new:
                recorder.open_epoch(run)
                run.begin(recorder.listen)
                recorder.checkpoint(run)
            run.look_at_new()
            for now in run.spans(_grid(start, run.time, end, every), recorder.listen):
                recorder.sample(run)
                recorder.checkpoint_now_and_then(run)
                bar.at(now)
            if run.stopped is None:
                recorder.checkpoint(run)
                for now in run.spans(iter([end] if run.time < end else []), recorder.listen):
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


def _grid(start: float, now: float, end: float, every: float) -> Iterator[float]:
    """Times of samples after now, up to the end: those of a longer run; none is just before the end."""
    first, last = round((now - start) / every) + 1, math.ceil((end - start) / every)
    for stop in (start + k * every for k in range(first, last + 1)):
        if stop == end or stop < end - _JUST * every:
            yield stop
