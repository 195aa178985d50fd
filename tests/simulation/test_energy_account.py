"""The account of the energy: what it changes by is the work of all that acts, less what impacts take."""

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

import varichain as vc
from lane import scaled
from movers import four_bar
from varichain.mechanism import Inertia, Mechanism, Revolute, Spherical

SPAN = scaled(1.0, 0.1)  # [s]

ACCOUNT = scaled(1e-8, 1e-7)
"""[J] of some joules: the work is integrated with the motion, by the same formula; the tolerance of 1e-10 a step is the
motion's, and there are some hundred steps. In the slow lane the steps are five times as long."""


def arm(**options):
    """Upper arm on a ball joint, forearm on a hinge with the given options; in motion."""
    m = Mechanism("arm")
    m.add_link("upper", joint=Spherical(name="shoulder"), inertia=Inertia(2.0, (0, 0, -0.2), (0.05, 0.06, 0.02)))
    elbow = Revolute("y", name="elbow", **options)
    m.add_link("lower", "upper", elbow, at=(0, 0, -0.4), inertia=Inertia(1.0, (0, 0, -0.2), (0.02, 0.03, 0.01)))
    s = m.state()
    s.v = (1.0, 2.0, 0.5, 6.0)
    return m, s


def residual(trace):
    """Largest difference between energy and account [J], and the whole work by column."""
    energy = np.concatenate([epoch.energy.sum(axis=1) for epoch in trace.epochs])
    work = np.concatenate([epoch.work for epoch in trace.epochs])
    assert not work[0].any()
    labels = trace.epochs[0].columns.labels["work"]
    balance = work @ [-1 if label == "impacts" else 1 for label in labels]
    return np.abs(energy - energy[0] - balance).max(), dict(zip(labels, work[-1], strict=True))


SWING = vc.Motion({"elbow": CubicSpline(np.linspace(0, 1, 6), np.sin(3 * np.linspace(0, 1, 6)))})

# What acts: options of the elbow, arguments of `simulate`, the columns that it moves and in which direction.
CASES = {
    "damping": ({"damping": 0.3}, {}, {"joints": -1}),
    "spring": ({"stiffness": 5.0, "rest": 0.3}, {}, {}),
    "friction": ({"friction": 0.4}, {}, {"joints": -1}),
    "friction that sticks": ({"friction": 3.0}, {}, {"joints": -1}),
    "PD": ({}, {"controller": vc.PD({"shoulder": (1, 0, 0, 0), "elbow": 0.5}, 20.0, 1.0)}, {"controllers": -1}),
    "torques": ({}, {"controller": vc.Torques({"elbow": 0.5})}, {"controllers": 0}),
    "Python": ({}, {"controller": lambda m, s: {"elbow": 0.5 * np.cos(s.time)}}, {"controllers": 0}),
    "drive": ({}, {"motion": SWING}, {"drives": 0}),
    "forces": (
        {},
        {
            "forces": [
                vc.Force("lower", (3, 1, 2), at=(0, 0, -0.4)),
                vc.Force("upper", moment=(0, 0.5, 0), axes="local"),
            ]
        },
        {"forces": 0},
    ),
    "hard stops": ({"limits": (-0.3, 0.4)}, {}, {"impacts": 1}),
    "soft stops": ({"limits": (-0.3, 0.4)}, {"limits": vc.SoftLimits(200.0, 2.0)}, {"soft limits": -1}),
    "all of it": (
        {"damping": 0.1, "friction": 0.2, "stiffness": 2.0, "limits": (-0.3, 0.4)},
        {"controller": vc.PD({"shoulder": (1, 0, 0, 0)}, 10.0, 0.5), "forces": [vc.Force("lower", (0, 2, 0))]},
        {"joints": -1, "controllers": -1, "forces": 0, "impacts": 1},
    ),
}


