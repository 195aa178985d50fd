"""Derivatives with drives: re-closed differences of dense equations of motion, and torques of whole motions."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives.differences import by_q, by_v, by_vector, independent_columns
from derivatives.linkages import four_bar
from lane import scaled
from measure import random_state
from varichain.dynamics.loops import constraint_bias, constraint_matrix
from varichain.errors import InputError, UnknownNameError
from varichain.layout.layout import layout_of

TOLERANCE = 1e-6  # of re-closed differences of order four


def dense(m, s, drives, tau, given):
    """Accelerations and torques of drives, by least squares of all equations at once."""
    layout = layout_of(m)
    table, n = layout.workspaces.of_thread.table, layout.n_v
    M, h = vc.mass_matrix(m, s), vc.bias_force(m, s)
    K = constraint_matrix(layout, table, s.q) if layout.n_rows else np.zeros((0, n))
    bias = constraint_bias(layout, table, s) if layout.n_rows else np.zeros(0)
    E = np.eye(n)[:, drives]
    zero = np.zeros((len(K) + len(drives), len(K) + len(drives)))
    system = np.block([[M, np.hstack([-K.T, -E])], [np.vstack([K, E.T]), zero]])
    found = np.linalg.lstsq(system, np.concatenate([tau - h, -bias, given]), rcond=1e-10)[0]
    return np.concatenate([found[:n], found[n + len(K) :]])


def check(m, s, joints, rng):
    """Derivatives beside differences."""
    layout = layout_of(m)
    drives = np.concatenate([np.arange(layout.slot(name).v.start, layout.slot(name).v.stop) for name in joints])
    tau, given = rng.normal(size=m.n_v), rng.normal(size=len(drives))
    driven, at = {}, 0
    for name in joints:
        size = layout.slot(name).v.stop - layout.slot(name).v.start
        driven[name], at = given[at : at + size], at + size
    d = vc.driven_dynamics_derivatives(m, s, driven, tau)
    values = dense(m, s, drives, tau, given)
    assert np.concatenate([d.a.value, d.drives.value]) == pytest.approx(values, rel=1e-7, abs=1e-7)
    columns = independent_columns(m, d.independent)
    at_state = lambda one: dense(m, one, drives, tau, given)  # noqa: E731
    for by, expected in (
        ("by_q", by_q(at_state, m, s, columns, d.W)),
        ("by_v", by_v(at_state, m, s, columns)),
        ("by_tau", by_vector(lambda x: dense(m, s, drives, x, given), tau)),
        ("by_a", by_vector(lambda x: dense(m, s, drives, tau, x), given)),
    ):
        found = np.vstack([getattr(d.a, by).array, getattr(d.drives, by).array])
        assert np.abs(found - expected).max() < TOLERANCE * (1.0 + np.abs(expected).max()), by


@pytest.mark.parametrize("seed", range(scaled(6, 2)))
def test_trees(seed):
    """Random trees of all joints, some of them driven."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 4, zoo.MOVING, passive=True)
    joints = [joint.name for joint in m.joints]
    check(m, random_state(rng, m), joints[:: 1 + seed % 2][:2], rng)


@pytest.mark.parametrize("name", scaled(["four-bar", "five-bar", "stewart", "one hand"], ["five-bar"]))
def test_closed_chains(name):
    """A joint of closed chains is driven, redundant rows among them; what else follows is free."""
    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(4)
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.1)
    check(m, s, [next(joint.name for joint in m.joints if joint.n_v == 1)], rng)


def test_the_drive_of_a_crank():
    """A four-bar that is driven at its crank has the torque that `designs` finds; its slope is that over the turn."""
    m, s = four_bar()
    angles = np.linspace(0.0, 0.02, 5) + 0.5
    found = vc.designs(m, s, lambda m, x: None, [[0.0]], {"crank": np.stack([angles, np.full(5, 3.0), np.ones(5)])})
    s.q, s.v = found.q[0, 2], found.v[0, 2]
    d = vc.driven_dynamics_derivatives(m, s, {"crank": 1.0}, prefer=["crank"])
    tau = found.tau["crank"][0]
    assert d.drives.value[0] == pytest.approx(tau[2], abs=1e-8)
    h = angles[1] - angles[0]
    slope = (8.0 * (tau[3] - tau[1]) - (tau[4] - tau[0])) / (12.0 * h)
    assert d.drives.by_q["crank", "crank"].item() == pytest.approx(slope, rel=1e-6)
    assert np.abs(d.a.by_tau.array).max() < 1e-9  # nothing is left for torques to move
    assert "crank" in repr(d)


def test_refusals():
    """No drives, unknown ones, and drives that contradict the loops."""
    m, s = four_bar()
    s = vc.assemble(m, s, hold=["crank"]).state
    with pytest.raises(InputError, match="at least one"):
        vc.driven_dynamics_derivatives(m, s, {})
    with pytest.raises(UnknownNameError, match="crank"):
        vc.driven_dynamics_derivatives(m, s, {"cranks": 1.0})
    with pytest.raises(InputError, match="contradict the loops"):
        vc.driven_dynamics_derivatives(m, s, {"crank": 1.0, "knee": 5.0})
