"""Cuts: links keep their poses and velocities, loops stay alive, names and handles stay as they are."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from lane import scaled
from measure import deviation, random_state
from motion import Snapshot, kinetic, momentum_about_origin, world, world_by_twin
from varichain.mechanism import Inertia, Mechanism, Revolute, Spherical

ROUNDING = 1e-13
"""Poses and velocities of links a few joints away from the ground, computed along another way."""

SEEDS = range(scaled(8, 2))


def cut_and_compare(m, s, joint, with_state=True):
    """Cut a joint; world poses and velocities of all links, energy and momentum stay; returns the freed link."""
    (X, V), link = world_by_twin(m, s), m.link_of_joint(joint)
    handles = {link.name: (link, link.id) for link in m.links}
    energy, (h, size) = kinetic(m, s), momentum_about_origin(m, s)
    if with_state:
        m.cut(joint, state=s)
    else:
        m.cut(joint)
        s.follow(m)
    vc.check(m)
    X_after, V_after = world_by_twin(m, s)
    assert deviation(X_after, X) < ROUNDING
    assert deviation(V_after, V) < ROUNDING
    assert {link.name: (link, link.id) for link in m.links} == handles
    assert kinetic(m, s) == pytest.approx(energy, rel=1e-12)
    assert deviation(momentum_about_origin(m, s)[0], h, size) < 1e-12
    return link


@pytest.mark.parametrize("with_state", [True, False])
@pytest.mark.parametrize("kind", zoo.ALL)
def test_every_kind_of_tree_joint(kind, with_state):
    """A cut of any tree joint leaves its link floating on a free joint of its name, every link where and as it was."""
    rng = np.random.default_rng(1)
    m = zoo.every_joint()
    m.add_link("first", parent=None, inertia=zoo.random_inertia(rng))
    m.add_link("cut here", "first", zoo.random_joint(rng, kind, "weak"), zoo.random_pose(rng), zoo.random_inertia(rng))
    m.add_link("last", "cut here", Spherical(), zoo.random_pose(rng), zoo.random_inertia(rng))
    s = random_state(rng, m)
    link = cut_and_compare(m, s, "weak", with_state)
    assert link.parent is m.ground
    assert (link.joint.kind, link.joint.name, link.joint.actuated) == ("free", "cut here", False)
    assert [child.name for child in link.children] == ["last"]
    with pytest.raises(vc.UnknownNameError):
        m.cut("weak")


@pytest.mark.parametrize("axis", [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1), (0.3, -0.9, 0.2)])
@pytest.mark.parametrize("angle", [0.0, 1e-9, 3.0, np.pi - 1e-9, np.pi, np.pi + 1e-9, -3.0])
def test_every_orientation(axis, angle):
    """A link that is set free keeps its orientation whichever it is, as a unit quaternion with w >= 0."""
    m = zoo.double_pendulum()
    m.add_link("ball", "lower", Spherical(), at=(0.1, 0.2, 0.3), inertia=Inertia.sphere(1.0, 0.1))
    s = m.state()
    s["ball"].orientation = np.multiply(axis, angle)
    cut_and_compare(m, s, "ball")
    quaternion = s["ball"].orientation
    assert quaternion[0] >= 0.0
    assert abs(np.linalg.norm(quaternion) - 1.0) < ROUNDING


@pytest.mark.parametrize("seed", SEEDS)
def test_every_joint_of_random_trees(seed):
    """Random trees can be cut joint by joint until every link floats by itself, and nothing jumps on the way."""
    rng = np.random.default_rng([2, seed])
    m = zoo.random_tree(rng, scaled(9, 5), n_trees=2, kinds=zoo.MOVING)
    s = random_state(rng, m)
    poses, V = world(m, s)
    for joint in rng.permutation([joint.name for joint in m.joints if joint.kind != "free"]):
        cut_and_compare(m, s, str(joint))
    assert deviation(world(m, s)[0], poses) < 1e-12
    assert deviation(world(m, s)[1], V) < 1e-12
    inside = [link.joint.name for link in m.links if not link.parent.is_ground]
    assert all(m.joint(name).kind == "free" for name in inside)


@pytest.mark.parametrize("seed", SEEDS)
def test_states_that_follow_late(seed):
    """A state that follows after any number of cuts has the poses and velocities that it had before them."""
    rng = np.random.default_rng([3, seed])
    m = zoo.random_tree(rng, 10, n_trees=2, kinds=zoo.MOVING)
    s = random_state(rng, m)
    other = s.copy()
    X, V = world_by_twin(m, s)
    cuttable = [j.name for j in m.joints if not (j.kind == "free" and m.link_of_joint(j.name).parent.is_ground)]
    for joint in rng.choice(cuttable, min(5, len(cuttable)), replace=False):
        m.cut(str(joint), state=other)
    s.follow(m)
    for state in (s, other):
        X_after, V_after = world_by_twin(m, state)
        assert deviation(X_after, X) < 1e-12
        assert deviation(V_after, V) < 1e-12


@pytest.mark.parametrize("name", closed_zoo.MECHANISMS)
def test_loop_joints(name):
    """A cut of a loop joint changes no number of the state, and the other loops stay."""
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(np.random.default_rng(4), m, s, reach=0.05)
    loops = [link.joint.name for link in m.virtual_links]
    q, v = s.q.copy(), s.v.copy()
    m.cut(loops[0], state=s)
    vc.check(m)
    assert np.array_equal(s.q, q)
    assert np.array_equal(s.v, v)
    assert [link.joint.name for link in m.virtual_links] == loops[1:]
    assert list(vc.loop_states(m, s)) == loops[1:]


@pytest.mark.parametrize("name", [*closed_zoo.MECHANISMS])
def test_loops_live_through_cuts_of_the_tree(name):
    """A cut of a tree joint leaves all loops closed, in position and velocity, and forward dynamics keeps them so."""
    rng = np.random.default_rng(5)
    m, s = closed_zoo.MECHANISMS[name]()
    s = closed_zoo.random_closed_state(rng, m, s, reach=0.05)
    before = vc.loop_states(m, s)
    cuttable = [link.joint.name for link in m.links if link.joint.kind != "free" and link.inertia.mass > 0]
    joint = str(rng.choice(cuttable))
    n_before = vc.mobility(m, s, probe=False)
    n_v = m.joint(joint).n_v
    done = vc.change(m, s, [vc.cut(joint)])
    after = vc.loop_states(m, s)
    assert list(after) == list(before)
    for loop, state in after.items():
        assert state.gap < 1e-12
        assert deviation(state.v, before[loop].v, 1.0) < 1e-11
    n_after = vc.mobility(m, s, probe=False)
    assert n_after.n_all == n_before.n_all + 6 - n_v
    assert n_after.n_loops == n_before.n_loops
    assert n_before.n_independent <= n_after.n_independent <= n_before.n_independent + 6 - n_v
    assert done.impact is None
    assert done.energy_lost == 0.0
    articulated, kkt = vc.forward_dynamics(m, s), vc.forward_dynamics(m, s, method="kkt")
    assert deviation(articulated.a, kkt.a) < 1e-6  # mechanisms near singularities


@pytest.mark.parametrize("seed", SEEDS)
@pytest.mark.parametrize("looped", [False, True])
def test_dynamics_after_a_cut(seed, looped):
    """Right after a cut every link accelerates as in a mechanism that was built without that joint."""
    rng = np.random.default_rng([6, seed])
    m = zoo.random_tree(rng, 7, kinds=zoo.MOVING)
    s = random_state(rng, m)
    if looped:
        m.connect("link 6", "ground", Spherical(), zoo.random_pose(rng), state=s, name="loop")
    weak = m.links[int(rng.integers(1, 6))]
    m.cut(weak.joint.name, state=s)
    built = Mechanism("built so", gravity=m.gravity)
    for link in m.links:
        parent = None if link is weak else link.parent.name
        built.add_link(link.name, parent, link.joint, link.at, link.inertia)
    t = built.state()
    t.q, t.v = s.q, s.v
    if looped:
        loop = m.link_of_joint("loop")
        built.connect("link 6", "ground", Spherical(), loop.on_real, loop.at)
    a, b = vc.forward_dynamics(m, s).a, vc.forward_dynamics(built, t).a
    assert deviation(a, b) < 1e-9
    assert deviation(vc.mass_matrix(m, s), vc.mass_matrix(built, t)) < 1e-14


def test_the_papers_example():
    """A held chain that is cut becomes two, as in NY Fig. 15: one on the ground, one floating, held by its loop."""
    m = zoo.serial_chain(6)
    s = m.state()
    s.q = 0.4 * np.sin(1.0 + np.arange(6))
    m.connect("link 5", "ground", Spherical(), at=(0, 0, -0.2), state=s, name="tip")
    assert vc.mobility(m, s).n_independent == 3
    m.cut("link 3", state=s)
    found = vc.mobility(m, s)
    assert (found.n_tree, found.n_all, found.rank, found.n_independent) == (5 + 6, 5 + 6 + 3, 6, 3 + 5)
    assert [link.name for link in m.ground.children if not link.is_virtual] == ["link 0", "link 3"]
    s.v = zoo.random_v(np.random.default_rng(7), m)
    s = vc.project(m, s)
    assert deviation(vc.velocity(m, s, "link 5", (0, 0, -0.2))[3:], np.zeros(3), 1.0) < 1e-12
    assert deviation(vc.forward_dynamics(m, s).a, vc.forward_dynamics(m, s, method="kkt").a) < 1e-9


def test_names_of_the_new_joint():
    """The free joint of a freed link has the link's name, or that with a number where another joint has it."""
    m = Mechanism("names")
    box = Inertia.box(1.0, (0.1, 0.2, 0.3))
    m.add_link("a", joint=Revolute(name="b"), inertia=box)
    m.add_link("b", "a", Revolute(name="hinge"), inertia=box)
    m.cut("hinge")
    assert m.link("b").joint.name == "b 2"
    m.cut("b")
    assert m.link("a").joint.name == "a"
    assert {"a", "b 2"} == {joint.name for joint in m.joints}
    vc.check(m)


