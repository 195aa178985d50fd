"""Named frames on links: places where a mechanism is grasped, supported or looked at."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.errors import DuplicateNameError, StructureError, UnknownNameError
from varichain.mechanism.link import Link
from varichain.spatial.checks import name_string
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.mechanism.mechanism import Mechanism

Place = Pose | Sequence[float] | NDArray[np.float64]


class Frame(NamedTuple):
    """A frame on a link; as a pair it fits `vc.velocity(m, s, *frame)` and similar functions.

    Attributes:
        link: Name of the link.
        at: Pose of the frame in the link's frame.
    """

    link: str
    at: Pose


def new_frame(m: Mechanism, name: str, link: str | Link, at: Place) -> Frame:
    """A frame whose name is not taken; frames and links share their names, as both can be ends of a connection."""
    if name_string(name, "name of the frame") in m._frames:
        raise DuplicateNameError("frame", name)
    if name in m._by_name:
        raise DuplicateNameError("link", name)
    carrier = m.link(link)
    if carrier.is_virtual:
        raise StructureError(f"{carrier!r} is a copy and carries nothing; name its real link {carrier.real!r}")
    return Frame(carrier.name, Pose.coerce(at, "at"))


def end_of(m: Mechanism, end: str | Link | Frame, at: Pose | None) -> tuple[Link, Pose | None]:
    """Link and joint frame of one end of a connection: of a link as they are, of a frame on it `at` in that frame."""
    if isinstance(end, str):
        link = m._by_name.get(end)
        if link is not None:
            return link, at
        if end not in m._frames:
            raise UnknownNameError("link or frame" if m._frames else "link", end, [*m._by_name, *m._frames])
        end = m._frames[end]
    if not isinstance(end, Frame):
        return m.link(end), at
    return m.link(end.link), end.at if at is None else end.at @ at
