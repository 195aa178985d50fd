"""`varichain run`: simulate a scenario and say what happened."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from click.shell_completion import CompletionItem

from varichain.cli import options
from varichain.cli.console import print_json, warn
from varichain.cli.failures import INTERRUPTED, UsageError, reported, usage
from varichain.cli.targets import free_file, scenario_from
from varichain.errors import SimulationError, SimulationInterrupted, quoted

if TYPE_CHECKING:
    from varichain.scenarios.scenario import Scenario
    from varichain.trace import Trace

METHODS = ("euler", "rk4", "rk45", "gbs", "implicit")


def _complete_methods(context: Any, parameter: Any, incomplete: str) -> list[CompletionItem]:
    return [CompletionItem(name) for name in METHODS if name.startswith(incomplete)]


@click.command(short_help="Simulate a scenario and print what happened.")
@options.scenario
@options.assignments
@click.option("--until", metavar="TIME", help="When to end, such as 4 or 500ms.")
@click.option("--step", metavar="TIME", help="Grid of time, such as 1ms.")
@click.option("--method", metavar="|".join(METHODS), help="Method of integration.", shell_complete=_complete_methods)
@click.option("--sample", metavar="TIME", help="Time between stored samples, a multiple of the step.")
@click.option("--out", metavar="FILE.h5", type=options.PATH, help="File to write the trace to, as it goes.")
@click.option("--overwrite", is_flag=True, help="Replace FILE.h5 if it exists.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of tables.")
@options.debug
def run(
    target: str,
    assignments: tuple[str, ...],
    until: str | None,
    step: str | None,
    method: str | None,
    sample: str | None,
    out: Path | None,
    overwrite: bool,
    as_json: bool,
    debug: bool,
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
        scenario = scenario_from(target, assignments)
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
        raise click.exceptions.Exit(INTERRUPTED) from None
    except KeyboardInterrupt:
        warn("interrupted before anything was simulated")
        raise click.exceptions.Exit(INTERRUPTED) from None
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
