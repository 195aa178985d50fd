"""Workspace: a layout's arrays opened for computation, with the address table that kernels take."""

from __future__ import annotations

import threading
from collections.abc import Mapping
from typing import Any

from numpy.typing import NDArray

from varichain.kernels.tables import address_table


class Workspace:
    """Own copy of a layout's arrays, whose working values change with every kernel; for one thread at a time.

    Attributes:
        table: Address table, the first argument of every kernel.
        arrays: The arrays by name; they live as long as the workspace, the addresses no longer.
    """

    __slots__ = ("arrays", "table")

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Copy the arrays."""
        self.arrays = {name: array.copy() for name, array in arrays.items()}
        self.table = address_table(self.arrays)


class WorkspacePool(threading.local):
    """The workspace of the calling thread: kernels release the interpreter's lock, so threads must not share one."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        """Make this thread's workspace; Python calls this once in each thread."""
        self.mine = Workspace(arrays)
