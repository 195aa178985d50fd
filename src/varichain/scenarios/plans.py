"""Events, controllers and forces of scenario files, for the mechanism that they are meant for."""

from __future__ import annotations

from typing import Any

from varichain.dynamics.forces import Force
from varichain.errors import InputError
from varichain.instants.actions import Connect, connect, cut, push
from varichain.mechanism.joint import Joint
from varichain.mechanism.joints import Spherical
from varichain.mechanism.mechanism import Mechanism
from varichain.scenarios.conditions import height_passes, joint_passes
from varichain.scenarios.marks import Location
from varichain.scenarios.schema import Action, Connection, Event, Impulse, Load, Pd, When
from varichain.scenarios.units import Quantity
from varichain.scenarios.validation import Faults, unknown
from varichain.simulation import PD
from varichain.simulation.events import Event as RunEvent
from varichain.simulation.events import at, stop, when, when_force
from varichain.spatial.rotation import quaternion_from_rotation_vector

_DIMENSION = {"angle": "angle", "displacement": "length"}


class Planner:
    """Turns what a file says into what `vc.simulate` takes; unknown names and wrong units are noted as faults."""

    def __init__(self, m: Mechanism, own_events: tuple[RunEvent, ...], faults: Faults) -> None:
        """Learn the mechanism's names, and those that the scenario's own events will make."""
        self._m, self._faults = m, faults
        self._links = [link.name for link in m.links]
        self._ends = ["ground", *self._links, *m.frames]
        self.joints: dict[str, Joint] = {str(j.name): j for j in m.joints}
        loops = [link.joint for link in m.virtual_links if link.joint is not None]
        self._loops = dict.fromkeys([*(str(joint.name) for joint in loops), *(tie.name for tie in m.couplings)])
        for event in own_events:
            self._learn([action for action in event.actions if isinstance(action, Connect)])

    def learn(self, events: list[Event]) -> None:
        """Learn the names that the file's connections will have: events may speak of them."""
        connections = [action.connect for event in events for action in event.do if action.connect is not None]
        self._learn(connections)

    def _learn(self, connections: list[Any]) -> None:
        self._loops |= dict.fromkeys(str(connection.name) for connection in connections if connection.name is not None)

    # Events

    def event(self, event: Event, location: Location) -> RunEvent | None:
        """An event of the file; None if its condition is wrong."""
        actions = [self._action(action, (*location, "do", i)) for i, action in enumerate(event.do)]
        if event.at is not None:
            return at(event.at, *actions, name=event.name)
        assert event.when is not None
        before = len(self._faults.found)
        found = self._when(event, event.when, (*location, "when"), actions)
        return found if len(self._faults.found) == before else None

    def _action(self, action: Action, location: Location) -> Any:
        if action.cut is not None:
            self._known("joint", action.cut, [*self.joints, *self._loops], (*location, "cut"))
            return cut(action.cut)
        if action.connect is not None:
            return self._connection(action.connect, (*location, "connect"))
        if action.push is not None:
            return self._push(action.push, (*location, "push"))
        return stop(action.stop or "")

    def _connection(self, found: Connection, location: Location) -> Connect:
        ends = (("a", found.a), ("b", found.b))
        are_known = [self._known("link or frame", end, self._ends, (*location, key)) for key, end in ends]
        if all(are_known) and found.a == found.b:
            self._faults.add((*location, "b"), f"{found.a!r} cannot be connected to itself; name two different ends")
        return connect(found.a, found.b, found.joint, found.at, found.at_other, name=found.name, snap=found.snap)

    def _push(self, found: Impulse, location: Location) -> Any:
        self._known("link", found.link, self._links, (*location, "link"))
        return push(found.link, found.impulse, found.angular, found.at, found.axes)

    def _when(self, event: Event, found: When, location: Location, actions: list[Any]) -> RunEvent | None:
        key, sign = ("above", 1.0) if found.above is not None else ("below", -1.0)
        threshold: Quantity = getattr(found, key)
        options: dict[str, Any] = {"once": event.once, "name": event.name}
        if found.force_in is not None:
            self._known("joint", found.force_in, [*self.joints, *self._loops], (*location, "force_in"))
            force = self._number(threshold, ("force",), (*location, key))
            if force <= 0.0:
                self._faults.add((*location, key), f"a force must be greater than 0, not {threshold.text}")
                return None
            return when_force(found.force_in, *actions, force=force, **options)
        if found.height_of is not None:
            self._known("link or frame", found.height_of, self._ends[1:], (*location, "height_of"))
            height = self._number(threshold, ("length",), (*location, key))
            return when(height_passes(found.height_of, height, sign), *actions, direction=1, **options)
        assert found.joint is not None
        single = [name for name, joint in self.joints.items() if joint.n_q == 1]
        if found.joint in self.joints and found.joint not in single:
            kind = self.joints[found.joint].kind
            what = f"joint {found.joint!r} is {kind}; a condition needs a joint of one coordinate"
            self._faults.add((*location, "joint"), f"{what}: {', '.join(single) or '(none)'}")
            return None
        if not self._known("joint", found.joint, single, (*location, "joint")):
            return None
        value = self._number(threshold, (self._dimension(found.joint),), (*location, key))
        return when(joint_passes(found.joint, value, sign), *actions, direction=1, **options)

    # Controllers and forces

    def pd(self, found: Pd, location: Location) -> PD | None:
        """A controller towards a pose; None if something in it is wrong."""
        before, target = len(self._faults.found), {}
        valid = [name for name, joint in self.joints.items() if joint.n_q == 1 or isinstance(joint, Spherical)]
        for name, coordinates in found.target.items():
            place = (*location, "target", name)
            if self._known("joint", name, valid, place, of_key=True):
                target[name] = self._coordinates(name, coordinates, place)
        for key in ("stiffness", "damping"):
            gains = getattr(found, key)
            if isinstance(gains, dict):
                for name in gains:
                    self._known("joint", name, list(found.target), (*location, key, name), of_key=True)
                missing = [name for name in found.target if name not in gains]
                if missing:
                    self._faults.add((*location, key), f"{key} has no entry for {', '.join(map(repr, missing))}")
        if len(self._faults.found) > before:
            return None
        return PD(target, found.stiffness, found.damping, found.largest)

    def force(self, found: Load, location: Location) -> Force:
        """A constant force."""
        self._known("link", found.link, self._links, (*location, "link"))
        return Force(found.link, found.force, found.moment, found.at, found.axes)

    def _coordinates(self, name: str, found: Quantity | tuple[Quantity, ...], location: Location) -> Any:
        is_ball = isinstance(self.joints[name], Spherical)
        if isinstance(found, tuple) != is_ball:
            expected = "three numbers, a rotation vector" if is_ball else "one number"
            self._faults.add(location, f"joint {name!r} is {self.joints[name].kind}: its target is {expected}")
            return 0.0
        if isinstance(found, tuple):
            return quaternion_from_rotation_vector([entry.value for entry in found])
        return self._number(found, (self._dimension(name),), location)

    def _dimension(self, joint: str) -> str:
        return _DIMENSION[self.joints[joint].coordinates[0]]

    # Checks

    def _known(self, kind: str, name: str, valid: list[str], location: Location, of_key: bool = False) -> bool:
        if name in valid:
            return True
        self._faults.add(location, unknown(kind, name, valid), of_key)
        return False

    def _number(self, found: Quantity, dimensions: tuple[str, ...], location: Location) -> float:
        try:
            return found.as_one_of(*dimensions)
        except InputError as error:
            self._faults.add(location, f"{location[-1]!r} {error}")
            return 1.0
