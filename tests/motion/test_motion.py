"""Motion: splines of scipy's as joint motions, their derivatives on the manifold, and what can be done with them."""

import copy
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.interpolate import (
    Akima1DInterpolator,
    BSpline,
    CubicSpline,
    PchipInterpolator,
    PPoly,
    make_interp_spline,
)
from scipy.spatial.transform import Rotation, RotationSpline

import varichain as vc
import zoo
from lane import scaled
from oracles.rotations import quaternion_exp, rotation_of_quaternion
from varichain.kernels.motion import POSITION, ROTATION, SCALAR, evaluate

# The same polynomials as scipy's, summed in another order; derivatives relative to their own size.
ROUNDING = 1e-12
# A difference of order eight over steps of 2 ms: what it leaves out, and the rounding that it divides by a step.
DIFFERENCES = 1e-9
EIGHTH_ORDER = {1: 4 / 5, 2: -1 / 5, 3: 4 / 105, 4: -1 / 280}

SPLINES = {
    "cubic": CubicSpline,
    "akima": Akima1DInterpolator,
    "pchip": PchipInterpolator,
    "b-spline 1": lambda t, y: make_interp_spline(t, y, k=1),
    "b-spline 5": lambda t, y: make_interp_spline(t, y, k=5),
    "b-spline 7": lambda t, y: make_interp_spline(t, y, k=7),
}


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(7)


def times_of(rng, n):
    """Random increasing times."""
    return rng.uniform(-2.0, 2.0) + np.cumsum(rng.uniform(0.2, 0.6, n))


def rotations_of(rng, n):
    """Random rotations, half a radian or so apart, as scipy's."""
    steps = [Rotation.from_rotvec(0.3 * rng.normal(size=3)) for _ in range(n)]
    path = [Rotation.from_rotvec(rng.normal(size=3))]
    for step in steps[1:]:
        path.append(path[-1] * step)
    return Rotation.from_quat([turn.as_quat() for turn in path])


def moving_everything(rng, n=9, times=None):
    """Motion of every joint of `zoo.every_joint` but the fixed one, and of nothing else."""
    t = times_of(rng, n) if times is None else times
    spline = {k: CubicSpline(t, rng.normal(size=(n, k))) for k in (2, 3)}
    return vc.Motion(
        {
            "revolute": CubicSpline(t, rng.normal(size=n)),
            "prismatic": make_interp_spline(t, rng.normal(size=n), k=5),
            "screw": CubicSpline(t, rng.normal(size=n)),
            "universal": spline[2],
            "cylindrical": [CubicSpline(t, rng.normal(size=n)), make_interp_spline(t, rng.normal(size=n), k=5)],
            "planar": spline[3],
            "spherical": RotationSpline(t, rotations_of(rng, n)),
            "free": (RotationSpline(t, rotations_of(rng, n)), CubicSpline(t, rng.normal(size=(n, 3)))),
        }
    )


def stacked(by_joint):
    """Values of all joints at a time in one vector."""
    return np.concatenate([np.atleast_1d(values) for values in by_joint.values()])


def assert_close(found, expected, tolerance=ROUNDING):
    """Equal to a tolerance relative to the largest value."""
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * (1.0 + np.abs(expected).max()))


# --- against scipy -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("make", SPLINES.values(), ids=SPLINES.keys())
@pytest.mark.parametrize("width", [None, 1, 2, 3])
def test_splines_are_taken_over_exactly(make, width, rng):
    """A spline of scipy's, of one or several columns, keeps its values, rates and accelerations."""
    t = times_of(rng, 12)
    spline = make(t, rng.normal(size=12 if width is None else (12, width)))
    joint = vc.Motion({"joint": spline})["joint"]
    asked = np.concatenate([t[:-1], rng.uniform(t[0], t[-1], scaled(300, 30))])
    k = spline.k if isinstance(spline, BSpline) else spline.c.shape[0] - 1
    for order, found in enumerate((joint.q(asked), joint.v(asked), joint.a(asked))):
        expected = spline(asked, order) if order <= k else np.zeros_like(found)
        assert_close(found, expected.reshape(found.shape))


