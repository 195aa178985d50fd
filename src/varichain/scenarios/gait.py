"""A gait of a human figure, joint by joint, from the paths of its pelvis and feet: inverse kinematics in closed form.

The figures are those of normal gait [PERRY], [WINTER]: both feet are on the floor for a ninth of the cycle at each
change; a foot comes down on its heel, toes up, is flat for a while, and rolls over its toes until they leave the floor;
the pelvis goes up and down by 4 cm, turns by 5 degrees to either side and drops by 4 degrees on the side that swings;
the knee is nearly straight when the heel comes down, and arms swing against the legs.

Time is counted in steps: at phase k the weight is half way from one foot to the other, at 0 and at the end the figure
stands. Footprints 1, 2, ... are of the right and the left foot in turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from math import acos, asin, atan2, cos, hypot, pi, radians, sin
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

import varichain as vc
from varichain.errors import InputError
from varichain.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import rotation_vector_from_matrix

if TYPE_CHECKING:
    from varichain.motion import Motion

FLAT = 0.05  # steps after the change of weight when the foot that came down is flat
_ROLLING = 2.1  # power of time by which the heel rises
_SWAY = 0.022  # [m] of the pelvis to the standing side
_YAW, _LIST = radians(5.0), radians(4.0)  # of the pelvis
_ARMS, _ELBOWS, _TWIST = (
    radians(24.0),
    radians(18.0),
    radians(8.0),
)  # of shoulders; of elbows; of the chest on the pelvis
_GATHER = 0.85  # half the steps in which the pelvis gathers speed, or loses it
_AHEAD = 0.0875  # steps that the pelvis is ahead of the middle between the feet
_NEVER, _YIELDS, _FAR = 1e-4, 8e-4, 0.03  # [m] that legs lack at least to be straight, softly, and at most
SAMPLES = 60  # of the motion, in a step
STAND = 0.5
"""Steps in which the figure gets ready before the first change of weight, and comes to rest after the last."""


class Manner(NamedTuple):
    """How feet and pelvis go.

    Attributes:
        half: Steps from the heel's coming down to the change of weight, and from there to the toes' going up.
        rise: Steps from the change of weight to the other foot at which the heel rises; negative.
        toes_up: Pitch of a foot whose heel comes down [rad].
        roll: Pitch of a foot whose toes leave the floor [rad].
        slide: Way that a heel slides on when it has touched, until the weight comes [m].
        knee: Flexion when the heel comes down [rad].
        bob: Of the pelvis, from lowest to highest [m].
        soft: Height by which the pelvis is lower than standing at least, in the middle of a step [m].
    """

    half: float = 0.105
    rise: float = -0.45
    toes_up: float = radians(17.0)
    roll: float = radians(46.0)
    slide: float = 0.022
    knee: float = radians(2.0)
    bob: float = 0.036
    soft: float = 0.004


NORMAL = Manner()
"""That of normal gait."""


@dataclass(frozen=True)
class Gait:
    """A walk along x from standing to standing; the first and the last footprint are half a step ahead.

    Attributes:
        m: Mechanism with the figure, a `human40` with toes (`add_toes`).
        steps: Number of footprints; the right foot makes the first.
        length: Of a step [m].
        duration: Of a step [s].
        lift: Height that the toes have over the floor when they swing [m].
        manner: How feet and pelvis go.
    """

    m: Mechanism
    steps: int
    length: float
    duration: float
    lift: float
    manner: Manner = NORMAL

    @property
    def end(self) -> float:
        """Time when the figure stands again [s]."""
        return (self.steps + 2.0 * STAND) * self.duration

    def time(self, phase: float) -> float:
        """When so many steps are done [s]."""
        return (phase + STAND) * self.duration

    # Feet

    def print_at(self, k: int) -> float:
        """Where footprint k is: x of its ankle when the foot is flat [m]; footprints up to 0 are those of the start."""
        return 0.0 if k < 1 else (min(k, self.steps - 1) - 0.5) * self.length

    def reach_of(self, k: int) -> float:
        """How far the foot of footprint k goes next, beside two steps; 0 if it stays."""
        return (self.print_at(k + 2) - self.print_at(k)) / (2.0 * self.length) if k + 2 <= self.steps else 0.0

    def bearing(self, k: int, phase: float) -> Array:
        """Place x, z of the ankle and pitch (3,) [m, m, rad] of the foot on footprint k, toes down positive.

        It rolls over its heel until it is flat, and over its toes from when the heel rises.
        """
        of = self.manner
        lands, rises = (phase - k) / of.half + 1.0, (phase - k - 1.0 - of.rise) / (of.half - of.rise)
        came, goes = (min(1.4 * self.reach_of(i), 1.0) for i in (k - 2 if 0 < k < self.steps else self.steps, k))
        pitch = of.roll * goes * max(rises, 0.0) ** _ROLLING - of.toes_up * came * (
            1.0 - smooth(lands * of.half / (of.half + FLAT))
        )
        edge = self._toe if pitch > 0.0 else self._heel
        x, z = edge[0] - edge[0] * cos(pitch) - edge[1] * sin(pitch), edge[0] * sin(pitch) - edge[1] * cos(pitch)
        slide = of.slide * came * max(1.0 - lands, 0.0) ** 3
        return np.array([self.print_at(k) + x - slide, z, pitch])

    def swinging(self, k: int, phase: float) -> Array:
        """The same of the foot in the air, on its way from footprint k to the one after the next."""
        start, end = k + 1.0 + self.manner.half, k + 2.0 - self.manner.half
        span, u = end - start, (phase - start) / (end - start)
        a, da, dda = _derivatives(lambda p: self.bearing(k, p), start)
        b, db, ddb = _derivatives(lambda p: self.bearing(k + 2, p), end)
        found = _quintic(u, a, da * span, dda * span**2, b, db * span, ddb * span**2)
        found[1] += self.lift * self.reach_of(k) * (4.0 * u * (1.0 - u)) ** 3
        return found

    def is_down(self, side: str, phase: float) -> bool:
        """Whether a foot is on the floor, with its heel, its toes or both."""
        k = self._print_of(side, phase)
        return phase <= k + 1.0 + self.manner.half or k + 2 > self.steps

    def _print_of(self, side: str, phase: float) -> int:
        """Footprint on which a foot stands, or which it left last."""
        k = -1 if side == "right" else 0
        while k + 2 <= self.steps and phase >= k + 2.0 - self.manner.half:
            k += 2
        return k

    def foot(self, side: str, phase: float) -> tuple[Array, float]:
        """Place of a foot, that is of its ankle (3,) [m], and how far its toes point down [rad]."""
        k = self._print_of(side, phase)
        x, z, pitch = self.bearing(k, phase) if self.is_down(side, phase) else self.swinging(k, phase)
        return np.array([x, self.m.link(f"{side} thigh").at.p[1], z]), float(pitch)

    # Trunk

    def pelvis(self, phase: float) -> Pose:
        """Pose of the pelvis."""
        sway = _envelope(phase + STAND, self.steps + 2.0 * STAND)
        bob = -0.5 * self.manner.bob * cos(2.0 * pi * phase)
        height = self._standing + (self._walking - self._standing + bob) * sway
        place = (self._forward(phase), _SWAY * sin(pi * phase) * sway, height)
        return Pose(p=place, R=Pose(rpy=(_LIST * sin(pi * phase) * sway, 0.0, -_YAW * self._swing(phase))).R)

    def _swing(self, phase: float) -> float:
        """1 when the left foot is ahead, -1 when the right one is; 0 when the figure stands."""
        return cos(pi * phase) * _envelope(phase, self.steps)

    def _forward(self, phase: float) -> float:
        """Where the pelvis is along x [m]: it gathers speed, goes on a little ahead of the feet's middle, and stops."""
        start, end = 1.0 - _AHEAD, self.steps - 0.5 - _AHEAD
        return self.length * (_ramp((phase - start) / _GATHER) - _ramp((phase - end) / _GATHER)) * _GATHER

    @cached_property
    def _walking(self) -> float:
        """Mean height of the pelvis that walks [m], so that the knee is nearly straight when a heel comes down."""
        of = self.manner
        phase, long = -of.half, Gait(self.m, 8, self.length, self.duration, self.lift, of)
        turned = Pose(rpy=(_LIST * sin(pi * phase), 0.0, -_YAW * cos(pi * phase)))
        place = (long._forward(4.0 + phase), _SWAY * sin(pi * phase), 0.0)
        hip, ankle = turned @ self.m.link("left thigh").at.p + place, long.foot("left", 4.0 + phase)[0]
        thigh, shank = self._leg_lengths
        reach = thigh**2 + shank**2 + 2.0 * thigh * shank * cos(of.knee)
        upright = reach - float((ankle[0] - hip[0]) ** 2 + (ankle[1] - hip[1]) ** 2)
        if upright <= 0.0:
            raise InputError(f"a step of {self.length:g} m is too long: the legs do not reach so far")
        low = float(ankle[2] + upright**0.5 - hip[2])
        return min(low + 0.5 * of.bob * cos(2.0 * pi * of.half), self._standing - 0.5 * of.bob - of.soft)

    # Joints

    def motion(self) -> Motion:
        """All joints but the pelvis' over time."""
        times = np.linspace(0.0, self.end, round((self.steps + 2.0 * STAND) * SAMPLES) + 1)
        rows = [self.joints(t / self.duration - STAND) for t in times]
        moving = vc.Motion.sampled(
            times, {name: np.array([row[name] for row in rows]) for name in rows[0]}, ends="clamped"
        )
        names = [str(joint.name) for joint in self.m.joints if joint.n_v == 3 and joint.name not in rows[0]]
        return moving | vc.Motion(dict.fromkeys(names, (1.0, 0.0, 0.0, 0.0)))

    def joints(self, phase: float) -> dict[str, Any]:
        """Angles, and rotation vectors of ball joints [rad], of all joints that move."""
        swing, X = self._swing(phase), self.pelvis(phase)
        level = X.R.T  # the chest stays upright
        chest = level @ Pose(rpy=(0.0, 0.0, (_TWIST - _YAW) * swing)).R
        found: dict[str, Any] = {"chest": rotation_vector_from_matrix(chest)}
        found["neck"] = (0.0, 0.0, -(_TWIST - _YAW) * swing)
        for side, sign in (("left", 1.0), ("right", -1.0)):
            foot, toes = self.foot(side, phase)
            found |= self._leg(side, X.inverse() @ foot - self.m.link(f"{side} thigh").at.p, toes, level)
            arm = sign * _ARMS * swing  # back with the leg that is ahead
            found |= {
                f"{side} shoulder": (0.0, arm + 0.1 * _ARMS, 0.0),
                f"{side} elbow": _ELBOWS * (1.0 - 0.8 * sign * swing),
            }
            found[f"{side} toes"] = -toes
        return found

    def _leg(self, side: str, d: Array, toes: float, level: Array) -> dict[str, Any]:
        """Joints of a leg whose ankle is at d from the hip, and whose toes point down by an angle.

        The hip turns by Rx(roll) Ry(pitch), the knee by Ry(knee); the ankle turns back what they and the pelvis, whose
        axes see the world's as `level`, have turned.
        """
        thigh, shank = self._leg_lengths
        wanted, longest = float(np.linalg.norm(d)), thigh + shank - _NEVER
        if wanted > longest + _FAR:
            raise InputError(f"a step of {self.length:g} m is too long: the leg would have to be {wanted:.3f} m long")
        reach = longest - _YIELDS * float(np.logaddexp(0.0, (longest - wanted) / _YIELDS))
        d = d * (reach / wanted)  # a foot in the air is some millimetres nearer instead of a leg that snaps straight
        down = hypot(d[1], d[2])
        knee = pi - acos((thigh**2 + shank**2 - reach**2) / (2.0 * thigh * shank))
        roll = atan2(d[1], -d[2])
        pitch = atan2(-d[0], down) - asin(shank * sin(knee) / reach)
        turned = Pose(rpy=(roll, 0.0, 0.0)) @ Pose(rpy=(0.0, pitch, 0.0))
        ankle = (turned @ Pose(rpy=(0.0, knee, 0.0))).R.T @ level @ Pose(rpy=(0.0, toes, 0.0)).R
        return {
            f"{side} hip": rotation_vector_from_matrix(turned.R),
            f"{side} knee": knee,
            f"{side} ankle": rotation_vector_from_matrix(ankle),
        }

    # Sizes

    @cached_property
    def _leg_lengths(self) -> tuple[float, float]:
        """Of thigh and shank [m]."""
        thigh, shank = (-float(self.m.link(f"left {part}").at.p[2]) for part in ("shank", "foot"))
        return thigh, shank

    @cached_property
    def _standing(self) -> float:
        """Height of the pelvis that stands, its knees not quite straight [m]."""
        hip = float(self.m.link("left thigh").at.p[2])
        return -self._toe[1] + 0.9965 * sum(self._leg_lengths) - hip

    @cached_property
    def _toe(self) -> tuple[float, float]:
        """Place x, z of the end of the toes from the ankle [m]."""
        x, _, z = self.m.frame("left toe").at.p.tolist()
        return x, z

    @cached_property
    def _heel(self) -> tuple[float, float]:
        x, _, z = self.m.frame("left heel").at.p.tolist()
        return x, z


