"""A gait for feet that nothing holds: where the floor should press on them, and a body that can be shifted for it.

The pressure is under the sole that bears, from the ankle to the toes, where it is when the heel rises; while both feet
are on the floor it goes from one to the other. Which shift puts it there is found by `balancing`.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from math import cos, radians, sin
from typing import TYPE_CHECKING

import numpy as np

from varichain.scenarios.gait import STAND, Gait, Manner, smooth
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.spatial.arrays import Array

CAREFUL = Manner(
    half=0.12, rise=-0.45, toes_up=radians(8.0), roll=radians(46.0), slide=0.0, knee=radians(20.0), bob=0.02, soft=0.02
)
"""Knees are bent more than in normal gait, toes are up less when a heel comes down, and it does not slide."""

_SINK = 0.01  # [m] that the pelvis is lower than that of a gait that is not shifted
_CLEAR, _YIELDS = 0.03, 3e-3  # [m] that feet in the air are above the floor, and how softly
_ENDS = 0.15  # part of a swing at its ends in which they need not
_MIDDLE = 0.045  # [m] ahead of the ankles, where the pressure is when the figure stands
_BEGIN, _HIND = -0.02, 0.0  # [m] ahead of the ankle, where it is when a foot begins to bear alone: the first, others
_RISE, _FORE = -0.023, -0.01  # [m] ahead of the end of the foot, when its heel rises, and when it ends to bear alone
_STOP = 0.09  # [m] ahead of the ankle, under the last foot that bears alone
_INSIDE = 0.008  # [m] that the pressure is inside of the middle of a foot
_GOES = 0.4  # steps before the first change of weight when the pressure leaves the middle, and after the last


def _nowhere(t: float) -> Array:
    return np.zeros(2)


@dataclass(frozen=True)
class BalancedGait(Gait):
    """A gait whose pelvis is shifted.

    Attributes:
        shift: x and y of the shift (2,) [m] at a time since the gait began [s].
    """

    shift: Callable[[float], Array] = _nowhere

    def phase(self, t: float) -> float:
        """Steps that are done at a time since the gait began [s]."""
        return t / self.duration - STAND

    def pelvis(self, phase: float) -> Pose:
        """Pose of the pelvis."""
        X, e = super().pelvis(phase), self.shift(self.time(phase))
        return Pose(p=X.p + np.append(e, -_SINK), R=X.R)

    def swinging(self, k: int, phase: float) -> Array:
        """The foot in the air, lifted so that neither toes nor heel come near the floor too early."""
        found, half = super().swinging(k, phase), self.manner.half
        u = (phase - k - 1.0 - half) / (1.0 - 2.0 * half)
        lacking = self.reach_of(k) * _CLEAR * (4.0 * u * (1.0 - u)) ** 2 - self.lowest(found)
        lifted = _YIELDS * float(np.logaddexp(0.0, lacking / _YIELDS))
        found[1] += lifted * smooth(u / _ENDS) * smooth((1.0 - u) / _ENDS)
        return found

    def lowest(self, foot: Array) -> float:
        """Height of the lower of toe and heel [m] of a foot: x and z of its ankle, and pitch."""
        _, z, pitch = foot
        return min(float(z) - x * sin(pitch) + down * cos(pitch) for x, down in (self._toe, self._heel))

    def configurations(self, times: Array) -> Array:
        """Coordinates (n, n_q) of all joints, the root among them, at times since the gait began [s]."""
        s, root, found = self.m.state(), self.m.link("pelvis").at.inverse(), []
        for t in times:
            phase = self.phase(t)
            s["pelvis"].pose = root @ self.pelvis(phase)
            for name, value in self.joints(phase).items():
                if np.ndim(value):
                    s[name].orientation = value
                else:
                    s[name].q = value
            found.append(s.q.copy())
        return np.array(found)

    def pressure(self, phase: float) -> Array:
        """Where the floor should press, x and y (2,) [m]: straight from one of the places to the next."""
        phases, places = self._pressures
        return np.array([np.interp(phase, phases, places[:, i]) for i in range(2)])

    @cached_property
    def _pressures(self) -> tuple[Array, Array]:
        """Phases (n,), and the places of the pressure (n, 2) [m] then."""
        of, aside, toe = self.manner, float(self.m.link("left thigh").at.p[1]) - _INSIDE, self._toe[0]
        found = [(-_GOES, _MIDDLE, 0.0)]
        for k in range(self.steps):
            ahead = (_HIND if k else _BEGIN, toe + _RISE, toe + _FORE) if k < self.steps - 1 else (_STOP,) * 3
            for phase, x in zip((of.half, 1.0 + of.rise, 1.0 - of.half), ahead, strict=True):
                found.append((k + phase, self.print_at(k) + x, aside if k % 2 == 0 else -aside))
        found.append((self.steps + _GOES, self.print_at(self.steps) + _MIDDLE, 0.0))
        table = np.array(found)
        return table[:, 0], table[:, 1:]
