"""Joints that break: by too large a load, or because a one-sided joint would have to pull."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from varichain.dynamics.arguments import opened_with_mass
from varichain.dynamics.forces import ExternalForce, checked_forces
from varichain.dynamics.forward import forward_dynamics
from varichain.dynamics.joint_forces import Loaded, checked_result, joint_forces
from varichain.dynamics.kinematics import poses
from varichain.dynamics.loops import loop_frames
from varichain.instants.actions import cut
from varichain.instants.change import StructureChange, change
from varichain.layout.state import State
from varichain.mechanism.breaks import Breaks
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array


@dataclass(frozen=True)
class Overload:
    """Overload of a joint that breaks.

    Attributes:
        joint: Its name.
        cause: "force", "moment" or "pull".
        load: The force [N], the moment [N m] or the pull [N].
        limit: Largest load that it bears.
    """

    joint: str
    cause: str
    load: float
    limit: float


def overloads(m: Mechanism, s: State, result: Loaded, forces: Iterable[ExternalForce] = ()) -> list[Overload]:
    """Joints with `breaks` whose load in `result` is beyond what they bear, the worst first."""
    layout, table = opened_with_mass(m, s)
    checked_result(layout, result), checked_forces(forces)
    found = []
    for loop, (_, X_WB) in zip(layout.loops, loop_frames(layout, table, s), strict=True):
        if loop.joint.breaks is not None:
            found += _overload(loop.name, loop.joint.breaks, result.loop_forces[loop.name], X_WB.R)
    breakable = [link for link in m.links if link.joint is not None and link.joint.breaks is not None]
    if breakable:
        carried = joint_forces(m, s, result, forces)
        R, _ = poses(layout, table, s)
        for link in breakable:
            assert link.joint is not None and link.joint.breaks is not None and link.parent is not None
            R_WJ = R[layout.link_index[link.parent.name]].reshape(3, 3) @ link.at.R
            name = str(link.joint.name)
            found += _overload(name, link.joint.breaks, carried[name], R_WJ)
    return sorted(found, key=lambda overload: -overload.load / max(overload.limit, 1e-9))


def release(m: Mechanism, s: State, tau: Any = None, forces: Iterable[ExternalForce] = ()) -> list[StructureChange]:
    """Cut joints that break in this state, one instant after the other, until none is overloaded.

    The worst overload is cut first, alone, since a cut moves the load to other joints; one-sided joints that pull are
    cut together. Give `tau` by joint names if joints of the tree may break: its length would change with them.
    """
    given = checked_forces(forces)
    changes: list[StructureChange] = []
    while True:
        found = overloads(m, s, forward_dynamics(m, s, tau, given), given)
        if not found:
            return changes
        pulled = [overload.joint for overload in found if overload.cause == "pull"]
        changes.append(change(m, s, [cut(name) for name in dict.fromkeys(pulled or [found[0].joint])]))


def _overload(name: str, breaks: Breaks, wrench: Array, R_WJ: Array) -> list[Overload]:
    """Overload of one joint, None if it bears its load."""
    moment, force = float(np.linalg.norm(wrench[:3])), float(np.linalg.norm(wrench[3:]))
    found = []
    if breaks.force is not None and force > breaks.force:
        found.append(Overload(name, "force", force, breaks.force))
    if breaks.moment is not None and moment > breaks.moment:
        found.append(Overload(name, "moment", moment, breaks.moment))
    if breaks.one_sided is not None:
        push = float(wrench[3:] @ (R_WJ @ np.asarray(breaks.one_sided)))
        if push < -1e-9 * (1.0 + force):  # below that it is rounding of a load that is not there
            found.append(Overload(name, "pull", -push, 0.0))
    return found
