"""Contacts that close, open, stick and slip at instants that are located: closed forms and other formulations."""

import numpy as np
import pytest
from scipy.integrate import solve_ivp

import varichain as vc
from contact.falling import G, ball, books, box_on_slope, dome, rocking_block, rod, stepped
from lane import long_run, scaled

RIGHT = 1e-8  # [s], [m], [m/s]: what is promised of exact runs
STILL = 1e-12


def exact(m, s, until, **options):
    """Trace of a run whose contacts are located, on a coarse grid: the method takes as many steps as it needs."""
    return vc.simulate(m, s, until, contacts="exact", **{"step": 0.05, "tolerance": 1e-11} | options)


def times(trace, kind):
    """Times of a kind of entries in the log, each once."""
    return sorted({entry["time"] for entry in trace.log if entry["kind"] == kind})


def test_a_bouncing_ball():
    """Impacts are at t0 (1 + 2 sum e^k); the bounces, which have no end, end: the ball lies there."""
    height, e = scaled(1.0, 0.02), scaled(0.8, 0.05)
    m, s = ball(restitution=e)
    s["ball"].position = (0, 0, 0.1 + height)
    t0 = np.sqrt(2.0 * height / G)
    trace = exact(m, s, t0 * (1.0 + e) / (1.0 - e) + 0.01)
    n = scaled(12, 2)
    impacts = times(trace, "contact closed")[:n]
    assert impacts == pytest.approx(t0 * (1.0 + 2.0 * np.cumsum([0.0, *e ** np.arange(1, n)])), abs=1e-9)
    epoch = trace.epochs[0]
    assert epoch.q[-1] == pytest.approx([1, 0, 0, 0, 0, 0, 0.1], abs=STILL)
    assert np.abs(epoch.v[-1]).max() < STILL
    assert epoch.contact("ball", "floor")[-1] == pytest.approx([0, 0, 2.0 * G], abs=1e-9)
    assert np.abs(books(epoch)).max() < 1e-9
    assert trace.log[0]["impulse"] == pytest.approx(2.0 * (1.0 + e) * G * t0, rel=1e-9)


def test_at_rest_on_a_slope():
    """A box on 20 degrees with mu = 0.5 does not creep, and nothing happens to it."""
    m, s = box_on_slope()
    trace = exact(m, s, scaled(100.0, 0.2), step=0.1)
    epoch = trace.epochs[0]
    assert np.abs(epoch.q - epoch.q[0]).max() < 1e-12  # 1e-10 is promised
    assert epoch.contact("box")[-1] == pytest.approx([0, 0, 3.0 * G], abs=1e-9)
    assert not trace.log


@pytest.mark.parametrize(("friction", "moves"), [pytest.param(0.99, True, marks=long_run), (1.0 + 1e-9, False)])
def test_threshold_of_sliding(friction, moves):
    """A box slides where tan(slope) is beyond mu, and only there; its acceleration is g (sin - mu cos)."""
    slope = np.radians(20.0)
    mu = friction * np.tan(slope)
    m, s = box_on_slope(slope, mu)
    epoch = exact(m, s, 0.05).epochs[0]
    speed = G * (np.sin(slope) - mu * np.cos(slope)) * 0.05
    assert np.linalg.norm(epoch.v[-1, 3:]) == pytest.approx(speed if moves else 0.0, abs=1e-12)


@long_run
def test_a_box_slides_and_stops():
    """A box that slides down 20 degrees at 1.5 m/s stops where and when friction says, and stays."""
    m, s = box_on_slope(speed=1.5)
    trace = exact(m, s, 2.0)
    epoch = trace.epochs[0]
    assert np.abs(np.array(times(trace, "contact sticks")) - 1.196196383611125).max() < RIGHT
    assert np.linalg.norm(epoch.q[-1, 4:] - epoch.q[0, 4:]) == pytest.approx(0.8971472877083437, abs=RIGHT)
    assert np.abs(epoch.v[-1]).max() < STILL
    assert np.abs(books(epoch)).max() < 1e-9


CASES = {
    "no spin": ((2.8, 0, 0), (0, 0, 0), 0.2718314644920149, (2.0, 0, 0), (0, 16.666666666666664, 0)),
    "backspin": ((1, 0, 0), (0, -60, 0), 0.7960778602980436, (-1.3428571428571425, 0, 0), (0, -11.190476190476197, 0)),
    "oblique": (
        (2.0, 0.5, 0),
        (15.0, -8.0, 3.0),
        0.363918876261712,
        (1.1542857142857144, -0.15714285714285703, 0),
        (1.309523809523812, 9.619047619047617, 3.0),
    ),
}


