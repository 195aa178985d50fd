"""Connecting and cutting: virtual links, their pointers and rows, and what is refused."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from varichain.mechanism import Cylindrical, Fixed, Inertia, Mechanism, Revolute, Spherical, check
from varichain.spatial.pose import Pose

ROWS = {
    "fixed": 6,
    "revolute": 5,
    "prismatic": 5,
    "screw": 5,
    "universal": 4,
    "cylindrical": 4,
    "planar": 3,
    "spherical": 3,
    "free": 0,
}


@pytest.fixture
def arms():
    """Two arms of two links on the ground, and a floating box."""
    m = Mechanism("arms")
    for side, x in (("left", 0.0), ("right", 1.0)):
        m.add_link(f"{side} upper", joint=Revolute("y"), at=(x, 0, 0), inertia=closed_zoo.bar(0.6))
        m.add_link(f"{side} fore", f"{side} upper", Revolute("y"), at=(0.6, 0, 0), inertia=closed_zoo.bar(0.5))
    m.add_link("box", parent=None, inertia=Inertia.box(1.0, (0.2, 0.3, 0.4)))
    return m


def snapshot(m):
    """Everything that a refused call must leave as it was."""
    check(m)
    pointers = [(link.id, link.name, link.parent, link.child, link.brother, link.real) for link in m._links.values()]
    return m.revision, str(m), pointers, m.joints, m.virtual_links, m._next_id


# --- structure -------------------------------------------------------------------------------------------------------


def test_virtual_link(arms):
    """A connection is a virtual link: child of b, copy of a, massless, last among its brothers, and the tree stays."""
    joints, n_v = arms.joints, arms.n_v
    link = arms.connect("box", "left upper", Spherical(), at=(0, 0, 0.2), at_other=(0.3, 0, 0), name="grip")
    assert link.is_virtual and link.real is arms.link("box")
    assert link.parent is arms.link("left upper")
    assert link.child is None and link.brother is None
    assert list(arms.link("left upper").children) == [arms.link("left fore"), link]
    assert arms.link("left fore").brother is link
    assert link.inertia.mass == 0.0
    assert (link.on_real.p == (0, 0, 0.2)).all() and (link.at.p == (0.3, 0, 0)).all()
    assert arms.joint("grip") is link.joint and not link.joint.actuated
    assert (arms.joints, arms.n_v) == (joints, n_v)
    assert arms.virtual_links == (link,)
    check(arms)
    assert "grip" in str(arms)


def test_ground_as_either_end(arms):
    """The ground may have the virtual copy, or carry it."""
    first = arms.connect("box", "ground", Fixed(), at_other=(0, 0, 1))
    second = arms.connect("ground", "left fore", Spherical(), at=(0.5, 0, 0.4), at_other=(0.5, 0, 0))
    assert first.parent is arms.ground and second.real is arms.ground
    check(arms)
    s = vc.assemble(arms, arms.state()).state
    np.testing.assert_allclose(vc.pose(arms, s, "box").p, (0, 0, 1), atol=1e-12)


def test_either_end_is_the_same():
    """Which of two links gets the virtual copy makes no difference to the motion."""
    results = []
    for turn in (False, True):
        m, s = closed_zoo.four_bar()
        m.cut("pin")
        ends = [("coupler", (1.9, 0, 0)), ("rocker", (1.6, 0, 0))]
        (a, at), (b, at_other) = ends[::-1] if turn else ends
        m.connect(a, b, Revolute("y"), at, at_other, name="pin")
        s["crank"].v = 1.0
        s = vc.project(m, s)
        found = vc.forward_dynamics(m, s, {"crank": 2.0})
        results.append((found.a, found.loop_forces["pin"], vc.mobility(m, s).n_independent))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    np.testing.assert_allclose(results[0][1], -results[1][1], atol=1e-11 * np.abs(results[0][1]).max())
    assert results[0][2] == results[1][2]


@pytest.mark.parametrize("kind", zoo.ALL)
def test_rows(kind):
    """A closing joint leaves 6 minus its freedoms as rows: none of a free joint to six of a weld."""
    m, s = closed_zoo.loop_of(kind)
    assert m.prepare().n_rows == ROWS[kind]
    found = vc.mobility(m, s)
    assert found.n_all == m.n_v + 6 - ROWS[kind]
    assert found.n_independent == m.n_v - ROWS[kind]


@pytest.mark.parametrize("kind", [kind for kind in zoo.ALL if kind not in ("fixed", "free")])
def test_virtual_coordinates(kind):
    """A loop's coordinates are those of its joint: the same joint in a tree, at them, has the same pose and motion."""
    m, start = closed_zoo.loop_of(kind, seed=1)
    s = closed_zoo.random_closed_state(np.random.default_rng(1), m, start)
    loop = vc.loop_states(m, s)["closing"]
    assert loop.gap < 1e-11
    tree = Mechanism("the joint alone")
    tree.add_link("b", joint=Fixed(), at=loop.X_WB)
    tree.add_link("a", "b", zoo.random_joint(np.random.default_rng(0), kind), inertia=Inertia.sphere(1.0, 0.1))
    joint = m.joint("closing")
    fields = {name: getattr(joint, name) for name in ("axis", "axes", "normal", "pitch") if hasattr(joint, name)}
    tree.edit_joint("a", **fields)
    alone = tree.state()
    alone.q, alone.v = loop.q, loop.v
    X = vc.pose(tree, alone, "a")
    assert X.is_close(loop.X_WA, 1e-11)
    virtual = m.link_of_joint("closing")
    V_A = vc.velocity(m, s, virtual.real.name, at=virtual.on_real)
    np.testing.assert_allclose(vc.velocity(tree, alone, "a"), V_A, atol=1e-10 * (1.0 + np.abs(V_A).max()))


