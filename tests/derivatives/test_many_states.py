"""Derivatives on the handle and in batches: the friendly functions' numbers."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives import differences
from lane import scaled
from measure import deviation

# The same kernels on the same numbers; friendly functions multiply with W besides.
EXACT = 1e-12
# Central differences of order four with the best step; loops of condition 1e3 take three digits.
DIFFERENCED = 1e-8

NAMES = scaled(["four-bar", "standing figure", "loop closed by screw"], ["four-bar"])


def moving(name):
    """A closed mechanism of the zoo, moving, and torques."""
    rng = np.random.default_rng(0)
    m, s = closed_zoo.MECHANISMS[name]()
    s = s.copy()
    s.v = rng.normal(size=m.n_v)
    return m, vc.project(m, s), rng.normal(size=m.n_v)


@pytest.mark.parametrize("name", NAMES)
def test_the_handle_of_a_closed_chain(name):
    """What the handle writes, times W, is the friendly result by torques; multipliers have theirs."""
    m, s, tau = moving(name)
    p = m.prepare()
    out, carried = np.empty((3, p.n_v, p.n_v)), np.empty((3, p.n_rows, p.n_v))
    assert p.forward_dynamics_derivatives(s.q, s.v, tau, out, carried) is out
    found = vc.forward_dynamics_derivatives(m, s, tau)
    assert deviation(out[1] @ found.W, found.by_v) < EXACT
    assert deviation(out[2], found.by_tau) < EXACT
    assert deviation(carried[2], found.multipliers.by_tau) < EXACT
    with pytest.raises(vc.ArrayError, match="derivatives_out"):
        p.forward_dynamics_derivatives(s.q, s.v, tau, np.empty((3, p.n_v)))


@pytest.mark.parametrize("name", NAMES)
def test_batches_have_the_bits_of_the_handle(name):
    """Each row of a batch has the bits that the handle writes for its state."""
    m, s, tau = moving(name)
    p, batch, n = m.prepare(), vc.Batch(m, threads=2), 5
    q, v = np.tile(s.q, (n, 1)), np.outer(np.linspace(0.0, 1.0, n), s.v)
    given = np.outer(np.linspace(1.0, 2.0, n), tau)
    by_motion = batch.inverse_dynamics_derivatives(q, v, given)
    by_torque = batch.forward_dynamics_derivatives(q, v, given, np.empty((n, 3, p.n_v, p.n_v)))
    out = np.empty((3, p.n_v, p.n_v))
    for i in range(n):
        np.testing.assert_array_equal(by_motion[i], p.inverse_dynamics_derivatives(q[i], v[i], given[i], out))
        np.testing.assert_array_equal(by_torque[i], p.forward_dynamics_derivatives(q[i], v[i], given[i], out))


def closed_by(joint):
    """A chain that ends at a joint which only loops have, and its state, moving."""
    rng = np.random.default_rng(2)
    m = zoo.random_tree(rng, 4, kinds=("spherical", "universal", "revolute"))
    s = m.state()
    s.q = zoo.random_q(rng, m)
    at_other = (0.1, 0.2, 0.3)
    if joint is vc.Distance:
        length = float(np.linalg.norm(vc.pose(m, s, m.links[-1].name).p - at_other))
        m.connect(m.links[-1].name, "ground", vc.Distance(length=length), at_other=at_other, name="closing")
    else:
        m.connect(m.links[-1].name, "ground", joint(), zoo.random_pose(rng), state=s, name="closing")
    s = s.copy().follow(m)
    s.v = rng.normal(size=m.n_v)
    return m, vc.project(m, s), rng.normal(size=m.n_v)


@pytest.mark.parametrize("joint", [vc.PinInSlot, vc.PointOnLine, vc.PointInPlane, vc.Distance, *scaled(zoo.ALL, ())])
def test_formulas_off_the_loops(joint):
    """Where rows are independent, the handle's matrices are differences of its accelerations, loops open or not."""
    m, s, tau = moving(f"loop closed by {joint}") if isinstance(joint, str) else closed_by(joint)
    p, out, carried = m.prepare(), np.empty((3, m.n_v, m.n_v)), np.empty((3, m.prepare().n_rows, m.n_v))
    p.forward_dynamics_derivatives(s.q, s.v, tau, out, carried)

    def both(q, v, tau):
        a = p.forward_dynamics(q, v, tau, np.empty(m.n_v))
        return np.concatenate([a, p.multipliers(np.empty(p.n_rows))])

    def turned(x):
        return p.integrate(s.q, x, 1.0, np.empty(p.n_q))

    none = np.zeros(m.n_v)
    for i, expected in enumerate(
        (
            differences.by_vector(lambda x: both(turned(x), s.v, tau), none),
            differences.by_vector(lambda x: both(s.q, x, tau), s.v),
            differences.by_vector(lambda x: both(s.q, s.v, x), tau),
        )
    ):
        assert deviation(out[i], expected[: m.n_v]) < DIFFERENCED
        if p.n_rows:
            assert deviation(carried[i], expected[m.n_v :]) < DIFFERENCED