@long_run
@pytest.mark.parametrize("case", CASES)
def test_onset_of_rolling(case):
    """A sphere that slides rolls from the exact time on, with exact velocities: the cone is round."""
    velocity, spin, time, rolling, turning = CASES[case]
    m, s = ball(1.5, 0.12, friction=0.3)
    s["ball"].v = (*spin, *velocity)
    trace = exact(m, s, time + 0.02, step=0.02)
    assert times(trace, "contact sticks") == pytest.approx([time], abs=RIGHT)
    epoch = trace.epochs[0]
    R = vc.pose(m, epoch.state(-1), "ball").R
    assert R @ epoch.v[-1, 3:] == pytest.approx(rolling, abs=RIGHT)
    assert R @ epoch.v[-1, :3] == pytest.approx(turning, abs=RIGHT)
    assert np.abs(books(epoch)).max() < 1e-9


def test_the_impact_of_a_rocking_block():
    """All touches of an instant are one impact: the angular velocity falls by Housner's ratio, to rounding."""
    m, s = rocking_block(0.0)
    s["block"].v = (-0.4, -0.1, 1.0)  # about the edge at x = 0
    trace = exact(m, s, 1e-3, step=1e-3)
    epoch = trace.epochs[0]
    assert epoch.v[0, 2] == pytest.approx(0.9117647058823529, abs=1e-14)
    assert epoch.v[0, :2] == pytest.approx([-0.4 * epoch.v[0, 2], 0.1 * epoch.v[0, 2]], abs=1e-14)
    assert sorted(epoch.contact_modes[0]) == [0] * 6 + [1, 1]
    lost = sum(entry.get("energy_lost", 0.0) for entry in trace.log)
    assert -epoch.work[0, epoch.columns.labels["work"].index("contact")] == pytest.approx(lost, rel=1e-12)


@long_run
def test_a_rocking_block():
    """The first five impacts of Housner's block come when its equation says; nothing else takes energy."""
    m, s = rocking_block(0.5 * 0.24497866312686414)
    trace = exact(m, s, 2.0)
    expected = [0.3123085751126223, 0.8205922290826009, 1.2518767444618426, 1.6258666133099822, 1.9545083364414018]
    assert times(trace, "contact closed") == pytest.approx(expected, abs=RIGHT)
    assert np.abs(books(trace.epochs[0])).max() < 1e-9


def test_an_impact_without_collision():
    """Painleve's rod cannot slip on: it jams, sticks and turns up, with less energy [Genot and Brogliato 1999]."""
    m, s = rod(np.radians(60.0), friction=2.0)
    s["rod"].v = (-1, 0, 0)
    trace = exact(m, s, 1e-3, step=1e-3)
    epoch = trace.epochs[0]
    assert epoch.v[0] == pytest.approx([-0.5625, 0.1875 * np.sqrt(3.0), 0.75 * np.sqrt(3.0)], abs=RIGHT)
    assert epoch.energy[0, 0] == pytest.approx(0.28125, abs=RIGHT)
    assert [entry["kind"] for entry in trace.log] == ["contacts jammed"]
    assert trace.log[0]["energy_lost"] == pytest.approx(0.5 - 0.28125, abs=RIGHT)


@pytest.mark.parametrize("moves", [False, True])
def test_a_ladder_stands(moves):
    """A ladder on a rough wall and floor stands where tan(angle) >= (1 - mu_floor mu_wall) / (2 mu_floor)."""
    floor, wall = 0.4, 0.3
    limit = np.arctan((1.0 - floor * wall) / (2.0 * floor))
    m, s = rod(-(limit + (-1e-6 if moves else 1e-6)), friction=floor, wall=wall)
    epoch = exact(m, s, 0.01, step=0.01).epochs[0]
    assert set(epoch.contact_modes[-1]) == {0.0, 2.0 if moves else 1.0}
    assert (np.abs(epoch.v[-1]).max() > 1e-10) == moves


@long_run
def test_a_ladder_leaves_the_wall():
    """A smooth ladder leaves the wall at two thirds of the height that it began at."""
    angle = np.radians(60.0)
    m, s = rod(-angle, friction=0.0, wall=0.0)
    trace = exact(m, s, 0.4)
    (time,) = times(trace, "contact opened")
    there = exact(m, s, time).final
    assert -np.sin(there["rod"].q[2]) == pytest.approx(np.sin(angle) * 2.0 / 3.0, abs=RIGHT)
    assert np.abs(books(trace.epochs[0])).max() < 1e-9


