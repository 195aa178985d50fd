"""Workers of a dask.distributed cluster: chunks of trials go to its scheduler, outcomes come back.

Dask keeps nothing durable: results live in workers' memory until this process has written them. A worker that dies has
its chunks carried out by others.
"""

from __future__ import annotations

import re
import threading
import time
from collections.abc import Callable
from typing import Any

import varichain
from varichain.errors import InputError, MissingExtraError, SweepError, quoted
from varichain.sweeps.trials import function_of, source_of
from varichain.sweeps.workers import Child, Work

_PATIENCE = 20.0  # [s] after which a scheduler that does not answer is given up
_POLL = 0.2  # [s]
_AHEAD = 2  # chunks for each thread of the cluster
_MOST_DEATHS = 20  # of workers during one chunk: chunks are killed by machines, trials die in their own process

_ADDRESS = re.compile(r"[a-z]+://[^/\s\0]+:[0-9]{1,5}")
_children: dict[tuple[int, str], Child] = {}


def run_chunk(function: str, source: str, version: str, work: Work, timeout: float | None, retries: int) -> Any:
    """Carry out trials on a worker, in a process of their own; the reason if the worker is not like the client."""
    if varichain.__version__ != version:
        return f"has varichain {varichain.__version__}, and the sweep is of {version}"
    try:
        if source_of(function_of(function)) != source:
            return f"has another source of {function}"
    except InputError as error:
        return f"cannot begin: {error}"
    place = (threading.get_ident(), function)
    child = _children.setdefault(place, Child(function))
    found: list[Any] = []
    child.run(work, timeout, retries, found.append)
    return found


class DaskPool:
    """The workers of a cluster."""

    def __init__(self, cluster: Any, plan: Any, timeout: float | None, retries: int) -> None:
        """Connect to a scheduler by its address, or take a Client.

        Raises:
            MissingExtraError: dask.distributed is not installed.
            SweepError: The scheduler does not answer.
        """
        try:
            from distributed import Client
        except ImportError as error:
            raise MissingExtraError("clusters need dask.distributed: pip install 'varichain[cluster]'") from error
        if not isinstance(cluster, str | Client):
            raise InputError(f"cluster must be an address such as 'tcp://host:8786' or a Client, not {quoted(cluster)}")
        self._is_own = isinstance(cluster, str)
        if self._is_own and not _ADDRESS.fullmatch(cluster):
            raise InputError(f"the address of a scheduler is like 'tcp://host:8786', not {quoted(cluster)}")
        try:
            self._client: Any = Client(cluster, timeout=_PATIENCE) if self._is_own else cluster
        except (OSError, TimeoutError, ValueError, TypeError) as error:
            raise SweepError(f"no scheduler answers at {cluster}: {error}") from error
        self._given = (plan.function, plan.source, plan.version)
        self._limits = (timeout, retries)
        self._is_closed, self._thread = False, threading.Thread()
        self.error: SweepError | None = None
        self.n = 1

    @property
    def words(self) -> str:
        """Who works."""
        return f"{self.n} workers' threads" if self.n else "waiting for workers"

    def start(self, take: Callable[[], Any], done: Callable[[Any, Any], None]) -> None:
        """Hand out chunks until there are none; `done` gets each task with its outcome."""
        self._thread = threading.Thread(target=self._serve, args=(take, done), daemon=True)
        self._thread.start()

    def _serve(self, take: Callable[[], Any], done: Callable[[Any, Any], None]) -> None:
        futures: dict[Any, Any] = {}
        lost_since, more = None, True
        try:
            while not self._is_closed and (more or futures):
                if self._client.status == "running":
                    lost_since = None
                    self.n = sum(self._client.nthreads().values())
                    more = self._submit(take, futures)
                else:
                    lost_since = lost_since or time.monotonic()
                    if time.monotonic() - lost_since > _PATIENCE:
                        raise SweepError("the scheduler is gone")
                for future in [each for each in futures if each.done()]:
                    self._gather(future, futures.pop(future), done)
                time.sleep(0.005 if futures else _POLL)
        except SweepError as error:
            self.error = error
        except Exception as error:  # errors of dask are many; all mean that the cluster does not answer any more
            if not self._is_closed:
                self.error = SweepError(f"the scheduler is gone: {type(error).__name__}: {error}")

    def _submit(self, take: Callable[[], Any], futures: dict[Any, Any]) -> bool:
        """Hand out chunks; whether there are more."""
        while len(futures) < _AHEAD * max(self.n, 1):
            tasks = take()
            if tasks is None:
                return False
            work = [(task.parameters, task.seed) for task in tasks]
            future = self._client.submit(run_chunk, *self._given, work, *self._limits, pure=False, retries=_MOST_DEATHS)
            futures[future] = tasks
        return True

    def _gather(self, future: Any, tasks: Any, done: Callable[[Any, Any], None]) -> None:
        if future.status != "finished":
            raise SweepError(f"the scheduler is gone, or gave up a chunk: {future.status}")
        found = future.result()
        if isinstance(found, str):
            raise SweepError(f"a worker of the cluster {found}; give all machines the same code")
        for task, outcome in zip(tasks, found, strict=True):
            done(task, outcome)
        future.release()

    def check(self) -> None:
        """Raise the error that ended the work."""
        if self.error is not None:
            raise self.error

    def close(self) -> None:
        """Leave the cluster, whose workers go on for others."""
        self._is_closed = True
        self._thread.join(timeout=2.0) if self._thread.is_alive() else None
        if self._is_own:
            self._client.close(timeout=2.0)
