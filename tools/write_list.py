"""Write the table that `varichain list` reads from the signatures of the scenarios; a test compares the two."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

from varichain.cli.listing import TABLE
from varichain.scenarios import SCENARIOS
from varichain.scenarios.parameters import first_line, parameters_of


def text() -> str:
    """The table as its file has it."""
    return json.dumps([_entry(name, builder) for name, builder in SCENARIOS.items()], indent=1) + "\n"


def _entry(name: str, builder: Callable[..., Any]) -> dict[str, Any]:
    parameters = []
    for parameter in parameters_of(builder).values():
        entry = {"name": parameter.name, "default": parameter.default, "unit": parameter.unit, "about": parameter.about}
        parameters.append(entry | ({"choices": list(parameter.choices)} if parameter.choices else {}))
    return {"name": name, "about": first_line(builder), "parameters": parameters}


if __name__ == "__main__":
    TABLE.write_text(text(), encoding="utf-8")
