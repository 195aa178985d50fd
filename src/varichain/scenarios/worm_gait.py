"""Phases of an inchworm's gait, planned in animation space: one end goes where it shall, the other holds on [PFB]."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

import varichain as vc
from varichain.figures.worm import arch
from varichain.mechanism import Fixed, Mechanism
from varichain.scenarios.reach import course_to
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.animation import Plan
    from varichain.layout.state import State

_STEPS = 100  # of the plan of a phase
_FEEDBACK = 30.0  # [1/s] of the functions
_DAMPING = 1e-5
_STIFFNESS, _DECAY = 2000.0, 0.004  # of joints about the plan: in units of mass g length of a segment, and its time [s]


@dataclass(frozen=True)
class Place:
    """Where an end is on the ground: position [m] and heading [rad]."""

    x: float
    y: float
    heading: float

    def ahead(self, way: float, turn: float = 0.0) -> Place:
        """The place so far ahead [m], after a turn [rad]."""
        heading = self.heading + turn
        return Place(self.x + way * math.cos(heading), self.y + way * math.sin(heading), heading)

    def distance(self, x: float, y: float) -> float:
        """Distance of a point [m]."""
        return math.hypot(self.x - x, self.y - y)


class Worm:
    """What the plan knows of a worm: its model, and how it stands.

    Attributes:
        model: A mechanism with this worm alone, as the plan believes it to be.
        prefix: Of its names.
        span: Of its arch before a stride [m].
        lift: Of the front end above the ground, at the middle of a stride [m].
        shape: Numbers of joints whose pitch is kept to that of an arch.
    """

    def __init__(
        self, model: Mechanism, prefix: str, span: float, lift: float, shape: tuple[int, ...], duration: float
    ) -> None:
        """Take a model and a gait."""
        self.model, self.prefix, self.span, self.lift, self.shape = model, prefix, span, lift, shape
        self.duration = duration
        self.n = sum(link.name.startswith(f"{prefix}segment ") for link in model.links)
        self.length = float(model.link(f"{prefix}segment 2").at.p[0])
        self.radius = float(model.link(f"{prefix}segment 1").shapes[0].radius)  # type: ignore[attr-defined]
        self.weight = model.link(f"{prefix}segment 1").inertia.mass * 9.81 * self.length  # [N m]
        self.joints = [f"{prefix}joint {i}" for i in range(1, self.n)]

    def link(self, end: str) -> str:
        """Link of an end, "rear" or "front"."""
        return f"{self.prefix}segment {1 if end == 'rear' else self.n}"

    def state(self, s: State) -> State:
        """State of the model as the worm is in another state, at rest."""
        own = self.model.state()
        own.time = s.time
        for slot in own.layout.slots:
            own._q[slot.q] = s._q[s.layout.slot(slot.name).q]
        return own

    def place(self, s: State, end: str) -> Place:
        """Where an end is in a state of the model."""
        p = vc.pose(self.model, s, self.model.frame(f"{self.prefix}{end}")).p
        R = vc.pose(self.model, s, self.link(end)).R
        return Place(float(p[0]), float(p[1]), math.atan2(R[1, 0], R[0, 0]))

    def phase(self, s: State, moving: str, goal: Place, span: float, steps: int = _STEPS) -> Plan:
        """Plan of a phase in which one end moves to a place on the ground and the other holds on.

        Args:
            s: State of the model, at rest.
            moving: "front" or "rear".
            goal: Where it shall be at the end.
            span: Of the arch at the end [m].
            steps: Of the plan.
        """
        an = vc.animation
        still, start = "rear" if moving == "front" else "front", self.place(s, moving)
        m, own = self.model.copy(), s.copy()
        m.connect(self.link(still), "ground", Fixed(), state=own, name=f"{self.prefix}{still} hold")
        functions: dict[str, Any] = {
            "end": an.point(f"{self.prefix}{moving}"),
            "turn": an.rotation(
                self.link(moving), seen_from=vc.Frame("ground", Pose((0, 0, 0), rpy=(0, 0, start.heading)))
            ),
        }
        shapes = arch(self.n, self.length, span)
        for i in self.shape:
            joint = f"{self.prefix}joint {i}"
            pitch = course_to(own[joint].q[:1], shapes[i - 1 : i], self.duration)
            functions[f"shape {i}"] = (an.coordinate(joint, "angle1") - an.given(_number(_later(pitch, s.time)))) ** 2
        functions["posture"] = an.posture(m, self.joints)
        space = vc.AnimationSpace(m, functions)
        here, there = (np.array([of.x, of.y, self.radius]) for of in (start, goal))
        turn = math.remainder(goal.heading - start.heading, 2.0 * math.pi)
        lift = self.lift if moving == "front" else 0.0
        bend = math.remainder(goal.heading - self.place(s, still).heading, 2.0 * math.pi) * (
            1 if moving == "front" else -1
        )
        posture = np.column_stack([shapes, np.full(self.n - 1, bend / (self.n - 1))]).ravel()
        tracks = {
            "end": _Lifted(_later(course_to(here, there, self.duration), s.time), s.time, self.duration, lift),
            "turn": _later(course_to(np.zeros(3), np.array([0.0, 0.0, turn]), self.duration), s.time),
            "posture": _later(
                course_to(np.concatenate([own[name].q for name in self.joints]), posture, self.duration), s.time
            ),
        }
        hold = [f"shape {i}" for i in self.shape]
        how = an.Resolution(damping=_DAMPING, priorities=[["end", "turn"], ["posture"]], hold=hold, gain=_FEEDBACK)
        tracker = an.Tracker(space, tracks, how, feedback=_FEEDBACK)
        return an.plan(tracker, own, s.time + self.duration, self.duration / steps)

    def controllers(self, plan: Plan) -> list[Any]:
        """Torque functions of a plan, and springs with dampers of the joints about it."""
        times, places = plan.times, {slot.name: slot for slot in plan.states[0].layout.slots}
        q, tau = np.array([s.q for s in plan.states]), plan.tau
        torques = {name: tuple(tau[:, places[name].v].T) for name in self.joints}
        motion = vc.Motion.sampled(times, {name: tuple(q[:, places[name].q].T) for name in self.joints}, ends="clamped")
        stiffness = _STIFFNESS * self.weight
        return [
            vc.Torques(vc.TimeFunctions.sampled(times, torques, ends="not-a-knot")),
            vc.PD(motion, stiffness, _DECAY * stiffness),
        ]


class _Lifted:
    """A course whose height has a hump in its middle."""

    def __init__(self, course: Any, begins: float, duration: float, height: float) -> None:
        from numpy.polynomial import Polynomial

        x = Polynomial([-begins / duration, 1.0 / duration])
        hump = height * 64.0 * (x * (1.0 - x)) ** 3
        self._course, self._humps = course, [hump, hump.deriv(), hump.deriv(2)]
        self._begins, self._ends = begins, begins + duration

    def __call__(self, t: float, nu: int = 0) -> Array:
        at: Array = np.array(self._course(t, nu))
        if self._begins < t < self._ends:
            at[2] += self._humps[nu](t)
        return at


def _later(course: Any, t: float) -> Any:
    """The same course, from a time on."""
    return type(course)(course.c, course.x + t)


def _number(course: Any) -> Any:
    """The one number of a course."""
    return type(course)(course.c[..., 0], course.x)
