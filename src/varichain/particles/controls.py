"""Controllers and external forces of the rigid engine, for links as particles: asked for at control ticks."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from varichain.dynamics.forces import LinkForces
from varichain.errors import InputError
from varichain.kernels.particle_control import control_torques
from varichain.kernels.run_records import CONTROL, FORCE, RUN
from varichain.kernels.tables import as_records
from varichain.layout.state import State
from varichain.particles.linked import LinkedSystem
from varichain.simulation.controls import Controls
from varichain.spatial.arrays import Array


class ParticleControls:
    """What controllers and forces do to a system of particles, from one control tick to the next.

    Attributes:
        given: The user's controllers and forces.
        is_active: Whether anything is asked for at control ticks.
    """

    def __init__(self, given: Controls, system: LinkedSystem, new: tuple[str, ...]) -> None:
        """Take the controls of a structure; a joint that is missing is an error in `new` arguments.

        Raises:
            InputError: Controllers are discrete, or forces are compiled.
        """
        if given.laws:
            raise InputError(
                "particles have no discrete controllers (vc.Discrete); give vc.Compiled or a function (m, s)"
            )
        if any(isinstance(force, LinkForces) for force in given.acting):
            raise InputError("forces on particles must be vc.Force objects or a function (m, s), not vc.LinkForces")
        self.given, self._system = given, system
        table = given.table(system.layout, new)
        self._channels, self._motion = as_records(table.channels), table.motion
        self._controls: NDArray[Any] = as_records(np.zeros(system.layout.n_v, CONTROL))
        self._record: NDArray[Any] = as_records(np.zeros(1, RUN))
        for field in ("stiffness", "damping", "largest"):
            self._controls[field] = getattr(table, field)
        for field in ("n_drives", "n_references", "n_tables", "controller"):
            self._record[field] = getattr(table, field)
        self._drive(system, table.n_drives)
        acts = any(self._record[field][0] for field in ("n_references", "n_tables", "controller"))
        self.is_active = bool(given.is_asked or acts)
        if self.is_active or given.acting or table.n_drives:
            system.run["is_measured"] = 1
        given.load_forces(cast(Any, self))

    def _drive(self, system: LinkedSystem, n: int) -> None:
        """Let joints follow the first n channels."""
        channels = self._channels[:n]
        system._drives, system._motion = as_records(np.array(channels)), np.ascontiguousarray(self._motion)
        system.freedoms.array["driven"] = np.isin(system.freedoms.array["v"], channels["dof"])
        system.holding[:] = 0.0
        system.run["is_evaluated"] = 0

    def tick(self) -> None:
        """Ask for torques and forces, which act until the next tick."""
        system = self._system
        self.state = system.measure()
        if self.given.is_asked:
            self.given.update(system.mechanism, cast(Any, self))
        tau = np.empty(system.layout.n_v)
        control_torques(
            self._channels, self._motion, self._controls, self._record, system.time, self.state.q, self.state.v, tau
        )
        system.tau[: len(tau)] = tau
        system.run["is_evaluated"] = 0

    # What `Controls` needs of an engine

    state: State

    @property
    def layout(self) -> Any:
        """Layout of the structure."""
        return self._system.layout

    @property
    def time(self) -> float:
        """Time [s]."""
        return self._system.time

    def set_torques(self, tau: Array) -> None:
        """Set the torques of functions (n_v,) until the next tick."""
        self._controls["torque"] = tau

    def set_forces(self, forces: NDArray[Any]) -> None:
        """Set the external forces, whose points are in frames of links."""
        system = self._system
        names = {row: name for name, row in system.layout.link_index.items()}
        records = np.zeros(len(forces), FORCE)
        for record, force in zip(records, forces, strict=True):
            end = system.end(names[int(force["link"])])
            R = end.frame.R if force["local"] else np.eye(3)
            wrench = np.array(force["wrench"])
            record["link"], record["local"] = end.link, force["local"]
            record["point"] = end.point(np.array(force["point"]))
            record["wrench"] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        system.pushes = as_records(records)
        system.run["is_evaluated"] = 0
