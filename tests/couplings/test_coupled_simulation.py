"""Couplings while they move: gears, mimics, clutches, stops and drives."""

import json

import numpy as np
import pytest
from scipy.interpolate import PPoly

import varichain as vc
from lane import scaled
from measure import deviation
from varichain.mechanism import description, mechanism_from

ROUNDING = 1e-12  # a thousand steps of Runge-Kutta 4, each rounded to 1e-16 of numbers about 1 to 10
CLOSED = 1e-12  # couplings are closed to 1e-13 after every step

RATIO, J_PINION, MOMENT = -3.0, 0.02, 1.2 * 9.81 * 0.4  # [N m] of the rod's weight where it is level
ROD = vc.Inertia.rod(1.2, 0.8, com=(0, 0, 0.4))
J_WHEEL = 1.2 * 0.8**2 / 3 + RATIO**2 * J_PINION
METHODS = ("euler", "rk4", "rk45", "gbs")


def gear_pair():
    """A rod on a wheel, which falls from upright, and a pinion that turns -3 times as fast."""
    m = vc.Mechanism("gear pair")
    m.add_link("wheel", joint=vc.Revolute("y"), inertia=ROD)
    m.add_link("pinion", joint=vc.Revolute("y"), at=(1, 0, 0), inertia=vc.Inertia.sphere(1.0, (2.5 * J_PINION) ** 0.5))
    m.couple("pinion", "wheel", RATIO, 0.4, name="mesh")
    return m


def reduced_wheel():
    """The pendulum alone, with the pinion's inertia as armature: the same equation of one coordinate."""
    m = vc.Mechanism("reduced")
    m.add_link("wheel", joint=vc.Revolute("y", armature=RATIO**2 * J_PINION), inertia=ROD)
    return m


def pulled(m, q, v=0.0):
    """Start with the wheel at q."""
    s = m.state()
    s["wheel"].q, s["wheel"].v = q, v
    if "pinion" in s.joints:
        s["pinion"].q, s["pinion"].v = RATIO * q + 0.4, RATIO * v
    return s


def slip(epoch, joint="pinion", to="wheel", multiplier=RATIO, offset=0.4):
    """Largest error of a coupling in positions and velocities."""
    a, b = epoch.joint(joint), epoch.joint(to)
    return max(np.abs(a.q - multiplier * b.q - offset).max(), np.abs(a.v - multiplier * b.v).max())


@pytest.mark.parametrize("method", METHODS)
def test_gear_pair(method):
    """A gear pair moves as its reduced equation says, and the teeth's force is what turns the pinion."""
    m, reduced = gear_pair(), reduced_wheel()
    until = scaled(1.0, 0.02)
    # an adaptive method sees two errors where the other sees one, and takes other steps: equal to its tolerance
    bound = 1e-7 if method in ("rk45", "gbs") else ROUNDING
    found, wanted = (vc.simulate(x, pulled(x, 1.2), until, method=method) for x in (m, reduced))
    epoch = found.epochs[0]
    assert slip(epoch) < CLOSED
    assert deviation(epoch.joint("wheel").q, wanted.epochs[0].joint("wheel").q) < bound
    assert deviation(epoch.joint("wheel").v, wanted.epochs[0].joint("wheel").v) < bound
    a = vc.forward_dynamics(m, found.final)["pinion"]
    assert abs(epoch.coupling("mesh")[-1] - J_PINION * a) < ROUNDING
    assert epoch.coupling_forces.shape == (len(epoch), 1)
    energy = epoch.energy.sum(axis=1)
    assert method == "euler" or np.ptp(energy) < 1e-9 * abs(energy).max()


def four_bar(tie):
    """A parallelogram crank, by mimics or by a loop; its crank starts away from the flat pose."""
    m = vc.Mechanism("parallelogram")
    bar = vc.Inertia(1.0, com=(0.5, 0, 0), about_com=(0.01, 0.1, 0.1))
    m.add_link("crank", joint=vc.Revolute("y"), inertia=bar)
    m.add_link("coupler", "crank", vc.Revolute("y"), at=(1, 0, 0), inertia=bar)
    m.add_link("rocker", joint=vc.Revolute("y"), at=(2, 0, 0), inertia=bar)
    if tie == "mimic":
        m.couple("coupler", "crank", -1.0)
        m.couple("rocker", "crank")
    else:
        # the coupler is 2 m long
        m.connect("coupler", "rocker", vc.Revolute("y"), at=(2, 0, 0), at_other=(1, 0, 0), name="pin")
    return m


