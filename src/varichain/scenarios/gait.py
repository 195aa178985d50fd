"""A gait of a human figure, joint by joint, from the paths of its pelvis and feet: inverse kinematics in closed form.

The walk begins and ends at rest. Its phase counts steps: from phase k to k + 1 one foot stands and the other goes two
step lengths ahead. Where a step ends both are flat, and their velocities, accelerations and jerks are zero, so that one
is put down and the other lifted without an impact.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import acos, asin, atan2, cos, hypot, pi, sin
from typing import TYPE_CHECKING, Any

import numpy as np

import varichain as vc
from varichain.errors import InputError
from varichain.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose
from varichain.spatial.rotation import rotation_vector_from_matrix

if TYPE_CHECKING:
    from varichain.motion import Motion


_RAMP = 1.0  # steps in which the walk gathers speed, and as many in which it loses it; they take twice the time
_SINK, _BOB, _SWAY = 0.036, 0.005, 0.03  # [m] of the pelvis: below standing height, up and down, to the standing side
_ARMS, _ELBOWS, _TWIST = 0.35, 0.4, 0.08  # [rad] that arms swing, elbows are bent, the chest turns
_TOES = 0.3  # [rad] that the toes of a lifted foot point down
SAMPLES = 50  # of the motion, in a step


@dataclass(frozen=True)
class Gait:
    """A walk along x from rest to rest; the left foot stands at the origin first, the right one is a step behind it.

    Attributes:
        m: Mechanism with the figure, a `human40`.
        steps: Number of steps; the right foot makes the first.
        length: Of a step [m].
        duration: Of a step at full speed [s].
        lift: Of the feet [m].
    """

    m: Mechanism
    steps: int
    length: float
    duration: float
    lift: float

    @property
    def end(self) -> float:
        """Time when the figure stands again [s]."""
        return (self.steps + 2.0 * _RAMP) * self.duration

    def phase(self, t: float) -> float:
        """Steps done at a time, with continuous acceleration."""
        whole, beats = self.steps + 2.0 * _RAMP, min(max(t, 0.0), self.end) / self.duration
        if beats > 0.5 * whole:
            return self.steps - self.phase((whole - beats) * self.duration)
        u = min(beats / (2.0 * _RAMP), 1.0)
        return 2.0 * _RAMP * (u**3 - 0.5 * u**4) if u < 1.0 else beats - _RAMP

    def time(self, phase: float) -> float:
        """When so many steps are done [s]; the inverse of `phase`, by bisection."""
        early, late = 0.0, self.end
        if phase >= self.steps:
            return self.end
        for _ in range(60):
            middle = 0.5 * (early + late)
            early, late = (middle, late) if self.phase(middle) < phase else (early, middle)
        return late

    def motion(self) -> Motion:
        """All joints but the pelvis' over time, through samples that lie on the steps' ends too."""
        landings = [self.time(k) for k in range(1, self.steps + 1)]
        between, near = np.arange(0.0, self.end, self.duration / SAMPLES), 0.25 * self.duration / SAMPLES
        times = sorted([*landings, *(t for t in between if all(abs(t - landing) > near for landing in landings))])
        rows = [self.joints(self.phase(t)) for t in times]
        moving = vc.Motion.sampled(
            times, {name: np.array([row[name] for row in rows]) for name in rows[0]}, ends="clamped"
        )
        names = [str(joint.name) for joint in self.m.joints if joint.n_v == 3 and joint.name not in rows[0]]
        return moving | vc.Motion(dict.fromkeys(names, (1.0, 0.0, 0.0, 0.0)))

    def pelvis(self, phase: float) -> Array:
        """Place of the pelvis (3,) [m]; it stays upright, and is highest when it passes over the standing foot."""
        height = self._foot_height - sum(self.m.link(f"left {part}").at.p[2] for part in ("thigh", "shank", "foot"))
        x, y = (phase - 0.5) * self.length, _SWAY * sin(pi * phase)
        return np.array([x, y, height - _SINK - _BOB * cos(2.0 * pi * phase)])

    def foot(self, side: str, phase: float) -> tuple[Array, float]:
        """Place of a foot, that is of its ankle (3,) [m], and how far its toes point down [rad]."""
        k = min(int(phase), self.steps - 1)
        u = phase - k
        x, z, pitch = float(k), 0.0, 0.0
        if (k % 2 == 0) == (side == "right"):
            x += 2.0 * u**4 * (35.0 - 84.0 * u + 70.0 * u**2 - 20.0 * u**3) - 1.0
            z = self.lift * (4.0 * u * (1.0 - u)) ** 4
            pitch = _TOES * 9.0**9 / (4.0**4 * 5.0**5) * u**4 * (1.0 - u) ** 5
        return np.array([x * self.length, self.m.link(f"{side} thigh").at.p[1], self._foot_height + z]), pitch

    def joints(self, phase: float) -> dict[str, Any]:
        """Angles, and rotation vectors of ball joints [rad], of all joints that move."""
        forward = cos(pi * phase)  # 1 when the left foot is ahead, -1 when it is behind
        found: dict[str, Any] = {"chest": (0.0, 0.0, _TWIST * forward), "neck": (0.0, 0.0, -_TWIST * forward)}
        for side, sign in (("left", 1.0), ("right", -1.0)):
            hip, (foot, toes) = self.pelvis(phase) + self.m.link(f"{side} thigh").at.p, self.foot(side, phase)
            found |= self._leg(side, foot - hip, toes)
            found |= {f"{side} shoulder": (0.0, sign * _ARMS * forward, 0.0), f"{side} elbow": _ELBOWS}
        return found

    def _leg(self, side: str, d: Array, toes: float) -> dict[str, Any]:
        """Joints of a leg whose ankle is at d from the hip, and whose toes point down by an angle.

        The hip turns by Rx(roll) Ry(pitch), the knee by Ry(knee); the ankle turns back what they turned.
        """
        thigh, shank = (-float(self.m.link(f"{side} {part}").at.p[2]) for part in ("shank", "foot"))
        reach, down = float(np.linalg.norm(d)), hypot(d[1], d[2])
        if reach >= thigh + shank:
            raise InputError(f"a step of {self.length:g} m is too long: the leg would have to be {reach:.3f} m long")
        knee = pi - acos((thigh**2 + shank**2 - reach**2) / (2.0 * thigh * shank))
        roll = atan2(d[1], -d[2])
        pitch = atan2(-d[0], down) - asin(shank * sin(knee) / reach)
        turned = Pose(rpy=(roll, 0.0, 0.0)) @ Pose(rpy=(0.0, pitch, 0.0))
        ankle = (turned @ Pose(rpy=(0.0, knee, 0.0))).R.T @ Pose(rpy=(0.0, toes, 0.0)).R
        return {
            f"{side} hip": rotation_vector_from_matrix(turned.R),
            f"{side} knee": knee,
            f"{side} ankle": rotation_vector_from_matrix(ankle),
        }

    @property
    def _foot_height(self) -> float:
        """Height of the ankle above the floor [m]."""
        return -float(self.m.frame("left sole").at.p[2])
