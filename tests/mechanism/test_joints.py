import copy
import dataclasses
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from strategies import not_numbers, unit_axes
from varichain.errors import InputError
from varichain.mechanism import (
    JOINT_TYPES,
    ConstantForce,
    Cylindrical,
    Distance,
    Fixed,
    Free,
    Joint,
    LineForce,
    Mechanism,
    PinInSlot,
    Planar,
    PointInPlane,
    PointOnLine,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    SpringDamper,
    SwingTwist,
    TorsionSpring,
    Universal,
)
from varichain.mechanism.joint_text import joint_from_plain, joint_from_text, joint_text
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import matrix_from_axis_angle

EVERY = [
    Revolute(),
    Prismatic(),
    Screw(pitch=0.1),
    Spherical(),
    Free(),
    Fixed(),
    Universal(),
    Cylindrical(),
    Planar(),
    PinInSlot(),
]
ELEMENTS = [SpringDamper(stiffness=2.0), ConstantForce(1.0), LineForce(math.hypot), TorsionSpring(stiffness=3.0)]
IN_LOOPS = [PointOnLine(), PointInPlane(), Distance(0.3), *ELEMENTS]
BOUNDED = [joint for joint in EVERY if not joint.has_quaternion and joint.n_v > 0]
MOVING = [joint for joint in EVERY if joint.n_v > 0]
INF = math.inf

every = pytest.mark.parametrize("joint", EVERY, ids=lambda joint: joint.kind)
bounded = pytest.mark.parametrize("joint", BOUNDED, ids=lambda joint: joint.kind)
moving = pytest.mark.parametrize("joint", MOVING, ids=lambda joint: joint.kind)


def transform(joint, q):
    """Pose of the link in the joint frame from the joint's primitives, for joints without quaternion."""
    X = Pose()
    for primitive, q_k in zip(joint.primitives(), q, strict=True):
        A = Pose(R=primitive.R)
        turn = 0.0 if primitive.kind == "prismatic" else q_k
        travel = {"revolute": 0.0, "prismatic": q_k, "screw": primitive.pitch * q_k}[primitive.kind]
        X = X @ A @ Pose((0, 0, travel), rotation_vector=(0, 0, turn)) @ A.inverse()
    return X


# --- kinds ------------------------------------------------------------------------------------------------------------


def test_all_types():
    """JOINT_TYPES has all joints of the package by the names of their classes."""
    own = [name for name, kind in JOINT_TYPES.items() if kind.__module__.startswith("varichain.")]
    assert sorted(own) == sorted(type(joint).__name__ for joint in EVERY + IN_LOOPS)
    assert all(JOINT_TYPES[type(joint).__name__] is type(joint) for joint in EVERY + IN_LOOPS)


@pytest.mark.parametrize(
    ("joint", "n_q", "n_v"),
    [
        *zip(
            EVERY + IN_LOOPS,
            [1, 1, 1, 4, 7, 0, 2, 2, 3, 2, 5, 6, 7, 7, 7, 7, 7],
            [1, 1, 1, 3, 6, 0, 2, 2, 3, 2, 4, 5, 5, 6, 6, 6, 6],
            strict=True,
        )
    ],
    ids=lambda value: getattr(value, "kind", str(value)),
)
def test_counts(joint, n_q, n_v):
    """Every joint has so many coordinates and freedoms, a label per freedom and a kind named after its class."""
    assert (joint.n_q, joint.n_v) == (n_q, n_v)
    assert len(set(joint.coordinates)) == n_v
    assert joint.kind.replace("-", "") == type(joint).__name__.lower()


@every
def test_options_are_tuples(joint):
    """The options per freedom are read as tuples of one float per freedom, and are zero by default."""
    for option in ("damping", "friction", "stiffness", "armature"):
        assert getattr(joint, option) == (0.0,) * joint.n_v
    assert joint.rest == joint.zero_q()
    assert joint.limits is None
    assert joint.name is None


def test_actuation_is_open_until_a_joint_is_used():
    """A joint that does not say whether it is actuated is in a tree, unless free, and is not where it closes a loop."""
    assert all(joint.actuated is None for joint in EVERY)
    m = Mechanism()
    for i, joint in enumerate(EVERY):
        m.add_link(f"link {i}", joint=dataclasses.replace(joint, name=f"joint {i}"))
    assert [joint.kind for joint in m.joints if not joint.actuated] == ["free"]
    grip = m.connect("link 0", "link 1", Revolute(), at_other=(0, 0, 0))
    assert grip.joint.actuated is False
    assert Free(actuated=True).actuated
    assert Revolute(actuated=False).actuated is False


