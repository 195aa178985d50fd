"""`varichain list`: the scenarios with their parameters, from a table that is read without importing them."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click

from varichain.cli.console import output, print_json

TABLE = Path(__file__).with_name("scenarios.json")


def table() -> list[dict[str, Any]]:
    """Name, sentence and parameters of every scenario, as `tools/write_list.py` found them in the code."""
    return json.loads(TABLE.read_text(encoding="utf-8"))  # type: ignore[no-any-return]


def scenario_names(incomplete: str = "") -> list[str]:
    """Names of scenarios that begin with what has been typed, for completion."""
    return [entry["name"] for entry in table() if entry["name"].startswith(incomplete)]


@click.command("list")
@click.option("--json", "as_json", is_flag=True, help="Print a JSON list.")
def list_scenarios(as_json: bool) -> None:
    """List the scenarios and their parameters."""
    if as_json:
        print_json(table())
        return
    from rich.table import Table

    shown = Table("scenario", "what it shows", "parameters", box=None, pad_edge=False)
    shown.columns[0].no_wrap = True
    for entry in table():
        shown.add_row(entry["name"], entry["about"], ", ".join(map(_default_text, entry["parameters"])))
    output().print(shown)


def _default_text(parameter: dict[str, Any]) -> str:
    """A parameter with its default: "length=1 m"."""
    default = parameter["default"]
    if isinstance(default, bool) or default is None:
        text = str(default).lower()
    elif isinstance(default, int | float):
        text = f"{default:g} {parameter['unit'] or ''}".rstrip()
    elif isinstance(default, list):
        text = f"[{', '.join(f'{entry:g}' if isinstance(entry, int | float) else str(entry) for entry in default)}]"
    else:
        text = str(default)
    return f"{parameter['name']}={text}"