def test_swapped_names():
    """Coordinates follow links: a freed link whose new joint takes an old joint's name keeps its own pose."""
    rng = np.random.default_rng(8)
    m = Mechanism("names")
    m.add_link("root", parent=None, inertia=zoo.random_inertia(rng))
    m.add_link("a", "root", vc.Free(name="b"), zoo.random_pose(rng), zoo.random_inertia(rng))
    m.add_link("b", "root", Revolute(name="hinge"), zoo.random_pose(rng), zoo.random_inertia(rng))
    s = random_state(rng, m)
    X, V = world_by_twin(m, s)
    m.cut("b")  # of link a
    m.cut("hinge")  # link b hangs on a free joint "b" now
    s.follow(m)
    X_after, V_after = world_by_twin(m, s)
    assert deviation(X_after, X) < ROUNDING
    assert deviation(V_after, V) < ROUNDING


def test_several_cuts_and_a_connection_at_once():
    """Cuts and connections of one instant: the cuts free first, then all connections act as one impact."""
    rng = np.random.default_rng(9)
    m = zoo.random_tree(rng, 8, kinds=("revolute", "spherical"), branching=0.0)
    s = random_state(rng, m)
    twin, t = m.copy(), s.copy()
    joints = [joint.name for joint in m.joints]
    catch = vc.connect("link 7", "link 1", Revolute("z"), zoo.random_pose(rng), name="catch")
    done = vc.change(m, s, [vc.cut(joints[2]), catch, vc.cut(joints[5])])
    assert [edit.kind for edit in done.edits] == ["cut tree", "cut tree", "connect"]
    twin.cut(joints[2], state=t)
    twin.cut(joints[5], state=t)
    vc.change(twin, t, [catch])
    assert deviation(s.v, t.v) < 1e-12
    assert deviation(s.q, t.q) < ROUNDING
    assert str(m) == str(twin)
    n_cut = sum(twin_joint.n_v for twin_joint in (done.edits[0].model, done.edits[1].model))
    assert done.freedoms() == (m.n_v - 12 + n_cut, m.n_v - 5)