def test_joint_itself_is_abstract():
    """There is no joint that is nothing but a joint."""
    with pytest.raises(TypeError, match="abstract"):
        Joint()


def test_axis_is_a_unit_vector():
    """An axis is held as a unit vector, whether it was named or given in numbers."""
    assert Revolute("-y").axis == (0.0, -1.0, 0.0)
    assert Prismatic((0, 3, 4)).axis == (0.0, 0.6, 0.8)
    assert Planar("x").normal == (1.0, 0.0, 0.0)
    assert Universal(("z", (2, 0, 0))).axes == ((0.0, 0.0, 1.0), (1.0, 0.0, 0.0))


# --- transforms -------------------------------------------------------------------------------------------------------

coordinate = st.floats(-3.0, 3.0)


@every
def test_primitives_add_up(joint):
    """The primitives of a joint have its freedoms, and their matrices are read-only rotations."""
    freedoms = {"revolute": 1, "prismatic": 1, "screw": 1, "spherical": 3, "free": 6}
    primitives = joint.primitives()
    assert sum(freedoms[primitive.kind] for primitive in primitives) == joint.n_v
    for primitive in primitives:
        np.testing.assert_allclose(primitive.R @ primitive.R.T, np.eye(3), atol=1e-15)
        assert np.linalg.det(primitive.R) > 0.0
        assert not primitive.R.flags.writeable


@bounded
def test_zero_configuration_is_identity(joint):
    """At zero the link's frame is the joint frame."""
    assert transform(joint, joint.zero_q()).is_close(Pose(), 0.0)


@given(unit_axes, coordinate)
def test_revolute_turns_about_its_axis(axis, q):
    """A revolute joint turns about its axis by q."""
    assert transform(Revolute(axis), [q]).is_close(Pose(R=matrix_from_axis_angle(axis, q)), 1e-14)


@given(unit_axes, coordinate)
def test_prismatic_slides_along_its_axis(axis, q):
    """A prismatic joint slides along its axis by q."""
    assert transform(Prismatic(axis), [q]).is_close(Pose(q * axis), 1e-14)


@given(unit_axes, coordinate, coordinate)
def test_screw_does_both(axis, q, pitch):
    """A screw turns by q and slides by pitch times q."""
    expected = Pose(pitch * q * axis, R=matrix_from_axis_angle(axis, q))
    assert transform(Screw(axis, pitch=pitch), [q]).is_close(expected, 1e-13)


@given(unit_axes, coordinate, coordinate)
def test_cylindrical_does_both_apart(axis, angle, displacement):
    """A cylindrical joint turns by its first coordinate and slides by its second."""
    expected = Pose(displacement * axis, R=matrix_from_axis_angle(axis, angle))
    assert transform(Cylindrical(axis), [angle, displacement]).is_close(expected, 1e-13)


@given(unit_axes, unit_axes, coordinate, coordinate)
def test_universal_turns_twice(first, second, q1, q2):
    """A universal joint turns about its first axis, which the parent holds, and its second, which the first carries."""
    if np.linalg.norm(np.cross(first, second)) < 1e-3:
        return
    expected = Pose(R=matrix_from_axis_angle(first, q1)) @ Pose(R=matrix_from_axis_angle(second, q2))
    assert transform(Universal((first.tolist(), second.tolist())), [q1, q2]).is_close(expected, 1e-14)


@given(coordinate, coordinate, coordinate)
def test_planar_moves_in_x_and_y(x, y, angle):
    """A planar joint with normal z slides along x and y and turns about z."""
    assert transform(Planar(), [x, y, angle]).is_close(Pose((x, y, 0), rotation_vector=(0, 0, angle)), 1e-14)


@given(unit_axes, coordinate, coordinate, coordinate)
def test_planar_stays_in_its_plane(normal, x, y, angle):
    """A planar joint of any normal keeps the link in the plane, as far away as x and y say, turned about the normal."""
    X = transform(Planar(normal), [x, y, angle])
    assert np.dot(normal, X.p) == pytest.approx(0.0, abs=1e-14)
    assert np.linalg.norm(X.p) == pytest.approx(math.hypot(x, y), abs=1e-14)
    np.testing.assert_allclose(X.R, matrix_from_axis_angle(normal, angle), atol=1e-14)


# --- options ----------------------------------------------------------------------------------------------------------


