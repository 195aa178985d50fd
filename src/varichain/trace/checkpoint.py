"""Checkpoints: what a continuation needs, bound to the samples before them."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any


@dataclass(frozen=True)
class Checkpoint:
    """What a continuation needs, and how far the trace had come.

    Attributes:
        content: Plain values, known to the simulator alone.
        n_epochs: Number of epochs that had begun.
        n_samples: Number of the last epoch's samples.
        is_open: Whether the last epoch had not ended.
        n_log: Number of entries in the structure log.
    """

    content: dict[str, Any]
    n_epochs: int
    n_samples: int
    is_open: bool
    n_log: int

    def plain(self) -> dict[str, Any]:
        """As plain values for JSON; `Checkpoint(**value)` is the way back."""
        return asdict(self)