def test_cut_restores(arms):
    """Cutting a connection leaves the tree as it was, but for the revision and the next id."""
    before = snapshot(arms)
    free = vc.forward_dynamics(arms, arms.state()).a
    arms.connect("box", "left fore", Revolute("x"), at_other=(0.5, 0, 0), name="grip")
    arms.connect("box", "right fore", Spherical(), at_other=(0.5, 0, 0), name="other")
    arms.cut("grip")
    assert [link.joint.name for link in arms.virtual_links] == ["other"]
    arms.cut("other")
    after = snapshot(arms)
    assert after[1:5] == before[1:5]
    assert after[0] == before[0] + 4
    assert (vc.forward_dynamics(arms, arms.state()).a == free).all()


def test_cut_of_one_keeps_the_others():
    """Cutting one loop of a ladder leaves the rows and coordinates of the others alone."""
    m, s = closed_zoo.ladder(4)
    m.cut("pin 1")
    assert [link.joint.name for link in m.virtual_links] == ["pin 0", "pin 2", "pin 3"]
    assert vc.mobility(m, s).n_independent == 3  # two ladders, and the coupler that hangs from the first
    check(m)


def test_ids_are_not_reused(arms):
    """A connection made after a cut has an id of its own."""
    first = arms.connect("box", "ground", Fixed(), at_other=(0, 0, 0)).id
    arms.cut("box to ground")
    assert arms.connect("box", "ground", Fixed(), at_other=(0, 0, 0)).id > first


def test_default_names(arms):
    """Connections without a name are called after their links, with numbers where needed."""
    names = [arms.connect("box", "ground", Spherical(), at_other=(0, 0, z)).joint.name for z in range(3)]
    assert names == ["box to ground", "box to ground 2", "box to ground 3"]
    check(arms)


def test_copy_has_the_loops():
    """A copy has loops of its own."""
    m, s = closed_zoo.four_bar()
    twin = m.copy()
    check(twin)
    m.cut("pin")
    assert vc.mobility(twin, s).n_independent == 1
    assert vc.mobility(m, s).n_independent == 3


