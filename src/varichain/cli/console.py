"""Where the commands speak: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import math
import re
import sys
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rich.console import Console

_OBEYED = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f\ud800-\udfff\u202a-\u202e\u2066-\u2069]")
_WIDTH = 140  # characters for files and pipes, which do not say how wide they are


def output() -> Console:
    """Standard output; made when it is needed, for tests and pipes exchange it."""
    return _console(sys.stdout)


def errors() -> Console:
    """Standard error."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    from rich.console import Console

    width = None if stream.isatty() else _WIDTH
    return Console(file=stream, highlight=False, markup=False, emoji=False, width=width, soft_wrap=False)


def visible(text: str) -> str:
    """Text without characters that a terminal obeys, or that have no bytes: they are shown as escapes."""
    return _OBEYED.sub(lambda found: f"\\x{ord(found[0]):02x}", text)


def say(text: str = "") -> None:
    """Print text as it is."""
    output().print(visible(text), soft_wrap=True)


def warn(text: str) -> None:
    """Print text as it is, on standard error."""
    errors().print(visible(text), soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON value; JSON has no place for numbers that are not finite, they become null."""
    sys.stdout.write(json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=True) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)