def test_parallelogram():
    """A parallelogram swings by its mimics as it does by its loop."""
    until = scaled(0.5, 0.02)
    traces = []
    for tie in ("mimic", "loop"):
        m = four_bar(tie)
        s = m.state()
        s.q, s.v = [0.6, -0.6, 0.6], [1.0, -1.0, 1.0]
        traces.append(vc.simulate(m, s, until))
    mimic, loop = (trace.epochs[0] for trace in traces)
    assert deviation(mimic.q, loop.q) < 1e-11 and deviation(mimic.v, loop.v) < 1e-11  # the loop closes to 1e-13 a step
    assert slip(mimic, "coupler", "crank", -1.0, 0.0) < CLOSED


def wheels():
    """Two wheels on one axis, each with its own inertia, without gravity's moment."""
    m = vc.Mechanism("clutch")
    for i, (name, radius) in enumerate((("engine", 0.3), ("load", 0.5))):
        joint = vc.Revolute("x", name=name)
        m.add_link(f"{name} disc", joint=joint, at=(i, 0, 0), inertia=vc.Inertia.cylinder(2.0, radius, 0.1, axis="x"))
    return m


def test_clutch():
    """A clutch that an event closes in motion keeps the angular momentum, and one that opens lets both run on."""
    m = wheels()
    J = [float(m.link(f"{name} disc").inertia.about_com[0, 0]) for name in ("engine", "load")]
    s = m.state()
    s["engine"].v = 40.0
    events = [vc.at(0.01, vc.couple("load", "engine", name="clutch")), vc.at(0.02, vc.cut("clutch"))]
    trace = vc.simulate(m, s, 0.03, events=events)
    free, closed, opened = trace.epochs
    common = 40.0 * J[0] / (J[0] + J[1])
    assert np.abs(closed.v - common).max() < ROUNDING * 40.0 and np.abs(opened.v - common).max() < ROUNDING * 40.0
    assert (free.slots.couplings, closed.slots.couplings, opened.slots.couplings) == ((), ("clutch",), ())
    turned = closed.joint("load").q - closed.joint("engine").q
    assert np.abs(turned - turned[0]).max() < CLOSED and abs(turned[0] + 0.4) < ROUNDING
    lost = 0.5 * J[0] * 40.0**2 - 0.5 * (J[0] + J[1]) * common**2
    assert deviation(free.event["energy_lost"], lost) < ROUNDING
    assert deviation(free.event["edits"][0]["impulse"], [J[1] * common]) < ROUNDING
    assert [edit["kind"] for epoch in (free, closed) for edit in epoch.event["edits"]] == ["couple", "uncouple"]
    assert closed.mechanism.couplings[0].name == "clutch" and not opened.mechanism.couplings
    assert not m.couplings  # the simulated mechanism is a copy


@pytest.mark.parametrize("limited", ["wheel", "pinion"])
def test_stop_of_either(limited):
    """A stop of the joint that follows holds the one that leads, and the other way round."""
    m = gear_pair()
    stop = 1.0 if limited == "wheel" else RATIO * 1.0 + 0.4
    m.edit_joint(limited, limits=(stop, np.inf) if limited == "pinion" else (-np.inf, stop), damping=0.3)
    s = pulled(m, 0.9, 2.0)
    trace = vc.simulate(m, s, scaled(0.5, 0.06))
    epoch = trace.epochs[0]
    assert slip(epoch) < CLOSED
    assert epoch.joint("wheel").q.max() < 1.0 + 1e-11
    assert trace.final["wheel"].v == pytest.approx(0.0, abs=ROUNDING)
    assert trace.final["wheel"].q == pytest.approx(1.0, abs=CLOSED)
    # at rest the stop bears the rod's weight, through the teeth if it is the pinion's
    moment = MOMENT * np.sin(1.0)
    holding = -moment if limited == "wheel" else -moment / RATIO
    k = list(trace.final.joints).index(limited)
    assert abs(epoch.holding[-1, k] - holding) < ROUNDING and epoch.holding[-1, 1 - k] == 0.0
    assert abs(epoch.coupling("mesh")[-1] - (0.0 if limited == "wheel" else moment / RATIO)) < ROUNDING


def hyr_parallelogram(about_com):
    """HYR's parallelogram: links of 2 m and 1 kg about z, gravity along -y."""
    m = vc.Mechanism("parallelogram", gravity=(0, -9.81, 0))
    rod = vc.Inertia(1.0, com=(1.0, 0, 0), about_com=(0.01, about_com, about_com))
    m.add_link("01", joint=vc.Revolute("z", name="B01"), inertia=rod)
    m.add_link("02", "01", vc.Revolute("z", name="01_02"), at=(2.0, 0, 0), inertia=rod)
    m.add_link("03", joint=vc.Revolute("z", name="B03"), at=(2.0, 0, 0), inertia=rod)
    m.couple("01_02", "B01", -1.0)
    m.couple("B03", "B01")
    return m


