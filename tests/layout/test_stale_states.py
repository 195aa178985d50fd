"""States after edits of their mechanism: refused when out of date, brought up to date by a call with a name."""

import inspect
import pickle

import numpy as np
import pytest

import varichain as vc
import zoo
from measure import random_state

# World poses and velocities of freed links are worked out once: some roundings of numbers about 1.
ROUNDING = 1e-13


def arm():
    """Arm with an elbow that can be cut, a hand beyond it, a ball joint before both, and a link that floats."""
    m = vc.Mechanism("arm")
    rod = vc.Inertia.box(1.0, size=(1.0, 0.1, 0.1), com=(0.5, 0, 0))
    m.add_link("upper", joint=vc.Spherical(name="shoulder"), at=(0, 0, 2), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(1, 0, 0), inertia=rod)
    m.add_link("hand", "lower", vc.Revolute("x", name="wrist"), at=(1, 0, 0), inertia=rod)
    m.add_link("ball", None, vc.Free(name="float"), at=(0, 3, 0), inertia=rod)
    return m


@pytest.fixture
def m():
    """The arm."""
    return arm()


@pytest.fixture
def s(m):
    """A moving state of it."""
    return random_state(np.random.default_rng(3), m)


def seen(s):
    """All that a user can see of a state."""
    return s.time, s.q.tolist(), s.v.tolist(), s.joints, len(s.q), repr(s), s.layout


def world(m, s):
    """World poses and velocities of all links."""
    poses = [vc.pose(m, s, link.name) for link in m.links]
    return np.array([[*X.p, *X.R.ravel()] for X in poses]), np.array([vc.velocity(m, s, link.name) for link in m.links])


# --- who refuses ---------------------------------------------------------------------------------------------------

# What the public functions of a mechanism and a state need besides.
FURTHER = {
    "LiveRun": (),
    "acceleration": ([0.0] * 11, "hand"),
    "bias_acceleration": ("hand",),
    "change": ([vc.cut("wrist")],),
    "design_derivatives": (["wrist.x"],),
    "designs": (lambda m, x: None, [[0.0]], {"wrist": [0.0]}),
    "driven_dynamics_derivatives": ({"wrist": 0.0},),
    "equilibrium": (None, [vc.Force("ball", force=(0, 0, 9.81), at=(0.5, 0, 0))]),  # bears its weight
    "impact": ([vc.connect("hand", "ground", vc.Spherical())],),
    "jacobian": ("hand",),
    "joint_forces": (None,),
    "linearise": (1e-3,),
    "optimise_motion": (vc.Phase(0.1, intervals=1),),
    "overloads": (None,),
    "pose": ("hand",),
    "rollout": (0.1,),
    "set_pose": ("ball", vc.Pose()),
    "sensitivity": (1e-3,),
    "simulate": (0.1,),
    "velocity": ("hand",),
}

PUBLIC = {name: getattr(vc, name) for name in vc.__all__}
TAKING_STATES = {
    name: function
    for name, function in PUBLIC.items()
    if callable(function)
    and not (inspect.isclass(function) and issubclass(function, BaseException))
    and list(inspect.signature(function).parameters)[:2] in (["m", "s"], ["m", "states"])
}

METHODS = {
    "connect": lambda m, s: m.connect("hand", "ground", vc.Spherical(), state=s),
    "couple": lambda m, s: m.couple("wrist", "wrist", state=s),
    "cut": lambda m, s: m.cut("wrist", state=s),
    "motion": lambda m, s: vc.Motion({"wrist": 0.2}).set_state(m, s),
    "computed torque": lambda m, s: vc.ComputedTorque(vc.Motion({"wrist": 0.2}))(m, s),
    "many states": lambda m, s: vc.rollout(m, [m.state(), s], 0.1),
    "closures": lambda m, s: vc.closures.ClosureFunction(m, [], s),
}


def test_functions_of_states_are_found():
    """The search over public names finds the functions of a mechanism and a state, so that a new one is covered."""
    assert {"pose", "energy", "forward_dynamics", "project", "simulate", "LiveRun", "rollout"} <= set(TAKING_STATES)
    assert set(FURTHER) <= set(TAKING_STATES)


