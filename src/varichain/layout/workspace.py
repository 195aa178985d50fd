"""Workspace: a layout's arrays opened for computation, with the address table that kernels take."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.tables import ENTITIES


class Workspace:
    """Own copy of a layout's arrays, whose working values change with every kernel; for one thread at a time.

    All arrays lie in one stretch of memory, one behind the other: one copy, one address to ask for.

    Attributes:
        table: Address table, the first argument of every kernel; valid as long as the workspace lives.
    """

    __slots__ = ("_memory", "_offsets", "table")

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays; all items are multiples of eight bytes long, so all stay aligned."""
        parts = [arrays[name].tobytes() for name in ENTITIES]
        self._memory = np.frombuffer(bytearray(b"".join(parts)), np.uint8)
        offset, numbers, offsets = int(self._memory.__array_interface__["data"][0]), [], [0]
        for part, dtype in zip(parts, ENTITIES.values(), strict=True):
            numbers += [offset + offsets[-1], len(part) // dtype.itemsize]
            offsets.append(offsets[-1] + len(part))
        self._offsets = offsets
        self.table = np.array(numbers, dtype=np.int64)

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays, as the last kernel left it; writing to it changes what the next one sees."""
        i = list(ENTITIES).index(name)
        return self._memory[self._offsets[i] : self._offsets[i + 1]].view(ENTITIES[name])


class WorkspacePool(threading.local):
    """The workspace of the calling thread: kernels release the interpreter's lock, so threads must not share one."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Make this thread's workspace; Python calls this once in each thread."""
        self.mine = Workspace(arrays)
