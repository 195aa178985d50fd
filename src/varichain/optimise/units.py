"""Units of a mechanism: a length, a mass and a time of its own, so that large and small ones are the same problem."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from varichain.dynamics.inertia import mass_matrix
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array


@dataclass(frozen=True)
class Units:
    """Units of a mechanism.

    Attributes:
        time: [s].
        energy: [J], also that of a torque.
        q: Of each coordinate (n_q,): 1, or a length [m].
        v: Of each freedom (n_v,), times the unit of time: likewise.
    """

    time: float
    energy: float
    q: Array
    v: Array

    @property
    def force(self) -> Array:
        """Of the force of each freedom (n_v,) [N m or N]."""
        return np.asarray(self.energy / self.v)


def units_of(m: Mechanism, s: State, travel: Array, duration: float) -> Units:
    """Units of a mechanism in a state.

    The length is the largest radius of gyration of what a freedom turns, all mass counted; of what only slides it is
    the way that is guessed, `travel` (n_v,) [m]. The time is that of a pendulum of this length, or `duration`.
    """
    layout = layout_of(m)
    inertia, turns = np.diag(mass_matrix(m, s)), turning(layout)
    mass = layout.moving_mass
    radius = math.sqrt(float(inertia[turns].max(initial=0.0)) / mass)
    length = radius if radius > 0.0 else float(np.abs(travel).max(initial=0.0)) or 1.0
    g = float(np.linalg.norm(m.gravity))
    time = math.sqrt(length / g) if g > 0.0 else duration
    v = np.where(turns, 1.0, length)
    q = np.ones(layout.n_q)
    for slot in layout.slots:
        n = slot.v.stop - slot.v.start
        q[slot.q] = v[slot.v] if not slot.has_quaternion else np.r_[np.ones(4), v[slot.v][3:n]]
    return Units(time, mass * length**2 / time**2, q, v)


def turning(layout: Layout) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """Whether each freedom (n_v,) turns something; the others slide."""
    found = np.zeros(layout.n_v, dtype=bool)
    for slot in layout.slots:
        found[slot.v] = [label.startswith(("angle", "w")) for label in slot.coordinates]
    return found
