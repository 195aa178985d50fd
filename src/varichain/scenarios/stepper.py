"""Torques by which a figure walks on its feet alone, along a balanced gait."""

from __future__ import annotations

from math import cos, sin
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varichain.mechanism import ContactPoint
from varichain.scenarios.balancing import LEAD, motion_of, samples_of
from varichain.scenarios.whole_body import Course, Gains, JointCourses, Points, Task, WholeBody

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

    from varichain.layout.state import State
    from varichain.mechanism import Mechanism
    from varichain.scenarios.balanced_gait import BalancedGait
    from varichain.spatial.arrays import Array

SIDES = ("left", "right")
_FRICTION, _RELIED = 0.8, 0.5  # coefficients of the floor, and what the torques rely on
_HEEL, _TOES = 0.03, (0.028, 0.038)  # [m] of points from the middle: of the heel aside, of the toes ahead and aside
_TOUCHES, _PRESS = 1e-4, 5e-3  # [m] below which a point touches; below the floor, where those that should are led
_LARGEST, _LARGEST_OF_TOES = 5.0, 0.5  # [N m/kg], torques of joints
_FALLEN = 0.8  # part of its height below which the centre of mass has fallen: the figure gives up, and is limp
_LEAST, _OF_TOES = np.array([5.0, 5.0, 5.0, 1e-3, 1e-3, 1e-3]), 30.0  # weights of root and toes in the posture
_STAY, _CENTER, _POSTURE = Gains(0.0, 40.0, 1e5), Gains(100.0, 20.0, 1e2), Gains(150.0, 25.0, 1.0)
_FOOT, _TURN, _DOWN = Gains(900.0, 60.0, 1e3), Gains(900.0, 60.0, 1e2), Gains(400.0, 40.0, 1e3)


class _Foot(NamedTuple):
    """A foot: its links, the points of each that may touch the floor (k, 3) [m], and its course."""

    link: str
    toes: str
    heel_points: Array
    toe_points: Array
    course: CubicSpline


def add_contacts(m: Mechanism) -> None:
    """Let a figure touch the floor: with heels and toes, and with all the rest if it falls."""
    m.add_floor(friction=_FRICTION)
    for side in SIDES:
        for link, points in ((f"{side} foot", heel_points(m, side)), (f"{side} toes", toe_points())):
            m.set_contact_shapes(link, [ContactPoint(p) for p in points])


def heel_points(m: Mechanism, side: str) -> Array:
    """Points of a foot's heel (2, 3) [m], in the foot's frame."""
    x, y, z = m.frame(f"{side} heel").at.p
    return np.array([(x, y - _HEEL, z), (x, y + _HEEL, z)])


def toe_points() -> Array:
    """Points under the toes (3, 3) [m], in their frame."""
    ahead, aside = _TOES
    return np.array([(-ahead, -aside, 0.0), (-ahead, aside, 0.0), (ahead, 0.0, 0.0)])


class Stepper:
    """Controller that follows a gait: torques that depend on time and state alone."""

    def __init__(self, m: Mechanism, gait: BalancedGait) -> None:
        """Get ready for a figure with its contacts."""
        from scipy.interpolate import CubicSpline

        self._gait, self._body = gait, WholeBody(m, _RELIED)
        times = samples_of(gait)
        self._joints = JointCourses(m, motion_of(gait))
        self._center = CubicSpline(times, self._centers(self._joints.many(times).place), bc_type="clamped")
        self._feet = {side: self._foot(m, side, times) for side in SIDES}
        toes = [m.state().layout.slot(f"{side} toes").v.start for side in SIDES]
        self._weights = np.concatenate([_LEAST, np.ones(m.n_v - 6)])
        self._weights[toes] = _OF_TOES
        self._largest = np.full(m.n_v, _LARGEST)
        self._largest[toes] = _LARGEST_OF_TOES
        self._largest *= sum(link.inertia.mass for link in m.links)

    def start(self, m: Mechanism) -> State:
        """State in which the gait begins, at rest."""
        s = m.state()
        s.q = self._joints.at(-LEAD).place
        return s

    def _centers(self, q: Array) -> Array:
        """Centres of mass (n, 3) of configurations (n, n_q)."""
        found = np.zeros((len(q), 3))
        for i in range(len(q)):
            self._body.look(q[i], np.zeros(len(self._body.bias)))
            found[i] = self._body.center
        return found

    def _foot(self, m: Mechanism, side: str, times: Array) -> _Foot:
        from scipy.interpolate import CubicSpline

        way = [np.append(*self._gait.foot(side, self._gait.phase(t))) for t in times]
        course = CubicSpline(times, np.array(way), bc_type="clamped")
        return _Foot(f"{side} foot", f"{side} toes", heel_points(m, side), toe_points(), course)

    def __call__(self, m: Mechanism, s: State) -> Array:
        """Torques (n_v,) at an instant."""
        body, t = self._body, min(s.time - LEAD, self._gait.end + LEAD)
        body.look(s.q, s.v)
        center = Course(self._center(t), self._center(t, 1), self._center(t, 2))
        if body.center[2] < _FALLEN * center.place[2]:
            return np.zeros(m.n_v)
        tasks = [body.lead_center(center, _CENTER), body.take_posture(self._joints.at(t), _POSTURE, self._weights)]
        bearing: list[Points] = []
        for side, foot in self._feet.items():
            touching, wanted = self._stance(side, foot, t)
            bearing += touching
            tasks += wanted
        tasks += [body.rest(points, _STAY) for points in bearing]
        return np.clip(body.torques(tasks, bearing), -self._largest, self._largest)

    def _stance(self, side: str, foot: _Foot, t: float) -> tuple[list[Points], list[Task]]:
        """Points of a foot that bear at a time, and what is wanted of the rest of it."""
        phase, courses = self._gait.phase(t), [foot.course(t, order) for order in range(3)]
        if not self._gait.is_down(side, phase):
            course = Course(*(x[:3] for x in courses))
            return [], [self._turned(foot, courses), self._body.lead_point(foot.link, np.zeros(3), course, _FOOT)]
        pitch = self._gait.foot(side, phase)[1]
        bearing: list[Points] = []
        tasks: list[Task] = []
        for link, points, is_used in (
            (foot.link, foot.heel_points, pitch <= 0.0),
            (foot.toes, foot.toe_points, pitch >= 0.0),
        ):
            if is_used:
                is_low = self._body.places(link, points)[:, 2] < _TOUCHES
                bearing.append(self._body.points(link, points[is_low]))
                tasks += [self._led_down(link, point) for point in points[~is_low]]
        is_flat = pitch == 0.0 and not tasks
        return bearing, tasks if is_flat else [*tasks, self._turned(foot, courses)]

    def _turned(self, foot: _Foot, courses: list[Array]) -> Task:
        """The foot has the pitch of its course."""
        pitch, *rates = (x[3] for x in courses)
        turned = np.array([[cos(pitch), 0.0, sin(pitch)], [0.0, 1.0, 0.0], [-sin(pitch), 0.0, cos(pitch)]])
        return self._body.turn(foot.link, Course(turned, *(np.array([0.0, rate, 0.0]) for rate in rates)), _TURN)

    def _led_down(self, link: str, point: Array) -> Task:
        """A point that should be on the floor already comes down."""
        x, y, _ = self._body.places(link, point[None])[0]
        task = self._body.lead_point(link, point, Course(np.array([x, y, -_PRESS]), np.zeros(3), np.zeros(3)), _DOWN)
        return Task(task.J[2:], task.wanted[2:], task.weight)
