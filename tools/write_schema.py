"""Write the tables of docs/scenario-files.md from the models of scenario files; a test compares the two."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, Literal, get_args, get_origin, get_type_hints

from pydantic_core import PydanticUndefined

from varichain.scenarios.schema import PARTS, WORDS, Part
from varichain.scenarios.units import UNITS

DOCUMENT = Path(__file__).resolve().parent.parent / "docs" / "scenario-files.md"
_BETWEEN = re.compile(r"(<!-- schema -->\n).*?(<!-- end of schema -->)", re.DOTALL)


def tables() -> str:
    """A section for each model, and one for the units."""
    sections = [_section(part) for part in PARTS]
    units = "\n".join(f"| {dimension} | {', '.join(of)} |" for dimension, of in UNITS.items())
    sections.append(f"### Units\n\n| quantity | units, the first is SI |\n| --- | --- |\n{units}\n")
    return "\n" + "\n".join(sections) + "\n"


def with_tables(document: str) -> str:
    """The document with its tables written anew."""
    return _BETWEEN.sub(lambda found: found[1] + tables() + found[2], document)


def _section(part: type[Part]) -> str:
    hints = get_type_hints(part, include_extras=True)
    rows = []
    for name, field in part.model_fields.items():
        needed = " (needed)" if field.default is PydanticUndefined and field.default_factory is None else ""
        rows.append(f"| `{name}` | {_kind(hints[name])}{needed} | {field.description} |")
    table = "\n".join(["| key | value | meaning |", "| --- | --- | --- |", *rows])
    return f"### {part.__name__}\n\n{(part.__doc__ or '').strip()}\n\n{table}\n"


def _kind(hint: Any) -> str:
    """An annotation in words."""
    for known, words in WORDS:
        if hint == known:
            return words
    if isinstance(hint, type) and issubclass(hint, Part):
        return f"[{hint.__name__}](#{hint.__name__.lower()})"
    if get_origin(hint) is Literal:
        return ", ".join(map(str, get_args(hint)))
    if get_origin(hint) is list:
        return f"list of {_kind(get_args(hint)[0])}"
    if get_origin(hint) is dict:
        return f"{_kind(get_args(hint)[1])} by name"
    inner = [kind for kind in get_args(hint) if kind is not type(None)]
    if not inner:
        raise TypeError(f"no words for {hint!r}; add some to WORDS")
    return _kind(inner[0])


if __name__ == "__main__":
    DOCUMENT.write_text(with_tables(DOCUMENT.read_text(encoding="utf-8")), encoding="utf-8")
