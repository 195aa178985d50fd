"""`varichain run`: simulate a scenario and say what happened."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from varichain.cli.console import print_json, warn
from varichain.cli.failures import INTERRUPTED, Debug, UsageError, reported, usage
from varichain.cli.listing import scenario_names
from varichain.cli.targets import free_file, scenario_from
from varichain.errors import SimulationError, SimulationInterrupted, quoted

if TYPE_CHECKING:
    from varichain.scenarios.scenario import Scenario
    from varichain.trace import Trace

METHODS = ("euler", "rk4", "rk45", "gbs", "implicit")


def run(
    target: Annotated[
        str, typer.Argument(metavar="NAME|FILE.yaml", help="Scenario or scenario file.", autocompletion=scenario_names)
    ],
    assignments: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="KEY=VALUE", help="Set a parameter, such as angle=30deg; repeatable."),
    ] = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="When to end, such as 4 or 500ms.")] = None,
    step: Annotated[str | None, typer.Option(metavar="TIME", help="Grid of time, such as 1ms.")] = None,
    method: Annotated[
        str | None,
        typer.Option(metavar="|".join(METHODS), help="Method of integration.", autocompletion=lambda: METHODS),
    ] = None,
    sample: Annotated[
        str | None, typer.Option(metavar="TIME", help="Time between stored samples, a multiple of the step.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.h5", help="File to write the trace to, as it goes.")] = None,
    overwrite: Annotated[bool, typer.Option("--overwrite", help="Replace FILE.h5 if it exists.")] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of tables.")] = False,
    debug: Debug = False,
) -> None:
    """Simulate a scenario and print what changed when, how well energy and loops were kept, and how fast it was."""
    with reported(debug):
        times = {"until": until, "step": step, "sample": sample}
        changes: dict[str, Any] = {name: time_option(name, text) for name, text in times.items() if text is not None}
        if method is not None:
            changes["method"] = _method(method)
        if out is not None:
            free_file(out, overwrite)
            changes |= {"out": out, "overwrite": overwrite}
        scenario = scenario_from(target, assignments or [])
        changes["progress"] = sys.stderr.isatty()
        trace, seconds = _simulated(scenario, changes, out)
        _print_summary(scenario, trace, seconds, out, as_json)


def _simulated(scenario: Scenario, changes: dict[str, Any], out: Path | None) -> tuple[Trace, float]:
    """The trace of a run, and the wall time that it took, without the loading of its kernels [s]."""
    from varichain.scenarios import SCENARIOS
    from varichain.simulation.settings import DEFAULT_METHOD

    method = changes.get("method", scenario.settings.get("method", DEFAULT_METHOD))
    SCENARIOS["pendulum"]().run(until=1e-3, method=method, step=1e-3)
    begun = time.perf_counter()
    try:
        return scenario.run(**changes), time.perf_counter() - begun
    except SimulationInterrupted as error:
        warn(f"{error}; {_kept(scenario, error.trace, out)}")
        raise typer.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        warn("interrupted before anything was simulated")
        raise typer.Exit(INTERRUPTED) from None
    except SimulationError as error:
        if out is not None and error.trace is not None:
            warn(f"what was simulated before is in {str(out)!r}; `varichain info {out}` tells what happened")
        raise


def _kept(scenario: Scenario, trace: Trace, out: Path | None) -> str:
    """Where the trace of an interrupted run is; one that has no file yet gets one."""
    if not len(trace):
        return "nothing had been simulated"
    where = out
    if where is None:
        names = [f"{scenario.name}-interrupted{number}.h5" for number in ("", *(f"-{n}" for n in range(2, 1000)))]
        where = next(path for path in map(Path, names) if not path.exists())
        trace.save(where)
    return f"the trace so far is in {str(where)!r}; look at it with `varichain info {where}`"


def _print_summary(scenario: Scenario, trace: Trace, seconds: float, out: Path | None, as_json: bool) -> None:
    from varichain.scenarios.summary import summary

    found = summary(scenario, trace)
    if found.get("wall_seconds") is None:
        found["wall_seconds"] = seconds
    if as_json:
        more = {"outcome": trace.outcome, "message": trace.message, "trace": None if out is None else str(out)}
        print_json(found | more)
        return
    from varichain.cli.report import print_report

    print_report(scenario, trace, found, out)


def time_option(name: str, text: str) -> float:
    """Seconds from the text of an option."""
    from varichain.scenarios.units import quantity

    with usage():
        try:
            found = quantity(text, "time").value
        except ValueError as error:
            raise UsageError(f"--{name} {error}") from None
        if not found > 0.0:
            raise UsageError(f"--{name} must be greater than 0 s, not {text}")
        return found


def _method(method: str) -> str:
    if method not in METHODS:
        raise UsageError(f"--method must be one of {', '.join(METHODS)}, not {quoted(method)}")
    return method
