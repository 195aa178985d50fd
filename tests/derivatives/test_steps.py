"""A step, linearised: derivatives of the numbers that steps compute."""

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
DIFFERENCED = 1e-9
STEP = 0.02  # [s], a coarse one: that of the step and of the motion differ visibly


def advanced(m, s, tau, h):
    """State after a step of the handle."""
    end = s.copy()
    m.prepare().advance(end.q, end.v, tau, h)
    return end


def euler(m, s, tau, h):
    """State after a step of semi-implicit Euler, written out."""
    end = s.copy()
    end.v = s.v + h * vc.forward_dynamics(m, s, tau).a
    end.q = s.integrate(h * end.v).q
    return end


def compare(m, s, tau, found, step):
    """Assert that A and B are differences of steps."""
    columns = differences.independent_columns(m, found.independent)
    nominal = step(m, s, tau, STEP)
    assert deviation(found.state.q, nominal.q) < 1e-12 and deviation(found.state.v, nominal.v) < 1e-11

    def end(state, tau=tau):
        x = step(m, state, tau, STEP)
        return np.concatenate([nominal.difference(x)[columns], x.v[columns]])

    W = vc.forward_dynamics_derivatives(m, s, prefer=found.independent).W
    by_q, by_v = differences.by_q(end, m, s, columns, W), differences.by_v(end, m, s, columns)
    assert deviation(found.A, np.hstack([by_q, by_v])) < DIFFERENCED
    assert deviation(found.B, differences.by_vector(lambda x: end(s, x), tau, 1e-2)) < DIFFERENCED


@pytest.mark.parametrize("method", ["rk4", "euler"])
@pytest.mark.parametrize("seed", range(scaled(5, 1)))
def test_steps_of_trees(seed, method):
    """A and B of a step are derivatives of the step itself: balls and free joints included."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, scaled(5, 2), kinds=zoo.MOVING, passive=True, free_base=True)
    s, tau = random_state(rng, m), zoo.random_v(rng, m)
    found = vc.linearise(m, s, STEP, tau, method=method)
    compare(m, s, tau, found, advanced if method == "rk4" else euler)


@pytest.mark.parametrize("name", scaled(["general four-bar", "delta without spin", "holding hands"], ["four-bar"]))
def test_steps_of_closed_chains(name):
    """Loops are closed after each step: changes stay along them, to what the closing itself leaves."""
    rng = np.random.default_rng(0)
    m, s = closed_zoo.MECHANISMS[name]()
    s = s.copy()
    s.v = 0.3 * rng.normal(size=m.n_v)
    s, tau = vc.project(m, s), rng.normal(size=m.n_v)
    found = vc.linearise(m, s, 1e-3, tau)
    columns = differences.independent_columns(m, found.independent)

    def end(state):
        x = advanced(m, state, tau, 1e-3)
        return np.concatenate([found.state.difference(x)[columns], x.v[columns]])

    W = vc.forward_dynamics_derivatives(m, s, prefer=found.independent).W
    by_q, by_v = differences.by_q(end, m, s, columns, W), differences.by_v(end, m, s, columns)
    assert deviation(found.A, np.hstack([by_q, by_v])) < 1e-7


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
    """Unknown methods, and Euler's for loops."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(vc.InputError, match="rk4"):
        vc.linearise(m, s, 1e-3, method="heun")
    with pytest.raises(vc.InputError, match="Euler"):
        vc.linearise(m, s, 1e-3, method="euler")
