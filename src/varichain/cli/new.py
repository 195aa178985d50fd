"""`varichain new`: a scenario file to start from."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer

from varichain.cli.console import say
from varichain.cli.failures import Debug, UsageError, reported, usage
from varichain.cli.listing import scenario_names
from varichain.cli.targets import YAML
from varichain.errors import FileError, UnknownNameError


def new(
    path: Annotated[Path, typer.Argument(metavar="FILE.yaml", help="File to write.")],
    source: Annotated[
        str, typer.Option("--from", metavar="NAME", help="Scenario to start from.", autocompletion=scenario_names)
    ] = "pendulum",
    force: Annotated[bool, typer.Option("--force", help="Replace the file if it exists.")] = False,
    debug: Debug = False,
) -> None:
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
