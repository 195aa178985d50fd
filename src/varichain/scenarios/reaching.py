"""Hands that let go of something, rise from it, and reach for it again."""

from __future__ import annotations

from collections.abc import Mapping
from math import pi, sin
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import varichain as vc
from varichain.mechanism import Mechanism

if TYPE_CHECKING:
    from varichain.layout.state import State


_STIFFNESS, _DAMPING = 2500.0, 80.0  # [N/m, N s/m]
_RISE = 0.04  # [m] that a hand rises in the middle of its flight

_LONGEST = 2.0  # flights: a hand that has missed gives up


class Reaching:
    """Controller of hands in flight: torques of shoulders and elbows that pull each hand back to where it was.

    A spring and a damper at the grip, turned into torques by the Jacobian's transpose: tau = J^T f. They are the arm's
    own, so that the flight of the whole body is not disturbed.
    """

    def __init__(self, m: Mechanism, s: State, releases: Mapping[str, float], flight: float) -> None:
        """Hands, by side, that let go at the times `releases` of what they hold in `s`, for `flight` [s]."""
        self._places = {side: vc.pose(m, s, f"{side} grip").p for side in releases}
        self._releases, self._flight = dict(releases), flight

    def __call__(self, m: Mechanism, s: State) -> dict[str, NDArray[np.float64]]:
        """Torques by joint [N m]."""
        torques: dict[str, NDArray[np.float64]] = {}
        for side, place in self._places.items():
            grip, arm = m.frame(f"{side} grip"), (f"{side} shoulder", f"{side} elbow")
            passed = (s.time - self._releases[side]) / self._flight
            if not 0.0 <= passed <= _LONGEST:
                continue
            passed = min(passed, 1.0)
            rise = np.array([0.0, 0.0, _RISE * sin(pi * passed) ** 2])
            rate = np.array([0.0, 0.0, _RISE * sin(2.0 * pi * passed) * pi / self._flight])
            f = _STIFFNESS * (place + rise - vc.pose(m, s, *grip).p) + _DAMPING * (rate - vc.velocity(m, s, *grip)[3:])
            tau = vc.jacobian(m, s, *grip)[3:].T @ f
            torques |= {joint: tau[s.layout.slot(joint).v] for joint in arm}
        return torques
