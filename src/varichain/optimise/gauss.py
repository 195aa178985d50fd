"""Collocation at the three points of Gauss: order six, and lengths of quaternions are kept."""

from __future__ import annotations

import math

import numpy as np

_R = math.sqrt(15.0)

POINTS = np.array([0.5 - _R / 10.0, 0.5, 0.5 + _R / 10.0])
"""Places of the stages in an interval of length 1."""

WEIGHTS = np.array([5.0, 8.0, 5.0]) / 18.0

STAGES = np.array(
    [
        [5.0 / 36.0, 2.0 / 9.0 - _R / 15.0, 5.0 / 36.0 - _R / 30.0],
        [5.0 / 36.0 + _R / 24.0, 2.0 / 9.0, 5.0 / 36.0 - _R / 24.0],
        [5.0 / 36.0 + _R / 30.0, 2.0 / 9.0 + _R / 15.0, 5.0 / 36.0],
    ]
)

LINKS = np.vstack([STAGES, WEIGHTS])
"""Integrals (4, 3) from the start of an interval to each stage and to its end."""

MIDDLE = 1
"""The stage in the middle of the interval."""