@pytest.mark.parametrize("axis", [0, 1])
def test_columns_may_lie_along_any_axis(axis, rng):
    """The axis along which a spline was made says nothing about its columns."""
    t, y = times_of(rng, 8), rng.normal(size=(8, 2))
    spline = CubicSpline(t, y if axis == 0 else y.T, axis=axis)
    b_spline = make_interp_spline(t, y if axis == 0 else y.T, k=3, axis=axis)
    for made in (spline, b_spline):
        assert_close(vc.Motion({"joint": made})["joint"].q(t), y)


@given(st.integers(0, 2**32), st.integers(2, 12))
def test_rotation_splines_are_taken_over_exactly(seed, n):
    """A RotationSpline keeps its orientations, and its rates and accelerations, which are in the link's axes."""
    rng = np.random.default_rng(seed)
    t = times_of(rng, n)
    spline = RotationSpline(t, rotations_of(rng, n))
    ball = vc.Motion({"ball": spline})["ball"]
    asked = np.concatenate([t, rng.uniform(t[0], t[-1], scaled(100, 10))])
    matrices = np.array([rotation_of_quaternion(Q) for Q in ball.q(asked)])
    np.testing.assert_allclose(matrices, spline(asked).as_matrix(), rtol=0, atol=ROUNDING)
    assert_close(ball.v(asked), spline(asked, 1))
    assert_close(ball.a(asked), spline(asked, 2))


def test_quaternions_never_jump(rng):
    """The quaternion of a spline that turns round many times is continuous, whatever signs scipy gave its samples."""
    t = np.arange(30.0)
    path = Rotation.from_rotvec(np.outer(1.5 * t, [0.6, 0.0, 0.8]))
    flipped = Rotation.from_quat(path.as_quat() * rng.choice([-1.0, 1.0], (30, 1)))
    Q = vc.Motion({"ball": RotationSpline(t, flipped)})["ball"].q(np.linspace(0.0, 29.0, 3001))
    assert np.abs(np.diff(Q, axis=0)).max() < 0.01
    sampled = vc.Motion.sampled(t, {"ball": np.roll(flipped.as_quat(), 1, axis=1)})["ball"]
    assert np.abs(np.diff(sampled.q(np.linspace(0.0, 29.0, 3001)), axis=0)).max() < 0.01


# --- on the manifold -----------------------------------------------------------------------------------------------


@given(st.integers(0, 2**32))
def test_velocities_are_steps_between_states(seed):
    """v of every joint is the rate of State.difference along the motion, and a the rate of v, link's axes included.

    Inside one piece, where the motion is smooth.
    """
    rng = np.random.default_rng(seed)
    m, h, t = zoo.every_joint(), 0.002, 0.47
    motion = moving_everything(rng, n=6, times=np.array([0.0, 0.2, 0.4, 0.55, 0.8, 1.0]))
    here = m.state()
    motion.set_state(m, here, t)
    v, a = np.zeros(m.n_v), np.zeros(m.n_v)
    for k, weight in EIGHTH_ORDER.items():
        for sign in (1, -1):
            there = m.state()
            motion.set_state(m, there, t + sign * k * h)
            v += sign * weight / h * here.difference(there)
            a += sign * weight / h * there.v
    moving = stacked(motion.v(t))
    np.testing.assert_array_equal(here.v, moving)
    assert_close(here.v, v, DIFFERENCES)
    assert_close(stacked(motion.a(t)), a, DIFFERENCES)
    step = m.state()
    motion.set_state(m, step, t + 1e-6)
    reached = here.integrate(1e-6 * here.v)
    assert np.abs(reached.difference(step)).max() < 1e-12 * (1.0 + np.abs(a).max())  # a dt^2 / 2


