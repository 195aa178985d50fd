"""Joints that give way: at a force, at a moment, or when a one-sided one would have to pull."""

import numpy as np
import pytest

import varichain as vc
from motion import slender
from varichain.mechanism import Breaks, Fixed, Inertia, Mechanism, Planar, Revolute, Spherical

G, M, L = 9.81, 2.0, 1.5
WEIGHT = M * G
BOX = Inertia.box(M, size=(0.2, 0.3, 0.1))


def hanging(breaks, how):
    """A box that hangs on a weak joint of the tree, or on one that closes a loop."""
    m = Mechanism("hanging")
    if how == "tree":
        m.add_link("box", joint=Fixed(name="hook", breaks=breaks), at=(0, 0, 2), inertia=BOX)
        return m, m.state()
    m.add_link("box", parent=None, inertia=BOX)
    s = m.state()
    m.connect("box", "ground", Fixed(breaks=breaks), state=s, name="hook")
    return m, s


def loads(m, s, forces=()):
    """Overloads in a state."""
    return vc.overloads(m, s, vc.forward_dynamics(m, s, forces=forces), forces)


@pytest.mark.parametrize("how", ["tree", "loop"])
@pytest.mark.parametrize(("part", "holds"), [(0.999, False), (1.001, True)])
def test_hanging_mass(how, part, holds):
    """A joint that bears a little more than a weight holds it; one that bears a little less breaks, and it falls."""
    m, s = hanging(Breaks(force=part * WEIGHT), how)
    found = loads(m, s)
    if holds:
        assert found == []
        assert vc.release(m, s) == []
        return
    (overload,) = found
    assert (overload.joint, overload.cause, overload.limit) == ("hook", "force", part * WEIGHT)
    assert overload.load == pytest.approx(WEIGHT, rel=1e-12)
    (done,) = vc.release(m, s)
    assert [edit.joint for edit in done.edits] == ["hook"]
    assert m.link("box").joint.kind == "free"
    assert np.allclose(vc.forward_dynamics(m, s)["box"], (0, 0, 0, 0, 0, -G), atol=1e-12)
    assert vc.release(m, s) == []


@pytest.mark.parametrize("how", ["tree", "loop"])
@pytest.mark.parametrize(("part", "holds"), [(0.999, False), (1.001, True)])
def test_cantilever(how, part, holds):
    """A clamped beam breaks its clamp when m g L / 2 passes the moment that it bears."""
    m, beam = Mechanism("cantilever"), slender(M, L, com=(L / 2, 0, 0))
    clamp = Fixed(name="clamp", breaks=Breaks(moment=part * WEIGHT * L / 2))
    if how == "tree":
        m.add_link("beam", joint=clamp, inertia=beam)
        s = m.state()
    else:
        m.add_link("beam", parent=None, inertia=beam)
        s = m.state()
        m.connect("beam", "ground", clamp, state=s)
    found = loads(m, s)
    assert (found == []) == holds
    if not holds:
        assert found[0].cause == "moment"
        assert found[0].load == pytest.approx(WEIGHT * L / 2, rel=1e-12)
        assert len(vc.release(m, s)) == 1


@pytest.mark.parametrize(("part", "holds"), [(0.999, False), (1.001, True)])
def test_swinging_rod(part, holds):
    """The pivot of a rod that swings through its lowest point at omega bears m g + m omega^2 L / 2."""
    omega = 3.0
    tension = WEIGHT + M * omega**2 * L / 2
    m = Mechanism("swing")
    pivot = Revolute("y", name="pivot", breaks=Breaks(force=part * tension))
    m.add_link("rod", joint=pivot, inertia=slender(M, L, "z", com=(0, 0, -L / 2)))
    s = m.state()
    s.v = [omega]
    found = loads(m, s)
    assert (found == []) == holds
    if not holds:
        assert found[0].load == pytest.approx(tension, rel=1e-12)


def standing(one_sided="z", joint=Planar):
    """A box that stands on the floor by a one-sided joint: the floor can only push it up."""
    m = Mechanism("standing")
    m.add_link("box", parent=None, inertia=BOX)
    s = m.state()
    m.connect("box", "ground", joint(breaks=Breaks(one_sided=one_sided)), at=(0, 0, -0.05), state=s, name="sole")
    return m, s


@pytest.mark.parametrize("joint", [Planar, Fixed, Spherical])
@pytest.mark.parametrize(("up", "holds"), [(-3.0, True), (0.0, True), (0.99, True), (1.01, False), (5.0, False)])
def test_one_sided_foot(joint, up, holds):
    """A foot on the floor holds while it is pushed down, or pulled up by less than its weight, and lets go beyond."""
    m, s = standing(joint=joint)
    pull = [vc.Force("box", (0, 0, up * WEIGHT))]
    found = loads(m, s, pull)
    assert (found == []) == holds
    done = vc.release(m, s, forces=pull)
    assert (done == []) == holds
    if not holds:
        assert found[0].cause == "pull"
        assert found[0].load == pytest.approx((up - 1) * WEIGHT, rel=1e-9)
        assert done[0].edits[0].joint == "sole"
        assert vc.forward_dynamics(m, s, forces=pull)["box"][5] == pytest.approx((up - 1) * G, rel=1e-12)


