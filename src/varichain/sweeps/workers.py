"""Processes that carry out trials on this machine, each watched: crashes are tried again, and time is limited."""

from __future__ import annotations

import select
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Sequence
from typing import Any

from varichain.sweeps.child import receive, send

Work = list[tuple[dict[str, Any], int]]
_POLL = 0.2  # [s]


class Child:
    """One process that carries out trials of one function; begun again when it has died."""

    def __init__(self, function: str) -> None:
        """Note the function's reference; the process begins with the first trials."""
        self._function = function
        self._process: subprocess.Popen[bytes] | None = None
        self._is_ready = self._is_closed = False

    def _begin(self) -> subprocess.Popen[bytes]:
        if self._process is None:
            self._is_ready = False
            command = [sys.executable, "-c", "from varichain.sweeps.child import main; main()"]
            self._process = subprocess.Popen(
                command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, start_new_session=True, bufsize=0
            )
            assert self._process.stdin is not None
            send(self._process.stdin, {"path": sys.path, "function": self._function})  # type: ignore[arg-type]
        return self._process

    def run(self, work: Work, timeout: float | None, retries: int, out: Callable[[Any], None]) -> None:
        """Carry out trials in their order; a trial that kills its process more than `retries` times has failed."""
        left, deaths = list(work), 0
        while left and not self._is_closed:
            got, why = self._attempt(left, timeout, out)
            left, deaths = left[got:], (deaths if got == 0 else 0)
            if why == "" or self._is_closed:
                continue
            self.kill()
            deaths += 1
            if why == "timeout" or deaths > retries:
                error = f"no result within {timeout:g} s" if why == "timeout" else f"killed its process {deaths} times"
                out({"status": "failed", "result": {}, "error": f"{error} ({why})", "seconds": 0.0})
                left, deaths = left[1:], 0

    def _attempt(self, work: Work, timeout: float | None, out: Callable[[Any], None]) -> tuple[int, str]:
        """Number of outcomes that came, and why no more did: empty if all came."""
        got = 0
        try:
            process = self._begin()
            assert process.stdin is not None and process.stdout is not None
            if not self._is_ready:
                if why := self._waited(process, None):
                    return got, why
                receive(process.stdout)  # type: ignore[arg-type]
                self._is_ready = True
            send(process.stdin, work)  # type: ignore[arg-type]
            while got < len(work):
                if why := self._waited(process, timeout):
                    return got, why
                out(receive(process.stdout))  # type: ignore[arg-type]
                got += 1
        except (EOFError, OSError, ValueError):
            return got, f"exit code {self._exit_code()}"
        return got, ""

    def _waited(self, process: subprocess.Popen[bytes], timeout: float | None) -> str:
        """Wait until the process says something; returns why it did not, empty if it did."""
        assert process.stdout is not None
        begun = time.monotonic()
        while not select.select([process.stdout], [], [], _POLL)[0]:
            if self._is_closed:
                return "closed"
            if timeout is not None and time.monotonic() - begun > timeout:
                return "timeout"
        return ""

    def _exit_code(self) -> int | None:
        """Code with which the process ended; None if it has not, although its pipe is closed."""
        try:
            return None if self._process is None else self._process.wait(timeout=2.0)
        except subprocess.TimeoutExpired:
            return None

    def kill(self) -> None:
        """End the process at once."""
        process, self._process = self._process, None
        if process is not None:
            process.kill()
            process.wait()
            for stream in (process.stdin, process.stdout):
                assert stream is not None
                stream.close()

    def close(self) -> None:
        """End the process, and carry out nothing more."""
        self._is_closed = True
        self.kill()


class LocalPool:
    """Some children, each with a thread that hands it chunks of trials."""

    def __init__(self, function: str, n: int, timeout: float | None, retries: int) -> None:
        """Begin n threads; processes begin with their first trials."""
        self.n = n
        self._children = [Child(function) for _ in range(n)]
        self._timeout, self._retries = timeout, retries
        self._threads: list[threading.Thread] = []

    def start(self, take: Callable[[], Sequence[Any] | None], done: Callable[[Any, Any], None]) -> None:
        """Let every child take chunks of tasks until there are none; `done` gets each task with its outcome."""
        for child in self._children:
            thread = threading.Thread(target=self._serve, args=(child, take, done), daemon=True)
            thread.start()
            self._threads.append(thread)

    def _serve(self, child: Child, take: Callable[[], Any], done: Callable[[Any, Any], None]) -> None:
        while (tasks := take()) is not None:
            waiting = iter(tasks)
            work = [(task.parameters, task.seed) for task in tasks]
            child.run(work, self._timeout, self._retries, lambda found: done(next(waiting), found))  # noqa: B023
        child.close()

    @property
    def words(self) -> str:
        """Who works."""
        return f"{self.n} process{'es' if self.n > 1 else ''}"

    def check(self) -> None:
        """Nothing can be wrong with a pool as a whole."""

    def close(self) -> None:
        """End all processes at once."""
        for child in self._children:
            child.close()
        for thread in self._threads:
            thread.join(timeout=2.0)