@moving
def test_one_number_is_for_every_freedom(joint):
    """A number is taken for every freedom, and so many numbers one by one."""
    assert dataclasses.replace(joint, damping=2).damping == (2.0,) * joint.n_v
    each = [float(k) for k in range(joint.n_v)]
    assert dataclasses.replace(joint, friction=each).friction == tuple(each)
    assert dataclasses.replace(joint, armature=np.array(each)).armature == tuple(each)


@moving
@pytest.mark.parametrize("option", ["damping", "friction", "stiffness", "armature"])
def test_options_are_not_negative(joint, option):
    """A negative option is refused by its name, with the joint's kind and name."""
    with pytest.raises(InputError, match=f"{option} of {joint.kind} joint 'j' must not be negative"):
        dataclasses.replace(joint, name="j", **{option: -1.0})


@given(not_numbers.filter(lambda value: value != [1.0]))
def test_options_are_numbers(value):
    """What is not a finite number is no damping and no pitch, alone or in a list."""
    with pytest.raises(InputError, match="damping of revolute joint"):
        Revolute(damping=value)
    with pytest.raises(InputError, match="damping of planar joint"):
        Planar(damping=[1.0, value, 1.0])
    with pytest.raises(InputError, match="pitch of screw joint"):
        Screw(pitch=value)


def test_options_have_one_number_per_freedom():
    """A wrong number of numbers is refused."""
    with pytest.raises(InputError, match="damping of universal joint must be 2 numbers"):
        Universal(damping=(1, 2, 3))


def test_springs_have_a_potential():
    """The stiffness of a spherical joint's three rotations must be equal, likewise the two triples of a free joint."""
    assert Spherical(stiffness=3).stiffness == (3.0, 3.0, 3.0)
    assert Free(stiffness=(1, 1, 1, 2, 2, 2)).stiffness == (1.0, 1.0, 1.0, 2.0, 2.0, 2.0)
    with pytest.raises(InputError, match="must be equal for wx, wy, wz"):
        Spherical(stiffness=(1, 1, 2))
    with pytest.raises(InputError, match="must be equal for vx, vy, vz"):
        Free(stiffness=(1, 1, 1, 2, 2, 3))


def test_rest():
    """Rest is held as one float per coordinate, quaternions normalised."""
    assert Revolute(rest=0.5).rest == (0.5,)
    assert Planar(rest=(1, 2, 3)).rest == (1.0, 2.0, 3.0)
    assert Spherical(rest=(0, 0, 0, 2)).rest == (0.0, 0.0, 0.0, 1.0)
    assert Free(rest=(3, 0, 4, 0, 1, 2, 3)).rest == (0.6, 0.0, 0.8, 0.0, 1.0, 2.0, 3.0)


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: Revolute(rest=(1, 2)), "rest of revolute joint must be 1 numbers"),
        (lambda: Revolute(rest="0"), "rest of revolute joint"),
        (lambda: Planar(rest=1.0), "rest of planar joint must be 3 numbers"),
        (lambda: Spherical(rest=(0, 0, 0, 0)), "rest of spherical joint must not have zero length"),
        (lambda: Free(rest=(1, 0, 0, 0)), "rest of free joint must be 7 numbers"),
    ],
)
def test_bad_rest_is_refused(make, words):
    """Rest coordinates of the wrong number or kind are refused."""
    with pytest.raises(InputError, match=words):
        make()


@pytest.mark.parametrize("option", ["damping", "friction", "stiffness", "armature"])
def test_fixed_has_no_options(option):
    """A fixed joint has no freedom to damp, rub, spring or drive."""
    with pytest.raises(InputError, match=f"{option} of fixed joint must be 0, not 1: the joint has no freedoms"):
        Fixed(**{option: 1.0})


@pytest.mark.parametrize("value", [1, "no"])
def test_actuated_is_a_flag(value):
    """Whether a joint is actuated is True or False."""
    with pytest.raises(InputError, match="actuated must be True or False"):
        Revolute(actuated=value)


@pytest.mark.parametrize("name", ["", " ", 3, b"j"])
def test_names_are_strings(name):
    """A joint's name is a non-empty string."""
    with pytest.raises(InputError, match="joint name must be a non-empty string"):
        Revolute(name=name)


# --- limits -----------------------------------------------------------------------------------------------------------


