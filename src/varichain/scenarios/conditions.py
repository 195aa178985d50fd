"""Conditions of scenario files as functions of mechanism and state."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from varichain.dynamics import pose
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism

Condition = Callable[[Mechanism, State], float]

_ABSENT = -1.0  # as long as there is no such joint nothing happens


def joint_passes(name: str, threshold: float, sign: float) -> Condition:
    """Positive when a joint's coordinate is beyond a threshold, above it for sign 1, below for -1."""

    def beyond(m: Mechanism, s: State) -> float:
        if name not in s.joints:
            return _ABSENT
        q = s[name].q
        return sign * (float(q) - threshold) if np.ndim(q) == 0 else _ABSENT

    return beyond


def height_passes(name: str, threshold: float, sign: float) -> Condition:
    """Positive when the height of a link or frame is beyond a threshold."""

    def beyond(m: Mechanism, s: State) -> float:
        return sign * (float(pose(m, s, name).p[2]) - threshold)

    return beyond
