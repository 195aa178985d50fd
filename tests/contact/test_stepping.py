"""Time stepping with contact against closed forms: what rests, rests; what moves, moves right to first order."""

import numpy as np
import pytest

import varichain as vc
from contact.falling import G, ball, books, box_on_slope, rocking_block, stack, stepped
from lane import long_run, scaled

STILL = 1e-12  # [m], [m/s]: rounding of a thousand steps


def test_a_ball_lands_and_stays():
    """A ball that falls lies on the floor afterwards, carried by its weight; contact took the energy of its fall."""
    m, s = ball()
    s["ball"].position = (0, 0, 0.12)
    epoch = stepped(m, s, scaled(0.5, 0.1))
    assert epoch.q[-1] == pytest.approx([1, 0, 0, 0, 0, 0, 0.1], abs=STILL)
    assert np.abs(epoch.v[-1]).max() < STILL
    assert epoch.contact("ball", "floor")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-9)
    contact = epoch.columns.labels["work"].index("contact")
    assert epoch.work[-1, contact] == pytest.approx(-2.0 * G * 0.02, abs=1e-12)
    assert np.abs(books(epoch)).max() < 1e-12


@pytest.mark.parametrize("restitution", [0.8, 1.0])
def test_a_bouncing_ball(restitution):
    """Impacts come within two steps of t0 (1 + 2 sum e^k); energy is kept to the square of the step."""
    height, step = 0.05, 1e-3
    m, s = ball(restitution=restitution)
    s["ball"].position = (0, 0, 0.1 + height)
    epoch = stepped(m, s, scaled(1.0, 0.5), step)
    t0 = np.sqrt(2.0 * height / G)
    bounces = epoch.time[1:][np.diff(epoch.v[:, 5]) > 0.1]
    expected = t0 * (1.0 + 2.0 * np.cumsum([0.0] + [restitution**k for k in range(1, len(bounces))]))
    assert len(bounces) >= 2
    assert bounces[:3] == pytest.approx(expected[:3], abs=2 * step)
    # a bounce is first order: the height of a step's fall
    assert np.diff(epoch.energy.sum(axis=1)).max() < 2.0 * 2.0 * G * G * step * step


@long_run
def test_a_ball_that_bounces_comes_to_rest():
    """After its last bounce, which no step can see, a ball lies still: events without end are none here."""
    m, s = ball(restitution=0.5)
    s["ball"].position = (0, 0, 0.11)
    epoch = stepped(m, s, 0.4)
    assert np.abs(epoch.v[-1]).max() == 0.0
    assert epoch.q[-1, 6] == pytest.approx(0.1, abs=1e-9)


def test_at_rest_on_a_slope():
    """A box on 20 degrees with mu = 0.5 does not creep: 1e-12 m, and the forces are its weight."""
    m, s = box_on_slope()
    epoch = stepped(m, s, scaled(100.0, 0.1), sample=0.1)
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-12
    assert epoch.contact("box")[-1] == pytest.approx([0, 0, 3.0 * G], abs=1e-9)
    assert set(epoch.contact_modes[-1]) == {0.0, 1.0}


@pytest.mark.parametrize(("friction", "moves"), [(0.9999, True), (1.0001, False)])
def test_threshold_of_sliding(friction, moves):
    """A box slides where tan(slope) is beyond mu, and only there; its acceleration is g (sin - mu cos)."""
    slope = np.radians(20.0)
    mu = friction * np.tan(slope)
    m, s = box_on_slope(slope, mu)
    epoch = stepped(m, s, 0.1)
    speed = G * (np.sin(slope) - mu * np.cos(slope)) * 0.1
    assert np.linalg.norm(epoch.v[-1, 3:]) == pytest.approx(speed if moves else 0.0, abs=1e-11)


