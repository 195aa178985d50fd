"""Forces in the joints of the tree over a whole run."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import numpy as np

from varichain.dynamics.arguments import opened_with_mass
from varichain.dynamics.forces import ExternalForce
from varichain.dynamics.joint_forces import carried_wrenches
from varichain.errors import InputError
from varichain.spatial.arrays import Array
from varichain.spatial.checks import instance
from varichain.trace.epoch import Epoch
from varichain.trace.trace import Trace

_NEEDED = ("q", "v", "a")
_FORCES = 2  # account of external forces among the works


def with_joint_forces(trace: Trace, forces: Iterable[ExternalForce] | Callable[..., Any] | None = None) -> Trace:
    """The trace with one more block, `joint_forces`: the wrench of every tree joint at every sample.

    As `joint_forces` gives it for one state. `trace.joint(name).wrench` has that of one joint; plots, tables and files
    have the block like any other. The new trace cannot be resumed; the old one can.

    Args:
        trace: Trace of a simulation.
        forces: External forces on links, the same as in the run; a function (m, s) is called for every sample. Traces
            do not hold them: a run that had some needs them here, or `()` if none acted after all.

    Raises:
        InputError: The samples have no accelerations, as those of particles, or the run had external forces.
    """
    instance(trace, Trace, "trace")
    if trace.meta.get("engine") == "particles":
        raise InputError(
            "a run of particles has no accelerations of rigid links, of which joint forces are made; loads of its "
            "springs are seen by vc.when_force and vc.Breaks, and those of loops are the block loop_forces"
        )
    if forces is None and (trace.meta.get("has_forces", True) or any(map(_was_pushed, trace.epochs))):
        raise InputError(
            "external forces may have acted in this run, and traces do not hold them: give them as forces=..., or "
            "forces=() if there were none"
        )
    epochs = [epoch.extended("joint_forces", _carried(epoch, forces)) for epoch in trace.epochs]
    return Trace(epochs, trace.meta, trace.log, None, trace.outcome, trace.message, trace.damage)


def _was_pushed(epoch: Epoch) -> bool:
    return "work" in epoch.columns and bool(np.any(epoch["work"][:, _FORCES]))


def _carried(epoch: Epoch, forces: Any) -> Array:
    """Wrenches (n, n_joints, 6) of an epoch."""
    for name in _NEEDED:
        if name not in epoch.columns:
            raise InputError(f"the samples have no {name!r}, only {', '.join(epoch.columns.names)}: no joint forces")
    if epoch.columns.width_of("contact_forces"):
        raise InputError(
            "joint forces are not known in runs with contacts: samples do not store where contact forces act"
        )
    if "joint_forces" in epoch.columns:
        raise InputError("the trace has joint forces already")
    if not len(epoch):
        return np.empty((0, len(epoch.slots.joints), 6))
    m, s = epoch.mechanism, epoch.state(0)
    layout, table = opened_with_mass(m, s)
    rows: tuple[Array, ...] = (
        epoch.time,
        epoch["q"],
        epoch["v"],
        epoch["a"],
        epoch["loop_forces"].reshape(len(epoch), -1),
    )
    if not callable(forces):
        return carried_wrenches(layout, table, rows, () if forces is None else forces)
    found = []
    for i in range(len(epoch)):
        given = forces(m, epoch.state(i))
        found.append(carried_wrenches(layout, table, tuple(x[i : i + 1] for x in rows), () if given is None else given))
    return np.concatenate(found)
