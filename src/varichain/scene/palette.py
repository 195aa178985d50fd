"""The colours of all pictures, in one place: viewer, replays, films, animation files and plots.

Colours are (red, green, blue, alpha), each from 0 to 1. The set is distinct to people who see no difference between
red and green too: after Okabe and Ito, less saturated on large surfaces.
"""

from __future__ import annotations

RGBA = tuple[float, float, float, float]


def _rgba(text: str, alpha: float = 1.0) -> RGBA:
    red, green, blue = (int(text[i : i + 2], 16) / 255.0 for i in (1, 3, 5))
    return red, green, blue, alpha


LINK = _rgba("#8fb0cc")
"""A real link whose shape has no colour of its own."""
IN_LOOPS = _rgba("#e8a33d")
"""A link that has a virtual copy: it is tied into a loop."""
VIRTUAL = _rgba("#b07cc6", 0.45)
"""The virtual copy itself."""
JOINT = _rgba("#4a5560")
"""A joint of the tree."""
LOOP = _rgba("#0f8a5f")
"""A joint that closes a loop."""
CUT = _rgba("#d1342b")
"""The place and the moment of a cut."""
CONNECT = _rgba("#0f8a5f")
"""The place and the moment of a connection."""
EVENT = _rgba("#6b7280")
"""The moment of another event."""
ELEMENT = _rgba("#7a5c9e")
"""A force element along a line, such as a spring."""
FORCE = _rgba("#c8541a")
"""An arrow that shows a force."""
STICKS = _rgba("#1f9e9e", 0.28)
"""The friction cone of a contact that sticks."""
SLIPS = _rgba("#b0307f", 0.28)
"""The friction cone of a contact that slips."""
TRAIL = _rgba("#3f6fb5")
"""The path of a point."""
TARGET = _rgba("#d6246e")
"""Where a tracked point shall be."""
TRACKED = _rgba("#1b4f9c")
"""A tracked point."""
GROUND = _rgba("#e9ecef")
"""The ground."""
SURFACE = _rgba("#d5d9dd")
"""A ramp or a wall: a half-space that is no level floor."""
FOOTPRINT = _rgba("#8b7a66")
"""A footprint that the ground has kept."""
GRID = _rgba("#c3c9d0")
"""Lines on the ground and in plots."""
BACKGROUND = _rgba("#ffffff")
"""What is behind all."""
TEXT = _rgba("#1f2933")
"""Letters."""
SERIES = tuple(
    _rgba(text)
    for text in ("#2f6db0", "#d1782b", "#0f8a5f", "#b0508f", "#6a5acd", "#8a6d3b", "#2a9d9d", "#c0392b", "#5b6770")
)
"""Lines of a plot, in the order in which they are taken."""


def hex_color(color: RGBA) -> str:
    """The colour as "#rrggbb", without its alpha."""
    return "#" + "".join(f"{round(255 * part):02x}" for part in color[:3])


def bytes_of(color: RGBA) -> tuple[int, int, int]:
    """Red, green and blue from 0 to 255."""
    red, green, blue = (round(255 * part) for part in color[:3])
    return red, green, blue
