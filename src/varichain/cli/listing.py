"""`varichain list`: the scenarios with their parameters."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Annotated, Any

import typer

from varichain.cli.console import output, print_json

if TYPE_CHECKING:
    from varichain.scenarios.parameters import Parameter


def list_scenarios(as_json: Annotated[bool, typer.Option("--json", help="Print a JSON list.")] = False) -> None:
    """List the scenarios and their parameters."""
    from varichain.scenarios import SCENARIOS
    from varichain.scenarios.parameters import first_line, parameters_of

    if as_json:
        print_json([_plain(name) for name in SCENARIOS])
        return
    from rich.table import Table

    table = Table("scenario", "what it shows", "parameters", box=None, pad_edge=False)
    table.columns[0].no_wrap = True
    for name, builder in SCENARIOS.items():
        table.add_row(name, first_line(builder), ", ".join(map(default_text, parameters_of(builder).values())))
    output().print(table)


def default_text(parameter: Parameter) -> str:
    """A parameter with its default: "length=1 m"."""
    if parameter.default is inspect.Parameter.empty:
        return parameter.name
    return f"{parameter.name}={value_text(parameter)}"


def value_text(parameter: Parameter) -> str:
    """A default with its unit, as one would write it."""
    default = parameter.default
    if isinstance(default, bool) or default is None:
        return str(default).lower()
    if isinstance(default, int | float):
        return f"{default:g} {parameter.unit or ''}".rstrip()
    if isinstance(default, tuple | list):
        return f"[{', '.join(f'{entry:g}' if isinstance(entry, int | float) else str(entry) for entry in default)}]"
    return str(default)


def _plain(name: str) -> dict[str, Any]:
    from varichain.scenarios import SCENARIOS
    from varichain.scenarios.parameters import first_line, parameters_of

    builder = SCENARIOS[name]
    parameters = []
    for parameter in parameters_of(builder).values():
        is_given = parameter.default is not inspect.Parameter.empty
        entry: dict[str, Any] = {"name": parameter.name, "default": parameter.default if is_given else None}
        entry |= {"unit": parameter.unit, "about": parameter.about}
        parameters.append(entry | ({"choices": list(parameter.choices)} if parameter.choices else {}))
    return {"name": name, "about": first_line(builder), "parameters": parameters}