@long_run
def test_a_box_slides_and_stops():
    """A box that slides down 20 degrees at 1.5 m/s stops where friction says, to first order, and stays."""
    found = []
    for step in (2e-3, 1e-3):
        m, s = box_on_slope(speed=1.5)
        epoch = stepped(m, s, 1.6, step)
        distance = np.linalg.norm(epoch.q[-1, 4:] - epoch.q[0, 4:])
        found.append(abs(distance - 0.8971472877083437))
        assert found[-1] < step * 1.5
        moving = np.linalg.norm(epoch.v[:, 3:], axis=1) > 1e-9
        assert epoch.time[moving][-1] == pytest.approx(1.196196383611125, abs=2 * step)
        assert np.abs(books(epoch)).max() < 1e-10
    assert found[1] < 0.6 * found[0]


CASES = {
    "no spin": ((2.8, 0, 0), (0, 0, 0), 0.2718314644920149, (2.0, 0, 0), (0, 16.666666666666664, 0)),
    "backspin": (
        (1.0, 0, 0),
        (0, -60.0, 0),
        0.7960778602980436,
        (-1.3428571428571425, 0, 0),
        (0, -11.190476190476197, 0),
    ),
    "oblique": (
        (2.0, 0.5, 0),
        (15.0, -8.0, 3.0),
        0.363918876261712,
        (1.1542857142857144, -0.15714285714285703, 0),
        (1.309523809523812, 9.619047619047617, 3.0),
    ),
}


@pytest.mark.parametrize("case", CASES)
def test_onset_of_rolling(case):
    """A sphere that slides rolls from the exact time on, within a step, with exact velocities: the cone is round."""
    velocity, spin, time, rolling, turning = CASES[case]
    step = scaled(1e-3, 5e-3)
    m, s = ball(1.5, 0.12, friction=0.3)
    s["ball"].v = (*spin, *velocity)
    epoch = stepped(m, s, time + 2 * step, step)
    # freedoms are in the ball's axes, which have turned
    R = vc.pose(m, epoch.state(-1), "ball").R
    assert R @ epoch.v[-1, 3:] == pytest.approx(rolling, abs=1e-11)
    assert R @ epoch.v[-1, :3] == pytest.approx(turning, abs=1e-10)
    sliding = np.array([np.linalg.norm(_slip(m, epoch.state(i))) for i in range(len(epoch))]) > 1e-9
    assert epoch.time[sliding][-1] == pytest.approx(time, abs=step)


def _slip(m, s):
    return vc.velocity(m, s, "ball", at=vc.pose(m, s, "ball").R.T @ (0, 0, -0.12))[3:]


def test_both_edges_of_a_block_strike_at_once():
    """A block that falls flat from rocking keeps Housner's ratio of its spin, 1 - 3/2 sin^2(alpha)."""
    m, s = rocking_block(0.0)
    s["block"].v = (-0.4, -0.1, 1.0)  # turning about the edge at x = 0.1, the other one comes down
    m.gravity = (0, 0, 0)
    epoch = stepped(m, s, 1e-9, step=1e-9)  # rows are those of the middle of the step
    assert abs(epoch.v[-1, 2]) == pytest.approx(0.9117647058823529, abs=1e-9)


@long_run
def test_a_rocking_block():
    """Impacts of Housner's block come to the exact times to first order; its energy never rises."""
    errors = []
    exact = np.array([0.3123085751126223, 0.8205922290826009, 1.2518767444618426, 1.6258666133099822])
    for step in (1e-3, 5e-4, 2.5e-4):
        m, s = rocking_block(0.5 * 0.24497866312686414)
        epoch = stepped(m, s, 1.8, step)
        angle = epoch.q[:, 2]
        errors.append(np.abs(epoch.time[1:][np.diff(np.sign(angle)) != 0][:4] - exact).max())
        assert np.diff(epoch.energy.sum(axis=1)).max() < 1e-12
        assert np.abs(books(epoch)).max() < 1e-11
    assert errors[2] < 0.4 * errors[0]
    assert errors[2] < 0.012


@long_run
def test_ten_boxes_stand():
    """Ten boxes, stacked flush, stand for ten seconds without moving."""
    m, s = stack(10)
    epoch = stepped(m, s, 10.0, sample=0.5)
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-12
    assert epoch.contact("box 0", "floor")[-1] == pytest.approx([0, 0, 10.0 * G], rel=1e-9, abs=1e-9)


