"""What a damaged file has lost, in words."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from varichain.trace import records
from varichain.trace.text import count

_NAMES = {
    records.META: "what the run was made with",
    records.EPOC: "the structure of an epoch",
    records.ROWS: "samples",
    records.DATA: "where an epoch's samples are",
    records.EVNT: "the event that ended an epoch",
    records.CHEK: "a checkpoint",
    records.LOGE: "an entry of the structure log",
    records.DONE: "how the run ended",
}


@dataclass
class Gap:
    """Something unreadable.

    Attributes:
        kinds: How many frames of each kind are lost; None for those that are not even known.
        since, until: Times around it [s], where known.
        n_samples: Number of samples that are lost, where known.
        epoch: Index of an epoch that is lost with its structure.
    """

    kinds: Counter[bytes | None] = field(default_factory=Counter)
    since: float | None = None
    until: float | None = None
    n_samples: int = 0
    epoch: int | None = None

    def __str__(self) -> str:
        """What, how much, and when."""
        return f"{self._what()} {self._when()}".rstrip()

    def _what(self) -> str:
        if self.epoch is not None:
            return f"epoch {self.epoch}, whose structure is unreadable, with {count(self.n_samples, 'sample')}"
        known = Counter({kind: n for kind, n in self.kinds.items() if kind in _NAMES})
        n_unknown = self.kinds.total() - known.total()
        if self.n_samples:
            known.pop(records.ROWS, None)
        parts = [count(self.n_samples, "sample")] if self.n_samples else []
        parts += [
            name if (n := known[kind]) == 1 else f"{name} ({n} times)" for kind, name in _NAMES.items() if kind in known
        ]
        if n_unknown and not self.n_samples:
            parts.append(count(n_unknown, "record"))
        return ", ".join(parts) or "something"

    def _when(self) -> str:
        if self.since is not None and self.until is not None:
            return f"between {self.since:g} s and {self.until:g} s"
        if self.since is not None:
            return f"after {self.since:g} s"
        return "" if self.until is None else f"before {self.until:g} s"


@dataclass
class Damage:
    """All that was found wrong with a file.

    Attributes:
        gaps: What is lost.
        notes: What is wrong without loss, in sentences.
    """

    gaps: list[Gap] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def __bool__(self) -> bool:
        """Whether anything is wrong."""
        return bool(self.gaps or self.notes)

    def __str__(self) -> str:
        """In a sentence."""
        lost = [f"lost: {'; '.join(map(str, self.gaps))}"] if self.gaps else []
        return "; ".join([*lost, *dict.fromkeys(self.notes)])
