"""Phase: a span of an optimised motion with one structure, and what is asked of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import KW_ONLY, dataclass, field
from typing import Any

from varichain.errors import InputError, quoted
from varichain.instants.actions import Connect, Couple, Cut, checked_actions
from varichain.spatial.checks import count_number, flag, is_sequence, mapping, name_string, positive_scalar

_MOST_INTERVALS = 10_000
_GOALS = ("start", "end", "start_rates", "end_rates", "at_least", "at_most")


@dataclass(frozen=True, eq=False)
class Phase:
    """A span of time in which the structure stays as it is.

    Goals name functions of the problem, or joints: {"hand": (0.3, 0.0, 0.5), "elbow": 0.2}.

    Attributes:
        duration: [s], or (shortest, longest) if it is part of the problem.
        change: `vc.connect(...)`, `vc.couple(...)` and `vc.cut(...)` of loops and couplings at the beginning of the
            phase. Where a connection does not say where it is on its other link, the guess does. Connections are
            impacts without restitution: land softly to avoid their loss.
        start: Wanted values at the beginning.
        end: Wanted values at the end.
        start_rates: Wanted rates of functions, velocities of joints, at the beginning.
        end_rates: Likewise at the end.
        rest: Whether all joints are at rest at the end.
        at_least: Lower bounds of functions all the while.
        at_most: Upper bounds of functions all the while.
        intervals: Number of intervals of collocation; the error falls with its sixth power.
        name: For messages; its number if there is none.
    """

    duration: Any
    _: KW_ONLY
    change: Any = ()
    start: Mapping[str, Any] = field(default_factory=dict)
    end: Mapping[str, Any] = field(default_factory=dict)
    start_rates: Mapping[str, Any] = field(default_factory=dict)
    end_rates: Mapping[str, Any] = field(default_factory=dict)
    rest: bool = False
    at_least: Mapping[str, Any] = field(default_factory=dict)
    at_most: Mapping[str, Any] = field(default_factory=dict)
    intervals: int = 12
    name: str | None = None

    def __post_init__(self) -> None:
        """Check all that needs no mechanism."""
        own = self.__dict__
        own["duration"] = _durations(self.duration)
        own["change"] = tuple(checked_actions(self.change))
        for action in self.change:
            if not isinstance(action, Connect | Couple | Cut):
                raise InputError(f"a phase begins with connections, couplings and cuts, not with {quoted(action)}")
        for goal in _GOALS:
            own[goal] = {name_string(name, goal): value for name, value in mapping(own[goal], goal).items()}
        own["rest"] = flag(self.rest, "rest")
        own["intervals"] = count_number(self.intervals, "intervals", _MOST_INTERVALS)
        if self.name is not None:
            name_string(self.name, "name")

    @property
    def is_timed(self) -> bool:
        """Whether the duration is given."""
        shortest, longest = self.duration
        return bool(shortest == longest)


def _durations(value: Any) -> tuple[float, float]:
    """(shortest, longest) from one number, or two."""
    if not is_sequence(value):
        value = (value, value)
    if len(value) != 2:
        raise InputError(f"duration must be a number, or (shortest, longest) [s], not {quoted(value)}")
    shortest, longest = (positive_scalar(one, "duration") for one in value)
    if shortest > longest:
        raise InputError(f"duration must be (shortest, longest), not {shortest:g} and {longest:g} s")
    return shortest, longest
