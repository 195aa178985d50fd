"""Rows of a benchmark: what was measured beside what, and what was wanted."""

from __future__ import annotations

from dataclasses import dataclass

from varichain.bench.interleave import Ratio, Timings


@dataclass(frozen=True)
class Row:
    """One measured number, beside a peer's if there is one, and its target.

    Attributes:
        task, mechanism: What was done, to what.
        ours: Median time [s] per call, or memory in megabytes.
        low, high: Its quartiles.
        library, calls: Who was measured beside it, and what was called there.
        theirs: Its median time [s].
        ratio: Their time over ours, formed within each round; of growth, time of the large problem over the small.
        difference: Largest relative difference of the two answers.
        differs: Why they may differ.
        target: What was wanted, in words; empty if nothing was.
        met: Whether the median meets it.
        unit: "us", "s" or "MB", for tables.
    """

    task: str
    mechanism: str
    ours: float
    low: float
    high: float
    library: str = ""
    calls: str = ""
    theirs: float | None = None
    ratio: Ratio | None = None
    difference: float | None = None
    differs: str = ""
    target: str = ""
    met: bool | None = None
    unit: str = "us"


def row_beside(
    task: str,
    mechanism: str,
    timings: Timings,
    ours: str,
    peer: str,
    at_least: float | None = None,
    difference: float | None = None,
    differs: str = "",
) -> Row:
    """Our time beside a peer's, named "library: calls"; the target is a ratio."""
    library, calls = peer.split(": ", 1)
    ratio = timings.ratio(peer, ours)
    target = "" if at_least is None else f">= {at_least:g}x"
    met = None if at_least is None else ratio.median >= at_least
    times = timings.median(ours), *timings.quartiles(ours)
    return Row(task, mechanism, *times, library, calls, timings.median(peer), ratio, difference, differs, target, met)


def row_alone(
    task: str, mechanism: str, timings: Timings, name: str, at_most: float | None = None, unit: str = "us"
) -> Row:
    """Our time alone; the target is a time [s]."""
    median, (low, high) = timings.median(name), timings.quartiles(name)
    if at_most is None:
        return Row(task, mechanism, median, low, high, unit=unit)
    target = f"< {at_most:g} s" if unit == "s" else f"< {1e6 * at_most:g} us"
    return Row(task, mechanism, median, low, high, target=target, met=median < at_most, unit=unit)


def row_growth(task: str, mechanism: str, timings: Timings, large: str, small: str, at_most: float) -> Row:
    """Time of a large problem beside that of a small one; the target bounds their ratio."""
    ratio = timings.ratio(large, small)
    times = timings.median(large), *timings.quartiles(large)
    target, met = f"<= {at_most:g}x", ratio.median <= at_most
    return Row(task, mechanism, *times, "varichain", small, timings.median(small), ratio, target=target, met=met)
