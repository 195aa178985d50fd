"""Biovision's hierarchy files (.bvh): a tree of joints with their channels, then a line of numbers for every frame.

Angles are degrees, and turn in the order of the channels. Positions of a joint take the place of its OFFSET, as Blender
reads them.
"""

from __future__ import annotations

import math
import os
import warnings
from dataclasses import dataclass, field

import numpy as np

from varichain.errors import FormatError, quoted
from varichain.recordings.recording import Recording, Segment
from varichain.spatial.arrays import Array

_MOST_SEGMENTS = 10_000
_LONGEST_NAME = 200
_KINDS = {f"{axis}{kind}" for axis in "XYZ" for kind in ("position", "rotation")}


@dataclass
class _Joint:
    """A joint while it is read."""

    name: str
    parent: int
    line: int
    offset: tuple[float, ...] | None = None
    channels: list[str] = field(default_factory=list)
    is_end: bool = False


class _Lines:
    """Lines of a text that are not blank, one after the other, with their numbers."""

    def __init__(self, text: str, path: str) -> None:
        self._text, self._path = text, path
        self._next, self.number = 0, 0

    def take(self, what: str) -> list[str]:
        """Words of the next line; braces are words of their own."""
        while self._next < len(self._text):
            end = self._text.find("\n", self._next)
            end = len(self._text) if end < 0 else end
            line, self._next = self._text[self._next : end], end + 1
            self.number += 1
            words = line.replace("{", " { ").replace("}", " } ").split()
            if words:
                return words
        raise self.fault(f"the file ends where {what} should be")

    def rest(self) -> str:
        """All that is left."""
        return self._text[self._next :]

    def fault(self, message: str) -> FormatError:
        """An error about the line that was taken last."""
        return FormatError(message, self._path, self.number)


def recording_of(text: str, path: str, unit: float, upright: Array) -> Recording:
    """Recording of a text; `unit` is that of its lengths [m].

    Raises:
        FormatError: The text is no BVH, or does not have what it promises.
    """
    lines = _Lines(text, path)
    if lines.take("HIERARCHY") != ["HIERARCHY"]:
        raise lines.fault("a BVH file begins with HIERARCHY")
    segments, kinds = _segments(_hierarchy(lines), unit, lines)
    n_frames = _count(lines, "Frames:")
    frame_time = _numbers(lines, _after(lines, "Frame Time:"), 1)[0]
    if not 0.0 < frame_time <= 1e6:
        raise lines.fault(f"Frame Time must be positive, not {frame_time:g}")
    channels = _motion(lines, n_frames, len(kinds))
    is_angle = np.array([kind.endswith("rotation") for kind in kinds])
    channels *= np.where(is_angle, math.pi / 180.0, unit)
    times: Array = frame_time * np.arange(n_frames, dtype=np.float64)
    return Recording(os.path.basename(path), times, tuple(segments), channels, upright)


def _hierarchy(lines: _Lines) -> list[_Joint]:
    """Joints and ends in the order of the file, up to MOTION; roots have no parent."""
    joints: list[_Joint] = []
    waiting: list[str] = []  # words of a line that have not been looked at
    open_joints: list[int] = []
    while True:
        words = waiting or lines.take("a joint, or MOTION")
        waiting = []
        word = words[0]
        if word == "}":
            if not open_joints:
                raise lines.fault("a brace is closed that was not opened")
            _require_offset(joints[open_joints.pop()], lines)
            waiting = words[1:]
        elif word in ("ROOT", "JOINT", "End"):
            waiting = _begin(lines, words, joints, open_joints)
        elif word == "OFFSET" and open_joints:
            joints[open_joints[-1]].offset = _numbers(lines, words[1:4], 3)
            waiting = words[4:]
        elif word == "CHANNELS" and open_joints and not joints[open_joints[-1]].is_end:
            waiting = _channels(lines, words[1:], joints[open_joints[-1]])
        elif word == "MOTION" and len(words) == 1 and not open_joints and joints:
            return joints
        else:
            raise lines.fault(f"expected a joint with its OFFSET and CHANNELS, or MOTION after all, not {quoted(word)}")


