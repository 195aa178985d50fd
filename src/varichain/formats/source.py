"""What a file said beyond the mechanism: notes on everything that was left out, repaired or assumed."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from varichain.spatial.pose import Pose


@dataclass(frozen=True)
class Note:
    """A remark on what became of a part of the file.

    Attributes:
        text: A sentence.
        line: Line of the file, if the remark is about one place.
    """

    text: str
    line: int | None = None

    def __str__(self) -> str:
        """The sentence, with its line."""
        return self.text if self.line is None else f"line {self.line}: {self.text}"


@dataclass
class Source:
    """Where a mechanism came from, as `m.source`; print it for the whole list of notes.

    Attributes:
        path: The file.
        format: "URDF", "SDF" or "MJCF".
        notes: What was left out, repaired or assumed; nothing is dropped without one.
        frames: Frames of the file's links in the links' frames of the mechanism, where the two differ, and its named
            frames and sites, as (link, pose).
        efforts: Largest force or torque of joints [N or N m].
        velocities: Largest velocity of joints [m/s or rad/s].
    """

    path: str
    format: str
    notes: list[Note] = field(default_factory=list)
    frames: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    efforts: dict[str, float] = field(default_factory=dict)
    velocities: dict[str, float] = field(default_factory=dict)
    _ignored: Counter[str] = field(default_factory=Counter, repr=False)

    def note(self, text: str, line: int | None = None) -> None:
        """Add a remark."""
        self.notes.append(Note(text, line))

    def ignore(self, what: str, n: int = 1) -> None:
        """Count something that is left out."""
        self._ignored[what] += n

    def close(self) -> None:
        """Turn the counts into notes."""
        self.notes += [Note(f"not represented: {what}, {n} times") for what, n in sorted(self._ignored.items())]
        self._ignored.clear()

    def __str__(self) -> str:
        """File and notes, one a line."""
        return "\n".join([f"{self.format} file {self.path}", *(f"  {note}" for note in self.notes)])
