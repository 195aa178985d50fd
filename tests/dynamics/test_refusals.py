"""Bad input: a named error that says what would be valid, before anything is computed."""

import numpy as np
import pytest

import varichain as vc
import zoo
from measure import random_state

BAD = [np.nan, np.inf, -np.inf]
WITH_STATE = {
    "pose": lambda m, s: vc.pose(m, s, "rotor"),
    "velocity": lambda m, s: vc.velocity(m, s, "rotor"),
    "jacobian": lambda m, s: vc.jacobian(m, s, "rotor"),
    "bias_acceleration": lambda m, s: vc.bias_acceleration(m, s, "rotor"),
    "limit_excess": vc.limit_excess,
    "inverse_dynamics": vc.inverse_dynamics,
    "forward_dynamics": vc.forward_dynamics,
    "mass_matrix": vc.mass_matrix,
    "bias_force": vc.bias_force,
    "center_of_mass": vc.center_of_mass,
    "center_of_mass_jacobian": vc.center_of_mass_jacobian,
    "energy": vc.energy,
    "momentum": vc.momentum,
}
KINEMATICS = ("pose", "velocity", "jacobian", "bias_acceleration", "limit_excess")
every_function = pytest.mark.parametrize("function", WITH_STATE.values(), ids=WITH_STATE.keys())


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


@pytest.fixture
def m():
    """A gimbal that also carries a ball on a ball joint."""
    mechanism = zoo.gimbal()
    mechanism.add_link("ball", "rotor", vc.Spherical(name="socket"), inertia=vc.Inertia.sphere(1.0, 0.1))
    return mechanism


# --- numbers -------------------------------------------------------------------------------------------------------


@every_function
@pytest.mark.parametrize("bad", BAD)
def test_numbers_of_the_state_must_be_finite(function, bad, m, rng):
    """NaN and infinity in q or v are refused with the joint's name."""
    s = random_state(rng, m)
    s.q[1] = bad
    with pytest.raises(vc.InputError, match=r"'inner ring'.*finite"):
        function(m, s)
    s = random_state(rng, m)
    s.v[4] = bad
    with pytest.raises(vc.InputError, match=r"'socket.wy'.*finite"):
        function(m, s)


@every_function
def test_quaternions_written_raw_must_have_unit_length(function, m, rng):
    """A quaternion of another length is refused with the joint's name and its length."""
    s = random_state(rng, m)
    s["socket"].q[:] = (2.0, 0.0, 0.0, 0.0)
    with pytest.raises(vc.InputError, match=r"'socket' has length 2.*orientation"):
        function(m, s)


@pytest.mark.parametrize("bad", BAD)
@pytest.mark.parametrize("what", ["a", "tau"])
def test_given_vectors_must_be_finite(what, bad, m):
    """NaN and infinity in accelerations and torques are refused, in arrays, lists and mappings."""
    function = vc.inverse_dynamics if what == "a" else vc.forward_dynamics
    vector = np.zeros(m.n_v)
    vector[2] = bad
    for given in (vector, vector.tolist(), {"rotor": bad}, {"socket": [0.0, bad, 0.0]}):
        with pytest.raises(vc.InputError, match=what):
            function(m, m.state(), given)


def test_given_vectors_must_have_the_right_shape(m):
    """Vectors of the wrong length, dimension or type are refused with the right shape."""
    s, n = m.state(), m.n_v
    for given in (np.zeros(n - 1), np.zeros((n, 1)), np.zeros(n + 1), 1.0, "text", np.zeros(n, complex)):
        with pytest.raises(vc.InputError, match=f"tau.*{n}"):
            vc.forward_dynamics(m, s, given)
    with pytest.raises(vc.InputError, match=r"tau.* must be a number, not True"):
        vc.forward_dynamics(m, s, [True] * n)
    for given in ({"socket": [1.0, 2.0]}, {"socket": 1.0}, {"rotor": [1.0, 2.0]}, {"rotor": None}):
        with pytest.raises(vc.InputError, match=r"a of .* joint"):
            vc.inverse_dynamics(m, s, given)


def test_any_real_numbers_do(m):
    """Integers, single precision, strided and read-only arrays and lists are as good as float arrays."""
    s, n = m.state(), m.n_v
    expected = vc.inverse_dynamics(m, s, np.ones(n)).tau
    read_only = np.ones(n)
    read_only.setflags(write=False)
    for given in ([1] * n, np.ones(n, int), np.ones(n, np.float32), np.ones(2 * n)[::2], tuple(np.ones(n)), read_only):
        np.testing.assert_array_equal(vc.inverse_dynamics(m, s, given).tau, expected)


