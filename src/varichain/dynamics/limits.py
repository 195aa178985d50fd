"""How far joints are beyond their limits."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import opened
from varichain.layout.state import State
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.mechanism import Mechanism

Array = NDArray[np.float64]


def limit_excess(m: Mechanism, s: State) -> dict[str, float]:
    """Joints outside their limits, and by how much [rad or m]; empty if all are inside."""
    layout, _ = opened(m, s)
    excess = {}
    for joint, slot in zip(m.joints, layout.slots, strict=True):
        if joint.limits is None:
            continue
        q = s.q[slot.q]
        if isinstance(joint.limits, SwingTwist):
            beyond = _beyond_swing_twist(joint.limits, q)
        else:
            lower, upper = joint.limits
            beyond = float(np.maximum(np.subtract(lower, q), np.subtract(q, upper)).max())
        if beyond > 0.0:
            excess[slot.name] = beyond
    return excess


def _beyond_swing_twist(limits: SwingTwist, quaternion: Array) -> float:
    """Largest excess of swing and twist, with R = R_swing R_twist and the twist about the link's long axis."""
    w, along = float(quaternion[0]), float(np.dot(quaternion[1:], limits.axis))
    across = np.linalg.norm(quaternion[1:] - along * np.array(limits.axis))
    swing = 2.0 * math.atan2(across, math.hypot(w, along))
    twist = 2.0 * math.atan2(along, w)
    twist = math.remainder(twist, 2.0 * math.pi)
    lower, upper = limits.twist
    return max(swing - limits.swing, lower - twist, twist - upper)