def test_the_other_side():
    """A hook that can only push down lets a resting weight go at once; so does one given the wrong way round."""
    m, s = standing("-z")
    assert len(vc.release(m, s)) == 1


def test_one_sided_tree_joint():
    """A one-sided joint of the tree lets its link go like one that closes a loop."""
    m = Mechanism("standing")
    m.add_link("box", joint=Planar("z", name="sole", breaks=Breaks(one_sided="z")), inertia=BOX)
    s = m.state()
    assert vc.release(m, s) == []
    assert vc.release(m, s, forces=[vc.Force("box", (0, 0, 0.9 * WEIGHT))]) == []
    (done,) = vc.release(m, s, forces=[vc.Force("box", (0, 0, 1.1 * WEIGHT))])
    assert done.edits[0].kind == "cut tree"


def test_slanted_floor():
    """One-sidedness is told in the joint frame: on a slope the floor pushes along its own normal."""
    m = Mechanism("slope")
    m.add_link("box", parent=None, inertia=BOX)
    s = m.state()
    slope = vc.Pose(rotation_vector=(0.5, 0, 0))
    m.connect("box", "ground", Planar("z", breaks=Breaks(one_sided="z")), slope, state=s, name="sole")
    force = vc.forward_dynamics(m, s).loop_forces["sole"][3:]
    assert np.allclose(force, WEIGHT * np.cos(0.5) * slope.R[:, 2], atol=1e-9)
    assert vc.release(m, s) == []
    assert len(vc.release(m, s, forces=[vc.Force("box", 1.01 * WEIGHT * np.cos(0.5) * slope.R[:, 2])])) == 1


def two_ropes(weak, strong):
    """A weight on two hooks at the same place, which share it."""
    m = Mechanism("two ropes")
    m.add_link("box", parent=None, inertia=BOX)
    s = m.state()
    m.connect("box", "ground", Spherical(breaks=Breaks(force=strong * WEIGHT)), state=s, name="strong")
    m.connect("box", "ground", Spherical(breaks=Breaks(force=weak * WEIGHT)), state=s, name="weak")
    return m, s


def test_load_moves_on():
    """When one of two hooks breaks, the other gets the whole load, and breaks too if it cannot bear it."""
    m, s = two_ropes(0.4, 0.7)
    assert [(o.joint, round(o.load / WEIGHT, 9)) for o in loads(m, s)] == [("weak", 0.5)]
    first, second = vc.release(m, s)
    assert (first.edits[0].joint, second.edits[0].joint) == ("weak", "strong")
    assert m.virtual_links == ()
    m, s = two_ropes(0.4, 1.1)
    assert [done.edits[0].joint for done in vc.release(m, s)] == ["weak"]
    assert np.allclose(vc.forward_dynamics(m, s).loop_forces["strong"][3:], (0, 0, WEIGHT), atol=1e-9)


def test_worst_first():
    """Of several overloaded joints the one furthest beyond its limit is cut first, and the others may be spared."""
    m = Mechanism("chain of weights")
    upper, lower = (
        Fixed(name=name, breaks=Breaks(force=limit))
        for name, limit in (("upper", 1.9 * WEIGHT), ("lower", 0.5 * WEIGHT))
    )
    m.add_link("one", joint=upper, inertia=BOX)
    m.add_link("two", "one", lower, at=(0, 0, -0.5), inertia=BOX)
    s = m.state()
    found = loads(m, s)
    assert [overload.joint for overload in found] == ["lower", "upper"]
    assert [round(overload.load / WEIGHT, 9) for overload in found] == [1, 2]
    (done,) = vc.release(m, s)  # without the lower weight the upper hook holds
    assert done.edits[0].joint == "lower"
    assert m.link("one").joint.name == "upper"


def test_joints_without_limits_never_break():
    """Only joints that say what they bear are looked at."""
    m, s = hanging(None, "tree")
    assert loads(m, s, [vc.Force("box", (0, 0, -1e9))]) == []


@pytest.mark.parametrize(
    "arguments", [{}, {"force": 0.0}, {"force": -1.0}, {"moment": float("nan")}, {"one_sided": (0, 0, 0)}]
)
def test_impossible_breaks(arguments):
    """Breaks without any limit, or with one that is no positive number or direction, are refused."""
    with pytest.raises(vc.InputError):
        Breaks(**arguments)