@pytest.mark.parametrize("field", ["force", "moment", "at"])
@pytest.mark.parametrize("bad", [(np.nan, 0, 0), (0, np.inf, 0), (1, 2), "up", 3.0, None])
def test_forces_must_be_finite_triples(field, bad):
    """A force is refused when it is made, with the field's and the link's name."""
    with pytest.raises(vc.InputError, match=f"{field} on link 'hand'"):
        vc.Force("hand", **{field: bad})


def test_forces_must_be_forces(m):
    """Axes other than world and local, and things that are no forces, are refused with what is valid."""
    with pytest.raises(vc.InputError, match="'world' or 'local'"):
        vc.Force("rotor", axes="body")
    for given in ([(1, 2, 3)], "rotor", 5, [None]):
        with pytest.raises(vc.InputError, match="must be Force or LinkForces objects"):
            vc.forward_dynamics(m, m.state(), None, given)


@pytest.mark.parametrize("function", [vc.velocity, vc.jacobian, vc.bias_acceleration])
def test_points_and_axes(function, m):
    """Points that are no points and axes that are neither world nor local are refused."""
    for at in ((1.0, 2.0), (np.nan, 0.0, 0.0), "tip", np.eye(3)):
        with pytest.raises(vc.InputError, match="at must be a Pose or a position"):
            function(m, m.state(), "rotor", at)
    with pytest.raises(vc.InputError, match="'world' or 'local'"):
        function(m, m.state(), "rotor", axes="joint")


def test_point_of_reference_must_be_a_point(m):
    """Momentum is asked about three finite numbers."""
    for about in ((1.0, 2.0), (np.inf, 0.0, 0.0), "origin"):
        with pytest.raises(vc.InputError, match="about"):
            vc.momentum(m, m.state(), about=about)


# --- names ---------------------------------------------------------------------------------------------------------


def test_unknown_links_are_answered_with_the_known(m):
    """A misspelt link is refused with all links' names, the closest first."""
    s = m.state()
    for ask in (
        lambda name: vc.pose(m, s, name),
        lambda name: vc.jacobian(m, s, name),
        lambda name: vc.velocity(m, s, name),
        lambda name: vc.bias_acceleration(m, s, name),
        lambda name: vc.forward_dynamics(m, s, None, [vc.Force(name, (1, 0, 0))]),
    ):
        with pytest.raises(vc.UnknownNameError, match=r"did you mean 'rotor'.*'outer ring'") as caught:
            ask("roter")
        assert caught.value.valid[0] == "rotor"
        assert set(caught.value.valid) == {"ground", "outer ring", "inner ring", "rotor", "ball"}
        with pytest.raises((vc.UnknownNameError, vc.InputError)):
            ask(3)


def test_unknown_joints_are_answered_with_the_known(m):
    """A misspelt joint is refused with all joints' names, in states, mappings and results."""
    s = m.state()
    for ask in (
        lambda name: s[name],
        lambda name: vc.forward_dynamics(m, s, {name: 1.0}),
        lambda name: vc.inverse_dynamics(m, s, {name: 1.0}),
        lambda name: vc.forward_dynamics(m, s)[name],
        lambda name: vc.inverse_dynamics(m, s)[name],
    ):
        with pytest.raises(vc.UnknownNameError, match="did you mean 'socket'") as caught:
            ask("sockett")
        assert set(caught.value.valid) == {"outer ring", "inner ring", "rotor", "socket"}


def test_an_unknown_link_leaves_no_force_behind(m, rng):
    """Forces that were given along with one on an unknown link do not act in the next call."""
    s = random_state(rng, m)
    before = vc.bias_force(m, s)
    with pytest.raises(vc.UnknownNameError):
        vc.bias_force(m, s, [vc.Force("rotor", (1, 2, 3)), vc.Force("nobody", (1, 2, 3))])
    np.testing.assert_array_equal(vc.bias_force(m, s), before)


# --- states --------------------------------------------------------------------------------------------------------


@every_function
def test_mechanism_and_state_must_be_such(function, m):
    """Anything but a Mechanism and a State is refused by type."""
    for mechanism, state in ((None, m.state()), ("m", m.state()), (m.state(), m)):
        with pytest.raises(vc.InputError, match="expected a Mechanism"):
            function(mechanism, state)
    for state in (None, m.state().q, m, "rest"):
        with pytest.raises(vc.InputError, match="expected a State"):
            function(m, state)


@every_function
def test_a_state_is_stale_after_a_link_was_added(function, m):
    """A state of the mechanism before it got another joint is refused, and says how to get a new one."""
    s = m.state()
    m.add_link("more", "ball", vc.Revolute(), inertia=vc.Inertia.sphere(1.0, 0.1))
    with pytest.raises(vc.StaleStateError, match=r"m\.state\(\)"):
        function(m, s)
    function(m, m.state())


