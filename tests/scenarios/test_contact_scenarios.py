"""Scenarios with contact: a figure that falls, boxes that are knocked, a landing, a walker on stones."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from varichain.scenarios import boxes, compass, fall, highbar

RISES = 1e-6
"""[J] that contact may give from one sample to the next: what had gone deeper than 1e-9 m is lifted out."""


def contact_work(epoch):
    """Work of contacts at every sample [J]."""
    return epoch.work[:, epoch.columns.labels["work"].index("contact")]


@long_run
def test_the_figure_comes_to_rest():
    """It falls on the floor, stays above it, loses its energy and lies."""
    scenario = fall()
    trace = scenario.run(until=3.0)
    (epoch,) = trace.epochs
    m, weight = scenario.mechanism, 70.0 * 9.81
    assert min(min(vc.clearances(m, epoch.state(i)).values()) for i in range(0, len(epoch), 10)) > -1e-6
    assert epoch.center[0, 2] > 1.4 and epoch.center[-1, 2] < 0.2
    assert epoch.energy[-1, 0] < 1.0
    lying = epoch.contact_forces[-50:].reshape(50, -1, 3).sum(axis=1)
    assert lying[:, 2].mean() == pytest.approx(weight, rel=0.02)


def test_the_tower_stands_until_it_is_knocked():
    """Boxes at rest stay to rounding; the knocked one goes, and contact gives no energy."""
    count, knocked = scaled((4, 0.2), (2, 0.003))
    trace = boxes(count=count, knocked=knocked, knock=6.0).run(until=scaled(1.0, 0.006), sample=1e-3)
    standing, after = trace.epochs
    assert np.abs(standing.q - standing.q[0]).max() < 1e-12
    name = f"box {count // 2}"
    assert after.state(0)[name].v[3] > 5.0 and after.state(-1)[name].position[0] > scaled(0.3, 0.01)
    assert np.diff(contact_work(after)).max() < RISES
    assert min(vc.clearances(after.mechanism, trace.final).values()) > -1e-6
    with pytest.raises(vc.InputError, match="'count' must be from 2 to 20"):
        boxes(count=1)


@pytest.mark.long
def test_boxes_above_the_knocked_one_come_down():
    """A hard knock shoots the box out: those above drop by its height and stand, those below stay."""
    scenario = boxes(knock=10.0)
    trace = scenario.run()
    s = trace.final
    heights = [s[f"box {i}"].position[2] for i in range(10)]
    assert heights == pytest.approx([0.05, 0.15, 0.25, 0.35, 0.45, 0.05, 0.55, 0.65, 0.75, 0.85], abs=1e-6)
    assert trace.epochs[-1].energy[-1, 0] < 1e-12


@long_run
def test_the_gymnast_falls_over():
    """By contact the gymnast lands on its feet first, stays above the floor and lies in the end, at rest."""
    scenario = highbar(landing="contact")
    trace = scenario.run()
    landed = trace.epochs[-1]
    touched = [name for name in ("left foot", "right foot", "torso") if landed.contact(name, "floor")[:, 2].any()]
    first = {name: int(np.argmax(landed.contact(name, "floor")[:, 2] > 0.0)) for name in touched}
    assert min(first, key=first.get).endswith("foot") and first["torso"] > min(first.values()) + 10
    assert (
        min(min(vc.clearances(landed.mechanism, landed.state(i)).values()) for i in range(0, len(landed), 20)) > -1e-6
    )
    assert landed.center[-1, 2] < 0.4 and np.abs(landed.v[-1]).max() < 0.5
    for wrong in ({"landing": "net"}, {"landing": "contact", "regrasp": True}):
        with pytest.raises(vc.InputError, match="landing"):
            highbar(**wrong)


@long_run
def test_the_walker_on_stones_walks_as_the_connected_one():
    """Contact and connections are one walk: all 27 landings agree, to the grid of samples."""
    connected = [epoch.end for epoch in compass().run().epochs[:-1]]
    (epoch,) = compass(contact=True).run().epochs
    forces = epoch.contact_forces.reshape(len(epoch), -1, 3)[:, :, 2]
    used = [j for j in range(forces.shape[1]) if forces[1:, j].any() and not forces[0, j]]
    landings = np.sort([epoch.time[np.argmax(forces[:, j] > 0.0)] for j in used])
    assert len(landings) == len(connected) == 27
    assert np.abs(landings - connected).max() < 0.011  # [s] samples are 0.01 s apart
