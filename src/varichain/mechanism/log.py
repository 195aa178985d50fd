"""The structure log: every connection, coupling and cut of a mechanism, printable and replayable."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

from varichain.errors import InputError, StructureError
from varichain.mechanism.joint import Joint
from varichain.mechanism.plain import (
    entries_of,
    joint_from,
    list_from,
    located,
    plain_joint,
    plain_pose,
    pose_from,
    whole_number,
)
from varichain.spatial.checks import finite_numbers, finite_scalar, name_string, shown
from varichain.spatial.pose import Pose
from varichain.spatial.report import Listing, Report, Reported

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

EDITS = ("connect", "cut", "cut tree", "couple", "uncouple")
MOST_ENTRIES = 10_000
"""The log forgets its oldest entries beyond this number: a mechanism may change for days."""


class Edit(NamedTuple):
    """One connection, coupling or cut, with all that is needed to do it again.

    Attributes:
        kind: "connect", or "cut" of a loop, or "cut tree" of a joint of the tree; "couple" or "uncouple".
        joint: Name of the joint, or of the coupling.
        a, b: Names of the link and of the other one; of a coupling, those of the joint that follows and of the leader.
        model: The joint; of a coupling, the one that follows.
        at, at_other: Joint frame in both links' frames, of a connection.
        impulse: [moment; force] (6,) [N m s, N s] on link a in world axes at the joint, of a connection in motion; of a
            coupling in motion (1,), on the joint that follows [N m s or N s].
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
            text = f"{self.kind} {self.joint!r}: {self.a} = {self.multiplier:.6g} {self.b} + {self.offset:.6g}"
            return text if self.impulse is None else f"{text}, impulse {self.impulse[0]:.4g}"
        text = f"{self.kind} {self.joint!r}: {self.a} - {self.b}, {self.model.kind}"
        if self.impulse is not None:
            moment, force = (sum(x * x for x in part) ** 0.5 for part in (self.impulse[:3], self.impulse[3:]))
            text += f", impulse {force:.4g} N s, {moment:.4g} N m s"
        return text

    def __repr__(self) -> str:
        """In words too."""
        return str(self)


class LogEntry(NamedTuple):
    """Edits of one instant.

    Attributes:
        time: Time of the state that was changed [s]; None for an edit of the structure alone.
        edits: What was done, in order.
        energy_lost: Energy that the change took [J]; None for an edit of the structure alone.
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

    def __repr__(self) -> str:
        """The same."""
        return str(self)


@dataclass(repr=False)
class StructureLog(Reported):
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

    def report(self) -> Report:
        """The entries, a row each."""
        rows = [
            (
                "" if entry.time is None else f"{entry.time:.4f} s",
                "; ".join(map(str, entry.edits)),
                "" if entry.energy_lost is None else f"{entry.energy_lost:.4g} J",
            )
            for entry in self._entries
        ]
        n = "1 entry" if self.n_written == 1 else f"{self.n_written} entries"
        return f"structure log: {n}", (Listing(("time", "edits", "energy lost"), rows),)

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
    """Entry as plain values for JSON and HDF5: time, energy, and per edit its names, joint, frames and impulse."""
    edits = [
        {
            "kind": edit.kind,
            "joint": edit.joint,
            "a": edit.a,
            "b": edit.b,
            "model": plain_joint(edit.model),
            "at": None if edit.at is None else plain_pose(edit.at),
            "at_other": None if edit.at_other is None else plain_pose(edit.at_other),
            "impulse": None if edit.impulse is None else list(edit.impulse),
            "multiplier": edit.multiplier,
            "offset": edit.offset,
        }
        for edit in entry.edits
    ]
    return {"number": entry.number, "time": entry.time, "energy_lost": entry.energy_lost, "edits": edits}


def entry_from(value: Any, place: str = "entry") -> LogEntry:
    """The entry that `as_dict` gave `value` for.

    Raises:
        InputError: Something is missing, unknown or wrong; the message names the place.
    """
    entries = entries_of(value, ("number", "time", "energy_lost", "edits"), place)
    with located(place):
        time, energy_lost = (
            None if entries[key] is None else finite_scalar(entries[key], key) for key in ("time", "energy_lost")
        )
    edits = tuple(list_from(entries["edits"], _edit_from, f"{place}.edits"))
    return LogEntry(time, edits, energy_lost, whole_number(entries["number"], f"{place}.number"))


def log_from(values: Any, renumber: bool = False) -> StructureLog:
    """A log with these entries, each as `as_dict` gives it; it can be replayed if none is missing.

    `renumber` makes a log of its own of the later part of one: it is replayed on the structure with which it begins.

    Raises:
        InputError: Something is missing, unknown or wrong, or the entries do not follow each other.
    """
    entries = list_from(values, entry_from, "log")
    for i, entry in enumerate(entries[1:], start=1):
        if entry.number != entries[i - 1].number + 1:
            raise InputError(f"log[{i}] must be entry {entries[i - 1].number + 1}, the next, not {entry.number}")
    if renumber:
        entries = [entry._replace(number=i) for i, entry in enumerate(entries)]
    n_written = entries[-1].number + 1 if entries else 0
    return StructureLog(deque(entries, maxlen=MOST_ENTRIES), n_written)


def _edit_from(value: Any, place: str) -> Edit:
    entries = entries_of(value, Edit._fields, place)
    if entries["kind"] not in EDITS:
        raise InputError(f"{place}.kind must be one of {', '.join(EDITS)}, not {shown(entries['kind'])}")
    with located(place):
        for key in ("joint", "a", "b"):
            name_string(entries[key], key)
        if entries["impulse"] is not None:
            size = 1 if entries["kind"] == "couple" else 6
            entries["impulse"] = finite_numbers(entries["impulse"], size, "impulse")
    entries["model"] = joint_from(entries["model"], f"{place}.model")
    for key in ("at", "at_other"):
        if entries[key] is not None:
            entries[key] = pose_from(entries[key], f"{place}.{key}")
    is_coupling = entries["kind"] in ("couple", "uncouple")
    for key in ("multiplier", "offset"):
        if (entries[key] is not None) != is_coupling:
            raise InputError(f"{place}.{key} must {'be' if is_coupling else 'not be'} given for {entries['kind']!r}")
        with located(place):
            entries[key] = finite_scalar(entries[key], key) if is_coupling else None
    return Edit(**entries)
