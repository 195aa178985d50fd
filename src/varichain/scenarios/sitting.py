"""Sitting down and standing up by contact: a way that surfaces can bear, and torques that keep to it.

On the way down the centre of mass stays above the soles, by the trunk's leaning forward, until the thighs are on the
seat. Only then does the trunk lean back, and the seat takes the weight. Standing up is the same backward.
"""

from __future__ import annotations

from math import cos, radians, sin
from typing import TYPE_CHECKING

import numpy as np

import varichain as vc
from varichain import figures
from varichain.scenarios.reach import course_to
from varichain.scenarios.whole_body import Course

if TYPE_CHECKING:
    from scipy.interpolate import CubicSpline

    from varichain.layout.state import State
    from varichain.mechanism import Mechanism
    from varichain.motion import Motion
    from varichain.spatial.arrays import Array

SIDES = ("left", "right")
_SHANK, _THIGH = radians(20.0), radians(8.0)  # of shanks from the vertical and of thighs from the level, on the seat
_BALANCE, _LEANING_BALANCE = 0.045, 0.01  # [m] that the centre of mass is ahead of the ankles, standing and leaning
_FORWARD = 0.14  # [m] that it is ahead of the hips of one who sits
_BENT, _SINK = 0.3, 0.02  # [rad] of elbows and knees that stand; part of its height by which the pelvis is lower
_EARLY = 1.6  # power of what is left of its way by which the pelvis goes back: early, so that ankles need not bend more
_ARMS, _FOREARMS = radians(-25.0), radians(55.0)  # of one who sits: hands are above the thighs
_DOWN, _BACK = 25, 13  # configurations on the way down, and while the trunk leans back
_BEFORE, _LEANING, _SITTING, _AFTER = 0.3, 1.0, 1.0, 1.0  # [s] standing, leaning back or forward, at rest, standing
_FIRST_STEPS, _STEPS = 60, 5  # of Newton
_IMPORTANCE = {"center": 0.3, "gaze": 0.02, "posture": 0.003}


class Way:
    """Configurations from standing to sitting and back, and when each is taken.

    Attributes:
        motion: Of all joints, the root among them, over time.
        start: The first configuration.
        sits, rises: When the thighs come on the seat, and when they leave it [s].
        end: When the figure has stood again for a while [s].
        seat: Middle of the thighs' undersides on the seat (3,) [m].
    """

    def __init__(self, m: Mechanism, pace: float) -> None:
        """Plan the way of a figure; `pace` is the duration of going down, and of going up [s]."""
        states = _planned(m)
        self.start, touching = states[0], states[_DOWN - 1]
        self.seat: Array = np.mean([vc.pose(m, touching, f"{side} seat").p for side in SIDES], axis=0)
        self.sits = _BEFORE + pace
        self.rises = self.sits + 2.0 * _LEANING + _SITTING
        self.end = self.rises + pace + _AFTER
        times, knots = self._timed(pace)
        self.motion = _moved(times, [states[i] for i in knots])
        centers = np.array([vc.momentum(m, s).about for s in states])
        self._centers = _spline(times, centers[knots])

    def center(self, t: float) -> Course:
        """Course of the centre of mass at a time [s]."""
        if t >= self._centers.x[-1]:
            return Course(self._centers(self._centers.x[-1]), np.zeros(3), np.zeros(3))
        return Course(self._centers(t), self._centers(t, 1), self._centers(t, 2))

    def _timed(self, pace: float) -> tuple[Array, list[int]]:
        """Times of knots, and which configuration each is: down, back, at rest, forward, up, and at rest."""
        last = _DOWN + _BACK - 2
        down, back = range(_DOWN), range(_DOWN, last + 1)
        still = self.sits + _LEANING + np.array([0.1, 0.3, 0.7, 0.9]) * _SITTING
        times = [
            np.array([0.0, 0.1, 0.2]) / 0.3 * _BEFORE,
            _BEFORE + np.linspace(0.0, pace, _DOWN),
            self.sits + np.linspace(0.0, _LEANING, _BACK)[1:],
            still,
            self.rises - np.linspace(_LEANING, 0.0, _BACK),
            self.rises + np.linspace(0.0, pace, _DOWN)[1:],
            self.rises + pace + np.array([0.1, 0.3, 1.0]),
        ]
        forward = [*reversed(back), _DOWN - 1]
        knots = [*[0] * 3, *down, *back, *[last] * 4, *forward, *reversed(range(_DOWN - 1)), *[0] * 3]
        return np.concatenate(times), knots


