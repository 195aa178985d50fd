"""Checks of driving motions: joints begin on them, and neither coordinates nor velocities jump."""

from __future__ import annotations

from math import inf
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.kernels.motion import evaluate
from varichain.layout.state import State
from varichain.motion import Motion

Array = NDArray[np.float64]

_ON_IT = 1e-6  # [rad, m and per second, relative for large velocities] that counts as on the motion


def check_on_motion(motion: Motion, s: State, with_velocities: bool = True) -> None:
    """Raise InputError if a driven joint is not where its motion is at the state's time, nor moves with it."""
    channels, table = motion.packed(s.layout, skip_missing=True)
    there = s.copy()
    evaluate(channels, table, np.array([s.time]), there.q[None], there.v[None], np.empty((1, s.layout.n_v)))
    for differences, scale, what in (
        (s.difference(there), 1.0, "rad or m away from"),
        (there.v - s.v, 1.0 + np.abs(there.v).max(initial=0.0), "rad/s or m/s slower or faster than"),
    ):
        worst = int(np.abs(differences).argmax()) if len(differences) else 0
        if len(differences) and abs(differences[worst]) > _ON_IT * scale:
            raise InputError(
                f"driven joint {s.layout.freedom_name(worst)!r} is {abs(differences[worst]):.3g} {what} its motion at "
                f"t = {s.time:g} s; begin with motion.set_state(m, s), and vc.assemble where there are loops"
            )
        if not with_velocities:
            return


def check_smooth(motion: Motion, s: State, until: float) -> None:
    """Raise InputError if a driven joint would have to jump, or to change its velocity instantly, before `until`.

    An example is a motion that ends at speed: after its end the joint is at rest.
    """
    channels, table = motion.packed(s.layout, skip_missing=True)
    times = np.unique(np.concatenate([np.empty(0), *(_breaks(channel, table, s.time) for channel in channels)]))
    times = times[(times > s.time) & (times < until)]
    if not len(times):
        return
    (q, v), (q_after, v_after) = (_followed(channels, table, np.nextafter(times, side), s) for side in (-inf, inf))
    here, there = s.copy(), s.copy()
    for i, t in enumerate(times):
        here.q, there.q = q[i], q_after[i]
        for jump, scale, unit in ((here.difference(there), 1.0, "rad or m"), (v_after[i] - v[i], v[i], "rad/s or m/s")):
            is_large = np.abs(jump) > _ON_IT * (1.0 + np.abs(scale))
            if is_large.any():
                k = int(is_large.argmax())
                raise InputError(
                    f"the motion of driven joint {s.layout.freedom_name(k)!r} jumps by {abs(jump[k]):.3g} {unit} at "
                    f"t = {t:g} s, which no force can drive; let it end at rest (ends='clamped'), make it longer than "
                    "the run, or let an event vc.use(motion=None) release it before"
                )


def _breaks(channel: Any, table: Array, start: float) -> Array:
    """Times where the pieces of a channel meet; of a repeating channel, the next times after `start`."""
    first = int(channel["breaks"])
    times = table[first : first + int(channel["n_pieces"]) + 1]
    if channel["repeats"]:
        times = times + np.maximum(np.ceil((start - times) / channel["duration"]), 0.0) * channel["duration"]
    return np.asarray(times)


def _followed(channels: NDArray[Any], table: Array, times: Array, s: State) -> tuple[Array, Array]:
    """Coordinates (n, n_q) and velocities (n, n_v) at times (n,), the joints that are not driven as in the state."""
    q, v = np.tile(s.q, (len(times), 1)), np.tile(s.v, (len(times), 1))
    evaluate(channels, table, times, q, v, np.empty_like(v))
    return q, v
