"""Workspaces: the arrays of a structure, built by kernels in memory that one thread has to itself."""

from __future__ import annotations

from collections.abc import Callable
from threading import get_ident
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.kernels.build_loops import build_loops, size_loops
from varichain.kernels.build_tree import build_tree, size_tree
from varichain.kernels.tables import DTYPES, FIRST_OF_LOOPS, N_ENTITIES, Entity

Bytes = NDArray[np.uint8]

_NOTHING: Bytes = np.zeros(0, np.uint8)
_LENGTHS = {entity.name.lower(): 2 * int(entity) + 1 for entity in Entity}  # their places in a table


class Workspace:
    """All arrays that kernels work on; their working values change with every kernel.

    Attributes:
        table: Addresses and lengths, the first argument of every kernel; valid as long as this object lives.
        tree: Memory of bodies, freedoms and links.
        loops: Memory of all that loops need.
        massless: Row of a link that can move although nothing it carries has mass or armature; 0 if there is none.
    """

    __slots__ = ("loops", "massless", "table", "tree")

    def __init__(self, table: NDArray[np.int64], tree: Bytes, loops: Bytes, massless: int) -> None:
        """Take memory that has been filled."""
        self.table = table
        self.tree = tree
        self.loops = loops
        self.massless = massless

    def length(self, name: str) -> int:
        """Length of one of the arrays."""
        return int(self.table[_LENGTHS[name]])

    def array(self, name: str) -> NDArray[Any]:
        """One of the arrays, in place."""
        entity = Entity[name.upper()]
        i, dtype = int(entity), DTYPES[entity]
        data, first = (self.tree, 0) if i < FIRST_OF_LOOPS else (self.loops, FIRST_OF_LOOPS)
        start = int(self.table[2 * i] - self.table[2 * first])
        return data[start : start + int(self.table[2 * i + 1]) * dtype.itemsize].view(dtype)


def tree_workspace(specs: bytes, gravity: NDArray[np.float64]) -> Workspace:
    """Workspace of a tree without loops, from the records of its links, ground first."""
    table = np.zeros(2 * N_ENTITIES, np.int64)
    given = np.frombuffer(specs, np.uint8)
    data = np.zeros(size_tree(table, given), np.uint8)
    return Workspace(table, data, _NOTHING, int(build_tree(table, given, gravity, data)))


def loop_workspace(tree: Workspace, specs: bytes, rank_tolerance: float) -> Workspace:
    """Workspace of a tree with loops, from the records of the loops: the tree's own, and memory for the loops."""
    table = tree.table.copy()
    given = np.frombuffer(specs, np.uint8)
    data = np.zeros(size_loops(table, given), np.uint8)
    build_loops(table, given, rank_tolerance, data)
    return Workspace(table, tree.tree, data, tree.massless)


class WorkspacePool:
    """One workspace for each thread: kernels release the interpreter's lock, so threads must not share one.

    The workspace of a thread that has ended goes to the next one that gets its number.
    """

    __slots__ = ("_arguments", "_build", "_of_thread")

    def __init__(self, build: Callable[..., Workspace], *arguments: Any) -> None:
        """Prepare to build workspaces in this way."""
        self._build = build
        self._arguments = arguments
        self._of_thread: dict[int, Workspace] = {}

    @property
    def of_thread(self) -> Workspace:
        """The calling thread's workspace, built when it is first asked for.

        Structures that differ in loops alone share the memory of their tree in it: a kernel leaves nothing there that
        the next one relies on.
        """
        thread = get_ident()
        workspace = self._of_thread.get(thread)
        if workspace is None:
            workspace = self._of_thread[thread] = self._build(*self._arguments)
        return workspace
