"""Events of a trace, as marks where and when they happened."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from varichain.scene.poses import frame_on, link_poses
from varichain.scene.scene import Scene
from varichain.trace import Epoch
from varichain.trace.text import event_name, event_text


@dataclass(frozen=True)
class Marker:
    """An event, to be marked where and when it happened.

    Attributes:
        time: When [s].
        kind: "cut", "connect" or "event".
        text: What happened, in words, such as "cut 'right grip'".
        event: The name that the user gave the event, such as "step 4"; else the text.
        joint: Name of the joint that was cut or made; None for other events.
        place: Where that joint was (3,) [m]; None if there is no joint.
    """

    time: float
    kind: str
    text: str
    event: str
    joint: str | None = None
    place: tuple[float, float, float] | None = None


def markers_of(epochs: Sequence[Epoch], scenes: Sequence[Scene]) -> tuple[Marker, ...]:
    """Markers of all events, in order."""
    return tuple(marker for k in range(len(epochs)) for marker in _markers(epochs, scenes, k))


def _markers(epochs: Sequence[Epoch], scenes: Sequence[Scene], k: int) -> list[Marker]:
    """Markers of the event that ended epoch k."""
    event = epochs[k].event
    if event is None:
        return []
    time = epochs[k].end
    edits = event.get("edits") or []
    name = event_name(event)
    found = []
    for edit in edits:
        verb, joint = str(edit["kind"]).split()[0], edit["joint"]
        kind = "cut" if verb in ("cut", "uncouple") else "connect"
        sides = (k, k + 1) if kind == "cut" else (k + 1, k)
        places = (_joint_place(epochs, scenes, side, joint, time) for side in sides)
        place = next((at for at in places if at is not None), None)
        text = f"{verb} {joint!r}"
        found.append(Marker(time, kind, text, name or text, joint, place))
    return found or [Marker(time, "event", event_text(event), name or event_text(event))]


def _joint_place(
    epochs: Sequence[Epoch], scenes: Sequence[Scene], k: int, joint: Any, time: float
) -> tuple[float, float, float] | None:
    """Where a joint is in an epoch at a time; None if it is not there."""
    if not 0 <= k < len(epochs):
        return None
    scene = scenes[k]
    mark = next((mark for mark in (*scene.loops, *scene.joints) if mark.name == joint), None)
    if mark is None:
        return None
    q = epochs[k]["q"][0 if time <= epochs[k].start else -1]
    x, y, z = frame_on(link_poses(scene.mechanism, q), mark.parent, mark.at)[0].tolist()
    return x, y, z
