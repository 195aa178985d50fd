"""Motion: how joints move over time."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from varichain.errors import InputError, UnknownNameError
from varichain.kernels.motion import evaluate
from varichain.layout.state import State, layout_for
from varichain.layout.tree import JointSlot
from varichain.mechanism.mechanism import Mechanism
from varichain.motion.instants import answer, instants
from varichain.motion.joint_functions import JointFunctions
from varichain.motion.matching import motion_misfit
from varichain.motion.samples import Samples, motion_samples
from varichain.motion.track import Track
from varichain.motion.trajectories import motion_track
from varichain.spatial.checks import finite_scalar


class Motion(JointFunctions):
    """Motion of one or several joints as a function of time [s]; immutable.

    `Motion({"crank": spline, "hip": rotations, ...})` takes by joint name

    - for one freedom: a scipy PPoly (CubicSpline, Akima1DInterpolator, PchipInterpolator, ...) or BSpline, or a number,
      which is constant;
    - for several (cylindrical, planar, universal): a spline of as many columns, or a list of the above;
    - for a spherical joint: a RotationSpline; constant, a quaternion (w, x, y, z), a Rotation or a rotation matrix;
    - for a free joint: a pair (rotation, position), the position a spline of 3 columns or 3 numbers in the joint frame;
      constant, a Pose or its q (7,).

    Before its start and after its end a joint stands still in its first and last position. A motion that repeats begins
    again instead; so does a spline with `extrapolate="periodic"`.

    Sampled, and from functions, a joint's values are numbers for one freedom, two columns for two; quaternions (4) or
    rotation vectors (3) [rad] for a spherical joint; (7) or a tuple (rotation, position) for a free one. A tuple of
    numbers has one for each freedom: so three for a planar joint differ from a rotation vector.
    """

    _WHAT = "motion"

    def q(self, t: ArrayLike) -> dict[str, Any]:
        """Coordinates by joint at a time, or at times (n,): a number or (n_q,), or (n,) or (n, n_q)."""
        q, _, _ = self._packed.at(instants(t))
        return {name: answer(t, q[:, where]) for name, where in self._packed.q.items()}

    def v(self, t: ArrayLike) -> dict[str, Any]:
        """Velocities by joint, as the joint's v: of spherical and free joints in the link's axes."""
        _, v, _ = self._packed.at(instants(t))
        return {name: answer(t, v[:, where]) for name, where in self._packed.v.items()}

    def a(self, t: ArrayLike) -> dict[str, Any]:
        """Accelerations by joint, the rates of v; `inverse_dynamics` takes them."""
        _, _, a = self._packed.at(instants(t))
        return {name: answer(t, a[:, where]) for name, where in self._packed.v.items()}

    def __getitem__(self, joint: str) -> JointMotion:
        """Motion of one joint."""
        if joint not in self:
            raise UnknownNameError("joint", joint, self.joints)
        return JointMotion(joint, self._of({joint: self._tracks[joint]}))

    def set_state(self, m: Mechanism, s: State, t: float | None = None) -> None:
        """Put the joints of a state where they are at time t [s], with their velocities; at the state's time if None.

        Other joints and the state's time stay as they are.

        Raises:
            UnknownNameError: The mechanism has no such joint.
            InputError: A joint of a kind that cannot move so.
        """
        if not isinstance(m, Mechanism) or not isinstance(s, State):
            raise InputError(f"expected a Mechanism and a State, not {type(m).__name__} and {type(s).__name__}")
        time = np.array([s.time if t is None else finite_scalar(t, "t")])
        channels = self._channels(layout_for(m, s))
        evaluate(channels, self._packed.table, time, s.q[None, :], s.v[None, :], np.empty((1, len(s.v))))

    @staticmethod
    def _track(value: Any, what: str, repeat: bool) -> Track:
        track = motion_track(value, what, repeat)
        track.check_closed(what)
        return track

    @staticmethod
    def _read(value: Any, n: int, what: str) -> Samples:
        return motion_samples(value, n, what)

    @staticmethod
    def _misfit(track: Track, slot: JointSlot) -> str | None:
        return motion_misfit(track, slot)

    @staticmethod
    def _place(slot: JointSlot) -> tuple[int, int]:
        return slot.q.start, slot.v.start


class JointMotion:
    """Motion of one joint; `motion["knee"]` makes it.

    Attributes:
        name: The joint's name.
        motion: Motion of this joint alone.
    """

    __slots__ = ("motion", "name")

    def __init__(self, name: str, motion: Motion) -> None:
        """View the only joint of a motion."""
        self.name = name
        self.motion = motion

    def q(self, t: ArrayLike) -> Any:
        """Coordinates at a time, or at times (n,): a number or (n_q,), or (n,) or (n, n_q)."""
        return self.motion.q(t)[self.name]

    def v(self, t: ArrayLike) -> Any:
        """Velocities, as the joint's v."""
        return self.motion.v(t)[self.name]

    def a(self, t: ArrayLike) -> Any:
        """Accelerations, the rates of v."""
        return self.motion.a(t)[self.name]

    @property
    def start(self) -> float:
        """Time [s] at which it begins; 0 if it is constant."""
        return self.motion.start

    @property
    def end(self) -> float:
        """Time [s] at which it ends; 0 if it is constant."""
        return self.motion.end

    @property
    def duration(self) -> float:
        """Time from start to end [s]."""
        return self.motion.duration

    @property
    def repeat(self) -> bool:
        """Whether it begins again after its end."""
        return self.motion.repeat

    def __repr__(self) -> str:
        """Name and times."""
        again = ", repeating" if self.repeat else ""
        return f"<motion of joint {self.name!r} from {self.start:g} to {self.end:g} s{again}>"
