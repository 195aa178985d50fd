"""What was measured, as tables on a terminal, as Markdown, and as plain values."""

from __future__ import annotations

import importlib.metadata
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.table import Table

import varichain
from varichain.bench.rows import Row
from varichain.errors import FileError
from varichain.files import completed
from varichain.kernels.jit import ORIGIN

BEGIN, END = "<!-- begin: measured -->", "<!-- end: measured -->"
HEADINGS = ("work", "mechanism", "ours", "beside", "theirs", "ratio (quartiles)", "difference", "target", "met")
_PACKAGES = ("numpy", "numba", "llvmlite", "pin", "mujoco", "drake", "pin-pink", "mink", "daqp")
_SCALES = {"us": 1e6, "s": 1.0, "MB": 1.0}


def machine() -> dict[str, Any]:
    """What the numbers were measured on."""
    found = {"varichain": varichain.__version__}
    for package in _PACKAGES:
        try:
            found[package] = importlib.metadata.version(package)
        except importlib.metadata.PackageNotFoundError:
            continue
    return {
        "processor": _processor(),
        "cores": os.cpu_count(),
        "system": platform.system(),
        "python": platform.python_version(),
        "kernels": ORIGIN,
        "packages": found,
    }


def machine_line() -> str:
    """The same in a line."""
    on = machine()
    versions = ", ".join(f"{name} {version}" for name, version in on["packages"].items())
    where = f"{on['processor']}, {on['cores']} cores, {on['system']}, Python {on['python']}"
    return f"{where}, kernels: {on['kernels']}, {versions}"


def table(rows: Iterable[Row]) -> Table:
    """Table for a terminal; columns that no row fills are left out."""
    cells = [_cells(row) for row in rows]
    found = Table(box=None, pad_edge=False)
    filled = [k for k in range(len(HEADINGS)) if any(line[k] for line in cells)]
    for k in filled:
        found.add_column(HEADINGS[k], justify="right" if HEADINGS[k] in ("ours", "theirs") else "left")
    for line in cells:
        found.add_row(*(escape(line[k]) for k in filled))
    return found


def markdown(rows: Iterable[Row], notes: Iterable[str]) -> str:
    """The machine, notes and one table."""
    lines = [f"Measured on {machine_line()}.", ""]
    lines += [line for note in notes for line in (f"{note}.", "")]
    lines += [f"| {' | '.join(HEADINGS)} |", f"| {' | '.join('---' for _ in HEADINGS)} |"]
    lines += [f"| {' | '.join(_cells(row))} |" for row in rows]
    return "\n".join(lines) + "\n"


def write_markdown(path: Path, text: str) -> None:
    """Write a text to a file, or between the marks of one that has them."""
    if path.exists() and BEGIN in (old := path.read_text(encoding="utf-8")):
        head, rest = old.split(BEGIN, 1)
        text = f"{head}{BEGIN}\n\n{text}\n{END}{rest.split(END, 1)[1]}"
    with completed(str(path), overwrite=True, error=FileError) as temporary:
        Path(temporary).write_text(text, encoding="utf-8")


def plain(rows: Iterable[Row], notes: Iterable[str]) -> dict[str, Any]:
    """Everything as plain values, times in seconds, memory in megabytes."""
    return {"machine": machine(), "notes": list(notes), "rows": [asdict(row) for row in rows]}


def judged(rows: Iterable[Row]) -> tuple[int, list[Row]]:
    """How many rows have a target, and those that miss it."""
    with_target = [row for row in rows if row.met is not None]
    return len(with_target), [row for row in with_target if not row.met]


def _cells(row: Row) -> tuple[str, ...]:
    scale = _SCALES[row.unit]
    beside = f"{row.library}: {row.calls}" if row.library else ""
    theirs = "" if row.theirs is None else f"{_number(scale * row.theirs)} {row.unit}"
    ratio = "" if row.ratio is None else f"{row.ratio.median:.2f} ({row.ratio.low:.2f}-{row.ratio.high:.2f})"
    difference = "" if row.difference is None else f"{row.difference:.0e}"
    if row.differs:
        difference += f" ({row.differs})"
    met = {None: "", True: "yes", False: "no"}[row.met]
    ours = f"{_number(scale * row.ours)} {row.unit}"
    return row.task, row.mechanism, ours, beside, theirs, ratio, difference, row.target, met


def _number(value: float) -> str:
    """Three digits, without powers of ten."""
    return f"{value:.0f}" if value >= 100.0 else f"{value:.3g}"


def _processor() -> str:
    """Name of the processor as its maker writes it, where the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
