"""Closure functions: closed forms against the loops that they replace."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
from lane import scaled
from measure import deviation
from varichain.closures import ClosureFunction, FourBar, Given, Linear, SliderCrank

AGREEMENT = 1e-9  # two different algorithms, away from dead points
DERIVATIVE = 1e-7  # central differences of step 1e-5


def slider_crank(offset=0.1, tilt=0.4):
    """Crank, rod and a slider on a tilted rail beside the crank's axis."""
    m = vc.Mechanism("slider-crank")
    bar = closed_zoo.bar
    m.add_link("crank", joint=vc.Revolute("y"), inertia=bar(0.5))
    m.add_link("rod", "crank", vc.Revolute("-y", name="pin", actuated=False), at=(0.5, 0, 0), inertia=bar(1.5))
    rail = vc.Pose((0.2, 0, offset), rotation_vector=(0, tilt, 0))
    m.add_link("slider", joint=vc.Prismatic("x", name="rail", actuated=False), at=rail, inertia=bar(0.2))
    m.connect("rod", "slider", vc.Revolute("y"), at=(1.5, 0, 0), at_other=(0.1, 0, 0), name="wrist")
    return closed_zoo.closed(m, hold=["crank"], crank=2.2, pin=2.0, rail=1.2)


def serial_slider_crank():
    """The same with a loop that the slider's rail closes: crank, rod and slider hang on each other."""
    m = vc.Mechanism("serial slider-crank")
    bar = closed_zoo.bar
    m.add_link("crank", joint=vc.Revolute("y"), inertia=bar(0.5))
    m.add_link("rod", "crank", vc.Revolute("y", name="pin", actuated=False), at=(0.5, 0, 0), inertia=bar(1.5))
    m.add_link("slider", "rod", vc.Revolute("y", name="wrist", actuated=False), at=(1.5, 0, 0), inertia=bar(0.2))
    m.connect("slider", "ground", vc.Prismatic("x"), at_other=(1.5, 0, 0.1), name="rail")
    return closed_zoo.closed(m, hold=["crank"], crank=0.7, pin=-1.0)


def serial_four_bar():
    """A four-bar whose three moving links hang on each other."""
    m = vc.Mechanism("serial four-bar")
    bar = closed_zoo.bar
    m.add_link("a", joint=vc.Revolute("y"), inertia=bar(0.8))
    m.add_link("b", "a", vc.Revolute("-y", actuated=False), at=(0.8, 0, 0), inertia=bar(1.9))
    m.add_link("c", "b", vc.Revolute("y", actuated=False), at=(1.9, 0, 0), inertia=bar(1.6))
    m.connect("c", "ground", vc.Revolute("y"), at=(1.6, 0, 0), at_other=(2.0, 0, 0), name="pin")
    return closed_zoo.closed(m, hold=["a"], a=-1.0, b=-0.5, c=1.5)


CASES = {
    "four-bar, crank": (closed_zoo.four_bar, FourBar, "pin", "crank"),
    "four-bar, rocker": (closed_zoo.four_bar, FourBar, "pin", "rocker"),
    "four-bar, coupler": (closed_zoo.four_bar, FourBar, "pin", "knee"),
    "serial four-bar": (serial_four_bar, FourBar, "pin", "a"),
    "serial four-bar, end": (serial_four_bar, FourBar, "pin", "c"),
    "slider-crank, crank": (slider_crank, SliderCrank, "wrist", "crank"),
    "slider-crank, slider": (slider_crank, SliderCrank, "wrist", "rail"),
    "serial slider-crank, crank": (serial_slider_crank, SliderCrank, "rail", "crank"),
    "serial slider-crank, wrist": (serial_slider_crank, SliderCrank, "rail", "wrist"),
}