def smooth(u: float) -> float:
    """From 0 to 1 with velocities and accelerations of zero at both ends."""
    u = min(max(u, 0.0), 1.0)
    return u**3 * (10.0 - 15.0 * u + 6.0 * u**2)


def _ramp(u: float) -> float:
    """Way of something whose velocity grows from 0 to 1 between u = -1 and 1."""
    u = 0.5 * (u + 1.0)
    return 0.0 if u < 0.0 else 2.0 * u - 1.0 if u > 1.0 else 2.0 * u**4 * (2.5 - 3.0 * u + u**2)


def _envelope(phase: float, end: float) -> float:
    """1 in the middle of a walk, 0 before 0 and after the end, growing and fading in a step."""
    return smooth(phase) * smooth(end - phase)


def _derivatives(function: Any, at: float, step: float = 1e-4) -> tuple[Array, Array, Array]:
    """A function of the phase with its first two derivatives."""
    before, here, after = (function(at + k * step) for k in (-1.0, 0.0, 1.0))
    return here, (after - before) / (2.0 * step), (after - 2.0 * here + before) / step**2


def _quintic(u: float, a: Array, da: Array, dda: Array, b: Array, db: Array, ddb: Array) -> Array:
    """The polynomial of degree five with these ends, velocities and accelerations, at u from 0 to 1."""
    c3 = 10.0 * (b - a) - 6.0 * da - 4.0 * db - 1.5 * dda + 0.5 * ddb
    c4 = -15.0 * (b - a) + 8.0 * da + 7.0 * db + 1.5 * dda - ddb
    c5 = 6.0 * (b - a) - 3.0 * (da + db) - 0.5 * (dda - ddb)
    found: Array = a + u * (da + u * (0.5 * dda + u * (c3 + u * (c4 + u * c5))))
    return found
