"""Random figures with loops, limits and friction that are dropped on a floor: no failure, no energy from nowhere."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import books
from lane import long_run, scaled

SEEDS = range(scaled(24, 1))
UNTIL = scaled(0.6, 0.004)
"""[s]"""

GAINED = 1e-3
"""Part of the energy turned over that a figure may have more than at its start; a thousand drops had 1e-4."""

OFF = 0.1
"""Part of it by which the books may be off: steps of 1 ms are of first order. A thousand drops had 0.08."""

GIVEN, DEEP = 1e-5, 1e-8
"""Energy that contacts and stops together may give between two samples, as a part of the weight times 1 m; and depth
[m]. A contact that bounces while a stop is struck may give what the stop takes."""

FAST = {390: 5e-5}
"""The same part of a drop whose links pass an edge at 4.5 m/s, for five steps, each divided where it gives 1e-5."""


def shape(rng):
    """A random shape of some centimetres, and how far it reaches."""
    a, b, c = rng.uniform(0.03, 0.12, size=3)
    found = [
        vc.Sphere(a),
        vc.Capsule(0.5 * a, 2.0 * b),
        vc.Box((a, b, c)),
        vc.Cylinder(a, b),
        vc.Ellipsoid((a, b, c)),
    ]
    return found[rng.integers(len(found))]


def joint(rng):
    """A random joint, with limits, damping and dry friction more often than not."""
    low, high = -rng.uniform(0.2, 1.5), rng.uniform(0.2, 1.5)
    limits = (low, high) if rng.random() < 0.7 else None
    options = {"damping": rng.uniform(0.0, 0.1), "friction": rng.uniform(0.0, 0.2) if rng.random() < 0.5 else 0.0}
    kind = rng.integers(3)
    if kind == 0:
        return vc.Spherical(**options)
    if kind == 1:
        return vc.Prismatic("xyz"[rng.integers(3)], limits=limits and (0.1 * low, 0.1 * high), **options)
    return vc.Revolute("xyz"[rng.integers(3)], limits=limits, **options)


def figure(rng):
    """A random tree of links on a free one, closed to a loop more often than not, over a floor or a slope."""
    m = vc.Mechanism("figure")
    inertia = vc.Inertia.box(rng.uniform(0.5, 3.0), rng.uniform(0.05, 0.2, size=3))
    m.add_link("link 0", None, inertia=inertia, shapes=shape(rng))
    n = int(rng.integers(2, 8))
    for i in range(1, n):
        inertia = vc.Inertia.box(rng.uniform(0.2, 2.0), rng.uniform(0.05, 0.2, size=3))
        at = vc.Pose(p=rng.normal(size=3) * 0.12, rotation_vector=rng.normal(size=3))
        m.add_link(f"link {i}", f"link {rng.integers(i)}", joint(rng), at, inertia, shape(rng))
    for _ in range(int(rng.integers(3)) if n > 3 else 0):
        a, b = rng.choice(n, size=2, replace=False)
        closing = (vc.Spherical(), vc.Universal(), vc.SpringDamper(stiffness=200.0, damping=2.0, length=0.2))
        m.connect(f"link {a}", f"link {b}", closing[rng.integers(3)], state=m.state())
    tilt = vc.Pose(rotation_vector=(*rng.normal(size=2) * 0.2, 0.0))
    restitution = rng.uniform(0.0, 0.8) if rng.random() < 0.3 else 0.0
    m.add_surface("floor", "ground", vc.HalfSpace(tilt), friction=rng.uniform(0.0, 1.2), restitution=restitution)
    if rng.random() < 0.3:
        box = vc.Box((0.3, 0.3, 0.2), at=(*rng.normal(size=2) * 0.1, 0.05))
        m.add_surface("block", "ground", box, friction=rng.uniform(0.0, 1.2))
    return m


def drop(seed):
    """A random figure a little above the floor, and the trace of its fall."""
    rng = np.random.default_rng(seed)
    m = figure(rng)
    s = m.state()
    s["link 0"].pose = vc.Pose(p=(0, 0, 3.0), rotation_vector=rng.normal(size=3))
    lowest = min(vc.clearances(m, s).values())
    s["link 0"].position = (0, 0, 3.0 - 0.9 * lowest)
    s.v[:6] = rng.normal(size=6)
    s = vc.project(m, s) if m.virtual_links else s
    return m, vc.simulate(m, s, UNTIL, contacts="stepping", step=1e-3, sample=5e-3)


def check(seed):
    """What every drop must keep."""
    m, trace = drop(seed)
    (epoch,) = trace.epochs
    assert trace.outcome == "complete" and np.isfinite(epoch.samples).all()
    weight = 9.81 * sum(link.inertia.mass for link in m.links)
    turned = np.abs(np.diff(epoch.energy[:, 0])).sum() + 0.1 * weight
    energy = epoch.energy.sum(axis=1)
    assert energy.max() - energy[0] < GAINED * turned
    assert np.abs(books(epoch)).max() < OFF * turned
    assert epoch.closure.max(initial=0.0) < 1e-9
    deepest = -min(min(vc.clearances(m, epoch.state(i)).values()) for i in range(0, len(epoch), 20))
    assert deepest < DEEP
    accounts = epoch.columns.labels["work"]
    given = epoch.work[:, accounts.index("contact")] - epoch.work[:, accounts.index("impacts")]
    assert np.diff(given).max() < FAST.get(seed, GIVEN) * weight


@pytest.mark.parametrize("seed", SEEDS)
def test_random_drops(seed):
    """A figure of any kind falls, lands and stays whole: above the floor, closed, with its energy accounted for."""
    check(seed)


@long_run
@pytest.mark.parametrize("seed", [137, 259, 390])
def test_what_is_too_coarse_passes_in_shorter_steps(seed):
    """A loop that a step of 1 ms would leave open for good, and a slide that turns at 55 rad/s, pass in parts of it."""
    check(seed)


@pytest.mark.long
def test_a_thousand_drops():
    """No drop of a thousand fails."""
    failed = {}
    for seed in range(1000):
        try:
            check(seed)
        except (AssertionError, vc.VarichainError) as error:
            failed[seed] = f"{type(error).__name__}: {error}"[:300]
    assert not failed, failed
