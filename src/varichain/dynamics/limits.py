"""How far joints are beyond their limits."""

from __future__ import annotations

import numpy as np

from varichain.dynamics.arguments import opened
from varichain.layout.state import State
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.mechanism import Mechanism


def limit_excess(m: Mechanism, s: State) -> dict[str, float]:
    """Joints outside their limits, and by how much [rad or m]; empty if all are inside."""
    layout, _ = opened(m, s)
    excess = {}
    for joint, slot in zip(m.joints, layout.slots, strict=True):
        if joint.limits is None:
            continue
        q = s.q[slot.q]
        if isinstance(joint.limits, SwingTwist):
            beyond = joint.limits.excess(q)
        else:
            lower, upper = joint.limits
            beyond = float(np.maximum(np.subtract(lower, q), np.subtract(q, upper)).max())
        if beyond > 0.0:
            excess[slot.name] = beyond
    return excess
