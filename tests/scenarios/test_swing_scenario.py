"""The swing that breaks."""

import numpy as np

from lane import long_run, scaled
from scenario_checks import OVERSHOOT, counts, place, worst_excess
from varichain.scenarios import summary, swing


@long_run
def test_counts():
    """A plate that comes off takes a freedom of N_J with it, and a thigh that it falls away from another one."""
    scenario = swing(breaks_at=scaled(0.1, 0.002))
    trace = scenario.run(until=scaled(0.11, 0.003), **scaled({}, {"method": "rk4", "step": 1e-3}))
    assert counts(summary(scenario, trace)) == [(38, 9), (37, 14), (36, 18)]


@long_run
def test_breaking():
    """The plate comes off the left rod, the left thigh loses it, the right one slips off when it is steep.

    The counts of [NY] are those without the swing's own freedoms: 30, 30, 29, 28. The figure then hangs by its hands.
    """
    scenario = swing()
    trace = scenario.run()
    edits = [edit["joint"] for entry in trace.log if entry["kind"] == "structure" for edit in entry["edits"]]
    assert edits == ["swing left hinge", "left slide", "right slide"]
    found = counts(summary(scenario, trace))
    assert found == [(38, 9), (37, 14), (36, 18), (35, 23)]
    own = [8, 7, 7, 7]
    assert [n_all - n for (n_all, _), n in zip(found, own, strict=True)] == [30, 30, 29, 28]
    assert worst_excess(trace) < OVERSHOOT
    assert trace.epochs[0].end == 2.4
    assert trace.epochs[2].end > 2.5


@long_run
def test_before_it_breaks():
    """Until then the figure sits on the plate, which pushes both thighs, and swings to and fro."""
    epoch = swing().run().epochs[0]
    for side in ("left", "right"):
        assert epoch.loop(f"{side} slide")[:, 5].min() > 50.0  # [N]
        seat = np.array([place(epoch, i, f"{side} seat") - place(epoch, i, "swing seat") for i in range(len(epoch))])
        assert np.linalg.norm(seat[:, [0, 2]], axis=1).max() < 0.11  # half the plate's depth
    x = np.array([place(epoch, i, "swing seat")[0] for i in range(len(epoch))])
    assert x[0] < -0.8
    assert x.max() > 0.8
