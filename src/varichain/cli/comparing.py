"""`varichain compare`: a scenario in both engines, rigid links beside particles."""

from __future__ import annotations

from typing import Annotated

import typer

from varichain.cli.console import output, print_json, say
from varichain.cli.failures import Debug, UsageError, reported, usage
from varichain.cli.listing import scenario_names
from varichain.cli.targets import Assignments, scenario_from


def compare(
    target: Annotated[
        str, typer.Argument(metavar="NAME|FILE.yaml", help="Scenario or scenario file.", autocompletion=scenario_names)
    ],
    assignments: Assignments = None,
    until: Annotated[str | None, typer.Option(metavar="TIME", help="When to end, such as 4 or 500ms.")] = None,
    stiffness: Annotated[
        str, typer.Option(metavar="K,...", help="Stiffness of links and joints as particles [N/m].")
    ] = "1e5,1e6",
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON object instead of a table.")] = False,
    debug: Debug = False,
) -> None:
    """Run a scenario with rigid links and as particles, and print how far they are apart and what they cost."""
    with reported(debug):
        from varichain.cli.running import time_option

        end = None if until is None else time_option("until", until)
        stiffnesses = _numbers(stiffness)
        scenario = scenario_from(target, assignments or [])
        from varichain.scenarios.comparison import compare as compared

        with usage():
            found = compared(scenario, stiffnesses, end)
        if as_json:
            print_json(found)
            return
        from rich.table import Table

        table = Table(box=None, pad_edge=False)
        for name in ("engine", "largest distance [m]", "open joints [m]", "steps", "wall time [s]"):
            table.add_column(name, justify="left" if name == "engine" else "right")
        rigid = found["rigid"]
        table.add_row("rigid links", "", "", str(rigid["steps"]), f"{rigid['wall_seconds']:.3g}")
        for row in found["particles"]:
            sizes = f"{row['largest_distance']:.3g}", f"{row['closure']:.3g}"
            table.add_row(
                f"particles, {row['stiffness']:g} N/m", *sizes, str(row["steps"]), f"{row['wall_seconds']:.3g}"
            )
        say(f"{found['scenario']}: {found['until']:g} s in both engines")
        say()
        output().print(table)


def _numbers(text: str) -> list[float]:
    """Stiffnesses, separated by commas."""
    try:
        found = [float(part) for part in text.split(",")]
    except ValueError:
        found = []
    if not found or not all(0.0 < k < float("inf") for k in found):
        raise UsageError(f"--stiffness must be numbers greater than 0, such as 1e5,1e6, not {text}")
    return found
