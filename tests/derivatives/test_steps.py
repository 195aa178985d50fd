"""A step, linearised: derivatives of the numbers that steps compute."""

import warnings

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives import differences
from lane import scaled
from measure import deviation, random_state
from varichain.layout.layout import layout_of

# Central differences of order four with the best step; a step is linear but for h^2.
DIFFERENCED = 1e-8
METHODS = ("euler", "rk4", "rk45", "implicit")
# Kernels close loops with parts of the last factor; of figures that float it is known to the turn in a step.
CLOSED = {"euler": 1e-9, "implicit": 1e-8, "rk4": 1e-9, "rk45": 1e-9}
STEP = 0.02  # [s], a coarse one: that of the step and of the motion differ visibly


def advanced(method):
    """Function that takes one step of a simulation, as long as it is given."""

    def step(m, s, tau, h):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", vc.CoarseRunWarning)
            options = {"step": h, "tolerance": 1e6, "limits": "off", "method": method}
            epoch = vc.simulate(m, s, s.time + h, controller=lambda m, s: tau, **options).epochs[-1]
        end = s.copy()  # of the same mechanism: a trace would read its own from a description
        end.q, end.v = epoch.q[-1], epoch.v[-1]
        return end

    return step


def compare(m, s, tau, found, step, h=STEP, few=None, tolerance=DIFFERENCED):
    """Assert that A and B are differences of steps, along a few columns."""
    columns = differences.independent_columns(m, found.independent)
    nominal, n_f = step(m, s, tau, h), len(columns)
    assert deviation(found.state.q, nominal.q) < tolerance and deviation(found.state.v, nominal.v) < tolerance
    few = [*range(n_f)] if few is None else few

    def end(state, tau=tau):
        x = step(m, state, tau, h)
        return np.concatenate([nominal.difference(x)[columns], x.v[columns]])

    W, units = vc.forward_dynamics_derivatives(m, s, prefer=found.independent).W, np.eye(n_f)
    by_q = differences.by_q(end, m, s, columns, W[:, few])
    along = [lambda x, e=e: differences.with_independent(m, s, columns, s.v[columns] + x * e) for e in units[few]]
    by_v = np.column_stack([differences.central(end, at, differences.STEP) for at in along])
    scale = np.abs(found.A).max()
    assert deviation(found.A[:, :n_f][:, few], by_q, scale) < tolerance
    assert deviation(found.A[:, n_f:][:, few], by_v, scale) < tolerance
    some = np.eye(m.n_v)[few]
    by_tau = [differences.central(lambda x: end(s, x), lambda y, e=e: tau + y * e, 1e-2) for e in some]
    assert deviation(found.B[:, few], np.column_stack(by_tau), np.abs(found.B).max()) < tolerance


@pytest.mark.parametrize("method", scaled(METHODS, ["rk4"]))
@pytest.mark.parametrize("seed", range(scaled(2, 1)))
def test_steps_of_trees(seed, method):
    """A and B of a step are derivatives of the step itself: balls and free joints included."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, scaled(5, 2), kinds=zoo.MOVING, passive=True, free_base=True)
    s, tau = random_state(rng, m), zoo.random_v(rng, m)
    found = vc.linearise(m, s, STEP, tau, method=method)
    compare(m, s, tau, found, advanced(method))


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("name", scaled(["general four-bar", "delta without spin", "holding hands"], ["four-bar"]))
def test_steps_of_closed_chains(name, method):
    """Loops are closed after each step: A and B are derivatives of that too, in the metric that kernels close in."""
    rng = np.random.default_rng(0)
    m, s = closed_zoo.MECHANISMS[name]()
    s = s.copy()
    s.v = 0.3 * rng.normal(size=m.n_v)
    s, tau = vc.project(m, s), rng.normal(size=m.n_v)
    found = vc.linearise(m, s, 2e-3, tau, method=method)
    compare(m, s, tau, found, advanced(method), 2e-3, few=[0, -1], tolerance=CLOSED[method])


def test_stops_by_their_mode():
    """An elbow that lies on its stop is locked: a step has one freedom, and the torques of the elbow do nothing."""
    m, box = vc.Mechanism("arm"), vc.Inertia.box(1.0, (0.5, 0.05, 0.03), com=(0.25, 0, 0))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), inertia=box)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow", limits=(0.0, 2.0)), at=(0.5, 0, 0), inertia=box)
    s, tau = m.state(), np.array([0.1, -5.0])
    s.v = (0.3, 0.0)
    found = vc.linearise(m, s, STEP, tau, limits="hard")
    fixed = vc.Mechanism("rigid")
    fixed.add_link("upper", joint=vc.Revolute("y", name="shoulder"), inertia=box)
    fixed.add_link("lower", "upper", vc.Fixed(), at=(0.5, 0, 0), inertia=box)
    there = fixed.state()
    there.v = (0.3,)
    expected = vc.linearise(fixed, there, STEP, tau[:1])
    assert found.independent == ("shoulder",) and deviation(found.A, expected.A) < 1e-12
    assert deviation(found.B[:, :1], expected.B) < 1e-12 and not found.B[:, 1].any()
    assert vc.linearise(m, s, STEP, -tau, limits="hard").A.shape == (4, 4)  # lifted off
    s.v = (0.3, -1.0)
    with pytest.raises(vc.InputError, match="moves into its stop"):
        vc.linearise(m, s, STEP, tau, limits="hard")


def test_many_steps_are_the_product_of_single_ones():
    """Ten steps at once have the product of ten matrices."""
    rng = np.random.default_rng(1)
    m = zoo.random_tree(rng, 4, kinds=("revolute", "spherical"))
    s, product = random_state(rng, m), np.eye(2 * m.n_v)
    whole = vc.linearise(m, s, 1e-3, steps=3)
    for _ in range(3):
        one = vc.linearise(m, s, 1e-3)
        product, s = one.A @ product, one.state
    assert deviation(whole.A, product) < 1e-12
    assert whole.state.time == pytest.approx(3e-3)
    assert whole.by_q["v", m.joints[0].name].shape == (m.n_v, m.joints[0].n_v)
    assert "linearised" in repr(whole) and layout_of(m).is_tree


def test_what_is_refused():
    """Unknown methods, and implicit steps of springs in loops."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(vc.InputError, match="rk4"):
        vc.linearise(m, s, 1e-3, method="heun")
    m.edit_joint(m.virtual_links[0].joint.name, stiffness=1.0)
    with pytest.raises(vc.InputError, match="force element"):
        vc.linearise(m, s, 1e-3, method="implicit")
