"""Linkages that move although a count of freedoms says they cannot: those of Bricard, Bennett and Sarrus.

One row of five, or three, is implied by the others, but only where the loop is closed: where it is open, as in the
stages of a step, that row has a part of its own, which means nothing.
"""

import numpy as np
import pytest

import varichain as vc
from closed_zoo import bennett, bricard, random_closed_state, sarrus
from lane import compiled_only

CLOSED = 1e-12
"""[m or rad] by which loops may be open at samples; they are closed to 1e-13."""

EXACT = 1e-10
"""Of the energy turned over: what rk45 leaves with a tolerance of 1e-11."""

LINKAGES = [bricard, bennett, sarrus]


def moving(linkage):
    """The linkage, closed and in motion."""
    m, s = linkage()
    return m, random_closed_state(np.random.default_rng(3), m, s, speed=2.0)


def off_balance(trace):
    """Largest error of the energy, as a part of the largest kinetic energy."""
    energy = trace.epochs[0].energy
    whole = energy.sum(axis=1)
    return np.abs(whole - whole[0]).max() / energy[:, 0].max()


@compiled_only
@pytest.mark.parametrize("linkage", LINKAGES)
def test_runs_are_exact(linkage):
    """An adaptive run keeps the energy and the loop, and steps of Runge-Kutta have their order.

    Where the rows that are chosen change within a step, as now and then in Bennett's linkage, the step is of order two.
    In Bricard's that is seen at 2.5 ms, where it adds some 1e-8 to the 1e-8 of the method.
    """
    m, s = moving(linkage)
    exact = vc.simulate(m, s.copy(), 2.0, method="rk45", tolerance=1e-11, sample=0.02)
    assert off_balance(exact) < EXACT and exact.epochs[0].closure.max() < CLOSED
    errors = []
    for step in (1e-2, 5e-3, 2.5e-3):
        trace = vc.simulate(m, s.copy(), 2.0, method="rk4", step=step, sample=0.02)
        errors.append(off_balance(trace))
        assert trace.epochs[0].closure.max() < CLOSED
    assert errors[2] < 1e-6
    assert linkage is bennett or (errors[0] > 10 * errors[1] and errors[1] > 5 * errors[2])


@compiled_only
@pytest.mark.parametrize("linkage", LINKAGES)
def test_no_step_is_an_event(linkage):
    """No step of a run makes an error that others do not: rounding is not taken for a singular configuration."""
    m, s = moving(linkage)
    trace = vc.simulate(m, s, 4.0, method="rk4", step=5e-4, sample=5e-4)
    whole = trace.epochs[0].energy.sum(axis=1)
    assert np.abs(np.diff(whole)).max() < 1e-7  # [J] of some 50; 3e-8 is the method's own in Sarrus's linkage


@compiled_only
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("method", "order"), [("euler", 1), ("implicit", 2)])
def test_methods_that_leave_loops_open(linkage, method, order):
    """Euler's steps and implicit ones run as well, and finer steps are closer to the exact run."""
    m, s = moving(linkage)
    exact = vc.simulate(m, s.copy(), 0.5, method="rk45", tolerance=1e-11).final.q
    errors = []
    for step in (1e-2, 5e-3, 2.5e-3, 1.25e-3):
        trace = vc.simulate(m, s.copy(), 0.5, method=method, step=step, sample=0.05)
        errors.append(np.abs(trace.final.q - exact).max())
        assert trace.epochs[0].closure.max() < CLOSED
        assert len(errors) < 2 or errors[-1] < 1.3 * errors[-2] / 2**order


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("opening", [1e-7, 1e-5, 1e-4])
def test_accelerations_where_the_loop_is_open(linkage, opening):
    """Accelerations change as little as the configuration does, whichever way the loop is open."""
    m, s = moving(linkage)
    handle, rng, tau = m.prepare(), np.random.default_rng(0), np.zeros(m.n_v)
    closed, a = np.empty(m.n_v), np.empty(m.n_v)
    handle.forward_dynamics(s.q, s.v, tau, closed)
    for _ in range(20):
        handle.forward_dynamics(s.q + opening * rng.standard_normal(m.n_v), s.v, tau, a)
        assert np.abs(a - closed).max() < 100 * opening * (1 + np.abs(closed).max())


@pytest.mark.long
@compiled_only
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("seed", range(40))
def test_many_starts(linkage, seed):
    """From wherever it starts, no method leaves the motion."""
    m, s = linkage()
    s = random_closed_state(np.random.default_rng(seed), m, s, speed=2.0)
    exact = vc.simulate(m, s.copy(), 1.0, method="rk45", tolerance=1e-11).final
    bounds = {("rk4", 5e-3): 1e-4, ("rk4", 2e-3): 2e-6, ("implicit", 2e-3): 2e-3, ("euler", 1e-3): 0.2}
    for (method, step), bound in bounds.items():
        found = vc.simulate(m, s.copy(), 1.0, method=method, step=step).final
        assert np.abs(exact.difference(found)).max() < bound, (method, step)
