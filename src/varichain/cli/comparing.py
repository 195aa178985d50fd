"""`varichain compare`: a scenario in both engines, rigid links beside particles."""

from __future__ import annotations

import click

from varichain.cli import options
from varichain.cli.console import output, print_json, say
from varichain.cli.failures import UsageError, reported, usage
from varichain.cli.targets import scenario_from


@click.command(short_help="Run a scenario as rigid links and as particles.")
@options.scenario
@options.assignments
@click.option("--until", metavar="TIME", help="When to end, such as 4 or 500ms.")
@click.option(
    "--stiffness", metavar="K,...", default="1e5,1e6", help="Stiffness of links and joints as particles [N/m]."
)
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of a table.")
@options.debug
def compare(
    target: str, assignments: tuple[str, ...], until: str | None, stiffness: str, as_json: bool, debug: bool
) -> None:
    """Run a scenario with rigid links and as particles, and print how far they are apart and what they cost."""
    with reported(debug):
        from varichain.cli.running import time_option

        end = None if until is None else time_option("until", until)
        stiffnesses = _numbers(stiffness)
        scenario = scenario_from(target, assignments)
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
