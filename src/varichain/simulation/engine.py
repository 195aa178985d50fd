"""The engine of one epoch: the arrays that the kernels advance, for one structure with its controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.instants.contacts import Contacts
from varichain.instants.restraints import Restraints
from varichain.kernels import contact_exact, contact_run, running
from varichain.kernels.jit import plain
from varichain.kernels.methods import scratch_shape
from varichain.kernels.nodes import node_shape, open_node
from varichain.kernels.run_records import (
    CONTROL,
    CROWDED,
    FORCE,
    FULL,
    GIVEN_UP,
    MODES,
    REMEMBERED,
    RUN,
    STEPPING,
    TRANSITION,
)
from varichain.kernels.samples import Sample, sample_widths
from varichain.kernels.tables import as_records, memory_of
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.simulation.control_tables import ControlTable
from varichain.simulation.laws import Laws
from varichain.simulation.touching import Touching

Array = NDArray[np.float64]
Record = NDArray[Any]

_SAMPLES_AT_ONCE = 256  # samples per call: some milliseconds, so that Ctrl-C acts soon
_TRANSITIONS_AT_ONCE = 200


@dataclass
class Snapshot:
    """Complete state of a run at an instant; a restored run repeats itself to the bit.

    Attributes:
        time: Time [s].
        q, v, torques: Coordinates, velocities, and torques of the zero-order hold.
        record, restraints: Memory of the records.
        laws: Records and memory of the discrete controllers.
        contacts: Memory of the contacts; None without.
    """

    time: float
    q: Array
    v: Array
    record: NDArray[np.uint8]
    restraints: NDArray[np.uint8]
    torques: Array
    laws: Any
    contacts: NDArray[np.uint8] | None = None


class Engine:
    """Kernels and arrays of one epoch.

    Attributes:
        layout: The structure.
        workspace: Arrays of the structure, used by this engine only: modes persist in them.
        state: Time, coordinates and velocities, in place.
        record: Record of the run (RUN), one entry.
        restraints: Stops and dry friction, with their modes.
        restraint_names: Name of each restraint, such as "knee" or "left hip.swing".
        channels, motion: Driven joints, references and torque tables.
        laws: Discrete controllers.
        touching: Contacts, with the memory to solve them; None if they are off.
    """

    def __init__(
        self,
        state: State,
        restraints: Restraints,
        table: ControlTable,
        record: Record,
        contacts: Contacts | None = None,
    ) -> None:
        """Take over a state, restraints with their workspace, contacts, and a copy of the run's record."""
        layout: Layout = state.layout
        self.layout = layout
        self.workspace = restraints.workspace
        self.state = state
        self.record = as_records(record.copy())
        self.restraints, self.restraint_names = as_records(restraints.records), restraints.names
        self.forces = as_records(np.zeros(0, FORCE))
        self._controls = as_records(np.zeros(layout.n_v, CONTROL))
        self.set_controls(table)
        self.record["has_soft_stops"] = restraints.records["soft"].any()
        self._node_matrix = np.zeros(node_shape(layout.n_q, layout.n_v))
        self._work = np.zeros(scratch_shape(layout.n_q, layout.n_v))
        self.touching = None if contacts is None else Touching(contacts, restraints)
        self._widths = widths_of(layout, contacts)
        self._samples = np.zeros((_SAMPLES_AT_ONCE, sum(self._widths)))
        n_sources = len(restraints.names) + (0 if contacts is None else len(contacts.pairs))
        self._transitions = as_records(np.zeros(4 * n_sources + _TRANSITIONS_AT_ONCE, TRANSITION))
        node = plain(open_node)(self._node_matrix, layout.n_q, layout.n_v)
        self.accelerations, self.torques = node.a, node.tau  # of the last evaluation

    @property
    def q(self) -> Array:
        """Coordinates (n_q,), in place."""
        return self.state._q

    @property
    def v(self) -> Array:
        """Velocities (n_v,), in place."""
        return self.state._v

    @property
    def time(self) -> float:
        """Time [s]."""
        return float(self.record["time"][0])

    @property
    def status(self) -> int:
        """Status of the last call: why it returned."""
        return int(self.record["status"][0])

    @property
    def failed_freedom(self) -> int:
        """Freedom at which the last call failed."""
        return int(self.record["freedom"][0])

    def set_controls(self, table: ControlTable) -> None:
        """Set channels, gains and controller; torques of the last control tick stay."""
        self.channels, self.motion = as_records(table.channels), table.motion
        for field in ("stiffness", "damping", "largest"):
            self._controls[field] = getattr(table, field)
        for field in ("n_drives", "n_references", "n_tables", "controller"):
            self.record[field] = getattr(table, field)
        self.laws = Laws(table.laws, self.layout.n_v, float(self.record["step"][0]))
        self._mark()

    def set_torques(self, tau: Array) -> None:
        """Set the zero-order hold: torques (n_v,) until the next control tick."""
        self._controls["torque"] = tau
        self._mark()

    def _mark(self) -> None:
        """Note whether controllers act; the node must be evaluated again."""
        acts = any(self.record[field][0] for field in ("n_references", "n_tables", "controller"))
        self.record["is_controlled"] = acts or len(self.laws.given) > 0 or self._controls["torque"].any()
        self.record["is_evaluated"] = 0

    def set_forces(self, forces: Record) -> None:
        """Set the external forces (FORCE records)."""
        self.forces = as_records(forces)
        self.record["is_evaluated"] = 0

    def advance(self, until: float, most_steps: int) -> None:
        """Advance to a time, or until the kernel returns early: see `status`."""
        self._call(running.ADVANCE, until, most_steps)
        self.state._time = self.time

    def settle(self, meets_stops: bool = True) -> None:
        """Find the modes of all restraints at this instant.

        Args:
            meets_stops: Whether joints that move into stops have an impact there; not if one was just solved.
        """
        self._call(running.SETTLE if meets_stops else running.CHOOSE)

    def separate(self) -> None:
        """Move links out of the surfaces that they are in."""
        self._call(contact_run.SEPARATE)

    def settle_again(self) -> None:
        """Find the modes again after torques changed at the same instant; its earlier transitions are kept."""
        earlier = self.new_transitions()
        self._call(running.SETTLE)
        self._put_before(earlier)

    def _put_before(self, earlier: Record) -> None:
        """Put earlier transitions before those of the last call."""
        whole = np.concatenate([earlier, self.new_transitions()])
        self._transitions[: len(whole)] = whole
        self.record["n_transitions"] = len(whole)

    def sample(self) -> Array:
        """One sample of the present state; the report of the last call stays."""
        report = ("status", "n_samples", "n_transitions")
        first, kept = self._samples[0].copy(), [self.record[field].copy() for field in report]
        self._call(running.SAMPLE)
        row: Array = self._samples[0].copy()
        self._samples[0] = first
        for field, value in zip(report, kept, strict=True):
            self.record[field] = value
        return row

    def blocks(self) -> Sample:
        """One sample of the present state by its blocks."""
        return Sample(*np.split(self.sample(), np.cumsum(self._widths)[:-1]))

    def loop_wrenches(self) -> Array:
        """Wrenches (n_loops, 6) at the loops now, on their real links, world axes."""
        wrenches: Array = self.blocks().loop_forces.reshape(-1, 6)
        return wrenches

    def take_over(self, earlier: Engine, with_torques: bool) -> None:
        """Continue from the engine of an earlier structure: restraints keep their modes, by name.

        Torques of the last control tick are kept if `with_torques`; a joint that was cut has none.
        """
        self.set_modes(earlier.modes())
        self.record["persistent"] = 0.0  # other rows
        if with_torques:
            tau = np.zeros(self.layout.n_v)
            before = earlier.layout.tree.slot_by_name
            stays = [slot for slot in self.layout.slots if slot.name in before and before[slot.name].kind == slot.kind]
            for slot in stays:
                tau[slot.v] = earlier._controls["torque"][before[slot.name].v]
            self.set_torques(tau)
            self.laws.take_over(earlier.laws, [(before[slot.name].v, slot.v) for slot in stays])
            self._controls["discrete"] = self.laws.torques

    def modes(self) -> dict[str, dict[str, Any]]:
        """Modes of all restraints by name."""
        names = zip(self.restraint_names, self.restraints, strict=True)
        return {name: {mode: restraint[mode].tolist() for mode in MODES} for name, restraint in names}

    def set_modes(self, modes: dict[str, dict[str, Any]]) -> None:
        """Set the modes of restraints by name; those that are not named are free."""
        for name, restraint in zip(self.restraint_names, self.restraints, strict=True):
            for mode in MODES:
                restraint[mode] = modes[name].get(mode, 0) if name in modes else 0  # older checkpoints lack some
        self.record["is_evaluated"] = 0

    def new_samples(self) -> Array:
        """Copy of the samples of the last call."""
        return self._samples[: int(self.record["n_samples"][0])].copy()

    def new_transitions(self) -> Record:
        """Copy of the transitions of restraints in the last call (TRANSITION records)."""
        return np.array(self._transitions[: int(self.record["n_transitions"][0])], TRANSITION)

    def plain(self) -> dict[str, Any]:
        """State of the run as plain values by name."""
        return {
            "q": self.q.tolist(),
            "v": self.v.tolist(),
            "run": {field: self.record[field][0].tolist() for field in REMEMBERED},
            "modes": self.modes(),
            "torques": self._controls["torque"].tolist(),
            "laws": self.laws.plain(),
            "contacts": None if self.touching is None else self.touching.plain(),
        }

    def take_up(self, plain: dict[str, Any]) -> None:
        """Continue from the values of `plain`."""
        self.q[:], self.v[:] = plain["q"], plain["v"]
        for field in REMEMBERED:
            self.record[field] = plain["run"][field]
        self.state._time = self.time
        self.set_modes(plain["modes"])
        self.set_torques(np.array(plain["torques"]))
        self.laws.take_up(plain["laws"])
        self._controls["discrete"] = self.laws.torques
        if self.touching is not None:
            self.touching.take_up(plain["contacts"])

    def snapshot(self) -> Snapshot:
        """Snapshot of the run now."""
        torques = self._controls["torque"].copy()
        record, restraints = (memory_of(records).copy() for records in (self.record, self.restraints))
        contacts = None if self.touching is None else memory_of(self.touching.records).copy()
        laws = self.laws.snapshot()
        return Snapshot(self.time, self.q.copy(), self.v.copy(), record, restraints, torques, laws, contacts)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of the same epoch."""
        self.q[:], self.v[:] = snapshot.q, snapshot.v
        memory_of(self.record)[:] = snapshot.record
        memory_of(self.restraints)[:] = snapshot.restraints
        if self.touching is not None and snapshot.contacts is not None:
            memory_of(self.touching.records)[:] = snapshot.contacts
        self._controls["torque"] = snapshot.torques
        self.laws.restore(snapshot.laws)
        self._controls["discrete"] = self.laws.torques
        self.record["is_evaluated"] = 0
        self.state._time = self.time

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Arguments of the kernel `run` that come before its task."""
        return (
            self.workspace.table,
            self.restraints,
            self.forces,
            self.channels,
            self.motion,
            self._controls,
            self.laws.records,
            self.laws.memory,
            self.record,
            self.q,
            self.v,
            self._node_matrix,
            self._work,
            self._samples,
            self._transitions,
        )

    def _call(self, task: int, until: float = 0.0, most_steps: int = 0) -> None:
        if self.touching is None:
            running.run(*self.arguments, task, until, most_steps)  # type: ignore[call-arg]
            return
        self._call_touching(task, until, most_steps)
        while self.status in (CROWDED, GIVEN_UP):
            if self.status == CROWDED:
                self.touching.enlarge()
            else:
                self.record["method"] = STEPPING
                self.record["n_events"] = 0
            if task == running.ADVANCE:  # samples and transitions so far are read before the next call
                self.record["status"] = FULL
                return
            earlier = self.new_transitions()
            self._call_touching(task, until, most_steps)
            self._put_before(earlier)

    def _call_touching(self, task: int, until: float, most_steps: int) -> None:
        """Call the kernel of contacts: time stepping, or events as long as they can be located."""
        assert self.touching is not None
        arguments = (*self.arguments, *self.touching.arguments)
        if self.record["method"][0] == STEPPING:
            contact_run.run_contacts(*arguments, task, until, most_steps)  # type: ignore[call-arg]
        else:
            contact_exact.run_exact(*arguments, self.touching.modes, task, until, most_steps)  # type: ignore[call-arg]


def new_record(start: float, method: int, step: float, every: int, tolerance: float) -> Record:
    """Record of a new run."""
    record = np.zeros(1, RUN)
    record["method"], record["every"], record["step"], record["tolerance"] = method, every, step, tolerance
    record["next_step"] = step
    record["time"] = record["start"] = start
    return record


def widths_of(layout: Layout, contacts: Contacts | None) -> Sample:
    """Numbers in each block of a sample."""
    n_loops, n_couplings = len(layout.connections), len(layout.ties)
    n_contacts = 0 if contacts is None else len(contacts.pairs)
    n_moments = n_contacts if contacts is not None and contacts.has_moments else 0
    widths: Sample = plain(sample_widths)(layout.n_q, layout.n_v, n_loops, n_couplings, n_contacts, n_moments)
    return widths
