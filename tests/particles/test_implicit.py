"""Linearly implicit steps: their gradients, their order, and steps that stiffness does not shorten."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from particles.zoo_of_particles import every_kind, rods, tumbling
from varichain.particles.implicit import Implicit


@pytest.mark.parametrize("seed", range(scaled(10, 2)))
def test_gradients_are_those_of_the_kernels(seed):
    """Forces of springs at rest are -J^T k g: those of the kernel, for joints of all kinds, without screws' threads."""
    m, s = every_kind(seed, kinds=("revolute", "prismatic", "universal", "cylindrical", "planar", "spherical", "fixed"))
    m.gravity = (0, 0, 0)
    p = vc.particles.from_mechanism(m, s, stiffness=1e3, damping=0.0)
    p.v[:] = 0.0
    p.x += 1e-6 * np.random.default_rng(seed).normal(size=p.x.shape) * (p.inverse_mass[:, None] > 0)
    p.evaluate()
    implicit = Implicit(p)
    links = p.links.array
    A, s_ = links["A"][1:].reshape(-1, 3, 3), links["s"][1:]
    g = np.empty((len(A), 6))
    for a in range(3):
        b = (a + 1) % 3
        g[:, a] = np.linalg.norm(A[:, a], axis=1) - s_[:, a]
        g[:, 3 + a] = (A[:, a] * A[:, b]).sum(axis=1) / np.hypot(s_[:, a], s_[:, b])
    errors = np.concatenate([g.ravel(), p.restrictions.array["error"]])
    forces = -implicit._gradients().T @ (implicit._stiffness * errors)
    found = implicit._in_links(p.force, 1.0)
    assert np.abs(found - forces).max() < 1e-9 * np.abs(found).max()


@long_run
def test_order_one_whatever_the_stiffness():
    """At k = 1e10 N/m the error is of order 1 in the step, with steps a thousand times longer than explicit ones."""
    m, s = rods(3)
    exact = vc.simulate(m, s, 0.3, method="gbs", tolerance=1e-11, step=0.1).final.q
    found = []
    for step in (2e-3, 1e-3, 5e-4):
        p = vc.particles.from_mechanism(m, s, stiffness=1e10)
        assert step > 300 * vc.particles.stiffest(p).longest_step
        found.append(
            np.abs(vc.particles.simulate(p, 0.3, sample=0.1, method="implicit", step=step).final.q - exact).max()
        )
    assert found[-1] < 5e-3
    assert np.log2(found[0] / found[1]) == pytest.approx(1.0, abs=0.15)
    assert np.log2(found[1] / found[2]) == pytest.approx(1.0, abs=0.15)


@long_run
def test_momentum_and_cuts():
    """Implicit steps keep the momentum of a floating chain, through a cut."""
    m, s = tumbling(4)
    p = vc.particles.from_mechanism(m, s, stiffness=1e8)
    cut = vc.at(0.05, vc.cut("joint 2"))
    trace = vc.particles.simulate(p, 0.1, sample=0.01, method="implicit", step=5e-4, events=[cut])
    assert len(trace.epochs) == 2
    assert np.abs(trace.epochs[1].momentum[-1, 3:] - trace.epochs[0].momentum[0, 3:]).max() < 1e-11


def test_methods_are_checked():
    """A method that is not there is refused, and so are hand-made particles."""
    p = vc.particles.from_mechanism(*rods(1))
    with pytest.raises(vc.InputError, match="'verlet', 'implicit'"):
        vc.particles.simulate(p, 0.1, method="euler")
    p.add_particle("bead", 1.0, (0, 0, 0))
    with pytest.raises(vc.InputError, match="by hand"):
        Implicit(p)
