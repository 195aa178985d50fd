"""Coordinates and forces of loops and contacts at any times of an epoch, between its samples."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from varichain.spatial.arrays import Array
from varichain.trace import Epoch
from varichain.trace.hermite import between

Index = NDArray[np.signedinteger]


def moments_of(epoch: Epoch, times: Array) -> tuple[Array, Array]:
    """Coordinates (n, n_q) and forces (n, n_loops, 3) [N] at times within an epoch.

    Coordinates are cubic on the manifold (see `trace.hermite`) if the samples have velocities, and those of the nearest
    sample else. Forces are linear between samples, and zero if the samples have none.
    """
    n_loops = len(epoch.slots.loops)
    if not len(times):
        return np.empty((0, epoch.slots.n_q)), np.zeros((0, n_loops, 3))
    after = np.clip(np.searchsorted(epoch.time, times, side="left"), 0, len(epoch) - 1)
    before = np.where(epoch.time[after] == times, after, np.maximum(after - 1, 0))
    span = np.where(after > before, epoch.time[after] - epoch.time[before], 1.0)
    u = np.where(after > before, (times - epoch.time[before]) / span, 0.0)
    return _coordinates(epoch, before, after, span, u), _forces(epoch, before, after, u, n_loops)


def contact_modes_of(epoch: Epoch, times: Array) -> Array:
    """Modes of contacts (n, contacts) at times within an epoch: those of the sample before, or after if apart there."""
    if "contact_modes" not in epoch.columns:
        return np.zeros((len(times), 0))
    after = np.clip(np.searchsorted(epoch.time, times, side="left"), 0, len(epoch) - 1)
    before = np.where(epoch.time[after] == times, after, np.maximum(after - 1, 0))
    modes = epoch["contact_modes"].reshape(len(epoch), -1)
    found: Array = np.where(modes[before] > 0, modes[before], modes[after])
    return found


def contact_forces_of(epoch: Epoch, times: Array) -> tuple[tuple[str, ...], Array]:
    """Names of contacts, and their forces (n, contacts, 3) [N] at times within an epoch; linear between samples."""
    names = tuple(epoch.columns.labels.get("contact_modes", ()))
    if not names or "contact_forces" not in epoch.columns:
        return (), np.zeros((len(times), 0, 3))
    forces = np.nan_to_num(epoch["contact_forces"])
    columns = [np.interp(times, epoch.time, column) if column.any() else np.zeros(len(times)) for column in forces.T]
    return names, np.column_stack(columns).reshape(len(times), -1, 3)


def aims_of(epoch: Epoch, times: Array) -> dict[str, Array]:
    """Tracked points and their targets (2, n, 3) [m] at times within an epoch, by name; linear between samples.

    They are the blocks `tracked` and `targets`, which trackers record, with three columns a point.
    """
    if "tracked" not in epoch.columns or "targets" not in epoch.columns:
        return {}
    names = [label.rpartition("[")[0] for label in epoch.columns.labels.get("tracked", ())[::3]]
    found = {}
    for k, name in enumerate(names):
        both = [epoch[block][:, 3 * k : 3 * k + 3] for block in ("tracked", "targets")]
        found[name] = np.array([np.column_stack([np.interp(times, epoch.time, x) for x in of.T]) for of in both])
    return found


def _coordinates(epoch: Epoch, before: Index, after: Index, span: Array, u: Array) -> Array:
    q = epoch["q"]
    if "v" not in epoch.columns:
        nearest: Array = q[np.where(u > 0.5, after, before)]
        return nearest
    found: Array = q[before].copy()
    v = epoch["v"]
    for row in np.flatnonzero((after > before) & (u > 0.0)):
        i, j = before[row], after[row]
        found[row], _ = between(epoch.slots, float(span[row]), float(u[row]), q[i], v[i], q[j], v[j])
    return found


def _forces(epoch: Epoch, before: Index, after: Index, u: Array, n_loops: int) -> Array:
    if "loop_forces" not in epoch.columns or not n_loops:
        return np.zeros((len(u), n_loops, 3))
    force = epoch["loop_forces"][..., 3:]
    weight = u[:, None, None]
    found: Array = np.nan_to_num((1.0 - weight) * force[before] + weight * force[after])
    return found