@pytest.mark.parametrize("method", scaled(["rk45", "gbs"], ["rk45"]))
@pytest.mark.parametrize("case", CASES)
def test_account(case, method):
    """The energy changes by the work in the trace; only the columns that are concerned have any."""
    options, acting, moved = CASES[case]
    m, s = arm(**options)
    if "motion" in acting:
        acting["motion"].set_state(m, s, 0.0)
    trace = vc.simulate(m, s, SPAN, method=method, tolerance=1e-10, step=scaled(1e-2, 5e-2), **acting)
    found, work = residual(trace)
    assert found < ACCOUNT
    assert moved.keys() <= work.keys()
    for column in work:
        assert (abs(work[column]) > 1e-3) == (column in moved), column
        assert work[column] * moved.get(column, 0) >= 0.0, column


@pytest.mark.parametrize(("method", "order", "n"), [("euler", 1, scaled(400, 20)), ("rk4", 4, scaled(100, 5))])
def test_account_of_fixed_steps(method, order, n):
    """With fixed steps the account is wrong by an error of the method's order."""
    m, s = arm(damping=0.3)
    control = vc.PD({"shoulder": (1, 0, 0, 0), "elbow": 0.5}, 20.0, 1.0)
    found = [
        residual(vc.simulate(m, s, SPAN, method=method, step=SPAN / k, sample=SPAN, controller=control))[0]
        for k in (n, 2 * n)
    ]
    assert np.log2(found[0] / found[1]) == pytest.approx(order, abs=scaled(0.3, 0.5))


def test_account_through_structure_changes():
    """Catches take energy, a push gives some, a cut does neither; the account goes on through all epochs."""
    m, s = arm(damping=0.1)
    first, second, third = (k * SPAN / 4 for k in (1, 2, 3))
    events = [
        vc.at(first, vc.connect("lower", "ground", Spherical(), at=(0, 0, -0.4), name="grip")),
        vc.at(second, vc.push("lower", (0, 0.5, 0))),
        vc.at(third, vc.cut("grip")),
    ]
    trace = vc.simulate(m, s, SPAN, events=events, method="gbs", tolerance=1e-10, step=SPAN / scaled(100, 4))
    found, work = residual(trace)
    assert found < ACCOUNT
    lost = [epoch.event["energy_lost"] for epoch in trace.epochs[:-1]]
    assert lost[0] > 1e-3 > 1e-12 > abs(lost[2])
    ends = [(trace.epochs[1], -1), (trace.epochs[2], 0)]
    rates = [vc.velocity(epoch.mechanism, epoch.state(i), "lower")[4] for epoch, i in ends]
    assert -lost[1] == pytest.approx(0.5 * sum(rates) / 2, abs=1e-10)  # impulse times mean velocity of its point
    assert abs(lost[1]) > 1e-5
    assert work["impacts"] == pytest.approx(sum(lost), abs=1e-12)


def test_account_of_a_loop():
    """Dampers in the tree and in the closing joint, a drive and a force on a four-bar: loops do no work."""
    m, s = four_bar(rate=0.0)
    m.edit_joint("knee", damping=0.2)
    m.edit_joint("pin", damping=0.3)
    way = CubicSpline([0.0, 0.5, 1.0], s["crank"].q - np.array([0.0, 2.0, 3.0]), bc_type="clamped")  # from rest
    turn = vc.Motion({"crank": way})
    force = vc.Force("rocker", (1, 0, 2), at=(1, 0, 0))
    trace = vc.simulate(m, s, SPAN, motion=turn, forces=[force], method="gbs", tolerance=1e-10, step=scaled(1e-2, 5e-2))
    found, work = residual(trace)
    assert found < ACCOUNT
    assert work["joints"] < -1e-3
    assert abs(work["drives"]) > 1e-3
    assert abs(work["forces"]) > 1e-3


STROKE, FORCE, MASS = 0.5, 3.0, 2.0  # [m], [N], [kg]


