"""The application: its commands, and what they share."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from varichain import __version__
from varichain.cli.bench import bench
from varichain.cli.comparing import compare
from varichain.cli.console import warn
from varichain.cli.drawing import draw
from varichain.cli.exo import exo
from varichain.cli.exporting import export
from varichain.cli.failures import INTERRUPTED
from varichain.cli.info import info
from varichain.cli.listing import list_scenarios
from varichain.cli.new import new
from varichain.cli.plotting import plot
from varichain.cli.running import run
from varichain.cli.sweeping import sweep
from varichain.cli.view import view

app = typer.Typer(
    name="varichain",
    help="Dynamics of mechanisms whose structure changes while they move.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # plain help: what draws boxes around it takes longer to import than all else
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120},
)
app.command("list")(list_scenarios)
app.command("run")(run)
app.command("compare")(compare)
app.command("sweep")(sweep)
app.command("exo")(exo)
app.command("info")(info)
app.command("new")(new)
app.command("bench")(bench)
app.command("view")(view)
app.command("plot")(plot)
app.command("draw")(draw)
app.command("export")(export)


def _version(is_wanted: bool) -> None:
    if is_wanted:
        typer.echo(f"varichain {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version and exit.")
    ] = False,
) -> None:
    """Dynamics of mechanisms whose structure changes while they move."""


def main() -> None:
    """Run the command line; Ctrl-C outside of a simulation ends quietly too."""
    try:
        app(prog_name="varichain")
    except KeyboardInterrupt:
        warn("interrupted")
        sys.exit(INTERRUPTED)
