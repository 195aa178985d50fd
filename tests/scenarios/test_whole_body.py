"""Torques of a whole figure on contacts, beside a quadratic programme that knows no reduction."""

import numpy as np
import pytest

import varichain as vc
from varichain import figures
from varichain.dynamics.quadratic_programme import solve_programme
from varichain.scenarios import whole_body
from varichain.scenarios.sitter import sole_points
from varichain.scenarios.whole_body import Course, Gains, JointCourses, WholeBody

STEP, ROUGH = 1e-5, 1e-6
"""[s] of central differences; and what they leave of accelerations of some 10 m/s^2."""

SAME = 1e-5
"""[N m] of some 100: the programme keeps its equations to 1e-10 and has weights from 1e-3 to 1e5."""

FRICTION = 0.5
LIMB = "left foot"


@pytest.fixture(scope="module")
def moving():
    """A figure in a posture of no symmetry that moves, and its view."""
    m = figures.human40()
    s, rng = m.state(), np.random.default_rng(7)
    figures.take_posture(s, "squatting")
    s = s.integrate(0.1 * rng.standard_normal(m.n_v))
    s.v = rng.standard_normal(m.n_v)
    body = WholeBody(m, FRICTION)
    body.look(s.q, s.v)
    return m, s, body


def moved(s, dt):
    """The state after a time at constant joint velocities."""
    found = s.integrate(dt * s.v)
    found.v = s.v
    return found


def test_points_move_as_their_rows_say(moving):
    """J v is the velocity of a point, and its bias the acceleration at constant joint velocities."""
    m, s, body = moving
    at = np.array([(0.1, -0.03, -0.05), (-0.05, 0.02, 0.0)])
    points = body.points(LIMB, at)
    before, here, after = (np.array([vc.pose(m, moved(s, dt), LIMB) @ p for p in at]) for dt in (-STEP, 0.0, STEP))
    assert np.abs(body.places(LIMB, at) - here).max() < 1e-12
    assert np.abs(points.J @ s.v - points.velocity).max() < 1e-12
    assert np.abs((after - before) / (2 * STEP) - points.velocity).max() < ROUGH
    speeds = [np.array([vc.velocity(m, moved(s, dt), LIMB, p)[3:] for p in at]) for dt in (-STEP, STEP)]
    assert np.abs((speeds[1] - speeds[0]) / (2 * STEP) - points.bias).max() < ROUGH


def test_the_centre_of_mass_and_links_get_what_they_want(moving):
    """Accelerations that meet a task give the centre of mass and a link the course's acceleration, and the feedback."""
    m, s, body = moving
    rest = Course(np.zeros(3), np.zeros(3), np.array([1.0, 2.0, 3.0]))
    task = body.lead_center(rest, Gains(10.0, 5.0, 1.0))
    a = np.linalg.lstsq(task.J, task.wanted, rcond=None)[0]
    center = [vc.momentum(m, moved(s, dt)) for dt in (-STEP, STEP)]
    mass = sum(link.inertia.mass for link in m.links)
    drift = (center[1].linear - center[0].linear) / (2 * STEP) / mass
    here = vc.momentum(m, s)
    wanted = rest.acceleration - 10.0 * here.about - 5.0 * here.linear / mass
    assert np.abs(task.J @ a + drift - wanted).max() < ROUGH
    turn = body.turn(LIMB, Course(vc.pose(m, s, LIMB).R, np.zeros(3), np.zeros(3)), Gains(10.0, 5.0, 1.0))
    a = np.linalg.lstsq(turn.J, turn.wanted, rcond=None)[0]
    turning = [vc.velocity(m, moved(s, dt), LIMB)[:3] for dt in (-STEP, STEP)]
    found = turn.J @ a + (turning[1] - turning[0]) / (2 * STEP)
    assert np.abs(found + 5.0 * vc.velocity(m, s, LIMB)[:3]).max() < ROUGH


def test_torques_are_those_of_the_whole_programme(moving):
    """The problem in forces alone gives what a programme in all accelerations and forces gives, cones at work."""
    m, s, body = moving
    bearing = [
        body.points(f"{side} foot", sole_points(m, side), cost) for side, cost in (("left", 1.0), ("right", 20.0))
    ]
    aside = Course(
        body.center + np.array([0.0, 0.3, 0.0]), np.zeros(3), np.array([0.0, 8.0, 0.0])
    )  # more than friction has
    still = Course(s.q.copy(), np.zeros(m.n_v), np.zeros(m.n_v))
    tasks = [
        body.lead_center(aside, Gains(10.0, 5.0, 50.0)),
        body.take_posture(still, Gains(50.0, 10.0, 1.0), np.linspace(0.5, 2.0, m.n_v)),
        *(body.rest(points, Gains(0.0, 20.0, 1e3)) for points in bearing),
    ]
    tau = body.torques(tasks, bearing)
    G, costs = body._edges_of(bearing)
    n, k = G.shape
    J = np.concatenate([task.J for task in tasks])
    weight = np.concatenate([np.broadcast_to(task.weight, len(task.J)) for task in tasks])
    wanted = np.concatenate([task.wanted for task in tasks])
    H = np.zeros((n + k, n + k))
    H[:n, :n], H[n:, n:] = (J.T * weight) @ J, whole_body._EASY * np.diag(costs)
    f = np.concatenate([-(J.T * weight) @ wanted, np.zeros(k)])
    A = np.concatenate([body.M[:6], -G[:6]], axis=1)
    bounds = np.concatenate([np.full(n, -1e30), np.zeros(k)]), np.full(n + k, 1e30)
    z = solve_programme(H, f, A, (-body.bias[:6], -body.bias[:6]), "tests", bounds, n_equalities=6)
    assert z is not None and np.count_nonzero(z[n:] < 1e-6) > 4  # edges that the problem does not use
    expected = body.M @ z[:n] + body.bias - G @ z[n:]
    assert np.abs(expected[:6]).max() < SAME and not tau[:6].any()
    assert np.abs(tau - expected)[6:].max() < SAME


def test_without_ground_nothing_is_borne(moving):
    """A figure in the air falls as gravity says, whatever its tasks want of the centre of mass."""
    m, s, body = moving
    up = Course(body.center + np.array([0.0, 0.0, 1.0]), np.zeros(3), np.zeros(3))
    still = Course(s.q.copy(), np.zeros(m.n_v), np.zeros(m.n_v))
    tasks = [
        body.lead_center(up, Gains(10.0, 5.0, 50.0)),
        body.take_posture(still, Gains(50.0, 10.0, 1.0), np.ones(m.n_v)),
    ]
    a = vc.forward_dynamics(m, s, body.torques(tasks, [])).a
    task = body.lead_center(Course(body.center, body.center_velocity, m.gravity), Gains(0.0, 0.0, 1.0))
    assert np.abs(task.J @ a - task.wanted).max() < 1e-9


def test_courses_of_joints():
    """Joints have the coordinates, velocities and accelerations of their motion; others stay at zero."""
    m = figures.human40()
    times = np.linspace(0.0, 1.0, 6)
    motion = vc.Motion.sampled(
        times, {"left knee": np.sin(times), "neck": 0.1 * np.sin(times)[:, None] * (1.0, 2.0, 0.5)}
    )
    course, s = JointCourses(m, motion).at(0.37), m.state()
    motion.set_state(m, s, 0.37)
    assert (course.place == s.q).all() and (course.velocity == s.v).all()
    knee = s.layout.slot("left knee").v.start
    assert course.acceleration[knee] == motion.a(0.37)["left knee"]
    assert course.place[s.layout.slot("right knee").q.start] == 0.0
