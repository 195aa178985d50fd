"""`varichain bench`: speed beside other libraries."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from varichain.cli import options
from varichain.cli.console import output, print_json, say, warn
from varichain.cli.failures import UsageError, reported, usage

if TYPE_CHECKING:
    from varichain.bench.measures import Effort
    from varichain.bench.rows import Row

_QUICK_ROUNDS, _QUICK_STATES = 10, 200


@click.command(short_help="Measure the speed beside other libraries.")
@click.option("--only", metavar="WORD", multiple=True, help="Measure what has this word in its name; repeatable.")
@click.option("--quick", is_flag=True, help="Few rounds, no large mechanisms, no first start.")
@click.option("--rounds", metavar="N", type=int, help="Rounds of a measurement, 400.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object, times in seconds.")
@click.option("--markdown", metavar="FILE", type=options.PATH, help="Write the table to a file, or between its marks.")
@click.option("--plot", metavar="FILE", type=options.PATH, help="Draw cost against size.")
@click.option("--list", "names", is_flag=True, help="List what would be measured, and measure nothing.")
@options.debug
def bench(
    only: tuple[str, ...],
    quick: bool,
    rounds: int | None,
    as_json: bool,
    markdown: Path | None,
    plot: Path | None,
    names: bool,
    debug: bool,
) -> None:
    """Measure the speed beside Pinocchio, MuJoCo and Drake, as far as they are installed."""
    with reported(debug):
        from varichain.bench import report
        from varichain.bench.cases import cases, measure
        from varichain.bench.contenders import DisagreementError, missing_peers
        from varichain.bench.plot import check_plot, plot_growth

        if rounds is not None and rounds < 1:
            raise UsageError(f"--rounds must be 1 or more, not {rounds}")
        with usage():
            chosen = cases(only, quick)
            for path in filter(None, (markdown, plot)):
                _check_folder(path)
        if names:
            for case in chosen:
                say(case.name)
            return
        if plot is not None:
            check_plot()
        notes = [f"{name} is not installed and was not measured" for name in missing_peers()]
        for line in (report.machine_line(), *notes):
            warn(line)
        rows, failures = measure(chosen, _effort(quick, rounds), warn)
        notes += failures
        if as_json:
            print_json(report.plain(rows, notes))
        else:
            _print_rows(rows)
        if markdown is not None:
            report.write_markdown(markdown, report.markdown(rows, notes))
        if plot is not None:
            plot_growth(rows, plot)
        if failures:
            raise DisagreementError("some libraries do not answer the same question: " + "; ".join(failures))


def _effort(quick: bool, rounds: int | None) -> Effort:
    from varichain.bench.measures import Effort

    effort = Effort(_QUICK_ROUNDS, _QUICK_STATES, is_quick=True) if quick else Effort()
    return replace(effort, rounds=rounds) if rounds is not None else effort


def _check_folder(path: Path) -> None:
    """Raise before minutes of measuring, not behind them."""
    if not path.absolute().parent.is_dir():
        raise UsageError(f"there is no folder {path.parent} to write {path.name} to")


def _print_rows(rows: list[Row]) -> None:
    from varichain.bench import report

    output().print(report.table(rows))
    n, missed = report.judged(rows)
    say()
    say(f"targets: {n - len(missed)} of {n} met")
    for row in missed:
        ratio = "" if row.ratio is None else f", {row.ratio.median:.2f}"
        say(f"  missed: {row.task}, {row.mechanism} {row.library}{ratio} (target {row.target})")
