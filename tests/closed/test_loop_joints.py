"""Springs, dampers and friction in joints that close loops."""

import numpy as np
import pytest

import varichain as vc
from measure import deviation
from varichain.mechanism import Cylindrical, PinInSlot, Planar, Prismatic, Revolute, Screw, Spherical, Universal
from varichain.spatial.pose import Pose

SAME = 1e-9  # two spanning trees of one mechanism; both lose digits to the condition of their matrices
BALANCE = 1e-6  # central differences of the energy over 3e-6 s

QUARTER = (np.cos(0.2), np.sin(0.2), 0.0, 0.0)
JOINTS = {
    "revolute": Revolute((1, 2, 3), damping=0.7, stiffness=3.0, rest=0.2, friction=0.4),
    "prismatic": Prismatic((1, 2, 3), damping=0.7, stiffness=3.0, rest=0.2, friction=0.4),
    "screw": Screw((1, 2, 3), pitch=0.3, damping=0.7, stiffness=3.0, rest=0.2, friction=0.4),
    "cylindrical": Cylindrical((1, 2, 3), damping=(0.7, 0.2), stiffness=(3.0, 5.0), rest=(0.2, -0.1), friction=0.3),
    "planar": Planar(
        (1, 2, 3), damping=(0.7, 0.2, 0.5), stiffness=(3.0, 5.0, 2.0), rest=(0.2, -0.1, 0.3), friction=0.2
    ),
    "spherical": Spherical(damping=(0.7, 0.2, 0.5), stiffness=3.0, rest=QUARTER, friction=(0.1, 0.2, 0.3)),
    "pin-in-slot": PinInSlot(
        (1, 2, 3), (3, 0, -1), damping=(0.7, 0.2), stiffness=(3.0, 5.0), rest=(0.2, -0.1), friction=(0.3, 0.1)
    ),
    "universal": Universal(
        ("x", (1, 2, 3)), damping=(0.7, 0.2), stiffness=(3.0, 5.0), rest=(0.2, -0.1), friction=(0.3, 0.1)
    ),
    "free": vc.Free(
        damping=(0.7, 0.2, 0.5, 0.4, 0.1, 0.3),
        stiffness=(3.0, 3.0, 3.0, 2.0, 2.0, 2.0),
        rest=(*QUARTER, 0.1, 0.2, -0.3),
        friction=(0.1, 0.2, 0.3, 0.2, 0.1, 0.4),
    ),
}
"""Every kind that has freedoms."""


def box(name):
    """An inertia without symmetry."""
    return vc.Inertia(1.0 + 0.1 * len(name), com=(0.1, 0.05, -0.1), about_com=(0.02, 0.03, 0.04))


def pair(joint):
    """The same two bodies: the joint in the tree, and closing a loop of a floating one; with states that agree."""
    at = Pose((0.3, 0.1, 0.2), rotation_vector=(0.2, 0.5, -0.3))
    tree = vc.Mechanism("tree")
    tree.add_link("a", None, inertia=box("a"))
    tree.add_link("b", "a", joint, at=at, inertia=box("bb"))
    loop = vc.Mechanism("loop")
    loop.add_link("a", None, inertia=box("a"))
    loop.add_link("b", None, inertia=box("bb"))
    loop.connect("b", "a", joint, at_other=at, name="hinge")
    rng = np.random.default_rng(len(joint.kind))
    s = tree.state().integrate(0.4 * rng.standard_normal(tree.n_v))
    s.v = rng.standard_normal(tree.n_v)
    t = loop.state()
    t["a"].q, t["a"].v = s["a"].q, s["a"].v
    X, V = vc.pose(tree, s, "b"), vc.velocity(tree, s, "b", axes="local")
    t["b"].pose, t["b"].v = X, V
    return tree, s, loop, t


