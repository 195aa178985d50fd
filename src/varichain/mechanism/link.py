"""Links: the nodes of a mechanism, tied by four pointers."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any, NoReturn

from varichain.mechanism.inertia import Inertia
from varichain.mechanism.joint import Joint
from varichain.mechanism.shapes import Shape
from varichain.spatial.pose import Pose

_SAME_FRAME = Pose()


class _Journal(threading.local):
    """Old values of what is being edited in this thread, while somebody may want them back; None if nobody does."""

    edits: list[tuple[Link, str, Any]] | None = None


journal = _Journal()


class Link:
    """A link of a mechanism. Read-only: mechanisms make and edit links.

    `parent`, `child` and `brother` span the tree; a virtual link is a massless copy of its `real` link that hangs
    elsewhere in the tree and so closes a loop [NY].

    Attributes:
        id: Number of the link in its mechanism; 0 is ground; stable and never reused.
        name: Name, unique among the links of the mechanism.
        parent: The link that this one hangs on; None for ground.
        child: The first link that hangs on this one, or None.
        brother: The next link that hangs on the same parent, or None.
        real: The link that this virtual one must coincide with; None for real links.
        on_real: Of a virtual link: the pose in the real link's frame that its own frame must coincide with.
        joint: The joint between parent and link; None for ground.
        at: Pose of the joint frame in the parent's frame. The link's frame is the joint frame moved by the joint.
        inertia: Inertia in the link's frame.
        shapes: What the link looks like.
    """

    id: int
    name: str
    parent: Link | None = None
    child: Link | None = None
    brother: Link | None = None
    real: Link | None
    on_real: Pose
    joint: Joint | None
    at: Pose
    inertia: Inertia
    shapes: tuple[Shape, ...]
    _spec: Any = None  # kept here by the layout package until the link is edited
    _plain: Any = None  # kept here by `describe`
    _last_child: Link | None = None  # appending to a long list of children takes one step

    def __init__(
        self,
        id: int,
        name: str,
        joint: Joint | None,
        at: Pose,
        inertia: Inertia,
        shapes: tuple[Shape, ...] = (),
        real: Link | None = None,
        on_real: Pose = _SAME_FRAME,
    ) -> None:
        """Make a link that hangs nowhere yet."""
        self.__dict__.update(  # a new link has no old values for the journal
            id=id, name=name, joint=joint, at=at, inertia=inertia, shapes=shapes, real=real, on_real=on_real
        )

    @property
    def is_ground(self) -> bool:
        """Whether this is the ground, the root of the tree."""
        return self.id == 0

    @property
    def is_virtual(self) -> bool:
        """Whether this is the massless copy of another link."""
        return self.real is not None

    @property
    def children(self) -> Iterator[Link]:
        """The links that hang on this one, oldest first, virtual ones included."""
        link = self.child
        while link is not None:
            yield link
            link = link.brother

    @property
    def ancestors(self) -> Iterator[Link]:
        """Parent, parent's parent, ... up to ground."""
        link = self.parent
        while link is not None:
            yield link
            link = link.parent

    def __repr__(self) -> str:
        """Kind, name and id."""
        return f"<{'virtual link' if self.is_virtual else 'Link'} {self.name!r}, id {self.id}>"

    def __setattr__(self, name: str, value: object) -> NoReturn:
        """Refuse: an edit behind the mechanism's back would leave its revision and its layout stale."""
        raise AttributeError(
            f"cannot set {name!r} of link {self.name!r}: edit the mechanism (add_link, set_inertia, edit_joint, ...)"
        )

    def _edit(self, **attributes: Any) -> None:
        """Set attributes; for the mechanism package only."""
        for name, value in attributes.items():
            self._set(name, value)

    def _set(self, name: str, value: object) -> None:
        """Set one attribute; the journal gets the old value."""
        edits = journal.edits
        if edits is not None:
            edits.append((self, name, getattr(self, name)))
        self.__dict__[name] = value

    def _append_child(self, link: Link) -> None:
        """Hang `link`, which hangs nowhere, on this one, after the others."""
        link._set("parent", self)
        last = self._last_child
        if last is None:
            self._set("child", link)
        else:
            last._set("brother", link)
        self._set("_last_child", link)

    def _remove_child(self, link: Link) -> None:
        """Take `link` off this one; its brothers close ranks."""
        before, child = None, self.child
        while child is not None and child is not link:
            before, child = child, child.brother
        if before is None:
            self._set("child", link.brother)
        else:
            before._set("brother", link.brother)
        if self._last_child is link:
            self._set("_last_child", before)
        link._set("parent", None)
        link._set("brother", None)
