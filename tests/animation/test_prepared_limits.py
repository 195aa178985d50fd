"""Limits of a prepared space: ranges of joints, bounds of functions, speeds and accelerations, in the kernel's call."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from animation.functions import planar_chain
from lane import scaled
from measure import random_state
from varichain import animation as an
from varichain.animation import PreparedSpace
from varichain.errors import InputError

daqp = pytest.importorskip("daqp")
TOLERANCE = 1e-7  # rounding times the condition of A, whose damping is 0.05


def best(space, s, handle, C, low, high, K):
    """Velocities of least cost within low <= C v <= high and K v = 0, by daqp over an orthonormal basis."""
    G, n = space.gradient(s), len(s.v)
    sigma, Vt = np.linalg.svd(K, full_matrices=True)[1:]
    free = Vt[int((sigma > 1e-9).sum()) :].T
    J = handle.importance[:, None] * G
    H = free.T @ (J.T @ J + handle.damping**2 * np.eye(n)) @ free
    f = -free.T @ J.T @ (handle.importance * handle.gain * (handle.target - space.value(s)))
    rows = np.ascontiguousarray(C @ free)
    y, _, status, _ = daqp.solve(H, f, rows, high, low, np.zeros(len(low), np.int32), primal_tol=1e-11)
    assert status == 1
    return free @ y


def compare(m, s, rng, K):
    """Velocities of the kernel beside those of daqp, with narrow bounds of speeds and of a point; how many are met."""
    space = vc.AnimationSpace(m, {"p": an.point(m.links[-1]), "q": an.posture(m), "c": an.center_of_mass()})
    fastest = rng.uniform(0.05, 0.5, m.n_v)
    height = float(space.value(s)[2])
    bounds = {"at_least": {"p": height - 3.0}, "at_most": {"c": float(space.value(s)[-3:].max()) + 0.01}}
    handle = PreparedSpace(space, {"q": 0.3}, damping=0.05, within=0.2, fastest=fastest, **bounds)
    handle.target[:] = space.value(s) + rng.normal(size=len(space))
    v = handle.approach(s.q).copy()
    u, G = space.value(s), space.gradient(s)
    p, c = space.slices["p"], space.slices["c"]
    C = np.vstack([np.eye(m.n_v), G[p], G[c]])
    low = np.concatenate([-fastest, (height - 3.0 - u[p]) / 0.2, np.full(3, -1e9)])
    high = np.concatenate([fastest, np.full(3, 1e9), (bounds["at_most"]["c"] - u[c]) / 0.2])
    expected = best(space, s, handle, C, low, high, K)
    assert np.abs(v - expected).max() < TOLERANCE
    return int((np.abs(np.abs(v) - fastest) < 1e-8).sum())


def test_velocities_are_those_of_a_quadratic_programme():
    """On trees of all joints, speeds and functions within bounds: the answer of daqp, bounds are met."""
    met = 0
    for seed in range(scaled(40, 5)):
        rng = np.random.default_rng(seed)
        m = zoo.random_tree(rng, 2 + seed % 9, zoo.MOVING)
        s = random_state(rng, m)
        s.v[:] = 0.0
        met += compare(m, s, rng, np.zeros((1, m.n_v)))
    assert met > scaled(40, 5)


@pytest.mark.parametrize("name", scaled(["four-bar", "stewart", "nested loops"], ["four-bar"]))
def test_loops_and_limits_are_kept_together(name):
    """In closed chains, dependent rows among them, the answer is that of daqp along closed directions."""
    m, s = closed_zoo.MECHANISMS[name]()
    s.v[:] = 0.0
    loops = vc.AnimationSpace(m, {one.joint.name: an.closure_error(m, one.joint.name) for one in m.virtual_links})
    assert compare(m, s, np.random.default_rng(3), loops.gradient(s)) > 0


def test_ranges_of_joints_are_kept_step_by_step():
    """A figure reaches far, step by step: no hinge, swing or twist leaves its range; without limits some do."""
    m = vc.figures.human40()
    space = vc.AnimationSpace(m, {"hand": an.point("left grip"), "feet": an.point("left foot"), "post": an.posture(m)})
    worst = {}
    for within in (0.1, None):
        s = m.state()
        handle = PreparedSpace(space, {"post": 0.01}, gain=2.0, within=within)
        handle.target[:] = space.value(s)
        handle.target[:3] += (-1.5, 0.5, 0.3)
        worst[within] = 0.0
        for _ in range(scaled(60, 4)):
            s = s.integrate(0.1 * handle.approach(s.q))
            worst[within] = max(worst[within], max(vc.limit_excess(m, s).values(), default=0.0))
    assert worst[0.1] < 2e-3  # swings are no linear functions of steps
    assert scaled(worst[None] > 0.1, True)


def test_speeds_and_accelerations_are_bounded():
    """The tip of a chain is far from its target: freedoms speed up by no more than `sharpest`, to `fastest` at most."""
    m = planar_chain(4)
    s = m.state()
    s.q = (0.3, 0.4, 0.5, 0.6)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 4", (1, 0, 0))[:2]})
    handle = PreparedSpace(
        space, gain=50.0, within=0.01, fastest={"phi 1": 1.0, "phi 2": 2.0}, sharpest=np.full(4, 30.0)
    )
    handle.target[:] = (1.0, -2.0)
    before, found = np.zeros(4), []
    for _ in range(20):
        found.append(handle.approach(s.q).copy())
        assert np.abs(found[-1] - before).max() <= 0.3 + 1e-8
        before = found[-1]
        s = s.integrate(0.01 * before)
    largest = np.abs(found).max(axis=0)
    assert largest[:2] == pytest.approx([1.0, 2.0], abs=1e-8) and largest[2:].max() > 2.5


def test_contradictory_limits_are_named():
    """A joint that is far outside of its range cannot return slowly: its name is in the message."""
    m = planar_chain(2)
    m.edit_joint("phi 2", limits=(-0.5, 0.5))
    space = vc.AnimationSpace(m, {"tip": an.point("rod 2")[:2]})
    handle = PreparedSpace(space, within=0.1, fastest=np.ones(2))
    with pytest.raises(InputError, match="phi 2"):
        handle.approach(np.array([0.0, 2.0]))
    assert np.isfinite(handle.approach(np.array([0.0, 0.55]))).all()
    with pytest.raises(InputError, match="within"):
        PreparedSpace(space, fastest=np.ones(2))
    with pytest.raises(InputError, match="at least 1 and at most 0"):
        PreparedSpace(space, within=0.1, at_least={"tip": 1.0}, at_most={"tip": 0.0})
