"""Names and units of the single columns."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from varichain.trace.epoch import Epoch

UNITS = {
    "time": "s",
    "q": "rad, m; quaternions 1",
    "v": "rad/s, m/s",
    "a": "rad/s^2, m/s^2",
    "tau": "N m, N",
    "holding": "N m, N",
    "loop_forces": "N m, N",
    "coupling_forces": "N m, N",
    "joint_forces": "N m, N",
    "energy": "J",
    "work": "J",
    "momentum": "N m s, N s",
    "center": "m",
    "closure": "m or rad",
    "contact_forces": "N",
    "contact_moments": "N m",
    "contact_modes": "0 apart, 1 sticks, 2 slips",
}
PER_FREEDOM = ("v", "a", "tau", "holding")
"""Blocks that have a number for each freedom."""
_PARTS = {
    "energy": ("energy.kinetic", "energy.gravitational", "energy.elastic"),
    "momentum": tuple(f"momentum.{kind}.{axis}" for kind in ("angular", "linear") for axis in "xyz"),
    "center": ("center.x", "center.y", "center.z"),
}
_WRENCH = ("mx", "my", "mz", "fx", "fy", "fz")


def labels(epoch: Epoch) -> dict[str, tuple[str, ...]]:
    """Per block, a name for each of its columns, such as "knee.q", "left shoulder.qw", "grip.fx", "energy.kinetic"."""
    return {name: _labels(epoch, name, width) for name, width in epoch.columns}


def _labels(epoch: Epoch, block: str, width: int) -> tuple[str, ...]:
    if block == "q" or (block in PER_FREEDOM and width == epoch.slots.n_v):
        joints = epoch.slots.joints.items()
        return tuple(f"{name}.{label}" for name, slot in joints for label in slot.labels(block))
    if block == "loop_forces":
        return tuple(f"{name}.{part}" for name in epoch.slots.loops for part in _WRENCH)
    if block == "joint_forces":
        return tuple(f"{name}.{part}" for name in epoch.slots.joints for part in _WRENCH)
    if block == "coupling_forces":
        return tuple(f"{name}.force" for name in epoch.slots.couplings)
    if block in epoch.columns.labels:
        return tuple(f"{block}.{label}" for label in epoch.columns.labels[block])
    if block in _PARTS and len(_PARTS[block]) == width:
        return _PARTS[block]
    return (block,) if width == 1 else tuple(f"{block}.{i}" for i in range(width))