def test_a_free_joint_moves_in_the_axes_of_its_link():
    """A link that turns at a constant rate while it circles has a constant velocity in its own axes."""
    rate, t = 2.0, np.linspace(0.0, 1.0, 65)
    circle = make_interp_spline(t, np.stack([np.cos(rate * t), np.sin(rate * t), t], axis=1), k=5)
    turning = RotationSpline(t, Rotation.from_rotvec(np.outer(rate * t, [0.0, 0.0, 1.0])))
    body = vc.Motion({"body": (turning, circle)})["body"]
    for instant in (0.1, 0.5, 0.77):
        # six digits and more of the fifth degree through 65 samples
        np.testing.assert_allclose(body.v(instant), [0, 0, rate, 0, rate, 1], atol=1e-8)
        np.testing.assert_allclose(body.a(instant), np.zeros(6), atol=1e-5)


def test_parts_of_a_free_joint_have_times_of_their_own():
    """A link that slides without turning moves along its own axes, and goes on when its turning has ended."""
    Q = quaternion_exp([0.0, 0.0, math.pi / 2])  # its x is the joint frame's y
    slide = PPoly([[[1.0, 2.0, 3.0]], [[0.0, 0.0, 0.0]]], [0.0, 4.0])
    held = vc.Motion({"body": (Q, slide)})["body"]
    np.testing.assert_allclose(held.v(1.0), [0, 0, 0, 2, -1, 3], atol=1e-15)
    assert held.q(1.0)[4:].tolist() == [1.0, 2.0, 3.0] and not held.a(1.0).any()
    turning = RotationSpline([0.0, 2.0], Rotation.from_rotvec([[0, 0, 0], [0, 0, math.pi / 2]]))
    both = vc.Motion({"body": (turning, slide)})["body"]
    np.testing.assert_allclose(both.v(3.0), [0, 0, 0, 2, -1, 3], atol=1e-15)
    assert both.v(1.0)[2] == pytest.approx(math.pi / 4) and both.end == 4.0


def test_the_equations_of_motion_take_it(rng):
    """Inverse dynamics along a motion gives exactly the power by which the energy grows."""
    m = zoo.every_joint()
    motion = moving_everything(rng, n=6, times=np.array([0.0, 0.2, 0.4, 0.6, 0.8, 1.0]))
    t, h, rate, s = 0.5, 1e-3, 0.0, m.state()
    for k, weight in EIGHTH_ORDER.items():
        for sign in (1, -1):
            motion.set_state(m, s, t + sign * k * h)
            rate += sign * weight / h * (vc.energy(m, s).kinetic + vc.energy(m, s).potential)
    motion.set_state(m, s, t)
    power = vc.inverse_dynamics(m, s, motion.a(t)).tau @ s.v
    assert power == pytest.approx(rate, rel=DIFFERENCES)


# --- what is constant, what repeats --------------------------------------------------------------------------------


def test_held_values():
    """Numbers, quaternions, rotations and poses stay where they are at all times."""
    pose = vc.Pose((1, 2, 3), rotation_vector=(0.1, 0.2, 0.3))
    Q = pose.quaternion
    motion = vc.Motion(
        {
            "hinge": 3,
            "cardan": (0.5, np.float32(0.25)),
            "plane": [1.0, 2.0, 3.0],
            "ball": 2.0 * Q,
            "scipy": Rotation.from_matrix(pose.R.copy()),
            "matrix": pose.R,
            "body": pose,
            "pair": (Q, (1.0, 2.0, 3.0)),
            "seven": [*Q, 1, 2, 3],
        }
    )
    for t in (-100.0, 0.0, 2.5):
        q, v, a = motion.q(t), motion.v(t), motion.a(t)
        assert q["hinge"] == 3.0 and q["cardan"].tolist() == [0.5, 0.25] and q["plane"].tolist() == [1.0, 2.0, 3.0]
        for name in ("ball", "scipy", "matrix", "body", "pair", "seven"):
            np.testing.assert_allclose(q[name][:4], Q, atol=1e-15)
        for name in ("body", "pair", "seven"):
            np.testing.assert_array_equal(q[name][4:], [1.0, 2.0, 3.0])
        assert not stacked(v).any() and not stacked(a).any()
    assert (motion.start, motion.end, motion.duration, motion.repeat) == (0.0, 0.0, 0.0, False)
    assert motion.shifted(1.0).slower(2.0).q(0.3)["hinge"] == 3.0


