"""Layout: the frozen numbers of one structure."""

import copy
import dataclasses
import pickle
import threading

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from measure import random_state
from varichain.layout.layout import layout_of


@pytest.fixture
def rng():
    """The same random numbers for every test."""
    return np.random.default_rng(42)


def arrays_of(layout):
    """All arrays of a layout."""
    return [layout.q_zero, *layout.arrays.values()]


def test_slots_tile_the_vectors(rng):
    """The joints' slices follow each other without gap, in the order of the links."""
    m = zoo.random_tree(rng, 15)
    layout = layout_of(m)
    assert [slot.name for slot in layout.slots] == [joint.name for joint in m.joints]
    q, v = 0, 0
    for slot, joint in zip(layout.slots, m.joints, strict=True):
        assert (slot.q, slot.v) == (slice(q, q + joint.n_q), slice(v, v + joint.n_v))
        assert (slot.kind, slot.coordinates) == (joint.kind, joint.coordinates)
        q, v = slot.q.stop, slot.v.stop
    assert (layout.n_q, layout.n_v) == (q, v) == (m.n_q, m.n_v)


def test_freedoms_have_names():
    """A joint of one freedom gives it its name, others add the coordinate's label."""
    m = zoo.every_joint()
    layout = layout_of(m)
    names = [layout.freedom_name(k) for k in range(layout.n_v)]
    assert names[:2] == ["revolute", "prismatic"]
    assert {"planar.x", "planar.angle", "spherical.wy", "free.vz"} <= set(names)
    assert len(set(names)) == layout.n_v
    with pytest.raises(IndexError):
        layout.freedom_name(layout.n_v)


def test_a_layout_lasts_until_the_next_edit(rng):
    """One revision has one layout; an edit makes another and leaves the old one as it was."""
    m = zoo.random_tree(rng, 5)
    first = layout_of(m)
    assert layout_of(m) is first
    masses = first.arrays["bodies"]["mass"].copy()
    m.set_inertia(m.links[-1], vc.Inertia.sphere(77.0, 1.0))
    second = layout_of(m)
    assert second is not first and second.revision == first.revision + 1
    np.testing.assert_array_equal(first.arrays["bodies"]["mass"], masses)
    assert first.tree.fits(second.tree)


@pytest.mark.parametrize(
    "duplicate",
    [lambda layout: layout, copy.deepcopy, lambda layout: pickle.loads(pickle.dumps(layout))],
    ids=["itself", "deepcopy", "pickle"],
)
def test_a_layout_is_frozen(duplicate, rng):
    """Neither the fields nor the arrays of a layout, or of a copy of it, can be written."""
    m = zoo.random_tree(rng, 5)
    s = random_state(rng, m)
    vc.bias_force(m, s)
    layout = duplicate(layout_of(m))
    with pytest.raises(dataclasses.FrozenInstanceError):
        layout.n_v = 3
    for array in arrays_of(layout):
        assert not array.flags.writeable
    with pytest.raises(TypeError):
        layout.arrays["bodies"] = None


@pytest.mark.parametrize(
    "duplicate", [copy.deepcopy, lambda layout: pickle.loads(pickle.dumps(layout))], ids=["deepcopy", "pickle"]
)
def test_copies_of_a_layout_have_the_same_numbers(duplicate, rng):
    """A copied layout has equal arrays, slots and names, and opens a workspace of its own."""
    m = zoo.random_tree(rng, 8, passive=True)
    vc.bias_force(m, m.state())
    layout = layout_of(m)
    twin = duplicate(layout)
    for ours, theirs in zip(arrays_of(layout), arrays_of(twin), strict=True):
        np.testing.assert_array_equal(ours, theirs)
    assert layout.tree.fits(twin.tree) and twin.link_index == layout.link_index
    assert twin.workspaces is not layout.workspaces
    assert twin.workspaces.of_thread.table[0] != layout.workspaces.of_thread.table[0]


def test_computing_does_not_touch_the_layout(rng):
    """Working values live in workspaces: the layout's arrays are the same after every computation."""
    m = zoo.random_tree(rng, 8, passive=True)
    layout = layout_of(m)
    before = [array.copy() for array in arrays_of(layout)]
    s = random_state(rng, m)
    vc.forward_dynamics(m, s, None, [vc.Force(m.links[-1], (1, 2, 3))])
    vc.mass_matrix(m, s)
    for array, old in zip(arrays_of(layout), before, strict=True):
        np.testing.assert_array_equal(array, old)


