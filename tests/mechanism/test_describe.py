"""Mechanisms and structure logs as plain values: exact to the bit, and strict about what is read."""

import json
import math
import pickle

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import closed_zoo
import varichain as vc
import zoo
from measure import random_state
from varichain.errors import InputError, VarichainError
from varichain.layout.layout import layout_of
from varichain.mechanism import (
    Box,
    Breaks,
    Capsule,
    Cylinder,
    Ellipsoid,
    Mesh,
    Sphere,
    SwingTwist,
    as_dict,
    check,
    description,
    entry_from,
    log_from,
    mechanism_from,
)

POINTERS = ("parent", "child", "brother", "real", "_last_child")


def through_json(value):
    """The same after a way through strict JSON."""
    return json.loads(json.dumps(value, allow_nan=False))


def assert_same(m, twin):
    """Two mechanisms have the same links, pointers, numbers to the bit, and layouts."""
    check(twin)
    assert (twin.name, twin.gravity.tobytes(), twin._next_id) == (m.name, m.gravity.tobytes(), m._next_id)
    assert list(twin._links) == list(m._links)
    assert [link.id for link in twin.virtual_links] == [link.id for link in m.virtual_links]
    for a, b in zip(m._links.values(), twin._links.values(), strict=True):
        assert (a.id, a.name) == (b.id, b.name)
        for pointer in POINTERS:
            assert getattr(getattr(a, pointer), "id", None) == getattr(getattr(b, pointer), "id", None), pointer
        assert type(a.joint) is type(b.joint)
        assert repr(vars(a.joint) if a.joint else None) == repr(vars(b.joint) if b.joint else None)
        assert a.shapes == b.shapes
        for x, y in ((a.at, b.at), (a.on_real, b.on_real)):
            assert x.p.tobytes() + x.R.tobytes() == y.p.tobytes() + y.R.tobytes()
        assert repr(a.inertia.mass) == repr(b.inertia.mass)
        assert a.inertia.com.tobytes() == b.inertia.com.tobytes()
        assert a.inertia.about_com.tobytes() == b.inertia.about_com.tobytes()
    ours, theirs = layout_of(m).arrays, layout_of(twin).arrays
    assert {name: array.tobytes() for name, array in ours.items()} == {
        name: array.tobytes() for name, array in theirs.items()
    }
    assert (twin.frames, twin.couplings) == (m.frames, m.couplings)
    assert str(twin) == str(m)


def decorated(seed):
    """Random tree with all options of joints, all shapes, loops, cuts, and frames that are products of many."""
    rng = np.random.default_rng([17, seed])
    m = zoo.random_tree(rng, int(rng.integers(1, 12)), n_trees=1, passive=True, friction=True)
    shapes = [
        Capsule(0.1, 0.2, at=zoo.random_pose(rng), color="#102030"),
        Box((1, 2, 3), color=(0.1, 0.2, 0.3)),
        Sphere(0.5),
        Cylinder(0.1, 0.2),
        Ellipsoid((0.1, 0.2, 0.3), color=(0, 0, 0, 0.5)),
        Mesh("a file.obj", scale=(1, -1, 2)),
    ]
    at = zoo.random_pose(rng)
    for _ in range(20):
        at = at @ zoo.random_pose(rng)
    chosen = [shape for shape in shapes if rng.random() < 0.5]
    m.add_link("joint of all", "ground", vc.Revolute("x", name="ünïcode \"'"), at, zoo.random_inertia(rng), chosen)
    m.add_link("ball", "joint of all", vc.Spherical(limits=SwingTwist(1.0, (-0.5, 0.25), (1, 2, 3))))
    m.set_inertia("ball", zoo.random_inertia(rng))
    m.edit_joint(m.joints[-2].name, limits=(-1.0, None), breaks=Breaks(force=1e3, one_sided=(1, 1, 1)))
    for i in range(int(rng.integers(4))):
        kind = str(rng.choice(zoo.ALL))
        try:
            m.connect("ball", "ground", zoo.random_joint(rng, kind), zoo.random_pose(rng), zoo.random_pose(rng))
        except vc.StructureError:
            continue
        if rng.random() < 0.5:
            m.cut(m.virtual_links[0].joint.name)
        if i == 1:
            m.cut("ball")
    return m


