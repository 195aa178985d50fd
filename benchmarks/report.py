"""Rows of a benchmark, their table on the terminal, and the same as JSON."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from interleave import Ratio, Timings
from rich.console import Console
from rich.markup import escape
from rich.table import Table

import varichain as vc

PACKAGES = ("numpy", "numba", "llvmlite", "pin", "mujoco")


@dataclass(frozen=True)
class Row:
    """One measured number beside its peer and its target.

    Attributes:
        work: What was done.
        median, best: Our time [s].
        peer: What was measured beside it, if anything.
        peer_median, peer_best: Its time [s].
        ratio: Peer's time over ours (or as the work says).
        target: What was wanted, in words; empty if nothing was.
        met: Whether the median meets it.
    """

    work: str
    median: float
    best: float
    peer: str = ""
    peer_median: float | None = None
    peer_best: float | None = None
    ratio: Ratio | None = None
    target: str = ""
    met: bool | None = None


def row_beside(work: str, timings: Timings, ours: str, peer: str, at_least: float | None = None) -> Row:
    """Our time beside a peer's; the target is a ratio."""
    ratio = timings.ratio(peer, ours)
    met = None if at_least is None else ratio.median >= at_least
    target = "" if at_least is None else f">= {at_least:g}x"
    return Row(work, *_times(timings, ours), peer, *_times(timings, peer), ratio, target, met)


def row_alone(work: str, timings: Timings, name: str, at_most: float | None = None) -> Row:
    """Our time alone; the target is a time [s]."""
    median, best = _times(timings, name)
    if at_most is None:
        return Row(work, median, best)
    target = f"< {at_most:g} s" if at_most > 1e-3 else f"< {1e6 * at_most:g} us"
    return Row(work, median, best, target=target, met=median < at_most)


def row_growth(work: str, timings: Timings, large: str, small: str, at_most: float) -> Row:
    """Time of a large problem beside that of a small one; the target bounds their ratio."""
    ratio = timings.ratio(large, small)
    times = (*_times(timings, large), small, *_times(timings, small))
    return Row(work, *times, ratio, f"<= {at_most:g}x", ratio.median <= at_most)


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    found = {"varichain": vc.__version__}
    for package in PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "packages": found,
    }


def print_table(console: Console, title: str, rows: list[Row], unit: str = "us") -> None:
    """Print the rows; columns that no row fills are left out."""
    scale = {"us": 1e6, "s": 1.0}[unit]
    table = Table(title=title, title_justify="left", title_style="bold", show_lines=False)
    has_peer, has_target = any(row.peer for row in rows), any(row.target for row in rows)
    table.add_column("work", overflow="fold")
    table.add_column(f"ours \\[{unit}]\nmedian (best)", justify="right", no_wrap=True)
    if has_peer:
        table.add_column("beside", overflow="fold")
        table.add_column(f"peer \\[{unit}]\nmedian (best)", justify="right", no_wrap=True)
        table.add_column("ratio\nmedian (10-90 %)", justify="right", no_wrap=True)
    if has_target:
        table.add_column("target", no_wrap=True)
        table.add_column("met")
    for row in rows:
        cells = [escape(row.work), _time_text(row.median, row.best, scale)]
        if has_peer:
            cells += [escape(row.peer), _time_text(row.peer_median, row.peer_best, scale), _ratio_text(row.ratio)]
        if has_target:
            cells += [row.target, {None: "", True: "[green]yes[/]", False: "[red]no[/]"}[row.met]]
        table.add_row(*cells)
    console.print(table)


def write_json(path: Path, sections: dict[str, list[Row]], notes: dict[str, Any]) -> None:
    """Write everything; times in seconds."""
    tables = {title: [asdict(row) for row in rows] for title, rows in sections.items()}
    content = {"machine": machine(), **notes, "sections": tables}
    path.write_text(json.dumps(content, indent=2) + "\n", encoding="utf-8")


def _times(timings: Timings, name: str) -> tuple[float, float]:
    return timings.median(name), timings.best(name)


def _time_text(median: float | None, best: float | None, scale: float) -> str:
    return "" if median is None or best is None else f"{scale * median:.2f} ({scale * best:.2f})"


def _ratio_text(ratio: Ratio | None) -> str:
    return "" if ratio is None else f"{ratio.median:.2f} ({ratio.low:.2f}-{ratio.high:.2f})"


def _processor() -> str:
    """Name of the processor as its maker writes it, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
