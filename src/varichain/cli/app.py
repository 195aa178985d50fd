"""The application: its commands, and what they share."""

from __future__ import annotations

import sys

import click

from varichain import __version__
from varichain.cli.bench import bench
from varichain.cli.comparing import compare
from varichain.cli.completing import completion
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


class _InOrder(click.Group):
    """Commands in the order in which one meets them, not that of the alphabet."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names of the commands."""
        return [*self.commands]


@click.group(cls=_InOrder, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 120})
@click.version_option(__version__, message="varichain %(version)s")
def app() -> None:
    """Dynamics of mechanisms whose structure changes while they move."""


for _command in (
    *(list_scenarios, run, compare, sweep, exo, info, new),
    *(bench, view, plot, draw, export, completion),
):
    app.add_command(_command)


def main() -> None:
    """Run the command line; Ctrl-C outside of a simulation ends quietly too."""
    try:
        app(prog_name="varichain")
    except KeyboardInterrupt:
        warn("interrupted")
        sys.exit(INTERRUPTED)
