"""What is measured: a name for each measurement, so that some can be chosen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from varichain.bench.contact_costs import contact_costs
from varichain.bench.contenders import (
    CONSTRAINED,
    D_CONSTRAINED,
    D_FORWARD,
    D_INVERSE,
    FORWARD,
    IMPACT,
    INVERSE,
    LEFT_OPEN,
    MASS,
    RUN,
    STEP,
    DisagreementError,
)
from varichain.bench.designs import design_costs
from varichain.bench.kinematics import composed_functions, kinematics_step
from varichain.bench.measures import (
    Effort,
    actuator_torques,
    batches,
    beside_peers,
    derivative_costs,
    friendly_calls,
    growth,
    structure_changes,
)
from varichain.bench.mechanisms import CLOSED, LARGE, OPEN
from varichain.bench.memory import memory
from varichain.bench.particle_costs import particle_costs
from varichain.bench.particle_peers import equal_errors
from varichain.bench.reaching import figure_at_rest, reach_problems, talos_at_rest
from varichain.bench.rows import Row
from varichain.bench.startup import start_up
from varichain.errors import InputError

_STRUCK = ("figure, 2 hands + 2 feet", "figure, 4 welds", "pinned chain of 100")


@dataclass(frozen=True)
class Case:
    """One measurement.

    Attributes:
        name: "task: mechanism".
        measure: Measures it.
        is_long: Whether it is left out of a quick run.
    """

    name: str
    measure: Callable[[Effort], list[Row]]
    is_long: bool = False


def cases(only: Sequence[str] = (), is_quick: bool = False) -> list[Case]:
    """All measurements, or those whose names contain one of the words.

    Raises:
        InputError: A word is in no name.
    """
    found = _all_cases()
    for word in only:
        if not any(word.lower() in case.name.lower() for case in found):
            raise InputError(
                f"no benchmark has {word!r} in its name; they are {', '.join(case.name for case in found)}"
            )
    chosen = [case for case in found if not only or any(word.lower() in case.name.lower() for word in only)]
    return [case for case in chosen if not (is_quick and case.is_long)]


def measure(chosen: Sequence[Case], effort: Effort, tell: Callable[[str], object]) -> tuple[list[Row], list[str]]:
    """Measure some cases one after the other, telling which; rows, and what libraries disagree about."""
    rows: list[Row] = []
    failures: list[str] = []
    for number, case in enumerate(chosen, start=1):
        tell(f"{number} of {len(chosen)}  {case.name}")
        try:
            rows += case.measure(effort)
        except DisagreementError as error:  # no time of it means anything, those of the others do
            failures.append(f"{case.name} was not measured: {error}")
            tell(failures[-1])
    return rows, failures


def _all_cases() -> list[Case]:
    pairs = [(task, mechanism) for task in (INVERSE, MASS, FORWARD) for mechanism in OPEN]
    pairs += [(CONSTRAINED, mechanism) for mechanism in CLOSED]
    pairs += [(IMPACT, mechanism) for mechanism in _STRUCK]
    pairs += [(D_INVERSE, "figure, open"), (D_FORWARD, "figure, open"), (D_CONSTRAINED, "figure, 4 welds")]
    pairs += [(task, mechanism) for task in STEP for mechanism in ("figure, open", "figure, 4 welds")]
    pairs += [(LEFT_OPEN, "figure, 4 welds")]
    pairs += [(task, mechanism) for task in RUN for mechanism in ("figure, 2 hands + 2 feet", "figure, 4 welds")]
    found = [Case(f"{task}: {what}", partial(beside_peers, task, what), what in LARGE) for task, what in pairs]
    grown = [(INVERSE, "chain"), (FORWARD, "chain"), (CONSTRAINED, "pinned chain"), (CONSTRAINED, "ladder")]
    found += [Case(f"growth of {task}: {family}", partial(growth, task, family)) for task, family in grown]
    driven = ("figure, 2 hands + 2 feet", "figure, 4 welds")
    found += [Case(f"actuator torques: {what}", partial(actuator_torques, what)) for what in driven]
    return [
        *found,
        Case("friendly calls: figure, open", friendly_calls),
        Case("structure change: figure", structure_changes),
        Case("derivatives beside inverse dynamics: figure", derivative_costs),
        Case("batch: figure, 4 welds", batches),
        Case("designs: four-bar", design_costs),
        Case("inverse kinematics: figure, open", kinematics_step),
        Case("composed functions: figure, open", composed_functions),
        Case("reach: figure", partial(reach_problems, figure_at_rest), is_long=True),
        Case("reach: Talos", partial(reach_problems, talos_at_rest), is_long=True),
        Case("contact: falling figure", lambda effort: contact_costs(is_quick=effort.is_quick)),
        Case("particles: chain", lambda effort: particle_costs(is_quick=effort.is_quick)),
        Case("particles: equal errors", lambda effort: equal_errors(is_quick=effort.is_quick)),
        Case("first start: figure, open", lambda effort: start_up(), is_long=True),
        Case("memory: chain of 1000", lambda effort: memory(), is_long=True),
    ]