def test_outside_a_motion_joints_stand_still(rng):
    """Before its start and after its end every joint rests in its first and last position."""
    m, motion = zoo.every_joint(), moving_everything(rng)
    for outside, edge in ((motion.start - 1.0, motion.start), (motion.end + 1.0, motion.end)):
        np.testing.assert_array_equal(stacked(motion.q(outside)), stacked(motion.q(edge)))
        assert not stacked(motion.v(outside)).any() and not stacked(motion.a(outside)).any()
        assert stacked(motion.v(edge)).any()
    assert m.n_v == len(stacked(motion.v(0.0)))


@pytest.mark.parametrize("turns", [-3, -1, 1, 2, 10])
def test_a_motion_that_repeats_is_the_same_in_every_turn(turns):
    """After whole periods, forward and backward, everything is where it was, and moves as it did."""
    t = np.linspace(0.25, 2.25, 9)
    phase = 2 * math.pi * (t - t[0]) / 2.0
    circle = CubicSpline(t, np.stack([np.cos(phase), np.sin(phase), 0 * t], axis=1).round(12), bc_type="periodic")
    cradle = Rotation.from_rotvec(np.outer(np.sin(phase), [0.5, 0.0, 0.2]).round(12))
    swing = CubicSpline(t, np.sin(phase).round(12))
    motion = vc.Motion({"hinge": swing, "base": (RotationSpline(t, cradle), circle), "held": 1.0}, repeat=True)
    assert motion.repeat and motion["hinge"].repeat
    asked = np.linspace(0.3, 2.2, 20)
    for now, then in (
        (motion.q(asked), motion.q(asked + 2.0 * turns)),
        (motion.v(asked), motion.v(asked + 2.0 * turns)),
        (motion.a(asked), motion.a(asked + 2.0 * turns)),
    ):
        for name in motion:
            assert_close(then[name], now[name])


def test_periodic_splines_repeat_by_themselves():
    """A spline with periodic extrapolation repeats beside others that do not."""
    t = np.linspace(0.0, 1.0, 9)
    wave = CubicSpline(t, [0, 1, 2, 1, 0, -1, -2, -1, 0], bc_type="periodic")
    motion = vc.Motion({"crank": wave, "slider": CubicSpline(t, t**2), "both": [wave, 0.0]})
    assert motion["crank"].q(3.25) == pytest.approx(2.0) and motion["both"].q(3.25)[0] == pytest.approx(2.0)
    assert motion["slider"].q(3.25) == 1.0
    assert motion["crank"].repeat and not motion.repeat


# --- questions and changes -----------------------------------------------------------------------------------------


def test_answers_have_the_shape_of_the_question(rng):
    """One time gives numbers and vectors, many give a row for each; names are those of the joints."""
    motion = moving_everything(rng)
    assert motion.joints == tuple(motion) == tuple(motion.q(0.0)) and len(motion) == 8
    assert "free" in motion and "fixed" not in motion
    shapes = {"revolute": ((), ()), "planar": ((3,), (3,)), "spherical": ((4,), (3,)), "free": ((7,), (6,))}
    for name, (q, v) in shapes.items():
        for found, shape in ((motion[name].q, q), (motion[name].v, v), (motion[name].a, v)):
            assert np.shape(found(0.1)) == shape and np.shape(found([0.1, 0.2])) == (2, *shape)
            np.testing.assert_array_equal(found([0.1, 0.2])[1], found(0.2))
        np.testing.assert_array_equal(motion.q([0.1, 0.2])[name], motion[name].q([0.1, 0.2]))
    assert isinstance(motion["revolute"].q(0.1), float)
    assert "'revolute'" in repr(motion) and "..." in repr(motion) and "revolute" in repr(motion["revolute"])


