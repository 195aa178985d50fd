"""Checkpoints: what a continuation needs, bound to the samples before them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Checkpoint:
    """What a continuation needs.

    Attributes:
        content: Plain values, known to the simulator alone.
        epoch: Index of the epoch in which it was taken; -1 before the first.
        n: Number of that epoch's samples before it.
    """

    content: dict[str, Any]
    epoch: int
    n: int
