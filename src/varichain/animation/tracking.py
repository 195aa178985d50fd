"""Tracking: functions that follow curves in time, begin, end and hand over while the mechanism moves."""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from varichain.animation.dynamics import function_torques, least_torque
from varichain.animation.inverse import Resolution, inverse_acceleration, inverse_velocity
from varichain.animation.observing import Observed, Observing
from varichain.animation.space import AnimationSpace
from varichain.dynamics.inverse import inverse_dynamics
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, finite_scalar, flag, instance, mapping, non_negative_scalar


@dataclass(frozen=True, eq=False)
class Track:
    """Wanted course of a function in time.

    Attributes:
        target: A curve, called as target(t), target(t, 1), target(t, 2), such as a scipy CubicSpline; or constant
            numbers. Of a rate, its course.
        begins, ends: When the function is asked for [s]; None for always, and for ever.
        blend: Time [s] after the beginning, and before the end, in which the function is led over from, and back to,
            what it does without being asked. Blended are targets, never weights: in a damped solution a small weight is
            as good as none, or as all.
    """

    target: Any
    begins: float | None = None
    ends: float | None = None
    blend: float = 0.2

    def __post_init__(self) -> None:
        """Check the times."""
        begins = None if self.begins is None else finite_scalar(self.begins, "begins")
        ends = None if self.ends is None else finite_scalar(self.ends, "ends")
        if begins is not None and ends is not None and not begins < ends:
            raise InputError(f"a track must begin before it ends, not at {begins:g} s and {ends:g} s")
        non_negative_scalar(self.blend, "blend")

    def share(self, t: float) -> float:
        """How much of the target counts at a time: 0 to 1, with continuous second derivative."""
        since = math.inf if self.begins is None else t - self.begins
        left = math.inf if self.ends is None else self.ends - t
        if since < 0.0 or left <= 0.0:
            return 0.0
        x = 1.0 if self.blend == 0.0 else min(1.0, since / self.blend, left / self.blend)
        return x**3 * (10.0 - 15.0 * x + 6.0 * x**2)

    def at(self, t: float, shape: tuple[int, ...], what: str) -> tuple[Array, Array, Array]:
        """Target, its rate and its acceleration at a time, each in the function's shape."""
        if not callable(self.target):
            value = finite_array(self.target, shape, what) if shape else np.asarray(finite_scalar(self.target, what))
            return value, np.zeros(shape), np.zeros(shape)
        numbers = [np.asarray(self.target(t, nu), dtype=float) for nu in (0, 1, 2)]
        if any(x.shape != shape or not np.isfinite(x).all() for x in numbers):
            raise InputError(
                f"{what} must be finite numbers of shape {shape} at t = {t:g} s, not {numbers[0].tolist()}"
            )
        return numbers[0], numbers[1], numbers[2]


class Watch:
    """Functions that are recorded with a run, with what is wanted of them: a controller without torques.

    Traces then have the blocks `u` and `wanted`; of functions that are points, or coordinates of them, also `tracked`
    and `targets`, which viewers and films draw.

    Attributes:
        space: Functions; those without a track are not recorded.
        tracks: By function.
    """

    def __init__(self, space: AnimationSpace, tracks: Mapping[str, Any]) -> None:
        """Join functions and tracks; a curve or numbers in place of a `Track` hold all the time."""
        self.space = instance(space, AnimationSpace, "space")
        self.tracks: dict[str, Track] = {}
        for name, track in mapping(tracks, "tracks").items():
            space.function(name)
            self.tracks[name] = track if isinstance(track, Track) else Track(track)
        if not self.tracks:
            raise InputError("there must be at least one track")
        for name, track in self.tracks.items():  # shapes are looked at before anything moves
            track.at(track.begins or 0.0, space.function(name).shape, f"track of {name!r}")
        self._observing: Observing | None = None

    def __call__(self, m: Mechanism, s: State) -> None:
        """No torques."""

    def observed(self, m: Mechanism, s: State) -> Observed:
        """Numbers u of functions that have tracks, what is wanted of them, and their points, for traces."""
        if self._observing is None or self._observing.mechanism is not m:
            self._observing = Observing(m, {name: self.space.functions[name] for name in self.tracks})
        parts = []
        for name, track in self.tracks.items():
            function = self.space.functions[name]
            is_asked = track.share(s.time) > 0.0
            value = track.at(s.time, function.shape, f"track of {name!r}")[0] if is_asked else np.nan
            parts.append(np.ravel(np.broadcast_to(value, function.shape)))
        return self._observing.at(s, np.concatenate(parts))


