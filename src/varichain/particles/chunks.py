"""Chunks of links that threads share out, with all that is between links of one chunk."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.particle_records import CHUNK, PARTICLE_RUN
from varichain.kernels.tables import as_records
from varichain.spatial.arrays import Array

if TYPE_CHECKING:
    from varichain.particles.system import System

LINKS = 128
"""Links of a chunk: with their joints they stay in the fast memory of a core."""

Shared = Callable[[Callable[[int, int], object]], None]


@dataclass(frozen=True, eq=False)
class Chunks:
    """Chunks of a system, and memory that its kernels work in.

    Attributes:
        counts: Numbers of particles, links, joints, restrictions and freedoms.
        records: The chunks (CHUNK); the last one has what is between them.
        books: A book for each.
        loose: Places of the particles that belong to no link.
        q_drive, v_drive, a_drive: What a motion wants of the joints.
    """

    counts: tuple[int, ...]
    records: NDArray[Any]
    books: NDArray[Any]
    loose: NDArray[np.int64]
    q_drive: Array
    v_drive: Array
    a_drive: Array


def chunk_of(n_links: int, a: int, b: int) -> int:
    """Chunk that a joint between links a and b belongs to: theirs, or the last if they are in different ones."""
    return a // LINKS if a // LINKS == b // LINKS else -(-n_links // LINKS)


def chunks_of(system: System, counts: tuple[int, ...]) -> Chunks:
    """Chunks of a system; joints that are not in their order make it one chunk."""
    n = counts[1]
    size = LINKS if _are_ordered(system) else max(n, 1)
    records = as_records(np.zeros(-(-n // size) + 1, CHUNK))
    last = len(records) - 1
    for c in range(last):
        records["links"][c], records["end_links"][c] = c * size, min((c + 1) * size, n)
    for name, rows in (("joints", system.joints), ("restrictions", system.restrictions), ("freedoms", system.freedoms)):
        a, b = (np.asarray(rows.array[end]) // size for end in ("a", "b"))
        owner = np.where(a == b, a, last)
        records[name] = np.searchsorted(owner, np.arange(last + 1), "left")
        records[f"end_{name}"] = np.searchsorted(owner, np.arange(last + 1), "right")
    first = np.asarray(system.links.array["first"])
    loose = np.setdiff1d(np.arange(counts[0]), (first[:, None] + np.arange(4)).ravel())
    memory = (np.zeros(len(system.q)), np.zeros(len(system.rates)), np.zeros(len(system.rates)))
    return Chunks(counts, records, as_records(np.zeros(last + 1, PARTICLE_RUN)), loose.astype(np.int64), *memory)


def _are_ordered(system: System) -> bool:
    """Whether joints and all that belongs to them are in the order of their chunks."""
    n = len(system.links)
    for rows in (system.joints, system.restrictions, system.freedoms):
        a, b = (np.asarray(rows.array[end]) // LINKS for end in ("a", "b"))
        if (np.diff(np.where(a == b, a, -(-n // LINKS))) < 0).any():
            return False
    return True


@contextmanager
def in_threads(threads: int, n: int) -> Iterator[Shared]:
    """Function that lets threads do a work(first, end) for n chunks, and returns when all is done."""
    bounds = np.linspace(0, n, min(threads, n) + 1).astype(int).tolist()
    parts = list(pairwise(bounds))
    with ThreadPoolExecutor(max(len(parts) - 1, 1)) as pool:

        def shared(work: Callable[[int, int], object]) -> None:
            tasks = [pool.submit(work, *part) for part in parts[1:]]
            work(*parts[0])
            for task in tasks:
                task.result()

        yield shared
