"""`varichain sweep`: trials over a grid, from a file; and how far a sweep is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from varichain.cli.console import print_json, say, warn
from varichain.cli.failures import FAILURE, INTERRUPTED, Debug, reported, usage
from varichain.errors import SweepInterrupted

if TYPE_CHECKING:
    from varichain.sweeps import Sweep


def sweep(
    target: Annotated[Path, typer.Argument(metavar="FILE.yaml|FILE.sweep", help="What to sweep, or its result.")],
    cluster: Annotated[
        str | None, typer.Option(metavar="ADDRESS", help="Scheduler of a dask cluster, such as tcp://host:8786.")
    ] = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE.sweep", help="File to write trials to.")] = None,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with FILE.sweep.")] = False,
    retry_failed: Annotated[bool, typer.Option("--retry-failed", help="Go on, and try failed trials again.")] = False,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Say what would be tried, and try nothing.")] = False,
    status: Annotated[bool, typer.Option("--status", help="Say how far FILE.sweep is; also while it grows.")] = False,
    table: Annotated[
        Path | None, typer.Option("--table", metavar="FILE", help="Write the table, as .csv or .parquet.")
    ] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object.")] = False,
    debug: Debug = False,
) -> None:
    """Carry out a trial for every point of a grid, on this machine or on a cluster, into one file."""
    with reported(debug):
        from varichain.sweeps import Sweep

        if status or target.suffix not in (".yaml", ".yml"):
            with usage():
                found = Sweep.load(target)
        else:
            changes: dict[str, Any] = {
                "cluster": cluster,
                "resume": resume or retry_failed,
                "retry_failed": retry_failed,
            }
            arguments = _arguments(target, out) | changes
            if dry_run:
                _say_plan(arguments, as_json)
                return
            found = _swept(arguments)
        if table is not None:
            (found.to_parquet if table.suffix == ".parquet" else found.to_csv)(table)
        _print(found, as_json)
        if found.counts["failed"]:
            raise typer.Exit(FAILURE)


def _arguments(target: Path, out: Path | None) -> dict[str, Any]:
    from varichain.sweeps.files import read_sweep

    with usage():
        found = read_sweep(target)
    return found if out is None else found | {"out": out}


def _swept(arguments: dict[str, Any]) -> Sweep:
    from varichain.sweeps import sweep as carry_out

    sys.path.insert(0, "")  # trials of modules in this folder
    try:
        return carry_out(**arguments, progress=sys.stderr.isatty())
    except SweepInterrupted as error:
        warn(f"{error}; go on with --resume")
        raise typer.Exit(INTERRUPTED) from None


def _say_plan(arguments: dict[str, Any], as_json: bool) -> None:
    from varichain.sweeps.trials import planned

    sys.path.insert(0, "")
    names = ("trial", "grid", "repeats", "seed", "common_noise")
    plan = planned(*[arguments[name] for name in names])
    if as_json:
        print_json({"function": plan.function, "grid": plan.grid, "repeats": plan.repeats, "trials": len(plan)})
        return
    levels = ", ".join(f"{len(values)} of {name}" for name, values in plan.grid.items())
    say(f"{len(plan)} trials of {plan.function}: {levels}, {plan.repeats} repeats; into {arguments['out']}")


def _print(found: Sweep, as_json: bool) -> None:
    if as_json:
        print_json({"function": found.plan.function, "trials": len(found), **found.counts, "earlier": found.earlier})
    else:
        say(repr(found))
