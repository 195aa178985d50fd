import copy
import pickle
import subprocess
import sys

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from varichain.errors import DuplicateNameError, InputError, StructureError, UnknownNameError
from varichain.mechanism import (
    Box,
    Fixed,
    Free,
    Inertia,
    Link,
    Mechanism,
    Prismatic,
    Revolute,
    Sphere,
    Spherical,
    description,
)
from varichain.mechanism.check import check
from varichain.spatial.pose import Pose


@pytest.fixture
def arm():
    """Ground with an arm of two links and a ball that floats."""
    m = Mechanism("arm")
    m.add_link("upper", joint=Revolute("y", name="shoulder"), at=(0, 0, 1), inertia=Inertia.point(2.0))
    m.add_link("hand", "upper", Spherical(), at=(0, 0, -0.5), inertia=Inertia.sphere(0.5, 0.1), shapes=[Sphere(0.1)])
    m.add_link("ball", None)
    return m


def contents(m):
    """All that can be asked of a mechanism."""
    pointers = [(link.parent, link.child, link.brother, link.real, link._last_child) for link in m._links.values()]
    held = [(link.id, link.name, link.joint, link.at, link.inertia, link.shapes) for link in m._links.values()]
    names = [[link and link.name for link in row] for row in pointers]
    return (
        m.name,
        m.gravity.tolist(),
        m.revision,
        m._next_id,
        held,
        names,
        dict(m._by_name),
        dict(m._by_joint),
        m._layout,
    )


def shape_of(m):
    """What a copy must have in common with its original."""
    return contents(m)[:6]


# --- building ---------------------------------------------------------------------------------------------------------


def test_new_mechanism_is_ground():
    """A new mechanism is ground alone, and things fall down."""
    m = Mechanism()
    assert m.name == "mechanism"
    assert (m.ground.id, m.ground.name, m.ground.is_ground) == (0, "ground", True)
    assert m.ground.joint is None
    assert (len(m), m.links, m.joints, m.n_q, m.n_v, m.revision) == (0, (), (), 0, 0, 0)
    np.testing.assert_array_equal(m.gravity, [0.0, 0.0, -9.81])
    check(m)


def test_add_link(arm):
    """A link has the place, joint, inertia and shapes that it was added with."""
    hand = arm.link("hand")
    assert hand.parent is arm.link("upper")
    assert hand.at == Pose((0, 0, -0.5))
    assert hand.inertia == Inertia.sphere(0.5, 0.1)
    assert hand.shapes == (Sphere(0.1),)
    assert (hand.is_ground, hand.is_virtual, hand.real) == (False, False, None)
    check(arm)


def test_one_shape_needs_no_list():
    """One shape may be given as it is, several as any iterable."""
    m = Mechanism()
    assert m.add_link("a", joint=Fixed(), shapes=Sphere(1.0)).shapes == (Sphere(1.0),)
    assert len(m.add_link("b", joint=Fixed(), shapes=(Sphere(r) for r in (1.0, 2.0))).shapes) == 2


def test_defaults_of_add_link():
    """By default a link hangs on ground, at its origin, without mass and shape."""
    link = Mechanism().add_link("a", joint=Fixed())
    assert link.parent.is_ground
    assert link.at == Pose()
    assert link.inertia == Inertia.zero()
    assert link.shapes == ()


def test_ids_grow_and_links_keep_their_order(arm):
    """Ids count from one, and links and joints are listed in their order."""
    assert [link.id for link in arm.links] == [1, 2, 3]
    assert [link.name for link in arm.links] == ["upper", "hand", "ball"]
    assert [joint.name for joint in arm.joints] == ["shoulder", "hand", "ball"]


def test_counts(arm):
    """The counts are the sums over the joints, and the length is the number of links."""
    assert (arm.n_q, arm.n_v, len(arm)) == (1 + 4 + 7, 1 + 3 + 6, 3)


def test_pointers(arm):
    """Parent, child and brother lead through the tree, oldest child first."""
    upper, hand, ball = arm.links
    assert arm.ground.child is upper
    assert upper.brother is ball
    assert ball.brother is None
    assert upper.child is hand
    assert [*arm.ground.children] == [upper, ball]
    assert [*hand.ancestors] == [upper, arm.ground]
    assert [*arm.ground.ancestors] == []


def test_parent_may_be_a_link(arm):
    """A parent may be given by its name or as the link itself."""
    finger = arm.add_link("finger", arm.link("hand"), Revolute())
    assert finger.parent is arm.link("hand")
    assert arm.add_link("post", arm.ground, Fixed()).parent is arm.ground


