"""`varichain sweep`: trials over a grid, from a file; and how far a sweep is."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from varichain.cli import options
from varichain.cli.console import print_json, say, warn
from varichain.cli.failures import FAILURE, INTERRUPTED, reported, usage
from varichain.errors import SweepInterrupted

if TYPE_CHECKING:
    from varichain.sweeps import Sweep


@click.command(short_help="Carry out trials over a grid.")
@click.argument("target", metavar="FILE.yaml|FILE.sweep", type=options.PATH)
@click.option("--cluster", metavar="ADDRESS", help="Scheduler of a dask cluster, such as tcp://host:8786.")
@click.option("--out", metavar="FILE.sweep", type=options.PATH, help="File to write trials to.")
@click.option("--resume", is_flag=True, help="Go on with FILE.sweep.")
@click.option("--retry-failed", is_flag=True, help="Go on, and try failed trials again.")
@click.option("--dry-run", is_flag=True, help="Say what would be tried, and try nothing.")
@click.option("--status", is_flag=True, help="Say how far FILE.sweep is; also while it grows.")
@click.option("--table", metavar="FILE", type=options.PATH, help="Write the table, as .csv or .parquet.")
@options.as_json
@options.debug
def sweep(
    target: Path,
    cluster: str | None,
    out: Path | None,
    resume: bool,
    retry_failed: bool,
    dry_run: bool,
    status: bool,
    table: Path | None,
    as_json: bool,
    debug: bool,
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
            raise click.exceptions.Exit(FAILURE)


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
        raise click.exceptions.Exit(INTERRUPTED) from None


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
