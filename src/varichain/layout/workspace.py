"""Workspace: a layout's memory opened for computation."""

from __future__ import annotations

import threading

from varichain.layout.build import Memory


class WorkspacePool(threading.local):
    """The workspace of the calling thread: kernels release the interpreter's lock, so threads must not share one.

    Attributes:
        mine: Own copy of the layout's memory, whose working values change with every kernel.
    """

    def __init__(self, memory: Memory) -> None:
        """Make this thread's workspace; Python calls this once in each thread."""
        self.mine = memory.copy()
