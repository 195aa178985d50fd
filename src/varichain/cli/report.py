"""What a run came to, on a screen."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from rich.table import Table

from varichain.cli.console import output, say, visible

if TYPE_CHECKING:
    from varichain.scenarios.scenario import Scenario
    from varichain.trace import Epoch, Trace


def print_report(scenario: Scenario, trace: Trace, found: dict[str, Any], out: Path | None) -> None:
    """Print a summary: what changed when, energy, closure, speed, and where the trace is."""
    ended = (
        "" if trace.outcome == "complete" else f", {trace.outcome}" + (f" ({trace.message})" if trace.message else "")
    )
    n_changes = len(trace.epochs) - 1
    changes = "no change" if n_changes <= 0 else f"{n_changes} change{'s' if n_changes > 1 else ''}"
    say(f"{scenario.name}: {found['simulated_seconds']:g} s, {changes}{ended}")
    say()
    output().print(change_table(trace, found["epochs"]))
    say()
    facts = Table(box=None, show_header=False, pad_edge=False)
    for row in _facts(trace, found):
        facts.add_row(*map(visible, row))
    if out is not None:
        facts.add_row("trace", visible(str(out)))
    output().print(facts)


def change_table(trace: Trace, counts: list[dict[str, Any]]) -> Table:
    """Events with the counts before and after: N_J joint freedoms, rank of the loops, N_F degrees of freedom."""
    table = Table(box=None, pad_edge=False)
    for name in ("time", "event", "what", "N_J", "rank", "N_F", "impulse", "energy lost"):
        table.add_column(name, justify="left" if name in ("event", "what") else "right")
    if counts:
        table.add_row(f"{counts[0]['start']:.4f} s", "start", "", *(str(counts[0][key]) for key in _COUNTED), "", "")
    for i, epoch in enumerate(trace.epochs):
        if epoch.event is not None:
            row = _row(epoch, counts[i], counts[i + 1] if i + 1 < len(counts) else None)
            table.add_row(*map(visible, row))
    return table


_COUNTED = ("n_all", "rank", "n_independent")


def _row(epoch: Epoch, before: dict[str, Any], after: dict[str, Any] | None) -> tuple[str, ...]:
    event = epoch.event or {}
    changed = [str(before[key]) if after is None else _arrow(before[key], after[key]) for key in _COUNTED]
    impulses = [_size(edit["impulse"][3:]) for edit in event.get("edits", ()) if edit["impulse"] is not None]
    pushed = f"{max(impulses):.4g} N s" if impulses else ""
    lost = event.get("energy_lost", 0.0)
    happened = ", ".join(event.get("actions", ()))
    names = ", ".join(name for name in event.get("names", ()) if not name.startswith("t = "))
    return (f"{epoch.end:.4f} s", names, happened, *changed, pushed, f"{lost:.4g} J" if lost else "")


def _facts(trace: Trace, found: dict[str, Any]) -> list[tuple[str, str]]:
    seconds, wall = found["simulated_seconds"], found["wall_seconds"]
    # runs that step through contacts do so whatever their method is
    method = "stepping" if trace.meta.get("contacts") == "stepping" else trace.meta["method"]
    touched = sum(entry.get("kind") == "limit reached" for entry in trace.log)
    facts = [
        ("energy drift, relative", f"{found['energy_drift']:.1e}"),
        ("largest closure error", f"{found['max_closure_error']:.1e} m or rad"),
        ("steps", f"{found['steps']} ({method}, {trace.meta['step']:g} s)"),
        ("wall time", f"{wall:.3f} s"),
        ("speed", f"{seconds / wall:.1f} x real time"),
    ]
    return [*facts, ("limits reached", f"{touched} times")] if touched else facts


def _arrow(before: int, after: int) -> str:
    return f"{before} -> {after}" if before != after else str(before)


def _size(vector: list[float]) -> float:
    return float(sum(x * x for x in vector) ** 0.5)
