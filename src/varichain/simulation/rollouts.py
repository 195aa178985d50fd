"""Simulations from many states, on all cores."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.batch import Batch
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.motion import Motion
from varichain.simulation.controls import Controls
from varichain.simulation.events import check_times, checked_events
from varichain.simulation.laws import variations
from varichain.simulation.many_starts import checked_starts, states_from
from varichain.simulation.plain_runs import Plan, plain_rollout
from varichain.simulation.rollout_result import Rollout
from varichain.simulation.settings import DEFAULT_METHOD, Settings, checked_settings, checked_until
from varichain.simulation.traced_runs import traced_rollout
from varichain.simulation.watches import has_breaks
from varichain.spatial.checks import count_number, shown

_MOST_SAMPLES = 10**8

Array = NDArray[np.float64]


def rollout(
    m: Mechanism,
    states: Any,
    until: float | None = None,
    *,
    steps: int | None = None,
    torques: ArrayLike | None = None,
    events: Any = (),
    controller: Any = None,
    motion: Motion | None = None,
    forces: Any = (),
    parameters: Any = None,
    seeds: Any = None,
    method: str = DEFAULT_METHOD,
    step: float | None = None,
    sample: float | None = None,
    tolerance: float = 1e-9,
    control_step: float | None = None,
    limits: Any = "hard",
    contacts: str = "off",
    threads: int | None = None,
) -> Rollout:
    """Simulate a mechanism from many states, independently, on all cores; no argument is changed.

    Every run has the same bits as `vc.simulate` from its state, whatever the number of threads. A failed run is
    reported in `faults`, and the others continue. Without events, joints that give way, driven joints and functions in
    Python all steps are compiled and the threads do not wait for each other; with them every run has a trace and its
    own structure, and the threads share Python.

    Args:
        m: Mechanism.
        states: State objects of one time, or a pair of arrays q (n, n_q) and v (n, n_v) at time 0.
        until: Time to reach [s]; or
        steps: Number of steps to take.
        torques: Torques of every state (n, K, n_v), each constant for a `control_step`; K must reach to the end. Or
            (n, n_v), constant throughout. They add to those of the controllers.
        events: See `vc.simulate`, also for the following arguments. Functions are called by several threads.
        controller: Controllers, the same for all states.
        motion: Motion that joints are driven along.
        forces: External forces on links.
        parameters: Parameters of `vc.Discrete` controllers by name, a value (n, ...) for each run.
        seeds: Seeds of their noise (n,).
        method: "euler", "rk4", "rk45", "gbs" or "implicit".
        step: Grid of time [s].
        sample: Time between samples [s], a multiple of `step`, which is the default.
        tolerance: Error allowed in a step of the adaptive methods.
        control_step: Time between calls of Python functions, and between torques [s]; `step` by default.
        limits: Joint limits: "hard", "soft", `vc.SoftLimits(...)` or "off".
        contacts: "off", "exact" or "stepping"; see `simulate`. With contacts every run has a trace.
        threads: Number of threads; all cores if None.

    Raises:
        InputError: Shapes do not fit, or a run cannot begin; the message names the state.
    """
    if not isinstance(m, Mechanism):
        raise InputError(f"expected a Mechanism, not {type(m).__name__}")
    settings = checked_settings(method, step, sample, tolerance, control_step, limits, contacts)
    own = m.copy()
    q, v, start = states_from(own, states)
    times = sample_times(start, _end(until, steps, settings, start), settings)
    given = checked_events(events)
    check_times(given, start)
    controls = Controls(controller, motion, forces)
    by_tick = _torques_by_tick(torques, len(q), own.n_v, times, settings)
    laws = variations(controls.laws, len(q), parameters, seeds)
    batch = Batch(own, threads)
    q_closed, v_closed = checked_starts(own, batch, q, v, start, settings)
    is_plain = not given and not controls.is_asked and motion is None and not has_breaks(own)
    if is_plain and contacts == "off":
        return plain_rollout(Plan(own, q_closed, v_closed, times, settings, controls, laws, by_tick, batch.threads))
    if by_tick.shape[1] and not is_plain:
        raise InputError("torques are for runs without events, motions, joints that give way and Python functions")
    options = {"events": given, "motion": motion, "forces": forces, "method": method}
    options |= {"step": step, "sample": sample, "tolerance": tolerance, "control_step": control_step, "limits": limits}
    options["contacts"] = contacts
    controllers = [controls.with_laws(own_laws) for own_laws in laws]
    if by_tick.shape[1]:
        for own_controllers, tau in zip(controllers, by_tick, strict=True):
            own_controllers.append(_TorquesByTick(tau, start, settings.control_step))
    return traced_rollout(own, q, v, times, batch.threads, options, controllers)


class _TorquesByTick:
    """Torques of one run, each constant for a control step, as a controller."""

    def __init__(self, tau: Array, start: float, period: float) -> None:
        self._tau, self._start, self._period = tau, start, period

    def __call__(self, m: Mechanism, s: State) -> Array:
        tick = int((s.time - self._start) / self._period + 1e-9)
        torques: Array = self._tau[min(tick, len(self._tau) - 1)]  # of one alone: constant throughout
        return torques


def sample_times(start: float, end: float, settings: Settings) -> Array:
    """Times of the samples of a run [s], as the kernels choose them: on the grid, and at the end."""
    n = int((end - start) / settings.step + 1e-9)
    if n // settings.every > _MOST_SAMPLES:
        raise InputError(
            f"a rollout keeps its samples in memory: {n // settings.every} are more than {_MOST_SAMPLES}, the most; "
            "give a larger sample"
        )
    times: Array = np.array(start + np.arange(0, n + 1, settings.every) * settings.step, dtype=np.float64)
    if abs(times[-1] - end) <= 1e-9 * settings.step and len(times) > 1:
        times[-1] = end
    return times if times[-1] == end else np.append(times, end)


def _end(until: float | None, steps: int | None, settings: Settings, start: float) -> float:
    if (until is None) == (steps is None):
        raise InputError("rollout needs either until, a time [s], or steps, a number")
    if steps is None:
        return checked_until(until, start)
    return start + count_number(steps, "steps", 10**9) * settings.step


def _torques_by_tick(torques: Any, n: int, n_v: int, times: Array, settings: Settings) -> Array:
    """Torques (n, K, n_v) of all control steps; K is zero if there are none."""
    if torques is None:
        return np.zeros((n, 0, n_v))
    try:
        tau = np.array(torques, dtype=np.float64)
    except (TypeError, ValueError, OverflowError):
        raise InputError(f"torques must be numbers, not {shown(torques)}") from None
    if tau.shape == (n, n_v):
        tau = tau[:, None, :]
    else:
        k = int(np.ceil((times[-1] - times[0]) / settings.control_step - 1e-9))
        if tau.ndim != 3 or tau.shape[0] != n or tau.shape[1] < k or tau.shape[2] != n_v:
            raise InputError(
                f"torques must have the shape ({n}, {n_v}), or ({n}, K, {n_v}) with K at least {k}, one for every "
                f"control step of {settings.control_step:g} s; not {tau.shape}"
            )
        tau = tau[:, :k]
    if not np.isfinite(tau).all():
        i = int(np.flatnonzero(~np.isfinite(tau).all(axis=(1, 2)))[0])
        raise InputError(f"torques of state {i} are not finite")
    return np.ascontiguousarray(tau)
