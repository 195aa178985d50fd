"""Results that show themselves: short tables at the prompt, HTML tables in notebooks, never raw arrays."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from varichain.spatial.notebook import html_table

_MOST_ROWS = 24  # of a table at the prompt
_MOST_NAMES = 6
_ROUNDING = 1e-12  # of the largest number: smaller ones are shown as zero


@dataclass(frozen=True)
class Listing:
    """A table: column names, and rows of cells in words."""

    head: Sequence[str]
    rows: Sequence[Sequence[str]]

    def lines(self) -> list[str]:
        """The table in letters of one width; of a long one the first rows, and how many are left out."""
        shown = [*([self.head] if any(self.head) else []), *self.rows[:_MOST_ROWS]]
        widths = [max(len(row[k]) for row in shown) for k in range(len(self.head))]
        lines = ["  " + "  ".join(map(str.ljust, row, widths)).rstrip() for row in shown]
        more = len(self.rows) - _MOST_ROWS
        return lines if more <= 0 else [*lines, f"  ... {more} more ..."]


Report = tuple[str, Sequence[Listing]]
"""A title, and tables; those without rows are not shown."""


class Reported(ABC):
    """A result that shows itself: `report` is all that a class has to say."""

    __slots__ = ()

    @abstractmethod
    def report(self) -> Report:
        """What is shown."""

    def __repr__(self) -> str:
        """Title and tables in a few lines."""
        title, listings = self.report()
        parts = ["\n".join(listing.lines()) for listing in listings if listing.rows]
        return "\n".join([title, *("\n\n".join(parts),) * bool(parts)])

    def _repr_html_(self) -> str:
        title, listings = self.report()
        shown = [listing for listing in listings if listing.rows] or [Listing((), ())]
        titles = [title, *[""] * (len(shown) - 1)]
        return (
            f"<div>{''.join(html_table(name, of.head, of.rows) for name, of in zip(titles, shown, strict=True))}</div>"
        )


def numbers(values: ArrayLike, largest: float = 0.0) -> str:
    """Numbers with four digits; those that are rounding beside the largest of them all are zero."""
    flat = np.ravel(np.asarray(values, dtype=float))
    tiny = _ROUNDING * max(largest, float(np.abs(flat).max(initial=0.0)))
    return ", ".join("0" if abs(x) <= tiny else f"{x:.4g}" for x in flat.tolist())


def names(found: Iterable[str]) -> str:
    """Some names; of many the first, and how many are left out."""
    each = list(found)
    shown = ", ".join(each[:_MOST_NAMES]) or "none"
    return shown if len(each) <= _MOST_NAMES else f"{shown} and {len(each) - _MOST_NAMES} more"