@bounded
def test_limits_for_all_coordinates(joint):
    """One pair of limits is taken for every coordinate; None and infinity leave an end open."""
    n = joint.n_q
    assert dataclasses.replace(joint, limits=(-1, 2)).limits == ((-1.0,) * n, (2.0,) * n)
    assert dataclasses.replace(joint, limits=(None, 2)).limits == ((-INF,) * n, (2.0,) * n)
    assert dataclasses.replace(joint, limits=(-INF, INF)).limits == ((-INF,) * n, (INF,) * n)


def test_limits_per_coordinate():
    """Limits may be given per coordinate, open ends among them."""
    assert Universal(limits=((-1, None), (None, 2))).limits == ((-1.0, -INF), (INF, 2.0))
    assert Universal(limits=(np.array([-1, -2]), 3)).limits == ((-1.0, -2.0), (3.0, 3.0))


@pytest.mark.parametrize(
    ("limits", "words"),
    [
        ((1, -1), "must have lower <= upper, not 1 and -1"),
        ((INF, INF), "lower <= upper"),
        ((-INF, -INF), "lower <= upper"),
        ((math.nan, 1), "lower limits of revolute joint"),
        ((0, "1"), "upper limits of revolute joint"),
        ((0, True), "upper limits of revolute joint"),
        ((0, 1, 2), r"\(lower, upper\)"),
        (1.0, r"\(lower, upper\)"),
        ("ab", r"\(lower, upper\)"),
        (((0, 0), 1), "a number, None, or 1 of them"),
        (SwingTwist(), r"\(lower, upper\)"),
    ],
)
def test_bad_limits_are_refused(limits, words):
    """Limits that are no interval are refused."""
    with pytest.raises(InputError, match=words):
        Revolute(limits=limits)


def test_spherical_limits_are_swing_and_twist():
    """A spherical joint is limited by a SwingTwist and by nothing else."""
    limits = SwingTwist(swing=1.0, twist=(-0.5, 0.5), axis="-z")
    assert Spherical(limits=limits).limits == limits
    assert limits.axis == (0.0, 0.0, -1.0)
    with pytest.raises(InputError, match="must be a SwingTwist or None"):
        Spherical(limits=(-1, 1))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ({"swing": -0.1}, "swing must be between 0 and pi"),
        ({"swing": 3.2}, "swing must be between 0 and pi"),
        ({"swing": None}, "swing must be a number"),
        ({"twist": (1, 0)}, "twist must be -pi <= lower <= upper <= pi"),
        ({"twist": (-4, 0)}, "twist must be -pi <= lower <= upper <= pi"),
        ({"twist": 1.0}, "twist must be 2 numbers"),
        ({"axis": "up"}, "axis of SwingTwist must be one of 'x'"),
    ],
)
def test_bad_swing_and_twist_are_refused(arguments, words):
    """A swing outside 0 to pi, a twist outside -pi to pi and an axis that is none are refused."""
    with pytest.raises(InputError, match=words):
        SwingTwist(**arguments)


def test_fixed_joints_have_no_limits():
    """Fixed joints cannot be limited."""
    with pytest.raises(InputError, match="limits of fixed joint must be None"):
        Fixed(limits=(-1, 1))


def test_limits_of_a_free_joint_are_those_of_its_position():
    """The limits of a free joint are three bounds of its position; orientations have none."""
    joint = Free(limits=((None, -1.0, 0.0), 2.0))
    assert joint.limits == ((-math.inf, -1.0, 0.0), (2.0, 2.0, 2.0))
    assert joint.excess((1.0, 0.0, 0.0, 0.0, 9.0, 0.0, 1.0)) == 7.0
    assert joint.excess((0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0)) == -1.0
    with pytest.raises(InputError, match="lower limits of free joint must be a number, None, or 3 of them"):
        Free(limits=((0.0,) * 7, (1.0,) * 7))


def test_isotropic_friction_is_one_number():
    """Friction against the whole angular velocity of a ball is the same about all axes."""
    assert Spherical(friction=0.5, is_isotropic=True).friction == (0.5, 0.5, 0.5)
    with pytest.raises(InputError, match=r"must be one number with is_isotropic, not \(0.1, 0.2, 0.1\)"):
        Spherical(friction=(0.1, 0.2, 0.1), is_isotropic=True)


# --- refusals of axes -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", [Revolute, Prismatic, Cylindrical])
@pytest.mark.parametrize("axis", ["up", (0, 0, 0), (1, 2), None])
def test_bad_axes_are_refused(joint, axis):
    """What is no axis is refused with the kind of the joint."""
    with pytest.raises(InputError, match=f"axis of {joint.__name__.lower()} joint"):
        joint(axis)