@every_function
def test_a_state_of_another_mechanism_is_refused(function, m):
    """A state with other joints is refused."""
    with pytest.raises(vc.StaleStateError, match="pivot"):
        function(m, zoo.pendulum().state())


# --- mass ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", WITH_STATE)
def test_a_weightless_leaf_has_a_pose_but_no_dynamics(name, m):
    """A link that moves without mass is named by every function that needs mass, and no obstacle for the others."""
    m.add_link("feather", "ball", vc.Revolute(name="quill"))
    function = WITH_STATE[name]
    if name in KINEMATICS:
        function(m, m.state())
        return
    with pytest.raises(vc.SingularMassError, match="'feather'"):
        function(m, m.state())
    m.edit_joint("quill", armature=0.1)
    function(m, m.state())


def test_weightless_links_between_are_fine():
    """Massless rings around a rotor are regular, and a massless link fixed to a heavy one too."""
    m = zoo.gimbal()
    m.add_link("label", "rotor", vc.Fixed())
    assert np.isfinite(vc.forward_dynamics(m, m.state()).a).all()


@pytest.mark.parametrize("seed", range(20))
def test_a_thin_rod_cannot_be_spun(seed):
    """A thin rod on a ball joint has no inertia about its own axis, however it lies: forward dynamics says so."""
    rng = np.random.default_rng(seed)
    axis = zoo.random_direction(rng) if seed else np.array([0.0, 0.0, 1.0])
    m = vc.Mechanism()
    m.add_link("rod", joint=vc.Spherical(name="tip"), inertia=vc.Inertia.rod(1.0, 2.0, axis, com=axis))
    s = random_state(rng, m) if seed > 1 else m.state()
    with np.errstate(all="ignore"), pytest.raises(vc.SingularMassError, match=r"'tip.w.*armature") as caught:
        vc.forward_dynamics(m, s)
    assert caught.value.joint.startswith("tip")
    assert np.isfinite(vc.inverse_dynamics(m, s).tau).all()
    m.edit_joint("tip", armature=1e-3)
    assert np.isfinite(vc.forward_dynamics(m, s).a).all()


@pytest.mark.parametrize("seed", range(10))
def test_two_hinges_on_one_axis_share_one_inertia(seed):
    """Of two hinges in line with nothing heavy between them, the forces on each alone are undefined."""
    rng = np.random.default_rng(seed)
    axis, X = zoo.random_direction(rng), zoo.random_pose(rng)
    m = vc.Mechanism()
    m.add_link("sleeve", joint=vc.Revolute(axis), at=X)
    m.add_link("shaft", "sleeve", vc.Revolute(axis), at=0.3 * axis, inertia=zoo.random_inertia(rng))
    with np.errstate(all="ignore"), pytest.raises(vc.SingularMassError, match="sleeve"):
        vc.forward_dynamics(m, random_state(rng, m))


def test_a_hinge_that_carries_a_floating_body_moves_nothing():
    """A weightless link whose only load floats freely of it has no inertia."""
    rng = np.random.default_rng(3)
    m = vc.Mechanism()
    m.add_link("frame", joint=vc.Revolute(zoo.random_direction(rng)), at=zoo.random_pose(rng))
    m.add_link("floater", "frame", vc.Free(), at=zoo.random_pose(rng), inertia=zoo.random_inertia(rng))
    with np.errstate(all="ignore"), pytest.raises(vc.SingularMassError, match="frame"):
        vc.forward_dynamics(m, random_state(rng, m))


@pytest.mark.parametrize("ratio", [1e-3, 1e-5])
def test_slender_bodies_are_not_mistaken_for_thin_rods(ratio):
    """A needle as slender as a hair has little inertia about its axis, but it has some."""
    m = vc.Mechanism()
    m.add_link("needle", joint=vc.Spherical(), inertia=vc.Inertia.cylinder(1.0, ratio, 1.0))
    s = m.state()
    s["needle"].orientation = (0.3, 0.5, 0.7)
    a = vc.forward_dynamics(m, s, {"needle": (0.0, 0.0, 1.0)}).a
    # I_z = ratio^2 / 2; rounding of the rest, 1/12, is all that may be lost
    assert a[2] == pytest.approx(2.0 / ratio**2, rel=1e-14 / ratio**2)


def test_long_chains_are_not_mistaken_for_singular_ones(rng):
    """In a chain of a hundred links every freedom has inertia."""
    m = zoo.serial_chain(100)
    assert np.isfinite(vc.forward_dynamics(m, random_state(rng, m)).a).all()


