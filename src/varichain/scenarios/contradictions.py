"""Events that cannot all happen: cuts of what is cut, connections of what is connected, events after the end."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from varichain.errors import VarichainError
from varichain.instants.actions import Connect, Cut
from varichain.mechanism.joints import Free
from varichain.mechanism.mechanism import Mechanism
from varichain.scenarios.marks import Location
from varichain.scenarios.validation import Faults
from varichain.simulation.events import At, Event, Stop
from varichain.spatial.pose import Pose

_SAME = 1e-9  # [m] places that are nearer than this are one


@dataclass(frozen=True)
class PlannedAction:
    """One action of an event; `location` is None for the scenario's own, `time` for one that waits."""

    time: float | None
    action: Any
    location: Location | None


def steps_of(event: Event, location: Location | None) -> list[PlannedAction]:
    """Actions of an event, each with where it stands in the file."""
    time = event.time if isinstance(event, At) else None
    places = [None if location is None else (*location, "do", i) for i in range(len(event.actions))]
    return [PlannedAction(time, action, place) for action, place in zip(event.actions, places, strict=True)]


def check_events(m: Mechanism, steps: list[PlannedAction], end: float, faults: Faults) -> None:
    """Note the contradictions among all events of a run, the scenario's own included."""
    timed = sorted((step for step in steps if step.time is not None), key=_order)
    _check_end(timed, end, faults)
    # what waits may come at any time: of joints that it touches only the numbers of cuts and connections are sure
    waiting = {_joint(m, step.action) for step in steps if step.time is None}
    _check_counts(m, steps, waiting, faults)
    _Story(m, faults).follow([step for step in timed if _joint(m, step.action) not in waiting])


def _order(step: PlannedAction) -> tuple[float, bool]:
    """At one instant cuts come before connections."""
    return step.time or 0.0, not isinstance(step.action, Cut)


def _check_end(timed: list[PlannedAction], end: float, faults: Faults) -> None:
    stops = [step for step in timed if isinstance(step.action, Stop)]
    for step in timed:
        assert step.time is not None
        if step.location is None:
            continue
        place = (*step.location[:2], "at")
        if step.time > end:
            faults.add(place, f"this event at {step.time:g} s never happens: the run ends at {end:g} s")
        elif stops and step.time > (stops[0].time or 0.0):
            where = _place_of(stops[0], faults)
            faults.add(place, f"this event at {step.time:g} s never happens: the run is stopped {where}")


def _check_counts(m: Mechanism, steps: list[PlannedAction], joints: set[str | None], faults: Faults) -> None:
    present = _present(m)
    connected = Counter(_joint(m, step.action) for step in steps if isinstance(step.action, Connect))
    cuts: dict[str, list[PlannedAction]] = {}
    for step in steps:
        if isinstance(step.action, Cut) and step.action.joint in joints:
            cuts.setdefault(step.action.joint, []).append(step)
    for joint, found in cuts.items():
        surplus = found[int(joint in present) + connected[joint] :]
        for step in surplus:
            if step.location is not None:
                other = f"cut by another event too, {_place_of(found[0], faults)}"
                faults.add(step.location, f"joint {joint!r} is {other}, and never connected again")


class _Story:
    """What is connected, as times go by."""

    def __init__(self, m: Mechanism, faults: Faults) -> None:
        self._m, self._faults = m, faults
        self._present = _present(m)
        self._since: dict[str, PlannedAction] = {}  # the last change of a joint
        self._places: dict[str, tuple[str, str, Pose]] = {
            str(link.joint.name): (link.real.name, link.parent.name, link.on_real)
            for link in m.virtual_links
            if link.joint is not None and link.real is not None and link.parent is not None and link.on_real is not None
        }

    def follow(self, timed: list[PlannedAction]) -> None:
        """Go through the timed events in their order."""
        for step in timed:
            if isinstance(step.action, Cut):
                self._cut(step, step.action.joint, timed)
            elif isinstance(step.action, Connect):
                self._connect(step, step.action)

    def _cut(self, step: PlannedAction, joint: str, timed: list[PlannedAction]) -> None:
        if joint in self._present:
            free = {str(link.joint.name) for link in self._m.links if isinstance(link.joint, Free)}
            if joint in free:
                self._fault(step, f"joint {joint!r} is free: nothing holds it, there is nothing to cut")
            else:
                self._present.discard(joint)
                self._places.pop(joint, None)
        elif joint in self._since:
            self._fault(step, f"joint {joint!r} is cut already, {_place_of(self._since[joint], self._faults)}")
        else:
            later = next(
                (s for s in timed if _joint(self._m, s.action) == joint and isinstance(s.action, Connect)), None
            )
            if later is not None:
                place = _place_of(later, self._faults)
                self._fault(step, f"joint {joint!r} is not there yet: it is connected only later, {place}")
        self._since[joint] = step

    def _connect(self, step: PlannedAction, action: Connect) -> None:
        joint = _joint(self._m, action)
        assert joint is not None
        place = _place(self._m, action)
        twin = next((name for name, other in self._places.items() if place and _is_same(place, other)), None)
        named = joint in self._present and action.name is not None
        if named or twin is not None:
            found = joint if named else str(twin)
            since = f", {_place_of(self._since[found], self._faults)}" if found in self._since else " from the start"
            self._fault(
                step, f"connected already: joint {found!r}{since}; cut it first, or choose another name or place"
            )
        self._present.add(joint)
        self._since[joint] = step
        if place is not None:
            self._places[joint] = place

    def _fault(self, step: PlannedAction, what: str) -> None:
        if step.location is not None:
            self._faults.add(step.location, what)


def _present(m: Mechanism) -> set[str]:
    joints = {str(link.joint.name) for link in (*m.links, *m.virtual_links) if link.joint is not None}
    return joints | {coupling.name for coupling in m.couplings}


def _joint(m: Mechanism, action: Any) -> str | None:
    """Name of the joint that an action is about."""
    if isinstance(action, Cut):
        return action.joint
    if not isinstance(action, Connect):
        return None
    if action.name is not None or action.joint.name is not None:
        return action.name or action.joint.name
    place = _place(m, action)
    return f"{place[0]} to {place[1]}" if place else None


def _place(m: Mechanism, action: Connect) -> tuple[str, str, Pose] | None:
    """Links of a connection, and its frame on the first; None if they are unknown."""
    try:
        a, at, b, _ = action.ends(m)
    except VarichainError:
        return None
    return a.name, b.name, at or Pose()


def _is_same(one: tuple[str, str, Pose], other: tuple[str, str, Pose]) -> bool:
    return one[:2] == other[:2] and bool(abs(one[2].p - other[2].p).max() < _SAME)


def _place_of(step: PlannedAction, faults: Faults) -> str:
    """When and where an action stands."""
    when = "by an event that waits" if step.time is None else f"at {step.time:g} s"
    return (
        f"{when} (line {faults.line(step.location)})" if step.location is not None else f"{when} by the scenario itself"
    )
