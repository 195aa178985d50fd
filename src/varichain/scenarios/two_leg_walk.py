"""How two legs walk: the walker steps to where it would otherwise fall.

It is seen as a mass on a leg without mass that keeps a height z: c'' = w^2 (c - p), w^2 = g / z, with the centre of
mass c and the centre of pressure p [Kajita 2001]. Of its motion the part x = c + c' / w, the capture point [Pratt
2006], runs away from the foot: x' = w (x - p), so that it is at p + (x - p) e^(w T) after a step of time T. The next
foot lands beside that, at the offset from which every step is like the last. Meanwhile ankles shift p within the sole,
and the leg that bears has the torques -J^T F of the force F that carries the mass and keeps the trunk upright.
"""

from __future__ import annotations

from math import atan2, exp, pi, sin, sqrt
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from varichain.scenarios.two_legs import ANKLE, ASIDE, MIDDLE, SIDES, STAND, TOES, angles, turned
from varichain.spatial.rotation import rotation_vector_from_matrix

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.mechanism import Mechanism
    from varichain.spatial.arrays import Array
    from varichain.spatial.pose import Pose

FREQUENCY = 1.3  # [Hz], of two steps
_GRAVITY = 9.81  # [m/s^2]
_BEGIN = 0.6  # [s] until the first step: the weight goes to the left foot
_OTHER = {"left": "right", "right": "left"}
_UPRIGHT, _UPRIGHT_RATE = np.array([300.0, 300.0, 60.0]), np.array([30.0, 30.0, 6.0])  # [N m/rad, N m s/rad]
_LARGEST_MOMENT = np.array([25.0, 25.0, 4.0])  # [N m]; a sole bears little about the vertical
_HEIGHT, _HEIGHT_RATE = 200.0, 30.0  # of the centre of mass [1/s^2, 1/s]
_LEAST = 0.2  # of the weight that the ground bears
_SHIFT = np.array([0.05, 0.035])  # [m] by which the centre of pressure may leave the middle of the sole
_ROUGH = 0.6  # coefficient of friction that is relied on
_SWING, _SWING_RATE = np.array([150.0, 150.0, 22.0]), np.array([2.0, 2.0, 0.3])  # of a leg in the air
_LEVEL, _LEVEL_RATE = 20.0, 0.2  # of its ankle
_LARGEST, _LARGEST_OF_ANKLE = 40.0, 10.0  # [N m]
_SHORTER_OR_LONGER, _NARROWEST, _WIDEST = 0.15, 0.11, 0.4  # [m], of steps
_PRESS = 4e-3  # [m] by which a foot that lands reaches below the other
_LANDS, _DOWN = 0.9, 0.95  # parts of a step, after which the foot is over its place, and down


class _Seen(NamedTuple):
    """What the law looks at: poses of trunk and soles, the centre of mass, and velocities.

    The velocity is that of the trunk's middle: those of the legs vibrate, which would shake the law.
    """

    trunk: Pose
    turning: Array
    center: Array
    velocity: Array
    soles: dict[str, Pose]


def _seen(m: Mechanism, s: State) -> _Seen:
    from varichain.dynamics import momentum, pose, velocity

    V = velocity(m, s, "trunk", MIDDLE)
    soles = {side: pose(m, s, f"{side} foot", (TOES, 0.0, -ANKLE)) for side in SIDES}
    return _Seen(pose(m, s, "trunk"), V[:3], momentum(m, s).about, V[3:], soles)


