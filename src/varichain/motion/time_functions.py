"""TimeFunctions: plain functions of time for the freedoms of joints, such as torques."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from varichain.layout.tree import JointSlot
from varichain.motion.instants import answer, instants
from varichain.motion.joint_functions import JointFunctions
from varichain.motion.matching import functions_misfit
from varichain.motion.samples import Samples, function_samples
from varichain.motion.track import Track
from varichain.motion.trajectories import functions_track


class TimeFunctions(JointFunctions):
    """Functions of time [s], one for each freedom of some joints, such as torques; immutable.

    `TimeFunctions({"knee": spline, "hip": [spline, 0.0, 3.0]})` takes by joint name a scipy PPoly (CubicSpline, ...) or
    BSpline, a number, which is constant, or for several freedoms a spline of as many columns or a list of these. A
    PPoly may jump. Before its start and after its end a function keeps its first and last value, unless it repeats.

    Sampled, and from functions, a joint has a number for each freedom, in rows or as a tuple.
    """

    _WHAT = "function"

    def __call__(self, t: ArrayLike) -> dict[str, Any]:
        """Values by joint at a time, or at times (n,): a number or (n_v,), or (n,) or (n, n_v)."""
        values, _, _ = self._packed.at(instants(t))
        return {name: answer(t, values[:, where]) for name, where in self._packed.q.items()}

    @staticmethod
    def _track(value: Any, what: str, repeat: bool) -> Track:
        return functions_track(value, what, repeat)

    @staticmethod
    def _read(value: Any, n: int, what: str) -> Samples:
        return function_samples(value, n, what)

    @staticmethod
    def _misfit(track: Track, slot: JointSlot) -> str | None:
        return functions_misfit(track, slot)

    @staticmethod
    def _place(slot: JointSlot) -> tuple[int, int]:
        return slot.v.start, slot.v.start  # a value is no coordinate: it stands where its freedom does
