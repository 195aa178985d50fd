"""Functions that follow curves: hand-over while moving, torques as a controller, plans and their replay."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import varichain as vc
from animation.functions import planar_chain
from lane import long_run
from varichain import animation as an
from varichain.animation import Resolution, Track, Tracker, plan


def moving_chain(n=10, length=0.1):
    """A chain whose tip goes round an ellipse, and a point in its middle."""
    m = planar_chain(n, length=length, mass=0.2)
    s = m.state()
    s.q = 2.8 / n * np.ones(n)
    space = vc.AnimationSpace(
        m, {"tip": an.point(f"rod {n}", (length, 0, 0))[:2], "middle": an.point(f"rod {n // 2}", (length, 0, 0))[:2]}
    )
    return m, s, space


def ellipse(center):
    """A course that begins at rest in its centre."""
    t = np.linspace(0.0, 4.0, 81)
    grow = np.clip(t, 0, 1) ** 3 * (10 - 15 * np.clip(t, 0, 1) + 6 * np.clip(t, 0, 1) ** 2)
    return CubicSpline(t, center + grow[:, None] * np.column_stack([0.1 * np.sin(3 * t), 0.05 * (1 - np.cos(3 * t))]))


@long_run
@pytest.mark.parametrize("damping", [0.1, 0.01, 0.001])
def test_tasks_are_handed_over_without_a_jump(damping):
    """A second point joins while the tip moves: velocities change by no more than a smooth motion's, at any damping."""
    _, s, space = moving_chain()
    u = space.value(s)
    straight = CubicSpline([0, 1], [u[:2], u[:2] + np.array([0.1, -0.1])], bc_type="natural")
    drift = CubicSpline([0, 1], [u[2:], u[2:] + np.array([0.05, 0.02])], bc_type="natural")
    changes = {}
    for blend in (0.3, 0.0):
        tracker = Tracker(
            space,
            {"tip": straight, "middle": Track(drift, begins=0.4, ends=0.9, blend=blend)},
            Resolution(damping=damping),
            feedback=0.0,
        )
        state, before, largest = s.copy(), None, 0.0
        for i in range(1000):
            state.time = i * 1e-3
            v = tracker.velocity(state)
            largest = max(largest, 0.0 if before is None else np.abs(v - before).max())
            before = v
            state = state.integrate(1e-3 * v)
        changes[blend] = largest
    assert changes[0.3] < 0.02
    assert changes[0.0] > 5.0 * changes[0.3]


def test_priorities_hold_while_tracks_come_and_go():
    """Of two tracks that contradict each other the first is followed exactly, also before the other one begins."""
    m = planar_chain(3)
    s = m.state()
    s.q = (0.4, 0.5, 0.6)
    space = vc.AnimationSpace(m, {"tip": an.point("rod 3", (1, 0, 0))[:2], "knee": an.point("rod 2", (1, 0, 0))[:2]})
    tip, knee = (CubicSpline([0, 1], [u, u + 0.1]) for u in np.split(space.value(s), 2))
    tracks = {"tip": tip, "knee": Track(lambda t, nu=0: -knee(t, nu), begins=0.5, blend=0.1)}
    first, last = Resolution(priorities=[["tip"], ["knee"]]), Resolution(priorities=[["knee"], ["tip"]])
    for time in (0.0, 0.8):
        s.time = time
        found = [space.gradient(s) @ Tracker(space, tracks, how, feedback=0.0).velocity(s) for how in (first, last)]
        assert found[0][:2] == pytest.approx(tip(time, 1), abs=1e-9)
        if time == 0.8:
            assert found[1][2:] == pytest.approx(-knee(time, 1), abs=1e-9)
            assert np.abs(found[1][:2] - tip(time, 1)).max() > 1e-3


