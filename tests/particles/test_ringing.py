"""Ringing: a leg that was dropped vibrates in the modes of its springs [TS]."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run
from varichain.particles import Contact, Hard
from varichain.scenarios import walker
from varichain.scenarios.four_legs import FOOT
from varichain.scenarios.legs import LEG


@pytest.fixture
def leg():
    """A stretched leg of the walker, thigh and shank, 0.3 m above hard ground; nothing damps it."""
    of_walker = walker().mechanism
    m = vc.Mechanism("leg")
    m.add_link("thigh", joint=vc.Free(name="hip"), inertia=of_walker.link("front left thigh").inertia)
    knee, inertia = vc.Revolute("y", name="knee"), of_walker.link("front left shank").inertia
    m.add_link("shank", parent="thigh", at=(0, 0, -LEG), joint=knee, inertia=inertia)
    s = m.state()
    s["hip"].position = (0, 0, 2 * LEG + FOOT + 0.3)
    foot = Contact("shank", (0, 0, -LEG), FOOT)
    return vc.particles.from_mechanism(m, s, stiffness=1e6, damping=0.0, ground=Hard(), contacts=[foot])


def modes(p, h=1e-7):
    """Frequencies [Hz] and modes (n, n) of a system at rest, of coordinates times the root of their masses."""
    K = np.empty((p.x.size, p.x.size))
    for i, x in enumerate(p.x.ravel().tolist()):
        forces = []
        for place in (x - h, x + h):
            p.x.flat[i] = place
            p.evaluate()
            forces.append(p.force.ravel().copy())
        p.x.flat[i] = x
        K[:, i] = (forces[0] - forces[1]) / (2.0 * h)
    moves = np.repeat(p.inverse_mass > 0.0, 3)
    roots = np.repeat(p.inverse_mass, 3)[moves] ** 0.5
    squares, vectors = np.linalg.eigh(roots[:, None] * K[np.ix_(moves, moves)] * roots)
    return np.sqrt(np.maximum(squares, 0.0)) / (2.0 * np.pi), vectors


@long_run
def test_a_dropped_leg_rings_in_a_mode_of_its_springs(leg):
    """After the bounce the shank's length rings with the frequency of the mode that got most of the energy."""
    rest, moves = leg.x.copy(), leg.inverse_mass > 0.0
    frequencies, vectors = modes(leg)
    assert (frequencies < 1.0).sum() == 7  # a rigid leg has six freedoms and a knee
    step = vc.particles.stiffest(leg).step / 4.0
    was_down = is_down = False
    while is_down or not was_down:
        leg.advance(1, step)
        was_down = was_down or is_down
        is_down = leg.contacts.array["force"][0, 2] > 0.0

    roots = (1.0 / leg.inverse_mass[moves, None]) ** 0.5
    moved = (leg.x - rest)[moves]
    moved -= np.average(moved, axis=0, weights=roots[:, 0] ** 2)
    way, rate = vectors.T @ (roots * moved).ravel(), vectors.T @ (roots * leg.v[moves]).ravel()
    energies = np.where(frequencies > 1.0, rate**2 + (2.0 * np.pi * frequencies * way) ** 2, 0.0)
    expected = frequencies[energies.argmax()]

    lengths, first = [], leg.particles_of("shank").start  # the first two particles are apart along the shank
    for _ in range(2500):
        leg.advance(1, step)
        lengths.append(np.linalg.norm(leg.x[first] - leg.x[first + 1]))
    n = len(lengths)
    spectrum = np.abs(np.fft.rfft((np.array(lengths) - np.mean(lengths)) * np.hanning(n), 16 * n))
    found = spectrum.argmax() / (16 * n * step)
    # steps of Verlet raise it by (2 pi f h)^2 / 24, a line of the spectrum is 2.5 Hz wide
    assert found == pytest.approx(expected, rel=0.01)