@given(st.integers(0, 10**6))
def test_round_trip_of_random_mechanisms(seed):
    """A mechanism with any joints, options, shapes, loops and cuts comes back from JSON to the bit."""
    m = decorated(seed)
    assert_same(m, mechanism_from(through_json(description(m))))


@pytest.mark.parametrize("name", closed_zoo.MECHANISMS)
def test_round_trip_of_closed_mechanisms(name):
    """The closed mechanisms and figures of the zoo come back from JSON, and their dynamics gives the same bits."""
    m, s = closed_zoo.MECHANISMS[name]()
    twin = mechanism_from(through_json(description(m)))
    assert_same(m, twin)
    t = twin.state()
    t.q[:], t.v[:] = s.q, s.v
    one, other = vc.forward_dynamics(m, s), vc.forward_dynamics(twin, t)
    assert one.a.tobytes() == other.a.tobytes()
    assert all(one.loop_forces[loop].tobytes() == other.loop_forces[loop].tobytes() for loop in one.loop_forces)


@pytest.mark.parametrize("make", [vc.figures.human16, vc.figures.human40, zoo.every_joint, zoo.gimbal, zoo.quadruped])
def test_round_trip_of_figures(make):
    """Figures and named trees come back from JSON, and can be edited on: the next id is the same."""
    m = make()
    twin = mechanism_from(through_json(description(m)))
    assert_same(m, twin)
    for each in (m, twin):
        each.add_link("one more", "ground", vc.Revolute())
        each.cut(each.joints[-2].name) if each.joints[-2].kind != "free" else None
    assert_same(m, twin)


def test_order_of_brothers():
    """Links that a cut set free stand last among the children of ground, and do so when they come back."""
    m = zoo.double_pendulum()
    m.add_link("other", "ground", vc.Revolute())
    m.cut("shoulder")
    assert [link.name for link in m.ground.children] == ["other", "upper"]
    twin = mechanism_from(through_json(description(m)))
    assert [link.name for link in twin.ground.children] == ["other", "upper"]


def test_open_limits_are_null():
    """Open ends of limits are null in JSON and infinite again afterwards; minus zero stays minus zero."""
    m = vc.Mechanism(gravity=(0.0, -0.0, -9.81))
    m.add_link("a", joint=vc.Cylindrical("z", limits=((None, -1.0), (2.0, math.inf))), inertia=vc.Inertia.point(1.0))
    plain = description(m)
    assert plain["links"][0]["joint"]["limits"] == [[None, -1.0], [2.0, None]]
    twin = mechanism_from(through_json(plain))
    assert twin.joints[0].limits == ((-math.inf, -1.0), (2.0, math.inf))
    assert math.copysign(1.0, twin.gravity[1]) == -1.0


def test_described_anew_after_edits():
    """A description says what is so now, whichever part was edited since the last one."""
    m, _ = closed_zoo.four_bar()
    described = [json.dumps(description(m))]
    edits = [
        lambda: m.set_inertia(m.links[0], vc.Inertia.point(3.0)),
        lambda: m.edit_joint(m.joints[0].name, damping=0.5),
        lambda: m.set_place(m.joints[1].name, (0.4, 0.0, 0.1)),
        lambda: m.set_place(m.virtual_links[0].joint.name, (0.3, 0.0, 0.0), (0.2, 0.0, 0.0)),
        lambda: m.edit_joint(m.virtual_links[0].joint.name, name="renamed"),
        lambda: setattr(m, "gravity", (1, 2, 3)),
        lambda: m.cut(m.joints[1].name),
        lambda: m.cut("renamed"),
    ]
    for edit in edits:
        edit()
        described.append(json.dumps(description(m)))
        assert_same(m, mechanism_from(json.loads(described[-1])))
    assert len(set(described)) == len(described)


# --- what is refused -------------------------------------------------------------------------------------------------


