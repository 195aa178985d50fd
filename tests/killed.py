"""The run that `test_killed_runs` kills: events, stops, friction, a controller; slow enough to be caught."""

import varichain as vc
from moving import rods, started


def law(m, s):
    """Drive the first joint to and fro."""
    return {"0": 8.0 if int(2.0 * s.time) % 2 else -8.0}


def options():
    """Events, whenever the first rod passes the vertical, and the controller."""
    note = lambda m, s: vc.push("rod 0", impulse=(0.01, 0, 0))  # noqa: E731
    return {"events": [vc.when(lambda m, s: float(s["0"].q), note, once=False, name="passes")], "controller": law}


def run(method, end, out=None):
    """Simulate to an end."""
    m = rods(2, damping=0.3)
    m.edit_joint("1", limits=(-0.5, 0.5), friction=0.1)
    s = started(m, {"0": 0.7})
    return vc.simulate(m, s, end, method=method, step=0.01, control_step=0.1, sample=0.05, out=out, **options())