def test_two_boxes_stand():
    """Two boxes, stacked flush, do not move, and the lower one carries both."""
    m, s = stack(2)
    epoch = stepped(m, s, 0.02)
    assert np.abs(epoch.q[-1] - epoch.q[0]).max() < 1e-13
    assert epoch.contact("box 0", "floor")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-9)
    assert epoch.contact("box 1")[-1] == pytest.approx([0, 0, G], abs=1e-9)


def test_a_ladder_on_wall_and_floor():
    """A ladder leans still where floor friction is beyond half of the cotangent of its angle, and slips below that."""
    for part, stands in ((1.001, True), (0.999, False)):
        m = vc.Mechanism("ladder")
        inertia = vc.Inertia.box(5.0, (0.02, 0.02, 2.0))
        m.add_link("ladder", "ground", vc.Planar("-y", actuated=False), inertia=inertia)
        m.set_contact_shapes("ladder", [vc.ContactPoint((0, 0, -1.0)), vc.ContactPoint((0, 0, 1.0))])
        angle = 1.1
        m.add_floor(friction=part * 0.5 / np.tan(angle))
        wall = vc.Pose(R=np.array([[0, 0, -1.0], [0, 1, 0], [1, 0, 0]]))  # its z looks towards -x
        m.add_surface("wall", "ground", vc.HalfSpace(wall), friction=0.0)
        s = m.state()
        s["ladder"].q = (-np.cos(angle), np.sin(angle), -(0.5 * np.pi - angle))
        assert min(vc.clearances(m, s).values()) == pytest.approx(0.0, abs=1e-12)
        epoch = stepped(m, s, 0.02)
        assert (np.abs(epoch.v[-1]).max() < 1e-12) == stands


def test_stop_and_friction_of_a_joint_are_items_of_the_step():
    """With contacts on, a pendulum with a stop and dry friction moves as it does by events, to first order."""
    m = vc.Mechanism("pendulum")
    joint = vc.Revolute("y", name="hinge", friction=0.3, limits=(-0.2, 2.0), damping=0.05)
    m.add_link(
        "rod", joint=joint, at=(0, 0, 1), inertia=vc.Inertia.rod(1.0, 1.0, com=(0, 0, -0.5)), shapes=vc.Sphere(0.01)
    )
    m.add_floor(-5.0)
    s = m.state()
    s["hinge"].q = 0.6
    until = scaled(1.5, 0.6)
    by_events = vc.simulate(m, s, until, step=0.02).epochs[0]
    errors = []
    for step in (2e-3, 1e-3) if scaled(True, False) else (5e-3,):
        epoch = stepped(m, s, until, step, sample=0.02)
        errors.append(np.abs(epoch.q - by_events.q).max())
        assert epoch.q.min() > -0.2 - 1e-9
    assert errors[-1] < 20 * step


def test_interpenetrating_starts_are_told_and_solved():
    """A start inside a surface is refused with the depth; `separate` moves it out, and the run begins."""
    m, s = ball()
    s["ball"].position = (0, 0, 0.07)
    with pytest.raises(vc.PenetrationError, match=r"'ball' in 'floor' by 0\.03") as caught:
        vc.simulate(m, s, 0.01, contacts="stepping")
    assert caught.value.depths == {("ball", "floor"): pytest.approx(0.03)}
    out = vc.separate(m, s)
    assert out["ball"].position == pytest.approx([0, 0, 0.1], abs=1e-9)
    assert s["ball"].position[2] == 0.07
    stepped(m, out, 0.002)


def test_contacts_need_surfaces():
    """Contacts without a surface, with one that nothing can touch, or of an unknown kind are refused."""
    m, s = ball()
    other = vc.Mechanism("bare")
    other.add_link("point", None, inertia=vc.Inertia.sphere(1.0, 0.1))
    with pytest.raises(vc.InputError, match="contacts need a surface"):
        vc.simulate(other, other.state(), 0.01, contacts="stepping")
    other.add_floor(-1.0)
    with pytest.raises(vc.InputError, match="no link can touch surface 'floor'"):
        vc.simulate(other, other.state(), 0.01, contacts="stepping")
    with pytest.raises(vc.InputError, match="contacts must be one of 'off', 'exact', 'stepping'"):
        vc.simulate(m, s, 0.01, contacts="soft")
