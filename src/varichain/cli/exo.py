"""`varichain exo`: computes the findings about virtual impedance [LS]."""

from __future__ import annotations

import sys
from dataclasses import asdict
from typing import Annotated

import typer

from varichain.cli.console import errors, print_json, say
from varichain.cli.failures import Debug, reported, usage


def exo(
    operators: Annotated[str, typer.Option(metavar="A,...", help="Operators: A, B, C.")] = "A,B,C",
    levels: Annotated[int, typer.Option(help="Levels of each virtual value.")] = 22,
    repeats: Annotated[int, typer.Option(help="Trials at each level, with common noise.")] = 10,
    seed: Annotated[int, typer.Option(help="Of the noise.")] = 0,
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    debug: Debug = False,
) -> None:
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
