"""Stops and dry friction of joints that close loops: the same motion as with the joint in the tree."""

import math
from dataclasses import replace

import numpy as np
import pytest

import varichain as vc
from lane import long_run, scaled
from moving import account, kinds

pytestmark = long_run

# Both mechanisms take the same steps of rk4, in other coordinates: their difference is the error of the method, which
# falls with the fourth power of the step; events lie within 1e-11 s.
SAME_MOTION = 2e-8
BOOKS = 1e-9  # [J], of mechanisms with some joules
INERTIA = vc.Inertia.box(1.3, size=(0.2, 0.3, 0.5), com=(0.05, -0.1, -0.3))
CONE = vc.SwingTwist(swing=0.4, twist=(-0.3, 0.2), axis="z")

JOINTS = {
    "revolute stop": (vc.Revolute("y", limits=(-0.4, 0.3)), [2.0]),
    "revolute friction": (vc.Revolute("y", friction=1.0), [2.0]),
    "revolute stop and friction": (vc.Revolute("y", limits=(-0.4, 0.3), friction=0.3), [2.0]),
    "prismatic stop": (vc.Prismatic((0.3, 0.0, 1.0), limits=(-0.3, 0.3)), [1.0]),
    "prismatic friction": (vc.Prismatic((1.0, 0.0, 0.5), friction=8.0), [1.0]),
    "screw stop": (vc.Screw("z", pitch=0.1, limits=(-0.7, 0.6)), [1.5]),
    "cylindrical": (vc.Cylindrical("x", limits=((-0.5, -0.2), (0.5, 0.2)), friction=(0.2, 1.0)), [2.0, 0.8]),
    "planar": (vc.Planar("y", limits=((-0.2, -0.2, -0.4), (0.2, 0.2, 0.4)), friction=(0.5, 0.4, 0.1)), [1.0, 0.5, 1.5]),
    "universal": (vc.Universal(("x", "y"), limits=((-0.3, -0.4), (0.35, 0.4)), friction=(0.1, 0.2)), [1.5, -2.0]),
    "pin in slot": (vc.PinInSlot(limits=((-0.2, -0.5), (0.2, 0.5)), friction=(0.3, 0.1)), [0.7, 1.5]),
    "ball friction": (vc.Spherical(friction=(0.4, 0.3, 0.2)), [2.0, -1.0, 1.5]),
    "isotropic ball": (vc.Spherical(friction=4.0, is_isotropic=True), [2.0, -1.0, 1.5]),
    "isotropic ball in a cone": (vc.Spherical(limits=CONE, friction=0.3, is_isotropic=True), [2.0, -1.0, 1.5]),
    "ball cone": (vc.Spherical(limits=CONE), [2.0, -1.0, 1.5]),
    "ball cone and friction": (vc.Spherical(limits=CONE, friction=(0.2, 0.1, 0.15)), [2.0, -1.0, 1.5]),
    "free position": (vc.Free(limits=((-0.3, None, -0.2), (0.3, 0.2, None))), [0.5, 0.3, -0.2, 1.0, 0.6, 0.2]),
}


def in_tree(joint):
    """A body on the joint."""
    m = vc.Mechanism("tree", gravity=(0.5, 0.3, -9.0))
    m.add_link("body", joint=replace(joint, name="joint"), inertia=INERTIA)
    return m


def as_loop(joint):
    """The body floating, and the joint closing a loop to the ground."""
    m = vc.Mechanism("loop", gravity=(0.5, 0.3, -9.0))
    m.add_link("body", parent=None, inertia=INERTIA)
    m.connect("body", "ground", replace(joint, name="joint"), at_other=(0, 0, 0))
    return m


def moved(m, twin, s):
    """State of the floating body that moves as in the tree."""
    start = twin.state()
    start["body"].pose = vc.pose(m, s, "body")
    start["body"].v = vc.velocity(m, s, "body", axes="local")
    return start


def places(trace):
    """Position and orientation of the body at all samples."""
    found = []
    for epoch in trace.epochs:
        for i in range(len(epoch)):
            X = vc.pose(epoch.mechanism, epoch.state(i), "body")
            found.append([*X.p, *X.R.ravel()])
    return np.array(found)


@pytest.mark.parametrize("name", JOINTS)
def test_a_loop_joint_stops_and_sticks_as_one_of_the_tree(name):
    """A body on a joint with limits or friction moves the same, whether the joint carries it or closes a loop."""
    joint, v = JOINTS[name]
    m = in_tree(joint)
    s = m.state()
    s["joint"].v = v[0] if len(v) == 1 else v
    twin = as_loop(joint)
    until = scaled(0.6, 0.05)
    one = vc.simulate(m, s, until, step=0.001, sample=0.01)
    other = vc.simulate(twin, moved(m, twin, s), until, step=0.001, sample=0.01)
    assert len(one.log) > 0
    assert kinds(one) == kinds(other)
    assert [entry["time"] for entry in one.log] == pytest.approx([entry["time"] for entry in other.log], abs=1e-7)
    assert [entry["joint"] for entry in one.log] == [entry["joint"] for entry in other.log]
    np.testing.assert_allclose(places(other), places(one), rtol=0.0, atol=SAME_MOTION)
    # where a ball with isotropic friction comes to rest its direction turns ever faster: steps of rk4 cost more there
    books = 1e-7 if joint.kind == "spherical" and joint.is_isotropic else BOOKS
    assert np.abs(account(one)).max() < books
    assert np.abs(account(other)).max() < books
    for epoch in other.epochs:
        assert epoch.closure.max() < 1e-12
        for i in range(len(epoch)):
            assert max(vc.limit_excess(epoch.mechanism, epoch.state(i)).values(), default=0.0) < 1e-10


