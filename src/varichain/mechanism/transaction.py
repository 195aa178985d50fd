"""Edits that happen wholly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from varichain.mechanism.link import journal

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

_FIELDS = ("revision", "_next_id", "_layout", "_tree", "_tree_before", "_real_links", "_gravity")
_TABLES = ("_links", "_by_name", "_by_joint", "_couplings")


class transaction:  # noqa: N801  reads as a word: with transaction(m)
    """Undo every edit of a mechanism that was made in a block if the block raises; a trial is undone in any case."""

    def __init__(self, m: Mechanism, trial: bool = False) -> None:
        """Prepare for a mechanism."""
        self._m = m
        self._trial = trial

    def __enter__(self) -> None:
        """Note how things are."""
        self._fields = {name: getattr(self._m, name) for name in _FIELDS}
        self._tables = {name: dict(getattr(self._m, name)) for name in _TABLES}
        self._outer = journal.edits
        journal.edits = []

    def __exit__(self, kind: object, *_: object) -> None:
        """Put everything back if something was raised, or if it was a trial."""
        edits, journal.edits = journal.edits, self._outer
        if kind is None and not self._trial:
            if self._outer is not None:
                self._outer.extend(edits or ())
            return
        for link, name, value in reversed(edits or ()):
            object.__setattr__(link, name, value)
        for name, value in (self._fields | self._tables).items():
            setattr(self._m, name, value)
