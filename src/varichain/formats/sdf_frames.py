"""Frames of an SDF model: every link, joint and frame has a pose relative to some other one."""

from __future__ import annotations

import math
from collections.abc import Callable

from varichain.formats.description import WORLD
from varichain.formats.xml import Element
from varichain.spatial.pose import Pose

MODEL = "__model__"
Within = Callable[[Element], Pose]
"""Pose of an element in the link that carries it."""

_SAME = Pose()
_SHOWN = 20  # frames of a circle
_SIX = "0 0 0 0 0 0"


class Frames:
    """Poses of the frames of one model in the world, in the zero configuration, each worked out when it is asked for.

    Attributes:
        X_WM: Pose of the model's own frame.
    """

    def __init__(self, model: Element, X_WM: Pose) -> None:
        """Take the model's frame; others are added one by one."""
        self.X_WM = X_WM
        self._model = model
        self._known: dict[str, Pose] = {MODEL: X_WM, "world": _SAME}
        self._relative: dict[str, tuple[Element, str, Pose]] = {}
        self._attached: dict[str, str] = {"world": WORLD}

    def add(self, element: Element, name: str, default: str, attached: str | None = None) -> None:
        """Enter an element's frame: its <pose>, relative to what it says or to `default`; attached to a link."""
        if name in self._relative or name in self._known:
            raise element.error(f"a second frame is called {name!r}")
        self._relative[name] = (element, relative_to(element) or default, pose_of(element))
        if attached is not None:
            self._attached[name] = attached

    def joint_key(self, name: str) -> str:
        """Name of a joint's frame; old files may call a joint like a link, and then its frame has no name."""
        return f"joint {name}" if self._attached.get(name) == name else name

    def place(self, name: str, X_W: Pose, link: str) -> None:
        """Enter a frame of a nested model, whose pose is known."""
        self._known[name] = X_W
        self._attached[name] = link

    def pose(self, name: str, asked_by: Element) -> Pose:
        """Pose in the world."""
        chain: dict[str, None] = {}  # in order, and quickly searched: a file may have thousands
        while name not in self._known:
            if name not in self._relative:
                raise asked_by.error(f"names frame {name!r}, which does not exist")
            if name in chain:
                circle = [*[*chain][-_SHOWN:], name]
                raise asked_by.error(f"frames are relative to each other in a circle: {' -> '.join(circle)}")
            chain[name] = None
            name = self._relative[name][1]
        X = self._known[name]
        for frame in reversed(chain):
            X = X @ self._relative[frame][2]
            self._known[frame] = X
        return X

    def within(self, link: str, element: Element) -> Pose:
        """Pose in a link of what it carries: its <pose>, relative to the link or to the frame that it names."""
        frame = relative_to(element)
        if frame in ("", link):
            return pose_of(element)
        return self.pose(link, element).inverse() @ self.pose(frame, element) @ pose_of(element)

    def link(self, name: str, asked_by: Element) -> str:
        """The link that a frame is attached to, WORLD for the world."""
        seen: set[str] = set()
        while name in self._attached and self._attached[name] not in (name, WORLD) and name not in seen:
            seen.add(name)
            name = self._attached[name]
        link = self._attached.get(name)
        if link not in (name, WORLD):
            raise asked_by.error(f"names {name!r}, which is no link and not attached to one")
        for frame in seen:  # the next question of one of these is answered at once
            self._attached[frame] = link
        return link


def relative_to(element: Element) -> str:
    """Frame that an element's <pose> is relative to, empty if it does not say."""
    pose = element.get("pose")
    if pose is None:
        return ""
    return (pose.attributes.get("relative_to") or pose.attributes.get("frame") or "").strip()


def pose_of(element: Element) -> Pose:
    """An element's <pose>: x y z roll pitch yaw, or a quaternion; the identity if it has none."""
    pose = element.get("pose")
    if pose is None or not pose.text.strip():
        return _SAME
    if pose.attributes.get("rotation_format", "euler_rpy") == "quat_xyzw":
        *p, x, y, z, w = pose.numbers(7)
        if not any((x, y, z, w)):
            raise pose.error("has a quaternion of length zero")
        return Pose(p, quaternion=(w, x, y, z))
    numbers = pose.numbers(6)
    rpy = numbers[3:]
    if pose.attributes.get("degrees", "").strip() in ("true", "1"):
        rpy = tuple(math.radians(angle) for angle in rpy)
    return Pose(numbers[:3], rpy=rpy)
