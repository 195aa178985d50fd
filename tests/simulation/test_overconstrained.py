"""Linkages that move although a count of freedoms says they cannot: Bricard's (A04 of IFToMM's library) and Bennett's.

One row of five, or three, is implied by the others, but only where the loop is closed: where it is open, as in the
stages of a step, that row has a part of its own, which means nothing.
"""

import numpy as np
import pytest

import varichain as vc
from lane import compiled_only
from motion import slender

CLOSED = 1e-12
"""[m or rad] by which loops may be open at samples; they are closed to 1e-13."""

EXACT = 1e-10
"""Of the energy turned over: what rk45 leaves with a tolerance of 1e-11."""


def rod(to):
    """A slender rod of 1 kg from the origin, with a little inertia about its own axis."""
    to = np.asarray(to, float)
    length = np.linalg.norm(to)
    turned = np.eye(3) - np.outer(to, to) / length**2
    return vc.Inertia(1.0, to / 2, length**2 * (turned / 12 + 1e-4 * np.eye(3)))


def bricard():
    """Five rods of 1 m and the ground, along the edges of a cube; axes at right angles to both neighbours."""
    corners = np.array([(0, 0, 0), (1, 0, 0), (1, -1, 0), (1, -1, 1), (0, -1, 1), (0, 0, 1)], float)
    m, parent, at = vc.Mechanism("Bricard", gravity=(0, -9.81, 0)), "ground", corners[0]
    for i, axis in enumerate("yzxyz"):
        to = corners[i + 1] - corners[i]
        m.add_link(f"rod {i}", parent, vc.Revolute(axis), at=at, inertia=rod(to))
        parent, at = f"rod {i}", to
    m.connect(parent, "ground", vc.Revolute("x"), at=at, at_other=corners[5], name="last")
    return m, m.state()


def bennett():
    """Four links with lengths in proportion to the sines of their twists."""
    m, twists = vc.Mechanism("Bennett"), (0.6, 1.1, 0.6, 1.1)
    lengths = [np.sin(twist) / np.sin(0.6) for twist in twists]
    parent, at = "ground", vc.Pose()
    for i in range(3):
        m.add_link(f"link {i}", parent, vc.Revolute("z"), at=at, inertia=rod((lengths[i], 0, 0)))
        parent, at = f"link {i}", vc.Pose((lengths[i], 0, 0), rotation_vector=(twists[i], 0, 0))
    closing = vc.Pose((lengths[3], 0, 0), rotation_vector=(twists[3], 0, 0)).inverse()
    m.connect(parent, "ground", vc.Revolute("z"), at=at, at_other=closing, name="last")
    s = m.state()
    s.q, s.v = (1.8, -3.93, -1.8), (-1.0, 0.7, 1.0)
    return m, vc.project(m, vc.assemble(m, s).state)


LINKAGES = [bricard, bennett]


def turned_over(trace):
    """Largest error of the energy, as a part of the largest kinetic energy."""
    energy = trace.epochs[0].energy
    whole = energy.sum(axis=1)
    return np.abs(whole - whole[0]).max() / energy[:, 0].max()


@pytest.mark.parametrize("linkage", LINKAGES)
def test_they_have_one_freedom(linkage):
    """One freedom is found, and that the other rows are redundant."""
    m, s = linkage()
    mobility = vc.mobility(m, s)
    assert mobility.n_independent == 1
    assert mobility.rank == m.n_v  # of all freedoms, the virtual joint's included


@compiled_only
@pytest.mark.parametrize("linkage", LINKAGES)
def test_runs_are_exact(linkage):
    """An adaptive run keeps the energy and the loop; Runge-Kutta's steps of order four come to the same end.

    Where the rows that are chosen change within a step, as now and then in Bennett's linkage, the step is of order two.
    """
    m, s = linkage()
    trace = vc.simulate(m, s.copy(), 2.0, method="rk45", tolerance=1e-11, sample=0.02)
    assert turned_over(trace) < EXACT and trace.epochs[0].closure.max() < CLOSED
    errors = []
    for step in (1e-2, 5e-3, 2.5e-3):
        run = vc.simulate(m, s.copy(), 2.0, step=step, sample=0.02)
        errors.append(turned_over(run))
        assert np.abs(run.final.q - trace.final.q).max() < 2e-7
        assert run.epochs[0].closure.max() < CLOSED
    assert errors[2] < 1e-8 and (linkage is bennett or errors[0] > 12 * errors[1] > 144 * errors[2])