def _begin(lines: _Lines, words: list[str], joints: list[_Joint], open_joints: list[int]) -> list[str]:
    """Begin a joint, whose brace may be on its own line; returns the words after the brace."""
    is_end = words[0] == "End"
    if (words[0] == "ROOT") == bool(open_joints):
        raise lines.fault("a ROOT stands outside of all braces, JOINT and End Site inside those of a joint")
    if open_joints and joints[open_joints[-1]].is_end:
        raise lines.fault("an End Site carries nothing")
    if len(joints) == _MOST_SEGMENTS:
        raise lines.fault(f"a recording has at most {_MOST_SEGMENTS} joints")
    cut = words.index("{") if "{" in words else len(words)
    name, line = " ".join(words[1:cut]), lines.number
    if is_end:
        name = f"{joints[open_joints[-1]].name} end"
    if not name or len(name) > _LONGEST_NAME:
        raise lines.fault(f"a joint has a name of 1 to {_LONGEST_NAME} characters")
    left = words[cut:] or lines.take("an opening brace")
    if left[0] != "{":
        raise lines.fault(f"expected an opening brace after {quoted(name)}, not {quoted(left[0])}")
    joints.append(_Joint(name, open_joints[-1] if open_joints else -1, line, is_end=is_end))
    open_joints.append(len(joints) - 1)
    return left[1:]


def _channels(lines: _Lines, words: list[str], joint: _Joint) -> list[str]:
    """Take the channels of a joint; returns the words after them."""
    n = int(words[0]) if words and words[0].isdecimal() and len(words[0]) < 3 else -1
    found = words[1 : 1 + n]
    if n < 0 or len(found) < n or len(set(found)) < n or not set(found) <= _KINDS or joint.channels:
        raise lines.fault(
            f"CHANNELS of {quoted(joint.name)} must be their number, 0 to 6, and as many of "
            f"{', '.join(sorted(_KINDS))}, each once"
        )
    joint.channels = found
    return words[1 + n :]


def _require_offset(joint: _Joint, lines: _Lines) -> None:
    if joint.offset is None:
        raise FormatError(f"{quoted(joint.name)} has no OFFSET", lines._path, joint.line)


def _segments(joints: list[_Joint], unit: float, lines: _Lines) -> tuple[list[Segment], list[str]]:
    """Segments of joints, and the kinds of all channels in the order of their columns."""
    found: list[Segment] = []
    kinds: list[str] = []
    names: set[str] = set()
    for joint in joints:
        if joint.name in names:
            raise FormatError(f"two joints are called {quoted(joint.name)}", lines._path, joint.line)
        names.add(joint.name)
        places = [(kind[0], len(kinds) + i, kind[1:]) for i, kind in enumerate(joint.channels)]
        turns = tuple((axis, column) for axis, column, kind in places if kind == "rotation")
        shifts = tuple((axis, column) for axis, column, kind in places if kind == "position")
        found.append(Segment(joint.name, joint.parent, unit * np.array(joint.offset), turns, shifts))
        kinds += joint.channels
    if not kinds:
        raise lines.fault("no joint has CHANNELS: nothing can move")
    return found, kinds


def _after(lines: _Lines, key: str) -> list[str]:
    """Words of the next line after its key."""
    words, begins = lines.take(key), key.split()
    if words[: len(begins)] != begins:
        raise lines.fault(f"expected {key}, not {quoted(' '.join(words)[:40])}")
    return words[len(begins) :]


def _count(lines: _Lines, key: str) -> int:
    words = _after(lines, key)
    if len(words) != 1 or not words[0].isdecimal() or len(words[0]) > 9 or int(words[0]) == 0:
        raise lines.fault(f"{key} must be followed by a whole number from 1 to 999999999")
    return int(words[0])


def _numbers(lines: _Lines, words: list[str], n: int) -> tuple[float, ...]:
    """Finite numbers, as many as there must be."""
    try:
        found = tuple(float(word) for word in words if len(word) < 100)
    except ValueError:
        found = ()
    if len(found) != n or len(words) != n or not all(map(math.isfinite, found)):
        raise lines.fault(f"expected {n} finite number{'s' * (n > 1)}, not {quoted(' '.join(words)[:40])}")
    return found


def _motion(lines: _Lines, n_frames: int, n_channels: int) -> Array:
    """Numbers of all frames (frames, channels)."""
    text = lines.rest()
    # at least a digit and a blank each: what cannot be there is not made room for
    if 2 * n_frames * n_channels > len(text) + 1:
        raise lines.fault(f"{n_frames} frames of {n_channels} numbers are promised, and there are fewer")
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")  # older NumPy only warns of words that are no numbers
            found = np.fromstring(text, sep=" ")
    except (ValueError, DeprecationWarning):
        raise lines.fault("the frames after this line have words that are no numbers") from None
    if len(found) != n_frames * n_channels:
        raise lines.fault(
            f"{n_frames} frames of {n_channels} numbers are promised, {n_frames * n_channels} in all, and "
            f"{len(found)} are there"
        )
    if not np.isfinite(found).all():
        frame = int(np.argmin(np.isfinite(found))) // n_channels
        raise lines.fault(f"frame {frame} has a number that is not finite")
    return found.reshape(n_frames, n_channels)