def test_floating_link_gets_a_free_joint(arm):
    """A link without parent floats: a child of ground through a free joint, its own or one that is given."""
    assert arm.link("ball").parent is arm.ground
    assert arm.joint("ball") == Free(name="ball", actuated=False)
    assert arm.add_link("kite", None, Free(name="wind", damping=1.0)).joint.damping == (1.0,) * 6


def test_unnamed_joint_takes_the_links_name(arm):
    """A joint without name is called like its link; the caller's joint stays as it was."""
    joint = Revolute()
    assert arm.add_link("lid", joint=joint).joint.name == "lid"
    assert joint.name is None
    assert arm.joint("lid").name == "lid"


def test_joint_and_link_names_are_apart(arm):
    """A joint may be called like another link, and even "ground"."""
    arm.add_link("a", joint=Revolute(name="upper"))
    arm.add_link("b", joint=Revolute(name="ground"))
    assert arm.link_of_joint("upper") is arm.link("a")
    check(arm)


@given(st.lists(st.tuples(st.integers(0, 30), st.booleans()), max_size=12))
def test_random_trees_keep_the_invariants(choices):
    """Links hung anywhere, or floating, always make a sound structure whose revision counts them."""
    m = Mechanism()
    for k, (parent, is_floating) in enumerate(choices):
        if is_floating:
            m.add_link(f"l{k}", None)
        else:
            m.add_link(f"l{k}", [m.ground, *m.links][parent % (k + 1)], Revolute())
    check(m)
    check(m.copy())
    assert m.revision == len(m) == len(choices)
    assert sum(len([*link.children]) for link in (m.ground, *m.links)) == len(m)


# --- refusals ---------------------------------------------------------------------------------------------------------

OTHER = Mechanism("other").add_link("stranger", joint=Fixed())
REFUSALS = {
    "taken link name": (DuplicateNameError, "link called 'hand'", ("hand", "ground", Fixed())),
    "ground is taken": (DuplicateNameError, "link called 'ground'", ("ground", "hand", Fixed())),
    "taken joint name": (DuplicateNameError, "joint called 'shoulder'", ("new", "hand", Revolute(name="shoulder"))),
    "link name taken by a joint": (DuplicateNameError, "joint called 'shoulder'", ("shoulder", "hand", Revolute())),
    "empty name": (InputError, "link name must be a non-empty string", ("", "hand", Fixed())),
    "number for a name": (InputError, "link name must be a non-empty string", (7, "hand", Fixed())),
    "own parent": (StructureError, "own ancestor", ("new", "new", Fixed())),
    "unknown parent": (UnknownNameError, "did you mean 'hand'", ("new", "hnad", Fixed())),
    "number for a parent": (InputError, "by its name or as a Link", ("new", 1, Fixed())),
    "link of another mechanism": (StructureError, "not a link of mechanism 'arm'", ("new", OTHER, Fixed())),
    "no joint": (InputError, r"Revolute\(...\), Prismatic\(...\).* found none", ("new", "hand")),
    "joint class": (InputError, r"one of Revolute\(...\).* found <class", ("new", "hand", Revolute)),
    "joint string": (InputError, r"one of Revolute\(...\).*'revolute'", ("new", "hand", "revolute")),
    "floating on a hinge": (InputError, r"must be Free\(...\) or left out; found Revolute", ("new", None, Revolute())),
    "bad place": (InputError, "at must be a Pose or a position", ("new", "hand", Fixed(), (1, 2))),
    "bad inertia": (InputError, "inertia must be an Inertia", ("new", "hand", Fixed(), (0, 0, 0), 3.0)),
    "bad shapes": (InputError, "Capsule, Box", ("new", "hand", Fixed(), (0, 0, 0), None, [Box((1, 1, 1)), "box"])),
    "no shapes at all": (InputError, "shapes must be", ("new", "hand", Fixed(), (0, 0, 0), None, None)),
}


@pytest.mark.parametrize(("error", "words", "arguments"), REFUSALS.values(), ids=REFUSALS.keys())
def test_refused_links_leave_no_trace(arm, error, words, arguments):
    """A link that cannot be added is refused by name, says what is valid, and leaves the mechanism as it was."""
    before = contents(arm)
    with pytest.raises(error, match=words):
        arm.add_link(*arguments)
    assert contents(arm) == before
    check(arm)


def test_refused_layout_stays(arm):
    """A refused edit keeps what was worked out for the structure."""
    arm._layout = "worked out"
    with pytest.raises(DuplicateNameError):
        arm.add_link("hand", joint=Fixed())
    with pytest.raises(InputError):
        arm.gravity = (0, 0)
    with pytest.raises(InputError):
        arm.edit_joint("shoulder", damping=-1)
    with pytest.raises(InputError):
        arm.set_inertia("hand", 1.0)
    assert arm._layout == "worked out"