class Tracker:
    """Functions that follow tracks: joint velocities, accelerations or torques for a state.

    As a controller of a simulation, `controller=tracker`, it returns torques by inverse dynamics at the actual state:
    of all joints, or of least norm if not all freedoms have an actuator. Velocities that no function asks for decay, as
    accelerations of least norm alone would let them grow. With `extended`, torques are those of the functions alone,
    tau = G^T tau_u [PFB, 4.5.1]: what no function asks for is not driven. A dimension that a connection blocks leaves
    u then, and its tau_u becomes the loop's force, which is the same number.

    Attributes:
        space: Functions; those without a track are free.
        tracks: By function.
        resolution: How redundancy is resolved.
        feedback: Rate at which errors, and velocities that no function asks for, decay [1/s].
        brake: Damping of joint rates in torques of least norm [N m s/rad].
        extended: Whether functions alone are driven.
    """

    def __init__(
        self,
        space: AnimationSpace,
        tracks: Mapping[str, Any],
        resolution: Resolution | None = None,
        feedback: float = 10.0,
        brake: float = 0.0,
        extended: bool = False,
    ) -> None:
        """Join functions and tracks; a curve or numbers in place of a `Track` hold all the time."""
        self._watch = Watch(space, tracks)
        self.space, self.tracks = self._watch.space, self._watch.tracks
        self.resolution = Resolution() if resolution is None else instance(resolution, Resolution, "resolution")
        if self.resolution.priorities is not None:
            flat = [name for level in self.resolution.priorities for name in level]
            if sorted(flat) != sorted(self.tracks):
                raise InputError(f"priorities must name each function that has a track once: {sorted(self.tracks)}")
        self.feedback = non_negative_scalar(feedback, "feedback")
        self.brake, self.extended = non_negative_scalar(brake, "brake"), flag(extended, "extended")

    def velocity(self, s: State) -> Array:
        """Joint velocities (n_v,) that follow the tracks at the state's time."""
        return self._velocity(self.space, s)

    def acceleration(self, s: State) -> Array:
        """Joint accelerations (n_v,) that follow the tracks at the state's time, from the state's velocities."""
        wanted = self._wanted_accelerations(self.space, s)
        return inverse_acceleration(self.space, s, wanted, self._decaying(s, wanted)).motion

    def __call__(self, m: Mechanism, s: State) -> Array:
        """Torques (n_v,) that follow the tracks."""
        space = self._space_of(m)
        wanted = self._wanted_accelerations(space, s)
        if not wanted:
            return np.zeros(len(s.v))
        if self.extended:
            return function_torques(space, s, wanted)
        if all(slot.actuated or not slot.coordinates for slot in s.layout.slots):
            how = self._decaying(s, wanted)
            return inverse_dynamics(m, s, inverse_acceleration(space, s, wanted, how).motion).tau
        if self.resolution.priorities is not None:
            raise InputError("torques of least norm have no priorities: all freedoms would need an actuator")
        return least_torque(space, s, wanted, self.resolution.weights, self.brake)[1]

    def observed(self, m: Mechanism, s: State) -> Observed:
        """What traces record, as of a `Watch`."""
        return self._watch.observed(m, s)

    def _among(self, names: Collection[str]) -> Resolution:
        """The resolution for the functions that are asked for now."""
        levels = self.resolution.priorities
        if levels is None:
            return self.resolution
        return replace(self.resolution, priorities=[[name for name in level if name in names] for level in levels])

    def _decaying(self, s: State, names: Collection[str]) -> Resolution:
        """The resolution, with velocities that decay where functions leave them free."""
        how = self._among(names)
        return how if how.toward is not None else replace(how, toward=-self.feedback * s.v)

    def _space_of(self, m: Mechanism) -> AnimationSpace:
        """The space on the mechanism of a run, which is a copy."""
        if m is not self.space.mechanism:
            self.space = AnimationSpace(m, self.space.functions)
        return self.space

    def _shares(self, t: float) -> dict[str, float]:
        shares = {name: track.share(t) for name, track in self.tracks.items()}
        return {name: share for name, share in shares.items() if share > 0.0}

    def _velocity(self, space: AnimationSpace, s: State) -> Array:
        shares, at, wanted = self._shares(s.time), space.at(s), {}
        for name in shares:
            function, where = space.functions[name], space.slices[name]
            x, dx, _ = self.tracks[name].at(s.time, function.shape, f"track of {name!r}")
            value = at.value[where].reshape(function.shape)
            wanted[name] = x if function.is_rate else dx + self.feedback * (x - value)
        whole = {name: value for name, value in wanted.items() if shares[name] == 1.0}
        found = inverse_velocity(space, s, whole, self._among(whole))
        if len(whole) < len(wanted):
            blended = _blended(space, wanted, shares, found.achieved)
            found = inverse_velocity(space, s, blended, self._among(blended))
        return found.motion

    def _wanted_accelerations(self, space: AnimationSpace, s: State) -> dict[str, Array]:
        shares, at, wanted, k = self._shares(s.time), space.at(s), {}, self.feedback
        for name in shares:
            function, where = space.functions[name], space.slices[name]
            x, dx, ddx = self.tracks[name].at(s.time, function.shape, f"track of {name!r}")
            value, rate = (part[where].reshape(function.shape) for part in (at.value, at.rate))
            if function.is_rate:
                wanted[name] = dx + k * (x - rate)
            else:
                wanted[name] = ddx + 2.0 * k * (dx - rate) + k**2 * (x - value)
        whole = {name: value for name, value in wanted.items() if shares[name] == 1.0}
        if len(whole) == len(wanted):
            return wanted
        found = inverse_acceleration(space, s, whole, self._decaying(s, whole))
        return _blended(space, wanted, shares, found.achieved)


def _blended(
    space: AnimationSpace, wanted: Mapping[str, Array], shares: Mapping[str, float], without: Mapping[str, Array]
) -> dict[str, Array]:
    """Targets, each led over from what its function does without being asked."""
    return {
        name: shares[name] * value + (1.0 - shares[name]) * without[name].reshape(space.functions[name].shape)
        for name, value in wanted.items()
    }
