"""Epochs: spans of constant structure, with their samples."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from varichain.errors import InputError, UnknownNameError
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.trace.columns import Columns
from varichain.trace.hermite import between
from varichain.trace.labels import PER_FREEDOM
from varichain.trace.samples import MemoryRows, Samples, SamplesInRows
from varichain.trace.slots import Slots
from varichain.trace.structure import PackedStructure
from varichain.trace.text import count

if TYPE_CHECKING:
    from varichain.layout.state import State


_FLAT = ("time", "closure")  # one number a sample
_WRENCHES = ("loop_forces", "joint_forces")  # six numbers of each loop, or joint of the tree


@dataclass(frozen=True, repr=False)
class JointTrace:
    """The motion of one joint.

    Attributes:
        time: Times of the samples (n,) [s].
        q, v, a, tau, holding: Coordinates, velocities, accelerations, torques, and forces of locks and drives:
            (n,) for one freedom, (n, n_q) or (n, n_v) else; None where the trace has none.
        wrench: [moment; force] (n, 6) [N m, N] that the joint carries, in a trace of `vc.with_joint_forces`.
    """

    time: Array
    q: Array | None
    v: Array | None
    a: Array | None
    tau: Array | None
    holding: Array | None
    wrench: Array | None = None

    def __repr__(self) -> str:
        """Number of samples, and what there is of them."""
        blocks = [name for name in ("q", "v", "a", "tau", "holding", "wrench") if getattr(self, name) is not None]
        return f"<JointTrace: {count(len(self.time), 'sample')} of {', '.join(blocks) or 'time'}>"


class Epoch:
    """A span of constant structure: samples in order, and the event that ended it.

    Every block of the samples is an attribute, `epoch.q`, and an item, `epoch["q"]`: (n,) for time and closure,
    (n, n_loops, 6) for loop_forces, (n, n_joints, 6) for joint_forces, (n, width) for the others; all read-only. At
    the instant of an event there are two samples: the last of the epoch that it ends, and the first of the next.

    Attributes:
        index: Number of the epoch in the run, from 0.
        structure: Its structure, packed.
        event: What ended it; None if the run ended, or if it is not known.
        lost: Spans of time (start, end) [s] whose samples are lost: the file was damaged.
    """

    def __init__(
        self,
        index: int,
        structure: PackedStructure,
        samples: Samples,
        event: dict[str, Any] | None = None,
        lost: tuple[tuple[float, float], ...] = (),
    ) -> None:
        """Put an epoch together; traces are made by `TraceWriter` and `Trace.load`."""
        self.index = index
        self.structure = structure
        self.event = event
        self.lost = lost
        self._samples = samples

    @property
    def columns(self) -> Columns:
        """Which blocks the samples have."""
        return self._samples.columns

    @property
    def description(self) -> dict[str, Any]:
        """Its structure as plain values, as `varichain.mechanism.description` gives them."""
        return self.structure.description

    @property
    def mechanism(self) -> Mechanism:
        """The mechanism of this epoch, rebuilt when it is first asked for."""
        return self.structure.mechanism

    @property
    def slots(self) -> Slots:
        """Where each joint stands in q and v."""
        return self.structure.slots

    @property
    def samples(self) -> Array:
        """All samples (n, width), read-only."""
        return self._samples.matrix()

    def __len__(self) -> int:
        """Number of samples."""
        return self._samples.n

    def __getitem__(self, name: str) -> Array:
        """One block of the samples."""
        block = self._samples.block(name)
        if name in _FLAT and block.shape[1] == 1:
            return block[:, 0]
        if name in _WRENCHES:
            return block.reshape(len(block), -1, 6)
        return block

    def __getattr__(self, name: str) -> Array:
        """The blocks as attributes."""
        if name.startswith("_"):
            raise AttributeError(name)  # asked for while an epoch is being unpickled
        if name not in self.columns:
            raise AttributeError(f"epoch {self.index} has no {name!r}; its columns are {', '.join(self.columns.names)}")
        return self[name]

    @cached_property
    def time(self) -> Array:
        """Times of the samples (n,) [s]; kept, since every search needs them."""
        return self["time"]

    @property
    def start(self) -> float:
        """Time of the first sample [s]."""
        return float(self.time[0])

    @property
    def end(self) -> float:
        """Time of the last sample [s]."""
        return float(self.time[-1])

    def joint(self, name: str) -> JointTrace:
        """Motion of one joint of the tree.

        Raises:
            UnknownNameError: No joint of the tree has that name in this epoch.
        """
        slot = self.slots.joints.get(name)
        if slot is None:
            raise UnknownNameError("joint", name, self.slots.joints)
        where = {"q": slot.q, **dict.fromkeys(PER_FREEDOM, slot.v)}
        found = {block: self[block][:, of] if block in self.columns else None for block, of in where.items()}
        flat = {block: x[:, 0] if x is not None and x.shape[1] == 1 else x for block, x in found.items()}
        wrench = (
            self["joint_forces"][:, list(self.slots.joints).index(name)] if "joint_forces" in self.columns else None
        )
        return JointTrace(self.time, **flat, wrench=wrench)

    def loop(self, name: str) -> Array:
        """Wrench [moment; force] (n, 6) [N m, N] in a joint that closes a loop, as in `loop_forces`.

        Raises:
            UnknownNameError: No loop is closed by a joint of that name in this epoch.
        """
        if name not in self.slots.loops:
            raise UnknownNameError("loop", name, self.slots.loops)
        return self["loop_forces"][:, self.slots.loops.index(name)]

    @property
    def contact_pairs(self) -> list[str]:
        """Link and surface of each contact, such as "left foot on floor"; a pair may have several."""
        return [name.rpartition(" ")[0] for name in self.columns.labels.get("contact_modes", ())]

    def contact(self, link: str, surface: str | None = None) -> Array:
        """Force (n, 3) [N] of a surface, or of all, on a link: the sum over its contacts, world axes.

        Raises:
            UnknownNameError: The link can touch no such surface in this epoch.
        """
        pairs = self.contact_pairs
        wanted = f"{link} on " if surface is None else f"{link} on {surface}"
        places = [i for i, pair in enumerate(pairs) if (pair.startswith(wanted) if surface is None else pair == wanted)]
        if not places:
            raise UnknownNameError("contact", wanted.strip(), dict.fromkeys(pairs))
        found: Array = self["contact_forces"].reshape(len(self), -1, 3)[:, places].sum(axis=1)
        return found

    def coupling(self, name: str) -> Array:
        """Force or torque (n,) [N or N m] of a coupling on the joint that follows.

        Raises:
            UnknownNameError: There is no coupling of that name in this epoch.
        """
        if name not in self.slots.couplings:
            raise UnknownNameError("coupling", name, self.slots.couplings)
        return self["coupling_forces"][:, self.slots.couplings.index(name)]

    def extended(self, name: str, values: Array) -> Epoch:
        """The epoch with one more block of numbers, a row of them for each sample."""
        rows = np.hstack([self.samples, values.reshape(len(self), -1)])
        columns = Columns([*self.columns, (name, rows.shape[1] - self.columns.width)], self.columns.labels)
        return Epoch(self.index, self.structure, SamplesInRows(columns, [MemoryRows(rows)]), self.event, self.lost)

    def state(self, i: int) -> State:
        """State of the epoch's mechanism at sample i; negative ones count from the end."""
        if not -len(self) <= i < len(self):
            raise InputError(f"epoch {self.index} has {len(self)} samples; there is no sample {i}")
        q, v = self._motion()
        return self._state(float(self.time[i]), q[i], v[i])

    def at(self, t: float, before: bool = False) -> State:
        """State at a time within the epoch; see `Trace.at`."""
        q, v = self._motion()
        j = int(np.searchsorted(self.time, t, side="left" if before else "right"))
        i, sample = j - 1, j if before else j - 1
        if self.time[sample] == t:
            return self._state(t, q[sample], v[sample])
        for first, last in self.lost:
            if first < t < last:
                raise InputError(f"the samples between {first:g} s and {last:g} s are lost: no state at {t:g} s")
        dt = float(self.time[j] - self.time[i])
        return self._state(t, *between(self.slots, dt, (t - float(self.time[i])) / dt, q[i], v[i], q[j], v[j]))

    def _motion(self) -> tuple[Array, Array]:
        for name in ("q", "v"):
            if name not in self.columns:
                raise InputError(f"no states: the samples have no {name!r}, only {', '.join(self.columns.names)}")
        return self["q"], self["v"]

    def _state(self, t: float, q: Array, v: Array) -> State:
        state = self.mechanism.state()
        state.time = t
        state.q[:], state.v[:] = q, v  # to the bit: the setters would normalise quaternions once more
        return state

    def __repr__(self) -> str:
        """Number, span, samples."""
        span = f"{self.start:g} to {self.end:g} s, " if len(self) else ""
        return f"<Epoch {self.index}: {span}{count(len(self), 'sample')}>"