@pytest.mark.parametrize("name", ["", None, 3])
def test_mechanism_needs_a_name(name):
    """A mechanism's name is a non-empty string."""
    with pytest.raises(InputError, match="name of the mechanism must be a non-empty string"):
        Mechanism(name)


# --- edits ------------------------------------------------------------------------------------------------------------


def test_every_edit_counts(arm):
    """Every edit adds one to the revision and drops the layout."""
    edits = [
        lambda: arm.add_link("lid", joint=Revolute()),
        lambda: arm.set_inertia("lid", Inertia.point(1.0)),
        lambda: arm.edit_joint("lid", damping=1.0),
        lambda: setattr(arm, "gravity", (0, 0, 0)),
    ]
    for edit in edits:
        revision, arm._layout = arm.revision, "worked out"
        edit()
        assert arm.revision == revision + 1
        assert arm._layout is None
        check(arm)


def test_gravity(arm):
    """Gravity is read-only as an array, can be set as a whole, and is checked."""
    with pytest.raises(ValueError, match="read-only"):
        arm.gravity[2] = 0.0
    arm.gravity = (0, 0, -1.62)
    np.testing.assert_array_equal(arm.gravity, [0.0, 0.0, -1.62])
    for bad in ((0, 0), "down", (0, 0, np.nan)):
        with pytest.raises(InputError, match="gravity"):
            arm.gravity = bad
    assert arm.gravity[2] == -1.62


def test_set_place():
    """A joint of the tree, and one that closes a loop, can be put elsewhere: the mechanism is one built that way."""
    m, twin = Mechanism("bars"), Mechanism("bars")
    for one, length, pivot in ((m, 0.5, (1.0, 0.0, 0.0)), (twin, 0.7, (1.2, 0.0, 0.1))):
        one.add_link("crank", joint=Revolute("y", name="crank"))
        one.add_link("rod", "crank", Revolute("y", name="knee"), at=(length, 0, 0))
        one.connect("rod", "ground", Revolute("y"), at=(length, 0, 0), at_other=pivot, name="pin")
    m.set_place("knee", (0.7, 0, 0))
    m.set_place("pin", at_other=(1.2, 0.0, 0.1))
    m.set_place("pin", at=Pose((0.7, 0, 0)))
    assert description(m) == description(twin)
    before = contents(m)
    for arguments, error, words in (
        (("knee",), InputError, "give one of them"),
        (("knee", (0, 0, 0), (0, 0, 0)), InputError, "closes no loop"),
        (("pin", (0, 0)), InputError, "at"),
        (("pins", (0, 0, 0)), UnknownNameError, "pin"),
    ):
        with pytest.raises(error, match=words):
            m.set_place(*arguments)
    assert contents(m) == before


def test_set_inertia(arm):
    """The inertia of a link can be replaced, by name or by link; ground has none."""
    arm.set_inertia("hand", Inertia.point(3.0))
    assert arm.link("hand").inertia.mass == 3.0
    arm.set_inertia(arm.link("hand"), Inertia.point(4.0))
    assert arm.link("hand").inertia.mass == 4.0
    before = contents(arm)
    with pytest.raises(StructureError, match="ground"):
        arm.set_inertia("ground", Inertia.point(1.0))
    with pytest.raises(InputError, match="must be an Inertia"):
        arm.set_inertia("hand", 1.0)
    with pytest.raises(UnknownNameError, match="'hand'"):
        arm.set_inertia("hands", Inertia.point(1.0))
    assert contents(arm) == before


def test_edit_joint(arm):
    """Fields of a joint can be replaced; the others and the kind stay."""
    joint = arm.edit_joint("shoulder", damping=0.5, limits=(-1, 1))
    assert joint is arm.joint("shoulder") is arm.link("upper").joint
    assert joint == Revolute("y", name="shoulder", damping=0.5, limits=(-1, 1), actuated=True)


def test_rename_joint(arm):
    """A joint can be renamed, and then answers to its new name alone."""
    arm.edit_joint("shoulder", name="upper")
    assert arm.link_of_joint("upper") is arm.link("upper")
    with pytest.raises(UnknownNameError):
        arm.joint("shoulder")
    check(arm)


def test_unname_joint(arm):
    """A joint whose name is taken away is called like its link, even if it is already."""
    assert arm.edit_joint("shoulder", name=None).name == "upper"
    assert arm.edit_joint("upper", name=None).name == "upper"
    check(arm)