def parabola(start, curvature):
    """start + curvature t^2 over a second."""
    return PPoly(np.array([[curvature], [0.0], [start]]), [0.0, 1.0])


def test_driven_leader():
    """HYR's parallelogram driven with q = 2 t^2 over 1 s in 100 steps needs the analytic torque [HYR, Fig. 1]."""
    about_com = 1 / 3
    m = hyr_parallelogram(about_com)
    trace = vc.simulate(m, m.state(), scaled(1.0, 0.1), motion=vc.Motion({"B01": parabola(0.0, 2.0)}), step=0.01)
    epoch = trace.epochs[0]
    q = 2.0 * epoch.time**2
    wanted = (2 * (about_com + 1.0) + 4.0) * 4.0 + 9.81 * 4.0 * np.cos(q)
    assert np.abs(epoch.q - np.outer(q, [1, -1, 1])).max() < CLOSED
    assert deviation(epoch.holding[:, 0], wanted) < CLOSED
    assert np.abs(epoch.holding[:, 1:]).max() == 0.0


def test_driven_follower():
    """A driven joint that follows carries its leader along, with the torque that the reduced equation asks for."""
    m = gear_pair()
    motion = vc.Motion({"pinion": parabola(0.4, RATIO * 2.0)})
    epoch = vc.simulate(m, pulled(m, 0.0), scaled(1.0, 0.1), motion=motion, step=0.01).epochs[0]
    q = 2.0 * epoch.time**2
    assert deviation(epoch.joint("wheel").q, q) < CLOSED
    assert deviation(epoch.holding[:, 1], (J_WHEEL * 4.0 - MOMENT * np.sin(q)) / RATIO) < CLOSED


def test_computed_torque():
    """Computed torque drives a leader with the reduced equation's torque, and asks nothing of its follower."""
    m = gear_pair()
    law = vc.ComputedTorque(vc.Motion({"wheel": parabola(0.0, 2.0)}))
    s = pulled(m, 2.0 * 0.5**2, 4.0 * 0.5)
    s.time = 0.5
    assert deviation(law(m, s), [J_WHEEL * 4.0 - MOMENT * np.sin(0.5), 0.0]) < ROUNDING


def test_start_that_slips():
    """A start whose coupled joints are elsewhere or at other speeds is refused with a word on how to begin."""
    m = gear_pair()
    with pytest.raises(vc.InputError, match=r"couplings are open; begin with vc\.project"):
        vc.simulate(m, m.state(), 0.01)
    s = pulled(m, 0.2)
    s["wheel"].v = 1.0
    with pytest.raises(vc.InputError, match="open loop or coupling 'mesh'"):
        vc.simulate(m, s, 0.01)
    vc.simulate(m, vc.project(m, s), 0.002)


def test_description_has_loops():
    """A described mechanism comes back with its loops: as many rows, and the same motion."""
    m = four_bar("loop")
    again = mechanism_from(json.loads(json.dumps(description(m))))
    assert [link.name for link in again.virtual_links] == [link.name for link in m.virtual_links]
    a, b = (vc.forward_dynamics(x, x.state()) for x in (m, again))
    assert (a.a == b.a).all() and a.loop_forces["pin"].tolist() == b.loop_forces["pin"].tolist()


def test_description_has_couplings():
    """A described mechanism comes back with its couplings, names and numbers to the bit, and moves the same."""
    m = gear_pair()
    plain = json.loads(json.dumps(description(m)))
    again = mechanism_from(plain)
    assert again.couplings == m.couplings and description(again) == plain
    traces = [vc.simulate(x, pulled(x, 0.5), 0.005) for x in (m, again)]
    assert (traces[0].epochs[0].samples == traces[1].epochs[0].samples).all()
    for damage, complaint in (
        ({"name": "wheel"}, "A coupling ties"),
        ({"to": "nobody"}, "A coupling ties"),
        ({"multiplier": None}, r"couplings\[0\].*multiplier"),
    ):
        broken = json.loads(json.dumps(plain))
        broken["couplings"][0] |= damage
        with pytest.raises(vc.VarichainError, match=complaint):
            mechanism_from(broken)
    broken["couplings"] = plain["couplings"] * 2
    with pytest.raises(vc.InputError, match="different names"):
        mechanism_from(broken)
