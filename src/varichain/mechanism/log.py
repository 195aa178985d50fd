"""The structure log: every connection, coupling and cut of a mechanism, printable and replayable."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from varichain.errors import StructureError
from varichain.mechanism.joint import Joint
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

MOST_ENTRIES = 10_000
"""The log forgets its oldest entries beyond this number: a mechanism may change for days."""


@dataclass(frozen=True)
class Edit:
    """One connection, coupling or cut, with all that is needed to do it again.

    Attributes:
        kind: "connect", or "cut" of a loop, or "cut tree" of a joint of the tree; "couple" or "uncouple".
        joint: Name of the joint, or of the coupling.
        a, b: Names of the link and of the other one; of a coupling, those of the joint that follows and of the leader.
        model: The joint; of a coupling, the one that follows.
        at, at_other: Joint frame in both links' frames, of a connection.
        impulse: [moment; force] (6,) [N m s, N s] on link a in world axes at the joint, of a connection in motion.
        multiplier, offset: Of a coupling.
    """

    kind: str
    joint: str
    a: str
    b: str
    model: Joint
    at: Pose | None = None
    at_other: Pose | None = None
    impulse: tuple[float, ...] | None = None
    multiplier: float | None = None
    offset: float | None = None

    def __str__(self) -> str:
        """In words."""
        if self.multiplier is not None:
            return f"{self.kind} {self.joint!r}: {self.a} = {self.multiplier:.6g} {self.b} + {self.offset:.6g}"
        text = f"{self.kind} {self.joint!r}: {self.a} - {self.b}, {self.model.kind}"
        if self.impulse is not None:
            moment, force = (sum(x * x for x in part) ** 0.5 for part in (self.impulse[:3], self.impulse[3:]))
            text += f", impulse {force:.4g} N s, {moment:.4g} N m s"
        return text


@dataclass(frozen=True)
class LogEntry:
    """Edits of one instant.

    Attributes:
        time: Time of the state that was changed [s]; None for an edit of the structure alone.
        edits: What was done, in order.
        energy_lost: Kinetic energy that the impact took [J]; None for an edit of the structure alone.
        number: Counted from 0 over the mechanism's life.
    """

    time: float | None
    edits: tuple[Edit, ...]
    energy_lost: float | None = None
    number: int = 0

    def __str__(self) -> str:
        """Time, edits, energy lost."""
        when = "        -  " if self.time is None else f"{self.time:9.4f} s"
        lost = f"; {self.energy_lost:.4g} J lost" if self.energy_lost else ""
        return f"{when}  " + "; ".join(map(str, self.edits)) + lost


@dataclass
class StructureLog:
    """Entries in the order in which they happened; `print` it, `replay` it."""

    _entries: deque[LogEntry] = field(default_factory=lambda: deque(maxlen=MOST_ENTRIES))
    n_written: int = 0

    def __len__(self) -> int:
        """Number of entries that are kept."""
        return len(self._entries)

    def __iter__(self) -> Iterator[LogEntry]:
        """Oldest first."""
        return iter(self._entries)

    def __getitem__(self, index: int) -> LogEntry:
        """Entry by its place among those kept."""
        return self._entries[index]

    def write(self, time: float | None, edits: tuple[Edit, ...], energy_lost: float | None = None) -> LogEntry:
        """Add an entry."""
        entry = LogEntry(time, edits, energy_lost, self.n_written)
        self._entries.append(entry)
        self.n_written += 1
        return entry

    def forget(self) -> None:
        """Begin anew: what was written so far is how the mechanism was made, not how it changed."""
        self._entries.clear()
        self.n_written = 0

    def __str__(self) -> str:
        """One line an entry."""
        forgotten = self.n_written - len(self._entries)
        first = [f"({forgotten} older entries forgotten)"] if forgotten else []
        return "\n".join([*first, *map(str, self._entries)]) or "(no structure changes)"

    def copy(self) -> StructureLog:
        """Independent copy; entries never change."""
        return StructureLog(deque(self._entries, maxlen=MOST_ENTRIES), self.n_written)

    def replay(self, m: Mechanism) -> None:
        """Do the same edits to another mechanism, structure alone: no state, no impact.

        Raises:
            StructureError: The oldest entries are forgotten, so that the beginning is unknown.
        """
        if self.n_written > len(self._entries):
            raise StructureError(
                f"the log has forgotten its first {self.n_written - len(self._entries)} entries and cannot be replayed"
            )
        for entry in self._entries:
            for edit in entry.edits:
                if edit.kind == "connect":
                    m.connect(edit.a, edit.b, edit.model, edit.at, edit.at_other, name=edit.joint)
                elif edit.kind == "couple" and edit.multiplier is not None:
                    m.couple(edit.a, edit.b, edit.multiplier, edit.offset, name=edit.joint)
                else:
                    m.cut(edit.joint)


def as_dict(entry: LogEntry) -> dict[str, Any]:
    """Entry as plain values for JSON and HDF5: names, kinds, frames as position and quaternion, impulse, energy."""

    def frame(pose: Pose | None) -> list[float] | None:
        return None if pose is None else [*pose.p.tolist(), *pose.quaternion.tolist()]

    edits = [
        {
            "kind": edit.kind,
            "joint": edit.joint,
            "a": edit.a,
            "b": edit.b,
            "joint_kind": edit.model.kind,
            "at": frame(edit.at),
            "at_other": frame(edit.at_other),
            "impulse": None if edit.impulse is None else list(edit.impulse),
            "multiplier": edit.multiplier,
            "offset": edit.offset,
        }
        for edit in entry.edits
    ]
    return {"time": entry.time, "energy_lost": entry.energy_lost, "edits": edits}
