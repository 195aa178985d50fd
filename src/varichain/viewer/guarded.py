"""A server of viser's behind a gate: requests, sizes, rates and messages are checked before viser sees them.

viser 1 has no hook for this, but opens its port by one call, `websockets.asyncio.server.serve`; the call is made here
with a gate before viser's own answers and with a connection that reads no faster than it may. If viser did not come
by, the viewer does not open.
"""

from __future__ import annotations

import asyncio
import dataclasses
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from http import HTTPStatus
from typing import Any
from urllib.parse import urlsplit

import websockets.asyncio.server as sockets
from websockets.datastructures import Headers
from websockets.http11 import Request, Response

from varichain.viewer.gate import Gate
from varichain.viewer.inputs import Inputs

LARGEST_MESSAGE = 2**16  # bytes
MESSAGES, BYTES = 200.0, 2.0**18  # of one browser in a second; faster ones are read later
BURST = 2.0  # seconds of that rate that may come at once
MOST_CLIENTS = 100
_PATIENCE = 20.0  # [s] until a browser that neither reads nor answers is left
_SERVE = sockets.serve
_OPENING = threading.Lock()


class Guard:
    """The gate, the checks of messages, and the count of clients of one server."""

    def __init__(self, gate: Gate) -> None:
        """Guard a server by a gate."""
        self.gate, self.inputs = gate, Inputs()
        self.is_installed = False

    @contextmanager
    def installed(self, port: int) -> Iterator[None]:
        """Guard the server that is opened on a port meanwhile."""

        def serve(handler: Any, host: Any, asked: int, **options: Any) -> Any:
            if asked != port:
                return _SERVE(handler, host, asked, **options)
            self.is_installed = True
            guarded = {
                "process_request": self._answers(options["process_request"]),
                "create_connection": self._connection(),
                "max_size": LARGEST_MESSAGE,
                "ping_timeout": _PATIENCE,
                "server_header": None,
            }
            return _SERVE(handler, host, asked, **(options | guarded))

        with _OPENING:
            setattr(sockets, "serve", serve)  # noqa: B010  mypy knows it as a class
            try:
                yield
            finally:
                setattr(sockets, "serve", _SERVE)  # noqa: B010

    def _answers(self, pages: Callable[[Any, Request], Response | None]) -> Callable[[Any, Request], Response | None]:
        """The answers to requests: refusals first, then viser's pages with our headers."""

        def answer(connection: Any, request: Request) -> Response | None:
            path, headers = urlsplit(request.path).path, request.headers
            is_socket = headers.get_all("Upgrade") != []
            why = self.gate.refusal(path, headers.get_all("Host"), headers.get_all("Origin"), is_socket)
            if why is not None:
                return _plain(HTTPStatus.FORBIDDEN, why, self.gate.headers(path))
            if is_socket:
                is_full = len(connection.server.connections) >= MOST_CLIENTS
                return _plain(HTTPStatus.SERVICE_UNAVAILABLE, "too many browsers", {}) if is_full else None
            page = pages(connection, dataclasses.replace(request, path=self.gate.rest(path) or "/"))
            if page is not None:
                page.headers.update(self.gate.headers(path))
            return page

        return answer

    def _connection(self) -> type[sockets.ServerConnection]:
        inputs = self.inputs

        class Connection(sockets.ServerConnection):
            """Reads at a bounded rate, and hands on messages that are accepted."""

            allowance: Allowance | None = None

            async def recv(self, decode: bool | None = None) -> Any:
                self.allowance = self.allowance or Allowance()
                while True:
                    raw = await super().recv(decode)
                    await asyncio.sleep(self.allowance.delay(len(raw), time.monotonic()))
                    if inputs.is_accepted(raw):
                        return raw

        return Connection


class Allowance:
    """How much a client may send: a bucket that fills by time and is emptied by messages and their bytes."""

    def __init__(self) -> None:
        """A full bucket."""
        self._level, self._filled = BURST, 0.0  # [s]

    def delay(self, n_bytes: int, now: float) -> float:
        """Seconds to wait before a message of a size may be answered; `now` is the time [s]."""
        self._level = min(BURST, self._level + now - self._filled) if self._filled else BURST
        self._filled = now
        self._level -= max(1.0 / MESSAGES, n_bytes / BYTES)
        return max(0.0, -self._level)


def _plain(status: HTTPStatus, text: str, headers: dict[str, str]) -> Response:
    body = (text + "\n").encode()
    shown = {"Content-Type": "text/plain; charset=utf-8", "Content-Length": str(len(body)), "Connection": "close"}
    return Response(status.value, status.phrase, Headers(shown | headers), body)
