"""A robot as files describe it: links with frames of their own, joints between any two of them, in any graph."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from varichain.errors import FormatError, VarichainError
from varichain.formats.contacts import ContactEntries
from varichain.formats.source import Source
from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.shapes import Shape
from varichain.spatial.pose import Pose

WORLD = "\0world"
"""The ground, by a name that no link of a file can have."""

_SAME = Pose()


@dataclass(eq=False)
class LinkEntry:
    """A link of a file: its name, inertia and shapes in its own frame, and its line."""

    name: str
    inertia: Inertia
    line: int | None = None
    shapes: list[Shape] = field(default_factory=list)


@dataclass(eq=False)
class JointEntry:
    """A joint of a file.

    Attributes:
        model: The joint, named; its axes are in the joint frame.
        parent, child: Names of links, or WORLD.
        on_parent, on_child: Joint frame in the frames of the two links, in the zero configuration one frame.
        closes: Whether it must close a loop; otherwise it does if the tree is spanned without it.
    """

    model: Joint
    parent: str
    child: str
    on_parent: Pose = _SAME
    on_child: Pose = _SAME
    line: int | None = None
    closes: bool = False


@dataclass(eq=False)
class MimicEntry:
    """A joint of a file that follows another."""

    joint: str
    to: str
    multiplier: float
    offset: float
    line: int | None = None
    name: str | None = None


@dataclass(eq=False)
class Gearbox:
    """A gearbox of an SDF file: ratio of two links' rotations against a reference body, each about a world axis."""

    name: str
    parent: str
    child: str
    body: str
    ratio: float
    axis: NDArray[np.float64]
    axis2: NDArray[np.float64]
    line: int | None = None


@dataclass(eq=False)
class Description:
    """All of a file that becomes a mechanism.

    Attributes:
        file_frames: Named frames of the file, each in the frame of a link.
        at: Of links that float, or stand in the world: their pose at the start.
        fixed: Links that stand in the world.
        is_tree: Whether the format allows trees alone, but for joints that say they close a loop.
        strict: Whether faults of the file are refused; otherwise some are repaired.
        improper: Link, line and fault of every inertia that no body has, where none may be repaired.
        contacts: Surfaces and contact shapes, if they are wanted.
    """

    name: str
    source: Source
    links: dict[str, LinkEntry] = field(default_factory=dict)
    joints: dict[str, JointEntry] = field(default_factory=dict)
    mimics: list[MimicEntry] = field(default_factory=list)
    gearboxes: list[Gearbox] = field(default_factory=list)
    file_frames: dict[str, tuple[str, Pose]] = field(default_factory=dict)
    at: dict[str, Pose] = field(default_factory=dict)
    fixed: set[str] = field(default_factory=set)
    gravity: tuple[float, float, float] = (0.0, 0.0, -9.81)
    rank_tolerance: float | None = None
    is_tree: bool = False
    strict: bool = True
    improper: list[tuple[str, int | None, str]] = field(default_factory=list)
    contacts: ContactEntries | None = None

    def error(self, message: str, line: int | None = None) -> FormatError:
        """An error that points into the file."""
        return FormatError(message, self.source.path, line)

    def add_link(self, link: LinkEntry) -> None:
        """Enter a link, whose name must be new."""
        if link.name in self.links:
            raise self.error(
                f"a second link is called {link.name!r}, the first is in line {self.links[link.name].line}", link.line
            )
        self.links[link.name] = link

    def add_joint(self, joint: JointEntry) -> None:
        """Enter a joint, whose name must be new."""
        name = str(joint.model.name)
        if name in self.joints:
            raise self.error(
                f"a second joint is called {name!r}, the first is in line {self.joints[name].line}", joint.line
            )
        self.joints[name] = joint

    @contextmanager
    def located(self, line: int | None) -> Iterator[None]:
        """Turn any error of the house into one that names file and line."""
        try:
            yield
        except FormatError:
            raise
        except VarichainError as error:
            raise FormatError(str(error), self.source.path, line) from error