def test_traces_have_what_is_wanted_and_reached():
    """A watch records numbers of functions, and places of those that are points; what is not asked for is NaN."""
    m, s, _ = moving_chain(3)
    functions = {"tip": an.point("rod 3")[:2], "center": an.center_of_mass(), "bend": an.coordinate("phi 2") ** 2}
    space = vc.AnimationSpace(m, functions)
    tracks = {"tip": [0.1, 0.2], "center": Track([0.0, 0.1, 0.0], begins=0.05, blend=0.0), "bend": 0.5}
    epoch = vc.simulate(m, s, 0.1, controller=an.Watch(space, tracks), step=0.01).epochs[0]
    assert epoch.columns.labels["u"] == ("tip[0]", "tip[1]", "center[0]", "center[1]", "center[2]", "bend")
    assert epoch.columns.labels["tracked"] == tuple(f"{name}[{i}]" for name in ("tip", "center") for i in range(3))
    for i in (0, len(epoch) - 1):
        state = epoch.state(i)
        assert epoch["u"][i] == pytest.approx(space.value(state), abs=1e-15)
        assert epoch["tracked"][i, 3:] == pytest.approx(vc.center_of_mass(m, state), abs=1e-15)
    assert epoch["wanted"][0, [0, 1, 5]] == pytest.approx([0.1, 0.2, 0.5]) and np.isnan(epoch["wanted"][0, 2:5]).all()
    assert epoch["wanted"][-1, 2:5] == pytest.approx([0.0, 0.1, 0.0])
    assert epoch["targets"][-1] == pytest.approx([0.1, 0.2, epoch["tracked"][-1, 2], 0.0, 0.1, 0.0])


@long_run
def test_tracks_are_followed_by_torques():
    """As a controller a tracker leads the tip along its course, although a force that it does not know pushes."""
    m, s, space = moving_chain(4, 0.25)
    course = ellipse(space.value(s)[:2])
    tracker = Tracker(space, {"tip": course}, Resolution(damping=1e-3, toward=None), feedback=20.0)
    trace = vc.simulate(m, s, 0.4, controller=[tracker, lambda m, s: -0.05 * s.v], step=2e-3, control_step=2e-3)
    end = trace.at(0.4)
    assert np.linalg.norm(space.value(end)[:2] - course(0.4)) < 2e-3


def test_plans_are_consistent():
    """A plan follows its tracks, its torques are those of inverse dynamics, and its splines pass through them."""
    m, s, space = moving_chain(4, 0.25)
    course = ellipse(space.value(s)[:2])
    made = plan(Tracker(space, {"tip": course}, Resolution(damping=1e-3)), s, 0.5, step=0.01)
    assert np.abs(made.u[-1][:2] - course(0.5)).max() < 1e-3
    middle = made.states[25]
    assert np.allclose(vc.inverse_dynamics(m, middle, made.a[25]).tau, made.tau[25])
    assert made.torques(middle.time)["phi 2"] == pytest.approx(made.tau[25, 1])
    assert made.motion.q(middle.time)["phi 3"] == pytest.approx(middle["phi 3"].q)
    assert "largest torque" in repr(made)


@long_run
def test_replays_of_a_plan():
    """With feedback a plan is followed although a force pushes; with springs nearly; plain torques lose it fast."""
    _, s, space = moving_chain(4, 0.25)
    course = ellipse(space.value(s)[:2])
    made = plan(Tracker(space, {"tip": course}, Resolution(damping=1e-3)), s, 0.6, step=0.01)
    push = [vc.Force("rod 4", (0.05, 0.05, 0.0))]

    def error(**options):
        trace = made.simulate(step=1e-3, **options)
        return np.abs(trace.at(0.6).q - made.states[-1].q).max()

    quiet, steady = error(), error(forces=push, stiffness=2500.0)
    springs = error(way="springs", stiffness=5.0, damping=0.5, forces=push)
    plain = error(way="plain", forces=push)
    assert quiet < 5e-3 and steady < 0.05
    assert steady < springs < plain
    assert made.growth_rate(0.0) > 0.0  # an arch that stands on its foot


