"""Where the commands speak: results on standard output, all else on standard error."""

from __future__ import annotations

import json
import math
import sys
from typing import Any

from rich.console import Console

_WIDTH = 140  # characters for files and pipes, which do not say how wide they are


def output() -> Console:
    """Standard output; made when it is needed, for tests and pipes exchange it."""
    return _console(sys.stdout)


def errors() -> Console:
    """Standard error."""
    return _console(sys.stderr)


def _console(stream: Any) -> Console:
    width = None if stream.isatty() else _WIDTH
    return Console(file=stream, highlight=False, width=width, soft_wrap=False)


def say(text: str = "") -> None:
    """Print text as it is."""
    output().print(text, markup=False, soft_wrap=True)


def warn(text: str) -> None:
    """Print text as it is, on standard error."""
    errors().print(text, markup=False, soft_wrap=True)


def print_json(value: Any) -> None:
    """Print one JSON value; JSON has no place for numbers that are not finite, they become null."""
    sys.stdout.write(json.dumps(_plain(value), indent=2, allow_nan=False, ensure_ascii=False) + "\n")


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {str(key): _plain(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(entry) for entry in value]
    if isinstance(value, float):
        return float(value) if math.isfinite(value) else None
    return value if isinstance(value, str | int | None) else str(value)
