"""A trace in words."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from varichain.trace.epoch import Epoch
    from varichain.trace.trace import Trace

_MOST_EPOCHS = 20
_UNNAMED = re.compile(r"t = .* s|event \d+")  # what an event without a name is called


def table(trace: Trace) -> str:
    """One line for the run, one for each epoch: span, samples, freedoms, loops, the event that ended it."""
    epochs, n = trace.epochs, len(trace)
    name = f" of {epochs[0].description['name']!r}" if epochs else ""
    ended = trace.outcome + (f" ({trace.message})" if trace.message else "")
    lines = [f"trace{name}: {count(n, 'sample')} in {count(len(epochs), 'epoch')}, {ended}"]
    half = _MOST_EPOCHS // 2
    shown = list(epochs) if len(epochs) <= _MOST_EPOCHS else [*epochs[:half], *epochs[-half:]]
    rows = [_row(epoch) for epoch in shown]
    widths = [max(len(row[k]) for row in rows) for k in range(5)] if rows else []
    for i, row in enumerate(rows):
        if i == half and len(shown) < len(epochs):
            lines.append(f"  ... {len(epochs) - len(shown)} epochs more ...")
        cells = [cell.rjust(width) for cell, width in zip(row, widths, strict=False)]
        lines.append(f"  {cells[0]}  {'  '.join(cells[1:])}  {row[5]}".rstrip())
    if trace.damage:
        lines.append(f"  damaged: {trace.damage}")
    return "\n".join(lines)


def _row(epoch: Epoch) -> tuple[str, ...]:
    span = f"{epoch.start:.6g} to {epoch.end:.6g} s" if len(epoch) else "no samples"
    slots = epoch.slots
    counts = (count(len(epoch), "sample"), count(slots.n_v, "freedom"), count(len(slots.loops), "loop"))
    return str(epoch.index), span, *counts, event_text(epoch.event)


def event_text(event: dict[str, Any] | None) -> str:
    """An event in a few words: its "text" or its "actions" if it has some, else its entries."""
    if event is None:
        return ""
    if isinstance(event.get("text"), str):
        return str(event["text"])
    if isinstance(event.get("actions"), list):
        return ", ".join(map(str, event["actions"]))
    return ", ".join(f"{key} {value}" for key, value in event.items() if isinstance(value, (str, int, float)))


def event_name(event: dict[str, Any]) -> str:
    """Names that the user gave to the events of an instant; empty if they have none."""
    names = [str(name) for name in event.get("names") or ()]
    return ", ".join(dict.fromkeys(name for name in names if name and not _UNNAMED.fullmatch(name)))


def count(n: int, noun: str) -> str:
    """A number of things, in words."""
    return f"{n} {noun}" if n == 1 else f"{n} {noun}s"
