"""The energy books of a run: what its samples say about its own error."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

# [J] Energy that is rounding.
_ROUNDING = 1e-8


class Books:
    """Energy that no account has, over all samples.

    Energy, less the work of all accounts, plus the energy lost in impacts, is constant in an exact run.

    Attributes:
        off: Largest deviation from that [J].
        turned_over: Largest kinetic energy, plus range of the whole energy, plus largest work [J].
    """

    def __init__(self) -> None:
        """Nothing is written yet."""
        self.off = self.turned_over = 0.0
        self._carried = 0.0  # deviation at the end of the last epoch
        self._begin = self._latest = np.nan
        self._kinetic = self._work = 0.0
        self._least, self._most = np.inf, -np.inf

    def open_epoch(self) -> None:
        """Begin an epoch: energy that an event adds or takes, as by a change of gravity, is no error."""
        if np.isfinite(self._latest):
            self._carried += self._latest - self._begin
        self._begin = self._latest = np.nan

    def write(self, energy: Array, work: Array) -> None:
        """Add samples: energies (n, 3), and work of all accounts with the energy lost in impacts last (n, 6) [J]."""
        whole = energy.sum(axis=1)
        account = whole - work[:, :-1].sum(axis=1) + work[:, -1]
        if np.isnan(self._begin):
            self._begin = account[0]
        self._latest = account[-1]
        self.off = max(self.off, float(np.abs(self._carried + account - self._begin).max()))
        self._kinetic = max(self._kinetic, float(energy[:, 0].max()))
        self._work = max(self._work, float(np.abs(work).sum(axis=1).max()))
        self._least, self._most = min(self._least, float(whole.min())), max(self._most, float(whole.max()))
        self.turned_over = self._kinetic + self._work + self._most - self._least

    @property
    def error(self) -> float:
        """Energy that no account has, as a part of the energy turned over."""
        return self.off / self.turned_over if self.off > _ROUNDING else 0.0