@long_run
def test_a_ball_leaves_a_dome():
    """A ball that slides down a smooth sphere leaves it at two thirds of the height: gaps curve rightly."""
    start = 0.3
    m, s = dome()
    s["ball"].position = (np.sin(start), 0, np.cos(start))
    (time,) = times(exact(m, s, 0.8), "contact opened")
    there = exact(m, s, time).final["ball"].position
    assert there[2] == pytest.approx(np.cos(start) * 2.0 / 3.0, abs=RIGHT)
    assert np.linalg.norm(there) == pytest.approx(1.0, abs=1e-12)


@long_run
@pytest.mark.parametrize(
    "surface", [vc.Box((2.0, 2.0, 1.0), at=(-1, 0, -0.5)), vc.Cylinder(1.0, 1.0, at=(-1, 0, -0.5))]
)
def test_a_ball_leaves_an_edge(surface):
    """A ball that slides over a smooth edge, or rim, leaves it at two thirds of its height above the edge."""
    start, radius = 0.1, 0.1
    m = vc.Mechanism("table")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(2.0, radius), shapes=vc.Sphere(radius))
    m.add_surface("table", "ground", surface, friction=0.0)
    s = m.state()
    s["ball"].position = radius * np.array((np.sin(start), 0, np.cos(start)))
    (time,) = times(exact(m, s, 0.5), "contact opened")
    there = exact(m, s, time).final["ball"].position
    assert there == pytest.approx(
        radius * np.array((np.sqrt(1 - (np.cos(start) / 1.5) ** 2), 0, np.cos(start) / 1.5)), abs=RIGHT
    )


@long_run
def test_a_ball_rolls_off_a_table():
    """Rolling off a flat top onto its edge loses neither the contact nor energy: the normal turns without a jump."""
    m = vc.Mechanism("table")
    m.add_link("ball", None, inertia=vc.Inertia.sphere(2.0, 0.1), shapes=vc.Sphere(0.1))
    m.add_surface("table", "ground", vc.Box((2.0, 2.0, 1.0), at=(-1, 0, -0.5)), friction=2.0)
    s = m.state()
    s["ball"].position = (-0.05, 0, 0.1)
    s["ball"].v = (0, 1.0, 0, 0.1, 0, 0)
    trace = exact(m, s, 0.7, step=0.01)
    (epoch,) = trace.epochs
    assert np.abs(books(epoch)).max() < RIGHT
    # 0.5 s on the top, then over the edge, where the energy of rolling is 7/10 m v^2
    on_edge = np.flatnonzero((epoch.time > 0.5) & (epoch.contact_modes[:, 0] == 1.0))
    assert len(on_edge) > 3
    for i in on_edge:
        place = epoch.state(i)["ball"].position
        assert np.hypot(place[0], place[2]) == pytest.approx(0.1, abs=1e-11)
        assert 0.7 * (epoch.v[i, 3:] @ epoch.v[i, 3:] - 0.01) == pytest.approx(G * (0.1 - place[2]), abs=RIGHT)


def _falling_stick(angle, mu):
    """When a stick of 1 m and 1 kg that stands on the floor begins to slip, and lies: its own equations."""
    h, I = 0.5, 1.0 / 12.0
    options = {"rtol": 1e-12, "atol": 1e-13, "method": "DOP853"}

    def stuck(t, y):
        return [y[1], -G * h * np.cos(y[0]) / (I + h * h)]

    def forces(y):
        a = stuck(0.0, y)[1]
        return G + h * (a * np.cos(y[0]) - y[1] ** 2 * np.sin(y[0])), -h * (a * np.sin(y[0]) + y[1] ** 2 * np.cos(y[0]))

    def margin(t, y):
        N, T = forces(y)
        return mu * N - abs(T)

    def slipping(t, y, side):
        # I a = -N h cos + T h sin with T = side mu N, and no acceleration of the foot along the normal
        c, s = h * np.cos(y[0]), h * np.sin(y[0])
        N = (G - s * y[1] ** 2) / (1.0 + c * (c - side * mu * s) / I)
        a = -N * (c - side * mu * s) / I
        return [y[1], a, side * mu * N + s * a + c * y[1] ** 2]  # the foot's acceleration

    def lies(t, y, side):
        return y[0]

    def turns(t, y, side):
        return -side * y[2] + 1e-14

    margin.terminal = lies.terminal = turns.terminal = True
    turns.direction = -1
    first = solve_ivp(stuck, (0.0, 2.0), [angle, 0.0], events=margin, **options)
    slips = now = first.t_events[0][0]
    y, side = [*first.y_events[0][0], 0.0], np.sign(forces(first.y_events[0][0])[1])
    while True:
        then = solve_ivp(slipping, (now, now + 2.0), y, args=(side,), events=(lies, turns), **options)
        if len(then.t_events[0]):
            return slips, then.t_events[0][0]
        now, y, side = then.t[-1], [*then.y[:2, -1], 0.0], -side
        assert margin(now, y) < 0.0  # it slides back


