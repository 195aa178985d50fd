"""State: coordinates by joint name, and steps on the configuration manifold."""

import copy
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import varichain as vc
import zoo
from measure import random_state
from varichain.spatial.rotation import matrix_from_quaternion, matrix_from_rotation_vector

# Quaternions are kept to rounding, and so is what is read back from them.
ROUNDING = 1e-14
# A step read back from two quaternions: angles near pi come from atan2 of numbers with 16 digits.
STEPS = 1e-13


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


@pytest.fixture
def m():
    """Chain of all joints; each is named like its kind."""
    return zoo.every_joint()


def vectors(n, bound):
    """Arrays of n numbers."""
    return st.lists(st.floats(-bound, bound), min_size=n, max_size=n).map(np.array)


# --- addressing ----------------------------------------------------------------------------------------------------


def test_a_new_state_rests_in_the_zero_configuration(m):
    """All coordinates are zero, quaternions one, velocities and time zero."""
    s = m.state()
    np.testing.assert_array_equal(s.q, zoo.zero_q(m))
    np.testing.assert_array_equal(s.v, np.zeros(m.n_v))
    assert s.time == 0.0
    assert s.joints == tuple(s) == tuple(joint.name for joint in m.joints)


def test_joints_are_addressed_by_name(m, rng):
    """What is written to a joint by name stands in its slices of q and v, and nothing else moves."""
    for joint in m.joints:
        s = m.state()
        q = zoo._random_coordinates(rng, joint.kind, joint.n_q)
        v = rng.normal(size=joint.n_v)
        s[joint.name].q, s[joint.name].v = q, v
        slot = s.layout.slot(joint.name)
        np.testing.assert_allclose(s.q[slot.q], q, rtol=ROUNDING)
        np.testing.assert_array_equal(s.v[slot.v], v)
        others = np.ones(m.n_q, bool)
        others[slot.q] = False
        np.testing.assert_array_equal(s.q[others], zoo.zero_q(m)[others])
        assert np.count_nonzero(s.v) == joint.n_v


def test_one_number_for_one_freedom(m):
    """A joint with one coordinate reads and takes a plain number, also in a list of one."""
    s = m.state()
    s["revolute"].q = 0.25
    s["revolute"].v = [2]
    assert s["revolute"].q == 0.25 and isinstance(s["revolute"].q, float)
    assert s["revolute"].v == 2.0 and isinstance(s["revolute"].v, float)


def test_several_coordinates_write_through(m):
    """The array read from a joint of several coordinates is the state's own."""
    s = m.state()
    s["planar"].q[2] = 0.5
    s["free"].v[:3] = (1.0, 2.0, 3.0)
    assert s["planar"].q.tolist() == [0.0, 0.0, 0.5]
    assert s.v[s.layout.slot("free").v].tolist() == [1.0, 2.0, 3.0, 0.0, 0.0, 0.0]


def test_whole_vectors_are_copied_in(m, rng):
    """Assigning q and v copies the numbers and brings quaternions to unit length."""
    s, q, v = m.state(), zoo.random_q(rng, m), zoo.random_v(rng, m)
    ball = s.layout.slot("spherical").q
    given_q = q.copy()
    given_q[ball] *= 3.0
    s.q, s.v = given_q, v
    np.testing.assert_allclose(s.q, q, rtol=ROUNDING)
    given_q[:], v[:] = 0.0, 0.0
    assert np.linalg.norm(s.q[ball]) == pytest.approx(1.0, abs=ROUNDING)
    assert np.any(s.v)


@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_bad_numbers_change_nothing(m, rng, bad):
    """Setters refuse NaN, infinity, wrong lengths and zero quaternions, and leave the state as it was."""
    s = random_state(rng, m)
    q, v = s.q.copy(), s.v.copy()
    broken_q, broken_v = q.copy(), v.copy()
    broken_q[-1] = broken_v[-1] = bad
    no_turn = q.copy()
    no_turn[s.layout.slot("spherical").q] = 0.0
    writes = [("q", broken_q), ("q", q[:-1]), ("q", no_turn), ("v", broken_v), ("v", v[:-1]), ("time", bad)]
    for attribute, value in writes:
        with pytest.raises(vc.InputError):
            setattr(s, attribute, value)
    of_joints = [
        ("revolute", "q", bad), ("revolute", "q", [1.0, 2.0]), ("revolute", "q", "up"), ("revolute", "v", None),
        ("planar", "q", [0.0, bad, 0.0]), ("planar", "v", 1.0), ("spherical", "q", [0.0] * 4), ("fixed", "q", 1.0),
        ("spherical", "orientation", [bad, 0.0, 0.0]), ("spherical", "orientation", np.ones((3, 3))),
        ("spherical", "orientation", 1.0), ("free", "position", [bad, 0.0, 0.0]), ("free", "pose", "here"),
        ("free", "position", [1.0, 2.0]),
    ]  # fmt: skip
    for joint, attribute, value in of_joints:
        with pytest.raises(vc.InputError, match=joint):
            setattr(s[joint], attribute, value)
    np.testing.assert_array_equal(s.q, q)
    np.testing.assert_array_equal(s.v, v)


