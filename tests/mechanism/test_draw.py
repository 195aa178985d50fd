import pytest

from varichain.mechanism import (
    Cylindrical,
    Fixed,
    Free,
    Inertia,
    Mechanism,
    Planar,
    Prismatic,
    Revolute,
    Screw,
    Spherical,
    Universal,
)
from varichain.mechanism.link import Link
from varichain.spatial.pose import Pose


def rows(m):
    """The lines of the links."""
    return str(m).splitlines()[2:]


def test_tree():
    """The tree is drawn with its counts, joints, axes and masses; names of joints show where they differ."""
    m = Mechanism("arm")
    m.add_link("upper", joint=Revolute("y", name="shoulder"), inertia=Inertia.point(2.0))
    m.add_link("ball", None, inertia=Inertia.point(1.0))
    m.add_link("hand", "upper", Fixed(name="wrist"), inertia=Inertia.point(0.5))
    assert str(m).splitlines() == [
        "arm: 3 links, 2 joints, 7 freedoms",
        "ground",
        "├── upper   shoulder: revolute y, 2 kg",
        "│   └── hand   wrist: fixed, 0.5 kg",
        "└── ball   free, 1 kg",
    ]


def test_empty():
    """A mechanism of ground alone is drawn as ground."""
    assert str(Mechanism("nothing")) == "nothing: 0 links, 0 joints, 0 freedoms\nground"


def test_singular():
    """One link is not plural."""
    m = Mechanism("door")
    m.add_link("leaf", joint=Revolute())
    assert str(m).splitlines()[0] == "door: 1 link, 1 joint, 1 freedom"


def test_nested_branches():
    """Branches are indented below their parents, and a line runs past a subtree to the next brother."""
    m = Mechanism()
    for name, parent in [("a", "ground"), ("b", "ground"), ("aa", "a"), ("ab", "a"), ("aaa", "aa"), ("ba", "b")]:
        m.add_link(name, parent, Fixed())
    assert [line.partition("   fixed")[0] for line in rows(m)] == [
        "├── a",
        "│   ├── aa",
        "│   │   └── aaa",
        "│   └── ab",
        "└── b",
        "    └── ba",
    ]


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (Revolute("-x"), "revolute -x"),
        (Revolute((1, 1, 0)), "revolute (0.707, 0.707, 0)"),
        (Prismatic("z"), "prismatic z"),
        (Screw("y", pitch=0.01), "screw y 0.01 m/rad"),
        (Spherical(), "spherical"),
        (Free(), "free"),
        (Fixed(), "fixed"),
        (Universal(), "universal x y"),
        (Cylindrical("x"), "cylindrical x"),
        (Planar("y"), "planar y"),
    ],
)
def test_joints(joint, text):
    """Every joint is drawn as its kind with what tells it from others of its kind."""
    m = Mechanism()
    m.add_link("body", joint=joint, inertia=Inertia.point(1.25))
    assert rows(m) == [f"└── body   {text}, 1.25 kg"]


def test_virtual_links():
    """A virtual link is drawn with the name of its real link instead of a mass, and is not counted."""
    m = Mechanism()
    hand = m.add_link("hand", None, inertia=Inertia.point(1.0))
    m._hang(Link(2, "hand*", Revolute(name="grip"), Pose(), Inertia.zero(), real=hand), m.ground)
    assert str(m).splitlines() == [
        "mechanism: 1 link, 0 joints, 6 freedoms",
        "ground",
        "├── hand   free, 1 kg",
        "└── hand*   grip: revolute z, virtual copy of hand",
    ]