def test_state_stays_valid():
    """Connecting where the links are, and cutting, changes no number of a state at rest."""
    m = vc.figures.human16()
    s = m.state()
    closed_zoo.arms_up(s)
    q = s.q.copy()
    m.connect("left hand", "ground", Revolute("y"), at=closed_zoo.GRIP, state=s, name="grip")
    assert (s.q == q).all() and (s.v == 0.0).all()
    assert vc.loop_states(m, s)["grip"].gap < 1e-14
    m.cut("grip")
    assert (s.q == q).all()
    vc.forward_dynamics(m, s)


def test_connection_in_motion_keeps_momentum():
    """Two floating boxes that connect with relative velocity keep their momentum, and move as one afterwards."""
    m = Mechanism("boxes", gravity=(0, 0, 0))
    for i in range(2):
        m.add_link(f"box {i}", parent=None, inertia=Inertia.box(1.0 + i, (0.2, 0.3, 0.4)))
    s = m.state()
    s["box 1"].position = (0.5, 0, 0)
    s.v = np.random.default_rng(0).normal(size=12)
    before, energy = vc.momentum(m, s), vc.energy(m, s).kinetic
    m.connect("box 0", "box 1", Fixed(), state=s)
    after = vc.momentum(m, s)
    np.testing.assert_allclose(after.linear, before.linear, atol=1e-14)
    np.testing.assert_allclose(after.angular, before.angular, atol=1e-14)
    assert vc.energy(m, s).kinetic < energy
    V_0, V_1 = (vc.velocity(m, s, f"box {i}", at=Pose((0.5 * (1 - i), 0, 0))) for i in range(2))
    np.testing.assert_allclose(V_0, V_1, atol=1e-14)


# --- refusals --------------------------------------------------------------------------------------------------------

