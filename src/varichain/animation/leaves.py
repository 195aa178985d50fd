"""Leaves of functions: what of a configuration they read, by names of links, frames and joints."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.animation.nodes import Node
from varichain.errors import UnknownNameError
from varichain.mechanism.frames import Frame
from varichain.mechanism.link import Link
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import name_string
from varichain.spatial.pose import Pose

GROUND = "ground"


@dataclass(frozen=True)
class Place:
    """Frame on a link, by names: `at` in the frame of a link, or in a named frame."""

    name: str
    p: tuple[float, ...] = (0.0, 0.0, 0.0)
    R: tuple[float, ...] = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)

    @classmethod
    def of(cls, carrier: str | Link | Frame, at: Any = None, what: str = "link") -> Place:
        """The place that is meant by a link, a named frame or a `Frame`, and `at` in it."""
        pose = Pose() if at is None else Pose.coerce(at, "at")
        if isinstance(carrier, Frame):
            name, pose = carrier.link, carrier.at @ pose
        else:
            name = carrier.name if isinstance(carrier, Link) else name_string(carrier, what)
        return cls(name, tuple(pose.p.tolist()), tuple(pose.R.ravel().tolist()))

    def on_link(self, m: Mechanism) -> tuple[str, Pose]:
        """Link that carries the place in a mechanism as it is now, and the frame in it."""
        pose = Pose._trusted(np.array(self.p), np.array(self.R).reshape(3, 3))
        if self.name in m.frames:
            frame = m.frames[self.name]
            return frame.link, frame.at @ pose
        if self.name not in m._rows:
            raise UnknownNameError("link or frame", self.name, [*m._rows, *m.frames])
        return self.name, pose


@dataclass(frozen=True)
class Leaf:
    """Something that functions read from a configuration; equal leaves are computed once."""

    is_rate = False

    def node(self, component: int = 0) -> Node:
        """One of its numbers as a node."""
        return Node("leaf", leaf=self, component=component)

    def nodes(self, n: int) -> list[Node]:
        """Its first n numbers."""
        return [self.node(i) for i in range(n)]


@dataclass(frozen=True)
class Points(Leaf):
    """Weighted sum of points (3,) [m], world axes."""

    places: tuple[Place, ...]
    weights: tuple[float, ...]


@dataclass(frozen=True)
class Direction(Leaf):
    """Unit vector (3,), world axes, that a frame carries."""

    place: Place
    axis: tuple[float, float, float]


@dataclass(frozen=True)
class Center(Leaf):
    """Centre of mass (3,) [m] of all that moves, or of some links."""

    links: tuple[str, ...] | None


@dataclass(frozen=True)
class Quaternion(Leaf):
    """Quaternion (4,) of a frame seen from another one, w >= 0."""

    place: Place
    seen_from: Place


@dataclass(frozen=True)
class Coordinate(Leaf):
    """One coordinate of a joint; `label` is None for joints of one freedom."""

    joint: str
    label: str | None


@dataclass(frozen=True)
class Given(Leaf):
    """Number that time alone changes: a curve, called as curve(t), curve(t, 1), curve(t, 2); None is the time."""

    curve: Callable[..., Any] | None


@dataclass(frozen=True)
class Turning(Leaf):
    """Angular velocity (3,) [rad/s] of a link against another one, world axes: a rate without a position."""

    place: Place
    seen_from: Place
    is_rate = True


@dataclass(frozen=True)
class Spinning(Leaf):
    """Angular momentum (3,) [kg m^2/s] about the centre of mass: a rate without a position."""

    is_rate = True


@dataclass(frozen=True)
class Pushing(Leaf):
    """Momentum (3,) [kg m/s]: the mass times the rate of the centre of mass, as a rate."""

    is_rate = True
