"""`varichain completion`: what a shell needs to complete commands, options and names of scenarios."""

from __future__ import annotations

import click
from click.shell_completion import get_completion_class

SHELLS = ("bash", "zsh", "fish")


@click.command(short_help="Print what a shell needs for completion.")
@click.argument("shell", type=click.Choice(SHELLS))
def completion(shell: str) -> None:
    """Print what completion needs in a shell; `eval "$(varichain completion bash)"` in ~/.bashrc switches it on."""
    kind = get_completion_class(shell)
    assert kind is not None
    group = click.get_current_context().find_root()
    click.echo(kind(group.command, {}, str(group.info_name), "_VARICHAIN_COMPLETE").source())
