"""Rows and freedoms of every joint that closes a loop, against finite differences; joints of one and two rows."""

from dataclasses import dataclass

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import IS_COMPILED
from measure import deviation
from varichain.dynamics.arguments import opened
from varichain.dynamics.loops import (
    closure_errors,
    constraint_bias,
    constraint_matrix,
    loop_bias,
    loop_frames,
    loop_jacobian,
    relative_jacobian,
)
from varichain.kernels.loop_motion import joint_rows
from varichain.kernels.records import ROW_CODES
from varichain.mechanism import (
    JOINT_TYPES,
    Distance,
    Inertia,
    Joint,
    Mechanism,
    PinInSlot,
    PointInPlane,
    PointOnLine,
    Primitive,
)
from varichain.mechanism.loop_rows import FREEDOM_WORDS, ROW_WORDS
from varichain.spatial.pose import Pose

H = 1e-5
DIFFERENCES = (
    1e-6  # central differences of step 1e-5: 1e-10 of third derivatives of size 1e3, and rounding 1e-15 / 1e-5
)


@dataclass(frozen=True, repr=False)
class _Jib(Joint):
    """Turns about z, then slides along an axis that it carries."""

    n_q = n_v = 2
    coordinates = ("angle", "travel")
    rows = (("slid", 1), ("linear", 2), ("angular", 0), ("angular", 1))
    freedoms = (("angular", 2), ("slid", 0))

    def primitives(self):
        return Primitive("revolute", np.eye(3)), Primitive("prismatic", np.eye(3)[:, [1, 2, 0]])


SAME = 1e-9  # two solutions of one problem; they lose digits to the condition of its matrices

FEW = {
    "point on line": PointOnLine((1, 2, 3)),
    "point in plane": PointInPlane((1, 2, 3)),
    "distance": Distance(0.4),
    "pin in slot": PinInSlot((1, 2, 3), (3, 0, -1)),
    "jib": _Jib(),
}
BY_KIND = {kind: lambda rng, kind=kind: zoo.random_joint(rng, kind) for kind in zoo.ALL}
EVERY = BY_KIND | {name: lambda rng, joint=joint: joint for name, joint in FEW.items()}


def chain(name, seed=0):
    """A chain of many freedoms whose end is connected to the ground, closed and moving, away from where it was."""
    rng = np.random.default_rng([seed, [*EVERY].index(name)])
    joint = EVERY[name](rng)
    m, parent = Mechanism(name, gravity=rng.uniform(-10, 10, 3)), "ground"
    for i, kind in enumerate(("revolute", "universal", "spherical", "prismatic", "screw", "revolute")):
        m.add_link(f"link {i}", parent, zoo.random_joint(rng, kind), zoo.random_pose(rng), zoo.random_inertia(rng))
        parent = f"link {i}"
    s = m.state()
    s.q = zoo.random_q(rng, m)
    at = zoo.random_pose(rng)
    X = vc.pose(m, s, parent) @ at
    if isinstance(joint, Distance):
        X = X @ Pose(joint.length * zoo.random_direction(rng), quaternion=zoo.random_quaternion(rng))
    m.connect(parent, "ground", joint, at, X, name="closing")
    return m, closed_zoo.random_closed_state(rng, m, _same(m, s))


def _same(m, s):
    """The state of the open chain in the closed one."""
    t = m.state()
    t.q, t.v = s.q, s.v
    return t


def both_ways(s, f):
    """Rate of change of f(state) along v, which stays as it is, by central differences."""
    ends = []
    for h in (-H, H):
        t = s.integrate(h * s.v)
        t.v = s.v
        ends.append(f(t))
    return (ends[1] - ends[0]) / (2 * H)


@pytest.mark.parametrize("name", EVERY)
def test_rows_against_differences(name):
    """K v is the rate of the rows' errors where the loop is closed, and Kdot v that of K v, at any velocity."""
    m, s = chain(name)
    s.v = zoo.random_v(np.random.default_rng(0), m)
    layout, table = opened(m, s)
    K = constraint_matrix(layout, table, s.q)
    assert np.abs(closure_errors(layout, table, s.q)).max(initial=0.0) < SAME
    scale = 1.0 + np.abs(s.v).max() ** 2
    assert deviation(both_ways(s, lambda t: closure_errors(layout, table, t.q)), K @ s.v) < DIFFERENCES * scale
    found = both_ways(s, lambda t: constraint_matrix(layout, table, t.q) @ s.v)
    assert deviation(found, constraint_bias(layout, table, s)) < DIFFERENCES * scale


