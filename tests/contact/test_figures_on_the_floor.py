"""Figures that fall, stand and hold on: contacts beside joints with limits and damping, and beside closed loops."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, books, stepped
from lane import long_run
from varichain.scenarios import SCENARIOS


def figure(make, seed, height):
    """A limp figure above the floor, turned at random."""
    m = make()
    m.add_floor()
    s = m.state()
    turn = np.random.default_rng(seed).normal(size=3)
    s[m.links[0].name].pose = vc.Pose(p=(0, 0, height), rotation_vector=0.7 * turn)
    return m, s


def deepest(m, epoch, every):
    """Deepest penetration at every so many samples [m]."""
    return max(-min(vc.clearances(m, epoch.state(i)).values()) for i in range(0, len(epoch), every))


@long_run
@pytest.mark.parametrize("seed", range(2))
def test_a_limp_figure_falls_and_lies(seed):
    """A limp figure of 46 freedoms that falls half a metre and more ends on the floor.

    Nothing is deeper than 1e-6 m, contact gives no energy, and what was not solved to 1e-9 is in the log.
    """
    m, s = figure(vc.figures.human40, seed, 0.6)
    with pytest.warns(vc.CoarseRunWarning, match="take a smaller step$"):  # there is no tolerance to be smaller
        trace = vc.simulate(m, s, 2.5, contacts="stepping")
    (epoch,) = trace.epochs
    energy = epoch.energy.sum(axis=1)
    assert trace.outcome == "complete" and np.isfinite(epoch.samples).all()
    assert deepest(m, epoch, 25) < 1e-6
    contact = epoch.work[:, epoch.columns.labels["work"].index("contact")]
    assert np.diff(contact).max() < 1e-2  # a link that is moved out of the floor is lifted
    assert energy[-1] < 0.2 * energy[0] and epoch.energy[-1, 0] < 1.0
    # joints turn while the step goes on: first order
    assert np.abs(books(epoch)).max() < 0.05 * energy[0]
    assert len([entry for entry in trace.log if entry["kind"] == "contacts not solved"]) < 150
    forces, modes = epoch.contact_forces.reshape(len(epoch), -1, 3), epoch.contact_modes
    assert forces[:, :, 2].min() >= 0.0
    assert (np.linalg.norm(forces[:, :, :2], axis=2) <= 0.8 * forces[:, :, 2] * (1.0 + 1e-12)).all()
    assert (forces[modes == 0] == 0.0).all()


@long_run
def test_a_limp_figure_falls_exactly():
    """A limp figure of 46 freedoms that falls stays out of the floor, in its cones and in its books, event by event."""
    m, s = figure(vc.figures.human40, 0, 0.6)
    trace = vc.simulate(m, s, 0.5, contacts="exact")
    (epoch,) = trace.epochs
    kinds = [entry["kind"] for entry in trace.log]
    assert kinds.count("contact closed") > 20 and kinds.count("limit reached") > 100
    assert "stepping from here" not in kinds and "contacts not solved" not in kinds
    assert deepest(m, epoch, 10) < 1e-9
    assert np.abs(books(epoch)).max() < 1e-9 * epoch.energy[0].sum()
    forces = epoch.contact_forces.reshape(len(epoch), -1, 3)
    assert forces[:, :, 2].min() >= 0.0
    assert (np.linalg.norm(forces[:, :, :2], axis=2) <= 0.8 * forces[:, :, 2] * (1.0 + 1e-12)).all()


def test_a_figure_stands_on_its_feet():
    """A figure that stands upright is carried by its feet alone: its weight, half on each."""
    m = vc.figures.human16()
    m.add_floor()
    epoch = stepped(m, m.state(), 0.003)
    weight = G * sum(link.inertia.mass for link in m.links)
    feet = [epoch.contact(f"{side} foot", "floor")[-1] for side in ("left", "right")]
    assert sum(feet) == pytest.approx([0, 0, weight], rel=1e-9, abs=1e-7)
    assert feet[0][2] == pytest.approx(0.5 * weight, rel=0.1)


def holding():
    """A figure that stands on the floor, with both hands at fixed points."""
    m = vc.figures.human16()
    m.add_floor()
    s = m.state()
    for side in ("left", "right"):
        joint = vc.Spherical(name=f"{side} hold")
        m.connect(f"{side} hand", "ground", joint, at_other=vc.pose(m, s, f"{side} hand").p)
    return m, s


@long_run
def test_hands_on_a_bar_and_feet_on_the_floor():
    """Loops and contacts in one solve: loops stay closed to 1e-9 while feet press, slip and leave the floor."""
    m, s = holding()
    s["left knee"].v = s["right knee"].v = 2.0
    s = vc.project(m, s)
    epoch = stepped(m, s, 1.0)
    assert epoch.closure.max() < 1e-9
    assert deepest(m, epoch, 20) < 1e-6
    assert np.diff(epoch.work[:, -2]).max() < 1e-6
    total = epoch.contact("left foot") + epoch.contact("right foot")
    assert total[:, 2].max() > 100.0


@long_run
def test_hands_on_a_bar_and_feet_on_the_floor_exactly():
    """A limp figure that sags between its hands, which are held, and the floor: loops, cones and books, event by event.

    Time stepping goes the same way, to first order.
    """
    m = vc.figures.human16()
    s = m.state()
    vc.figures.place(m, s, "squatting", "sole", (0, 0, 0.1))
    floored = m.copy()
    floored.add_floor()
    m.add_floor(min(vc.clearances(floored, s).values()))
    for side in ("left", "right"):
        hand = f"{side} hand"
        m.connect(hand, "ground", vc.Spherical(name=f"{side} hold"), at_other=vc.pose(m, s, hand).p)
    trace = vc.simulate(m, s, 0.3, contacts="exact")
    (epoch,) = trace.epochs
    kinds = [entry["kind"] for entry in trace.log]
    assert kinds.count("contact closed") > 10 and "stepping from here" not in kinds
    assert epoch.closure.max() < 1e-9 and deepest(m, epoch, 5) < 1e-9
    assert np.abs(books(epoch)).max() < 1e-9 * epoch.energy[0].sum()
    forces = epoch.contact_forces.reshape(len(epoch), -1, 3)
    assert forces[:, :, 2].min() >= 0.0 and forces[:, :, 2].max() > 100.0
    assert (np.linalg.norm(forces[:, :, :2], axis=2) <= 0.8 * forces[:, :, 2] * (1.0 + 1e-12)).all()
    fallen = epoch.center[0, 2] - epoch.center[-1, 2]
    assert np.abs(stepped(m, s, 0.3, step=2e-4).center[-1] - epoch.center[-1]).max() < 0.01 * fallen


@long_run
def test_the_high_bar_ends_on_the_floor():
    """The figure of the high bar lets go, lands and stays above the floor, through cuts and with its controllers."""
    scenario = SCENARIOS["highbar"]()
    m = scenario.mechanism
    m.add_floor(touched_by=[link for link in m.links if link.name != "bar"])
    events, controller = scenario.events, scenario.controller
    settings = {"step": 1e-3, "control_step": 2e-3, "sample": 1e-3, "contacts": "stepping"}
    trace = vc.simulate(m, scenario.state, 5.0, events=events, controller=controller, **settings)
    assert trace.outcome == "complete" and len(trace.epochs) == 4
    assert min(vc.clearances(trace.epochs[-1].mechanism, trace.final).values()) > -1e-6
    epoch = trace.epochs[-1]
    assert 0.0 < epoch.center[-1, 2] < 1.5
    # a foot is joined to the ground there, and may press on the floor too: both together change the momentum
    pressed = epoch.contact_forces.reshape(len(epoch), -1, 3).sum(axis=1)
    held = epoch.loop_forces.reshape(len(epoch), -1, 6)[:, :, 3:].sum(axis=1)
    weight = np.array((0, 0, G * sum(link.inertia.mass for link in m.links)))
    needed = np.diff(epoch.momentum[:, 3:], axis=0) / 1e-3 + weight
    off = np.abs((pressed + held)[1:] - needed).max(axis=1)
    assert np.median(off) < 1e-3 * weight[2]  # in steps that are divided, the forces are those of the last part


@long_run
def test_runs_with_contacts_resume_to_the_bit():
    """A run through a cut and a landing, in two parts, has the bits of one run."""
    m, s = holding()
    events = [vc.at(0.1, vc.cut("left hold")), vc.at(0.2, vc.cut("right hold"))]
    whole = vc.simulate(m, s, 0.5, contacts="stepping", events=events)
    for end in (0.05, 0.3):
        first = vc.simulate(m, s, end, contacts="stepping", events=events)
        second = vc.resume(first, 0.5, events=events)
        assert len(second.epochs) == len(whole.epochs) == 3
        for one, other in zip(whole.epochs, second.epochs, strict=True):
            assert np.array_equal(one.samples, other.samples)


@long_run
def test_rollouts_and_live_settings_take_contacts():
    """A rollout with contacts has the bits of single runs."""
    m, s = figure(vc.figures.human16, 0, 0.2)
    found = vc.rollout(m, [s, s], 0.3, contacts="stepping", sample=0.1)
    epoch = stepped(m, s, 0.3, sample=0.1)
    assert np.array_equal(found.q[0], epoch.q) and np.array_equal(found.q[1], epoch.q)


def test_a_discrete_controller_holds_a_leg_up():
    """Stiff gains stay stable at a step that is long for them: they are taken implicitly."""
    m = vc.Mechanism("leg")
    m.add_link("body", "ground", vc.Prismatic("z", actuated=False), inertia=vc.Inertia.sphere(5.0, 0.1))
    rod = vc.Inertia.capsule(1.0, 0.03, 0.4, com=(0, 0, -0.2))
    m.add_link("thigh", "body", vc.Revolute("y", name="hip"), inertia=rod)
    m.add_link("shank", "thigh", vc.Revolute("y", name="knee"), (0, 0, -0.4), rod)
    m.set_contact_shapes("shank", vc.Sphere(0.03, at=(0, 0, -0.4)))
    m.add_floor(-0.83)
    s = m.state()
    s["hip"].q, s["knee"].q = 0.3, -0.6
    gains = vc.PD({"hip": 0.3, "knee": -0.6}, stiffness=20000.0, damping=200.0)
    epoch = stepped(m, s, 0.1, step=5e-3, controller=gains)
    assert np.abs(epoch.q[-1, 1:] - (0.3, -0.6)).max() < 0.02
    assert np.abs(epoch.v).max() < 20.0
