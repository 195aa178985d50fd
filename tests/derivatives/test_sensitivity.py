"""Sensitivity of whole runs to their start and to parameters, beside differences of simulations, through events."""

import numpy as np
import pytest

import closed_zoo
import varichain as vc
import zoo
from derivatives.linkages import four_bar
from derivatives.runs import SMOOTH, compare
from lane import long_run, scaled
from measure import random_state

METHODS = ("euler", "rk4", "rk45", "implicit")


def turning_four_bar():
    """A four-bar that turns, with an armature."""
    m, s = four_bar()
    m.edit_joint("knee", armature=0.1)
    s["crank"].v = 2.0
    return m, vc.project(m, vc.assemble(m, s, hold=["crank"]).state)


@pytest.mark.parametrize("method", scaled(METHODS, ("implicit",)))
def test_parameters_of_linkages(method):
    """Places, masses, springs, dampers, armature and gravity, in runs of all methods: exact for their steps."""
    by = ["knee.x", "pin.other.z", "coupler.mass", "crank.damping", "pivot.stiffness", "knee.armature", "gravity.z"]
    found = compare(*turning_four_bar(), scaled(0.03, 0.004), by=scaled(by, by[::3]), method=method, tolerance=SMOOTH)
    assert found.by_parameters["crank.v", "crank.damping"].shape == (1, 1) and not found.is_nearly_singular


@pytest.mark.parametrize("method", scaled(METHODS, ("rk4",)))
def test_parameters_of_trees(method):
    """Random trees, balls and free joints included."""
    rng = np.random.default_rng(0)
    m = zoo.random_tree(rng, 4, zoo.MOVING, passive=True)
    joint, link = m.joints[1].name, m.links[2].name
    by = [f"{joint}.x", f"{joint}.ry", f"{link}.mass", f"{link}.Ixy", f"{joint}.damping", f"{joint}.stiffness"]
    compare(m, random_state(rng, m), scaled(0.02, 0.002), by=by, few=[1], method=method, tolerance=SMOOTH)


def arm(**of_elbow):
    """Two boxes that swing, the second at an elbow with given numbers."""
    m, box = vc.Mechanism("arm"), vc.Inertia.box(1.0, (0.5, 0.05, 0.03), com=(0.25, 0, 0))
    m.add_link("upper", joint=vc.Revolute("y", name="shoulder", damping=0.05), inertia=box)
    m.add_link("lower", "upper", vc.Revolute("y", name="elbow", **of_elbow), at=(0.5, 0, 0), inertia=box)
    s = m.state()
    s.q, s.v = (0.2, 0.3), (0.5, -2.0)
    return m, s


@long_run
@pytest.mark.parametrize("method", ["rk45", "implicit"])
def test_numbers_of_controllers(method):
    """A compiled controller with parameters, beside constant torques and numbers of the design."""

    def law(t, q, v, tau, p):
        tau[0] -= p.stiffness * q[0] + p.gains[1] * v[0]
        tau[1] += p.gains[0] * np.sin(3.0 * t) * q[0] ** 2

    law = vc.Compiled(law, {"stiffness": 5.0, "gains": [1.0, 0.3]})
    found = compare(
        *arm(),
        0.05,
        by=["stiffness", "lower.mass"],
        controller=law,
        tau={"elbow": 0.3},
        method=method,
        tolerance=SMOOTH,
    )
    assert found.by_parameters["v", "stiffness"].any()
    both = vc.sensitivity(*arm(), 0.05, by=["gains[1]", "gains[0]"], controller=law).by_parameters
    assert both["v", "gains[0]"].any() and both["v", "gains[1]"].any()


# --- stops and dry friction ------------------------------------------------------------------------------------------


@long_run
@pytest.mark.parametrize("method", ["rk4", "rk45"])
def test_a_stop_is_struck_and_holds(method):
    """An elbow strikes its stop and stays there: an impact, then a freedom less."""
    found = compare(*arm(limits=(0.0, 2.0)), 0.2, by=["elbow.x", "lower.mass"], method=method)
    assert [name for _, name in found.events] == ["stop of elbow"]
    assert found.end == ("shoulder",) and found.A.shape == (2, 4)


