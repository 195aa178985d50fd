"""Laws of the forces: gradients of an energy, no resultant and no moment, power that the books have."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from particles.zoo_of_particles import every_kind, tumbling

SEEDS = range(scaled(20, 3))
STEP = 1e-6  # [m] of central differences; their error is STEP^2 times the third derivative
DIFFERENCES = 1e-6  # relative error that rounding leaves to them


def system_of(seed, damping=0.0, spread=5e-3, **options):
    """Floating links that are not at rest: particles lie `spread` [m] beside their places."""
    m, s = every_kind(seed, **options)
    m.gravity = (0, 0, 0)
    p = vc.particles.from_mechanism(m, s, stiffness=1e3, damping=damping)
    p.x += np.random.default_rng(seed).normal(size=p.x.shape) * spread * (p.inverse_mass[:, None] > 0)
    return p


def elastic(p):
    """Energy of all springs [J]."""
    p.evaluate()
    return float(p.run["elastic"][0])


@pytest.mark.parametrize("seed", SEEDS)
def test_forces_are_the_gradient_of_the_energy(seed):
    """Without dampers the force on every particle is minus the gradient of the elastic energy."""
    p = system_of(seed)
    p.evaluate()
    force, scale = p.force.copy(), np.abs(p.force).max()
    rng = np.random.default_rng(seed)
    for _ in range(10):
        way = rng.normal(size=p.x.shape)
        x, slope = p.x.copy(), 0.0
        for sign in (1.0, -1.0):
            p.x[:] = x + sign * STEP * way
            slope += sign * elastic(p) / (2.0 * STEP)
        p.x[:] = x
        assert slope == pytest.approx(-float((force * way).sum()), abs=DIFFERENCES * scale * np.abs(way).sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_nothing_pushes_the_whole(seed):
    """Springs, dampers, friction and torques in all kinds of joints have no resultant and no moment."""
    p = system_of(seed, damping=0.5, passive=True, friction=True)
    p.tau[6:] = np.random.default_rng(seed).normal(size=len(p.tau) - 6)
    p.run["is_measured"] = 1
    p.evaluate()
    scale = np.abs(p.force).sum()
    assert np.abs(p.force.sum(axis=0)).max() < 1e-13 * scale
    assert np.abs(np.cross(p.x, p.force).sum(axis=0)).max() < 1e-13 * scale * (1.0 + np.abs(p.x).max())


@pytest.mark.parametrize("seed", SEEDS)
def test_the_books_have_all_power(seed):
    """The power of all forces is that of the accounts less what goes into springs.

    A spring in a ball acts as a couple, whose power is that of the best rotation but for the strain of the links.
    """
    p = system_of(seed, damping=0.5, passive=True, spread=1e-7)
    p.tau[6:] = np.random.default_rng(seed).normal(size=len(p.tau) - 6)
    p.run["is_measured"] = 1
    p.evaluate()
    power, accounts = float((p.force * p.v).sum()), float(p.run["power"].sum())
    x, stored = p.x.copy(), 0.0
    for sign in (1.0, -1.0):
        p.x[:] = x + sign * STEP * p.v
        stored += sign * elastic(p) / (2.0 * STEP)
    assert power == pytest.approx(accounts - stored, abs=DIFFERENCES * np.abs(p.force * p.v).sum())


@pytest.mark.parametrize("seed", SEEDS)
def test_coordinates_are_those_of_the_state(seed):
    """Joint coordinates and velocities that particles have at the start are the state's, for all kinds of joints."""
    m, s = every_kind(seed)
    found = vc.particles.from_mechanism(m, s).measure()
    assert np.abs(s.difference(found)).max() < 1e-11
    assert np.abs(found.v - s.v).max() < 1e-10
    for link in m.links:
        assert vc.pose(m, s, link.name).is_close(vc.particles.from_mechanism(m, s).pose(link.name), 1e-11)


@long_run
def test_momentum_is_kept_for_good():
    """A tumbling chain keeps momentum and angular momentum to 1e-12 with dampers, torques and friction acting."""
    m, s = tumbling(damping=0.01, friction=0.02)
    p = vc.particles.from_mechanism(m, s, stiffness=1e4, damping=0.3)
    p.tau[6:] = 0.1
    p.run["is_measured"] = 1
    before, n = p.momentum(), scaled(100_000, 100)
    step = vc.particles.stiffest(p).step
    assert p.advance(n, step) == 0
    after = p.momentum()
    speed = np.abs(before[3:]).max()
    assert np.abs(after[3:] - before[3:]).max() < 1e-12 * speed
    assert np.abs(after[:3] - before[:3]).max() < 1e-12 * np.abs(before[:3]).max()
    assert p.work()["dampers"] < 0.0 and p.work()["joints"] < 0.0


def test_evaluation_alone_passes_no_time():
    """Forces can be asked for at any time: nothing moves, no book changes."""
    m, s = tumbling(3)
    p = vc.particles.from_mechanism(m, s)
    x, work = p.x.copy(), p.run["work"].copy()
    p.evaluate()
    assert (p.x == x).all() and (p.run["work"] == work).all() and p.time == 0.0