class Walk:
    """Controller of the two-legged walker: torques that depend on time and state alone."""

    def __init__(self, m: Mechanism, s: State, stride: float, frequency: float, lift: float) -> None:
        """Take the way from foot to foot [m], the frequency of two steps [Hz] and the lift of feet [m]."""
        from varichain.dynamics import momentum

        above = max(float(s["trunk"].position[2]) - STAND - ANKLE, 0.0)
        self._mass, self._height = sum(link.inertia.mass for link in m.links), float(momentum(m, s).about[2]) - above
        self._rate, self._step = sqrt(_GRAVITY / self._height), 0.5 / frequency
        self._stride, self._lift = stride, lift
        growth = exp(self._rate * self._step)
        self._offset = np.array([stride / (growth - 1.0), 2.0 * ASIDE / (growth + 1.0)])
        self._lands = s.time + sqrt(2.0 * above / _GRAVITY)
        self._begin = self._lands + _BEGIN
        self._slots = {slot.name: slot.v for slot in s.layout.slots}

    def __call__(self, m: Mechanism, s: State) -> dict[str, Any]:
        """Torques of all joints of the legs."""
        seen = _seen(m, s)
        if s.time < self._lands:
            below = {side: seen.trunk @ np.array([TOES, SIDES[side] * ASIDE, -STAND - ANKLE]) for side in SIDES}
            return self._swing(m, s, seen, "left", below["left"]) | self._swing(m, s, seen, "right", below["right"])
        capture = seen.center[:2] + seen.velocity[:2] / self._rate
        if s.time < self._begin:
            return self._bear_on_both(m, s, seen, capture)
        n, time = divmod(s.time - self._begin, self._step)
        bearing = "left" if n % 2 == 0 else "right"
        towards = np.array([1.0, -SIDES[bearing]])  # ahead, and from this foot to the other
        foot = seen.soles[bearing].p[:2]
        x = towards * (capture - foot)
        pressure = np.clip(x - self._offset * exp(self._rate * time), -_SHIFT, _SHIFT)
        end = pressure + (x - pressure) * exp(self._rate * (self._step - time))
        longest = self._stride + _SHORTER_OR_LONGER
        ahead = min(max(end[0] - self._offset[0], self._stride - _SHORTER_OR_LONGER), longest)
        aside = min(max(end[1] + self._offset[1], _NARROWEST), _WIDEST)
        before = (-self._stride if n > 0 else 0.0, 2.0 * ASIDE)
        reached, lifted = self._swung(time / self._step)
        place = foot + towards * ((1.0 - reached) * np.array(before) + reached * np.array([ahead, aside]))
        goal = np.append(place, seen.soles[bearing].p[2] + lifted)
        force = self._force(seen, foot + towards * pressure, seen.soles[bearing].p[2])
        bears = self._bear(m, s, bearing, force, foot + towards * pressure, _righting(seen)[2])
        return bears | self._swing(m, s, seen, _OTHER[bearing], goal)

    def _swung(self, phase: float) -> tuple[float, float]:
        """Part of its way that a foot in the air has behind it, and its height [m]."""
        u = min(phase / _LANDS, 1.0)
        return u * u * (3.0 - 2.0 * u), self._lift * sin(pi * min(phase / _DOWN, 1.0)) - _PRESS * phase

    def _bear_on_both(self, m: Mechanism, s: State, seen: _Seen, capture: Array) -> dict[str, Any]:
        """Torques that lead the capture point to where the first step begins."""
        left, right = seen.soles["left"].p, seen.soles["right"].p
        middle = 0.5 * (left + right)
        goal = middle[:2] + np.array([0.0, ASIDE - self._offset[1]])
        growth = exp(self._rate * max(self._begin - s.time, 0.02))
        room = np.array([_SHIFT[0], ASIDE])
        pressure = np.clip((goal - capture * growth) / (1.0 - growth), middle[:2] - room, middle[:2] + room)
        share = float(np.clip((pressure[1] - right[1]) / (left[1] - right[1]), 0.0, 1.0))
        force, turn = self._force(seen, pressure, middle[2]), _righting(seen)[2]
        torques: dict[str, Any] = {}
        for side, part in (("left", share), ("right", 1.0 - share)):
            at = np.array([pressure[0], seen.soles[side].p[1]])
            torques |= self._bear(m, s, side, part * force, at, part * turn)
        return torques

    def _force(self, seen: _Seen, pressure: Array, floor: float) -> Array:
        """Force of the ground (3,) [N] that bears the mass, from a centre of pressure, and rights the trunk."""
        height = seen.center[2] - floor
        up = _GRAVITY + _HEIGHT * (self._height - height) - _HEIGHT_RATE * seen.velocity[2]
        vertical = self._mass * max(up, _LEAST * _GRAVITY)
        moment = _righting(seen)
        along = (vertical * (seen.center[:2] - pressure) + np.array([-moment[1], moment[0]])) / height
        along *= min(1.0, _ROUGH * vertical / max(float(np.linalg.norm(along)), 1e-9))
        return np.append(along, vertical)

    def _bear(self, m: Mechanism, s: State, side: str, force: Array, at: Array, turn: float) -> dict[str, Any]:
        """Torques of a leg on whose sole the ground acts with a force at a place, and a moment about the vertical."""
        from varichain.dynamics import jacobian, pose

        foot = pose(m, s, f"{side} foot")
        below = pose(m, s, f"{side} foot", (TOES, 0.0, -ANKLE)).p[2]
        J = jacobian(m, s, f"{side} foot", foot.inverse() @ np.append(at, below))
        torques = -J[3:].T @ force - J[2] * turn
        return {name: torques[self._slots[name]] for name in _joints(side)}

    def _swing(self, m: Mechanism, s: State, seen: _Seen, side: str, goal: Array) -> dict[str, Any]:
        """Torques of a leg in the air that lead its level sole to a place (3,) [m]."""
        from varichain.dynamics import pose

        hip = seen.trunk @ np.array([0.0, SIDES[side] * ASIDE, 0.0])
        roll, pitch, knee, *ankle = angles(goal + np.array([-TOES, 0.0, ANKLE]) - hip)
        bent = pose(m, s, f"{side} thigh").R.T @ turned(roll, pitch)
        at_hip, at_knee, at_ankle = (s[name] for name in _joints(side))
        torques = (
            _SWING * rotation_vector_from_matrix(bent) - _SWING_RATE * at_hip.v,
            _SWING[0] * (knee - at_knee.q) - _SWING_RATE[0] * at_knee.v,
            _LEVEL * (np.array(ankle) - at_ankle.q) - _LEVEL_RATE * at_ankle.v,
        )
        bounds = (_LARGEST, _LARGEST, _LARGEST_OF_ANKLE)
        return {
            name: np.clip(torque, -bound, bound)
            for name, torque, bound in zip(_joints(side), torques, bounds, strict=True)
        }


def _joints(side: str) -> tuple[str, str, str]:
    return f"{side} hip", f"{side} knee", f"{side} ankle"


def _righting(seen: _Seen) -> Array:
    """Moment (3,) [N m] that turns the trunk upright, and ahead."""
    R = seen.trunk.R
    tilt = np.array([R[1, 2], -R[0, 2], -atan2(R[1, 0], R[0, 0])])
    moment: Array = _UPRIGHT * tilt - _UPRIGHT_RATE * seen.turning
    return np.clip(moment, -_LARGEST_MOMENT, _LARGEST_MOMENT)
