"""Linearly implicit steps: their gradients, their order, and steps that stiffness does not shorten."""

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from particles.zoo_of_particles import every_kind, rods, tumbling
from varichain.particles.implicit import Implicit

STEP, DELTA = 1e-3, 1e-6  # [s] of an implicit step; of central differences
DIFFERENCES = 1e-5  # relative error that rounding leaves to them


def slopes(p, values):
    """Minus the derivative of all forces by positions or velocities, by central differences (3 n, 3 n)."""
    given, found = values.copy(), []
    for k in range(values.size):
        sides = []
        for sign in (1.0, -1.0):
            values.flat[k] = given.flat[k] + sign * DELTA
            p.evaluate()
            sides.append(p.force.ravel().copy())
            values[:] = given
        found.append((sides[1] - sides[0]) / (2.0 * DELTA))
    return np.array(found).T


def check_step(p):
    """One implicit step from joints at rest is that of dense equations whose matrices are differences of forces."""
    v = p.v.copy()
    p.evaluate(STEP)
    force = p.force.ravel().copy()
    C = slopes(p, p.v)
    p.v[:] = 0.0
    K = slopes(p, p.x)
    p.v[:] = v
    moving = np.flatnonzero(np.repeat(p.inverse_mass > 0.0, 3))
    M = np.diag(1.0 / np.repeat(p.inverse_mass, 3)[moving])
    K, C = K[np.ix_(moving, moving)], C[np.ix_(moving, moving)]
    right = STEP * (force[moving] - STEP * K @ v.ravel()[moving])
    expected = v.ravel()[moving] + np.linalg.solve(M + STEP * C + STEP**2 * K, right)
    assert Implicit(p).advance(1, STEP) == 0
    assert np.abs(p.v.ravel()[moving] - expected).max() < DIFFERENCES * np.abs(expected).max()


@pytest.mark.parametrize("seed", range(scaled(10, 1)))
def test_a_step_is_that_of_dense_equations(seed):
    """Joints of all kinds with dampers: braces, rows, threads and ways of balls are all in the equations."""
    m, s = every_kind(seed, n=scaled(6, 3))
    m.gravity = (0, 0, 0)
    for link in m.links:
        if link.joint.n_v:
            m.edit_joint(link.joint.name, damping=0.3, friction=0.0, stiffness=0.0)
    check_step(vc.particles.from_mechanism(m, s.copy().follow(m), stiffness=1e3, damping=0.2, limits="off"))


def test_couplings_and_loops_are_in_the_equations():
    """A closed chain with a coupling of joints that are far apart: blocks of four links, and fill."""
    m, s = rods(4)
    m.gravity = (0, 0, 0)
    m.couple("hinge 3", "hinge 1", -0.5, s["hinge 3"].q + 0.5 * s["hinge 1"].q)
    m.connect("rod 3", "ground", vc.Spherical(), (0, 0, -0.5), state=s)
    s.v = np.random.default_rng(0).normal(size=4)
    p = vc.particles.from_mechanism(m, s.copy().follow(m), stiffness=1e3, damping=0.2)
    check_step(p)
    assert Implicit(p).n_blocks > 4 + 3


def test_the_factor_of_a_chain_has_no_fill():
    """The factor of a chain, and of a tree, has a block for each link and one for each joint between links."""
    for n in (1, 2, 20):
        m = vc.Mechanism("comb")
        for i in range(n):
            parent = f"link {i // 2 - 1}" if i > 1 else "ground"
            m.add_link(f"link {i}", parent, joint=vc.Revolute(), inertia=vc.Inertia.box(1.0, (1, 1, 1)))
        between = sum(link.parent is not None and not link.parent.is_ground for link in m.links)
        assert Implicit(vc.particles.from_mechanism(m, m.state())).n_blocks == n + between


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