HERE = {"at_other": (0, 0, 0)}
REFUSED = {
    "itself": (("box", "box", Fixed()), HERE, vc.StructureError, "itself"),
    "unknown first": (("bx", "ground", Fixed()), HERE, vc.UnknownNameError, "box"),
    "unknown second": (("box", "grund", Fixed()), HERE, vc.UnknownNameError, "ground"),
    "neither place nor state": (("box", "ground", Fixed()), {}, vc.InputError, "at_other"),
    "no joint": (("box", "ground", Revolute), HERE, vc.InputError, "joint"),
    "joint as a string": (("box", "ground", "hinge"), HERE, vc.InputError, "joint"),
    "none as joint": (("box", "ground", None), HERE, vc.InputError, "joint"),
    "taken name": (("box", "ground", Fixed()), HERE | {"name": "box"}, vc.DuplicateNameError, "box"),
    "taken name of the joint": (("box", "ground", Fixed(name="box")), HERE, vc.DuplicateNameError, "box"),
    "name of a loop": (("box", "ground", Fixed()), HERE | {"name": "taken"}, vc.DuplicateNameError, "taken"),
    "empty name": (("box", "ground", Fixed()), HERE | {"name": ""}, vc.InputError, "name"),
    "armature": (("box", "ground", Cylindrical(armature=1.0)), HERE, vc.InputError, "armature"),
    "place of two numbers": (("box", "ground", Fixed()), {"at_other": (0, 0)}, vc.InputError, "at_other"),
    "place that is not finite": (("box", "ground", Fixed()), HERE | {"at": (0, np.nan, 0)}, vc.InputError, "at"),
    "a virtual link": (("box (taken)", "ground", Fixed()), HERE, vc.StructureError, "real"),
    "on a virtual link": (("box", "box (taken)", Fixed()), HERE, vc.StructureError, "real"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused(arms, case):
    """What cannot be connected is refused with an error that says why, and nothing has changed."""
    arms.connect("box", "left fore", Spherical(), at_other=(0.5, 0, 0), name="taken")
    arguments, keywords, error, word = REFUSED[case]
    before = snapshot(arms)
    with pytest.raises(error, match=word):
        arms.connect(*arguments, **keywords)
    assert snapshot(arms) == before


def test_stranger_is_refused(arms):
    """A link of another mechanism cannot be connected."""
    other = Mechanism("other").add_link("box", parent=None)
    before = snapshot(arms)
    with pytest.raises(vc.StructureError):
        arms.connect(other, "ground", Fixed(), at_other=(0, 0, 0))
    assert snapshot(arms) == before


@pytest.mark.parametrize("axis", [(0, 0, 0), (np.nan, 0, 1), "w"])
def test_axes_without_direction_are_refused(axis):
    """A joint about an axis of no length cannot even be made."""
    with pytest.raises(vc.InputError, match="axis"):
        Revolute(axis)


@pytest.mark.parametrize(
    ("joint", "place"), [(Spherical(), (0.1, 0, 0)), (Revolute("y"), Pose(rotation_vector=(0.2, 0, 0)))]
)
def test_frames_apart_are_refused(arms, joint, place):
    """With a state, frames that do not coincide are refused, and mechanism and state have not changed."""
    s = arms.state()
    s.v = np.arange(10.0)
    before, q, v = snapshot(arms), s.q.copy(), s.v.copy()
    with pytest.raises(vc.GapError, match="apart") as caught:
        arms.connect("box", "ground", joint, at_other=place, state=s)
    assert caught.value.gap == pytest.approx(0.1 if joint.kind == "spherical" else 0.2, rel=1e-9)
    assert snapshot(arms) == before
    assert (s.q == q).all() and (s.v == v).all()
    vc.forward_dynamics(arms, s)


def test_state_of_another_structure_is_refused(arms):
    """A state with other joints is refused, and nothing has changed."""
    other = closed_zoo.four_bar()[1]
    before = snapshot(arms)
    with pytest.raises(vc.StaleStateError):
        arms.connect("box", "ground", Fixed(), state=other)
    with pytest.raises(vc.InputError):
        arms.connect("box", "ground", Fixed(), state="now")
    assert snapshot(arms) == before


def test_armature_cannot_be_edited_in():
    """What a closing joint may not have at the start it does not get by an edit."""
    m, _ = closed_zoo.four_bar()
    before = snapshot(m)
    with pytest.raises(vc.InputError, match="armature"):
        m.edit_joint("pin", armature=0.1)
    assert snapshot(m) == before


def test_damping_can_be_edited_in():
    """Damping that a closing joint gets by an edit acts from then on."""
    m, s = closed_zoo.four_bar()
    s.v = np.ones(m.n_v)
    s = vc.project(m, s)
    before = vc.forward_dynamics(m, s).a
    m.edit_joint("pin", damping=5.0)
    assert np.abs(vc.forward_dynamics(m, s).a - before).max() > 0.1


def test_cut_refuses_unknown_joints(arms):
    """Only joints that exist can be cut."""
    before = snapshot(arms)
    with pytest.raises(vc.UnknownNameError):
        arms.cut("nothing")
    with pytest.raises(vc.InputError):
        arms.cut(3)
    assert snapshot(arms) == before


def test_no_inertia_on_virtual_links():
    """A virtual link cannot get a mass."""
    m, _ = closed_zoo.four_bar()
    with pytest.raises(vc.StructureError):
        m.set_inertia(m.virtual_links[0], Inertia.sphere(1.0, 0.1))


def test_nothing_hangs_on_virtual_links():
    """A link cannot be added to a virtual one."""
    m, _ = closed_zoo.four_bar()
    before = snapshot(m)
    with pytest.raises(vc.StructureError, match="copy"):
        m.add_link("child", m.virtual_links[0].name, Revolute())
    assert snapshot(m) == before
