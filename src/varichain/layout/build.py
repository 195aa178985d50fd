"""The memory of a structure: all arrays that kernels work on, one behind the other."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.build_loops import build_loops, count_loops
from varichain.kernels.build_tree import build_tree
from varichain.kernels.records import LOOP_SPEC, SPEC
from varichain.kernels.tables import ENTITIES, as_records
from varichain.layout.specs import coupling_spec, link_spec, loop_spec
from varichain.mechanism.coupling import Coupling
from varichain.mechanism.link import Link

Bytes = NDArray[np.uint8]

_GROUND = np.zeros((), SPEC).tobytes()
_INDEX = {name: i for i, name in enumerate(ENTITIES)}
_SIZES = [dtype.itemsize for dtype in ENTITIES.values()]
_NO_LOOPS = [0] * 8


class Memory:
    """One stretch of memory that holds all arrays of a structure.

    All items are multiples of eight bytes long, so all stay aligned.

    Attributes:
        data: The memory.
        lengths: Number of items of every array, in the order of ENTITIES.
        table: Addresses and lengths, the first argument of every kernel; valid as long as the memory lives.
    """

    __slots__ = ("data", "lengths", "table")

    def __init__(self, data: Bytes, lengths: list[int]) -> None:
        """Take over a stretch of memory."""
        self.data = data
        self.lengths = lengths
        address = data.__array_interface__["data"][0]
        numbers = []
        for length, size in zip(lengths, _SIZES, strict=True):
            numbers += [address, length]
            address += length * size
        self.table = np.array(numbers, np.int64)

    @staticmethod
    def zeros(lengths: list[int]) -> Memory:
        """Memory for arrays of these lengths."""
        return Memory(np.zeros(sum([n * size for n, size in zip(lengths, _SIZES, strict=True)]), np.uint8), lengths)

    def copy(self) -> Memory:
        """Independent copy; its addresses are these, moved."""
        twin = object.__new__(Memory)
        twin.data, twin.lengths, twin.table = self.data.copy(), self.lengths, self.table.copy()
        twin.table[::2] += twin.data.__array_interface__["data"][0] - int(self.table[0])
        return twin

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays, in place."""
        i = _INDEX[name]
        start = int(self.table[2 * i] - self.table[0])
        return self.data[start : start + self.lengths[i] * _SIZES[i]].view(ENTITIES[name])


def tree_memory(
    links: tuple[Link, ...], row: dict[Link, int], n_v: int, gravity: NDArray[np.float64]
) -> tuple[Memory, int]:
    """Bodies, freedoms and links of a tree, and the row of a massless link that can move (0 if there is none)."""
    specs = _records(b"".join([_GROUND, *map(link_spec, links)]), SPEC)
    specs["parent"][1:] = [row[link.parent] for link in links]  # type: ignore[index]
    memory = Memory.zeros([1 + int(specs["n_primitives"].sum()), n_v, len(specs), *_NO_LOOPS])
    return memory, int(build_tree(memory.table, specs, gravity.copy()))


def whole_memory(
    tree: Memory,
    virtual: tuple[Link, ...],
    row: dict[Link, int],
    couplings: Iterable[tuple[Coupling, Link, Link]] = (),
) -> Memory:
    """The tree's memory with the loops behind it that virtual links close, then the couplings, with their two links."""
    couplings = tuple(couplings)
    if not virtual and not couplings:
        return tree
    records = [loop_spec(link) for link in virtual] + [coupling_spec(coupling) for coupling, *_ in couplings]
    specs = _records(b"".join(records), LOOP_SPEC)
    specs["link_A"] = [row[link.real] for link in virtual] + [row[link] for _, link, _ in couplings]  # type: ignore[index]
    specs["link_B"] = [row[link.parent] for link in virtual] + [row[link] for _, _, link in couplings]  # type: ignore[index]
    mark, counts = np.zeros(tree.lengths[1], np.int64), np.zeros(6, np.int64)
    count_loops(tree.table, specs, mark, counts)
    n_rows, n_pairs, n_support, n_shared, n_propagated, n_gram = counts.tolist()
    lengths = [*tree.lengths[:3], len(specs), n_rows, n_pairs, n_support, n_shared, n_propagated, n_gram, n_rows]
    memory = Memory.zeros(lengths)
    memory.data[: len(tree.data)] = tree.data
    mark[:] = 0
    build_loops(memory.table, specs, mark)
    return memory


def _records(data: bytes, dtype: np.dtype[Any]) -> NDArray[Any]:
    """Array of records from their bytes, in writable memory of its own."""
    return as_records(np.frombuffer(bytearray(data), dtype))