@pytest.mark.parametrize("function", [vc.center_of_mass, vc.center_of_mass_jacobian, vc.momentum])
def test_nothing_has_no_centre_of_mass(function):
    """Where nothing that moves has mass there is no centre of mass: SingularMassError, not NaN."""
    welded, rotor = vc.Mechanism(), vc.Mechanism()
    welded.add_link("post", joint=vc.Fixed(), inertia=vc.Inertia.sphere(1.0, 0.1))
    rotor.add_link("rotor", joint=vc.Revolute(armature=1.0))
    for m in (vc.Mechanism(), welded, rotor):
        with pytest.raises(vc.SingularMassError, match="mass"):
            function(m, m.state())


def test_a_mechanism_without_joints_still_answers():
    """Ground alone has a pose, no velocity, no freedom and no energy."""
    m = vc.Mechanism()
    s = m.state()
    assert vc.pose(m, s, "ground") == vc.Pose()
    np.testing.assert_array_equal(vc.velocity(m, s, "ground"), np.zeros(6))
    assert vc.mass_matrix(m, s).shape == (0, 0)
    assert vc.forward_dynamics(m, s).a.shape == vc.inverse_dynamics(m, s).tau.shape == (0,)
    assert vc.energy(m, s).total == 0.0
    assert vc.limit_excess(m, s) == {}


# --- limits --------------------------------------------------------------------------------------------------------


def test_limit_excess_names_joints_outside_their_limits():
    """Only joints beyond a limit are named, with the largest excess of their coordinates."""
    m = vc.Mechanism()
    body = vc.Inertia.sphere(1.0, 0.1)
    m.add_link("arm", joint=vc.Revolute(limits=(-1.0, 2.0)), inertia=body)
    m.add_link("sled", "arm", vc.Planar(limits=((None, -0.5, -1.0), (0.5, 0.5, 1.0))), inertia=body)
    m.add_link("loose", "sled", vc.Revolute(), inertia=body)
    s = m.state()
    assert vc.limit_excess(m, s) == {}
    s["arm"].q, s["loose"].q = 2.25, 100.0
    assert vc.limit_excess(m, s) == {"arm": 0.25}
    s["arm"].q = -1.5
    s["sled"].q = (-1e9, -0.75, 1.125)
    assert vc.limit_excess(m, s) == {"arm": 0.5, "sled": 0.25}
    s["arm"].q, s["sled"].q = 2.0, (0.5, -0.5, 1.0)
    assert vc.limit_excess(m, s) == {}


@pytest.mark.parametrize(
    ("turn", "excess"),
    [
        ((0.0, 0.0, 0.0), None),
        ((0.0, 0.0, 0.45), None),
        ((0.0, 0.0, 0.75), 0.25),
        ((0.0, 0.0, -0.3), 0.1),
        ((0.9, 0.0, 0.0), None),
        ((0.0, -1.5, 0.0), 0.5),
        ((0.0, 0.0, 3.5), 2.0 * np.pi - 3.5 - 0.2),
    ],
)
def test_limit_excess_of_ball_joints_splits_swing_and_twist(turn, excess):
    """A pure turn about the long axis is all twist, one across it all swing; the larger excess counts."""
    m = vc.Mechanism()
    limits = vc.SwingTwist(swing=1.0, twist=(-0.2, 0.5), axis="z")
    m.add_link("ball", joint=vc.Spherical(limits=limits), inertia=vc.Inertia.sphere(1.0, 0.1))
    s = m.state()
    s["ball"].orientation = turn
    assert vc.limit_excess(m, s) == ({} if excess is None else {"ball": pytest.approx(excess, abs=1e-14)})


def test_limit_excess_of_ball_joints_is_accurate_to_rounding(rng):
    """A turn that is swing after twist has just the excess of each, and one without swing none, to rounding."""
    from varichain.spatial.rotation import quaternion_from_rotation_vector, quaternion_multiply

    m = vc.Mechanism()
    m.add_link("ball", joint=vc.Spherical(limits=vc.SwingTwist(swing=0.0, twist=(-3.0, 3.0), axis=(1.0, 2.0, 2.0))))
    s, axis = m.state(), np.array([1.0, 2.0, 2.0]) / 3.0
    for swing in (0.0, 1e-12, 1e-6, 0.7, 3.0):
        across = np.cross(axis, zoo.random_direction(rng))
        across *= swing / np.linalg.norm(across)
        swing_q, twist_q = (quaternion_from_rotation_vector(turn) for turn in (across, rng.uniform(-3.0, 3.0) * axis))
        s["ball"].orientation = quaternion_multiply(swing_q, twist_q)
        assert vc.limit_excess(m, s).get("ball", 0.0) == pytest.approx(swing, abs=1e-14)