@pytest.mark.parametrize("case", ["root", "unknown", "loop that was cut", "not a name", "ground"])
def test_refused_cuts(case):
    """The free joint of a floating link, joints that do not exist, and the ground cannot be cut."""
    m, s = closed_zoo.bar_figure()
    m.cut("left grip", state=s)
    joint, error = {
        "root": ("torso", vc.StructureError),
        "unknown": ("left tail", vc.UnknownNameError),
        "loop that was cut": ("left grip", vc.UnknownNameError),
        "not a name": (3, vc.InputError),
        "ground": ("ground", vc.UnknownNameError),
    }[case]
    before = Snapshot(m, s)
    for state in (s, None):
        with pytest.raises(error):
            m.cut(joint, state=state)
        before.assert_unchanged(m, s)


def test_massless_links_cannot_be_set_free_in_motion():
    """A cut that would leave a link floating without mass is refused, and nothing has changed."""
    m = zoo.quadruped()
    s = random_state(np.random.default_rng(10), m)
    before = Snapshot(m, s)
    with pytest.raises(vc.SingularMassError, match="front left foot"):
        m.cut("front left foot", state=s)
    before.assert_unchanged(m, s)
    m.cut("front left shank", state=s)  # the foot stays on its shank
    assert m.link("front left foot").parent.name == "front left shank"


def test_freed_link_without_inertia():
    """A massless link that a cut sets free carries others, but has no inertia of its own: dynamics says so by name."""
    m = Mechanism("frame")
    m.add_link("root", parent=None, inertia=Inertia.sphere(1.0, 0.1))
    m.add_link("frame", "root", vc.Fixed())
    box = Inertia.box(1.0, (0.1, 0.2, 0.3), com=(0.1, 0.1, 0.1))
    m.add_link("arm", "frame", vc.Cylindrical("z"), at=(0.1, 0, 0), inertia=box)
    s = m.state()
    m.cut("frame", state=s)
    m.connect("frame", "root", Spherical(), at=(0.3, 0.1, 0), at_other=(0.3, 0.1, 0), name="ball")
    for function in (vc.project, vc.forward_dynamics):
        with pytest.raises(vc.SingularMassError, match="frame"):
            function(m, s)
    before = Snapshot(m, s)
    with pytest.raises(vc.SingularMassError, match="frame"):
        m.connect("arm", "root", Spherical(), state=s)
    before.assert_unchanged(m, s)


def test_old_handles():
    """Link objects of a mechanism stay valid arguments through cuts and connections."""
    m = zoo.every_joint()
    s = random_state(np.random.default_rng(11), m)
    link = m.link("spherical")
    before = vc.velocity(m, s, link)
    m.cut("planar", state=s)
    assert deviation(vc.velocity(m, s, link), before) < ROUNDING
    virtual = m.connect(link, m.ground, Spherical(), state=s)
    assert m.link("spherical") is link
    assert virtual.real is link
    m.cut(virtual.joint.name, state=s)
    assert virtual not in m
    with pytest.raises(vc.StructureError):
        vc.change(m, s, [vc.connect(virtual, "ground", Spherical())])
