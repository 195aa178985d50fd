"""OptimisedMotion: what was found, as a motion with torques."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from scipy.interpolate import PPoly

from varichain.errors import InputError, quoted
from varichain.instants.actions import Connect
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion, TimeFunctions
from varichain.optimise.gauss import POINTS
from varichain.optimise.legs import Leg
from varichain.simulation import PD, ComputedTorque, Torques, at, simulate
from varichain.spatial.arrays import Array
from varichain.spatial.report import Listing, Report, Reported, numbers
from varichain.trace import Trace

_WAYS = ("plain", "springs", "feedback")
# Coefficients of 1, x and x^2 of the polynomial through values at the stages: rows are powers.
_THROUGH = np.linalg.inv(np.vander(POINTS, 3, increasing=True))


@dataclass(frozen=True, eq=False, repr=False)
class OptimisedMotion(Reported):
    """A motion of least cost, with its torques.

    Attributes:
        cost: What was minimised.
        effort: Integral of the squares of all torques [N^2 m^2 s, or N^2 s].
        durations: Of the phases [s].
        times: Ends of all intervals, phase after phase: the instant between two phases is there twice [s].
        states: One for each time.
        motion: Of all joints of the tree.
        torques: Functions of time of all actuated joints, linear in each interval, which `vc.Torques` takes.
        peak: Largest torque of each actuated joint [N m or N].
        mechanisms: One for each phase.
        changes: Actions at the beginning of each phase.
        is_solved: Whether the solver found it to be optimal; if not, it is the best that it found.
        message: The solver's own words.
        iterations: Their number.
        seconds: Time that it took [s].
    """

    cost: float
    effort: float
    durations: tuple[float, ...]
    times: Array
    states: tuple[State, ...]
    motion: Motion
    torques: TimeFunctions
    peak: dict[str, float]
    mechanisms: tuple[Mechanism, ...]
    changes: tuple[tuple[Any, ...], ...]
    is_solved: bool
    message: str
    iterations: int
    seconds: float

    def report(self) -> Report:
        """Cost, durations, torques and how they were found."""
        rows = [
            ("cost", f"{self.cost:.6g}"),
            ("durations", numbers(self.durations)),
            ("largest torque", f"{max(self.peak.values(), default=0.0):.4g}"),
            ("solver", f"{self.message}, {self.iterations} iterations, {self.seconds:.3g} s"),
        ]
        title = "optimal motion" if self.is_solved else "motion, not yet optimal"
        return f"{title} of {len(self.durations)} phase{'s' * (len(self.durations) > 1)}", (Listing(("", ""), rows),)

    def simulate(self, way: str = "plain", stiffness: Any = 400.0, damping: Any = None, **options: Any) -> Trace:
        """Forward simulation, through all changes of structure.

        Args:
            way: "plain", torque functions alone; "springs", with springs and dampers of the joints about the motion;
                "feedback", inverse dynamics about the motion at each control tick.
            stiffness: Of the springs [N m/rad], or of the feedback [1/s^2].
            damping: Likewise [N m s/rad] or [1/s]; a tenth of a second times the stiffness, or critical, by default.
            options: Further arguments of `vc.simulate`; `limits` is "off" unless given, for the motion keeps to ranges.
        """
        if not isinstance(way, str) or way not in _WAYS:
            raise InputError(f"way must be one of {', '.join(map(repr, _WAYS))}, not {quoted(way)}")
        controllers: list[Any] = [Torques(self.torques)]
        if way == "feedback":
            controllers = [ComputedTorque(self._driven(), stiffness, damping)]
        elif way == "springs":
            controllers.append(PD(self._driven(), stiffness, 0.1 * stiffness if damping is None else damping))
        ends = self.times[0] + np.cumsum(self.durations)
        events = [
            at(float(t), *(_loosely(action) for action in change))
            for t, change in zip(ends[:-1], self.changes[1:], strict=True)
            if change
        ]
        how = {"controller": controllers, "events": events, "limits": "off", **options}
        return simulate(self.mechanisms[0], self.states[0], float(ends[-1]), **how)

    def _driven(self) -> Motion:
        """The motion of the actuated joints alone."""
        return Motion._of({name: self.motion._tracks[name] for name in self.peak})


def _loosely(action: Any) -> Any:
    """An action whose frames need not meet to rounding: a run is not the optimised motion to the last digit."""
    return replace(action, snap=1.0) if isinstance(action, Connect) and action.at_other is not None else action


def result_of(
    legs: Sequence[Leg], s: State, x: Array, cost: float, found: tuple[bool, str, int, float]
) -> OptimisedMotion:
    """The motion of unknowns x, in SI units."""
    durations = [float(x[leg.duration][0]) for leg in legs]
    begins = s.time + np.cumsum([0.0, *durations])
    times = [t + d * np.linspace(0.0, 1.0, len(leg.q)) for t, d, leg in zip(begins, durations, legs, strict=False)]
    states = [state for leg, own in zip(legs, times, strict=True) for state in _states(leg, own, x)]
    breaks = np.concatenate([times[0][:1], *(own[1:] for own in times)])
    layout, drives = legs[0].structure.layout, legs[0].structure.actuated
    tau = np.concatenate([x[leg.tau] for leg in legs])
    linear = np.stack([(tau[:, 1] - tau[:, 0]) / np.diff(breaks)[:, None], tau[:, 0]])
    driven = [slot for slot in layout.slots if slot.actuated and slot.coordinates]
    torques, peak = {}, {}
    for slot in driven:
        own = [int(np.flatnonzero(drives == k)[0]) for k in range(slot.v.start, slot.v.stop)]
        pieces = [PPoly(linear[..., k], breaks) for k in own]
        torques[slot.name] = pieces[0] if len(pieces) == 1 else pieces
        peak[slot.name] = float(np.abs(tau[..., own]).max())
    squares = (tau[:, 0] ** 2 + tau[:, 0] * tau[:, 1] + tau[:, 1] ** 2).sum(axis=1) / 3.0
    return OptimisedMotion(
        cost, float(squares @ np.diff(breaks)), tuple(durations), np.concatenate(times), tuple(states),
        _motion(legs, x, times, breaks), TimeFunctions(torques), peak,
        tuple(leg.structure.mechanism for leg in legs), tuple(leg.phase.change for leg in legs), *found,
    )  # fmt: skip


def _states(leg: Leg, times: Array, x: Array) -> list[State]:
    """States at the ends of intervals."""
    found = []
    for t, q, v in zip(times, leg.structure.chart.unit(x[leg.q]), x[leg.v], strict=True):
        state = leg.structure.mechanism.state()
        state.q, state.v, state.time = q, v, float(t)
        found.append(state)
    return found


def _motion(legs: Sequence[Leg], x: Array, times: Sequence[Array], breaks: Array) -> Motion:
    """Polynomials of joints with plain coordinates, splines through quaternions of the others."""
    h = np.diff(breaks)[:, None]
    q, v = (np.concatenate([x[getattr(leg, name)][:-1] for leg in legs]) for name in ("q", "v"))
    a = np.einsum("ij,njk->ink", _THROUGH, np.concatenate([x[leg.stages[2]] for leg in legs]))
    layout = legs[0].structure.layout
    plain: dict[str, Any] = {}
    for slot in layout.slots:
        if slot.has_quaternion or not slot.coordinates:
            continue
        own = a[..., slot.v]
        powers = [own[2] / (12.0 * h**2), own[1] / (6.0 * h), own[0] / 2.0, v[:, slot.v], q[:, slot.q]]
        pieces = [PPoly(np.stack(powers)[..., k], breaks) for k in range(own.shape[-1])]
        plain[slot.name] = pieces[0] if len(pieces) == 1 else pieces
    turning = legs[0].structure.chart.turning
    if not turning:
        return Motion(plain)
    rows, instants = [], []
    for i, (leg, own_times) in enumerate(zip(legs, times, strict=True)):
        ends, middle = x[leg.q], x[leg.stages[0][:, 1]]
        both = np.stack([ends[:-1], middle], axis=1).reshape(-1, ends.shape[1])
        halves = np.stack([own_times[:-1], 0.5 * (own_times[:-1] + own_times[1:])], axis=1).ravel()
        is_last = i == len(legs) - 1
        rows.append(np.vstack([both, ends[-1:]]) if is_last else both)
        instants.append(np.r_[halves, own_times[-1]] if is_last else halves)
    samples = legs[0].structure.chart.unit(np.concatenate(rows))
    turned = Motion.sampled(
        np.concatenate(instants), {slot.name: samples[:, slot.q] for slot in turning}, ends="not-a-knot"
    )
    return Motion(plain) | turned if plain else turned