@long_run
def test_a_stick_falls():
    """A stick that stands on the floor slips, slides and lies down when its own equations say."""
    angle, mu = np.radians(80.0), 0.3
    m, s = rod(angle, friction=mu)
    trace = exact(m, s, 0.8)
    slips, lies = _falling_stick(angle, mu)
    assert times(trace, "contact slips") == pytest.approx([slips], abs=RIGHT)
    assert times(trace, "contact closed") == pytest.approx([lies], abs=RIGHT)
    assert np.abs(books(trace.epochs[0])).max() < 1e-9


def _figure_on_a_point():
    """Two links that stand on a point, turning about it."""
    m = vc.Mechanism("point")
    m.add_link("foot", None, inertia=vc.Inertia.box(1.0, (0.2, 0.1, 0.5)))
    m.add_link("top", "foot", vc.Spherical(), at=(0, 0, 0.25), inertia=vc.Inertia.box(0.5, (0.2, 0.1, 0.3)))
    m.set_contact_shapes("foot", vc.ContactPoint((0, 0, -0.25)))
    m.add_floor(friction=5.0)
    s = m.state()
    s["foot"].position = (0, 0, 0.25)
    turning = (0.3, -0.2, 1.0)
    s["foot"].v = (*turning, *np.cross(turning, (0, 0, 0.25)))
    s["top"].v = (0.5, 0.4, 0)
    return m, s


def test_a_contact_that_sticks_is_a_loop():
    """A point that sticks moves its figure, and bears it, as a ball joint to the ground does."""
    m, s = _figure_on_a_point()
    until = scaled(0.3, 0.05)
    trace = exact(m, s, until)
    m.connect("foot", "ground", vc.Spherical(), at=(0, 0, -0.25), state=s, name="grip")
    other = vc.simulate(m, s, until, step=0.05, tolerance=1e-11)
    assert trace.final.q == pytest.approx(other.final.q, abs=1e-11)
    assert trace.final.v == pytest.approx(other.final.v, abs=1e-11)
    force = other.epochs[0].loop_forces[-1, 0, 3:]
    assert trace.epochs[0].contact("foot")[-1] == pytest.approx(force, abs=1e-9)


def _arm():
    """A double pendulum with stops and dry friction, over a floor that it does not reach."""
    m = vc.Mechanism("arm")
    inertia = vc.Inertia(1.0, com=(0, 0, -0.25), about_com=np.diag([0.03, 0.03, 0.01]))
    m.add_link("a", "ground", vc.Revolute("y", limits=(-0.5, 1.2), friction=0.3), inertia=inertia)
    m.add_link("b", "a", vc.Revolute("y", limits=(-0.2, 0.9), friction=0.1), at=(0, 0, -0.5), inertia=inertia)
    m.set_contact_shapes("b", vc.ContactPoint((0, 0, -0.5)))
    m.add_floor(-3.0)
    s = m.state()
    s["a"].q, s["b"].q, s["b"].v = 1.0, 0.8, -1.0
    return m, s


@long_run
def test_stops_and_friction_as_rows():
    """Stops and dry friction are rows of the contact problem, and locks without contacts: the motion is one."""
    m, s = _arm()
    trace, other = exact(m, s, 1.5), vc.simulate(m, s, 1.5, step=0.05, tolerance=1e-11)
    assert trace.final.q == pytest.approx(other.final.q, abs=RIGHT)
    assert trace.final.v == pytest.approx(other.final.v, abs=RIGHT)
    assert times(trace, "limit reached") == pytest.approx(times(other, "limit reached"), abs=1e-9)
    assert np.abs(books(trace.epochs[0])).max() < 1e-9