def test_changes_of_loops_keep_the_tree():
    """Structures that differ in loops alone share their tree, and its memory in the workspace of a thread."""
    m, s = closed_zoo.four_bar()
    before = layout_of(m)
    m.cut("pin", state=s)
    open_chain = layout_of(m)
    assert open_chain.tree is before.tree
    assert open_chain.workspaces.of_thread.table[0] == before.workspaces.of_thread.table[0]
    assert len(open_chain.workspaces.of_thread.array("loops")) == 0
    m.set_inertia(m.links[0], vc.Inertia.sphere(1.0, 0.1))
    assert layout_of(m).tree is not before.tree


def test_structures_that_share_a_tree_do_not_disturb_each_other(rng):
    """Two structures of one tree, asked in turn, give the bits that each gives alone."""
    m, s = closed_zoo.four_bar()
    s.v = vc.project(m, random_state(rng, m)).v
    done = vc.change(m, s, [vc.cut("pin")])
    asked = [lambda: done.mobility_before().J_C.tobytes(), lambda: done.mobility_after().J_C.tobytes()]
    asked += [lambda: vc.forward_dynamics(m, s).a.tobytes()]
    alone = [[ask() for _ in range(2)] for ask in asked]
    assert [[ask() for ask in asked] for _ in range(2)] == [list(answers) for answers in zip(*alone, strict=True)]


def test_every_thread_has_its_own_workspace():
    """Threads that live at the same time compute in different memory, the tree's and the loops'."""
    m, _ = closed_zoo.four_bar()
    layout, found, barrier = layout_of(m), [], threading.Barrier(3)

    def work():
        found.append(layout.workspaces.of_thread.table[[0, 6]].tolist())
        barrier.wait()  # a thread that has ended leaves its workspace to the next

    threads = [threading.Thread(target=work) for _ in range(2)]
    for thread in threads:
        thread.start()
    found.append(layout.workspaces.of_thread.table[[0, 6]].tolist())
    barrier.wait()
    for thread in threads:
        thread.join()
    assert len({address for addresses in found for address in addresses}) == 6


def test_fixed_joints_cost_nothing_yet_every_link_is_there(rng):
    """Fixed links make no body and no freedom, and still have pose, velocity, Jacobian and a mass that counts."""
    m = vc.Mechanism()
    m.add_link("post", joint=vc.Fixed(), at=(0, 0, 1), inertia=vc.Inertia.sphere(5.0, 0.1))
    m.add_link("arm", "post", vc.Revolute("y"), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("hand", "arm", vc.Fixed(), at=(0, 0, -1), inertia=vc.Inertia.sphere(2.0, 0.1))
    m.add_link("ring", "hand", vc.Fixed(), at=(0, 0.1, 0))
    layout = layout_of(m)
    assert len(layout.arrays["bodies"]) == 2 and layout.n_v == 1
    assert list(layout.link_index) == ["ground", "post", "arm", "hand", "ring"]
    s = m.state()
    s["arm"].q, s["arm"].v = np.pi / 2, 3.0
    np.testing.assert_allclose(vc.pose(m, s, "ring").p, (-1.0, 0.1, 1.0), atol=1e-15)
    np.testing.assert_allclose(vc.velocity(m, s, "ring"), (0, 3.0, 0, 0, 0, 3.0), atol=1e-15)
    np.testing.assert_array_equal(vc.velocity(m, s, "post"), np.zeros(6))
    assert layout.moving_mass == 3.0
    assert vc.mass_matrix(m, s)[0, 0] == pytest.approx(1.0 * 0.004 + 2.0 * (0.004 + 1.0))


def test_joints_of_several_axes_become_chains_of_bodies():
    """A universal joint is two bodies and a planar one three, all but the last without mass."""
    m = vc.Mechanism()
    m.add_link("cross", joint=vc.Universal(), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("sled", "cross", vc.Planar(), inertia=vc.Inertia.sphere(2.0, 0.1))
    masses = layout_of(m).arrays["bodies"]["mass"]
    assert masses.tolist() == [0.0, 0.0, 1.0, 0.0, 0.0, 2.0]


@pytest.mark.parametrize(
    ("build", "guilty"),
    [
        (lambda m: m.add_link("leaf", joint=vc.Revolute()), "leaf"),
        (lambda m: m.add_link("leaf", joint=vc.Revolute(armature=0.1)), None),
        (lambda m: m.add_link("leaf", joint=vc.Universal(armature=(0.1, 0.0))), "leaf"),
        (lambda m: m.add_link("leaf", joint=vc.Fixed()), None),
        (lambda m: m.add_link("leaf", parent=None), "leaf"),
    ],
)
def test_weightless_moving_links_are_found(build, guilty):
    """A layout knows a link that can move although neither it nor what it carries has mass or armature."""
    m = vc.Mechanism()
    build(m)
    assert layout_of(m).massless_link == guilty
    m.add_link("load", "leaf", vc.Fixed(), inertia=vc.Inertia.sphere(1.0, 0.1))
    assert layout_of(m).massless_link is None