def on_rails(**options):
    """A block on a level rail."""
    m = Mechanism("block", gravity=(0, 0, 0))
    m.add_link("block", joint=vc.Prismatic("x", name="rail", **options), inertia=Inertia.sphere(MASS, 0.1))
    return m, m.state()


def pushed(m, s):
    """A constant force from outside: force times distance."""
    trace = vc.simulate(m, s, SPAN, forces=[vc.Force("block", (FORCE, 0, 0))], step=SPAN / 10)
    return trace, FORCE * trace.final.q[0]


def motored(m, s):
    """A constant force of the joint's own motor."""
    trace = vc.simulate(m, s, SPAN, controller=vc.Torques({"rail": FORCE}), step=SPAN / 10)
    return trace, FORCE * trace.final.q[0]


def driven(m, s):
    """A drive that brings the block from rest to a speed: its kinetic energy."""
    way = CubicSpline([0.0, SPAN], [0.0, STROKE], bc_type=((1, 0.0), (1, 1.0)))
    trace = vc.simulate(m, s, SPAN, motion=vc.Motion({"rail": way}), step=SPAN / 100)
    return trace, 0.5 * MASS * 1.0**2


def damped(m, s):
    """A damper, v = exp(-d t / m): the kinetic energy that is gone."""
    m.edit_joint("rail", damping=2.0)
    s.v = [1.0]
    trace = vc.simulate(m, s, SPAN, step=SPAN / 100)
    return trace, 0.5 * MASS * (np.exp(-2.0 * 2.0 * SPAN / MASS) - 1.0)


def rubbed(m, s):
    """Dry friction: force times distance."""
    m.edit_joint("rail", friction=0.5)
    s.v = [1.0]
    trace = vc.simulate(m, s, SPAN, step=SPAN / 100)
    return trace, -0.5 * trace.final.q[0]


def cushioned(m, s):
    """A soft stop, entered and still on the way in: the energy of its spring."""
    m.edit_joint("rail", limits=(None, 0.0))
    s.v = [0.1]
    trace = vc.simulate(m, s, SPAN, step=SPAN / 100, limits=vc.SoftLimits(2.0, 0.0))
    return trace, -0.5 * 2.0 * trace.final.q[0] ** 2


def stopped(m, s):
    """A hard stop: all kinetic energy is lost."""
    m.edit_joint("rail", limits=(None, 0.5 * SPAN))
    s.v = [1.0]
    return vc.simulate(m, s, SPAN, step=SPAN / 100), 0.5 * MASS


def landed(m, s):
    """A wall that is run against and does not give way: all kinetic energy is lost."""
    m.set_contact_shapes(m.links[0], vc.ContactPoint())
    wall = vc.Pose(p=(0.5 * SPAN, 0, 0), R=[[0, 0, -1], [0, 1, 0], [1, 0, 0]])  # its z looks towards -x
    m.add_surface("wall", "ground", vc.HalfSpace(wall))
    s.v = [1.0]
    return vc.simulate(m, s, SPAN, step=SPAN / 100, contacts="stepping"), -0.5 * MASS


ACCOUNTS = {
    "forces": pushed,
    "controllers": motored,
    "drives": driven,
    "joints": [damped, rubbed],
    "soft limits": cushioned,
    "contact": landed,
    "impacts": stopped,
}


@pytest.mark.parametrize(
    ("label", "act"),
    [(label, act) for label, acts in ACCOUNTS.items() for act in (acts if isinstance(acts, list) else [acts])],
)
def test_each_account_by_hand(label, act):
    """The account that the trace calls by its name has the work that is known by hand, and all others have none."""
    trace, expected = act(*on_rails())
    labels = trace.epochs[0].columns.labels["work"]
    assert set(labels) == set(ACCOUNTS)
    assert abs(expected) > 1e-4
    for name, found in zip(labels, trace.epochs[-1].work[-1], strict=True):
        assert found == pytest.approx(expected if name == label else 0.0, abs=1e-9), name