def _rolling_ellipsoid():
    """An ellipsoid that rolls and wobbles on a floor."""
    m = vc.Mechanism("egg")
    m.add_link("egg", None, inertia=vc.Inertia.ellipsoid(1.0, (0.1, 0.15, 0.2)), shapes=vc.Ellipsoid((0.1, 0.15, 0.2)))
    m.add_floor(friction=3.0)
    s = m.state()
    s["egg"].position = (0, 0, 0.2)
    s["egg"].v = (*(2.0, 1.0, 3.0), *np.cross((2.0, 1.0, 3.0), (0, 0, 0.2)))
    return m, s


def _ball_on_a_roller():
    """A ball that rolls down a capsule, which turns about its own axis and is free to slide along it."""
    m = vc.Mechanism("roller")
    lying = vc.Pose(rotation_vector=(0.5 * np.pi, 0, 0))
    inertia = vc.Inertia.sphere(2.0, 0.3)
    m.add_link("roller", "ground", vc.Cylindrical("y"), inertia=inertia, shapes=vc.Capsule(0.3, 2.0, at=lying))
    m.add_link("ball", None, inertia=vc.Inertia.sphere(0.5, 0.1), shapes=vc.Sphere(0.1))
    m.add_surface("roller", "roller", touched_by="ball", friction=3.0)
    s = m.state()
    s["ball"].position = (0.4 * np.sin(0.1), 0.2, 0.4 * np.cos(0.1))
    return m, s


def _ball_on(shape, joint, foot, lean, along):
    """A ball that rolls on a place of a shape that turns, leaning outwards there, with a velocity across that."""
    m = vc.Mechanism("ball on a shape")
    m.add_link("shape", "ground", joint, inertia=vc.Inertia.sphere(2.0, 0.3), shapes=shape)
    m.add_link("ball", None, inertia=vc.Inertia.sphere(0.5, 0.1), shapes=vc.Sphere(0.1))
    m.add_surface("shape", "shape", touched_by="ball", friction=5.0)
    s = m.state()
    n, v = np.array((np.sin(lean), 0, np.cos(lean))), np.array((0, along, 0))
    s["ball"].position = foot + 0.1 * n
    s["ball"].v = (*np.cross(n, v) / 0.1, *v)
    return m, s


def _ball_on_an_edge():
    """A ball that rolls over the edge of a box, and along it."""
    return _ball_on(vc.Box((0.4, 2.0, 0.4)), vc.Cylindrical("y"), np.array((0.2, 0, 0.2)), 0.3, 0.4)


def _ball_on_a_corner():
    """A ball that rolls over the corner of a box."""
    return _ball_on(vc.Box((0.4, 0.4, 0.4)), vc.Revolute("z"), np.array((0.2, 0.2, 0.2)), 0.2, 0.2)


def _ball_on_a_rim():
    """A ball that rolls over the rim of a standing cylinder, and along it."""
    return _ball_on(vc.Cylinder(0.3, 0.4), vc.Revolute("z"), np.array((0.3, 0, 0.2)), 0.3, 0.5)


def _ball_on_a_side():
    """A ball that rolls down the side of a lying cylinder, and along it."""
    lying = vc.Pose(rotation_vector=(0.5 * np.pi, 0, 0))
    foot = 0.3 * np.array((np.sin(0.2), 0, np.cos(0.2)))
    return _ball_on(vc.Cylinder(0.3, 2.0, at=lying), vc.Cylindrical("y"), foot, 0.2, 0.3)


_SHORT = (_ball_on_an_edge, _ball_on_a_corner, _ball_on_a_rim)  # until the ball leaves


@pytest.mark.parametrize("case", [_rolling_ellipsoid, _ball_on_a_roller, _ball_on_a_side, *_SHORT])
def test_rolling_takes_no_energy(case):
    """What rolls on what moves stays on it and keeps its energy: accelerations of points that wander are right."""
    m, s = case()
    trace = exact(m, s, scaled(0.08 if case in _SHORT else 0.3, 0.01), step=0.01)
    epoch = trace.epochs[0]
    assert np.ptp(epoch.energy.sum(axis=1)) < 1e-9
    assert set(epoch.contact_modes.ravel()) == {1.0}
    assert max(map(abs, vc.clearances(m, trace.final).values())) < 1e-12
    assert not trace.log


