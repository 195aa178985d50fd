"""Labels that do not lie over each other."""

from __future__ import annotations

import numpy as np

from varichain.spatial.arrays import Array

_STEPS = tuple(sign * k for k in range(30) for sign in (1, -1))  # lines up and down to be tried, near ones first


def spread(places: Array, widths: Array, height: float, top: float) -> Array:
    """Places (n, 2) [pixels] of labels, moved up or down by whole lines so that none lies over one before it.

    Args:
        places: Left ends (n, 2) of labels [pixels], where they should be.
        widths: How long each is (n,) [pixels].
        height: Height of a line [pixels].
        top: Height of the picture [pixels], which labels do not leave.
    """
    found = np.array(places, dtype=float).reshape(-1, 2)
    for i in range(len(found)):
        before = found[:i]
        is_beside = (before[:, 0] > found[i, 0] + widths[i]) | (before[:, 0] + widths[:i] < found[i, 0])
        for step in _STEPS:
            y = found[i, 1] + step * height
            if height <= y <= top - height and (is_beside | (np.abs(before[:, 1] - y) >= height)).all():
                found[i, 1] = y
                break
    return found
