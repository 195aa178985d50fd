import pytest

from varichain.errors import StructureError
from varichain.mechanism import Coupling, Fixed, Inertia, Link, Mechanism, Revolute
from varichain.mechanism.check import RULES, check
from varichain.mechanism.contact import HalfSpace, Surface
from varichain.mechanism.frames import Frame
from varichain.spatial.pose import Pose


@pytest.fixture
def tree():
    """Ground with a and b, aa and ab on a, and a virtual copy of ab on b."""
    m = Mechanism()
    for name, parent in [("a", "ground"), ("b", "ground"), ("aa", "a"), ("ab", "a")]:
        m.add_link(name, parent, Revolute())
    copy = Link(m._next_id, "ab*", Revolute(name="grip"), Pose(), Inertia.zero(), real=m.link("ab"))
    m._hang(copy, m.link("b"))
    return m


def test_sound(tree):
    """A mechanism that was built by its methods is sound, virtual links included."""
    check(tree)
    assert tree.link("ab*").is_virtual
    assert [link.name for link in tree.links] == ["a", "b", "aa", "ab"]
    assert (tree.n_v, len(tree)) == (4, 4)
    check(tree.copy())


def test_sentences():
    """The docstring of check has every rule that is checked, in the same order."""
    sentences = [line.strip()[2:] for line in check.__doc__.splitlines() if line.strip().startswith("- ")]
    assert sentences == [*RULES]


def edit(name, **attributes):
    """A function that breaks a mechanism by editing a link; links among the attributes are given by name."""

    def breaking(m):
        links = {"parent", "child", "brother", "real", "_last_child"}
        found = {key: m.link(value) if key in links and value else value for key, value in attributes.items()}
        m.link(name)._edit(**found)

    return breaking


def point_to_stranger(m):
    """Hang b on a link of no mechanism that pretends to be a."""
    m.link("b")._edit(parent=Link(1, "a", Fixed(), Pose(), Inertia.zero()))


def swap_ids(m):
    """List b before a."""
    m._links[1], m._links[2] = m._links[2], m._links[1]


def forget_name(m):
    """Drop a name that is in use."""
    del m._by_name["aa"]


def keep_old_name(m):
    """Keep a name that no link has."""
    m._by_name["old"] = m.link("aa")


def keep_old_joint(m):
    """Keep a name that no joint has."""
    m._by_joint["old"] = m.link("aa")


def forget_next_id(m):
    """Set the next id to one that is in use."""
    m._next_id = 3


def copy_of_a_copy(m):
    """Make a virtual link whose real link is virtual."""
    m._hang(Link(m._next_id, "ab**", Revolute(name="grip2"), Pose(), Inertia.zero(), real=m.link("ab*")), m.ground)


def frame_on(link, name="palm"):
    """A function that enters a frame on the link of that name, without any check."""

    def breaking(m):
        m._frames[name] = Frame(link, Pose())

    return breaking


def surface_on(link, touched_by=None):
    """A function that enters a surface on the link of that name, without any check."""

    def breaking(m):
        m._surfaces["floor"] = Surface("floor", link, (HalfSpace(),), 0.5, 0.0, touched_by)

    return breaking


def touching_copy(m):
    """Give a virtual link contact shapes."""
    m._contact_shapes["ab*"] = ()


def child_of_a_copy(m):
    """Hang a link on a virtual one."""
    m._hang(Link(m._next_id, "finger", Revolute(name="finger"), Pose(), Inertia.zero()), m.link("ab*"))


def couplings(*ties):
    """A function that couples joints behind the mechanism's back."""

    def breaking(m):
        for number, (joint, to) in enumerate(ties):
            m._couplings[str(number)] = Coupling(str(number), joint, to, 1.0, 0.0)

    return breaking


DAMAGE = {
    "ground with a parent": (edit("ground", parent="a"), "Ground has id 0"),
    "ground with a joint": (edit("ground", joint=Fixed(name="j")), "Ground has id 0"),
    "ground with another id": (edit("ground", id=9), "Ground has id 0"),
    "ids out of order": (swap_ids, "Ids are unique"),
    "id not its key": (edit("b", id=1), "Ids are unique"),
    "next id taken": (forget_next_id, "smaller than the next id"),
    "no joint": (edit("aa", joint=None), "has a joint"),
    "no parent": (edit("aa", parent=None), "a parent in the mechanism"),
    "parent of another mechanism": (point_to_stranger, "a parent in the mechanism"),
    "cycle": (edit("a", parent="aa"), "own ancestor"),
    "own parent": (edit("a", parent="a"), "own ancestor"),
    "younger parent": (edit("a", parent="b"), "smaller id than its children"),
    "lost brother": (edit("aa", brother=None), "children that a link lists"),
    "lost children": (edit("b", child=None, _last_child=None), "children that a link lists"),
    "foreign child": (edit("b", child="aa", _last_child="ab"), "children that a link lists"),
    "brothers in a ring": (edit("ab", brother="aa"), "children that a link lists"),
    "wrong last child": (edit("a", _last_child="aa"), "knows the last"),
    "forgotten name": (forget_name, "no other names exist"),
    "old name": (keep_old_name, "no other names exist"),
    "old joint name": (keep_old_joint, "no other names exist"),
    "unnamed joint": (edit("aa", joint=Revolute()), "no other names exist"),
    "renamed joint": (edit("aa", joint=Revolute(name="new")), "no other names exist"),
    "copy of a copy": (copy_of_a_copy, "virtual link has a real link"),
    "child of a copy": (child_of_a_copy, "and no children"),
    "heavy copy": (edit("ab*", inertia=Inertia.point(1.0)), "have no mass"),
    "heavy ground": (edit("ground", inertia=Inertia.point(1.0)), "have no mass"),
    "frame on nothing": (frame_on("lost"), "Every frame lies on"),
    "frame on a copy": (frame_on("ab*"), "Every frame lies on"),
    "frame called like a link": (frame_on("a", "b"), "no link has its name"),
    "coupled to nothing": (couplings(("a", "nobody")), "A coupling ties two joints of the tree"),
    "coupled copy": (couplings(("a", "grip")), "joints of the tree"),
    "coupled to two": (couplings(("a", "b"), ("a", "aa")), "no joint follows two others"),
    "surface on nothing": (surface_on("lost"), "Surfaces are fixed to ground or real links"),
    "surface touched by a copy": (surface_on("a", ("ab*",)), "touched by real links"),
    "copy that touches": (touching_copy, "contact shapes are of real links"),
    "coupled in a ring": (couplings(("a", "b"), ("b", "aa"), ("aa", "a")), "or itself"),
}


@pytest.mark.parametrize(("breaking", "words"), DAMAGE.values(), ids=DAMAGE.keys())
def test_damage_is_found(tree, breaking, words):
    """Every kind of damage is found, and named by the sentence that it breaks."""
    breaking(tree)
    with pytest.raises(StructureError, match=words):
        check(tree)


def test_every_rule_can_break():
    """Every rule has a damage that breaks it."""
    for sentence in RULES:
        assert any(words in sentence for _, words in DAMAGE.values()), sentence
