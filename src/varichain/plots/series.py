"""Lines of plots: what a trace says of one thing over time, epoch by epoch."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from varichain.errors import UnknownNameError
from varichain.spatial.arrays import Array

if TYPE_CHECKING:
    from varichain.trace import Epoch, Trace
    from varichain.trace.slots import Slot

Reading = Callable[["Epoch", str], "Array | None"]


@dataclass(frozen=True, eq=False)
class Series:
    """A line: its name in the legend, times (n,) [s] and values (n,); NaN between epochs, so that it has gaps there.

    A line that `is_wanted` is dotted: it belongs to the line before.
    """

    name: str
    time: Array
    value: Array
    is_wanted: bool = False

    @property
    def span(self) -> float:
        """By how much it varies."""
        return float(np.nanmax(self.value) - np.nanmin(self.value)) if np.isfinite(self.value).any() else 0.0


def series_of(trace: Trace, name: str, reading: Callable[[Epoch], Array | None]) -> Series | None:
    """The line of what `reading` finds in each epoch, (n,) for its n samples; None if no epoch has it."""
    times, values = [], []
    for epoch in trace.epochs:
        value = reading(epoch) if len(epoch) else None
        if value is not None:
            times += [epoch.time, epoch.time[-1:]]
            values += [value, np.array([np.nan])]
    return Series(name, np.concatenate(times), np.concatenate(values)) if values else None


def energies(trace: Trace) -> list[Series]:
    """Kinetic, gravitational and elastic energy, and their sum [J]; elastic energy only where there is some."""
    found = [
        series_of(trace, name, lambda epoch, k=k: epoch["energy"][:, k] if "energy" in epoch.columns else None)  # type: ignore[misc]
        for k, name in enumerate(("kinetic", "gravitational", "elastic"))
    ]
    total = series_of(trace, "sum", lambda epoch: epoch["energy"].sum(axis=1) if "energy" in epoch.columns else None)
    kept = [
        line for line in found if line is not None and (line.name != "elastic" or np.nanmax(np.abs(line.value)) > 0)
    ]
    return kept if total is None else [*kept, total]


def closure_errors(trace: Trace) -> list[Series]:
    """How far the worst loop is open [m or rad]; exact zeros are left out of the logarithm."""
    line = series_of(trace, "largest gap of a loop", lambda e: e["closure"] if "closure" in e.columns else None)
    if line is None or not np.nanmax(line.value) > 0.0:
        return []
    return [Series(line.name, line.time, np.where(line.value > 0.0, line.value, np.nan))]


def labelled(trace: Trace, block: str) -> list[Series]:
    """Columns of a block by their labels, such as the strain of each link of particles."""
    names = dict.fromkeys(name for epoch in trace.epochs for name in epoch.columns.labels.get(block, ()))

    def column(epoch: Epoch, name: str) -> Array | None:
        own = epoch.columns.labels.get(block, ())
        return epoch[block][:, own.index(name)] if name in own else None

    found = [series_of(trace, name, lambda epoch, name=name: column(epoch, name)) for name in names]  # type: ignore[misc]
    return [line for line in found if line is not None]


def functions(trace: Trace) -> list[Series]:
    """Numbers of tracked functions, each with what is wanted of it, as far as something is."""
    wanted = {line.name: line for line in labelled(trace, "wanted")}
    found = []
    for line in labelled(trace, "u"):
        found.append(line)
        if line.name in wanted and np.isfinite(wanted[line.name].value).any():
            found.append(Series(f"{line.name} wanted", wanted[line.name].time, wanted[line.name].value, is_wanted=True))
    return found


def loop_forces(trace: Trace) -> list[Series]:
    """Magnitude of the force in each joint that closes a loop [N]."""
    names = dict.fromkeys(name for epoch in trace.epochs for name in epoch.slots.loops)
    found = [series_of(trace, name, lambda epoch, name=name: _loop_force(epoch, name)) for name in names]  # type: ignore[misc]
    return [line for line in found if line is not None]


def _loop_force(epoch: Epoch, name: str) -> Array | None:
    if name not in epoch.slots.loops or "loop_forces" not in epoch.columns:
        return None
    size: Array = np.linalg.norm(epoch.loop(name)[:, 3:], axis=1)
    return size


def contact_forces(trace: Trace) -> list[Series]:
    """Magnitude of the force of each surface on each link that touches it [N]."""
    names = dict.fromkeys(pair for epoch in trace.epochs for pair in epoch.contact_pairs)
    found = [series_of(trace, name, lambda epoch, name=name: _contact_force(epoch, name)) for name in names]  # type: ignore[misc]
    return [line for line in found if line is not None]


def _contact_force(epoch: Epoch, name: str) -> Array | None:
    places = [i for i, pair in enumerate(epoch.contact_pairs) if pair == name]
    if not places:
        return None
    size: Array = np.linalg.norm(epoch["contact_forces"].reshape(len(epoch), -1, 3)[:, places].sum(axis=1), axis=1)
    return size


def joint_forces(trace: Trace, joints: Sequence[str] | None) -> list[Series]:
    """Magnitude of the force in each joint of the tree [N]; computed, if the trace does not have them."""
    from varichain.dynamics import with_joint_forces

    if not all("joint_forces" in epoch.columns for epoch in trace.epochs):
        trace = with_joint_forces(trace)

    def force(epoch: Epoch, name: str) -> Array | None:
        wrench = epoch.joint(name).wrench if name in epoch.slots.joints else None
        return None if wrench is None else np.linalg.norm(wrench[:, 3:], axis=1)

    known = dict.fromkeys(name for epoch in trace.epochs for name in epoch.slots.joints)
    for name in joints or ():
        if name not in known:
            raise UnknownNameError("joint", name, known)
    found = [series_of(trace, name, lambda epoch, name=name: force(epoch, name)) for name in joints or known]  # type: ignore[misc]
    return [line for line in found if line is not None]


def freedoms(trace: Trace) -> list[Series]:
    """N_J, rank of J_C and N_F at the first sample of each epoch, constant until its end."""
    from varichain.dynamics import mobility

    counts, times = [], []
    for epoch in trace.epochs:
        if len(epoch):
            found = mobility(epoch.mechanism, epoch.state(0), probe=False)
            counts += [(found.n_all, found.rank, found.n_independent)] * 2
            times += [epoch.start, epoch.end]
    names = ("joint freedoms N_J", "rank of the loops", "degrees of freedom N_F")
    columns = np.array(counts, dtype=float).reshape(-1, 3).T
    return [Series(name, np.array(times), column) for name, column in zip(names, columns, strict=True)]


def joint_lines(
    trace: Trace, joints: Sequence[str] | None, reading: Callable[[Epoch, Slot], dict[str, Array]]
) -> list[Series]:
    """Lines of what `reading` finds for the slot of a joint in an epoch, by label; of all joints or of those named.

    Raises:
        UnknownNameError: No epoch has a joint of a given name.
    """
    known = dict.fromkeys(name for epoch in trace.epochs for name in epoch.slots.joints)
    for name in joints or ():
        if name not in known:
            raise UnknownNameError("joint", name, known)
    found: dict[str, tuple[list[Array], list[Array]]] = {}
    for epoch in trace.epochs:
        for name in (joints or known) if len(epoch) else ():
            slot = epoch.slots.joints.get(name)
            for label, value in (reading(epoch, slot) if slot is not None else {}).items():
                times, values = found.setdefault(f"{name}{label}", ([], []))
                times += [epoch.time, epoch.time[-1:]]
                values += [value, np.array([np.nan])]
    return [Series(name, np.concatenate(times), np.concatenate(values)) for name, (times, values) in found.items()]


def angles(epoch: Epoch, slot: Slot) -> dict[str, Array]:
    """Angles of a joint [deg]; of a ball or a floating body how far it is turned from its zero orientation."""
    if "q" not in epoch.columns:
        return {}
    q = epoch["q"][:, slot.q]
    if slot.joint.has_quaternion:
        return {" (turn)": np.degrees(2.0 * np.arctan2(np.linalg.norm(q[:, 1:4], axis=1), np.abs(q[:, 0])))}
    turning = [(k, name) for k, name in enumerate(slot.joint.coordinates) if name.startswith("angle")]
    return {f".{name}" if slot.joint.n_q > 1 else "": np.degrees(q[:, k]) for k, name in turning}


def displacements(epoch: Epoch, slot: Slot) -> dict[str, Array]:
    """Displacements of a joint [m]; of a floating body the position of its origin."""
    if "q" not in epoch.columns:
        return {}
    q = epoch["q"][:, slot.q]
    if slot.joint.has_quaternion:
        return {f".{axis}": q[:, 4 + k] for k, axis in enumerate("xyz")} if slot.joint.n_q == 7 else {}
    sliding = [(k, name) for k, name in enumerate(slot.joint.coordinates) if not name.startswith("angle")]
    return {f".{name}" if slot.joint.n_q > 1 else "": q[:, k] for k, name in sliding}


def torques(epoch: Epoch, slot: Slot) -> dict[str, Array]:
    """Torques and forces of a joint's actuators [N m or N]; nothing where there are none."""
    return _by_freedom(epoch, "tau", slot)


def holding(epoch: Epoch, slot: Slot) -> dict[str, Array]:
    """Forces of a joint's locks and drives [N m or N]; nothing where there are none."""
    return _by_freedom(epoch, "holding", slot)


def _by_freedom(epoch: Epoch, block: str, slot: Slot) -> dict[str, Array]:
    if block not in epoch.columns:
        return {}
    tau = epoch[block][:, slot.v]
    labels = [f".{name}" if slot.joint.n_v > 1 else "" for name in slot.joint.coordinates]
    return {label: tau[:, k] for k, label in enumerate(labels)}
