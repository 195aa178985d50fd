"""Numbers that controllers have to say of states, as further blocks of a trace: what is wanted, and what is reached."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Protocol

import numpy as np

from varichain.errors import VarichainError
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.trace import Columns


class Observer(Protocol):
    """Controller whose numbers are recorded with each sample."""

    def observed(self, m: Mechanism, s: State) -> dict[str, dict[str, float]]:
        """Numbers by label, by block; labels are the same as long as the structure is. NaN is a number that is not."""


class Observation:
    """Further columns of the samples of one epoch.

    Attributes:
        blocks: Names and widths of the blocks.
        labels: Names of the columns of each block.
    """

    def __init__(self, m: Mechanism, s: State, observers: Iterable[Observer]) -> None:
        """Look at the present state."""
        self._m, self._s, self._observers = m, s.copy(), tuple(observers)
        self.labels = {name: list(block) for name, block in self._read().items()}
        self.blocks = [(name, len(labels)) for name, labels in self.labels.items()]

    def extended(self, rows: Array, columns: Columns) -> Array:
        """Samples with the further columns; NaN where nobody observes any more."""
        missing = columns.width - rows.shape[1]
        if not missing:
            return rows
        more, s = np.full((len(rows), missing), np.nan), self._s
        if sum(width for _, width in self.blocks) == missing:
            time, q, v = (columns.slice(name) for name in ("time", "q", "v"))
            for row, out in zip(rows, more, strict=True):
                s._time, s._q[:], s._v[:] = float(row[time][0]), row[q], row[v]
                out[:] = [number for block in self._read().values() for number in block.values()]
        return np.hstack([rows, more])

    def _read(self) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for observer in self._observers:
            for name, block in observer.observed(self._m, self._s).items():
                found.setdefault(name, {}).update(block)
        return found


def aims_of(m: Mechanism, s: State, observers: Iterable[Observer]) -> dict[str, Array]:
    """Tracked points and their targets (2, 3) [m] by name, as observers record them; none where they have no values."""
    try:
        blocks = [observer.observed(m, s.copy()) for observer in observers]
    except VarichainError:  # the run itself tells of it
        return {}
    found: dict[str, Array] = {}
    for block in blocks:
        names = [label.rpartition("[")[0] for label in block.get("tracked", ())][::3]
        both = np.array([list(block[name].values()) for name in ("tracked", "targets")] if names else [])
        found |= {name: both[:, 3 * k : 3 * k + 3] for k, name in enumerate(names)}
    return found
