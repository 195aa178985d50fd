"""Impact: velocities right after moving links are joined, pushed or stopped [NY, V-C]."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.arguments import massless_error
from varichain.dynamics.forces import Force, force_records
from varichain.dynamics.loop_forces import LoopForces, loop_forces_from_rows
from varichain.dynamics.totals import Momentum
from varichain.errors import SimulationError
from varichain.instants.restraints import touchable
from varichain.kernels.external_forces import add_forces
from varichain.kernels.impact import impact as _impact
from varichain.kernels.run_records import CHANNEL, RESTRAINT, RUN
from varichain.kernels.tables import as_records
from varichain.kernels.totals import momentum
from varichain.layout.state import State
from varichain.layout.workspace import Workspace
from varichain.spatial.report import Report, Reported

Array = NDArray[np.float64]

_NO_RESTRAINTS = as_records(np.zeros(0, RESTRAINT))
_STILL = 1e-9  # [m/s or rad/s] that a loop may open with after an impact, relative to the velocities


class Moving(Protocol):
    """A structure in motion, as an impact needs it.

    Attributes:
        state: Time, coordinates and velocities; the impact changes the velocities.
        workspace: Arrays of the structure.
        restraints: Stops and friction, with their modes; the impact sets the modes of those that it touches.
        channels, motion: Driven joints.
        record: Record of the run (RUN), with its time and its number of drives.
    """

    state: State
    workspace: Workspace
    restraints: NDArray[Any]
    channels: NDArray[Any]
    motion: Array
    record: NDArray[Any]


class Bare:
    """A state outside of any run: nothing is driven, and touched stops take part unless limits are off."""

    channels = as_records(np.zeros(0, CHANNEL))
    motion: Array = np.zeros(0)
    record = as_records(np.zeros(1, RUN))

    def __init__(self, state: State, has_impact: bool, limits: str) -> None:
        """Take a state; limits are "hard" or "off"."""
        self.state, self.restraints = state, _NO_RESTRAINTS
        if not has_impact:
            return  # cuts alone: nothing is computed, and no workspace is built
        if limits == "off":
            self.workspace = state.layout.workspaces.of_thread
        else:
            records, self.workspace = touchable(state.layout)
            self.restraints = as_records(records)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Impact(Reported):
    """Result of an impact.

    Attributes:
        jump: Change of the joint velocities (n_v,).
        v: Velocities after it (n_v,).
        impulses: [moment; force] (6,) [N m s, N s] at every loop, those that were there before included: on its real
            link, at the joint, world axes.
        energy_before, energy_after: Kinetic energy [J].
        before: Copy of the state before the impact, in the structure after it.
    """

    jump: Array
    v: Array
    impulses: LoopForces
    energy_before: float
    energy_after: float
    before: State

    @property
    def momentum_before(self) -> Momentum:
        """Momentum of the whole mechanism before the impact, about its centre of mass."""
        return self._momentum(self.before.v)

    @property
    def momentum_after(self) -> Momentum:
        """Momentum after it."""
        return self._momentum(self.v)

    @property
    def energy_lost(self) -> float:
        """Kinetic energy lost [J]; never negative but for rounding."""
        return self.energy_before - self.energy_after

    def report(self) -> Report:
        """Energies, the largest jump, and impulses loop by loop."""
        energies = f"energy {self.energy_before:.6g} J -> {self.energy_after:.6g} J"
        title = f"impact: {energies}, velocities jump by {np.abs(self.jump).max(initial=0.0):.4g} at most"
        return title, (self.impulses.listing(("[N s]", "[N m s]")),)

    def _momentum(self, v: Array) -> Momentum:
        h, center = np.empty(6), np.empty(3)
        momentum(self.before.layout.workspaces.of_thread.table, self.before.q, v, h, center)
        return Momentum(linear=h[3:], angular=h[:3], about=center)


class Struck(NamedTuple):
    """What an impact leaves, of which few look at all.

    Attributes:
        v_before: Velocities before it (n_v,).
        jump: Their change (n_v,).
        impulses: At every loop.
        energy_before, energy_after: Kinetic energy [J].
    """

    v_before: Array
    jump: Array
    impulses: LoopForces
    energy_before: float
    energy_after: float

    def impact(self, after: State) -> Impact:
        """The whole result, from the state right after the impact."""
        before = after.copy()
        before.v[:] = self.v_before
        return Impact(self.jump, after.v.copy(), self.impulses, self.energy_before, self.energy_after, before)


def solve_impact(
    moving: Moving, pushes: Sequence[Force] = (), bouncing: frozenset[str] = frozenset(), restitution: float = 0.0
) -> Struck:
    """Impact of all loops, pushes, drives and touched stops on a moving structure, whose velocities it changes.

    Args:
        moving: The structure.
        pushes: Impulses on links.
        bouncing: Names of loops that reverse a part of their closing velocity, the `restitution`.
        restitution: Reversed part of the closing velocity, 0 to 1.
    """
    state, workspace = moving.state, moving.workspace
    layout, table = state.layout, workspace.table
    if pushes:
        add_forces(table, state.q, state.v, state.time, force_records(layout, tuple(pushes)))
    if bouncing:
        workspace.array("loops")["restitution"][: len(layout.connections)] = [
            restitution if connection.joint.name in bouncing else 0.0 for connection in layout.connections
        ]
    q, v = state.q, state.v
    v_before, jump, work = v.copy(), np.empty(len(v)), np.empty(len(q) + len(v))
    multipliers, wrenches = np.empty(workspace.length("rows")), np.empty((len(layout.connections), 6))
    massless, n_dependent, energy_before, energy_after, opening = _impact(
        table,
        moving.restraints,
        moving.channels,
        moving.motion,
        moving.record,
        q,
        v,
        jump,
        work,
        multipliers,
        wrenches,
    )
    if bouncing:
        workspace.array("loops")["restitution"] = 0.0
    if massless >= 0:
        raise massless_error(layout, massless)
    if not opening <= _STILL:
        raise SimulationError(
            f"the impact at t = {state.time:.9g} s leaves loops opening with {opening:.3g} of the fastest "
            "velocity: their constraints contradict each other, or a driven joint",
            state.time,
        )
    if n_dependent:
        impulses = loop_forces_from_rows(layout, workspace, q)
    else:
        impulses = LoopForces(layout, wrenches, multipliers, is_unique=True)
    return Struck(v_before, jump, impulses, energy_before, energy_after)