@pytest.mark.parametrize("kind", JOINTS)
def test_a_joint_does_the_same_in_a_tree_and_in_a_loop(kind):
    """Accelerations, energy and the joint's coordinates are those of the spanning tree that has the joint in it."""
    tree, s, loop, t = pair(JOINTS[kind])
    np.testing.assert_allclose(vc.loop_states(loop, t)["hinge"].v, np.atleast_1d(s["b"].v), atol=1e-12)
    expected, found = vc.forward_dynamics(tree, s), vc.forward_dynamics(loop, t)
    assert deviation(found["a"], expected["a"]) < SAME
    at_b = vc.jacobian(tree, s, "b", axes="local") @ expected.a + vc.bias_acceleration(tree, s, "b", axes="local")
    # a free joint's velocities are in the link's axes, and so are their rates
    assert deviation(found["b"], at_b) < SAME
    assert vc.energy(loop, t).elastic == pytest.approx(vc.energy(tree, s).elastic, rel=1e-12)
    for wrench in vc.joint_forces(loop, t, found).values():  # nothing holds a floating body
        assert np.abs(wrench).max() < 1e-9
    for method in ("kkt", "projected", "unit_vectors"):
        assert deviation(vc.forward_dynamics(loop, t, method=method).a, found.a) < SAME


@pytest.mark.parametrize("kind", JOINTS)
def test_energy_goes_where_the_joint_says(kind):
    """The energy falls at the rate of damping and friction: springs keep theirs, loop forces do no work."""
    _, _, loop, t = pair(JOINTS[kind])
    joint, h = JOINTS[kind], 3e-6
    rate = np.atleast_1d(vc.loop_states(loop, t)["hinge"].v)
    lost = float(np.dot(joint.damping, rate**2) + np.dot(joint.friction, np.abs(rate)))
    handle, totals = loop.prepare(), []
    for step in (-h, h):
        q, v = t.q.copy(), t.v.copy()
        handle.advance(q, v, np.zeros(loop.n_v), step)
        parts = np.empty(3)
        totals.append(handle.energy(q, v, parts).sum())
    assert (totals[0] - totals[1]) / (2 * h) == pytest.approx(lost, rel=BALANCE, abs=BALANCE)


def test_inverse_dynamics_overcomes_them():
    """Torques from the inverse dynamics give the accelerations back, with springs and dampers in the loop's joint."""
    m = vc.Mechanism("four-bar", gravity=(0, -9.81, 0))
    for name, on, x, length in (
        ("crank", "ground", 0.0, 0.8),
        ("coupler", "crank", 0.8, 1.9),
        ("rocker", "ground", 2.0, 1.6),
    ):
        bar = vc.Inertia.box(1.0, (length, 0.05, 0.05), com=(length / 2, 0, 0))
        m.add_link(name, on, Revolute("z", name=f"{name} hinge", actuated=name == "crank"), at=(x, 0, 0), inertia=bar)
    spring = Revolute("z", damping=0.3, stiffness=2.0, rest=-0.5)
    m.connect("coupler", "rocker", spring, at=(1.9, 0, 0), at_other=(1.6, 0, 0), name="pin")
    s = m.state()
    s["crank hinge"].q, s["coupler hinge"].q, s["rocker hinge"].q = 1.0, -0.6, 1.4
    s = vc.assemble(m, s).state
    s.v = np.ones(3)
    s = vc.project(m, s)
    wanted = vc.forward_dynamics(m, s, {"crank hinge": 2.5})
    assert deviation(vc.inverse_dynamics(m, s, wanted.a).tau, [2.5, 0.0, 0.0]) < SAME


@pytest.mark.parametrize("joint", [Revolute(armature=0.1), Spherical(armature=1.0)])
def test_what_a_loop_joint_cannot_have_is_refused(joint):
    """Armature in a loop joint is refused by name."""
    m = vc.Mechanism()
    m.add_link("a", None, inertia=box("a"))
    with pytest.raises(vc.InputError, match="closes a loop cannot have"):
        m.connect("a", "ground", joint, at_other=(0, 0, 0))
    assert not m.virtual_links