@pytest.mark.parametrize("name", [*TAKING_STATES, *METHODS])
def test_stale_states_are_refused_and_stay(m, s, name):
    """After a cut that the state was not given to, everything refuses it, and neither state nor mechanism changes."""
    m.cut("elbow")
    before, structure, n_edits, revision = seen(s), str(m), len(m.log), m.revision
    call = METHODS.get(name) or (lambda m, s: TAKING_STATES[name](m, s, *FURTHER.get(name, ())))
    with pytest.raises(vc.StaleStateError, match=r"s\.follow\(m\)") as caught:
        call(m, s)
    assert caught.value.appeared == ("lower",) and caught.value.vanished == ("elbow",)
    assert caught.value.can_follow
    assert seen(s) == before
    assert (str(m), len(m.log), m.revision) == (structure, n_edits, revision)


QUESTIONS = sorted(
    set(TAKING_STATES)
    - {"change", "release", "replace_constant_loops", "set_pose", "LiveRun", "joint_forces", "overloads"}
    - {"designs"}  # its drives determine all joints, which no drive does to the ball
    - {"closed_contacts"}  # which needs a surface; its own test sees that it changes nothing
)


@pytest.mark.parametrize("name", QUESTIONS)
def test_questions_leave_states_as_they_are(m, s, name):
    """A question changes nothing that can be seen of a state, also after edits that keep its coordinates."""
    s.v[:] = 0.0
    m.set_inertia("lower", vc.Inertia.sphere(2.0, 0.1))
    before = seen(s)
    TAKING_STATES[name](m, s, *FURTHER.get(name, ()))
    assert seen(s) == before


OTHERS = {
    "a joint was renamed": (lambda m: m.edit_joint("elbow", name="hinge") and m, ("hinge",), ("elbow",)),
    "a floating link's joint was renamed": (
        lambda m: m.edit_joint("float", name="drift") and m,
        ("drift",),
        ("float",),
    ),
    "a link was added": (lambda m: m.add_link("finger", "hand", vc.Revolute("y")) and m, ("finger",), ()),
    "another mechanism": (lambda m: zoo.pendulum(), ("pivot",), ("shoulder", "elbow", "wrist", "float")),
}


@pytest.mark.parametrize("name", OTHERS)
def test_states_that_cannot_follow(m, s, name):
    """A state with unknown joints, or of another mechanism, is refused by questions and cannot follow."""
    edit, appeared, vanished = OTHERS[name]
    other, before = edit(m), seen(s)
    for call in (lambda: vc.pose(other, s, "ground"), lambda: s.follow(other)):
        with pytest.raises(vc.StaleStateError, match=r"m\.state\(\)") as caught:
            call()
        assert (caught.value.appeared, caught.value.vanished, caught.value.can_follow) == (appeared, vanished, False)
        assert "follow" not in str(caught.value)
    assert seen(s) == before


def test_the_error_names_what_differs(m, s):
    """Joints are told with kind and link, also where a new joint has an old one's name; mechanisms by theirs."""
    m.edit_joint("elbow", name="lower")

    renamed = m.state()
    m.cut("lower")
    with pytest.raises(vc.StaleStateError) as caught:
        vc.energy(m, renamed)
    assert str(caught.value) == (
        "the state does not fit mechanism 'arm' as it is now: the mechanism has free joint 'lower' on 'ground'; the "
        "state has revolute joint 'lower' on 'upper'; call s.follow(m), or give the state to the cut: m.cut(..., "
        "state=s)"
    )
    with pytest.raises(vc.StaleStateError, match=r"^the state of 'arm' does not fit mechanism 'pendulum'"):
        vc.energy(zoo.pendulum(), s)
    twin = pickle.loads(pickle.dumps(caught.value))
    assert (str(twin), twin.appeared, twin.vanished, twin.can_follow) == (
        str(caught.value),
        ("lower",),
        ("lower",),
        True,
    )


