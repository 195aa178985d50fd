"""How far joints are beyond their limits."""

from __future__ import annotations

from varichain.dynamics.arguments import opened
from varichain.layout.state import State
from varichain.mechanism.limits import SwingTwist
from varichain.mechanism.mechanism import Mechanism


def limit_excess(m: Mechanism, s: State) -> dict[str, float]:
    """Joints outside their limits, and by how much [rad or m]; empty if all are inside."""
    layout, _ = opened(m, s)
    excess, q = {}, s.q.tolist()
    for joint, slot in zip(m.joints, layout.slots, strict=True):
        if joint.limits is None:
            continue
        if isinstance(joint.limits, SwingTwist):
            beyond = joint.limits._excess(*q[slot.q])
        else:
            beyond = max([max(low - x, x - high) for low, high, x in zip(*joint.limits, q[slot.q], strict=True)])
        if beyond > 0.0:
            excess[slot.name] = beyond
    return excess
