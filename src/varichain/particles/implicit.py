"""The equations of implicit steps: which springs are in them, and in which order links are eliminated."""

from __future__ import annotations

import heapq
import math
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import InputError
from varichain.kernels.particle_blocks import N
from varichain.kernels.particle_implicit import implicit_steps
from varichain.kernels.particle_records import (
    ANGLE,
    COLUMN,
    ENTRY,
    N_SCALAR_WAYS,
    N_WAYS,
    OF_COUPLING,
    OF_FREEDOM,
    OF_RESTRICTION,
    SLIDE,
    STIFF_ROW,
)
from varichain.kernels.particle_run import verlet
from varichain.kernels.rows import ROOM, address_of_kernel
from varichain.kernels.tables import as_records
from varichain.particles.linked import LinkedSystem
from varichain.particles.steps import contact_step

Row = tuple[int, int, int, set[int]]  # kind, place, way and links


class Implicit:
    """Implicit steps of one structure: the pattern of its equations, and memory for their factor.

    Attributes:
        n_blocks: Blocks of 12 x 12 of the factor.
    """

    def __init__(self, system: LinkedSystem) -> None:
        """Lay out the equations.

        Raises:
            InputError: There are particles that belong to no link, or rotors.
        """
        if system.particles:
            raise InputError("implicit steps are for links: particles that were added by hand have none")
        if system.run["has_rotors"][0]:
            name = system.freedoms.names[int((system.freedoms.array["armature"] > 0.0).argmax())]
            raise InputError(
                f"freedom {name!r} has an armature, whose rotor moves by explicit steps: take method='verlet', or set "
                "the armature to 0"
            )
        self._system, links = system, system.links.array
        fixed = set(np.flatnonzero(links["fixed"] > 0).tolist())
        rows = [(kind, place, way, ends - fixed) for kind, place, way, ends in _springs(system)]
        order, below = eliminated(set(range(len(links))) - fixed, (ends for *_, ends in rows))
        blocks: dict[tuple[int, int], int] = {}
        for j in order:
            for i in (j, *below[j]):
                blocks[j, i] = len(blocks)
        column_of = {link: column for column, link in enumerate(order)}
        mass = 4.0 / system.inverse_mass[np.asarray(links["first"])[order]]
        self._columns, self._entries, self._updates = _columns(order, below, blocks, column_of, mass)
        self._rows = _stiff_rows(rows, blocks, column_of)
        self.n_blocks = len(blocks)
        self._memory = np.zeros((self.n_blocks, N, N)), np.zeros((len(order), N))

    def advance(self, n_steps: int, step: float, threads: int = 1) -> int:
        """Advance by steps of equal length [s]; the status. One thread does it."""
        system = self._system
        layout = (self._rows, self._columns, self._entries, self._updates)
        address = address_of_kernel(verlet, ROOM)
        implicit_steps(address, *system._arrays(), system._half, *layout, *self._memory, n_steps, step)
        return int(system.run["status"][0])


def _springs(system: LinkedSystem) -> Iterator[Row]:
    """All spring-dampers between links, and the links that each acts on."""
    for i, r in enumerate(system.restrictions.array):
        yield OF_RESTRICTION, i, 0, {int(r["a"]), int(r["b"])}
    freedoms = system.freedoms.array
    ends = [{int(F["a"]), int(F["b"])} for F in freedoms]
    for i, F in enumerate(freedoms):
        if F["acts"] or F["driven"]:
            for way in range(N_SCALAR_WAYS if F["kind"] in (ANGLE, SLIDE) else N_WAYS):
                yield OF_FREEDOM, i, way, ends[i]
    for i, c in enumerate(system.couplings.array):
        yield OF_COUPLING, i, 0, ends[int(c["follower"])] | ends[int(c["leader"])]


def eliminated(links: set[int], groups: Iterable[set[int]]) -> tuple[list[int], dict[int, list[int]]]:
    """Order of elimination by least degree, and the links after each that have a block with it, in that order.

    Links of a group have blocks with each other; the elimination of a link joins its neighbours.
    """
    near: dict[int, set[int]] = {link: set() for link in links}
    for group in groups:
        for link in group:
            near[link] |= group - {link}
    heap = [(len(found), link) for link, found in near.items()]
    heapq.heapify(heap)
    order: list[int] = []
    below: dict[int, set[int]] = {}
    while heap:
        degree, link = heapq.heappop(heap)
        if link in below or degree != len(near[link]):
            continue
        order.append(link)
        below[link] = near[link]
        for other in near[link]:
            near[other] = (near[other] | near[link]) - {link, other}
            heapq.heappush(heap, (len(near[other]), other))
    place = {link: i for i, link in enumerate(order)}
    return order, {link: sorted(found, key=place.__getitem__) for link, found in below.items()}


def _columns(
    order: list[int],
    below: dict[int, list[int]],
    blocks: dict[tuple[int, int], int],
    column_of: dict[int, int],
    mass: NDArray[np.float64],
) -> tuple[NDArray[Any], NDArray[Any], NDArray[np.int64]]:
    """Columns with their entries, and blocks that each elimination changes."""
    columns = np.zeros(len(order), COLUMN)
    entries: list[tuple[int, int]] = []
    updates: list[int] = []
    for column, link, m in zip(columns, order, mass, strict=True):
        column["link"], column["mass"], column["block"] = link, m, blocks[link, link]
        column["entries"], column["updates"] = len(entries), len(updates)
        entries += [(column_of[other], blocks[link, other]) for other in below[link]]
        column["end_entries"] = len(entries)
        updates += [blocks[i, k] for n, i in enumerate(below[link]) for k in below[link][n:]]
    return as_records(columns), as_records(np.array(entries, ENTRY)), np.array(updates, np.int64)


def _stiff_rows(rows: list[Row], blocks: dict[tuple[int, int], int], column_of: dict[int, int]) -> NDArray[Any]:
    """Records of the spring-dampers."""
    records = np.zeros(len(rows), STIFF_ROW)
    for record, (kind, place, way, ends) in zip(records, rows, strict=True):
        links = sorted(ends, key=column_of.__getitem__)
        record["kind"], record["place"], record["way"], record["n"] = kind, place, way, len(links)
        record["links"][: len(links)] = links
        record["columns"][: len(links)] = [column_of[link] for link in links]
        pairs = [blocks[i, k] for n, i in enumerate(links) for k in links[n:]]
        record["blocks"][: len(pairs)] = pairs
    return as_records(records)


def implicit_step(system: LinkedSystem, step: float | None) -> float:
    """A step of the implicit method [s]; by default a hundredth of the time a longest arm needs to fall.

    Raises:
        InputError: The step is too long for the ground, whose forces are explicit.
    """
    longest, name = contact_step(system)
    if step is not None:
        if not step <= longest:
            raise InputError(
                f"step must be at most {longest:.3g} s, not {step:.3g} s: {name} is on ground that is too stiff for "
                f"it, and the ground's forces are explicit; {0.5 * longest:.2g} s would do, or softer ground"
            )
        return step
    size = max((float(arms.lengths.max()) for arms in system.arms[1:]), default=1.0)
    gravity = float(np.linalg.norm(system.run["gravity"]))
    return min(0.005 * math.sqrt(size / gravity) if gravity > 0.0 else 5e-4, 0.5 * longest)
