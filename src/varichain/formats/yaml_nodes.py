"""YAML of strangers: plain mappings, lists, numbers and words with line numbers; no tags, anchors or aliases."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from varichain.errors import FormatError, MissingExtraError, VarichainError, quoted
from varichain.formats.xml import read_bytes

_MOST_BYTES = 2**18
_MOST_DEPTH = 20
_NUMBER = re.compile(r"[-+]?(\d+(\.\d*)?|\.\d+)([eE][-+]?\d+)?")


class Entry:
    """A mapping of a YAML file, whose values are asked for by key; what is never asked for is a mistake."""

    def __init__(self, values: dict[str, Any], line: int, path: str) -> None:
        """Keep the values."""
        self.values = values
        self.line = line
        self.path = path

    def error(self, message: str) -> FormatError:
        """An error that points here."""
        return FormatError(message, self.path, self.line)

    @contextmanager
    def located(self) -> Iterator[None]:
        """Turn any error of the house into one that points here."""
        try:
            yield
        except FormatError:
            raise
        except VarichainError as error:
            raise self.error(str(error)) from error

    def allow(self, keys: tuple[str, ...]) -> None:
        """Refuse any other key."""
        for key in self.values:
            if key not in keys:
                raise self.error(f"unknown key {quoted(key)}; keys: {', '.join(keys)}")

    def word(self, key: str) -> str:
        """A string that must be there."""
        value = self.values.get(key)
        if not isinstance(value, str) or not value.strip():
            raise self.error(f"needs {key!r}, a name" + ("" if value is None else f", not {quoted(value)}"))
        return value

    def number(self, key: str, default: float) -> float:
        """A finite number."""
        value = self.values.get(key, default)
        if not isinstance(value, float):
            raise self.error(f"{key!r} must be a number, not {quoted(value)}")
        return value

    def entries(self, key: str) -> list[Entry]:
        """A list of mappings, empty if it is not there."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, Entry) for item in value):
            raise self.error(f"{key!r} must be a list of mappings")
        return value


def read_yaml(path: Path) -> Entry:
    """The mapping that a YAML file is.

    Raises:
        FormatError: It is none, or is more than plain data.
    """
    try:
        import yaml
    except ImportError:
        raise MissingExtraError("files with loops need the package pyyaml: pip install pyyaml") from None
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)  # ten times as fast, where it is there
    data = read_bytes(path)
    if len(data) > _MOST_BYTES:
        raise FormatError("is larger than 256 KiB, too large for a list of loops", str(path))
    try:
        text, depth = data.decode("utf-8"), 0
        for event in yaml.parse(text, loader):
            depth += isinstance(event, yaml.CollectionStartEvent) - isinstance(event, yaml.CollectionEndEvent)
            if depth > _MOST_DEPTH + 1:
                raise FormatError("is nested too deeply", str(path), event.start_mark.line + 1)
            if isinstance(event, yaml.AliasEvent) or getattr(event, "anchor", None) is not None:
                raise FormatError("anchors and aliases are not allowed", str(path), event.start_mark.line + 1)
        node = yaml.compose(text, loader)
    except UnicodeDecodeError:
        raise FormatError("is not UTF-8 text", str(path)) from None
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        problem = getattr(error, "problem", None) or str(error)
        raise FormatError(f"is not valid YAML: {problem}", str(path), None if mark is None else mark.line + 1) from None
    value = _value(node, str(path), 0) if node is not None else None
    if not isinstance(value, Entry):
        raise FormatError("must be a mapping with the keys 'loops' and 'couplings'", str(path), 1)
    return value


def _value(node: Any, path: str, depth: int) -> Any:
    import yaml

    line = node.start_mark.line + 1
    if depth > _MOST_DEPTH:
        raise FormatError("is nested too deeply", path, line)
    if not node.tag.startswith("tag:yaml.org,2002:") or ":" in node.tag[len("tag:yaml.org,2002:") :]:
        raise FormatError(f"tag {quoted(node.tag)} is not allowed", path, line)
    if isinstance(node, yaml.MappingNode):
        values: dict[str, Any] = {}
        for key, value in node.value:
            if not isinstance(key, yaml.ScalarNode) or key.value in values:
                raise FormatError("keys must be words, each once", path, key.start_mark.line + 1)
            values[key.value] = _value(value, path, depth + 1)
        return Entry(values, line, path)
    if isinstance(node, yaml.SequenceNode):
        return [_value(item, path, depth + 1) for item in node.value]
    return _scalar(node, path, line)


def _scalar(node: Any, path: str, line: int) -> Any:
    kind = node.tag.rpartition(":")[2]
    is_bare = not node.style  # None, or empty if libyaml has read it
    if not is_bare or kind not in ("int", "float", "bool", "null"):
        if _NUMBER.fullmatch(node.value) and is_bare:  # YAML itself takes 1e-3 for a word
            return _finite(node.value, path, line)
        return node.value
    if kind == "null":
        return None
    if kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    if _NUMBER.fullmatch(node.value):
        return _finite(node.value, path, line)
    raise FormatError(f"{quoted(node.value)} is not a plain finite number", path, line)


def _finite(text: str, path: str, line: int) -> float:
    number = float(text)
    if not math.isfinite(number):
        raise FormatError(f"number {quoted(text)} is not finite", path, line)
    return number
