"""Torques by which a figure sits down and stands up, borne by floor and seat alone."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from varichain.mechanism import Box, ContactPoint
from varichain.scenarios.sitting import SIDES
from varichain.scenarios.whole_body import Course, Gains, JointCourses, Points, Task, WholeBody

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism import Mechanism
    from varichain.scenarios.sitting import Way
    from varichain.spatial.arrays import Array

_FRICTION, _RELIED = 0.8, 0.5  # coefficients of floor and seat, and what the torques rely on
_INSIDE, _HALF = 0.01, 0.035  # [m] of the points under a sole: from its ends, and from its middle line
_TOUCHES, _LIFTED = 1e-5, 1e-3  # [m] above the seat below which a thigh is on it; above the floor, a sole
_TAKES = 0.4  # [s] in which the seat takes the load, and gives it back
_HARD, _RELAXED = 1e6, 10.0  # costs of forces: on a seat that bears nothing yet, on the feet of one who sits
_LARGEST = 5.0  # [N m/kg], torque of a joint
_LEAST = 1e-3  # weight of the root's place and orientation, which follow from the rest
_STAY, _CENTER = Gains(0.0, 40.0, 1e5), Gains(100.0, 20.0, 1e2)
_TOUCH, _POSTURE = Gains(400.0, 40.0, 1e3), Gains(100.0, 20.0, 1.0)


def add_contacts(m: Mechanism) -> None:
    """Let the soles of a figure touch the floor, and its thighs the seat of a chair."""
    m.add_floor(friction=_FRICTION, touched_by=[f"{side} foot" for side in SIDES])
    board = next(shape for shape in m.link("chair").shapes if isinstance(shape, Box))  # its first
    m.add_surface("seat", "chair", board, friction=_FRICTION, touched_by=[f"{side} thigh" for side in SIDES])
    for side in SIDES:
        m.set_contact_shapes(f"{side} foot", [ContactPoint(p) for p in sole_points(m, side)])
        m.set_contact_shapes(f"{side} thigh", ContactPoint(m.frame(f"{side} seat").at.p))


def sole_points(m: Mechanism, side: str) -> Array:
    """Points of a foot that touch the floor (4, 3) [m], in its frame: two at the heel, two at the toes."""
    heel, toe = (m.frame(f"{side} {end}").at.p for end in ("heel", "toe"))
    back, front, middle = heel[0] + _INSIDE, toe[0] - _INSIDE, heel[1]
    return np.array([(x, middle + y, heel[2]) for x in (back, front) for y in (-_HALF, _HALF)])


class Sitter:
    """Controller that follows a `Way`: torques that depend on time and state alone."""

    def __init__(self, m: Mechanism, way: Way) -> None:
        """Get ready for a figure with its contacts."""
        self._way, self._body, self._joints = way, WholeBody(m, _RELIED), JointCourses(m, way.motion)
        self._feet = {f"{side} foot": sole_points(m, side) for side in SIDES}
        self._thighs = {f"{side} thigh": m.frame(f"{side} seat").at.p for side in SIDES}
        self._largest = _LARGEST * sum(link.inertia.mass for link in m.links)
        self._weights = np.concatenate([np.full(6, _LEAST), np.ones(m.n_v - 6)])

    def __call__(self, m: Mechanism, s: State) -> Array:
        """Torques (n_v,) at an instant."""
        body, t = self._body, s.time
        body.look(s.q, s.v)
        load = min(max(min(t - self._way.sits, self._way.rises - t) / _TAKES, 0.0), 1.0)
        bearing = [body.points(link, self._down(link), _RELAXED**load) for link in self._feet]
        tasks = [
            body.lead_center(self._way.center(t), _CENTER),
            body.take_posture(self._joints.at(t), _POSTURE, self._weights),
        ]
        if load > 0.0:
            seated, coming = self._on_seat(_HARD ** (1.0 - load))
            bearing, tasks = bearing + seated, tasks + coming
        tasks += [body.rest(points, _STAY) for points in bearing]
        return np.clip(body.torques(tasks, bearing), -self._largest, self._largest)

    def _down(self, foot: str) -> Array:
        """Points of a sole that are on the floor."""
        points = self._feet[foot]
        return points[self._body.places(foot, points)[:, 2] < _LIFTED]

    def _on_seat(self, cost: float) -> tuple[list[Points], list[Task]]:
        """Thighs that bear on the seat, at a cost of forces, and tasks for those that are still above it."""
        body, bearing, tasks = self._body, [], []
        for link, point in self._thighs.items():
            x, y, z = body.places(link, point[None])[0]
            if z - self._way.seat[2] < _TOUCHES:
                bearing.append(body.points(link, point[None], cost))
            else:
                down = Course(np.array([x, y, self._way.seat[2]]), np.zeros(3), np.zeros(3))
                tasks.append(body.lead_point(link, point, down, _TOUCH))
        return bearing, tasks