# --- orientations --------------------------------------------------------------------------------------------------


@given(vectors(3, 3.0))
def test_orientation_takes_whatever_says_it(turn):
    """A rotation matrix, a rotation vector, a quaternion of any length and a Pose all set the same orientation."""
    s = zoo.spinning_top().state()
    R = matrix_from_rotation_vector(turn)
    s["tip"].orientation = turn
    quaternion = s["tip"].orientation
    for value in (R, R.tolist(), turn.tolist(), 3.0 * quaternion, -quaternion, vc.Pose(R=R), vc.Pose((1, 2, 3), R=R)):
        s["tip"].orientation = value
        np.testing.assert_allclose(matrix_from_quaternion(s["tip"].q), R, atol=10 * ROUNDING)
        assert np.linalg.norm(s["tip"].q) == pytest.approx(1.0, abs=ROUNDING)


def test_reading_an_orientation_gives_a_copy():
    """Writing into a read orientation or position does not move the joint."""
    s = zoo.free_body().state()
    s["body"].orientation[:] = 5.0
    s["body"].position[:] = 5.0
    np.testing.assert_array_equal(s.q, [1, 0, 0, 0, 0, 0, 0])


def test_poses_of_free_joints(rng):
    """A free joint takes and gives a whole pose, and it is where it was put."""
    m, X = zoo.free_body(), zoo.random_pose(rng)
    s = m.state()
    s["body"].pose = X
    assert s["body"].pose.is_close(X, 10 * ROUNDING)
    assert vc.pose(m, s, "body").is_close(X, 10 * ROUNDING)
    s["body"].position = (1, 2, 3)
    assert s["body"].position.tolist() == [1.0, 2.0, 3.0]
    s["body"].pose = (4, 5, 6)
    assert s["body"].pose.is_close(vc.Pose((4, 5, 6)), ROUNDING)


def test_joints_without_orientation_say_so(m):
    """Orientation and position of joints that have none are refused with what to set instead."""
    s = m.state()
    with pytest.raises(vc.InputError, match=r"planar joint 'planar' has no orientation; set its q .x, y, angle"):
        s["planar"].orientation = (0, 0, 1)
    with pytest.raises(vc.InputError, match=r"'fixed' has no orientation.*no coordinates"):
        _ = s["fixed"].orientation
    with pytest.raises(vc.InputError, match=r"'spherical' has no position.*orientation"):
        s["spherical"].position = (0, 0, 1)
    with pytest.raises(vc.InputError, match="has no position"):
        s["spherical"].pose = vc.Pose()


# --- the manifold --------------------------------------------------------------------------------------------------

SMALL = st.sampled_from([0.0, 1e-300, 1e-12, 1e-8, 1e-5, 1e-4, 1e-2, 1.0, 3.0, np.pi - 1e-6, np.pi - 1e-9])
DIRECTION = vectors(3, 1.0).filter(lambda x: np.linalg.norm(x) > 0.1).map(lambda x: x / np.linalg.norm(x))


@given(SMALL, DIRECTION, vectors(3, 3.0))
def test_difference_undoes_integrate(angle, axis, start):
    """The step from a configuration to where a step leads is that step, for turns from none up to almost pi."""
    m = zoo.free_body()
    s = m.state()
    s["body"].orientation, s["body"].position = start, (1.0, -2.0, 0.5)
    step = np.concatenate((angle * axis, (0.3, -0.1, 0.2)))
    reached = s.integrate(step)
    assert np.linalg.norm(reached["body"].q[:4]) == pytest.approx(1.0, abs=ROUNDING)
    np.testing.assert_allclose(s.difference(reached), step, rtol=0.0, atol=STEPS)


@given(st.floats(0.0, 20.0), DIRECTION)
def test_integrate_turns_about_the_link_s_own_axes(angle, axis):
    """A step of a ball joint multiplies its rotation from the right, whole turns included."""
    s = zoo.spinning_top().state()
    s["tip"].orientation = (0.3, 0.5, -0.7)
    R = matrix_from_quaternion(s["tip"].q)
    turned = s.integrate(angle * axis)
    expected = R @ matrix_from_rotation_vector(angle * axis)
    np.testing.assert_allclose(matrix_from_quaternion(turned["tip"].q), expected, atol=10 * ROUNDING * (1.0 + angle))


@given(vectors(3, 10.0), vectors(3, 10.0), st.booleans())
def test_integrate_undoes_difference(start, end, is_flipped):
    """The step between any two configurations leads from one to the other, whichever sign their quaternions have."""
    m = zoo.free_body()
    s, o = m.state(), m.state()
    s["body"].orientation, o["body"].orientation = start, end
    o["body"].position = (3.0, 2.0, 1.0)
    if is_flipped:
        o.q[:4] *= -1.0
    step = s.difference(o)
    assert np.linalg.norm(step[:3]) <= np.pi + ROUNDING
    assert s.integrate(step)["body"].pose.is_close(o["body"].pose, STEPS)