@pytest.mark.parametrize(
    "axes", [("x", "x"), ("x", "-x"), ((1, 0, 0), (1, 1e-7, 0)), ("x",), "xy", ("x", "y", "z"), None]
)
def test_universal_needs_two_directions(axes):
    """The axes of a universal joint are two and not parallel."""
    with pytest.raises(InputError, match="axes of universal joint"):
        Universal(axes)


def test_screw_needs_a_pitch():
    """A screw without pitch is refused: no default would be right."""
    with pytest.raises(TypeError, match="pitch"):
        Screw()


# --- manners ----------------------------------------------------------------------------------------------------------


@every
def test_joints_are_values(joint):
    """Joints cannot be changed, and compare, hash, copy and pickle by value."""
    with pytest.raises(AttributeError):
        joint.name = "knee"
    with pytest.raises(AttributeError):
        joint.colour = "red"
    for twin in (copy.deepcopy(joint), pickle.loads(pickle.dumps(joint)), dataclasses.replace(joint)):
        assert twin == joint
        assert hash(twin) == hash(joint)


def test_making_a_joint_again_changes_nothing():
    """Held values are valid input: a joint made from another's fields is equal to it, to the last bit."""
    joint = Universal(((1, 2, 3), (3, -1, 1)), limits=(None, (1, 2)), damping=(0.1, 0.2), rest=(0.1, 0.2))
    assert dataclasses.replace(dataclasses.replace(joint, name="a"), name=None) == joint
    ball = Spherical(rest=(0.3, 0.1, -0.7, 0.2))
    assert dataclasses.replace(ball).rest == ball.rest


def test_repr_says_what_is_special():
    """The repr has the axis and whatever differs from a new joint."""
    assert repr(Revolute("y")) == "Revolute(axis=(0.0, 1.0, 0.0))"
    assert repr(Free(name="hips")) == "Free(name='hips')"
    joint = Prismatic("x", damping=2, actuated=False, rest=1, limits=(0, None))
    assert repr(joint) == (
        "Prismatic(limits=((0.0,), (inf,)), damping=(2.0,), rest=(1.0,), actuated=False, axis=(1.0, 0.0, 0.0))"
    )


# --- texts and twins --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("joint", EVERY + IN_LOOPS[:3], ids=lambda joint: joint.kind)
def test_text_and_back(joint):
    """A joint along named axes comes back from its text."""
    assert joint_from_text(joint_text(joint)) == joint


@pytest.mark.parametrize(
    "text", ["", "hinge", "revolute", "revolute y z", "revolute w", "universal x", "distance y", 7]
)
def test_texts_of_no_joint(text):
    """A text of no joint is refused with examples of all."""
    with pytest.raises(InputError, match=r"must be a joint such as revolute z, .*universal x y"):
        joint_from_text(text)


def test_from_kind_and_fields():
    """Any joint comes from a mapping with its kind and fields, as scenario files have it; faults are named."""
    spring = {"kind": "spring-damper", "stiffness": 200.0, "damping": 5.0, "length": 0.3, "slack": True}
    assert joint_from_plain(spring) == SpringDamper(stiffness=200.0, damping=5.0, length=0.3, slack=True)
    assert joint_from_plain({"kind": "revolute", "axis": [0, 1, 0], "damping": 2}) == Revolute("y", damping=2)
    assert joint_from_plain("revolute y") == Revolute("y")
    for wrong, message in (
        ({"kind": "hinge"}, "kind must be one of"),
        ({"stiffness": 3}, "kind must be one of"),
        ({"kind": "spring-damper", "length": 0.3, "colour": "red"}, "has no 'colour'; its fields are length"),
        ({"kind": "constant-force"}, "needs its 'force'"),
        ({"kind": "spring-damper", "stiffness": -1}, "stiffness"),
    ):
        with pytest.raises(InputError, match=message):
            joint_from_plain(wrong)


@bounded
def test_reversed(joint):
    """The reversed joint moves the frames back, at the same coordinates or, if its note says so, swapped ones."""
    twin = joint.reversed()
    if twin is None:
        assert joint.kind in ("planar", "pin-in-slot")
        return
    q = (0.7, -0.4)[: joint.n_q]
    assert (transform(joint, q) @ transform(twin, q[:: 1 if joint.reversed_note is None else -1])).is_close(
        Pose(), 1e-14
    )
