"""Edits that happen wholly or not at all."""

from __future__ import annotations

from typing import TYPE_CHECKING

from varichain.mechanism.link import journal

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism


class transaction:  # noqa: N801  reads as a word: with transaction(m)
    """Undo every edit of a mechanism that was made in a block if the block raises; a trial is undone in any case."""

    def __init__(self, m: Mechanism, trial: bool = False) -> None:
        """Prepare for a mechanism."""
        self._m = m
        self._trial = trial

    def __enter__(self) -> None:
        """Note how things are."""
        m = self._m
        tables = {"_links": m._links.copy(), "_by_name": m._by_name.copy(), "_by_joint": m._by_joint.copy()}
        self._kept = m.__dict__ | tables
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
        self._m.__dict__.update(self._kept)
