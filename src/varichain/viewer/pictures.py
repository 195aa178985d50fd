"""Whole pictures: what belongs to one instant reaches a browser at once, and browsers say when they have drawn.

viser sends what was said in windows, and a browser draws between any two of them. So a picture is said while the thread
that sends stands between two windows, and a window has no size limit.

A browser moves, shows and hides at once what it has, but takes up new things, other colours and other geometry a frame
later. So things are sent hidden first; once browsers have drawn, which a tiny render tells, they are shown.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from typing import Any
from uuid import uuid4

_ALL = 1_000_000  # messages in a window: all that there are
PATIENCE = 5.0  # [s] that others wait for a browser that does not draw, once
_LOOK = 0.005  # [s] between two looks at what has been sent
_CHECK = 1.0  # [s] between two looks at whether the server is still there


class Pictures:
    """Pictures of one server of viser's."""

    def __init__(self, server: Any) -> None:
        """Send pictures through a server."""
        from viser import _messages

        self._server, self._request = server, _messages.GetRenderRequestMessage
        self._response = _messages.GetRenderResponseMessage
        self._buffer = server._websock_server._broadcast_buffer
        self._buffer.max_window_size = _ALL
        self._changed = threading.Condition()
        self._asked: dict[int, str] = {}  # client: the render that it was last asked for
        self._drawn: set[str] = set()  # renders that came
        self._calls: dict[int, Callable[[], None]] = {}  # what waits for a client's first picture
        self._late: set[int] = set()  # clients that nobody waits for, until they draw

    @contextmanager
    def whole(self) -> Iterator[None]:
        """Let browsers get all that is said meanwhile at once; one thread at a time."""
        is_begun = threading.Event()

        def begin() -> None:
            self._buffer.atomic_start()
            is_begun.set()

        loop = self._buffer.event_loop
        loop.call_soon_threadsafe(begin)  # where windows are filled: not within one
        while not is_begun.wait(_CHECK):  # a busy machine may be slow: giving up would leave the picture begun for good
            if not loop.is_running():
                raise RuntimeError("the viewer's server has stopped")
        try:
            yield
        finally:
            self._buffer.atomic_end()

    def wait(self) -> None:
        """Wait until all browsers have drawn what was said so far; one that takes long is not waited for again."""
        clients = [client for client in self._server.get_clients().values() if client.client_id not in self._late]
        end = time.monotonic() + PATIENCE
        for client in clients:
            self._ask(client, end)
        with self._changed:
            self._changed.wait_for(lambda: not self._missing(clients), max(0.0, end - time.monotonic()))
            self._late |= {client.client_id for client in self._missing(clients)}

    def when_drawn(self, client: Any, call: Callable[[], None]) -> None:
        """Call a function once a browser has drawn what was said so far; never, if it leaves before.

        It is called by the thread that carries out what browsers ask for, before what this one asks for next.
        """
        with self._changed:
            self._calls[client.client_id] = call
        ask = threading.Thread(target=self._ask, args=(client, time.monotonic() + PATIENCE), daemon=True)
        ask.start()  # it may wait for a browser that reads slowly

    def _missing(self, clients: list[Any]) -> list[Any]:
        """Those clients that have not drawn, and are still there."""
        present = self._server.get_clients()
        return [c for c in clients if c.client_id in present and self._asked.get(c.client_id) not in self._drawn]

    def _ask(self, client: Any, end: float) -> None:
        """Ask a client for a render of one pixel, after all that was said so far has been sent."""
        last, cursors = self._buffer.message_counter - 1, self._buffer.generator_cursors
        while cursors.get(client.client_id, last) < last and time.monotonic() < end:
            time.sleep(_LOOK)
        connection, uuid = client._websock_connection, str(uuid4())
        with self._changed:
            is_new = client.client_id not in self._asked
            self._asked[client.client_id] = uuid
        if is_new:
            connection.register_handler(self._response, self._came)
        look = {"wxyz": (1.0, 0.0, 0.0, 0.0), "position": (0.0, 0.0, 0.0), "fov": 1.0}
        # A browser may leave at any moment; viser 1.1 warns who writes to one that has left, unless he says so before.
        may_be_gone = getattr(connection.get_message_buffer(), "sanctioned_dead_writes", nullcontext)
        if client.client_id in self._server.get_clients():
            with may_be_gone():
                connection.queue_message(self._request("image/jpeg", 1, 1, 1, **look, render_uuid=uuid))

    def _came(self, client: int, message: Any) -> None:
        """Note a render; any other answer of a browser is of no matter."""
        with self._changed:
            if self._asked.get(client) == message.render_uuid:
                self._drawn = {message.render_uuid} | (self._drawn & {*self._asked.values()})
                self._late.discard(client)
                self._changed.notify_all()
                call = self._calls.pop(client, None)
                if call is not None:
                    self._server._thread_executor.submit(call)