def rich():
    """A description with every kind of entry."""
    m = vc.Mechanism("rich")
    m.add_link("a", joint=vc.Screw("y", pitch=0.1, limits=(-1, None), breaks=Breaks(force=3.0)), shapes=Sphere(0.1))
    m.add_link("b", "a", vc.Spherical(limits=SwingTwist(1.0)), (1, 0, 0), vc.Inertia.sphere(1.0, 0.1), Mesh("x.obj"))
    m.add_link("c", "a", vc.Universal(), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.connect("c", "b", vc.Revolute(), at_other=(0, 0, 1), name="closing")
    m.add_link("d", "a", vc.Prismatic("x"), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_frame("tip", "c", (0, 0, 1))
    m.couple("d", "a", 2.0, 0.5)
    m.add_floor(0.5, touched_by=("a", "b"))
    m.set_contact_shapes("a", [vc.ContactPoint(), Sphere(0.2)])
    return through_json(description(m))


def copied(value):
    """A copy of plain values; `copy.deepcopy` takes five times as long."""
    return pickle.loads(pickle.dumps(value))


def places(value, path=()):
    """Paths to everything in nested dicts and lists, the whole included."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, item in items:
        yield from places(item, (*path, key))


def at(value, path):
    """What a path leads to."""
    for key in path:
        value = value[key]
    return value


def spelled(path):
    """A path as messages spell it."""
    text = ""
    for key in path:
        text += f"[{key}]" if isinstance(key, int) else f".{key}" if text else key
    return text


def test_missing_entries():
    """Every entry that is taken out of a description is named in the error, with its place.

    But for the rank tolerance, contact, and torsional and rolling friction, which older files do not have.
    """
    whole = rich()
    newer = {(): {"rank_tolerance", "surfaces", "contact_shapes"}, ("surfaces",): {"torsional", "rolling"}}
    for path in places(whole):
        if isinstance(at(whole, path), dict):
            for key in at(whole, path).keys() - newer.get(tuple(path[:1]), set()):
                broken = copied(whole)
                del at(broken, path)[key]
                with pytest.raises(InputError) as caught:
                    mechanism_from(broken)
                assert key in str(caught.value)
                assert spelled(path) in str(caught.value)


def test_unknown_entries():
    """An entry that does not belong into a description is named in the error, wherever it is."""
    whole = rich()
    for path in places(whole):
        if isinstance(at(whole, path), dict):
            broken = copied(whole)
            at(broken, path)["colour of the sky"] = 1
            with pytest.raises(InputError, match="unknown 'colour of the sky'"):
                mechanism_from(broken)


@pytest.mark.parametrize(
    "wrong",
    [None, True, "nonsense", "", math.nan, math.inf, -1, 10**400, [], {}, [[]], {"x": 1}, 1e3],
    ids=lambda wrong: repr(wrong)[:10],
)
def test_wrong_values(wrong):
    """Whatever stands in the place of an entry, the answer is a sound mechanism or a VarichainError."""
    whole = rich()
    n_refused = 0
    for path in places(whole):
        broken = copied(whole)
        if path:
            at(broken, path[:-1])[path[-1]] = wrong
        else:
            broken = wrong
        try:
            m = mechanism_from(broken)
        except VarichainError:
            n_refused += 1
        else:
            check(m)
            assert_same(m, mechanism_from(through_json(description(m))))
    assert n_refused > 50


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        (lambda d: d["links"][1].update(parent="nobody"), r"links\[1\].parent: no link is called 'nobody'"),
        (lambda d: d["links"][1].update(name="a"), r"links\[1\].name must be unique, but 'a' is taken"),
        (lambda d: d["links"][1].update(id=1), r"links\[1\].id must be at least 2"),
        (lambda d: d["links"][1]["joint"].update(name="a"), r"links\[1\].joint.name must be unique, but 'a' is taken"),
        (
            lambda d: d["links"][1].update(place=1),
            "must be 0, 1, 2, ...; found 'b' 1, 'c' 1",
        ),
        (lambda d: d["links"][0].update(parent="a", place=2), r"links\[0\].parent: no link is called 'a'"),
        (lambda d: d["links"][0].update(parent="b", place=1), r"links\[0\].parent: no link is called 'b'"),
        (lambda d: d["links"][3].update(real="b"), r"links\[3\].*itself"),
        (lambda d: d["links"][3].update(real="c (closing)"), r"links\[3\].real: no link is called 'c \(closing\)'"),
        (lambda d: d["links"][3].update(real="ground", parent="ground"), r"links\[3\].*itself"),
        (lambda d: d["links"][0]["joint"].update(type="Hinge"), r"links\[0\].joint must have a type, one of Revolute"),
        (lambda d: d["links"][0]["at"]["R"][0].__setitem__(0, 2.0), r"links\[0\].at: R must be a rotation matrix"),
        (lambda d: d["links"][1]["inertia"].update(mass=-1.0), r"links\[1\].inertia: mass must not be negative"),
        (lambda d: d.update(next_id=2), "smaller than the next id"),
        (lambda d: d["links"].reverse(), r"links\[0\].parent: no link is called 'a'"),
        (lambda d: d["links"][:3].reverse() or d["links"].insert(1, d["links"].pop(2)), "id must be at least 4"),
    ],
)
def test_impossible_structures(edit, message):
    """Parts that are right by themselves but do not fit together are refused in words."""
    broken = rich()
    edit(broken)
    with pytest.raises(VarichainError, match=message):
        mechanism_from(broken)


# --- the log ---------------------------------------------------------------------------------------------------------


def test_log_round_trip_and_replay():
    """A log comes back from JSON entry by entry, and replays to the same structure, to the bit."""
    rng = np.random.default_rng(5)
    m, s = closed_zoo.bar_figure(hands=())
    s.v = zoo.random_v(rng, m)
    initial = through_json(description(m))
    for i in range(6):
        s.time += 0.1
        kind = str(rng.choice(["revolute", "spherical", "universal", "screw"]))
        m.connect("left hand", "ground", zoo.random_joint(rng, kind), zoo.random_pose(rng), state=s, name=f"grip {i}")
        if i % 2:
            m.cut(f"grip {i - 1}", state=s)
    m.cut("left knee")
    saved = through_json([as_dict(entry) for entry in m.log])
    log = log_from(saved)
    assert (str(log), log.n_written) == (str(m.log), m.log.n_written)
    assert list(log) == list(m.log)
    assert through_json([as_dict(entry) for entry in log]) == saved
    twin = mechanism_from(initial)
    log.replay(twin)
    assert_same(m, twin)


def test_logs_without_beginning():
    """A log of which the first entries are missing knows it, and is not replayed."""
    m, s = closed_zoo.bar_figure(hands=())
    for i in range(2):
        m.connect("left hand", "ground", vc.Spherical(), state=s, name=f"hold {i}")
    log = log_from([as_dict(m.log[1])])
    with pytest.raises(vc.StructureError, match="forgotten its first 1"):
        log.replay(m)
    assert len(log_from([])) == 0
    with pytest.raises(InputError, match=r"log\[1\] must be entry 1, the next, not 0"):
        log_from([as_dict(m.log[0]), as_dict(m.log[0])])


def test_part_of_a_log():
    """The later part of a log, numbered anew, is replayed on the structure with which it begins."""
    m = zoo.double_pendulum()
    m.connect("lower", "ground", vc.Spherical(), at_other=(1, 0, 0), name="pin")
    middle = mechanism_from(description(m))
    m.cut("pin")
    m.cut("elbow")
    log_from([as_dict(entry) for entry in m.log][1:], renumber=True).replay(middle)
    assert str(middle) == str(m)


def test_wrong_log_entries():
    """Every missing, unknown or wrong part of a log entry is refused with its place."""
    m, s = closed_zoo.bar_figure(hands=())
    s.v = random_state(np.random.default_rng(0), m).v
    m.connect("left hand", "ground", vc.Spherical(), state=s, name="hold")
    whole = through_json(as_dict(m.log[-1]))
    assert entry_from(whole) == m.log[-1]
    for path in places(whole):
        if isinstance(at(whole, path), dict):
            for key in at(whole, path):
                broken = copied(whole)
                del at(broken, path)[key]
                with pytest.raises(InputError, match=f"lacks '{key}'|must have a type"):
                    entry_from(broken)
    for key, wrong, message in [
        ("time", "now", "entry: time must be a number"),
        ("number", -1, "entry.number must be a whole number"),
        ("edits", 3, "entry.edits must be a list"),
    ]:
        with pytest.raises(InputError, match=message):
            entry_from(whole | {key: wrong})
    for key, wrong, message in [
        ("kind", "bend", r"entry.edits\[0\].kind must be one of connect, cut, cut tree"),
        ("impulse", [1.0], "impulse must be 6 numbers"),
        ("a", "", "a must be a non-empty string"),
        ("at", [0, 0, 0], r"entry.edits\[0\].at must be a dict"),
    ]:
        with pytest.raises(InputError, match=message):
            entry_from(whole | {"edits": [whole["edits"][0] | {key: wrong}]})