@pytest.mark.parametrize("name", EVERY)
def test_freedoms_against_differences(name):
    """J_C v_all = 0 with the virtual joint's velocities, and `loop_bias` is the rate of J_C times v_all."""
    m, s = chain(name)
    layout, table = opened(m, s)
    v_all = np.concatenate([s.v, vc.loop_states(m, s)["closing"].v])
    scale = 1.0 + np.abs(v_all).max() ** 2
    assert np.abs(loop_jacobian(layout, table, s) @ v_all).max(initial=0.0) < SAME * scale
    found = both_ways(s, lambda t: loop_jacobian(layout, table, t) @ v_all)
    assert deviation(found, loop_bias(layout, table, s)) < DIFFERENCES * scale


@pytest.mark.parametrize("name", EVERY)
def test_biases_at_any_velocity(name):
    """The biases of rows and freedoms are the rates of their velocities, also of a loop that opens."""
    m, s = chain(name)
    s.v = zoo.random_v(np.random.default_rng(0), m)
    layout, table = opened(m, s)
    (loop,) = layout.loops

    def velocities(t):
        C, biases = np.empty((6, 6)), np.empty(6)
        joint_rows(table, t.q, t.v, 0, C, biases)
        ((X_WA, _),) = loop_frames(layout, table, t)
        return C @ relative_jacobian(layout, table, t, loop, X_WA) @ t.v, biases

    found = both_ways(s, lambda t: velocities(t)[0])
    assert deviation(found, velocities(s)[1]) < DIFFERENCES * (1.0 + np.abs(s.v).max() ** 2)


@pytest.mark.parametrize("name", EVERY)
def test_coordinates_against_differences(name):
    """Coordinates of a loop's joint that are no quaternion or position change as its velocities say."""
    m, s = chain(name)
    joint = m.joint("closing")
    if joint.n_q == 7 or joint.n_v == 0:
        return
    first = 4 if joint.has_quaternion else 0
    rates = both_ways(s, lambda t: vc.loop_states(m, t)["closing"].q[first:])
    expected = vc.loop_states(m, s)["closing"].v[3 if joint.has_quaternion else 0 :]
    assert deviation(rates, expected) < DIFFERENCES * (1.0 + np.abs(s.v).max() ** 2)


@pytest.mark.parametrize("name", FEW)
def test_formulations_agree(name):
    """Accelerations are those of all formulations, mobility counts the rows, and loop forces do no work."""
    m, s = chain(name)
    n_rows = len(m.joint("closing").rows)
    found = vc.mobility(m, s)
    assert (found.n_all, found.rank, found.n_independent) == (m.n_v + 6 - n_rows, 6, m.n_v - n_rows)
    a = vc.forward_dynamics(m, s).a
    for method in ("kkt", "projected", "unit_vectors"):
        assert deviation(vc.forward_dynamics(m, s, method=method).a, a) < SAME * (1.0 + np.abs(a).max())
    layout, table = opened(m, s)
    K = constraint_matrix(layout, table, s.q)
    assert np.abs(K @ a + constraint_bias(layout, table, s)).max() < SAME * (1.0 + np.abs(a).max())


def test_rows_of_combinations():
    """A point on a line has two rows of the cylinder about it, a point in a plane one of the plane's joint."""
    for few, whole, rows in (
        ("point on line", vc.Cylindrical((1, 2, 3)), 2),
        ("point in plane", vc.Planar((1, 2, 3)), 1),
    ):
        m, s = chain(few)
        layout, table = opened(m, s)
        other = m.copy()
        link = other.link_of_joint("closing")
        at, at_other = link.on_real, link.at
        other.cut("closing")
        other.connect("link 5", "ground", whole, at, at_other, name="closing")
        its_layout, its_table = opened(other, _same(other, s))
        K, its_K = constraint_matrix(layout, table, s.q), constraint_matrix(its_layout, its_table, s.q)
        assert len(K) == rows
        np.testing.assert_array_equal(K, its_K[:rows])


def ball():
    """A free sphere, and its state."""
    m = Mechanism("ball", gravity=(0, 0, -9.81))
    m.add_link("ball", None, inertia=Inertia.sphere(2.0, 0.1))
    return m, m.state()


def test_bead_on_a_wire():
    """A sphere whose centre slides on a slanted line falls along it; its spin is its own."""
    axis = np.array([3.0, 0.0, 4.0]) / 5.0
    m, s = ball()
    m.connect("ball", "ground", PointOnLine(axis), at_other=(0, 0, 0), name="wire")
    s = m.state()
    s["ball"].v = (1.0, 2.0, 3.0, *(0.5 * axis))
    a = vc.forward_dynamics(m, s)["ball"]
    np.testing.assert_allclose(a, [0, 0, 0, *(-9.81 * axis[2] * axis - np.cross((1, 2, 3), 0.5 * axis))], atol=1e-12)
    assert vc.loop_states(m, s)["wire"].v[3] == pytest.approx(0.5)


