"""Limits of joints and torques, as bounds of unknowns."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.errors import InputError, quoted
from varichain.layout.layout import Layout
from varichain.layout.tree import JointSlot
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import is_sequence, positive_scalar, real_scalar


@dataclass(frozen=True, eq=False)
class Limits:
    """Bounds of unknowns.

    Attributes:
        q: Lower and upper (n_q,); open where a joint has a quaternion.
        v: Largest speeds (n_v,).
        tau: Lower and upper (n_v,).
    """

    q: tuple[Array, Array]
    v: Array
    tau: tuple[Array, Array]


def limits_of(m: Mechanism, layout: Layout, torque_limits: Any, fastest: Any) -> Limits:
    """Ranges of the joints, and what was given for torques and speeds: a number for all, or by joint."""
    low, high = np.full(layout.n_q, -np.inf), np.full(layout.n_q, np.inf)
    joints = {joint.name: joint for joint in m.joints}
    for slot in layout.slots:
        limits = joints[slot.name].limits if slot.name in joints else None
        if limits is not None and not slot.has_quaternion:
            low[slot.q], high[slot.q] = limits
    v, tau = np.full(layout.n_v, np.inf), (np.full(layout.n_v, -np.inf), np.full(layout.n_v, np.inf))
    for slot, value in _by_joint(layout, fastest, "fastest"):
        v[slot.v] = positive_scalar(value, f"fastest of joint {slot.name!r}")
    for slot, value in _by_joint(layout, torque_limits, "torque_limits"):
        tau[0][slot.v], tau[1][slot.v] = _range(value, f"torque limits of joint {slot.name!r}")
    return Limits((low, high), v, tau)


def _by_joint(layout: Layout, given: Any, what: str) -> list[tuple[JointSlot, Any]]:
    """Slots with what is given for each."""
    if given is None:
        return []
    if isinstance(given, Mapping):
        return [(layout.slot(name), value) for name, value in given.items()]
    return [(slot, given) for slot in layout.slots if slot.actuated or what == "fastest"]


def _range(value: Any, what: str) -> tuple[float, float]:
    """(lower, upper) from a number for both ways, or two."""
    if not is_sequence(value):
        limit = positive_scalar(value, what)
        return -limit, limit
    if len(value) != 2:
        raise InputError(f"{what} must be a number, or (lower, upper), not {quoted(value)}")
    lower, upper = (real_scalar(one, what) for one in value)
    if not lower <= upper:
        raise InputError(f"{what} must be (lower, upper), not {lower:g} and {upper:g}")
    return lower, upper