def four_bar(closes, **options):
    """A four-bar; the hinge D between rocker and ground has options, and is in the tree or closes the loop."""
    B, C, D = (0.0, 0, 0.3), (0.5, 0, 0.5), (0.6, 0, 0.0)
    m = vc.Mechanism("four-bar")
    m.add_link(
        "crank", joint=vc.Revolute("y", name="A"), inertia=vc.Inertia.box(1.0, (0.05, 0.05, 0.3), com=(0, 0, 0.15))
    )
    coupler = vc.Inertia.box(2.0, (0.5, 0.05, 0.05), com=(0.25, 0, 0.1))
    m.add_link("coupler", "crank", vc.Revolute("y", name="B"), at=B, inertia=coupler)
    at_C = np.subtract(C, B)
    rocker = vc.Inertia.box(1.5, (0.05, 0.05, 0.5), com=np.multiply(0.5, np.subtract(D, C)))
    if closes == "D":
        m.add_link("rocker", "coupler", vc.Revolute("y", name="C"), at=at_C, inertia=rocker)
        m.connect("rocker", "ground", vc.Revolute("y", name="D", **options), at=np.subtract(D, C), at_other=D)
    else:
        # the rocker's frame stays at C: its joint frame at D is turned by nothing
        inertia = vc.Inertia.box(1.5, (0.05, 0.05, 0.5), com=np.multiply(0.5, np.subtract(C, D)))
        m.add_link("rocker", "ground", vc.Revolute("y", name="D", **options), at=D, inertia=inertia)
        m.connect("coupler", "rocker", vc.Revolute("y", name="C"), at=at_C, at_other=np.subtract(C, D))
    return m


@pytest.mark.parametrize(
    "options", [{"limits": (-0.2, 0.25)}, {"friction": 4.0}, {"limits": (-0.2, 0.25), "friction": 0.3}]
)
def test_a_four_bar_re_rooted(options):
    """Limits and friction of the hinge that closes a four-bar act as those of the same hinge in the tree."""
    traces = []
    for closes in ("C", "D"):
        m = four_bar(closes, **options)
        traces.append(vc.simulate(m, turning(m, 1.5), scaled(1.5, 0.05), step=0.001, sample=0.01))
    one, other = traces
    assert len(one.log) > 0
    assert kinds(one) == kinds(other)
    assert [entry["joint"] for entry in one.log] == [entry["joint"] for entry in other.log]
    np.testing.assert_allclose(other.joint("A").q, one.joint("A").q, rtol=0.0, atol=SAME_MOTION)
    assert np.abs(account(one)).max() < BOOKS
    assert np.abs(account(other)).max() < BOOKS


def turning(m, crank):
    """The zero configuration, with the crank at a velocity and the other joints following."""
    s = m.state()
    found = vc.mobility(m, s, prefer=["A"])
    s.v = found.W @ np.full(found.W.shape[1], crank)
    return s


def test_the_force_of_a_stop_is_part_of_the_loop_force():
    """A body that hangs at its stop is held by a moment about the hinge that closes its loop, and the trace has it."""
    m = in_tree(vc.Revolute("y", limits=(0.4, 1.0), damping=2.0, name="joint"))
    twin = as_loop(m.joint("joint"))
    s = m.state()
    s["joint"].q = 0.5
    one = vc.simulate(m, s, 8.0, step=0.01)
    other = vc.simulate(twin, moved(m, twin, s), 8.0, step=0.01)
    resting = one.epochs[-1]["holding"][-1, 0]
    assert abs(resting) > 0.1
    wrench = other.epochs[-1]["loop_forces"][-1].ravel()
    assert wrench[1] == pytest.approx(resting, abs=1e-6)


def test_limits_beyond_half_a_turn_are_refused_in_loops():
    """A loop's joint knows its angle within half a turn: wider limits are an error that says so."""
    m = as_loop(vc.Revolute("y", limits=(-4.0, 1.0)))
    with pytest.raises(vc.InputError, match=r"'joint' closes a loop: its angle is known within half a turn"):
        vc.simulate(m, m.state(), 0.1)
    vc.simulate(m, m.state(), 0.01, limits="off", step=0.005)


def test_soft_stops_of_a_loop_joint():
    """Soft stops push a loop's joint back as one of the tree."""
    joint = vc.Revolute("y", limits=(-0.3, 0.2))
    m = in_tree(joint)
    s = m.state()
    s["joint"].v = 2.0
    twin = as_loop(joint)
    limits = vc.SoftLimits(stiffness=80.0, damping=0.5)
    one = vc.simulate(m, s, 0.8, limits=limits, sample=0.01)
    other = vc.simulate(twin, moved(m, twin, s), 0.8, limits=limits, sample=0.01)
    np.testing.assert_allclose(places(other), places(one), rtol=0.0, atol=1e-7)
    assert one.joint("joint").q.max() > 0.21
    assert math.isclose(one.epochs[0]["work"][-1, 4], other.epochs[0]["work"][-1, 4], abs_tol=1e-6)


def test_a_run_with_row_restraints_resumes_to_the_bit():
    """Modes of rows are part of the checkpoint: a resumed run has the bits of one that never stopped."""
    twin = as_loop(JOINTS["cylindrical"][0])
    m = in_tree(JOINTS["cylindrical"][0])
    s = m.state()
    s["joint"].v = JOINTS["cylindrical"][1]
    start = moved(m, twin, s)
    whole = vc.simulate(twin, start, 0.4, step=0.001)
    part = vc.resume(vc.simulate(twin, start, 0.2, step=0.001), 0.4)
    assert whole.final.q.tobytes() == part.final.q.tobytes()
    assert whole.final.v.tobytes() == part.final.v.tobytes()
