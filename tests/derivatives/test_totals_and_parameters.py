"""Derivatives of totals; the regressor of inertial parameters, and what can be identified with it."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives import differences
from lane import long_run, scaled
from measure import deviation, random_state
from varichain.derivatives import base_parameters, identify, inertial_regressor, total_derivatives

# Sums of some hundred products of 16 digits.
EXACT = 1e-12
# Central differences of order four with the best step, with two digits for long chains.
DIFFERENCED = 1e-9


def totals(m, s):
    """Energies, momenta and centre of mass in one vector."""
    energy, momentum = vc.energy(m, s), vc.momentum(m, s)
    potential = energy.gravitational + energy.elastic
    return np.concatenate(([energy.kinetic, potential], momentum.angular, momentum.linear, vc.center_of_mass(m, s)))


def compare(m, s):
    """Assert that derivatives of totals are differences."""
    found = total_derivatives(m, s)
    columns = differences.independent_columns(m, found.independent)
    parts = (found.energy, found.momentum, found.center_of_mass)
    by_q = np.vstack([part.by_q.array for part in parts])
    by_v = np.vstack([part.by_v.array for part in parts])
    assert deviation(np.concatenate([part.value for part in parts]), totals(m, s)) == 0.0
    assert deviation(by_q, differences.by_q(lambda x: totals(m, x), m, s, columns, found.W)) < DIFFERENCED
    assert deviation(by_v, differences.by_v(lambda x: totals(m, x), m, s, columns)) < DIFFERENCED
    return found


@pytest.mark.parametrize("seed", range(scaled(8, 2)))
def test_totals_of_trees(seed):
    """Energy, momentum and centre of mass of trees with springs change as differences do."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(
        rng, scaled(7, 4), kinds=zoo.MOVING, n_trees=1 + seed % 2, passive=True, free_base=seed % 3 == 0
    )
    s = random_state(rng, m)
    found = compare(m, s)
    assert found.momentum.by_v["angular", m.joints[0].name].shape == (3, m.joints[0].n_v)


@pytest.mark.parametrize("name", scaled(["four-bar", "stewart", "holding hands"], ["four-bar"]))
def test_totals_of_closed_chains(name):
    """Along closed motions too."""
    m, s = closed_zoo.MECHANISMS[name]()
    s = s.copy()
    s.v = np.random.default_rng(1).normal(size=m.n_v)
    compare(m, vc.project(m, s))


@pytest.mark.parametrize("seed", range(scaled(12, 3)))
def test_the_regressor_times_parameters_is_inverse_dynamics(seed):
    """tau = Y parameters for trees of all joints; with springs, dampers, forces and armature there is a rest."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, scaled(8, 4), passive=seed % 2 == 1, free_base=seed % 3 == 0)
    if m.n_v == 0:
        return
    s, a = random_state(rng, m), zoo.random_v(rng, m)
    found = inertial_regressor(m, s, a)
    tau = vc.inverse_dynamics(m, s, a).tau
    assert deviation(found.matrix @ found.parameters + found.rest, tau) < EXACT
    if seed % 2 == 0:
        assert np.abs(found.rest).max() < EXACT * np.abs(tau).max()
    assert "regressor" in repr(found)


def test_the_regressor_follows_a_changed_mass():
    """A link with another inertia has the torques that its other parameters say."""
    rng = np.random.default_rng(5)
    m = zoo.random_tree(rng, 5, kinds=zoo.MOVING)
    s, a = random_state(rng, m), zoo.random_v(rng, m)
    before = inertial_regressor(m, s, a)
    m.set_inertia(m.links[2], zoo.random_inertia(rng))
    after = inertial_regressor(m, s, a)
    assert deviation(before.matrix, after.matrix) == 0.0
    assert deviation(vc.inverse_dynamics(m, s, a).tau, before.matrix @ after.parameters + before.rest) < EXACT


def test_base_parameters_of_a_planar_arm():
    """Two rods in a vertical plane have six base parameters: inertia and two first moments of each."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.rod(2.0, 0.3, com=(0, 0, -0.15))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(0, 0, -0.3), inertia=rod)
    rng = np.random.default_rng(0)
    motions = [(random_state(rng, m), rng.normal(size=2)) for _ in range(20)]
    base = base_parameters(m, motions)
    assert len(base) == 6
    for s, a in motions:
        found = inertial_regressor(m, s, a)
        assert deviation(found.matrix[:, base.columns] @ base.values, vc.inverse_dynamics(m, s, a).tau) < 1e-10
    assert "lower.mass" in "".join(base.text(i) for i in range(len(base)))
    assert "base parameters" in repr(base)


@long_run
def test_parameters_of_a_figure_are_identified_from_its_motion():
    """States, accelerations and torques of a simulated run give back its base parameters; with noise, within errors."""
    rng = np.random.default_rng(2)
    m = vc.figures.human16()
    phase, rate = rng.uniform(0.0, 6.0, m.n_v), rng.uniform(5.0, 25.0, m.n_v)
    swing = lambda m, s: 15.0 * np.sin(rate * s.time + phase)  # noqa: E731
    epoch = vc.simulate(m, random_state(rng, m), 1.2, controller=swing, limits="off", sample=0.01).epochs[0]
    records = [(epoch.state(i), epoch.a[i], epoch.tau[i]) for i in range(len(epoch))]
    found = identify(m, records)
    own = base_parameters(m, [(x, a) for x, a, _ in records])
    assert found.columns == own.columns
    assert deviation(found.values, own.values) < 1e-8
    noisy = [(x, a, tau + 0.1 * rng.normal(size=m.n_v)) for x, a, tau in records]
    guess = identify(m, noisy)
    assert guess.residual == pytest.approx(0.1, rel=0.1)
    assert (np.abs(guess.values - own.values) < 5.0 * guess.errors).all()


def test_too_few_records_are_refused():
    """One state cannot tell all parameters."""
    rng = np.random.default_rng(0)
    m = vc.figures.human16()
    s = random_state(rng, m)
    with pytest.raises(vc.InputError, match="more states"):
        identify(m, [(s, rng.normal(size=m.n_v), np.zeros(m.n_v))])
    with pytest.raises(vc.InputError, match="records"):
        identify(m, [])
    with pytest.raises(vc.InputError, match="motions"):
        base_parameters(m, [s])
