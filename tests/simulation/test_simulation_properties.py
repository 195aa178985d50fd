"""Laws of every run: random mechanisms with stops and friction, random events."""

import numpy as np
import pytest

import varichain as vc
import zoo
from closed_zoo import random_closed_state
from lane import compiled_only, scaled
from moving import account, bits

KINDS = ("revolute", "prismatic", "spherical", "universal", "cylindrical", "planar", "screw")
BEYOND, CLOSED = 1e-9, 1e-10  # as promised: [rad or m]
RATTLED = (400, 629, 1873)  # once came to rest between stops and friction by ever shorter turns, or not at all


def limited(rng, m):
    """Give joints limits around zero and friction, not both to balls."""
    for joint in m.joints:
        if joint.kind == "spherical":
            m.edit_joint(joint.name, armature=max(joint.armature))
            swing, twist = rng.uniform(0.3, 1.5), sorted(rng.uniform(-1.5, 1.5, 2))
            if twist[0] < 0.0 < twist[1] and rng.random() < 0.7:
                m.edit_joint(joint.name, limits=vc.SwingTwist(swing=swing, twist=tuple(twist)))
            else:
                m.edit_joint(joint.name, friction=rng.uniform(0.0, 0.5))
        elif joint.kind not in ("free", "fixed"):
            if rng.random() < 0.7:
                reach = rng.uniform(0.1, 0.6, joint.n_q)
                m.edit_joint(joint.name, limits=(tuple(-reach), tuple(reach)))
            if rng.random() < 0.5:
                m.edit_joint(joint.name, friction=rng.uniform(0.0, 2.0))
    return m


def random_run(seed, until):
    """Mechanism, state and events; both mechanism and state are new every time."""
    rng = np.random.default_rng(seed)
    n_links = int(rng.integers(2, 6))
    m = limited(rng, zoo.random_tree(rng, n_links, KINDS, free_base=bool(seed % 2), passive=seed % 3 == 0))
    s = m.state()
    s.v = 2.0 * zoo.random_v(rng, m)
    names = [link.name for link in m.links]
    times = np.sort(rng.uniform(0.0, until, 3))
    hand = str(rng.choice(names))
    events = [
        vc.at(times[0], vc.push(str(rng.choice(names)), impulse=rng.normal(size=3))),
        vc.at(times[1], vc.connect(hand, "ground", vc.Spherical(), at=rng.normal(size=3), name="grip")),
        vc.at(times[2], vc.cut("grip")),
    ]
    return m, s, events


@pytest.mark.parametrize("seed", [*range(scaled(100, 2)), *scaled(RATTLED, ())])
def test_every_run_keeps_the_laws(seed):
    """Limits are respected, loops closed, no energy comes from nowhere, and the run repeats to the bit."""
    check_laws(seed)


@pytest.mark.long
@compiled_only
@pytest.mark.parametrize("first", range(100, 2500, 100))
def test_many_runs_keep_the_laws(first):
    """2,500 runs in all."""
    faults = {}
    for seed in range(first, first + 100):
        try:
            check_laws(seed, 5e-3)  # the coarsest of 2,400 runs at 2 ms
        except (AssertionError, vc.VarichainError) as error:
            faults[seed] = str(error)[:200]
    assert faults == {}


def check_laws(seed, off_books=1e-4):
    """Run a random mechanism twice; books may be off by a part of the energy."""
    until, step = scaled((0.5, 0.002), (0.04, 0.01))
    m, s, events = random_run(seed, until)
    traces = [vc.simulate(m, s, until, events=events, step=step) for _ in range(2)]
    trace = traces[0]
    assert bits(trace) == bits(traces[1])
    assert traces[0].log == traces[1].log
    scale = 1.0 + max(np.abs(epoch["energy"]).max() for epoch in trace.epochs)
    for epoch in trace.epochs:
        assert epoch.closure.max() < CLOSED
        for i in range(len(epoch)):
            assert max(vc.limit_excess(epoch.mechanism, epoch.state(i)).values(), default=0.0) < BEYOND
        # friction, dampers and stops take and never give
        assert (np.diff(epoch["work"][:, 1]) <= 1e-12 * scale).all()
    assert (np.diff([entry["time"] for entry in trace.log]) >= 0.0).all()
    # rk4's error, where friction reverses and stops strike within steps as well
    assert np.abs(account(trace)).max() < scaled(off_books, 1e-2) * scale


@pytest.mark.parametrize("name", ["four_bar", "slider_crank", "five_bar", "stewart"])
def test_closed_chains_keep_the_laws(name):
    """Closed mechanisms with stops in their trees run with closed loops into their stops."""
    import closed_zoo

    rng = np.random.default_rng(3)
    m, s = getattr(closed_zoo, name)()
    s = random_closed_state(rng, m, s, reach=0.2)
    for joint in m.joints:
        if joint.n_q == 1 and joint.kind != "fixed":
            here = float(s[joint.name].q)
            m.edit_joint(joint.name, limits=(here - 0.15, here + 0.2), friction=0.05)
    until, step = scaled((0.5, 0.002), (0.02, 0.01))
    start = m.state()
    start.q, start.v = s.q, s.v
    trace = vc.simulate(m, start, until, step=step)
    epoch = trace.epochs[0]
    assert epoch.closure.max() < CLOSED
    for i in range(len(epoch)):
        assert max(vc.limit_excess(m, epoch.state(i)).values(), default=0.0) < BEYOND
    scale = 1.0 + np.abs(epoch["energy"]).max()
    assert np.abs(account(trace)).max() < scaled(1e-5, 1e-2) * scale