# --- following -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("cuts", [["elbow"], ["elbow", "wrist"], ["wrist", "shoulder", "elbow"]])
def test_following_keeps_the_world(m, s, cuts):
    """After cuts, a state that follows has every link where it was and moving as it did; once more changes nothing."""
    s.time = 2.5
    poses, velocities = world(m, s)
    for joint in cuts:
        m.cut(joint)
    assert s.follow(m) is s
    assert s.joints == tuple(joint.name for joint in m.joints) and s.time == 2.5
    for found, expected in zip(world(m, s), (poses, velocities), strict=True):
        np.testing.assert_allclose(found, expected, atol=ROUNDING)
    before, q, v = seen(s), s.q, s.v
    s.follow(m)
    assert seen(s) == before and s.q is q and s.v is v


def test_following_is_what_a_cut_does_with_a_state(m, s):
    """Cut with the state, and cut without it and followed, are the same to the bit."""
    twin, other = m.copy(), s.copy()
    m.cut("elbow", state=s)
    twin.cut("elbow")
    other.follow(twin)
    assert (s.q.tolist(), s.v.tolist(), s.joints) == (other.q.tolist(), other.v.tolist(), other.joints)


def test_views_of_joints_follow(m, s):
    """The view of a joint goes with the state; that of a joint which was cut says so."""
    wrist, elbow = s["wrist"], s["elbow"]
    before = wrist.q
    m.cut("elbow")
    s.follow(m)
    assert wrist.q == before == s["wrist"].q
    wrist.q = 0.7
    assert s["wrist"].q == 0.7
    with pytest.raises(vc.UnknownNameError, match="elbow"):
        elbow.q = 1.0


def test_followed_are_mechanisms_only(s):
    """Anything but a mechanism is refused."""
    with pytest.raises(vc.InputError, match="expected a Mechanism, not State"):
        s.follow(s)


# --- edits that keep coordinates -----------------------------------------------------------------------------------


def test_everything_computes_with_the_structure_of_now(m, s):
    """Connections, impacts, runs and mobilities of an older state take axes, masses and loops of the mechanism."""
    m.edit_joint("elbow", axis="z")
    m.set_inertia("hand", vc.Inertia.sphere(3.0, 0.2))
    fresh = m.state()
    fresh.q, fresh.v = s.q, s.v
    twin = m.copy()
    pin = [vc.connect("hand", "ground", vc.Spherical(), name="pin")]
    np.testing.assert_array_equal(vc.impact(m, s, pin).v, vc.impact(m, fresh, pin).v)
    runs = [vc.simulate(m, start, 0.01, limits="off").final for start in (s, fresh)]
    np.testing.assert_array_equal(runs[0].q, runs[1].q)
    old, new = vc.change(m, s, pin), vc.change(twin, fresh, pin)
    np.testing.assert_array_equal(s.v, fresh.v)
    assert str(old) == str(new) and m.virtual_links[0].on_real.is_close(twin.virtual_links[0].on_real, 0.0)


def test_loops_come_and_go_without_a_word(m, s):
    """Loops and couplings that open and close leave a state valid, and what can be seen of it as it is."""
    before = seen(s)
    m.connect("hand", "ground", vc.Spherical(), at_other=vc.pose(m, s, "hand"), name="pin")
    m.couple("wrist", "elbow", name="belt")
    assert vc.loop_states(m, s)["pin"].gap < ROUNDING
    m.cut("pin")
    m.cut("belt")
    vc.energy(m, s)
    assert seen(s) == before


@pytest.mark.parametrize("made", [vc.Prepared, vc.Batch])
def test_handles_stay_with_their_structure(m, made):
    """Handles on plain arrays keep joints and lengths of their structure, and say by its number which it was."""
    handle = made(m)
    assert handle.revision == m.revision
    m.cut("elbow")
    assert handle.revision != m.revision
    assert handle.joints == ("shoulder", "elbow", "wrist", "float") and (handle.n_q, handle.n_v) == (13, 11)
