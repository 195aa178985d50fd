"""`varichain exo`: computes the findings about virtual impedance [LS]."""

from __future__ import annotations

import sys
from dataclasses import asdict

import click

from varichain.cli import options
from varichain.cli.console import errors, print_json, say
from varichain.cli.failures import reported, usage


@click.command(short_help="Find the least effort over virtual impedances.")
@click.option("--operators", metavar="A,...", default="A,B,C", help="Operators: A, B, C.")
@click.option("--levels", type=int, default=22, help="Levels of each virtual value.")
@click.option("--repeats", type=int, default=10, help="Trials at each level, with common noise.")
@click.option("--seed", type=int, default=0, help="Of the noise.")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@options.debug
def exo(operators: str, levels: int, repeats: int, seed: int, as_json: bool, debug: bool) -> None:
    """Find where moment and activity of operators are least, over each virtual value of an exoskeleton."""
    with reported(debug):
        from rich.progress import Progress

        from varichain.exo import findings

        with Progress(console=errors(), disable=not sys.stderr.isatty(), transient=True) as bar:
            task = bar.add_task("")

            def show(done: int, of: int, what: str) -> None:
                bar.update(task, completed=done, total=of, description=what)

            with usage():
                found = findings(operators.split(","), levels=levels, repeats=repeats, seed=seed, progress=show)
        if as_json:
            whole = {"moment": found.moment, "activity": found.activity}
            print_json(
                {
                    what: {name: {over: asdict(at) for over, at in minima.items()} for name, minima in by_name.items()}
                    for what, by_name in whole.items()
                }
            )
        else:
            say(str(found))