def test_spring_on_a_wire():
    """Spring, damper and friction of a point on a line act along it, those of its rotations about the link's axes."""
    options = {"damping": (0, 0, 0.5, 0.7), "friction": (0, 0, 0, 0.3), "stiffness": (2, 2, 2, 30)}
    m, _ = ball()
    wire = PointOnLine("z", rest=(1, 0, 0, 0, 0.2), **options)
    m.connect("ball", "ground", wire, at_other=(0, 0, 0), name="wire")
    s = m.state()
    angle = 0.4
    s["ball"].q = (np.cos(angle / 2), 0, 0, np.sin(angle / 2), 0, 0, 0.1)
    s["ball"].v = (0, 0, 1.5, 0, 0, -0.6)
    moment, force = -2 * angle - 0.5 * 1.5, -30 * (0.1 - 0.2) + 0.7 * 0.6 + 0.3
    I = 0.4 * 2.0 * 0.1**2
    np.testing.assert_allclose(
        vc.forward_dynamics(m, s)["ball"], (0, 0, moment / I, 0, 0, force / 2 - 9.81), atol=1e-11
    )
    assert vc.energy(m, s).elastic == pytest.approx(0.5 * 2 * angle**2 + 0.5 * 30 * 0.1**2)


def test_bead_in_a_plane():
    """A sphere whose centre moves in a slanted plane falls in it."""
    normal = np.array([3.0, 0.0, 4.0]) / 5.0
    m, _ = ball()
    m.connect("ball", "ground", PointInPlane(normal), at_other=(0, 0, 0), name="floor")
    g = np.array([0, 0, -9.81])
    np.testing.assert_allclose(vc.forward_dynamics(m, m.state())["ball"][3:], g - (g @ normal) * normal, atol=1e-12)


def test_ball_on_a_string():
    """A sphere held by a distance moves as a spherical pendulum, a = g - (g.e + v^2 / length) e."""
    m, _ = ball()
    m.connect("ball", "ground", Distance(0.5), at_other=(0, 0, 0), name="string")
    s = m.state()
    e, v, g = np.array([0.6, 0.0, -0.8]), np.array([0.8, 1.0, 0.6]), np.array([0, 0, -9.81])
    s["ball"].q = (1, 0, 0, 0, *(0.5 * e))
    s["ball"].v = (0, 0, 0, *v)
    found = vc.forward_dynamics(m, s)
    expected = g - (g @ e + v @ v / 0.5) * e
    np.testing.assert_allclose(found["ball"], [0, 0, 0, *expected], atol=1e-12)
    pull = found.loop_forces["string"]
    np.testing.assert_allclose(pull[3:], -2.0 * (g @ e + v @ v / 0.5) * e, atol=1e-11)


def cranks(angles=(1.0, 2.0), speed=1.3):
    """Two cranks about y whose tips a massless coupler keeps apart; with its state."""
    m = Mechanism("coupler of no mass", gravity=(0, 0, -9.81))
    for name, x, length in (("crank", 0.0, 0.8), ("rocker", 2.0, 1.6)):
        bar = Inertia.box(1.0, size=(length, 0.05, 0.05), com=(length / 2, 0, 0))
        m.add_link(name, joint=vc.Revolute("y", name=name), at=(x, 0, 0), inertia=bar)
    m.connect("crank", "rocker", Distance(1.9), at=(0.8, 0, 0), at_other=(1.6, 0, 0), name="coupler")
    s = m.state()
    s["crank"].q, s["rocker"].q = -angles[0], -angles[1]
    s = vc.assemble(m, s, hold=["crank"]).state
    s.v = (speed, speed)
    return m, vc.project(m, s)


def test_four_bar_without_coupler():
    """Two cranks tied by a distance move as Lagrange's equations of the two angles say, written out by hand."""
    m, s = cranks()
    (q1, q2), (v1, v2) = s.q, s.v

    def tip(q, length):  # position, and its first and second derivatives with the angle
        return [
            length * np.array(x) for x in ((np.cos(q), -np.sin(q)), (-np.sin(q), -np.cos(q)), (-np.cos(q), np.sin(q)))
        ]

    (p1, d1, dd1), (p2, d2, dd2) = tip(q1, 0.8), tip(q2, 1.6)
    gap = p1 - p2 - (2.0, 0.0)
    assert np.linalg.norm(gap) == pytest.approx(1.9, abs=1e-11)
    K = np.array([gap @ d1, -gap @ d2])  # half the rate of the square of the distance
    speed = d1 * v1 - d2 * v2
    bias = speed @ speed + gap @ (dd1 * v1**2 - dd2 * v2**2)
    M = [(0.8**2 + 0.05**2) / 12 + 0.4**2, (1.6**2 + 0.05**2) / 12 + 0.8**2]
    tau = [9.81 * 0.4 * np.cos(q1), 9.81 * 0.8 * np.cos(q2)]
    whole = np.array([[M[0], 0, K[0]], [0, M[1], K[1]], [K[0], K[1], 0]])
    expected = np.linalg.solve(whole, [*tau, -bias])
    assert deviation(vc.forward_dynamics(m, s).a, expected[:2]) < SAME
    assert vc.mobility(m, s).n_independent == 1