@compiled_only
def test_no_step_is_an_event():
    """No step of a run makes an error that others do not: rounding is not taken for a singular configuration."""
    m, s = bricard()
    trace = vc.simulate(m, s, 4.0, step=5e-4, sample=5e-4)
    whole = trace.epochs[0].energy.sum(axis=1)
    assert np.abs(np.diff(whole)).max() < 1e-11  # 1e-13 in most; 7e-7 in twenty-six of them where rounding was taken


@compiled_only
@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize(("method", "bound"), [("euler", 0.05), ("implicit", 1e-3)])
def test_methods_that_leave_loops_open(linkage, method, bound):
    """Euler's steps and implicit ones run as well, and twice as fine steps are closer to the exact run."""
    m, s = linkage()
    exact = vc.simulate(m, s.copy(), 1.0, method="rk45", tolerance=1e-11).final.q
    errors = []
    for step in (1e-2, 5e-3, 2.5e-3, 1.25e-3):
        trace = vc.simulate(m, s.copy(), 1.0, method=method, step=step, sample=0.05)
        errors.append(np.abs(trace.final.q - exact).max())
        assert trace.epochs[0].closure.max() < CLOSED
    assert errors[-1] < bound and errors[-1] < 0.8 * errors[-2] < 0.8 * 0.8 * errors[-3]


@pytest.mark.parametrize("linkage", LINKAGES)
@pytest.mark.parametrize("opening", [1e-7, 1e-5, 1e-4])
def test_accelerations_where_the_loop_is_open(linkage, opening):
    """Accelerations change as little as the configuration does, whichever way the loop is open."""
    m, s = linkage()
    handle, rng, tau = m.prepare(), np.random.default_rng(0), np.zeros(m.n_v)
    s.v = rng.standard_normal(m.n_v)
    s = vc.project(m, s)
    closed, a = np.empty(m.n_v), np.empty(m.n_v)
    handle.forward_dynamics(s.q, s.v, tau, closed)
    for _ in range(20):
        handle.forward_dynamics(s.q + opening * rng.standard_normal(m.n_v), s.v, tau, a)
        assert np.abs(a - closed).max() < 100 * opening * (1 + np.abs(closed).max())


def tilted_four_bar(turn):
    """A four-bar whose plane is turned: its redundant rows are rounding, not zeros."""
    m = vc.Mechanism("four-bar", gravity=turn.R @ (0, 0, -9.81))
    m.add_link("base", joint=vc.Fixed(), at=turn)
    m.add_link("crank", "base", vc.Revolute("y"), inertia=slender(0.5, 1.0, com=(0.25, 0, 0)))
    m.add_link("coupler", "crank", vc.Revolute("y"), at=(0.5, 0, 0), inertia=slender(1.3, 1.0, com=(0.65, 0, 0)))
    m.add_link("rocker", "base", vc.Revolute("y"), at=(1.2, 0, 0), inertia=slender(1.0, 1.0, com=(0.5, 0, 0)))
    m.connect("coupler", "rocker", vc.Revolute("y"), at=(1.3, 0, 0), at_other=(1.0, 0, 0), name="pin")
    s = m.state()
    s.q = (-1.0, 0.4, -1.6)
    return m, vc.assemble(m, s).state


@compiled_only
@pytest.mark.parametrize("seed", range(4))
def test_a_tilted_plane_changes_nothing(seed):
    """A planar linkage moves alike whichever way its plane is turned."""
    m, s = tilted_four_bar(vc.Pose())
    upright = vc.simulate(m, s, 3.0, step=1e-3, sample=0.1)
    m, s = tilted_four_bar(vc.Pose(rotation_vector=np.random.default_rng(seed).standard_normal(3)))
    tilted = vc.simulate(m, s, 3.0, step=1e-3, sample=0.1)
    for t in (1.0, 2.0, 3.0):
        assert np.abs(tilted.at(t).q - upright.at(t).q).max() < 1e-9, t
