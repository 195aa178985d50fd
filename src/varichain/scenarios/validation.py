"""From a YAML document to the models of the schema, with the place of every mistake."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Any, get_args

from pydantic import ValidationError

from varichain.scenarios.marks import Location, Marked
from varichain.scenarios.schema import Part, ScenarioFile
from varichain.spatial.checks import shown

_LISTS = ("events", "forces", "surfaces")


class Faults:
    """What is wrong with a document, collected."""

    def __init__(self, marked: Marked) -> None:
        """Begin with what its reading found."""
        self.marked = marked
        self.found = list(marked.faults)

    def add(self, location: Location, what: str, of_key: bool = False) -> None:
        """Note a mistake at a value, or at its key."""
        self.found.append((*self.marked.place(location, of_key), what))

    def line(self, location: Location) -> int:
        """Line of a value."""
        return self.marked.place(location)[0]


def validated(faults: Faults) -> tuple[ScenarioFile | None, dict[str, list[int]]]:
    """What is right in a document; what is not is noted.

    Returns:
        The file without its faulty entries, None if too little is left; and for events, forces and surfaces the places
        that the remaining ones have in the document.
    """
    raw = faults.marked.value
    kept: dict[str, list[int]] = {}
    if not isinstance(raw, dict):
        faults.add((), f"must be a mapping that begins with `scenario: NAME`, not {shown(raw)}")
        return None, kept
    raw = {str(key): value for key, value in raw.items()}
    wrong: set[Location] = set()
    try:
        ScenarioFile.model_validate(raw)
    except ValidationError as error:
        for entry in error.errors(include_url=False):
            location = entry["loc"]
            faults.add(*_fault(dict(entry), location), of_key=entry["type"] == "extra_forbidden")
            is_entry = len(location) > 1 and location[0] in _LISTS
            wrong.add(location[:2] if is_entry else location[:1])
    for name in _LISTS:
        if isinstance(raw.get(name), list):
            kept[name] = [i for i in range(len(raw[name])) if (name, i) not in wrong]
            raw[name] = [raw[name][i] for i in kept[name]]
    rest = {key: value for key, value in raw.items() if (key,) not in wrong}
    return (ScenarioFile.model_validate(rest) if "scenario" in rest else None), kept


def unknown(kind: str, name: object, valid: list[str]) -> str:
    """A sentence about a name that does not exist."""
    close = get_close_matches(str(name), valid, n=1)
    hint = f" (did you mean {close[0]!r}?)" if close else ""
    return f"unknown {kind} {name!r}{hint}; valid: {', '.join(valid) or '(none)'}"


def _fault(entry: dict[str, Any], location: Location) -> tuple[Location, str]:
    """Where a mistake stands, and what it is, in a sentence of the house."""
    kind, key, given, context = entry["type"], location[-1] if location else "", entry["input"], entry.get("ctx", {})
    if kind == "extra_forbidden":
        return location, unknown("key", key, _keys(location[:-1]))
    if kind == "missing":
        return location[:-1], f"key {key!r} is missing; valid keys: {', '.join(_keys(location[:-1]))}"
    if kind == "value_error":
        return location, f"{_called(key)} {context['error']}"
    if kind == "literal_error":
        return location, f"{_called(key)} must be one of {context['expected']}, not {shown(given)}"
    if kind in ("model_type", "model_attributes_type"):
        return location, f"{_called(key)} must be a mapping with keys {', '.join(_keys(location))}, not {shown(given)}"
    expected = {"dict_type": "a mapping", "list_type": "a list", "string_type": "text", "bool_type": "true or false"}
    if kind in expected:
        return location, f"{_called(key)} must be {expected[kind]}, not {shown(given)}"
    return location, f"{_called(key)}: {entry['msg']}"


def _called(key: object) -> str:
    return f"entry {key + 1}" if isinstance(key, int) else repr(key)


def _keys(location: Location) -> list[str]:
    """Keys that a mapping at a location may have."""
    part: Any = ScenarioFile
    for key in location:
        if isinstance(key, str) and part is not None:
            field = part.model_fields.get(key)
            part = None if field is None else _part_in(field.annotation)
    return list(part.model_fields) if part is not None else []


def _part_in(annotation: Any) -> type[Part] | None:
    """The model that an annotation is about: itself, or None, or a list of it."""
    if isinstance(annotation, type) and issubclass(annotation, Part):
        return annotation
    return next((found for inner in get_args(annotation) if (found := _part_in(inner))), None)