@long_run
def test_a_run_continues_to_the_bit():
    """A resumed run is the same run, between bounces, while it slips and while it rolls."""
    m, s = ball(1.5, 0.12, friction=0.3, restitution=0.1)
    s["ball"].v = (0.5, -1.5, 2, 0.25, 0.15, 0)
    s["ball"].position = (0, 0, 0.122)
    whole = exact(m, s, 0.06, step=0.01, tolerance=1e-9)
    assert {entry["kind"] for entry in whole.log} == {"contact closed", "contact sticks"}
    for cut in (0.01, 0.033, 0.05):
        again = vc.resume(exact(m, s, cut, step=0.01, tolerance=1e-9), 0.06)
        for block in ("q", "v", "work", "contact_forces", "contact_modes"):
            assert np.array_equal(getattr(again.epochs[0], block), getattr(whole.epochs[0], block))
        assert again.log == whole.log


@long_run
def test_events_without_end_are_handed_over():
    """More than fifty events within a step of the grid lead to time stepping, until the next change, and an entry."""
    m, s = ball(restitution=0.97)
    s["ball"].position = (0, 0, 0.10001)
    trace = exact(m, s, 0.3, step=0.2, tolerance=1e-3, events=[vc.at(0.25, vc.push("ball", (0, 0, 1e-3)))])
    (entry,) = [entry for entry in trace.log if entry["kind"] == "stepping from here"]
    assert entry["reason"] == "more than 50 events within a step"
    assert 0.0 < entry["time"] < 0.2
    assert len(trace.epochs) == 2
    assert trace.log[-1]["kind"] == "contact closed"


@long_run
def test_stepping_converges_to_exact():
    """A box that strikes and slides on an edge of its own ends where steps lead that become short, to first order.

    Until it strikes with all four corners at once: that impact has several solutions, whose velocities differ by 6e-4.
    """
    m, s = box_on_slope(slope=0.3, friction=0.6)
    s["box"].v = (0.0, 2.0, 0.5, 0.4, 0.1, 0.2)
    until = 0.075
    trace = exact(m, s, until)
    assert trace.epochs[-1].contact_modes[-1].tolist().count(2) == 2
    far = [np.abs(stepped(m, s, until, step).q[-1] - trace.final.q).max() for step in (1e-3, 2.5e-4, 6.25e-5)]
    assert far[1] < 0.3 * far[0]
    assert far[2] < 0.3 * far[1]


def _pair(link, surface):
    """A link over a surface of its own shape."""
    m = vc.Mechanism("pair")
    m.add_link("thing", None, inertia=vc.Inertia.sphere(1.0, 0.1))
    m.set_contact_shapes("thing", [link])
    m.add_surface("thing under it", "ground", surface)
    s = m.state()
    s["thing"].position = (0, 0, 3)
    return m, s


@pytest.mark.parametrize(
    ("link", "surface", "why"),
    [
        (vc.ContactPoint((0, 0, -0.1)), vc.Box((1, 1, 1)), "face of a box"),
        (vc.Box((0.1, 0.1, 0.1)), vc.Box((1, 1, 1)), "face of a box"),
        (vc.ContactPoint((0, 0, -0.1)), vc.Cylinder(1.0, 1.0), "its side to a flat end"),
        (vc.Cylinder(0.1, 0.2), vc.HalfSpace(), "cylinder's rim"),
        (vc.Ellipsoid((0.1, 0.2, 0.3)), vc.Sphere(1.0), "half-spaces alone"),
    ],
)
def test_gaps_that_are_not_smooth(link, surface, why):
    """What exact contacts cannot locate is refused by name, with the reason; stepping takes it."""
    m, s = _pair(link, surface)
    with pytest.raises(vc.InputError, match=f"'thing' touches surface 'thing under it'.*{why}.*'stepping'"):
        exact(m, s, 0.01)
    vc.simulate(m, s, 0.002, contacts="stepping")


def test_the_implicit_method_is_refused():
    """Exact contacts need steps that end at events."""
    with pytest.raises(vc.InputError, match="'euler', 'rk4', 'rk45' or 'gbs', not 'implicit'"):
        exact(*ball(), 0.01, method="implicit")


@pytest.mark.parametrize("method", ["euler", "rk4", "gbs"])
def test_other_methods(method):
    """Every explicit method locates contacts, as well as it integrates."""
    m, s = ball(restitution=0.0)
    s["ball"].position, s["ball"].v = (0, 0, 0.11), (0, 0, 0, 0.3, 0, 0)
    trace = exact(m, s, 0.06, step=1e-3 if method == "euler" else 0.01, method=method)
    allowed = 1e-3 if method == "euler" else RIGHT
    assert times(trace, "contact closed") == pytest.approx([np.sqrt(0.02 / G)], abs=allowed)
    assert np.linalg.norm(trace.final["ball"].v[3:]) == pytest.approx(0.3 * 5.0 / 7.0, abs=allowed)
