"""The same question put to several libraries: one mechanism, one state, one answer.

Every contender is a function without arguments whose arrays lie ready in its own library's conventions: what is timed
is the answer, never the translation. Where a library offers several ways to the same answer, each is a contender.
`check_agreement` compares the answers, in our coordinates, before anything is timed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import varichain as vc

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "tests"))

import zoo

Array = NDArray[np.float64]

INVERSE, FORWARD, MASS = "inverse dynamics", "forward dynamics", "mass matrix"
TASKS = (INVERSE, FORWARD, MASS)
AGREEMENT = 1e-9  # relative to the largest entry of the answer


class DisagreementError(Exception):
    """Two libraries answer the same question differently."""


@dataclass(frozen=True)
class Question:
    """A mechanism at a random state, with random accelerations and torques."""

    mechanism: vc.Mechanism
    q: Array
    v: Array
    a: Array
    tau: Array


@dataclass(frozen=True)
class Contender:
    """One way to answer one task.

    Attributes:
        task: One of TASKS.
        library: Who answers.
        calls: What is called, as the library's users know it.
        run: The work that is timed.
        answer: Result of the last run, in our coordinates.
    """

    task: str
    library: str
    calls: str
    run: Callable[[], object]
    answer: Callable[[], Array]

    @property
    def name(self) -> str:
        """Library and calls."""
        return f"{self.library}: {self.calls}"


def question(mechanism: vc.Mechanism, seed: int = 0) -> Question:
    """Question at a random state: quaternions uniform, angles in -pi..pi, velocities standard normal."""
    rng = np.random.default_rng(seed)
    q = zoo.random_q(rng, mechanism)
    v, a, tau = (zoo.random_v(rng, mechanism) for _ in range(3))
    return Question(mechanism, q, v, a, tau)


def contenders(given: Question, task: str) -> list[Contender]:
    """All ways to answer the task, ours first; libraries that are not installed are left out."""
    found = varichain_contenders(given)
    if find_spec("pinocchio"):
        from peer_pinocchio import pinocchio_contenders

        found += pinocchio_contenders(given)
    if find_spec("mujoco"):
        from peer_mujoco import mujoco_contenders

        found += mujoco_contenders(given)
    return [contender for contender in found if contender.task == task]


def check_agreement(rivals: Iterable[Contender], tolerance: float = AGREEMENT) -> float:
    """Largest relative difference from the first contender's answer. Raises DisagreementError beyond the tolerance."""
    first, *others = rivals
    first.run()
    expected = first.answer().copy()
    worst = 0.0
    for other in others:
        other.run()
        difference = float(np.abs(other.answer() - expected).max() / np.abs(expected).max())
        if not difference <= tolerance:
            raise DisagreementError(f"{other.task}: {other.name} differs from {first.name} by {difference:.1e}")
        worst = max(worst, difference)
    return worst


def varichain_contenders(given: Question) -> list[Contender]:
    """The prepared handle, which writes into arrays made beforehand."""
    handle, n = given.mechanism.prepare(), given.mechanism.n_v
    q, v, a, tau = given.q, given.v, given.a, given.tau
    tau_out, a_out, M_out = np.empty(n), np.empty(n), np.empty((n, n))

    def inverse() -> Array:
        return handle.inverse_dynamics(q, v, a, tau_out)

    def forward() -> Array:
        return handle.forward_dynamics(q, v, tau, a_out)

    def mass() -> Array:
        return handle.mass_matrix(q, M_out)

    return [
        Contender(INVERSE, "varichain", "handle.inverse_dynamics", inverse, lambda: tau_out),
        Contender(FORWARD, "varichain", "handle.forward_dynamics", forward, lambda: a_out),
        Contender(MASS, "varichain", "handle.mass_matrix", mass, lambda: M_out),
    ]
