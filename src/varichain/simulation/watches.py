"""Watches, evaluated after every step: conditions of events, loads of joints that may break."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.forces import ExternalForce
from varichain.dynamics.joint_forces import joint_forces
from varichain.errors import InputError
from varichain.instants.actions import Action, Cut
from varichain.instants.breaking import overloads
from varichain.layout.layout import Layout
from varichain.mechanism.mechanism import Mechanism
from varichain.simulation.engine import Engine
from varichain.simulation.events import Event, When, WhenForce, condition_value

Array = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Loads:
    """Accelerations and loop forces of a state, with the attributes of `ForwardDynamics`."""

    a: Array
    loop_forces: dict[str, Array]

    @staticmethod
    def of(engine: Engine) -> Loads:
        """Loads of the present state, with restraints, drives and controllers."""
        wrenches = engine.loop_wrenches()
        names = [str(connection.joint.name) for connection in engine.layout.connections]
        return Loads(engine.accelerations.copy(), dict(zip(names, wrenches, strict=True)))


class Watch(ABC):
    """A number that is evaluated after every step; an event happens when it passes zero."""

    name: str
    once: bool = True

    @abstractmethod
    def value(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> float:
        """Number that passes through zero."""

    @abstractmethod
    def happened(self, before: float, now: float) -> bool:
        """Whether the event happened between two values."""

    @abstractmethod
    def actions(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> tuple[Any, ...]:
        """Actions of the event."""


class EventWatch(Watch):
    """Watch of a user's event."""

    event: When | WhenForce

    def __init__(self, event: When | WhenForce, index: int) -> None:
        """Watch an event, whose index among the run's events is `index`."""
        self.event, self.once = event, event.once
        self.name = event.name or f"event {index}"

    def actions(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> tuple[Any, ...]:
        """The event's actions."""
        return self.event.actions


class ConditionWatch(EventWatch):
    """The condition of a `when` event: passages of zero count."""

    event: When

    def value(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> float:
        """Value of the condition."""
        return condition_value(self.event.condition, m, engine.state)

    def happened(self, before: float, now: float) -> bool:
        """Whether zero was passed in the event's direction; reaching zero counts, starting at zero does not."""
        up, down = before < 0.0 <= now, before > 0.0 >= now
        return (up and self.event.direction >= 0) or (down and self.event.direction <= 0)


class ForceWatch(EventWatch):
    """The threshold of a `when_force` event: a load beyond it counts at once."""

    event: WhenForce

    def value(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> float:
        """Largest excess over a threshold, as a fraction of it."""
        wrench = _load(self.event.joint, m, engine, forces)
        if wrench is None:
            return -1.0
        values = []
        if self.event.force is not None:
            values.append(float(np.linalg.norm(wrench[3:])) / self.event.force - 1.0)
        if self.event.moment is not None:
            values.append(float(np.linalg.norm(wrench[:3])) / self.event.moment - 1.0)
        return max(values)

    def happened(self, before: float, now: float) -> bool:
        """Whether the load is beyond the threshold; a repeating event needs a value below it before."""
        return now >= 0.0 and (self.once or before < 0.0)


class BreakWatch(Watch):
    """Joints with `breaks`: the worst overload is cut, and all one-sided joints that would have to pull."""

    name = "break"
    once = False

    def value(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> float:
        """1 if a joint is overloaded, -1 if none is."""
        return 1.0 if overloads(m, engine.state, Loads.of(engine), forces) else -1.0

    def happened(self, before: float, now: float) -> bool:
        """Whether a joint is overloaded."""
        return now > 0.0

    def actions(self, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> tuple[Action, ...]:
        """Cuts."""
        found = overloads(m, engine.state, Loads.of(engine), forces)
        pulled = [overload.joint for overload in found if overload.cause == "pull"]
        return tuple(Cut(name) for name in dict.fromkeys(pulled or [found[0].joint]))


BREAKS = BreakWatch()


def watches_of(events: list[Event]) -> list[EventWatch]:
    """Watches of the events with a condition or threshold."""
    found: list[EventWatch] = []
    for index, event in enumerate(events):
        if isinstance(event, When):
            found.append(ConditionWatch(event, index))
        elif isinstance(event, WhenForce):
            found.append(ForceWatch(event, index))
    return found


def has_breaks(m: Mechanism) -> bool:
    """Whether the mechanism has joints that may break."""
    return any(link.joint is not None and link.joint.breaks is not None for link in (*m.links, *m.virtual_links))


def refuse_breaking_joints(layout: Layout) -> None:
    """Refuse tree joints that may break beside contacts, which bear links of the tree too.

    Raises:
        InputError: There is such a joint.
    """
    for joint in layout.joints:
        if joint.breaks is not None:
            raise InputError(
                f"joint {joint.name!r} of the tree may break, and its load is not known in runs with contacts; "
                "give contacts='off', or let a loop's joint break"
            )


def _load(joint: str, m: Mechanism, engine: Engine, forces: tuple[ExternalForce, ...]) -> Array | None:
    """Wrench [moment; force] that a joint carries, None if there is no such joint."""
    loads = Loads.of(engine)
    if joint in loads.loop_forces:
        return loads.loop_forces[joint]
    if joint in engine.layout.tree.slot_by_name:
        if engine.touching is not None:
            raise InputError(
                f"the load of joint {joint!r} is not known in runs with contacts: they bear links of the tree too"
            )
        return joint_forces(m, engine.state, loads, forces)[joint]
    return None
