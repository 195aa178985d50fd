"""Context of a run: everything that acts on a mechanism, in one argument."""

from __future__ import annotations

from typing import Any, NamedTuple


class Context(NamedTuple):
    """Arguments of the right-hand side of a simulation that do not change within a step."""

    table: Any  # address table of the structure
    restraints: Any  # stops and dry friction, with their modes
    forces: Any  # external
    channels: Any  # motions that joints are driven along, references, torque tables
    motion: Any  # numbers of the channels
    controls: Any  # gains and torques, one record a freedom
    run: Any  # record of the run
    extra: Any  # generalized forces (n_v) beside all others, of implicit steps
    rate: Any  # 1 / step if a step is to undo the errors of loops (Euler), 0 if they are closed otherwise
    derivative: Any  # function of a context, a time and a state: accelerations, torques and powers
