"""Ways to answer a question: what is called, in which library, and the answer in our coordinates.

Every contender is a function without arguments whose arrays lie ready in its own library's conventions: what is timed
is the answer, never the translation. Where a library has several ways to the same answer, each is a contender.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib.util import find_spec

import numpy as np

from varichain.bench.mechanisms import Question
from varichain.errors import VarichainError
from varichain.spatial.arrays import Array

INVERSE, MASS, FORWARD = "inverse dynamics", "mass matrix", "forward dynamics"
CONSTRAINED, IMPACT = "constrained forward dynamics", "impact"
D_INVERSE, D_FORWARD = "derivatives of inverse dynamics", "derivatives of forward dynamics"
D_CONSTRAINED = "derivatives of constrained forward dynamics"
DERIVED = (D_INVERSE, D_FORWARD, D_CONSTRAINED)  # which Pinocchio alone has besides
METHODS = ("euler", "rk4")
STEP, RUN = ([f"{what}, {method}" for method in METHODS] for what in ("one step", "20 steps"))
LEFT_OPEN = "one step, euler, loops closed by the next"
TIME_STEP = 1e-3  # [s]
LONGEST = 0.05  # [s] that single steps follow each other before they begin again
PEERS = {
    "pinocchio": "Pinocchio",
    "mujoco": "MuJoCo",
    "pydrake": "Drake",
    "pink": "pink",
    "mink": "mink",
}  # by the name of their package
AGREEMENT = 1e-9  # relative to the largest entry of the answer
_LONG = 60  # freedoms, up to which that is more than what rounding does to accelerations


class DisagreementError(VarichainError):
    """Two libraries answer the same question differently."""


@dataclass(frozen=True, eq=False)
class Contender:
    """One way to answer one task.

    Attributes:
        library: Who answers.
        calls: What is called, as the library's users know it.
        run: The work that is timed.
        answer: Result of the last run, in our coordinates.
        differs: Why its answer may differ; empty if it must not.
        tolerance: Largest relative difference that counts as the same answer.
    """

    library: str
    calls: str
    run: Callable[[], object]
    answer: Callable[[], Array]
    differs: str = ""
    tolerance: float = AGREEMENT

    @property
    def name(self) -> str:
        """Library and calls."""
        return f"{self.library}: {self.calls}"


def agreement_of_accelerations(given: Question) -> float:
    """Relative difference of two accelerations that rounding explains.

    The condition of a chain's mass matrix grows with the fourth power of its length, and with it what elimination makes
    of rounding: MuJoCo's and ours are 5e-14, 7e-10 and 1e-5 apart for 10, 100 and 1000 links.
    """
    return AGREEMENT * max(1.0, float(given.m.n_v / _LONG) ** 4)


def method_of(task: str) -> str:
    """Method of a task of motion."""
    return task.split(", ")[1]


def steps_of(task: str) -> int:
    """Steps that a task of motion takes."""
    return 20 if task in RUN else 1


def contenders(task: str, given: Question) -> list[Contender]:
    """All ways to answer a task, ours first; libraries that are not installed are left out."""
    from varichain.bench.peer_varichain import varichain_contenders

    found = varichain_contenders(task, given)
    if find_spec("pinocchio"):
        from varichain.bench.peer_pinocchio import pinocchio_contenders

        found += pinocchio_contenders(task, given)
    if task in DERIVED:
        return found
    if find_spec("mujoco"):
        from varichain.bench.peer_mujoco import mujoco_contenders

        found += mujoco_contenders(task, given)
    if find_spec("pydrake"):
        from varichain.bench.peer_drake import drake_contenders

        found += drake_contenders(task, given)
    return found


def missing_peers() -> list[str]:
    """Names of the libraries that are not installed, and so are not measured."""
    return [name for package, name in PEERS.items() if not find_spec(package)]


def differences(rivals: Sequence[Contender]) -> dict[str, float]:
    """Largest difference of every answer from the first contender's, relative to the largest entry of that.

    Raises:
        DisagreementError: A contender that must give the same answer does not.
    """
    first, *others = rivals
    first.run()
    expected = np.array(first.answer())
    found = {}
    for other in others:
        other.run()
        difference = float(np.abs(other.answer() - expected).max() / max(np.abs(expected).max(), 1e-300))
        if not other.differs and not difference <= other.tolerance:
            raise DisagreementError(f"{other.name} differs from {first.name} by {difference:.1e}: another question")
        found[other.name] = difference
    return found
