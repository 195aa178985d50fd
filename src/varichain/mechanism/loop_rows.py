"""How a joint type says what it blocks and what it leaves free when it closes a loop."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError

if TYPE_CHECKING:
    from varichain.mechanism.joint import Joint

Row = tuple[str, int]
"""A direction of motion of frame A against frame B of a joint: a word and an axis, see `Joint.rows`."""


class LoopGeometry(NamedTuple):
    """What the rows of a joint that closes a loop look at.

    Attributes:
        axes: Rotation matrix (3, 3): axes 0, 1, 2 of the rows in the joint frame. Axis 2 is the joint's axis.
        second: Second axis of "crossed" and "cardan" rows, a unit vector (3,) in `axes`, fixed in frame A.
        pitch: Of "helical" rows [m/rad].
        length: Of "distance" rows, or at which a spring along the line is relaxed [m]; of a "turn", its angle [rad].
        is_slack: Whether a spring along the line only pulls.
        pull: Constant force along the line [N].
        function: Force along the line [N] as a function of the line's length [m] and its rate [m/s].
    """

    axes: NDArray[np.float64]
    second: tuple[float, float, float] = (0.0, 0.0, 0.0)
    pitch: float = 0.0
    length: float = 0.0
    is_slack: bool = False
    pull: float = 0.0
    function: Callable[[float, float], float] | None = None


ROW_WORDS = ("linear", "angular", "slid", "helical", "crossed", "distance")
FREEDOM_WORDS = ("linear", "angular", "slid", "turned", "carried", "cardan", "across")


def check_rows(kind: type[Joint]) -> None:
    """Refuse rows and freedoms that do not make up the six directions of motion."""
    if kind.rows is None:
        return
    for what, given, words in (("row", kind.rows, ROW_WORDS), ("freedom", kind.freedoms, FREEDOM_WORDS)):
        for word, axis in given:
            if word not in words or axis not in (0, 1, 2):
                raise InputError(
                    f"a {what} of {kind.__name__} must be a word and an axis 0, 1 or 2, not ({word!r}, {axis!r}); "
                    f"words: {', '.join(words)}"
                )
    if len(kind.freedoms) != kind.n_v or len(kind.rows) != 6 - kind.n_v:
        raise InputError(
            f"{kind.__name__} has n_v = {kind.n_v}, so it needs {kind.n_v} freedoms and {6 - kind.n_v} rows; found "
            f"{len(kind.freedoms)} and {len(kind.rows)}"
        )
