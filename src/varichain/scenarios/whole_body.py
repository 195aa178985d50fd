"""Torques of a whole figure on contacts: what its tasks want, as far as surfaces can bear it.

Tasks want accelerations, J a = wanted, with weights W. By themselves they would agree on a0, of least
(J a - wanted)^T W (J a - wanted). But the free root has no motor: its six rows M_r a + bias_r = G_r x are borne by
forces x >= 0 along the edges of pyramids inside the cones of friction. Of all accelerations that can be borne, those
nearest to a0 follow from a small problem in x alone, in the metric of the tasks, H = J^T W J, S = M_r H^-1 M_r^T:

    least (G_r x - c)^T S^-1 (G_r x - c) + costs x^2,   c = M_r a0 + bias_r,   x >= 0

Non-negative least squares solve it [Lawson and Hanson 1974]; the torques are those of inverse dynamics.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from varichain.spatial.rotation import rotation_vector_from_matrix

if TYPE_CHECKING:
    from varichain.mechanism import Mechanism
    from varichain.motion import Motion
    from varichain.spatial.arrays import Array

_EASY = 1e-6  # cost of the square of a force [N^2]: how contacts share a load that is not determined
_ROOT = slice(0, 6)  # freedoms of the free root, [angular; linear] in the axes of its link


class Task(NamedTuple):
    """Accelerations that are wanted: J a = wanted, with the weights of the rows."""

    J: Array
    wanted: Array
    weight: Array | float


class Gains(NamedTuple):
    """Stiffness [1/s^2], damping [1/s] and weight of a task."""

    stiffness: float
    damping: float
    weight: float


class Course(NamedTuple):
    """Where something should be now, its velocity and its acceleration."""

    place: Array
    velocity: Array
    acceleration: Array


class Points(NamedTuple):
    """Points of a link: their Jacobians (k, 3, n_v), accelerations without joint accelerations and velocities (k, 3).

    `cost` is that of forces which press on them.
    """

    J: Array
    bias: Array
    velocity: Array
    cost: float


class JointCourses:
    """Courses of all joints of a motion, in the coordinates of a structure."""

    def __init__(self, m: Mechanism, motion: Motion) -> None:
        """Get ready for a structure; joints without a motion stay at zero."""
        from varichain.layout.layout import layout_of

        self._channels, self._table = motion.packed(layout_of(m))
        self._q, self._n_v = m.state().q.copy(), m.n_v

    def at(self, t: float) -> Course:
        """Coordinates (n_q,), velocities and accelerations (n_v,) at a time [s]."""
        q, v, a = self.many(np.array([t]))
        return Course(q[0], v[0], a[0])

    def many(self, times: Array) -> Course:
        """The same (n, n_q) and (n, n_v) at many times (n,)."""
        from varichain.kernels.motion import evaluate

        n = len(times)
        q, v, a = np.tile(self._q, (n, 1)), np.zeros((n, self._n_v)), np.zeros((n, self._n_v))
        evaluate(self._channels, self._table, times, q, v, a)
        return Course(q, v, a)


class WholeBody:
    """A figure with a free root at an instant: `look` first, then ask for tasks, and for torques."""

    def __init__(self, m: Mechanism, friction: float) -> None:
        """Get ready for a structure; `friction` is the coefficient that is relied on."""
        self._handle = h = m.prepare()
        n, self.revision = h.n_v, h.revision
        self._root = next(link.name for link in m.links if link.joint is not None and link.joint.kind == "free")
        self._gravity = m.gravity.copy()
        edges = ((friction, 0.0, 1.0), (-friction, 0.0, 1.0), (0.0, friction, 1.0), (0.0, -friction, 1.0))
        self._edges = np.array(edges).T
        self.M, self.bias, self.center = np.zeros((n, n)), np.zeros(n), np.zeros(3)
        self._J_center, self._away, self._origin = np.zeros((3, n)), np.zeros(n), np.zeros(3)
        self._R, self._p, self._V = np.zeros((h.n_links, 9)), np.zeros((h.n_links, 3)), np.zeros((h.n_links, 6))
        self._J, self._bias, self._eye = np.zeros((6, n)), np.zeros(6), np.eye(n)

    def look(self, q: Array, v: Array) -> None:
        """Take a configuration and velocities."""
        h = self._handle
        self.q, self.v = q, v
        h.mass_matrix(q, self.M)
        h.bias_force(q, v, self.bias)
        h.poses(q, self._R, self._p)
        h.velocities(q, v, self._V)
        h.center_of_mass(q, self.center)
        h.center_of_mass_jacobian(q, self._J_center)

    @property
    def center_velocity(self) -> Array:
        """Velocity of the centre of mass (3,) [m/s]."""
        found: Array = self._J_center @ self.v
        return found

    def orientation(self, link: str) -> Array:
        """Orientation of a link in the world (3, 3)."""
        found: Array = self._R[self._handle.links[link]].reshape(3, 3)
        return found

    def places(self, link: str, points: Array) -> Array:
        """World positions (k, 3) [m] of points of a link."""
        found: Array = self._p[self._handle.links[link]] + points @ self.orientation(link).T
        return found

    def points(self, link: str, points: Array, cost: float = 1.0) -> Points:
        """Motion of points (k, 3) [m] of a link."""
        row = self._handle.links[link]
        J, bias, V = self._J, self._bias, self._V[row]
        self._handle.jacobian(self.q, row, self._origin, J)
        self._handle.bias_acceleration(self.q, self.v, row, self._origin, bias)
        r = points @ self.orientation(link).T
        spin = _crosses(V[None, :3])[0]
        rates = _crosses(bias[None, :3])[0] + spin @ spin
        return Points(J[3:] - _crosses(r) @ J[:3], bias[3:] + r @ rates.T, V[3:] + r @ spin.T, cost)

    # Tasks

    def lead_center(self, course: Course, gains: Gains) -> Task:
        """The centre of mass follows a course."""
        own = self.orientation(self._root) @ self.bias[3:6] / self.M[3, 3] + self._gravity
        wanted = _feedback(course, self.center, self.center_velocity, gains)
        return Task(self._J_center, wanted - own, gains.weight)

    def lead_point(self, link: str, point: Array, course: Course, gains: Gains) -> Task:
        """A point of a link follows a course."""
        at = self.points(link, point[None])
        wanted = _feedback(course, self.places(link, point[None])[0], at.velocity[0], gains)
        return Task(at.J[0], wanted - at.bias[0], gains.weight)

    def turn(self, link: str, course: Course, gains: Gains) -> Task:
        """A link turns along a course of orientations (3, 3), with angular velocities and accelerations."""
        row = self._handle.links[link]
        self._handle.jacobian(self.q, row, self._origin, self._J)
        self._handle.bias_acceleration(self.q, self.v, row, self._origin, self._bias)
        off = rotation_vector_from_matrix(course.place @ self.orientation(link).T)
        rate = course.velocity - self._V[row, :3]
        wanted = course.acceleration + gains.stiffness * off + gains.damping * rate
        return Task(self._J[:3].copy(), wanted - self._bias[:3], gains.weight)

    def take_posture(self, course: Course, gains: Gains, weights: Array) -> Task:
        """Joints follow a motion: coordinates (n_q,), velocities and accelerations (n_v,); weights are of freedoms."""
        self._handle.difference(self.q, course.place, self._away)
        rate = course.velocity - self.v
        wanted = course.acceleration + gains.stiffness * self._away + gains.damping * rate
        return Task(self._eye, wanted, gains.weight * weights)

    def rest(self, points: Points, gains: Gains) -> Task:
        """Points that bear stay where they are."""
        wanted = -points.bias - gains.damping * points.velocity
        return Task(points.J.reshape(-1, len(self.v)), wanted.reshape(-1), gains.weight)

    # Torques

    def torques(self, tasks: Sequence[Task], bearing: Sequence[Points]) -> Array:
        """Torques (n_v,) of the joints for what the tasks want, as far as the points can bear it."""
        from scipy.linalg import cho_factor, cho_solve
        from scipy.optimize import nnls

        weighted = [task.J.T * task.weight for task in tasks]
        H = np.sum([part @ task.J for part, task in zip(weighted, tasks, strict=True)], axis=0)
        g = np.sum([part @ task.wanted for part, task in zip(weighted, tasks, strict=True)], axis=0)
        M_r = self.M[_ROOT]
        found = cho_solve(cho_factor(H, lower=True), np.column_stack([g, M_r.T]))
        a, across = found[:, 0], found[:, 1:]
        lacking = M_r @ a + self.bias[_ROOT]
        L = np.linalg.cholesky(M_r @ across)
        borne = np.zeros(len(g))
        G, costs = self._edges_of(bearing)
        if len(costs):  # scipy ends the process over a problem without unknowns
            # not scipy's solve_triangular: over six equations its threads wait for milliseconds on a busy machine
            scaled = np.linalg.solve(L, np.column_stack([G[_ROOT], lacking]))
            A = np.concatenate([scaled[:, :-1], np.diag(np.sqrt(_EASY * costs))])
            b = np.concatenate([scaled[:, -1], np.zeros(len(costs))])
            borne = G @ nnls(A, b)[0]
        a = a + across @ cho_solve((L, True), borne[_ROOT] - lacking)
        tau: Array = self.M @ a + self.bias - borne
        tau[_ROOT] = 0.0
        return tau

    def _edges_of(self, bearing: Sequence[Points]) -> tuple[Array, Array]:
        """Generalized forces (n_v, m) of unit forces along the edges of all pyramids, and their costs (m,)."""
        edges = [(J.T @ self._edges) for points in bearing for J in points.J]
        costs = [points.cost for points in bearing for _ in range(len(points.J) * self._edges.shape[1])]
        return np.concatenate([np.zeros((len(self.v), 0)), *edges], axis=1), np.array(costs)


def _feedback(course: Course, place: Array, velocity: Array, gains: Gains) -> Array:
    """Acceleration that leads back to a course."""
    rate = course.velocity - velocity
    found: Array = course.acceleration + gains.stiffness * (course.place - place) + gains.damping * rate
    return found


def _crosses(r: Array) -> Array:
    """Matrices (k, 3, 3) of the cross products with vectors (k, 3)."""
    found = np.zeros((len(r), 3, 3))
    found[:, 2, 1], found[:, 0, 2], found[:, 1, 0] = r.T
    found[:, 1, 2], found[:, 2, 0], found[:, 0, 1] = -r.T
    return found