def test_a_run_keeps_the_distance():
    """A run keeps the distance to rounding and its energy to the method's error."""
    m, s = cranks()
    trace = vc.simulate(m, s, 0.5 if IS_COMPILED else 0.02, step=1e-3)
    end = s.copy()
    end.q, end.v = trace.final.q, trace.final.v
    assert vc.loop_states(m, end)["coupler"].gap < 1e-10
    assert vc.energy(m, end).total == pytest.approx(vc.energy(m, s).total, abs=1e-6)


def test_a_string_that_catches():
    """A distance connected in motion takes the velocity along it, and nothing else of a sphere's."""
    m, s = ball()
    s["ball"].q = (1, 0, 0, 0, 0.5, 0, 0)
    s["ball"].v = (1, 2, 3, 4, 5, 6)
    m.connect("ball", "ground", Distance(0.5), at_other=(0, 0, 0), state=s, name="string")
    np.testing.assert_allclose(s["ball"].v, (1, 2, 3, 0, 5, 6), atol=1e-12)
    with pytest.raises(vc.GapError):
        m.connect("ball", "ground", Distance(0.7), at_other=(0, 0, 0), state=s)


@pytest.mark.parametrize("joint", [FEW[name] for name in ("point on line", "point in plane", "distance")])
def test_no_tree_has_them(joint):
    """Joints that close loops alone are refused in a tree, by name; they have no limits, and a distance no spring."""
    m = Mechanism()
    with pytest.raises(vc.InputError, match=f"{joint.kind} joint closes loops alone"):
        m.add_link("a", "ground", joint)
    with pytest.raises(vc.InputError, match="limits"):
        type(joint)(*([0.3] if isinstance(joint, Distance) else []), limits=(0, 1))
    for wrong in ({"length": 0.0}, {"length": -1}, {"length": 1, "damping": 1}, {"length": 1, "stiffness": 1}):
        with pytest.raises(vc.InputError):
            Distance(**wrong)
    with pytest.raises(vc.InputError, match="right angles"):
        PinInSlot("x", (1, 0, 1))


def test_words_and_codes():
    """Every word that rows are declared with has a code, and every type declares six directions."""
    assert set(ROW_CODES) == {*ROW_WORDS, *FREEDOM_WORDS}
    for kind in JOINT_TYPES.values():
        assert kind.rows is None or len(kind.rows) + len(kind.freedoms) == 6


def test_pin_in_slot_is_a_chain():
    """In a tree it moves as a slider that carries a hinge on a massless link, with springs, dampers and armature."""
    options = {"damping": (0.3, 0.2), "stiffness": (4.0, 3.0), "rest": (0.1, -0.2), "armature": (0.1, 0.02)}
    one, two = Mechanism("one"), Mechanism("two")
    X, body = Pose((1, 2, 3), rotation_vector=(0.3, 0.2, 0.1)), Inertia.box(1.0, (0.1, 0.2, 0.3), com=(0.2, 0.1, 0.3))
    one.add_link("a", joint=PinInSlot("y", "x", **options), at=X, inertia=body)
    parts = [{key: value[k] for key, value in options.items()} for k in (0, 1)]
    two.add_link("pin", joint=vc.Prismatic("y", **parts[0]), at=X, inertia=Inertia.zero())
    two.add_link("a", "pin", vc.Revolute("x", **parts[1]), inertia=body)
    s, t = one.state(), two.state()
    s.q = t.q = (0.4, -0.7)
    s.v = t.v = (1.1, 0.6)
    assert vc.pose(one, s, "a").is_close(vc.pose(two, t, "a"), 1e-14)
    np.testing.assert_allclose(vc.forward_dynamics(one, s).a, vc.forward_dynamics(two, t).a, rtol=1e-12)
    np.testing.assert_allclose(vc.mass_matrix(one, s), vc.mass_matrix(two, t), rtol=1e-12, atol=1e-14)