@long_run
def test_a_track_is_followed_through_a_cut():
    """A tracker goes on in a run whose structure changes, for functions name links; the bag has no actuator."""
    m, _, space = moving_chain(4, 0.25)
    m.add_link("bag", "rod 2", vc.Fixed(name="strap"), (0.1, 0, 0), vc.Inertia.sphere(0.1, 0.05))
    s = m.state()
    s.q = 0.7 * np.ones(4)
    course = ellipse(space.value(s)[:2])
    tracker = Tracker(space, {"tip": course}, Resolution(damping=1e-3), feedback=20.0, brake=0.05)
    events = [vc.at(0.1, vc.cut("strap"), name="the bag falls")]
    trace = vc.simulate(m, s, 0.2, controller=tracker, events=events, step=2e-3, control_step=2e-3)
    assert len(trace.epochs) == 2
    tip = vc.AnimationSpace(tracker.space.mechanism, {"tip": space.functions["tip"]})
    assert np.linalg.norm(tip.value(trace.at(0.2)) - course(0.2)) < 2e-3


@long_run
def test_a_dimension_that_becomes_a_loop_leaves_u():
    """A hip is held by its functions, then by a chair: the chair's first force is the last tau_u, motion goes on."""
    m = planar_chain(3)
    s = m.state()
    s.q = (1.9, -1.6, 1.5)
    hip, angle = an.point("rod 2", (1, 0, 0)), an.coordinate("phi 3")
    space = vc.AnimationSpace(m, {"hip": hip[:2], "trunk": angle})
    place, course = vc.pose(m, s, "rod 2") @ (1, 0, 0), CubicSpline([0, 0.1, 0.2, 0.4], [1.5, 1.53, 1.6, 1.4])
    tracker = Tracker(space, {"hip": place[:2], "trunk": course}, feedback=20.0, extended=True)
    chair = vc.connect("rod 2", "ground", vc.Spherical(), (1, 0, 0), name="chair")
    events = [vc.at(0.2 - 1e-7, chair, name="sits down")]  # just before a tick: the tracker is asked again at once
    trace = vc.simulate(m, s, 0.4, controller=tracker, events=events, step=1e-3, control_step=1e-3)
    before, after = trace.epochs
    at = int(np.searchsorted(after.time, 0.2 + 1e-9))  # samples at a tick have the torques before it
    last, first = before.state(len(before) - 1), after.state(0)
    own = vc.AnimationSpace(before.mechanism, space.functions)
    wanted = Tracker(own, tracker.tracks, feedback=20.0)._wanted_accelerations(own, last)
    tau_u = an.space_dynamics(own, last).force(np.concatenate([np.ravel(x) for x in wanted.values()]))
    force, change = after["loop_forces"][at, 0, 3:5], before["tau"][-1] - after["tau"][at]
    assert np.abs(tau_u[:2]).max() > 5.0
    assert force == pytest.approx(tau_u[:2], rel=5e-4)  # one tick of 1 ms later
    assert change == pytest.approx(own.gradient(last)[:2].T @ tau_u[:2], abs=0.1)  # torques of a tick before
    assert np.abs(first.v - last.v).max() < 2e-4 and np.abs(first.q - last.q).max() < 1e-6
    assert trace.at(0.4)["phi 3"].q == pytest.approx(float(course(0.4)), abs=2e-3)
    assert np.linalg.norm(vc.pose(after.mechanism, trace.at(0.4), "rod 2") @ (1, 0, 0) - place) < 1e-5


REFUSED = {
    "no tracks": (lambda space: Tracker(space, {}), vc.InputError, "at least one"),
    "an unknown function": (lambda space: Tracker(space, {"tap": [0, 0]}), vc.UnknownNameError, "tap"),
    "a track of another shape": (
        lambda space: Tracker(space, {"tip": CubicSpline([0, 1], [0, 1])}),
        vc.InputError,
        "tip",
    ),
    "a track that ends before it begins": (lambda space: Track([0, 0], begins=1.0, ends=0.5), vc.InputError, "begin"),
    "priorities": (
        lambda space: Tracker(space, {"tip": [0, 0], "middle": [0, 0]}, Resolution(priorities=[["tip"]])),
        vc.InputError,
        "priorities must name each",
    ),
}


@pytest.mark.parametrize("what", REFUSED)
def test_refusals(what):
    """Tracks that cannot be followed are refused before anything moves."""
    _, _, space = moving_chain()
    make, error, words = REFUSED[what]
    with pytest.raises(error, match=words):
        make(space)
