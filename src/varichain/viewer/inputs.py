"""What a browser may send: messages of a few kinds, with numbers, names and values that fit the controls."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import msgspec

LARGEST = 1e9  # of the numbers in a message, which are places [m], pixels and values of controls
LONGEST = 1000  # characters of a string
_DEEPEST, _MOST = 6, 64  # nesting, and entries of a list
_KINDS = (
    "GuiUpdateMessage",
    "ViewerCameraMessage",
    "ScenePointerMessage",
    "SceneNodeClickMessage",
    "TransformControlsUpdateMessage",
    "TransformControlsDragStartMessage",
    "TransformControlsDragEndMessage",
    "CommandTriggerMessage",
    "GetRenderResponseMessage",
)
LARGEST_RENDER = 4096  # bytes: a render is of one pixel, and tells that a browser has drawn


class Inputs:
    """Decides which messages of browsers reach the viewer; the rest is dropped.

    Attributes:
        control, command: Control or command of the keyboard by its id; None if there is none.
    """

    def __init__(self) -> None:
        """Accept nothing that changes a control until `control` is set."""
        from viser import _messages

        self._kinds = {kind: getattr(_messages, kind) for kind in _KINDS}
        self.control: Callable[[str], Any] = lambda uuid: None
        self.command: Callable[[str], Any] = lambda uuid: None

    def is_accepted(self, raw: str | bytes) -> bool:
        """Whether a message is one of the kinds above, has sound numbers, and fits the control that it writes."""
        if not isinstance(raw, bytes):
            return False
        try:
            content = msgspec.msgpack.decode(raw)
            if not isinstance(content, dict) or not _is_sound({k: x for k, x in content.items() if k != "payload"}):
                return False
            kind = content.pop("type", None)
            message = msgspec.convert(content, self._kinds[kind])
        except (msgspec.MsgspecError, ValueError, KeyError, TypeError, RecursionError):
            return False
        if kind == "GetRenderResponseMessage":
            return len(message.payload) <= LARGEST_RENDER
        if kind == "CommandTriggerMessage":
            return self.command(message.uuid) is not None
        return kind != "GuiUpdateMessage" or self._is_writable(message.uuid, message.updates)

    def _is_writable(self, uuid: str, updates: dict[str, Any]) -> bool:
        control = self.control(uuid)
        if control is None or [*updates] != ["value"]:
            return False
        state = control._impl
        if state.props.disabled or not state.props.visible:
            return False
        if is_fitting(state.value, updates["value"], state.props):
            return True
        control._queue_update("value", state.value)  # the page shows what it has typed: set it back
        return False


def is_fitting(now: Any, value: Any, props: Any) -> bool:
    """Whether a control whose value is `now` can have a value: of the same kind, among its options, in its range."""
    options = getattr(props, "options", None)
    if options is not None:
        return value in options
    if isinstance(now, bool) or isinstance(value, bool):
        return isinstance(now, bool) and isinstance(value, bool)
    if isinstance(now, str):
        return isinstance(value, str)
    low, high = getattr(props, "min", None), getattr(props, "max", None)
    if isinstance(now, tuple):
        if not isinstance(value, list | tuple) or len(value) != len(now):
            return False
        lows, highs = (end if isinstance(end, tuple) else (end,) * len(now) for end in (low, high))
        return all(map(_is_within, value, lows, highs))
    return isinstance(now, int | float) and _is_within(value, low, high)


def _is_within(value: Any, low: float | None, high: float | None) -> bool:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return is_number and (low is None or value >= low) and (high is None or value <= high)


def _is_sound(value: Any, depth: int = 0) -> bool:
    """Whether all numbers are finite and bounded, strings and lists short, and nesting shallow."""
    if isinstance(value, bool) or value is None:
        return True
    if isinstance(value, int | float):
        return math.isfinite(value) and abs(value) <= LARGEST
    if isinstance(value, str):
        return len(value) <= LONGEST
    if depth >= _DEEPEST or not isinstance(value, dict | list) or len(value) > _MOST:
        return False
    entries = [*value, *value.values()] if isinstance(value, dict) else value
    return all(_is_sound(entry, depth + 1) for entry in entries)