@long_run
def test_a_stop_is_left():
    """A stop that is left again: where it lets go, forces are zero, and nothing jumps."""
    m, s = arm(limits=(0.0, 2.0))
    s.v = (0.5, -6.0)
    found = compare(m, s, 0.7, by=["lower.mass"], few=[1], step=4e-3)
    assert [name for _, name in found.events] == ["stop of elbow"] and found.end == ("shoulder", "elbow")


@long_run
def test_friction_sticks_and_lets_go():
    """Dry friction stops the elbow, and sticks; later the arm pulls it loose."""
    found = compare(*arm(friction=0.6), 0.45, by=["elbow.friction", "lower.mass"])
    assert found.events[0][1] == "rest of elbow"
    assert found.end == ("shoulder", "elbow")


@long_run
def test_stops_of_balls():
    """Cone and twist of a ball are struck one after the other: rows that turn with the ball."""
    limits = vc.SwingTwist(axis="z", swing=0.5, twist=(-0.3, 0.3))
    m = vc.Mechanism("ball")
    body = vc.Inertia.box(1.0, (0.1, 0.2, 0.5), com=(0.02, 0, -0.25))
    m.add_link("body", joint=vc.Spherical(name="ball", limits=limits, damping=0.02), inertia=body)
    s = m.state()
    s["ball"].v = (3.5, 1.4, 1.5)
    found = compare(m, s, 0.25, by=["body.hx"], few=[0, 2])
    assert [name for _, name in found.events] == ["stop of ball.swing", "stop of ball.twist"]


@long_run
def test_stops_of_joints_that_close_loops():
    """A five-bar whose closing hinge has a stop: a row that closes."""
    m, s = closed_zoo.five_bar()
    pin = m.virtual_links[0].joint.name
    angle = float(np.ravel(vc.loop_states(m, s)[pin].q)[0])
    m = m.copy()
    m.edit_joint(pin, limits=(angle - 0.05, angle + 0.05))
    s = s.copy().follow(m)
    s["left crank"].v, s["right crank"].v = 2.0, -2.0
    s = vc.project(m, s)
    found = compare(m, s, 0.04, by=[f"{m.links[0].name}.mass"], tau={"left crank": 20.0, "right crank": -20.0})
    assert found.events and found.events[0][1] == f"stop of {pin}" and len(found.end) == 1


@pytest.mark.long
@long_run
def test_knees_of_a_figure():
    """Both knees of a floating figure strike their stops again and again: five impacts, with adaptive steps."""
    m = vc.figures.human16()
    s = m.state()
    s["left knee"].q, s["right knee"].q = 0.15, 0.3
    s["left knee"].v, s["right knee"].v = -3.0, -4.5
    found = compare(m, s, 0.15, by=["left knee.z", "torso.mass"], few=[0, 4], method="rk45")
    assert len(found.events) == 5 and all("knee" in name for _, name in found.events)


# --- events ----------------------------------------------------------------------------------------------------------


@long_run
def test_loads_of_joints():
    """An elbow tears off at a force: exact accelerations tell when."""
    m, s = arm()
    s.v = (2.0, -1.0)
    found = compare(m, s, 0.12, [vc.when_force("elbow", vc.cut("elbow"), force=9.0)], by=["elbow.x", "lower.mass"])
    assert [name for _, name in found.events] == ["whenforce"] and found.events[0][0] < 0.1


@pytest.mark.long
@long_run
def test_loads_of_loops():
    """A hand lets go of the bar where its load passes a threshold."""
    m, s = closed_zoo.one_hand()
    s = s.copy()
    s.v = 0.5 * np.random.default_rng(3).normal(size=m.n_v)
    tear = vc.when_force("left grip", vc.cut("left grip"), force=175.0)
    found = compare(m, vc.project(m, s), 0.05, [tear], by=["torso.mass"], few=[3], limits="off")
    assert len(found.events) == 1


