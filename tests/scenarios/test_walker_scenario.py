"""The four-legged walker: it does not fall, and each ground is slower and deeper than the one before."""

from itertools import pairwise

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from varichain.particles.run import ParticleRun
from varichain.scenarios.four_legs import FOOT
from varichain.scenarios.legs import LEG, leg_angles
from varichain.scenarios.walker import walker
from varichain.scene.playback import Playback
from varichain.simulation.controls import Controls

pytestmark = long_run


@pytest.fixture(scope="module")
def traces():
    """Ten seconds on each ground."""
    return {ground: walker(ground=ground).run() for ground in ("hard", "soft", "sandy", "muddy")}


@pytest.mark.parametrize("ground", ["hard", "muddy"])
def test_it_walks(ground):
    """Two seconds: the trunk stays up, and goes forward."""
    epoch = walker(ground=ground).run(2.0).epochs[0]
    assert epoch.q[:, 6].min() > 0.6 * epoch.q[0, 6]
    assert epoch.q[-1, 4] > (0.5 if ground == "hard" else 0.02)


@pytest.mark.long
def test_no_fall(traces):
    """The trunk stays above 0.6 of its height at the start, and upright, for ten seconds on each ground."""
    for trace in traces.values():
        height = trace.epochs[0].q[:, 6]
        assert height.min() > 0.6 * height[0]
        _, x, y, _ = trace.epochs[0].q[-1, :4]
        assert 1.0 - 2.0 * (x * x + y * y) > 0.95


@pytest.mark.long
def test_speed_sinkage_and_work(traces):
    """Speed falls by a tenth or more from hard to soft to sandy to muddy; sinkage and work per metre grow."""
    speeds = [trace.epochs[0].q[-1, 4] / 10.0 for trace in traces.values()]
    assert speeds[0] > 0.4
    assert all(later < 0.9 * earlier for earlier, later in pairwise(speeds))
    depths = [trace.epochs[0].sinkage for trace in traces.values()]
    means = [depth[depth > 0.0].mean() for depth in depths]
    assert means[0] < 1e-4 and means == sorted(means)
    works = [trace.epochs[0].work[-1, 0] / speed for trace, speed in zip(traces.values(), speeds, strict=True)]
    assert works == sorted(works)


@pytest.mark.long
def test_rigid_links_walk_as_fast(traces):
    """The same walker of rigid links on a rigid floor: it is some 3 % faster than springs of 1e6 N/m on hard ground."""
    speed, rigid = traces["hard"].epochs[0].q[-1, 4], walker(ground="rigid").run().epochs[0].q[-1, 4]
    assert rigid == pytest.approx(speed, rel=0.05) and rigid > speed


def test_rigid_links_walk():
    """A second in the rigid engine: feet stay on the floor, and the walker is where the one of particles is."""
    rigid, made = (walker(ground=ground).run(1.0).epochs[0] for ground in ("rigid", "hard"))
    assert rigid.q[-1, 4] == pytest.approx(made.q[-1, 4], abs=0.03) and rigid.q[-1, 4] > 0.2
    assert rigid.q[-1, 6] == pytest.approx(made.q[-1, 6], abs=0.01)


@pytest.mark.long
def test_footprints(traces):
    """Sand keeps footprints along the way; stone and turf keep none."""
    cells = {
        ground: np.concatenate([np.zeros((0, 5)), *(x["cells"] for x in trace.log if x["kind"] == "footprints")])
        for ground, trace in traces.items()
    }
    assert len(cells["hard"]) == len(cells["soft"]) == 0
    ways = cells["sandy"]
    assert len(ways) > 100 and np.ptp(ways[:, 0]) > 1.0 and 1e-3 < ways[:, 2].mean() < 0.05


@pytest.mark.long
@pytest.mark.parametrize("shock", [{"push": 3.0}, {"shock": 2.0}], ids=["pushed", "shock"])
def test_it_bears_shocks(shock):
    """Pushed aside, or a foot pushed back, at 3 s: the impulse is in the momentum, and the walker goes on."""
    trace = walker(**shock).run(6.0)
    assert len(trace.epochs) == 2
    before, after = trace.epochs[0].momentum[-1, 3:], trace.epochs[1].momentum[0, 3:]
    assert np.abs(after - before).max() == pytest.approx(next(iter(shock.values())))
    last = trace.epochs[1]
    assert last.q[:, 6].min() > 0.6 * trace.epochs[0].q[0, 6] and last.q[-1, 4] > last.q[0, 4] + 0.8


def test_footprints_are_shown():
    """Footprints of a walk on sand are parts of the playback, which appear one after the other, on the ground."""
    trace = walker(ground="sandy").run(1.0)
    playback = Playback(trace)
    assert len(playback.footprints) > 5
    counts = playback.is_shown[:, -len(playback.footprints) :].sum(axis=1)
    assert counts[0] == 0 and (np.diff(counts) >= 0).all() and counts[-1] == len(playback.footprints)
    vertices = playback.parts[-1].surfaces[0].triangles.vertices
    assert np.abs(vertices[:, 2]).max() < 0.01
    assert not Playback(walker().run(0.1)).footprints


def test_the_momentum_book():
    """The change of the walker's momentum is the impulse of ground and weight, to 1e-9."""
    scenario = walker(ground="sandy")
    p = vc.particles.from_mechanism(scenario.mechanism, scenario.state, **scenario.particles)
    run = ParticleRun(p, "verlet", None, 1e-3, [], Controls(scenario.controller, None, ()))
    for _ in run.spans(iter([0.5]), lambda *_: None):
        pass
    momentum = run.system.momentum()[3:]
    assert np.abs(momentum - run.system.run["impulse"][0][3:]).max() < 1e-9
    assert np.abs(momentum).max() > 0.1


@pytest.mark.long
def test_a_drop_rings(traces):
    """Dropped from 0.3 m, links are strained more than by walking, and the walker stands."""
    trace = walker(ground="hard", drop=0.3, stride=0.0, lift=0.0).run(1.5)
    epoch = trace.epochs[0]
    assert epoch.strain.max() > traces["hard"].epochs[0].strain[50:].max()
    assert epoch.q[-1, 6] > 0.6 * (epoch.q[0, 6] - 0.3)


def test_legs():
    """Angles of hip and knee put the foot where it is wanted, under the hip at the start."""
    scenario = walker()
    for leg in ("front left", "hind right"):
        foot = vc.pose(scenario.mechanism, scenario.state, f"{leg} shank", (0, 0, -LEG)).p
        hip = vc.pose(scenario.mechanism, scenario.state, f"{leg} thigh").p
        assert foot[0] == pytest.approx(hip[0]) and foot[2] == pytest.approx(FOOT)
    assert leg_angles(0.0, 2.0 * LEG)[1] == pytest.approx(0.0, abs=0.01)


def test_what_is_wrong_is_refused():
    """Other grounds are refused by name, and so is a live run."""
    with pytest.raises(vc.InputError, match="hard, soft, sandy, muddy, rigid, not 'ice'"):
        walker(ground="ice")
    with pytest.raises(vc.InputError, match="live"):
        walker().live()
