"""The paper's pipeline: a motion planned in u, its torques as functions of time, and simulations of them [PFB, 5].

a. kinematics of the configuration; b. wanted u, udot, uddot; c. joint velocities and accelerations; d. torques by
inverse dynamics; e. forward dynamics, with forces that the plan did not know; f. the next configuration.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.animation.tracking import Tracker
from varichain.dynamics.assembly import assemble
from varichain.dynamics.forward import forward_dynamics
from varichain.dynamics.inverse import inverse_dynamics
from varichain.dynamics.projection import project
from varichain.errors import InputError, quoted
from varichain.layout.state import State
from varichain.motion import Motion, TimeFunctions
from varichain.simulation import PD, ComputedTorque, Torques, simulate
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_scalar, instance, time_step, whole_count
from varichain.spatial.report import Listing, Report, Reported, numbers
from varichain.trace import Trace

_WAYS = ("feedback", "springs", "plain")
_MOST_STEPS = 10**6
_DIFFERENCE = 1e-6  # [rad or m, and their rates] of the linearised motion


@dataclass(frozen=True, eq=False, repr=False)
class Plan(Reported):
    """A planned motion, with torques.

    Attributes:
        states: One for each time, with velocities.
        a: Accelerations (n, n_v).
        tau: Torques (n, n_v) [N m or N].
        u: Values of all dimensions (n, m).
        motion: The joints' motion, as splines.
        torques: Functions of time of all joints' torques: splines, which `vc.Torques` takes.
        tracker: What was followed.
    """

    states: tuple[State, ...]
    a: Array
    tau: Array
    u: Array
    motion: Motion
    torques: TimeFunctions
    tracker: Tracker

    @property
    def times(self) -> Array:
        """Times (n,) [s]."""
        return np.array([s.time for s in self.states])

    def report(self) -> Report:
        """Ends, and largest velocities and torques."""
        fastest = max(float(np.abs(s.v).max(initial=0.0)) for s in self.states)
        rows = [
            ("from, to", numbers(self.times[[0, -1]])),
            ("steps", str(len(self.states) - 1)),
            ("largest velocity", f"{fastest:.4g}"),
            ("largest torque", f"{np.abs(self.tau).max(initial=0.0):.4g}"),
        ]
        return f"plan of {len(self.u[0])} dimensions", (Listing(("", ""), rows),)

    def growth_rate(self, t: float) -> float:
        """Largest real part [1/s] of the motion, linearised about the plan at a time: how fast errors of a replay grow.

        Of open chains, by differences of forward dynamics.
        """
        m = self.tracker.space.mechanism
        i = int(np.abs(self.times - finite_scalar(t, "t")).argmin())
        s, tau = self.states[i], self.tau[i]
        if not s.layout.is_tree:
            raise InputError("the growth rate is that of open chains: a closed one has no free coordinates to disturb")
        n, h = len(s.v), _DIFFERENCE
        A = np.zeros((2 * n, 2 * n))
        A[:n, n:] = np.eye(n)
        for k in range(n):
            step = np.zeros(n)
            step[k] = h
            moved = [forward_dynamics(m, s.integrate(sign * step), tau).a for sign in (1, -1)]
            A[n:, k] = (moved[0] - moved[1]) / (2.0 * h)
            faster = []
            for sign in (1, -1):
                other = s.copy()
                other.v[:] += sign * step
                faster.append(forward_dynamics(m, other, tau).a)
            A[n:, n + k] = (faster[0] - faster[1]) / (2.0 * h)
        return float(np.linalg.eigvals(A).real.max())

    def simulate(
        self,
        until: float | None = None,
        way: str = "feedback",
        stiffness: Any = 400.0,
        damping: Any = None,
        **options: Any,
    ) -> Trace:
        """Forward simulation of the plan.

        Args:
            until: End [s]; that of the plan by default.
            way: "feedback", inverse dynamics about the planned motion at each control tick; "springs", torque functions
                and springs with dampers of the joints about the planned motion; "plain", torque functions alone:
                errors grow with `growth_rate`.
            stiffness: Of the feedback [1/s^2], or of the springs [N m/rad].
            damping: Likewise [1/s] or [N m s/rad]; critical by default, or a tenth of a second times the stiffness.
            options: Further arguments of `vc.simulate`, such as forces that the plan did not know.
        """
        if not isinstance(way, str) or way not in _WAYS:
            raise InputError(f"way must be one of {', '.join(map(repr, _WAYS))}, not {quoted(way)}")
        m, end = self.tracker.space.mechanism, float(self.times[-1]) if until is None else until
        controllers: list[Any] = [Torques(self.torques)]
        if way == "feedback":
            controllers = [ComputedTorque(self.motion, stiffness, damping)]
        elif way == "springs":
            controllers.append(PD(self.motion, stiffness, 0.1 * stiffness if damping is None else damping))
        return simulate(m, self.states[0], end, controller=controllers, **options)


def plan(tracker: Tracker, s: State, until: float, step: float = 0.01) -> Plan:
    """Motion that follows tracks from a state on, and its torques: steps a to d of [PFB, 5].

    The accelerations of the tracker are integrated by Heun's method; loops are closed after each step. Torques are
    those of inverse dynamics: of every joint in an open chain, of the actuated ones in a closed one.

    Args:
        tracker: Functions and their courses.
        s: Start, with its velocities and time.
        until: End [s].
        step: Of the integration and of the splines [s].
    """
    instance(tracker, Tracker, "tracker")
    m = tracker.space.mechanism
    length = finite_scalar(until, "until") - instance(s, State, "s").time
    n = whole_count(length / time_step(step, "step"), "steps of a plan", _MOST_STEPS)
    dt, state = length / n, s.copy().follow(m)
    states, a, tau, u = [], [], [], []
    for i in range(n + 1):
        state.time = s.time + i * dt
        states.append(state)
        a.append(tracker.acceleration(state))
        tau.append(inverse_dynamics(m, state, a[-1]).tau)
        u.append(tracker.space.value(state))
        if i < n:
            state = _advanced(tracker, state, a[-1], dt)
    joints = [slot for slot in state.layout.slots if slot.coordinates]
    times = np.array([one.time for one in states])
    q = np.array([one.q for one in states])
    tau_all = np.array(tau)
    motion = Motion.sampled(
        times, {slot.name: _part(q[:, slot.q], slot.has_quaternion) for slot in joints}, ends="not-a-knot"
    )
    torques = {slot.name: _part(tau_all[:, slot.v], False) for slot in joints}
    functions = TimeFunctions.sampled(times, torques, ends="not-a-knot")
    return Plan(tuple(states), np.array(a), tau_all, np.array(u), motion, functions, tracker)


def _advanced(tracker: Tracker, s: State, a: Array, dt: float) -> State:
    """State after a step of Heun's method, loops closed."""
    m = tracker.space.mechanism
    ahead = s.integrate(dt * (s.v + 0.5 * dt * a))
    ahead.v = s.v + dt * a
    ahead.time = s.time + dt
    if not s.layout.is_tree:
        ahead = project(m, assemble(m, ahead).state)
    later = tracker.acceleration(ahead)
    ahead.v = s.v + 0.5 * dt * (a + later)
    return ahead if s.layout.is_tree else project(m, ahead)


def _part(samples: Array, has_quaternion: bool) -> Any:
    """Samples of one joint: a column for one freedom, a tuple of columns for several, quaternions as they are."""
    if samples.shape[1] == 1:
        return samples[:, 0]
    return samples if has_quaternion else tuple(samples.T)
