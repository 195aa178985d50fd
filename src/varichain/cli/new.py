"""`varichain new`: a scenario file to start from."""

from __future__ import annotations

import os
from pathlib import Path

import click

from varichain.cli import options
from varichain.cli.console import say
from varichain.cli.failures import UsageError, reported, usage
from varichain.cli.targets import YAML
from varichain.errors import FileError, UnknownNameError


@click.command(short_help="Write a scenario file to start from.")
@click.argument("path", metavar="FILE.yaml", type=options.PATH)
@click.option(
    "--from",
    "source",
    metavar="NAME",
    default="pendulum",
    help="Scenario to start from.",
    shell_complete=options.complete_scenarios,
)
@click.option("--force", is_flag=True, help="Replace the file if it exists.")
@options.debug
def new(path: Path, source: str, force: bool, debug: bool) -> None:
    """Write a commented scenario file to start from."""
    with reported(debug):
        from varichain.files import completed
        from varichain.scenarios import SCENARIOS

        if source not in SCENARIOS:
            raise UsageError(str(UnknownNameError("scenario", source, SCENARIOS)))
        if path.suffix.lower() not in YAML:
            raise UsageError(f"a scenario file ends in {' or '.join(YAML)}, unlike {str(path)!r}")
        if os.path.lexists(path) and not force:
            raise UsageError(f"file {str(path)!r} exists already; choose another name or add --force")
        from varichain.scenarios.template import template

        text = template(source)
        with usage(), completed(str(path), force, FileError) as temporary:
            Path(temporary).write_text(text, encoding="utf-8")
        say(f"wrote {path}; run it with `varichain run {path}`")