@long_run
def test_parameters_through_a_catch():
    """A connection with its impact when a condition passes, then a cut: masses and places act through both."""
    m = vc.Mechanism("catch")
    m.add_link("rod", joint=vc.Revolute("y", name="hinge"), inertia=vc.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)))
    m.add_link("ball", None, vc.Free(name="float"), at=(-0.5, 0, -0.9), inertia=vc.Inertia.sphere(0.5, 0.1))
    s = m.state()
    s["hinge"].q, s["hinge"].v = -0.2, 0.3
    s["float"].v = (0.2, 0.1, 0.3, 0.4, 0.1, 0.2)
    catch = vc.when(
        lambda m, s: vc.pose(m, s, "ball").p[0] + 0.42, vc.connect("ball", "rod", vc.Spherical(), name="grip")
    )
    events = [catch, vc.at(0.25, vc.cut("grip"))]
    found = compare(m, s, 0.28, events, by=["ball.mass", "hinge.x", "hinge.armature"][:2], few=[0, 2], step=5e-3)
    assert [name for _, name in found.events] == ["when", "at"]
    assert vc.sensitivity(m, s, 0.28, events, by=["hinge.armature"], step=5e-3).by_parameters.array.any()


@long_run
def test_couplings_springs_and_forces():
    """Coupled joints, a spring between two links, a cable that is slack, and external forces."""
    rng = np.random.default_rng(3)
    m = zoo.serial_chain(5)
    names = [joint.name for joint in m.joints]
    m.couple(names[1], names[0], multiplier=-2.0, offset=0.3)
    m.connect(
        "link 4",
        "ground",
        vc.SpringDamper(stiffness=30.0, damping=0.5, length=0.2),
        at_other=(0.1, 0, 0),
        name="spring",
    )
    m.connect(
        "link 3", "ground", vc.SpringDamper(stiffness=50.0, length=9.0, slack=True), at_other=(0, 0.2, 0), name="cable"
    )
    s = m.state()
    s.q, s.v = 0.5 * rng.normal(size=5), rng.normal(size=5)
    push = [vc.Force("link 4", (1.0, 0.5, -2.0), at=(0.1, 0, 0)), vc.Force("link 2", (0, 1.0, 0), axes="local")]
    by = ["spring.stiffness", "spring.x", f"{names[2]}.z", "link 3.mass"]
    found = compare(m, vc.project(m, s), 0.02, by=by, few=[0, 2], forces=push, tolerance=SMOOTH)
    assert len(found.start) == 4


@long_run
def test_conditions_of_time():
    """A condition that asks for the time too passes with it: a moving threshold."""
    m, s = arm()
    lift = vc.when(lambda m, s: s["elbow"].q - 0.1 + 0.5 * s.time, vc.push("lower", (0.0, 0.0, 0.3)))
    assert len(compare(m, s, 0.15, [lift]).events) == 1


def test_refusals():
    """What cannot be differentiated is refused with a sentence."""
    m, s = arm(limits=(0.0, 2.0))
    with pytest.raises(vc.InputError, match="Compiled"):
        vc.sensitivity(m, s, 0.01, controller=lambda m, s: None)
    with pytest.raises(vc.InputError, match="'hard' or 'off'"):
        vc.sensitivity(m, s, 0.01, limits="soft")
    with pytest.raises(vc.InputError, match="'rk45'"):
        vc.sensitivity(m, s, 0.01, method="gbs")
    with pytest.raises(vc.UnknownNameError, match="parameter"):
        vc.sensitivity(m, s, 0.01, by=["gain"])
    s["elbow"].q = 0.0
    with pytest.raises(vc.InputError, match="impact at a stop"):
        vc.sensitivity(m, s, 0.01)


def test_two_stops_at_one_instant_are_refused():
    """Two arms strike at one instant; after another start one after the other, and there is no first derivative."""
    m = vc.Mechanism("two", gravity=(0, 0, 0))
    for name in ("left", "right"):
        m.add_link(name, joint=vc.Prismatic("x", name=name, limits=(0.0, 1.0)), inertia=vc.Inertia.sphere(1.0, 0.1))
    s = m.state()
    s.q, s.v = (0.985, 0.985), (1.0, 1.0)
    with pytest.raises(vc.InputError, match="one after the other"):
        vc.sensitivity(m, s, 0.03, step=1e-2)
