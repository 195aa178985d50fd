"""Assembly: closed configurations from rough starts, on the branch that the start is near to."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import IS_COMPILED, scaled
from varichain.mechanism import Mechanism, Prismatic, Revolute, Spherical

CLOSED = 1e-10  # what `assemble` counts as closed
NAMES = [
    name for name in closed_zoo.MECHANISMS if IS_COMPILED or name not in ("standing figure", "holding hands", "delta")
]


def largest_gap(m, s):
    """Largest gap of all loops."""
    return max((loop.gap for loop in vc.loop_states(m, s).values()), default=0.0)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("rough", [0.01, 0.1, 0.3])
def test_rough_starts(name, rough):
    """Loops close from starts where every joint is off by up to the given angle or length."""
    m, s = closed_zoo.MECHANISMS[name]()
    rng = np.random.default_rng(0)
    for _ in range(scaled(5, 1)):
        start = s.integrate(rough * rng.uniform(-1, 1, m.n_v))
        q = start.q.copy()
        found = vc.assemble(m, start)
        assert largest_gap(m, found.state) <= CLOSED
        assert found.residual <= CLOSED
        assert (start.q == q).all()
        # the nearest closed state is at most as far as the one that we came from, by some factor for the metric
        assert found.distance < 10.0 * rough


def test_closed_states_stay():
    """A state that is closed already is not moved."""
    for name in NAMES:
        m, s = closed_zoo.MECHANISMS[name]()
        found = vc.assemble(m, s)
        assert found.distance < 1e-12, name


def test_distance_is_told():
    """The result says how far it moved, as a step on the manifold and in words."""
    m, s = closed_zoo.stewart()
    start = s.integrate(0.1 * zoo.random_v(np.random.default_rng(1), m))
    start.time, start.v = 2.0, np.ones(m.n_v)
    found = vc.assemble(m, start)
    np.testing.assert_allclose(start.integrate(found.moved).q, found.state.q, atol=1e-12)
    assert found.distance == np.abs(found.moved).max()
    assert f"{found.distance:.3g}" in str(found) and "steps" in str(found)
    assert found.state.time == 2.0 and (found.state.v == 1.0).all()


@pytest.mark.parametrize("elbow", [0.3, 1.0, 1.8])
def test_branch_is_kept(elbow):
    """An elbow that starts on one side ends on that side: a two-link arm to a point, elbow up and elbow down."""
    m = Mechanism("arm")
    m.add_link("upper", joint=Revolute("y"), inertia=closed_zoo.bar(1.0))
    m.add_link("fore", "upper", Revolute("y"), at=(1, 0, 0), inertia=closed_zoo.bar(1.0))
    m.connect("fore", "ground", Spherical(), at=(1, 0, 0), at_other=(1.4, 0, 0), name="hand")
    for sign in (-1, 1):
        s = m.state()
        s.q = (-sign * elbow / 2, sign * elbow)
        found = vc.assemble(m, s).state
        assert found["fore"].q == pytest.approx(sign * 2 * np.arccos(0.7), abs=1e-9)


def test_branches_of_a_four_bar():
    """Both assemblies of a four-bar at one crank angle are found, each from its own side."""
    m, s = closed_zoo.four_bar()
    angles = []
    for side in (-1, 1):
        start = s.copy()
        start["rocker"].q = side * 1.8
        start["knee"].q = s["crank"].q * -1.0 + side * 0.4
        angles.append(vc.assemble(m, start, hold=["crank"]).state["rocker"].q)
    assert angles[0] < -1.0 and angles[1] > 1.0


def test_held_joints_stay():
    """Joints that are held keep every digit; the others do the work."""
    m, s = closed_zoo.five_bar()
    start = s.integrate(0.2 * np.array([1.0, -1.0, -1.0, 1.0]))
    found = vc.assemble(m, start, hold=["left crank", "right crank"])
    for joint in ("left crank", "right crank"):
        assert found.state[joint].q == start[joint].q
    m, s = closed_zoo.bar_figure()
    start = s.integrate(0.1 * zoo.random_v(np.random.default_rng(2), m))
    found = vc.assemble(m, start, hold=["left hip", "right elbow"])
    assert (found.state["left hip"].q == start["left hip"].q).all()
    assert found.state["right elbow"].q == start["right elbow"].q
    assert largest_gap(m, found.state) <= CLOSED


def test_stretched_start():
    """A start where the gap has no slope, an arm stretched away from its target, is left by itself."""
    m = Mechanism("arm")
    m.add_link("upper", joint=Revolute("y"), inertia=closed_zoo.bar(1.0))
    m.add_link("fore", "upper", Revolute("y"), at=(1, 0, 0), inertia=closed_zoo.bar(1.0))
    m.connect("fore", "ground", Spherical(), at=(1, 0, 0), at_other=(1.2, 0, 0))
    assert largest_gap(m, vc.assemble(m, m.state()).state) <= CLOSED


def test_same_start_same_result():
    """Assembly is deterministic."""
    m, s = closed_zoo.stewart()
    start = s.integrate(0.2 * zoo.random_v(np.random.default_rng(3), m))
    assert (vc.assemble(m, start).state.q == vc.assemble(m, start).state.q).all()


# --- what cannot be closed -------------------------------------------------------------------------------------------


def impossible():
    """Four-bar whose coupler is too long, beside a slider whose loop closes."""
    m, s = closed_zoo.four_bar()
    m.cut("pin")
    m.connect("coupler", "rocker", Revolute("y"), at=(9.0, 0, 0), at_other=(1.6, 0, 0), name="too long")
    m.add_link("slider", joint=Prismatic("z"), inertia=closed_zoo.bar(0.1))
    m.connect("slider", "ground", Spherical(), at_other=(0, 0, 0.5), name="within reach")
    start = m.state()
    start.q = (*s.q, 0.0)
    return m, start


def test_impossible_loops():
    """Loops that cannot close are an error with what is left of each, and the state is as it was."""
    m, s = impossible()
    q, v = s.q.copy(), s.v.copy()
    with pytest.raises(vc.AssemblyError, match=r"'too long'.*\. Start closer$") as caught:
        vc.assemble(m, s)
    residuals = caught.value.residuals
    # the triangle inequality leaves a gap of 9 - 0.8 - 2 - 1.6 at least, shared by the two directions of the plane
    assert residuals["too long"] > 4.6 / np.sqrt(2) - 1e-6
    assert residuals["within reach"] < 1e-6
    assert (s.q == q).all() and (s.v == v).all()


def test_held_too_firmly():
    """Holding all joints of an open loop is an error, not a move."""
    m, s = closed_zoo.four_bar()
    start = s.integrate([0.1, 0.0, 0.0])
    with pytest.raises(vc.AssemblyError, match="Start closer, or hold fewer joints"):
        vc.assemble(m, start, hold=["crank", "knee", "rocker"])


def test_conflicting_loops():
    """Two loops that want one link at two places are an error, whichever of them is closed."""
    m = Mechanism("torn")
    m.add_link("box", parent=None, inertia=closed_zoo.bar(1.0))
    for i in range(2):
        m.connect("box", "ground", Spherical(), at_other=(i, 0, 0), name=f"place {i}")
    with pytest.raises(vc.AssemblyError) as caught:
        vc.assemble(m, m.state())
    assert max(caught.value.residuals.values()) == pytest.approx(0.5, abs=1e-3)  # least squares: midway


def test_dynamics_refuse_open_loops():
    """Dynamics of a state with open or opening loops is an error that names the worst loop and the cure."""
    m, s = closed_zoo.four_bar()
    for broken in (s.integrate([1e-3, 0, 0]), s.copy()):
        if (broken.q == s.q).all():
            broken.v = (1.0, 0.0, 0.0)
        for function in (vc.forward_dynamics, vc.inverse_dynamics):
            with pytest.raises(vc.AssemblyError, match=r"'pin'.*project"):
                function(m, broken)


def test_projection_closes_small_gaps():
    """Projection closes what a step of integration leaves, positions and velocities, and moves no further."""
    for name in ("four-bar", "stewart", "bennett", "sarrus", "bar figure"):
        m, s = closed_zoo.MECHANISMS[name]()
        rough = s.integrate(1e-4 * zoo.random_v(np.random.default_rng(4), m))
        rough.v = zoo.random_v(np.random.default_rng(5), m)
        found = vc.project(m, rough)
        assert largest_gap(m, found) < 1e-11
        assert np.abs(rough.difference(found)).max() < 1e-2
        again = vc.project(m, found)
        np.testing.assert_allclose(again.v, found.v, atol=1e-10)


@pytest.mark.parametrize(
    ("keywords", "error"),
    [
        ({"hold": ["crnk"]}, vc.UnknownNameError),
        ({"hold": "crank"}, vc.InputError),
        ({"tolerance": 0.0}, vc.InputError),
        ({"tolerance": -1e-3}, vc.InputError),
    ],
)
def test_bad_arguments(keywords, error):
    """Joints that do not exist and tolerances that are none are refused."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(error):
        vc.assemble(m, s, **keywords)