@pytest.mark.parametrize(
    ("error", "words", "changes"),
    [
        (InputError, "no field kind; fields: name, limits, damping", {"kind": "prismatic"}),
        (InputError, "no field dampnig; fields: name, limits, damping", {"dampnig": 1.0}),
        (InputError, "damping of revolute joint 'shoulder' must not be negative", {"damping": -1.0}),
        (InputError, "axis of revolute joint 'shoulder'", {"axis": "up"}),
        (InputError, "joint name must be a non-empty string", {"name": ""}),
        (DuplicateNameError, "joint called 'hand'", {"name": "hand", "damping": 1.0}),
    ],
)
def test_refused_joint_edits_leave_no_trace(arm, error, words, changes):
    """An edit that a joint cannot take is refused by name and leaves the mechanism as it was."""
    before = contents(arm)
    with pytest.raises(error, match=words):
        arm.edit_joint("shoulder", **changes)
    assert contents(arm) == before


def test_unknown_joint_cannot_be_edited(arm):
    """To edit a joint that does not exist is refused with the names that do."""
    with pytest.raises(UnknownNameError, match="did you mean 'shoulder'"):
        arm.edit_joint("sholder", damping=1.0)


def test_links_are_read_only(arm):
    """A link cannot be edited behind its mechanism's back."""
    with pytest.raises(AttributeError, match="edit the mechanism"):
        arm.link("hand").inertia = Inertia.zero()
    with pytest.raises(AttributeError, match="edit the mechanism"):
        arm.link("hand").parent = arm.ground
    with pytest.raises(AttributeError):
        arm.link("hand").colour = "red"


# --- questions --------------------------------------------------------------------------------------------------------


def test_links_by_name(arm):
    """Links, ground included, are found by name, and a link finds itself."""
    hand = arm.link("hand")
    assert arm.link(hand) is hand
    assert arm.link("ground") is arm.ground
    assert "hand" in arm
    assert hand in arm
    assert "ground" in arm
    assert "shoulder" not in arm
    assert OTHER not in arm


def test_unknown_names(arm):
    """What does not exist is refused with its kind, its name and all names that do."""
    with pytest.raises(UnknownNameError) as caught:
        arm.link("hamd")
    assert (caught.value.kind, caught.value.name, caught.value.valid[0]) == ("link", "hamd", "hand")
    assert set(caught.value.valid) == {"ground", "upper", "hand", "ball"}
    with pytest.raises(UnknownNameError) as caught:
        arm.link_of_joint("upper")
    assert caught.value.kind == "joint"
    assert set(caught.value.valid) == {"shoulder", "hand", "ball"}
    with pytest.raises(InputError, match="by its name"):
        arm.joint(3)
    with pytest.raises(StructureError, match=r"not a link of mechanism 'arm'$"):
        arm.link(OTHER)
    with pytest.raises(StructureError, match=r"not a link of mechanism 'arm'; its own is m.link.'hand'.$"):
        arm.link(arm.copy().link("hand"))


def test_reprs(arm):
    """Reprs are short."""
    assert repr(arm) == "<Mechanism 'arm': 3 links, 10 freedoms, revision 3>"
    assert repr(arm.link("hand")) == "<Link 'hand', id 2>"


# --- copies -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("twin_of", [Mechanism.copy, copy.copy, copy.deepcopy, lambda m: pickle.loads(pickle.dumps(m))])
def test_copies_are_independent(arm, twin_of):
    """A copy has the same ids, names, contents and revision, and shares no link with the original."""
    twin = twin_of(arm)
    assert shape_of(twin) == shape_of(arm)
    assert not {*twin._links.values()} & {*arm._links.values()}
    check(twin)
    before = contents(arm)
    twin.add_link("finger", "hand", Prismatic())
    twin.set_inertia("hand", Inertia.zero())
    twin.edit_joint("shoulder", name="s")
    twin.gravity = (0, 0, 0)
    assert contents(arm) == before
    assert twin.link("finger").id == 4
    check(twin)


def test_copy_has_no_layout(arm):
    """A copy works out its own layout."""
    arm._layout = object()
    assert arm.copy()._layout is None


def test_long_chains():
    """A chain longer than the recursion limit can be built, copied, pickled, drawn and checked."""
    m = Mechanism()
    link: Link = m.ground
    for k in range(sys.getrecursionlimit() + 10):
        link = m.add_link(f"l{k}", link, Revolute())
    for twin in (m.copy(), copy.deepcopy(m), pickle.loads(pickle.dumps(m))):
        check(twin)
    assert len(str(m).splitlines()) == len(m) + 2


def test_structure_needs_numpy_only():
    """The structure layer imports numpy and the standard library, nothing else."""
    code = (
        "import sys; before = set(sys.modules)\n"
        "import varichain.mechanism.check\n"
        "new = {name.partition('.')[0] for name in set(sys.modules) - before}\n"
        "print(sorted(new - set(sys.stdlib_module_names)))"
    )
    output = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
    assert output.strip() == "['numpy', 'varichain']"
