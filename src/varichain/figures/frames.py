"""Named frames of a person: where hands hold, feet stand, thighs sit, and where the head ends.

All are given in the frame of `landmarks`, for the person who stands upright.
"""

from __future__ import annotations

from math import pi
from typing import Final

from varichain.figures.landmarks import Point
from varichain.spatial.pose import Pose

GRIP: Final = 0.9
"""Where a rod crosses the hand: share of the way from the wrist to the third knuckle. The rod runs along y."""

SEAT: Final = 0.25
"""Where the weight of a sitting person rests: share of the way from hip to knee."""

_SITTING: Final = (0.0, 0.5 * pi, 0.0)


def head_top(points: dict[str, Point]) -> dict[str, Pose]:
    """The vertex."""
    return {"head top": Pose(p=points["vertex"])}


def grip(side: str, points: dict[str, Point]) -> dict[str, Pose]:
    """The middle of the closed hand."""
    return {f"{side} grip": Pose(p=points["wrist"] + GRIP * (points["knuckle"] - points["wrist"]))}


def foot_frames(side: str, points: dict[str, Point]) -> dict[str, Pose]:
    """Ends and middle of the foot, at the height of the floor."""
    (back, y, _), (front, _, _), floor = points["heel"], points["toe"], points["sole"][2]
    ends = {"heel": back, "sole": 0.5 * (back + front), "toe": front}
    return {f"{side} {name}": Pose(p=(x, y, floor)) for name, x in ends.items()}


def seat(side: str, points: dict[str, Point], radius: float) -> dict[str, Pose]:
    """Underside of the thigh, of the radius given: x towards the knee, z through the thigh, up when sitting."""
    p = points["hip"] + SEAT * (points["knee"] - points["hip"]) - (radius, 0.0, 0.0)
    return {f"{side} seat": Pose(p=p, rotation_vector=_SITTING)}
