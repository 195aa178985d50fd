"""Controllers and external forces of the rigid engine, for links as particles: asked for at control ticks."""

from __future__ import annotations

from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.kernels.particle_control import control_torques, tick_laws
from varichain.kernels.run_records import CONTROL, FORCE, RUN
from varichain.kernels.tables import as_records
from varichain.layout.state import State
from varichain.particles.linked import LinkedSystem
from varichain.simulation.controls import Controls
from varichain.simulation.laws import Laws
from varichain.spatial.arrays import Array
from varichain.spatial.pose import Pose


class ParticleControls:
    """What controllers and forces do to a system of particles, from one control tick to the next.

    Attributes:
        given: The user's controllers and forces.
        laws: Discrete controllers and their memory.
        is_active: Whether anything is asked for at control ticks.
    """

    def __init__(
        self,
        given: Controls,
        system: LinkedSystem,
        new: tuple[str, ...],
        step: float,
        earlier: ParticleControls | None = None,
    ) -> None:
        """Take the controls of a structure; a joint that is missing is an error in `new` arguments.

        Ticks of discrete controllers are multiples of `step` [s]; their memory is that of the `earlier` controls.

        Raises:
            InputError: A tick is no multiple, or compiled forces act on a link without mass.
        """
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
        self.laws = Laws(table.laws, system.layout.n_v, step)
        if earlier is not None and earlier.laws.given == self.laws.given:
            before = {slot.name: slot.v for slot in earlier._system.layout.slots}
            slots = [slot for slot in system.layout.slots if slot.name in before]
            self.laws.take_over(earlier.laws, [(before[slot.name], slot.v) for slot in slots])
            self.take_laws_up()
        acts = bool(table.laws) or any(self._record[field][0] for field in ("n_references", "n_tables", "controller"))
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

    def tick(self, number: int) -> None:
        """Ask for torques and forces, which act until the next tick, whose number is one higher."""
        system = self._system
        self.state = system.measure()
        if self.laws.given:
            self._record["grid"], self._record["time"] = number, system.time
            tick_laws(self.laws.records, self.laws.memory, self._controls, self._record, self.state.q, self.state.v)
        if self.given.is_asked:
            self.given.update(system.mechanism, cast(Any, self))
        tau = np.empty(system.layout.n_v)
        control_torques(
            self._channels, self._motion, self._controls, self._record, system.time, self.state.q, self.state.v, tau
        )
        system.tau[: len(tau)] = tau
        system.run["is_evaluated"] = 0

    def take_laws_up(self) -> None:
        """Let the torques act that discrete controllers remember."""
        self._controls["discrete"] = self.laws.torques

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
        records, remaining = np.zeros(len(forces), FORCE), 0  # links of the same function
        for record, force in zip(records, forces, strict=True):
            end, is_asked = system.end(names[int(force["link"])]), force["function"] or remaining > 0
            remaining = int(force["n_links"]) - 1 if force["function"] else remaining - 1
            if is_asked and not end.frame.is_close(Pose()):
                raise InputError(
                    f"vc.LinkForces on link {names[int(force['link'])]!r}: it has no mass and is carried by another "
                    "link; name that one"
                )
            record["function"], record["n_links"] = force["function"], force["n_links"]
            R = end.frame.R if force["local"] else np.eye(3)
            wrench = np.array(force["wrench"])
            record["link"], record["local"] = end.link, force["local"]
            record["point"] = end.point(np.array(force["point"]))
            record["wrench"] = np.concatenate([R @ wrench[:3], R @ wrench[3:]])
        system.pushes = as_records(records)
        system.run["is_evaluated"] = 0
