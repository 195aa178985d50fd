"""Steps that are long enough, and steps that are too long."""

import re

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from particles.zoo_of_particles import rods
from varichain.kernels.particle_records import BROKEN_SPRING, REACHED


@long_run
@pytest.mark.parametrize("n", [1, 2, 16])
def test_the_longest_step_is_the_longest(n):
    """Steps of 0.95 of the longest one are stable for half a second; steps of 1.5 tear a link.

    The longest step is on the safe side: the mode of the highest frequency need not have the fastest decay.
    """
    m, s = rods(n)
    longest = vc.particles.stiffest(vc.particles.from_mechanism(m, s)).longest_step
    for part in (0.95, 1.5):
        p = vc.particles.from_mechanism(m, s)
        moving = p.inverse_mass[:, None] > 0.0
        p.v += 1e-3 * moving * np.random.default_rng(0).normal(size=p.v.shape)  # all modes are there
        n_steps = int(0.5 / (part * longest))
        if part < 1.0:
            assert p.advance(n_steps, part * longest) == REACHED
            continue
        with pytest.raises(vc.DivergenceError, match=r"link 'rod \d+' is torn \(spring 'hinge \d+\.") as caught:
            p.advance(n_steps, part * longest)
        assert _advised(caught) < longest


def _advised(caught):
    """The step that an error says would do [s]."""
    return float(re.search(r"a step of (\S+) s would do", str(caught.value)).group(1))


def pair(**options):
    """Two particles of 1 kg on a spring of 1e4 N/m."""
    system = vc.particles.System(gravity=(0, 0, 0))
    system.add_particle("a", 1.0, (0, 0, 0))
    system.add_particle("b", 1.0, (1, 0, 0), (0.5, 0, 0))
    system.add_spring("a", "b", 1e4, **options)
    return system


def test_frequency_and_decay_of_a_pair():
    """Two particles of m on a spring have (2 k / m)^1/2 and 2 c / m, but for the margin of 5 % each."""
    found = vc.particles.stiffest(pair(damping=3.0))
    assert found.frequency**2 == pytest.approx(1.05 * 2e4)
    assert found.decay == pytest.approx(1.05 * 6.0)
    assert found.name == "spring 'a to b'"


def test_a_spring_that_flies_apart_is_found():
    """Steps of 1.5 times the longest one are noticed, and so is a number that is none."""
    system = pair()
    longest = vc.particles.stiffest(system).longest_step
    with pytest.raises(vc.DivergenceError, match="spring 'a to b' flies apart") as caught:
        system.advance(1000, 1.5 * longest)
    assert _advised(caught) < longest
    assert pair().advance(1000, _advised(caught)) == REACHED
    system = pair()
    system.v[0, 0] = np.nan
    with pytest.raises(vc.DivergenceError, match="spring 'a to b'"):
        system.advance(1, 1e-4)


def test_a_spring_breaks_at_its_force():
    """A spring breaks when its pull passes the bound: 0.25 m/s against 2e4 / s^2 give at most k v / w = 35 N."""
    system = pair(breaks=30.0)
    assert system.advance(1000, 1e-4) == BROKEN_SPRING
    assert 30.0 < system.springs.array["force"][0] < 30.5
    assert pair(breaks=36.0).advance(1000, 1e-4) == REACHED


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda p: p.add_particle("a", 1.0, (0, 0, 0)), "'a'"),
        (lambda p: p.add_particle("c", 0.0, (0, 0, 0)), "mass"),
        (lambda p: p.add_particle("c", 1.0, (0, 0, 0), (1, 0, 0), fixed=True), "fixed"),
        (lambda p: p.add_spring("a", "c", 1.0), "'c'"),
        (lambda p: p.add_spring("a", "a", 1.0), "twice"),
        (lambda p: p.add_spring("a", "b", 1.0), "'a to b'"),
        (lambda p: p.add_spring("a", "b", -1.0, name="x"), "stiffness"),
        (lambda p: p.add_joint("a", "b", "a"), "three particles"),
        (lambda p: p.add_joint("a", "b", "c", rule="plane"), "'sound', 'paper'"),
    ],
)
def test_what_is_wrong_is_refused(call, message):
    """Names that are missing or taken, and numbers that cannot be, are refused by name."""
    with pytest.raises(vc.VarichainError, match=message):
        call(pair())


@long_run
def test_a_link_rings_at_the_frequency_of_its_mode():
    """An arm that is stretched vibrates with (16 k / m)^1/2, the linear mode of its brace, within 2 %."""
    m = vc.Mechanism("bell", gravity=(0, 0, 0))
    m.add_link("bell", joint=vc.Free(), inertia=vc.Inertia.box(2.0, (0.1, 0.2, 0.3)))
    p = vc.particles.from_mechanism(m, m.state(), stiffness=1e6, damping=0.01)
    p.x[4:] += 1e-5 * np.array([1, -1, -1, 1])[:, None] * np.array([0, 0, 1])  # the longest arm
    lengths = []
    for _ in range(2000):
        p.advance(1, 1e-5)
        lengths.append(np.linalg.norm(p.links.array["A"][1].reshape(3, 3)[2]))
    swings = np.array(lengths) - p.arms[1].lengths[2]
    ups = np.flatnonzero((swings[:-1] < 0.0) & (swings[1:] >= 0.0))
    frequency = 2.0 * np.pi * (len(ups) - 1) / ((ups[-1] - ups[0]) * 1e-5)
    assert frequency == pytest.approx(np.sqrt(16e6 / 2.0), rel=0.02)