def test_answers_are_ones_own(rng):
    """Writing into an answer changes nothing."""
    motion = moving_everything(rng)
    before = stacked(motion.q(0.0))
    for values in motion.q([0.0]).values():
        values[...] = 9.0
    np.testing.assert_array_equal(stacked(motion.q(0.0)), before)


def test_start_and_end_are_those_of_what_moves():
    """A motion lasts from the first start to the last end of its joints; held ones do not count."""
    motion = vc.Motion({"a": CubicSpline([1, 2, 3], [0, 1, 0]), "b": CubicSpline([2, 5], [0, 1]), "c": 0.0})
    assert (motion.start, motion.end, motion.duration) == (1.0, 5.0, 4.0)
    assert (motion["a"].start, motion["a"].end, motion["a"].duration) == (1.0, 3.0, 2.0)
    assert motion.breaks.tolist() == [1.0, 2.0, 3.0, 5.0] and vc.Motion({"c": 0.0}).breaks.tolist() == []


def test_shifted_and_slower(rng):
    """A shifted motion does the same later; a slower one with velocities and accelerations divided."""
    motion = moving_everything(rng)
    late, slow = motion.shifted(3.0), motion.slower(2.5)
    assert late.start == pytest.approx(motion.start + 3.0) and late.duration == pytest.approx(motion.duration)
    assert slow.start == motion.start and slow.duration == pytest.approx(2.5 * motion.duration)
    for part in (0.1, 0.34, 0.9):
        t = motion.start + part * motion.duration
        t_late, t_slow = t + 3.0, motion.start + 2.5 * part * motion.duration
        assert_close(stacked(late.q(t_late)), stacked(motion.q(t)))
        assert_close(stacked(late.a(t_late)), stacked(motion.a(t)))
        assert_close(stacked(slow.q(t_slow)), stacked(motion.q(t)))
        assert_close(stacked(slow.v(t_slow)), stacked(motion.v(t)) / 2.5)
        assert_close(stacked(slow.a(t_slow)), stacked(motion.a(t)) / 2.5**2)


def test_unions(rng):
    """Two motions of different joints make one, in which each does what it did."""
    motion = moving_everything(rng)
    other = vc.Motion({"knee": 0.5})
    both = motion | other
    assert both.joints == (*motion.joints, "knee") and both.q(0.1)["knee"] == 0.5
    np.testing.assert_array_equal(both.q(0.1)["free"], motion.q(0.1)["free"])
    with pytest.raises(vc.InputError, match=r"'knee' is in both"):
        both | other
    with pytest.raises(TypeError):
        motion | {"knee": 0.5}


def test_motions_never_change(rng):
    """Neither attributes nor the arrays that a motion was made of reach into it."""
    c, x = np.array([[1.0], [0.0]]), np.array([0.0, 1.0])
    motion = vc.Motion({"joint": PPoly(c, x)})
    c[:], x[:] = 5.0, [3.0, 4.0]
    assert motion["joint"].q(0.5) == 0.5
    with pytest.raises(AttributeError, match="Motion objects never change"):
        motion._tracks = {}
    _, table = motion.packed(_hinge().state().layout)
    table[:] = 7.0
    assert motion["joint"].q(0.5) == 0.5


@pytest.mark.parametrize("duplicate", [copy.copy, copy.deepcopy, lambda motion: pickle.loads(pickle.dumps(motion))])
def test_copies_and_pickles(duplicate, rng):
    """A copied or unpickled motion does the same."""
    motion = moving_everything(rng)
    twin = duplicate(motion)
    assert twin.joints == motion.joints and type(twin) is vc.Motion
    np.testing.assert_array_equal(stacked(twin.a(0.3)), stacked(motion.a(0.3)))


# --- mechanisms ----------------------------------------------------------------------------------------------------


