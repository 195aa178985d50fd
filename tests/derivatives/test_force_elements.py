"""Derivatives with force elements between links: springs, cables, constant forces, muscles, torsion springs."""

import numpy as np
import pytest

import varichain as vc
from closed.test_force_elements import ELEMENTS, arms
from derivatives.differences import by_q, by_v, independent_columns
from lane import scaled
from varichain.errors import InputError

TOLERANCE = 1e-7  # of differences of order four


@pytest.mark.parametrize("name", scaled([*ELEMENTS], ["spring-damper", "torsion"]))
@pytest.mark.parametrize("loop", [False, True])
def test_derivatives_are_differences(name, loop):
    """Torques and accelerations by positions and velocities, in open and closed chains."""
    m, s = arms(ELEMENTS[name], loop)
    plain, _ = arms(None, loop)
    tau, a = np.random.default_rng(0).normal(size=(2, m.n_v))
    d = vc.forward_dynamics_derivatives(m, s, tau)
    columns = independent_columns(m, d.independent)
    under = lambda one: vc.forward_dynamics(m, one, tau).a  # noqa: E731
    pairs = [(d.by_q, by_q(under, m, s, columns, d.W)), (d.by_v, by_v(under, m, s, columns))]
    if not loop:
        e = vc.inverse_dynamics_derivatives(m, s, a)
        needed = lambda one: vc.inverse_dynamics(m, one, a, actuators=False).tau  # noqa: E731
        pairs += [(e.by_q, by_q(needed, m, s, columns, e.W)), (e.by_v, by_v(needed, m, s, columns))]
        without = vc.inverse_dynamics_derivatives(plain, _like(plain, s), a)
        assert np.abs(e.by_q.array - without.by_q.array).max() > 1e-3  # the element is part of it
    for found, expected in pairs:
        assert np.abs(found.array - expected).max() < TOLERANCE * (1.0 + np.abs(expected).max())


def _like(m, s):
    """The state of a mechanism with the same joints."""
    other = m.state()
    other.q, other.v = s.q, s.v
    return other


def test_a_slack_cable_has_none():
    """A cable that hangs loose is as good as none."""
    m, s = arms(vc.SpringDamper(stiffness=40.0, length=5.0, slack=True))
    plain, _ = arms()
    found, expected = (vc.forward_dynamics_derivatives(one, _like(one, s)) for one in (m, plain))
    assert np.abs(found.by_q.array - expected.by_q.array).max() < 1e-12


def test_energy_has_elements_too():
    """The potential energy's gradient has springs and constant forces; a force function has no potential."""
    for name in ("spring-damper", "constant", "torsion"):
        m, s = arms(ELEMENTS[name])
        d = vc.total_derivatives(m, s)
        columns = independent_columns(m, d.independent)
        potential = lambda one, m=m: [vc.energy(m, one).gravitational + vc.energy(m, one).elastic]  # noqa: E731
        expected = by_q(potential, m, s, columns, d.W)[0]
        assert np.abs(d.energy.by_q.array[1] - expected).max() < 1e-8 * (1.0 + np.abs(expected).max()), name
    with pytest.raises(InputError, match="element"):
        vc.total_derivatives(*arms(ELEMENTS["muscle"]))


def test_steps_have_elements_too():
    """A and B of a step are differences of the step, with a spring between the links."""
    m, s = arms(ELEMENTS["spring-damper"])
    found = vc.linearise(m, s, 1e-3)
    columns = independent_columns(m, found.independent)
    after = lambda one: vc.linearise(m, one, 1e-3).state.v  # noqa: E731
    few = scaled(m.n_v, 2)
    expected = by_q(after, m, s, columns, np.eye(m.n_v)[:, :few])
    assert np.abs(found.A[m.n_v :, :few] - expected).max() < 1e-8
