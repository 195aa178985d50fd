"""Short runs for tests of pictures and exports: an arm on a bar that lets go, then loses its forearm; no simulation."""

import numpy as np

from varichain.mechanism import Capsule, Fixed, Inertia, Mechanism, Revolute, Spherical, description
from varichain.trace import Columns, TraceWriter

RATE = 50  # samples a second
CUTS = ("hold", "elbow")


def arm():
    """Upper arm with a shape and forearm without one, in the hold of a bar at its tip: a loop."""
    m = Mechanism("arm <&>")
    rod = Inertia.rod(1.0, 0.5, com=(0, 0, -0.25))
    shape = Capsule(0.05, 0.4, at=(0, 0, -0.25), color="#cc3344")
    m.add_link("upper arm", joint=Spherical(name="shoulder"), at=(0, 0, 2), inertia=rod, shapes=[shape])
    m.add_link("forearm", "upper arm", Revolute("y", name="elbow"), at=(0, 0, -0.5), inertia=rod)
    m.add_link("bar", joint=Fixed(), at=(0, 0, 1.0), shapes=[Capsule(0.02, 1.0)])
    m.connect("forearm", "bar", Spherical(), (0, 0, -0.5), (0, 0, 0), name="hold")
    m.add_frame("tip", "forearm", (0, 0, -0.5))
    return m


def columns_of(m):
    """What samples of the structure hold."""
    n = len(m.virtual_links)
    return Columns(
        [("time", 1), ("q", m.n_q), ("v", m.n_v), ("tau", m.n_v), ("loop_forces", 6 * n), ("energy", 3), ("closure", 1)]
    )


def sample(m, t):
    """A sample that moves smoothly and means nothing."""
    parts = []
    for joint in m.joints:
        if joint.has_quaternion:
            half = 0.25 * np.sin(2 * t)
            parts.append(
                [np.cos(half), 0.0, np.sin(half), 0.0, *([0.1 * t, 0.0, 1.5 - t * t] if joint.n_q == 7 else [])]
            )
        elif joint.n_q:
            parts.append([0.8 * np.sin(3 * t)] * joint.n_q)
    wrench = [0.0, 0.0, 0.0, 5.0 * np.sin(t), 0.0, 30.0 + 10.0 * t]
    v, tau = np.zeros(m.n_v), np.full(m.n_v, np.cos(t))
    return np.concatenate(
        [[t], *parts, v, tau, wrench * len(m.virtual_links), [1.0 + t, 2.0 - t, 0.0], [1e-13 * (1 + t)]]
    )


def show(seconds=1.2, cuts=CUTS, path=None):
    """Trace of the arm: a part of `seconds` for each epoch, with a cut between them."""
    m, t, n = arm(), 0.0, round(seconds * RATE / (len(cuts) + 1))
    with TraceWriter(path) as writer:
        writer.begin({"method": "none", "step": 1.0 / RATE})
        for i in range(len(cuts) + 1):
            writer.open_epoch(description(m), columns_of(m))
            writer.append(np.array([sample(m, t + k / RATE) for k in range(n + 1)]))
            t += n / RATE
            if i < len(cuts):
                m.cut(cuts[i])
                edits = [{"kind": "cut" if i == 0 else "cut tree", "joint": cuts[i]}]
                writer.end_epoch({"names": [""], "actions": [f"cut {cuts[i]!r}"], "edits": edits})
        return writer.finish()
