"""Options that several commands share, and kinds of values."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click
from click.shell_completion import CompletionItem

from varichain.cli.listing import scenario_names

if TYPE_CHECKING:
    from click import Context, Parameter

PATH = click.Path(path_type=Path)


def complete_scenarios(context: Context, parameter: Parameter, incomplete: str) -> list[CompletionItem]:
    """Names of scenarios that begin with what has been typed."""
    return [CompletionItem(name) for name in scenario_names(incomplete)]


target = click.argument("target", metavar="NAME|FILE", shell_complete=complete_scenarios)
scenario = click.argument("target", metavar="NAME|FILE.yaml", shell_complete=complete_scenarios)
assignments = click.option(
    "--set",
    "assignments",
    metavar="KEY=VALUE",
    multiple=True,
    help="Set a parameter of the scenario, such as angle=30deg; repeatable.",
)
lenient = click.option(
    "--lenient",
    "is_lenient",
    is_flag=True,
    help="Repair what a robot file has wrong, and say so, instead of refusing it.",
)
meshes = click.option(
    "--meshes",
    metavar="FOLDER",
    type=PATH,
    multiple=True,
    help="Folder of mesh files that a trace may show; repeatable.",
)
overwrite = click.option("--overwrite", is_flag=True, help="Replace FILE if it exists.")
as_json = click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
debug = click.option("--debug", is_flag=True, help="Show the traceback of an error.")