def _planned(m: Mechanism) -> list[State]:
    """Configurations from standing, through leaning with the thighs on the seat, to sitting."""
    space = _space(m)
    s, leaning, sitting = m.state(), m.state(), m.state()  # the figure stands at zero, its ankles at x = 0
    figures.take_posture(leaning, "squatting")
    leaning["neck"].orientation = (0.0, 0.0, 0.0)  # its gaze bends it, not to the end of its range
    figures.take_posture(sitting, "sitting")
    for side in SIDES:
        s[f"{side} elbow"].q, sitting[f"{side} elbow"].q = _BENT, _FOREARMS
        sitting[f"{side} shoulder"].orientation = (0.0, _ARMS, 0.0)
    start, middle, end = (space.value(state) for state in (s, leaning, sitting))
    for side in SIDES:
        s[f"{side} knee"].q = _BENT  # so that it can bend: a straight leg does not know where to
    pelvis, center = space.slices["pelvis"], space.slices["center"]
    for u in (middle, end):
        for name in ("soles", "flat"):
            u[space.slices[name]] = start[space.slices[name]]
        u[pelvis] = _hips(m)
    start[pelvis][2] *= 1.0 - _SINK
    start[center], middle[center] = (_BALANCE, 0.0), (_LEANING_BALANCE, 0.0)
    end[center] = _hips(m)[0] + _FORWARD, 0.0
    handle = vc.animation.PreparedSpace(space, _IMPORTANCE, within=1.0)
    s = _near(handle, s, start, _FIRST_STEPS)
    course = _smooth(_DOWN)[:, None] * np.ones(len(space))
    course[:, pelvis.start] = 1.0 - (1.0 - course[:, 0]) ** _EARLY
    down = _led(handle, s, start + course * (middle - start))
    return [*down, *_led(handle, down[-1], middle + _smooth(_BACK)[1:, None] * (end - middle))]


def _space(m: Mechanism) -> vc.AnimationSpace:
    """What sitting down is about."""
    an = vc.animation
    functions = {
        "soles": an.stack([an.point(f"{side} sole") for side in SIDES]),
        "flat": an.stack([an.rotation(f"{side} sole") for side in SIDES]),
        "pelvis": an.point("pelvis"),
        "center": an.center_of_mass()[:2],
        "gaze": an.direction("head", "x")[2],
        "posture": an.posture(m, [str(joint.name) for joint in m.joints if joint.n_v and joint.kind != "free"]),
    }
    return vc.AnimationSpace(m, functions)


def _hips(m: Mechanism) -> Array:
    """Where the middle of the hips is when the thighs are on the seat (3,) [m], from below the ankles."""
    thigh, shank = (-float(m.link(f"left {part}").at.p[2]) for part in ("shank", "foot"))
    foot = -float(m.frame("left sole").at.p[2])
    return np.array([shank * sin(_SHANK) - thigh * cos(_THIGH), 0.0, foot + shank * cos(_SHANK) + thigh * sin(_THIGH)])


def _near(handle: vc.animation.PreparedSpace, s: State, target: Array, steps: int) -> State:
    """Configuration near a state in which functions have targets, as well as they can."""
    handle.target[:] = target
    for _ in range(steps):
        s = s.integrate(handle.approach(s.q))
    return s


def _led(handle: vc.animation.PreparedSpace, s: State, targets: Array) -> list[State]:
    """Configurations for targets that follow each other."""
    found = []
    for target in targets:
        s = _near(handle, s, target, _STEPS)
        found.append(s)
    return found


def _smooth(n: int) -> Array:
    """Parts of a way (n,), from rest to rest."""
    found: Array = course_to(np.zeros(1), np.ones(1), 1.0)(np.linspace(0.0, 1.0, n))[:, 0]
    return found


def _moved(times: Array, states: list[State]) -> Motion:
    """Motion of all joints through configurations."""
    samples = {}
    for slot in states[0].layout.slots:
        if slot.coordinates:
            q = np.array([s.q[slot.q] for s in states])
            samples[slot.name] = q if slot.has_quaternion else q[:, 0]
    return vc.Motion.sampled(times, samples, ends="clamped")


def _spline(times: Array, values: Array) -> CubicSpline:
    """Curves through values, at rest at both ends."""
    from scipy.interpolate import CubicSpline

    return CubicSpline(times, values, bc_type="clamped")
