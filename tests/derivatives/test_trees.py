"""Derivatives of inverse and forward dynamics of open chains: differences, Pinocchio, laws."""

import numpy as np
import pytest

import varichain as vc
import zoo
from derivatives import differences
from lane import scaled
from measure import deviation, random_state

# Central differences with the best step leave 1e-11; long chains, and stiff ones, take three digits.
DIFFERENCED = 1e-8
# Sums of some hundred products of 16 digits, through a mass matrix of condition up to 1e5.
EXACT = 1e-10

SEEDS = range(scaled(12, 3))


def case(seed):
    """A random tree with springs, dampers and friction, a state that moves or rests, and two forces."""
    rng = np.random.default_rng(seed)
    options = {"passive": seed % 3 != 0, "friction": seed % 2 == 1, "free_base": seed % 4 == 0}
    m = zoo.random_tree(rng, scaled(3 + seed, 4), kinds=zoo.MOVING, n_trees=1 + seed % 2, **options)
    s = random_state(rng, m)
    if seed % 5 == 3:
        s.v = np.zeros(m.n_v)
    links = [m.links[-1].name, m.links[len(m) // 2].name]
    forces = [
        vc.Force(link, *rng.normal(size=(3, 3)), axes) for link, axes in zip(links, ("world", "local"), strict=True)
    ]
    return rng, m, s, forces if seed % 2 == 0 else []


@pytest.mark.parametrize("seed", SEEDS)
def test_inverse_dynamics_of_trees(seed):
    """Derivatives of inverse dynamics by q, v and a are those of central differences; by a they are M."""
    rng, m, s, forces = case(seed)
    a, every = zoo.random_v(rng, m), np.arange(m.n_v)
    found = vc.inverse_dynamics_derivatives(m, s, a, forces)
    tau = lambda state: vc.inverse_dynamics(m, state, a, forces).tau  # noqa: E731
    assert deviation(found.by_q, differences.by_q(tau, m, s, every, np.eye(m.n_v))) < DIFFERENCED
    if s.v.any():  # at rest, dry friction has no direction nearby that it keeps
        assert deviation(found.by_v, differences.by_v(tau, m, s, every)) < DIFFERENCED
    assert deviation(found.by_a, vc.mass_matrix(m, s)) < EXACT
    assert deviation(found.tau.value, tau(s)) == 0.0
    assert deviation(found.tau_ind.by_q, found.by_q) < EXACT


@pytest.mark.parametrize("seed", SEEDS)
def test_forward_dynamics_of_trees(seed):
    """Derivatives of forward dynamics by q and v are those of central differences; by tau they are M^-1."""
    rng, m, s, forces = case(seed)
    tau, every = 10.0 * zoo.random_v(rng, m), np.arange(m.n_v)
    found = vc.forward_dynamics_derivatives(m, s, tau, forces)
    a = lambda state: vc.forward_dynamics(m, state, tau, forces).a  # noqa: E731
    assert deviation(found.by_q, differences.by_q(a, m, s, every, np.eye(m.n_v))) < DIFFERENCED
    if s.v.any():
        assert deviation(found.by_v, differences.by_v(a, m, s, every)) < DIFFERENCED
    assert deviation(found.by_tau, np.linalg.inv(vc.mass_matrix(m, s))) < EXACT
    assert deviation(found.a.value, a(s)) < EXACT


def test_the_best_step_of_differences():
    """Errors of central differences fall with h^4 down to 1e-3, and rise with 1/h below: the formula is the limit."""
    _, m, s, forces = case(4)
    every = np.arange(m.n_v)
    exact = np.asarray(vc.inverse_dynamics_derivatives(m, s, None, forces).by_q)
    tau = lambda state: vc.inverse_dynamics(m, state, None, forces).tau  # noqa: E731
    error = {
        h: deviation(differences.by_q(tau, m, s, every, np.eye(m.n_v), h), exact) for h in (1e-1, 1e-2, 1e-3, 1e-7)
    }
    assert 5e3 < error[1e-1] / error[1e-2] < 2e4
    assert error[1e-3] < 1e-11
    assert error[1e-7] > 100.0 * error[1e-3]


@pytest.mark.parametrize("seed", range(scaled(20, 4)))
def test_against_pinocchio(seed):
    """Trees have Pinocchio's derivatives; those of its composite joints (universal, planar) do not fit differences."""
    pin = pytest.importorskip("pinocchio")
    from oracles.pinocchio_model import PinocchioOracle

    rng = np.random.default_rng(seed)
    kinds = ("revolute", "prismatic", "spherical", "free", "screw", "cylindrical")
    m = zoo.random_tree(rng, 2 + seed % 12, kinds=kinds, free_base=seed % 2 == 0)
    s, a, tau = random_state(rng, m), zoo.random_v(rng, m), 10.0 * zoo.random_v(rng, m)
    twin = PinocchioOracle(m)
    q, v = twin.q_from(s.q), twin.v_from(s.v)
    by_q, by_v, _ = pin.computeRNEADerivatives(twin.model, twin.data, q, v, twin.v_from(a))
    found = vc.inverse_dynamics_derivatives(m, s, a)
    assert deviation(found.by_q, twin.matrix_to(np.array(by_q))) < EXACT
    assert deviation(found.by_v, twin.matrix_to(np.array(by_v))) < EXACT
    pin.computeABADerivatives(twin.model, twin.data, q, v, twin.v_from(tau))
    moved = vc.forward_dynamics_derivatives(m, s, tau)
    assert deviation(moved.by_q, twin.matrix_to(np.array(twin.data.ddq_dq))) < EXACT
    assert deviation(moved.by_v, twin.matrix_to(np.array(twin.data.ddq_dv))) < EXACT


@pytest.mark.parametrize("seed", range(scaled(6, 2)))
def test_gravity_torques_are_the_gradient_of_the_potential(seed):
    """At rest, dtau_k/dq_j of a tree without springs is E_j(E_k U), the potential's Hessian, unsymmetric at balls."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, scaled(6, 3), kinds=("spherical", "revolute", "prismatic", "free"))
    s = random_state(rng, m)
    s.v = np.zeros(m.n_v)
    space = vc.AnimationSpace(m, {"centre": vc.animation.center_of_mass()})
    mass = sum(link.inertia.mass for link in m.links)
    hessian = -mass * np.einsum("i,ijk->jk", np.asarray(m.gravity), space.hessian(s))
    assert deviation(np.asarray(vc.inverse_dynamics_derivatives(m, s).by_q).T, hessian) < EXACT


def test_the_ball_of_the_conventions():
    """A ball that carries 1 kg at (0, 0, -1) m, g = 10 m/s^2: E_y tau_y = 10 N m/rad, E_x tau_y = 0."""
    m = vc.Mechanism("ball", gravity=(0, 0, -10))
    m.add_link("bob", joint=vc.Spherical(name="ball"), inertia=vc.Inertia.sphere(1.0, 0.01, com=(0, 0, -1)))
    d = vc.inverse_dynamics_derivatives(m, m.state())
    assert d.by_q["ball.wy", "ball.wy"].item() == pytest.approx(10.0)
    assert d.by_q["ball.wy", "ball.wx"].item() == pytest.approx(0.0, abs=1e-12)


def test_a_translation_changes_nothing():
    """Moved as a whole, a floating figure needs the same torques, and accelerates the same."""
    rng = np.random.default_rng(0)
    m = vc.figures.human16()
    s = random_state(rng, m)
    assert m.joints[0].kind == "free"
    by_place = vc.inverse_dynamics_derivatives(m, s, zoo.random_v(rng, m)).by_q.array[:, 3:6]
    assert np.abs(by_place).max() < 1e-9
    assert np.abs(vc.forward_dynamics_derivatives(m, s).by_q.array[:, 3:6]).max() < 1e-9


def test_parts_have_names():
    """Rows and columns are found by joints and by freedoms; unknown names are errors that list the known ones."""
    m = vc.figures.human16()
    d = vc.forward_dynamics_derivatives(m, m.state())
    whole = np.asarray(d.by_q)
    knee, hip = m.state().layout.slot("left knee").v, m.state().layout.slot("left hip").v
    assert (d.by_q["left knee", "left hip"] == whole[knee, hip]).all()
    assert d.by_q["left knee", "left hip.wx"].shape == (1, 1)
    with pytest.raises(vc.UnknownNameError, match="tail"):
        d.by_q["tail", "left hip"]
    with pytest.raises(vc.InputError, match="two names"):
        d.by_q["left knee"]
    assert "46" not in repr(d) and "a by q" in repr(d)


def test_massless_links_are_refused():
    """A link without mass has no derivatives: an error names it."""
    m = vc.Mechanism("bare")
    m.add_link("rod", joint=vc.Revolute("y", name="hinge"))
    with pytest.raises(vc.SingularMassError, match="rod"):
        vc.forward_dynamics_derivatives(m, m.state())
    with pytest.raises(vc.SingularMassError, match="rod"):
        vc.inverse_dynamics_derivatives(m, m.state())
