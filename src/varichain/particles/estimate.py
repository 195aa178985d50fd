"""Errors of steps, estimated by a second run with half the steps beside the first."""

from __future__ import annotations

import math

import numpy as np

from varichain.mechanism.describe import description
from varichain.particles.plain import Plain, snapshot
from varichain.particles.run import ParticleRun

ORDERS = {"verlet": 2, "implicit": 1}
"""Orders of the methods in the step."""

_SAME_TIME = 1e-9  # [s]


class Estimate:
    """A twin of a run whose steps are half as long, through the same events and with the same controls.

    With a method of order p the error of the run itself is about 2^p / (2^p - 1) of the distance from its twin.
    """

    def __init__(self, twin: ParticleRun) -> None:
        """Take a run that begins with the first one."""
        self._twin, self._has_begun = twin, False
        self._sampled = snapshot(twin.system)
        power = 2.0 ** ORDERS[twin.method]
        self._part = power / (power - 1.0)

    def at(self, run: ParticleRun) -> float:
        """Estimated error of a run at its present time [m]: of the particle that is furthest off.

        It is not a number once the twin has been ended by an event at another time.
        """
        if not self._has_begun:
            self._has_begun = True
            self._twin.begin(lambda *_: None)
        for _ in self._twin.spans(iter([run.time]), lambda *_: None):
            pass
        if abs(self._twin.time - run.time) > _SAME_TIME:
            return math.nan
        self._sampled = snapshot(self._twin.system)
        self._twin.system.evaluate()  # as a sample does: a continuation begins here
        ours, theirs = run.system.placed(), self._twin.system.placed()
        distances = [np.linalg.norm(ours[name][0] - theirs[name][0], axis=1).max() for name in ours]
        return self._part * float(max(distances))

    def checkpoint(self) -> Plain | None:
        """All that a continuation needs; None if the twin was ended by an event."""
        if self._twin.stopped is not None:
            return None
        return {"structure": description(self._twin.system.mechanism), "run": self._twin.checkpoint(self._sampled)}

    @classmethod
    def continued(cls, twin: ParticleRun) -> Estimate:
        """An estimate whose twin goes on from a checkpoint."""
        self = cls(twin)
        self._has_begun = True
        twin.system.evaluate()
        return self
