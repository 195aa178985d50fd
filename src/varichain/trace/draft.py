"""A trace in the making: what a writer has been given, or a reader has found, so far."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from varichain.trace.checkpoint import Checkpoint
from varichain.trace.columns import Columns
from varichain.trace.epoch import Epoch
from varichain.trace.samples import Rows, Samples, SamplesInRows
from varichain.trace.structure import PackedStructure
from varichain.trace.trace import Trace


@dataclass
class EpochDraft:
    """An epoch in the making.

    Attributes:
        rows: Samples in rows by the number of their frame: entered twice, they are there once.
        stored: All samples, if they are in a finished file.
        n: Number of samples that the epoch had or has, lost ones included.
        event: What ended it, if it has ended.
        lost: Spans of time whose samples are lost.
    """

    index: int
    structure: PackedStructure
    columns: Columns
    rows: dict[int, Rows] = field(default_factory=dict)
    stored: Samples | None = None
    n: int = 0
    event: dict[str, Any] | None = None
    lost: list[tuple[float, float]] = field(default_factory=list)

    def epoch(self) -> Epoch:
        """The epoch as it is now."""
        samples = SamplesInRows(self.columns, [*self.rows.values()]) if self.stored is None else self.stored
        return Epoch(self.index, self.structure, samples, self.event, tuple(self.lost))


@dataclass
class Draft:
    """A trace in the making."""

    meta: dict[str, Any] = field(default_factory=dict)
    epochs: list[EpochDraft] = field(default_factory=list)
    log: list[dict[str, Any]] = field(default_factory=list)
    checkpoint: Checkpoint | None = None
    outcome: str = "interrupted"
    message: str | None = None

    def trace(self, damage: str | None = None) -> Trace:
        """The trace as it is now."""
        epochs = [draft.epoch() for draft in self.epochs]
        return Trace(epochs, self.meta, self.log, self.checkpoint, self.outcome, self.message, damage)