def _hinge():
    m = vc.Mechanism("door")
    m.add_link("door", joint=vc.Revolute("z", name="joint"), inertia=vc.Inertia.box(10.0, (0.8, 0.04, 2.0)))
    return m


def test_a_state_is_put_on_a_motion(rng):
    """The joints of a motion get its coordinates and velocities; other joints and the time stay as they are."""
    m = zoo.every_joint()
    s = m.state()
    s.q, s.v, s.time = zoo.random_q(rng, m), zoo.random_v(rng, m), 0.4
    before = s.copy()
    motion = vc.Motion(
        {"planar": CubicSpline([0, 1], [[0, 0, 0], [1, 2, 3]]), "spherical": quaternion_exp([0.3, 0, 0])}
    )
    motion.set_state(m, s)
    np.testing.assert_array_equal(s["planar"].q, motion.q(0.4)["planar"])
    np.testing.assert_array_equal(s["planar"].v, [1.0, 2.0, 3.0])
    np.testing.assert_array_equal(s["spherical"].q, quaternion_exp([0.3, 0, 0]))
    for joint in ("revolute", "prismatic", "universal", "free"):
        np.testing.assert_array_equal(s[joint].q, before[joint].q)
        np.testing.assert_array_equal(s[joint].v, before[joint].v)
    assert s.time == 0.4
    motion.set_state(m, s, 0.9)
    np.testing.assert_array_equal(s["planar"].q, motion.q(0.9)["planar"])


def test_packed_says_where_each_joint_stands(rng):
    """What kernels get for a layout writes each joint's numbers to its own places, in any choice of joints."""
    m, motion = zoo.every_joint(), moving_everything(rng)
    layout = m.state().layout
    channels, table = motion.packed(layout)
    assert sorted(channels["kind"].tolist()) == sorted([SCALAR] * 10 + [ROTATION] * 2 + [POSITION])
    q, v, a = np.full((1, m.n_q), np.nan), np.full((1, m.n_v), np.nan), np.full((1, m.n_v), np.nan)
    evaluate(channels, table, np.array([0.3]), q, v, a)
    s = m.state()
    motion.set_state(m, s, 0.3)
    np.testing.assert_array_equal(q[0], s.q)
    np.testing.assert_array_equal(v[0], s.v)
    np.testing.assert_array_equal(a[0], stacked(motion.a(0.3)))
    q[:] = np.nan
    evaluate(*motion.packed(layout, ["free", "revolute"]), np.array([0.3]), q, v, a)
    written = np.zeros(m.n_q, bool)
    for joint in ("free", "revolute"):
        written[layout.slot(joint).q] = True
    np.testing.assert_array_equal(~np.isnan(q[0]), written)
    np.testing.assert_array_equal(motion.packed(layout, "screw")[0]["dof"], [layout.slot("screw").v.start])


def test_after_a_cut_joints_are_missed_or_skipped():
    """A joint that was cut is unknown, or of another kind where it was called like its link; both can be skipped."""
    m = vc.Mechanism()
    rod = vc.Inertia.box(1.0, (1, 0.1, 0.1))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder"), inertia=rod)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow"), at=(1, 0, 0), inertia=rod)
    m.add_link("hand", "lower", vc.Revolute("y"), at=(1, 0, 0), inertia=rod)
    s = m.state()
    motion = vc.Motion({"shoulder": 0.1, "elbow": 0.2, "hand": 0.3})
    motion.set_state(m, s)
    m.cut("elbow", state=s)
    with pytest.raises(vc.UnknownNameError, match=r"'elbow'.*'shoulder'"):
        motion.set_state(m, s)
    channels, _ = motion.packed(m.state().layout, skip_missing=True)
    assert channels["dof"].tolist() == [0, 7]
    m.cut("hand")
    layout = m.state().layout
    with pytest.raises(vc.InputError, match=r"motion of 'hand': a free joint follows a pose.*found 1 function"):
        motion.packed(layout, ["hand"])
    channels, _ = motion.packed(layout, skip_missing=True)
    assert channels["dof"].tolist() == [0]
