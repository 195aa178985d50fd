"""How far joints are beyond their limits."""

from __future__ import annotations

from varichain.dynamics.arguments import opened
from varichain.dynamics.loops import loop_states
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism


def limit_excess(m: Mechanism, s: State) -> dict[str, float]:
    """Joints outside their limits, and by how much [rad or m]; empty if all are inside."""
    layout, _ = opened(m, s)
    excess, q = {}, s.q.tolist()
    for joint, slot in zip(m.joints, layout.slots, strict=True):
        beyond = joint.excess(q[slot.q])
        if beyond > 0.0:
            excess[slot.name] = beyond
    if any(connection.joint.limits is not None for connection in layout.connections):
        for name, found in loop_states(m, s).items():
            beyond = m.joint(name).excess(found.q.tolist())
            if beyond > 0.0:
                excess[name] = beyond
    return excess
