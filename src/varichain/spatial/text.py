"""Numbers as short text, for reprs and drawings."""

from __future__ import annotations

from collections.abc import Iterable

from varichain.spatial.checks import NAMED_AXES, Triple


def numbers_text(numbers: Iterable[float], digits: int = 6) -> str:
    """Numbers in parentheses, rounded to significant `digits`."""
    return "(" + ", ".join(f"{float(number) + 0.0:.{digits}g}" for number in numbers) + ")"


def axis_text(axis: Triple) -> str:
    """Name of a unit axis, "x" ... "-z", or its rounded numbers if it has no name."""
    for name, named in NAMED_AXES.items():
        if axis == named:
            return name
    return numbers_text(axis, digits=3)
