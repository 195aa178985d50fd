"""The prepared space: velocities of one kernel call are those of dense least squares with equalities."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from animation.functions import leaves, planar_chain
from lane import scaled
from measure import deviation, random_state
from varichain import animation as an
from varichain.animation import PreparedSpace, inverse_velocity
from varichain.errors import ArrayError, FunctionError, InputError, UnknownNameError


def expected(space, s, wanted, importance, cost, damping, held):
    """Velocities by a dense solution of the equations of Lagrange; `held` are rows that must not move."""
    found, n = space.at(s), len(s.v)
    J = importance[:, None] * found.gradient / np.sqrt(cost)
    C = held / np.sqrt(cost)
    _, sigma, Vt = np.linalg.svd(C)
    rank = int((sigma > 1e-9).sum())
    free = Vt[rank:].T
    A = free.T @ (J.T @ J + damping**2 * np.eye(n)) @ free
    f = free.T @ J.T @ (importance * (wanted - found.rate))
    return (free @ np.linalg.solve(A, f)) / np.sqrt(cost)


def closures(m):
    """Closure errors of all loops."""
    names = [virtual.joint.name for virtual in m.virtual_links]
    return vc.AnimationSpace(m, {name: an.closure_error(m, name) for name in names})


@pytest.mark.parametrize("seed", range(scaled(30, 4)))
def test_velocities_are_those_of_dense_least_squares(seed):
    """On trees of all joints, with importance, weights, damping, time and rates of targets."""
    rng = np.random.default_rng(seed)
    m = zoo.random_tree(rng, 2 + seed % 9, zoo.MOVING)
    s = random_state(rng, m)
    s.v[:], s.time = 0.0, 0.7
    space = vc.AnimationSpace(m, leaves(m, rng))
    importance = {name: float(rng.uniform(0.5, 2.0)) for name in list(space.functions)[::2]}
    cost = rng.uniform(0.5, 3.0, m.n_v)
    handle = PreparedSpace(space, importance, cost, damping=0.1, gain=4.0)
    handle.target[:], handle.rate[:] = rng.normal(size=(2, len(space)))
    factors = np.concatenate([np.full(f.size, importance.get(n, 1.0)) for n, f in space.functions.items()])
    wanted = handle.rate + 4.0 * (handle.target - space.value(s))
    found = handle.approach(s.q, time=0.7)
    assert deviation(found, expected(space, s, wanted, factors, cost, 0.1, np.zeros((0, m.n_v)))) < 1e-9
    assert deviation(handle.value, space.value(s)) == 0.0 and deviation(handle.gradient, space.gradient(s)) == 0.0


@pytest.mark.parametrize(
    "name", scaled(["four-bar", "tilted four-bar", "sarrus", "stewart", "nested loops", "bar figure"], ["four-bar"])
)
def test_loops_stay_closed(name):
    """In closed chains, dependent rows among them, velocities keep the loops and are the best of those that do."""
    m, s = closed_zoo.MECHANISMS[name]()
    s.v[:] = 0.0
    rng = np.random.default_rng(1)
    space = vc.AnimationSpace(m, {"p": an.point(m.links[-1]), "r": an.rotation(m.links[0]), "q": an.posture(m)})
    handle = PreparedSpace(space, damping=1e-2)
    handle.target[:] = space.value(s) + rng.normal(size=len(space))
    loops = closures(m)
    v = handle.approach(s.q)
    K = loops.gradient(s)
    assert np.abs(K @ v).max() < 1e-8 * np.abs(v).max()
    wanted = handle.target - space.value(s)
    best = expected(space, s, wanted, np.ones(len(space)), np.ones(m.n_v), 1e-2, K)
    assert deviation(v, best) < 1e-6  # rounding times the condition of A, whose damping is 1e-4


def test_open_loops_close():
    """A gap of a loop shrinks as fast as the gain says."""
    m, s = closed_zoo.MECHANISMS["four-bar"]()
    q = s.q + 1e-3
    space = vc.AnimationSpace(m, {"crank": an.coordinate("crank")})
    handle = PreparedSpace(space, gain=10.0)
    loops = closures(m)
    off = m.state()
    off.q = q
    v = handle.approach(q).copy()
    off.v = v
    assert deviation(loops.rate(off), -10.0 * loops.value(off)) < 1e-9


def test_squares_are_held_by_their_arguments():
    """A joint whose square is held stays where it is while the tip moves, without drift."""
    m = planar_chain(10, length=0.1)
    s = m.state()
    s.q = np.r_[0.0, 0.3 * np.ones(9)]
    space = vc.AnimationSpace(m, {"tip": an.point("rod 10", (0.1, 0, 0))[:2], "held": an.coordinate("phi 1") ** 2})
    handle = PreparedSpace(space, damping=0.05, hold=["held"])
    handle.target[:2] = space.value(s)[:2] + np.array([0.1, -0.1])
    for _ in range(200):
        s = s.integrate(0.1 * handle.approach(s.q))
    assert abs(s.q[0]) < 1e-15
    assert deviation(space.value(s)[:2], handle.target[:2]) < 1e-6


def test_the_friendly_function_agrees():
    """Without scaling of rows, `inverse_velocity` gives the same velocities."""
    m = planar_chain(5)
    s = m.state()
    s.q = (0.3, 0.4, -0.5, 0.6, 0.7)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 5")[:2], "angle": an.coordinate("phi 2")})
    handle = PreparedSpace(space, damping=0.1)
    handle.target[:] = space.value(s)
    handle.rate[:] = (1.0, -0.5, 0.2)
    friendly = inverse_velocity(space, s, handle.rate, an.Resolution(damping=0.1, normalise=False))
    assert deviation(handle.approach(s.q), friendly.motion) < 1e-10


def test_bad_input():
    """Mistakes are found when a handle is made, or when an array comes for the first time."""
    m = planar_chain(3)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 3"), "gap": an.distance("rod 1", "rod 2")})
    for options, error in (
        ({"importance": {"top": 1.0}}, InputError),
        ({"importance": {"tip": 0.0}}, InputError),
        ({"damping": -1.0}, InputError),
        ({"gain": 0.0}, InputError),
        ({"weights": [1.0, 0.0, 1.0]}, InputError),
        ({"hold": ["top"]}, UnknownNameError),
        ({"hold": "tip"}, InputError),
    ):
        with pytest.raises(error):
            PreparedSpace(space, **options)
    with pytest.raises(InputError, match="space"):
        PreparedSpace(m)
    handle = PreparedSpace(space)
    with pytest.raises(ArrayError, match=r"shape \(3,\), not \(4,\)"):
        handle.approach(np.zeros(4))
    with pytest.raises(ArrayError, match="must be an array"):
        handle.approach([0.0, 0.0, 0.0])
    still = vc.AnimationSpace(m, {"gap": an.distance("rod 1", "rod 1")})
    with pytest.raises(FunctionError, match="gap"):
        PreparedSpace(still).approach(np.zeros(3))


def test_a_handle_keeps_its_structure():
    """Later edits of the mechanism do not reach a handle."""
    m = planar_chain(3)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 3")[:2]})
    handle = PreparedSpace(space)
    before = handle.approach(np.array([0.1, 0.2, 0.3])).copy()
    m.add_link("more", "rod 3", vc.Revolute("z"))
    assert handle.revision != m.revision
    assert deviation(handle.approach(np.array([0.1, 0.2, 0.3])), before) == 0.0
