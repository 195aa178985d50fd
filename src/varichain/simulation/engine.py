"""The engine of one epoch: the arrays that the kernels advance, for one structure with its controls."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels import running
from varichain.kernels.controls import CONTROLLED, CONTROLLER, DRIVES, HELD, LARGEST, REFERENCES, SOFT, TABLES
from varichain.kernels.derivative import N_ACCOUNTS
from varichain.kernels.methods import N_WORK
from varichain.kernels.records import FORCE
from varichain.kernels.tables import as_records
from varichain.layout.layout import Layout
from varichain.layout.state import State

Array = NDArray[np.float64]
Tally = NDArray[np.int64]

MODES = ("held", "slide", "at")

_SAMPLES_AT_ONCE = 256  # so many samples a call; some milliseconds, so that Ctrl-C is heard soon
_HAPPENINGS_AT_ONCE = 200


@dataclass
class Snapshot:
    """All that a run is at an instant; restoring it repeats the run to the bit."""

    q: Array
    v: Array
    memo: Array
    tally: Tally
    holds: NDArray[Any]
    held_torques: Array


@dataclass
class Laws:
    """Controls as the kernels want them, for one layout."""

    channels: NDArray[Any]
    motion: Array
    counts: tuple[int, int, int]  # channels that drive, that are references of PD controllers, that are torques
    stiffness: Array
    damping: Array
    largest: Array
    controller: int  # address of the compiled one, 0 for none


class Engine:
    """Kernels and arrays of one epoch."""

    def __init__(
        self, state: State, holds: NDArray[Any], hold_names: list[str], laws: Laws, memo: Array, tally: Tally
    ) -> None:
        """Take over a state (copied), and the clock and counters of the run."""
        layout: Layout = state.layout
        self.layout = layout
        self._workspace = layout.new_workspace()  # nobody else works in it: modes stay
        self.q, self.v = state.q.copy(), state.v.copy()
        self.state = State(layout, self.q, self.v, float(memo[running.TIME]))
        self.memo, self.tally = memo, tally
        self.holds, self.hold_names = as_records(holds), hold_names
        self.forces = as_records(np.zeros(0, FORCE))
        self.gains = np.zeros((4, layout.n_v))
        self.gains[LARGEST] = np.inf
        self.counts = np.zeros(6, np.int64)
        self.set_laws(laws)
        self.counts[SOFT] = int(holds["soft"].any())
        n = max(layout.n_q, layout.n_v, N_ACCOUNTS)
        self._node = np.zeros((running.N_NODE, n))
        self._work = np.zeros((N_WORK, max(layout.n_q, 2 * layout.n_v + N_ACCOUNTS)))
        self.samples = np.zeros((_SAMPLES_AT_ONCE, width_of(layout)))
        self._impulses = np.zeros((len(layout.connections) + len(layout.ties), 6))
        self.happenings = np.zeros((4 * len(holds) + _HAPPENINGS_AT_ONCE, 5))
        tally[running.NODE] = 0

    @property
    def time(self) -> float:
        """Time [s]."""
        return float(self.memo[running.TIME])

    @property
    def energy_lost(self) -> float:
        """Kinetic energy that impacts have taken since the start [J]."""
        return float(self.memo[running.LOST])

    @property
    def status(self) -> int:
        """Why the last call returned."""
        return int(self.tally[running.STATUS])

    def set_laws(self, laws: Laws) -> None:
        """Set what controls the joints; torques held since the last tick stay."""
        self._channels, self._motion = as_records(laws.channels), laws.motion
        self.gains[0], self.gains[1], self.gains[LARGEST] = laws.stiffness, laws.damping, laws.largest
        self.counts[[DRIVES, REFERENCES, TABLES]] = laws.counts
        self.counts[CONTROLLER] = laws.controller
        self._mark()

    def hold_torques(self, tau: Array) -> None:
        """Torques (n_v,) until the next tick."""
        self.gains[HELD] = tau
        self._mark()

    def _mark(self) -> None:
        acts = self.counts[[REFERENCES, TABLES, CONTROLLER]].any() or self.gains[HELD].any()
        self.counts[CONTROLLED] = int(acts)
        self.tally[running.NODE] = 0

    def set_forces(self, forces: NDArray[Any]) -> None:
        """External forces (FORCE records)."""
        self.forces = as_records(forces)
        self.tally[running.NODE] = 0

    def run(self, until: float, most_steps: int) -> None:
        """Advance to a time, or to where something needs attention."""
        self._call(running.ADVANCE, until, most_steps)
        self.state._time = self.time

    def settle(self, is_impact: bool) -> Array:
        """What happens at this instant; returns the impulses (n_loops, 6) at the loops, couplings behind them."""
        self._impulses[:] = 0.0
        self._call(running.STRIKE if is_impact else running.SETTLE)
        return self._impulses.copy()

    def settle_again(self) -> None:
        """Find what is held when other torques act at the same instant; what has happened before is kept."""
        earlier = self.new_happenings()
        self._call(running.SETTLE)
        rows = np.concatenate([earlier, self.new_happenings()])
        self.happenings[: len(rows)] = rows
        self.tally[running.HAPPENINGS] = len(rows)

    def sample(self) -> Array:
        """One sample of the present state; what the last run has to tell stays."""
        reports = [running.STATUS, running.SAMPLES, running.HAPPENINGS]
        first, kept = self.samples[0].copy(), self.tally[reports]
        self._call(running.SAMPLE)
        row: Array = self.samples[0].copy()
        self.samples[0], self.tally[reports] = first, kept
        return row

    def loop_wrenches(self) -> Array:
        """Wrenches (n_loops, 6) at the loops now, on their real links, world axes."""
        first = 1 + self.layout.n_q + 3 * self.layout.n_v
        n_loops = len(self.layout.connections)
        wrenches: Array = self.sample()[first : first + 6 * n_loops].reshape(n_loops, 6)
        return wrenches

    def take_over(self, earlier: Engine, with_torques: bool) -> None:
        """Go on as an earlier engine of another structure: what was held stays held, by name.

        So do torques held since the last tick, if asked for; a joint that was cut has none.
        """
        self.set_modes(earlier.modes())
        if with_torques:
            tau = np.zeros(self.layout.n_v)
            before = earlier.layout.tree.slot_by_name
            for slot in self.layout.slots:
                if slot.name in before and before[slot.name].kind == slot.kind:
                    tau[slot.v] = earlier.gains[HELD, before[slot.name].v]
            self.hold_torques(tau)

    def modes(self) -> dict[str, list[int]]:
        """What is held, and how, by name."""
        names = zip(self.hold_names, self.holds, strict=True)
        return {name: [int(hold[mode]) for mode in MODES] for name, hold in names}

    def set_modes(self, modes: dict[str, list[int]]) -> None:
        """Hold what the modes say; what they do not name is free."""
        for name, hold in zip(self.hold_names, self.holds, strict=True):
            for mode, value in zip(MODES, modes.get(name, (0,) * len(MODES)), strict=True):
                hold[mode] = value
        self.tally[running.NODE] = 0

    def new_samples(self) -> Array:
        """Copy of the samples of the last run."""
        return self.samples[: self.tally[running.SAMPLES]].copy()

    def new_happenings(self) -> Array:
        """What happened to holds in the last call: rows of time, what, hold, impulse, energy lost."""
        return self.happenings[: self.tally[running.HAPPENINGS]].copy()

    @property
    def table(self) -> NDArray[np.int64]:
        """Address table of the engine's own workspace."""
        return self._workspace.table

    @property
    def accelerations(self) -> Array:
        """Joint accelerations (n_v,) of the last evaluation."""
        return self._node[running.ACC, : self.layout.n_v]

    @property
    def torques(self) -> Array:
        """Torques (n_v,) of the controllers in the last evaluation."""
        return self._node[running.TAU, : self.layout.n_v]

    def plain(self) -> dict[str, Any]:
        """All that the run is now, as plain values."""
        return {
            "q": self.q.tolist(),
            "v": self.v.tolist(),
            "memo": self.memo.tolist(),
            "tally": self.tally.tolist(),
            "modes": self.modes(),
            "held_torques": self.gains[HELD].tolist(),
        }

    def take_up(self, plain: dict[str, Any]) -> None:
        """Go on from plain values."""
        self.q[:], self.v[:] = plain["q"], plain["v"]
        self.memo[:], self.tally[:] = plain["memo"], plain["tally"]
        self.state._time = self.time
        self.set_modes(plain["modes"])
        self.hold_torques(np.array(plain["held_torques"]))

    def snapshot(self) -> Snapshot:
        """All that the run is now."""
        held = self.gains[HELD].copy()
        return Snapshot(self.q.copy(), self.v.copy(), self.memo.copy(), self.tally.copy(), self.holds.copy(), held)

    def restore(self, snapshot: Snapshot) -> None:
        """Go back to a snapshot of the same epoch."""
        self.q[:], self.v[:] = snapshot.q, snapshot.v
        self.memo[:], self.tally[:] = snapshot.memo, snapshot.tally
        self.holds[:] = snapshot.holds
        self.gains[HELD] = snapshot.held_torques
        self.tally[running.NODE] = 0
        self.state._time = self.time

    @property
    def arguments(self) -> tuple[Any, ...]:
        """Arguments of the kernel `run`, but for what it is to do."""
        return (
            self._workspace.table,
            self.holds,
            self.forces,
            self._channels,
            self._motion,
            self.gains,
            self.counts,
            self.q,
            self.v,
            self.memo,
            self.tally,
            self._node,
            self._work,
            self.samples,
            self.happenings,
            self._impulses,
        )

    def _call(self, task: int, until: float = 0.0, most_steps: int = 0) -> None:
        running.run(*self.arguments, task, until, most_steps)  # type: ignore[call-arg]


def sample_columns(layout: Layout) -> list[tuple[str, int]]:
    """Blocks of a sample: names and widths, in the order in which the kernel writes them."""
    return [
        ("time", 1),
        ("q", layout.n_q),
        ("v", layout.n_v),
        ("tau", layout.n_v),
        ("holding", layout.n_v),
        ("loop_forces", 6 * len(layout.connections)),
        ("coupling_forces", len(layout.ties)),
        ("energy", 3),
        ("work", N_ACCOUNTS + 1),
        ("momentum", 6),
        ("center", 3),
        ("closure", 1),
    ]


def width_of(layout: Layout) -> int:
    """Numbers in a sample."""
    return sum(width for _, width in sample_columns(layout))
