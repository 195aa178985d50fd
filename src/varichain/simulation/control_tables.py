"""Controllers and driving motions as tables that the kernels read, for one structure."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.kernels.run_records import CHANNEL
from varichain.layout.layout import Layout
from varichain.layout.tree import JointSlot
from varichain.motion import Motion
from varichain.simulation.controllers import PD, Compiled, Controller, Gains, Torques
from varichain.simulation.discrete import Discrete

Array = NDArray[np.float64]
Pack = tuple[NDArray[Any], Array]  # channels and their table


@dataclass(frozen=True, eq=False)
class ControlTable:
    """Controls of one structure.

    Attributes:
        channels, motion: Channels and their numbers: drives first, then references, then torque tables.
        n_drives, n_references, n_tables: Channels of each use.
        stiffness, damping, largest: Gains of the PD controllers and largest torques, by freedoms (n_v,).
        controller: Address of the compiled controller, 0 for none.
        laws: Discrete controllers.
    """

    channels: NDArray[Any]
    motion: Array
    n_drives: int
    n_references: int
    n_tables: int
    stiffness: Array
    damping: Array
    largest: Array
    controller: int
    laws: tuple[Discrete, ...]


def control_table(
    layout: Layout, controllers: Sequence[Controller], motion: Motion | None, new: Collection[str]
) -> ControlTable:
    """Channels, gains and addresses of all controls of a structure.

    A joint that the structure does not have is an error in `new` arguments ("controller", "motion"); in arguments from
    before a structure change it is left out.
    """
    skips_motion, skips = "motion" not in new, "controller" not in new
    driven = frozenset(motion.joints) if motion is not None else frozenset()
    references = [law for law in controllers if isinstance(law, PD)]
    tables = [law for law in controllers if isinstance(law, Torques)]
    stiffness, damping, largest = np.zeros(layout.n_v), np.zeros(layout.n_v), np.full(layout.n_v, np.inf)
    controlled: set[str] = set()
    packs: list[list[Pack]] = [[], [], []]
    if motion is not None:
        packs[0].append(motion.packed(layout, skip_missing=skips_motion))
    for law in references:
        names = [name for name in law.joints or () if name not in driven]
        packs[1].append(law.motion.packed(layout, names, skip_missing=skips))
        for slot in _slots(layout, names):
            if slot.name in controlled:
                raise InputError(f"two PD controllers act on joint {slot.name!r}; leave it out of one by joints=[...]")
            controlled.add(slot.name)
            stiffness[slot.v], damping[slot.v] = _gain(law.stiffness, slot), _gain(law.damping, slot)
            if law.largest is not None:
                largest[slot.v] = law.largest
    for torques in tables:
        packs[2].append(torques.functions.packed(layout, skip_missing=skips))
    channels, table = _joined([pack for kind in packs for pack in kind])
    drives, targets, functions = (sum(len(records) for records, _ in kind) for kind in packs)
    compiled = [law.address for law in controllers if isinstance(law, Compiled)]
    address = compiled[0] if compiled else 0
    laws = tuple(law for law in controllers if isinstance(law, Discrete))
    return ControlTable(channels, table, drives, targets, functions, stiffness, damping, largest, address, laws)


def _slots(layout: Layout, names: Sequence[str]) -> list[JointSlot]:
    return [layout.tree.slot_by_name[name] for name in names if name in layout.tree.slot_by_name]


def _gain(gains: Gains, slot: JointSlot) -> float:
    return float(gains.get(slot.name, 0.0)) if isinstance(gains, Mapping) else float(gains)


def _joined(packs: list[Pack]) -> Pack:
    """Several packed motions as one."""
    channels, tables, offset = [np.zeros(0, CHANNEL)], [np.zeros(0)], 0
    for records, table in packs:
        moved = np.array(records, CHANNEL)
        moved["breaks"] += offset
        moved["coefficients"] += offset
        channels.append(moved)
        tables.append(table)
        offset += len(table)
    return np.concatenate(channels), np.concatenate(tables)
