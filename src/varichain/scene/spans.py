"""Frames of one epoch, the times of all frames, and what is seen in any of them."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from varichain.errors import InputError
from varichain.scene.contacts import Contacts, Spots
from varichain.scene.moments import aims_of, contact_forces_of, contact_modes_of, moments_of
from varichain.scene.poses import Poses, link_poses
from varichain.scene.scene import Part, Scene, scene_of
from varichain.spatial.arrays import Array
from varichain.trace import Epoch

MOST_FRAMES = 10**6
_MOST_TIMES = 10**12  # frames of which some are taken


class Span:
    """The frames of one epoch."""

    def __init__(self, epoch: Epoch, scene: Scene, grid: Array, is_last: bool) -> None:
        """Take those of the grid that belong to the epoch; its end belongs to the next, if there is one."""
        is_inside = (grid >= epoch.start) & (grid <= epoch.end if is_last else grid < epoch.end)
        for first, last in epoch.lost:
            is_inside &= ~((grid > first) & (grid < last))
        self.time, self.scene = grid[is_inside], scene
        q, self.forces = moments_of(epoch, self.time)
        self.poses = link_poses(scene.mechanism, q)
        self.first_poses = link_poses(scene.mechanism, q[0] if len(q) else epoch["q"][0])
        self.aims = aims_of(epoch, self.time)
        self._names, self._forces = contact_forces_of(epoch, self.time)
        self._modes = contact_modes_of(epoch, self.time)

    @cached_property
    def _contacts(self) -> Contacts:
        return Contacts(self.scene.mechanism, self._names)

    def pressures(self) -> tuple[tuple[str, ...], Array, Array]:
        """Pairs of links and surfaces by name, with their centres of pressure and forces (n, pairs, 3) [m, N]."""
        return self._contacts.pairs, *self._contacts.pressures(self.poses, self._forces)

    def spots(self, i: int | None = None) -> Spots:
        """Points that bear in any frame, or in one, counted from the first of the epoch."""
        of = slice(None) if i is None else slice(i, i + 1)
        poses = Poses(self.poses.names, self.poses.p[of], self.poses.R[of])
        return self._contacts.spots(poses, self._forces[of], self._modes[of])


def grid_of(epochs: Sequence[Epoch], rate: float, most: int | None) -> Array:
    """Times of frames [s] from the first sample to the last."""
    start, end = epochs[0].start, epochs[-1].end
    frames = (end - start) * rate * (1.0 + 1e-12) + 1e-9
    if not 0.0 <= frames < (MOST_FRAMES if most is None else _MOST_TIMES):
        raise InputError(
            f"from {start:g} s to {end:g} s there would be {frames:.3g} frames at {rate:g} a simulated second; "
            f"fewer than {MOST_FRAMES} are possible"
        )
    n = int(np.floor(frames)) + 1
    every = 1 if most is None else -(-n // most)
    times = start + np.arange(0, n, every) / rate
    return np.minimum(times, end)


def scenes_of(epochs: Sequence[Epoch]) -> list[Scene]:
    """Scenes of all epochs; those with one structure share one."""
    known: dict[bytes, Scene] = {}
    for epoch in epochs:
        content = epoch.structure.content
        if content not in known:
            known[content] = scene_of(epoch.mechanism)
    return [known[epoch.structure.content] for epoch in epochs]


def united(scenes: Sequence[Scene]) -> tuple[Part, ...]:
    """All parts by name; of stand-ins the one with most surface, which has bones to all that was ever tied to it."""
    found: dict[str, Part] = {}
    for scene in dict.fromkeys(scenes):
        for part in scene.parts:
            was = found.get(part.name)
            if was is None or (part.is_stand_in and _n_faces(part) > _n_faces(was)):
                found[part.name] = part
    return tuple(found.values())


def _n_faces(part: Part) -> int:
    return sum(len(surface.triangles.faces) for surface in part.surfaces)
