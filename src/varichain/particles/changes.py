"""Changes of structure in motion: connections, cuts and pushes of links as particles.

A cut removes spring-dampers, a connection adds some: particles keep their positions and velocities. Where links connect
with relative velocity, the new springs stop it within some periods of theirs, and dampers take the energy.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from varichain.dynamics.forces import Force
from varichain.errors import GapError
from varichain.instants.actions import Action, Connect, Couple, Cut, Push, SetGravity, apply_couplings
from varichain.mechanism.connections import add_virtual_link, connection_edit, cut_joint
from varichain.mechanism.coupling import coupling_edit
from varichain.mechanism.log import Edit, LogEntry
from varichain.mechanism.transaction import transaction
from varichain.particles.linked import LinkedSystem
from varichain.spatial.pose import Pose

MEET = 1e-3
"""Joint frames further apart than this [m] do not meet: springs give way, so it is more than the rigid engine's."""

_ORIGIN = Pose()


class Changed(NamedTuple):
    """Result of the actions of an instant.

    Attributes:
        system: Particles of the structure afterwards.
        entry: Entry of the structure log; None if the structure stayed.
        energy_lost: Kinetic and elastic energy that the change took [J].
    """

    system: LinkedSystem
    entry: LogEntry | None
    energy_lost: float


def change(system: LinkedSystem, actions: Sequence[Action]) -> Changed:
    """Carry out the actions of an instant: cuts first; the system is left as it is if an action is impossible.

    Raises:
        GapError: The frames of a connection are apart, or joints are not where a coupling wants them.
    """
    m, before = system.mechanism, system.measure()
    with transaction(m):
        edits = [edit for action in actions if isinstance(action, Cut) for edit in cut_joint(m, action.joint)]
        for action in actions:
            if isinstance(action, SetGravity):
                m.gravity = action.gravity
        connections = [action for action in actions if isinstance(action, Connect)]
        edits += [_connect(system, connection) for connection in connections]
        wanted = [action for action in actions if isinstance(action, Couple)]
        made = apply_couplings(m, before.copy().follow(m), wanted)
        edits += [coupling_edit(m, coupling) for coupling in made]
        after = before.copy().follow(m)
        changed = LinkedSystem(m, after, system.spring, system.limits, system.placed(), system.standing)
        _refuse_gaps(changed, connections)
    changed.take_over(system)
    for action in actions:
        if isinstance(action, Push):
            _push(changed, action.force)
    lost = _stored(system) - _stored(changed)
    changed.lost += lost
    entry = m.log.write(before.time, tuple(edits), lost) if edits else None
    return Changed(changed, entry, lost)


def _connect(system: LinkedSystem, connection: Connect) -> Edit:
    """Add a virtual link at the links' present poses, unless the connection says where."""
    m = system.mechanism
    a, at, b, at_other = connection.ends(m)
    if at_other is None:
        at_other = _present_frame(system, a.name, at or _ORIGIN, b.name)
    return connection_edit(add_virtual_link(m, a, b, connection.joint, at, at_other, connection.name))


def _present_frame(system: LinkedSystem, a: str, at: Pose, b: str) -> Pose:
    """Frame in link b that is where a frame of link a is now: its origin as springs see it, on strained links."""
    R = system.pose(b).R.T @ system.pose(a).R @ at.R
    links, end_a, end_b = system.links.array, system.end(a), system.end(b)
    record = links[end_a.link]
    p = record["o"] + end_a.point(at.p) @ record["A"].reshape(3, 3)
    record = links[end_b.link]
    numbers = np.linalg.solve(record["A"].reshape(3, 3).T, p - record["o"])
    in_link = end_b.center + end_b.arms.axes @ (end_b.arms.lengths * numbers)
    return Pose(end_b.frame.inverse() @ in_link, R=R)


def _refuse_gaps(system: LinkedSystem, connections: Sequence[Connect]) -> None:
    """Raise GapError if the frames of the newest connections are apart."""
    system.evaluate()
    rows, newest = system.restrictions.array, system.loop_joints[len(system.loop_joints) - len(connections) :]
    for connection, joint in zip(connections, newest, strict=True):
        gap = float(np.abs(rows["error"][rows["joint"] == joint]).max(initial=0.0))
        allowed = MEET if connection.snap is None else max(connection.snap, MEET)
        if not gap <= allowed:
            raise GapError(
                f"connecting {getattr(connection.a, 'name', connection.a)!r} to "
                f"{getattr(connection.b, 'name', connection.b)!r}: the joint frames are {gap:.3g} m apart, {allowed:g} "
                "allowed; leave out at_other to connect where they are, or give snap",
                gap,
            )


def _stored(system: LinkedSystem) -> float:
    """Kinetic and elastic energy [J]."""
    kinetic, _, elastic = system.energy()
    return float(kinetic + elastic)


def _push(system: LinkedSystem, force: Force) -> None:
    """Give a link an impulse: the velocities of a rigid body's particles change."""
    name = str(getattr(force.link, "name", force.link))
    end, pose, own = system.end(name), system.pose(name), system.particles_of(name)
    R = pose.R if force.axes == "local" else np.eye(3)
    moment, impulse = R @ np.asarray(force.moment), R @ np.asarray(force.force)
    center = system.x[own].mean(axis=0)
    r = system.x[own] - center
    inertia = end.mass / 4.0 * ((r**2).sum() * np.eye(3) - r.T @ r)
    turn = np.linalg.solve(inertia, moment + np.cross(pose @ np.asarray(force.at) - center, impulse))
    system.v[own] += impulse / end.mass + np.cross(turn, r)
    system.run["is_evaluated"] = 0