@pytest.mark.parametrize("case", CASES)
def test_closed_forms(case):
    """A closed form closes its loop wherever it is driven, and gives the loop's W, w and accelerations."""
    make, kind, loop, lead = CASES[case]
    m, s = make()
    function = ClosureFunction(m, [kind(m, loop, s, lead)], s)
    assert function.independent == (lead,)
    rng = np.random.default_rng(0)
    start = s[lead].q
    for step in np.linspace(-0.05, 0.05, scaled(13, 3)):
        s = s.copy()
        s[lead].q, s[lead].v = start + step, rng.normal()
        done = function.complete(s)
        assert max(one.gap for one in vc.loop_states(m, done).values()) < AGREEMENT
        G, g = function.matrices(done)
        found = vc.mobility(m, done, prefer=[lead], probe=False)
        assert deviation(G, found.W) < AGREEMENT and deviation(g, found.w, 1 + np.abs(g).max()) < AGREEMENT
        tau = rng.normal(size=m.n_v)
        a = vc.forward_dynamics(m, done, tau).a
        assert deviation(function.forward_dynamics(done, tau), a) < AGREEMENT
        s = done


@pytest.mark.parametrize("case", CASES)
def test_derivatives(case):
    """G is the derivative of gamma, and g that of G along the motion."""
    make, kind, loop, lead = CASES[case]
    m, s = make()
    part = kind(m, loop, s, lead)
    near, y, h = np.array([s[joint].q for joint in part.follows]), s[lead].q, 1e-5
    q, G, g = part.evaluate(np.array([y]), np.array([2.0]), near)
    (after, G_after, _), (before, G_before, _) = (
        part.evaluate(np.array([x]), np.zeros(1), near) for x in (y + h, y - h)
    )
    assert np.abs(q - near).max() < AGREEMENT
    assert np.abs((after - before) / (2 * h) - G[:, 0]).max() < DERIVATIVE
    assert deviation((G_after - G_before)[:, 0] / (2 * h) * 4.0, g) < DERIVATIVE


def test_whole_turns():
    """A crank that turns round and round takes the coupler's angle along, turn by turn."""
    m, s = closed_zoo.four_bar()
    function = ClosureFunction(m, [FourBar(m, "pin", s, "crank")], s)
    start = s.copy()
    for _ in range(scaled(100, 20)):
        s["crank"].q += 4 * np.pi / scaled(100, 20)
        s = function.complete(s)
    assert s["rocker"].q == pytest.approx(start["rocker"].q, abs=AGREEMENT)
    assert s["knee"].q == pytest.approx(start["knee"].q - 4 * np.pi, abs=AGREEMENT)


def test_inverse_dynamics():
    """Torque at the crank is that of the loop's inverse dynamics."""
    m, s = closed_zoo.four_bar()
    s["crank"].v = 1.5
    function = ClosureFunction(m, [FourBar(m, "pin", s, "crank")], s)
    done = function.complete(s)
    tau = function.inverse_dynamics(done, [2.0])
    assert deviation(tau, vc.inverse_dynamics(m, done, {"crank": 2.0}).tau) < AGREEMENT
    assert deviation(function.forward_dynamics(done, tau)[0], 2.0) < AGREEMENT