def test_half_a_turn_exactly():
    """Configurations half a turn apart are joined by a step of length pi."""
    s = zoo.spinning_top().state()
    o = s.copy()
    o["tip"].q = (0.0, 0.0, 1.0, 0.0)
    np.testing.assert_allclose(np.abs(s.difference(o)), [0.0, np.pi, 0.0], atol=ROUNDING)


def test_other_coordinates_add(m, rng):
    """Joints without quaternions just add the step; nothing wraps around."""
    s, step = random_state(rng, m), 100.0 * zoo.random_v(rng, m)
    reached = s.integrate(step)
    for joint in m.joints:
        if joint.kind not in ("spherical", "free"):
            slot = s.layout.slot(joint.name)
            np.testing.assert_array_equal(reached.q[slot.q], s.q[slot.q] + step[slot.v])


def test_integrate_makes_a_new_state(m, rng):
    """Integrating leaves the state as it was, and the new one has the same time and velocities."""
    s = random_state(rng, m)
    s.time = 2.0
    q = s.q.copy()
    moved = s.integrate(s.v)
    np.testing.assert_array_equal(s.q, q)
    np.testing.assert_array_equal(moved.v, s.v)
    assert moved.time == 2.0 and moved.v is not s.v
    with pytest.raises(vc.InputError, match="step"):
        s.integrate(s.v[:-1])
    with pytest.raises(vc.InputError, match="step"):
        s.integrate(np.nan * s.v)


def test_difference_needs_the_same_joints(m):
    """States of different mechanisms have no difference."""
    with pytest.raises(vc.StructureError, match="same joints"):
        m.state().difference(zoo.pendulum().state())
    with pytest.raises(vc.StructureError, match="same joints"):
        m.state().difference(m.state().q)


# --- copies and edits ----------------------------------------------------------------------------------------------

COPIES = {
    "copy": lambda s: s.copy(),
    "copy.copy": copy.copy,
    "copy.deepcopy": copy.deepcopy,
    "pickle": lambda s: pickle.loads(pickle.dumps(s)),
}


@pytest.mark.parametrize("duplicate", [COPIES[name] for name in ("copy", "copy.deepcopy", "pickle")])
def test_copies_are_independent_and_valid(duplicate, m, rng):
    """A copied or unpickled state has the same numbers, computes the same, and moves on its own."""
    s = random_state(rng, m)
    s.time = 1.5
    before = s.q.copy()
    twin = duplicate(s)
    assert twin.time == 1.5
    np.testing.assert_array_equal(vc.bias_force(m, twin), vc.bias_force(m, s))
    twin["revolute"].q += 1.0
    twin.v[:] = 0.0
    np.testing.assert_array_equal(s.q, before)
    assert np.any(s.v)


def test_a_state_knows_its_mechanism(m):
    """The mechanism that made it, or that it follows; copies too, but no pickle takes the mechanism along."""
    s, other = m.state(), m.copy()
    assert s.mechanism is m and s.copy().mechanism is m
    assert s.follow(other).mechanism is other
    assert pickle.loads(pickle.dumps(s)).mechanism is None


def test_states_travel_with_their_mechanism(m, rng):
    """A mechanism and a state pickled together fit together again."""
    s = random_state(rng, m)
    m2, s2 = pickle.loads(pickle.dumps((m, s)))
    np.testing.assert_array_equal(vc.bias_force(m2, s2), vc.bias_force(m, s))
    np.testing.assert_array_equal(vc.bias_force(m, s2), vc.bias_force(m, s))


EDITS = {
    "mass": lambda m: m.set_inertia("revolute", vc.Inertia.sphere(3.0, 0.2)),
    "place": lambda m: m.set_place("revolute", (0.1, 0.2, 0.3)),
    "gravity": lambda m: setattr(m, "gravity", (1.0, 2.0, 3.0)),
    "damping": lambda m: m.edit_joint("revolute", damping=1.0),
    "limits": lambda m: m.edit_joint("revolute", limits=(-1.0, 1.0)),
    "actuation": lambda m: m.edit_joint("revolute", actuated=False),
    "axis": lambda m: m.edit_joint("revolute", axis="x"),
}


@pytest.mark.parametrize("edit", EDITS.values(), ids=EDITS.keys())
def test_edits_that_keep_the_coordinates_keep_a_state(edit, m, rng):
    """After an edit that leaves all coordinates in place an old state computes as a new one would."""
    s = random_state(rng, m)
    vc.bias_force(m, s)
    edit(m)
    fresh = m.state()
    fresh.q, fresh.v = s.q, s.v
    np.testing.assert_array_equal(vc.bias_force(m, s), vc.bias_force(m, fresh))


def test_repr_tells_every_joint(m):
    """The text of a state has its mechanism's name, its time and a line for each joint."""
    s = m.state()
    s.time = 0.5
    text = repr(s)
    assert "every joint" in text and "0.5 s" in text
    assert len(text.splitlines()) == 1 + len(m.joints)
    assert "revolute" in repr(s["revolute"])
