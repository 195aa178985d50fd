"""Events of a simulation: a time or a condition, and actions."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.errors import InputError, quoted
from varichain.instants.actions import Connect, Couple, Cut, Push, SetGravity
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import (
    finite_scalar,
    flag,
    instance,
    is_index,
    is_sign,
    name_string,
    positive_scalar,
    several,
)

Condition = Callable[[Mechanism, State], float]


@dataclass(frozen=True, eq=False)
class Use:
    """A change of controllers, driving motions or external forces; see `use`."""

    changes: dict[str, Any]


@dataclass(frozen=True)
class Stop:
    """The end of a simulation; see `stop`."""

    reason: str = ""


Action = Connect | Couple | Cut | Push | SetGravity | Use | Stop
# A function is called at the event and returns an action, several actions, or None.
Planned = Action | Callable[[Mechanism, State], Any]


@dataclass(frozen=True, eq=False)
class At:
    """Actions at a time."""

    time: float
    actions: tuple[Planned, ...]
    name: str | None = None


@dataclass(frozen=True, eq=False)
class When:
    """Actions when a function of the state passes through zero.

    Attributes:
        condition: Called as condition(m, s).
        actions: Actions at the event.
        direction: 1 upward only, -1 downward only, 0 both.
        once: Whether it happens the first time only.
        name: Name, for the trace.
    """

    condition: Condition
    actions: tuple[Planned, ...]
    direction: int = 0
    once: bool = True
    name: str | None = None


@dataclass(frozen=True, eq=False)
class WhenForce:
    """Actions when the load of a joint passes a threshold; see `when_force`."""

    joint: str
    force: float | None
    moment: float | None
    actions: tuple[Planned, ...]
    once: bool = True
    name: str | None = None


Event = At | When | WhenForce


def use(**changes: Any) -> Use:
    """Replace controller, driving motion or external forces from the event on; None for none.

    Args:
        changes: `controller=`, `motion=` or `forces=`; see `simulate`.
    """
    known = ("controller", "motion", "forces")
    for name in changes:
        if name not in known:
            raise InputError(f"use() takes {', '.join(known)}, not {quoted(name)}")
    if not changes:
        raise InputError(f"use() needs one of {', '.join(known)}")
    return Use(dict(changes))


def stop(reason: str = "") -> Stop:
    """End the simulation at the event."""
    return Stop(instance(reason, str, "reason"))


def changes_forces(event: Event) -> bool:
    """Whether an event may change external forces; what functions return is not known before."""
    return any(callable(action) or (isinstance(action, Use) and "forces" in action.changes) for action in event.actions)


def at(time: float, *actions: Planned, name: str | None = None) -> At:
    """An event at a time [s].

    Args:
        time: Simulated time.
        actions: `vc.connect(...)`, `vc.couple(...)`, `vc.cut(...)`, `vc.push(...)`, `vc.use(...)`, `vc.stop()`, or
            functions (m, s) that return actions.
        name: Name, for the trace.
    """
    return At(finite_scalar(time, "time of the event"), _checked_actions(actions), _checked_name(name))


def when(
    condition: Condition, *actions: Planned, direction: int = 0, once: bool = True, name: str | None = None
) -> When:
    """An event when condition(m, s) passes through zero, located to 1e-9 s.

    A value of exactly zero at the start is no passage. The condition is evaluated after every step: two passages
    within one step are missed.

    Args:
        condition: Function of mechanism and state that returns a number.
        actions: See `at`.
        direction: 1 for upward passages alone, -1 for downward ones, 0 for both.
        once: Whether it happens the first time only.
        name: Name, for the trace.
    """
    if not callable(condition):
        raise InputError(f"a condition must be a function of (m, s) that returns a number, not {quoted(condition)}")
    if not is_sign(direction) and not is_index(direction, 1):
        raise InputError(f"direction must be 1 (upward), -1 (downward) or 0 (both), not {quoted(direction)}")
    return When(condition, _checked_actions(actions), direction, flag(once, "once"), _checked_name(name))


def when_force(
    joint: str,
    *actions: Planned,
    force: float | None = None,
    moment: float | None = None,
    once: bool = True,
    name: str | None = None,
) -> WhenForce:
    """An event when the force [N] or the moment [N m] that a joint carries passes a threshold upward.

    Args:
        joint: Name of a joint, of the tree or of a loop; the event waits as long as there is none of this name.
        actions: See `at`.
        force: Threshold of the force [N].
        moment: Threshold of the moment [N m]; one or both are given.
        once: Whether it happens the first time only.
        name: Name, for the trace.
    """
    if force is None and moment is None:
        raise InputError("when_force needs a threshold: force=... [N] or moment=... [N m]")
    bounds = [None if x is None else positive_scalar(x, what) for x, what in ((force, "force"), (moment, "moment"))]
    named = name_string(joint, "joint of when_force")
    return WhenForce(named, bounds[0], bounds[1], _checked_actions(actions), flag(once, "once"), _checked_name(name))


def checked_events(events: Any) -> list[Event]:
    """The events as a list."""
    given = several(events)
    for event in given:
        if not isinstance(event, At | When | WhenForce):
            raise InputError(f"events must be vc.at(...), vc.when(...) or vc.when_force(...), not {quoted(event)}")
    return given


SAME_INSTANT = 1e-9  # [s]: events closer than this are one change


def check_times(events: Iterable[Event], start: float) -> None:
    """Raise InputError if an event lies before the start: it would never happen, or too late."""
    for event in events:
        if isinstance(event, At) and event.time < start - SAME_INSTANT:
            raise InputError(f"an event is at t = {event.time:g} s, before the start at {start:g} s; leave it out")


def together(events: list[At]) -> list[At]:
    """The first of these events, as many as can happen in one instant: a cut of a joint that another connects is later.

    In an instant cuts come first: the joint would not be there yet.
    """
    connected: set[str] = set()
    for i, event in enumerate(events):
        if any(isinstance(action, Cut) and action.joint in connected for action in event.actions):
            return events[:i]
        connected |= {action.name for action in event.actions if isinstance(action, Connect) and action.name}
    return events


def planned_actions(actions: Iterable[Planned], m: Mechanism, s: State) -> list[Action]:
    """Actions of an instant; functions are called for theirs."""
    found: list[Action] = []
    for action in actions:
        if isinstance(action, Action):
            found.append(action)
        else:
            answer = action(m, s)
            answers = [] if answer is None else several(answer)
            found += _checked_results(answers)
    return found


def _checked_results(actions: list[Any]) -> list[Action]:
    for action in actions:
        if not isinstance(action, Action):
            raise InputError(
                f"an action's function must return actions such as vc.cut('grip') or None, not {quoted(action)}"
            )
    return actions


def _checked_actions(actions: tuple[Any, ...]) -> tuple[Planned, ...]:
    if not actions:
        raise InputError(
            "an event needs an action: vc.connect, vc.couple, vc.cut, vc.push, vc.use, vc.stop, or a function (m, s)"
        )
    for action in actions:
        if not isinstance(action, Action) and not callable(action):
            raise InputError(
                "an action must be vc.connect(...), vc.couple(...), vc.cut(...), vc.push(...), vc.use(...), vc.stop() "
                f"or a function (m, s), not {quoted(action)}"
            )
    return actions


def _checked_name(name: Any) -> str | None:
    return None if name is None else name_string(name, "name of the event")


def condition_value(condition: Condition, m: Mechanism, s: State) -> float:
    """Value of a condition; InputError if it is not a finite number."""
    value = condition(m, s)
    if isinstance(value, bool | np.bool_):
        return 1.0 if value else -1.0
    number = finite_scalar(value, "value of a condition")
    return number