def test_with_couplings_and_chains():
    """A geared crank drives a four-bar: the gear's coupling and the closed form work one behind the other."""
    m, s = closed_zoo.four_bar()
    m.add_link("motor", joint=vc.Revolute("y"), at=(0, 1, 0), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.couple("crank", "motor", 0.25, s["crank"].q)
    t = m.state()
    for name in ("crank", "knee", "rocker"):
        t[name].q = s[name].q
    t["motor"].v = 3.0
    function = ClosureFunction(m, [FourBar(m, "pin", t, "crank")], t)
    assert function.independent == ("motor",)
    done = function.complete(t)
    assert done["crank"].v == 0.75
    tau = np.array([0.0, 0.0, 0.0, 1.0])
    assert deviation(function.forward_dynamics(done, tau), vc.forward_dynamics(m, done, tau).a) < AGREEMENT


def parallelogram_chain(n=3, ratio=1.0):
    """A ladder of parallelograms, each rung pinned on both sides, on a base that turns."""
    m = vc.Mechanism("parallelograms")
    bar = closed_zoo.bar
    m.add_link("base", joint=vc.Revolute("z"), inertia=vc.Inertia.sphere(1.0, 0.3))
    below = "base"
    for i in range(n):
        left, right = (f"{side}{i}" for side in ("left", "right"))
        at_left, at_right = ((0, 0, 0), (0.6, 0, 0))
        m.add_link(left, below, vc.Revolute("y", actuated=True), at=at_left, inertia=bar(1.0))
        m.add_link(right, below, vc.Revolute("y", actuated=False), at=at_right, inertia=bar(ratio))
        m.add_link(f"rung{i}", left, vc.Revolute("y", actuated=False), at=(1, 0, 0), inertia=bar(0.6))
        m.connect(f"rung{i}", right, vc.Revolute("y"), at=(0.6, 0, 0), at_other=(ratio, 0, 0), name=f"pin{i}")
        below = f"rung{i}"
    return closed_zoo.closed(
        m, **{f"{name}{i}": q for i in range(n) for name, q in (("left", -0.7), ("right", -0.7), ("rung", 0.7))}
    )


def test_parallelograms_are_couplings():
    """Chains of parallelograms are found to have constant W, and couplings move them the same way, without rows."""
    m, s = parallelogram_chain()
    found = vc.constant_loops(m, s)
    assert sorted(loop for group in found for loop in group.loops) == ["pin0", "pin1", "pin2"]
    assert {str(tie) for group in found for tie in group.couplings} == {
        equation for i in range(3) for equation in (f"right{i} = 1 left{i}", f"rung{i} = -1 left{i}")
    }
    coupled = m.copy()
    assert len(vc.replace_constant_loops(coupled, s)) == len(found)
    assert not coupled.virtual_links and len(coupled.couplings) == 6
    rng = np.random.default_rng(2)
    for _ in range(scaled(5, 1)):
        s = closed_zoo.random_closed_state(rng, m, s)
        t = coupled.state()
        t.q, t.v = s.q, s.v
        tau = rng.normal(size=m.n_v)
        assert deviation(vc.forward_dynamics(coupled, t, tau).a, vc.forward_dynamics(m, s, tau).a) < AGREEMENT
    assert vc.mobility(coupled, t).n_independent == vc.mobility(m, s).n_independent == 4
    assert "uncouple" not in str(coupled.log) and "couple 'right0 follows left0'" in str(coupled.log)


def test_other_loops_are_left_alone():
    """A four-bar is no parallelogram, and a parallelogram beside it is replaced alone."""
    m, s = closed_zoo.four_bar()
    assert vc.constant_loops(m, s) == []
    bar = closed_zoo.bar
    for name, parent, place in (("p", "ground", (0, 3, 0)), ("q", "p", (1, 0, 0)), ("r", "ground", (1, 3, 0))):
        m.add_link(name, parent, vc.Revolute("y", actuated=name == "p"), at=place, inertia=bar(1.0))
    m.connect("q", "r", vc.Revolute("y"), at=(1, 0, 0), at_other=(1, 0, 0), name="bolt")
    t = m.state()
    for name in ("crank", "knee", "rocker"):
        t[name].q = s[name].q
    t["p"].q, t["q"].q, t["r"].q = 0.5, -0.5, 0.5
    assert [group.loops for group in vc.replace_constant_loops(m, t)] == [("bolt",)]
    assert [one.joint.name for one in m.virtual_links] == ["pin"] and len(m.couplings) == 2


def test_own_closures():
    """A user's closure is taken if it closes the loop, and refused with what is wrong if it does not."""
    m = vc.Mechanism("scotch yoke")
    m.add_link("crank", joint=vc.Revolute("y"), inertia=closed_zoo.bar(1.0))
    m.add_link("yoke", joint=vc.Prismatic("x", actuated=False), inertia=vc.Inertia.sphere(1.0, 0.1))
    m.add_link("block", "yoke", vc.Prismatic("z", actuated=False), inertia=vc.Inertia.sphere(0.1, 0.1))
    m.connect("crank", "block", vc.Spherical(), at=(1, 0, 0), at_other=(0, 0, 0), name="pin")
    s = m.state()
    s["crank"].q, s["yoke"].q, s["block"].q = 0.5, np.cos(0.5), -np.sin(0.5)
    names = (("yoke", "block"), ("crank",), ("pin",))

    def position(y):
        return np.array([np.cos(y[0]), -np.sin(y[0])])

    def slope(y):
        return np.array([-np.sin(y[0]), -np.cos(y[0])])

    def bend(y, v):
        return np.array([-np.cos(y[0]), np.sin(y[0])]) * v[0] ** 2

    function = ClosureFunction(m, [Given(*names, position, slope, bend)], s)
    s["crank"].v = 2.0
    done = function.complete(s)
    assert deviation(function.forward_dynamics(done), vc.forward_dynamics(m, done).a) < AGREEMENT
    for wrong, words in [
        (Given(*names, lambda y: position(y + 0.1), slope, bend), "position is off.*other loops or of another branch$"),
        (Given(*names, position, lambda y: -slope(y), bend), "velocity is off.*jacobian is not that of the loops$"),
        (
            Given(*names, position, slope, lambda y, v: 2 * bend(y, v)),
            "acceleration is off.*bias is not that of the loops$",
        ),
    ]:
        with pytest.raises(vc.AssemblyError, match=words):
            ClosureFunction(m, [wrong], s)
    with pytest.raises(vc.InputError, match=r"must have the shape \(2,\)"):
        ClosureFunction(m, [Given(*names, lambda y: [1.0], slope, bend)], s)


def test_refusals():
    """Loops that are not planar four-bars, wrong drivers, dead points and missing closures are named."""
    m, s = closed_zoo.four_bar()
    with pytest.raises(vc.StructureError, match=r"no closure replaces the loops \['pin'\]"):
        ClosureFunction(m, [], s)
    with pytest.raises(vc.StructureError, match="'pin' cannot drive"):
        FourBar(m, "pin", s, "pin")
    with pytest.raises(vc.StructureError, match="closes no loop"):
        FourBar(m, "crank", s, "crank")
    with pytest.raises(vc.StructureError, match="use FourBar"):
        SliderCrank(m, "pin", s, "crank")
    with pytest.raises(vc.InputError, match="closures must be"):
        ClosureFunction(m, ["pin"], s)
    part = FourBar(m, "pin", s, "crank")
    with pytest.raises(vc.StructureError, match="follow in two closures"):
        ClosureFunction(m, [part, part], s)
    circle = Linear(("crank",), ("knee",), np.ones((1, 1)), np.zeros(1))
    with pytest.raises(vc.StructureError, match="in a circle"):
        ClosureFunction(m, [part, circle], s)
    rocking = FourBar(m, "pin", s, "rocker")
    with pytest.raises(vc.AssemblyError, match="too short"):
        rocking.evaluate(np.array([s["rocker"].q + 2.0]), np.zeros(1), np.zeros(2))
    n, t = slider_crank()
    with pytest.raises(vc.StructureError, match="use SliderCrank"):
        FourBar(n, "wrist", t, "crank")
    with pytest.raises(vc.StructureError, match="'pin' cannot drive loop 'wrist'"):
        SliderCrank(n, "wrist", t, "pin")
    spatial, u = closed_zoo.bennett()
    with pytest.raises(vc.StructureError, match="not planar"):
        FourBar(spatial, spatial.virtual_links[0].joint.name, u, u.joints[0])
    long, w = closed_zoo.five_bar()
    with pytest.raises(vc.StructureError, match="has 5 joints"):
        FourBar(long, long.virtual_links[0].joint.name, w, w.joints[0])
