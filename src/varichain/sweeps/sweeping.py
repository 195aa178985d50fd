"""Sweeps: a trial over a grid of parameters, on one machine or on a cluster, into one file."""

from __future__ import annotations

import os
import queue
import threading
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

from varichain.errors import FileError, SweepError, SweepInterrupted
from varichain.files import file_name
from varichain.spatial.checks import count_number, flag, positive_scalar
from varichain.sweeps.bar import Bar
from varichain.sweeps.result import Sweep
from varichain.sweeps.store import Store, rows_of
from varichain.sweeps.trials import Plan, Task, function_of, planned
from varichain.sweeps.workers import LocalPool

_CHUNK = 0.5  # [s] that a chunk of trials is to take
_MOST = 5000  # trials in a chunk
_WAIT = 0.2  # [s]


def sweep(
    trial: Callable[..., Any] | str,
    grid: Any,
    *,
    repeats: int = 1,
    seed: int = 0,
    common_noise: bool = False,
    out: str | os.PathLike[str] | None = None,
    cluster: Any = None,
    resume: bool = False,
    retry_failed: bool = False,
    processes: int | None = None,
    timeout: float | None = None,
    retries: int = 2,
    chunk: int | None = None,
    progress: bool = False,
) -> Sweep:
    """Run a trial for every point of a grid, and store all results in one file as they arrive.

    Args:
        trial: Function of a module, 'module:function' or the name of a scenario. It takes the grid's parameters and
            `seed` by name, and returns a mapping of numbers, or an object with `measures()`. If it has an attribute
            `together`, a function (parameters, seeds) of lists, it is asked for many trials at once.
        grid: Values of each parameter by name; all combinations are tried.
        repeats: Trials at each point, each with a seed of its own.
        seed: From which the trials' seeds come, whatever their order.
        common_noise: Whether all points have the same seeds, repeat by repeat.
        out: File of the sweep; None to keep it in memory.
        cluster: Address of a dask scheduler such as 'tcp://host:8786', or a Client; None for this machine.
        resume: Whether to go on with a file that exists: trials that are in it are not carried out again.
        retry_failed: Whether those that failed are.
        processes: Number of processes on this machine; all cores by default, one for trials with `together`.
        timeout: Time that a trial may take [s]; it has failed after that.
        retries: How often a trial whose process dies is tried again.
        chunk: Trials that are handed out at once; by default as many as take half a second.
        progress: Whether a bar is shown on standard error.

    Raises:
        InputError: The trial, the grid or a number cannot be.
        FileError: The file exists, or is none of a sweep.
        SweepError: The file is of another sweep, or another process writes to it; the disk is full, the scheduler gone.
        SweepInterrupted: Ctrl-C; a KeyboardInterrupt. All that was finished is in the file.
    """
    plan = planned(trial, grid, repeats, seed, common_noise)
    limit = None if timeout is None else positive_scalar(timeout, "timeout")
    tries = count_number(retries, "retries", 1000, least=0)
    size = None if chunk is None else count_number(chunk, "chunk", 10**6)
    goes_on, again, is_shown = flag(resume, "resume"), flag(retry_failed, "retry_failed"), flag(progress, "progress")
    path = None if out is None else checked_path(out, goes_on)
    cores = 1 if hasattr(function_of(plan.function), "together") else os.cpu_count() or 1
    n = cores if processes is None else count_number(processes, "processes", 1000)
    store = Store(path)
    try:
        _begin(store, plan)
        known = store.keys("done" if again else None)
        if cluster is None:
            pool: Any = LocalPool(plan.function, n, limit, tries)
        else:
            from varichain.sweeps.cluster import DaskPool

            pool = DaskPool(cluster, plan, limit, tries)
        try:
            _carry_out(plan, known, store, pool, size, is_shown)
        finally:
            pool.close()
            store.flush()
        if path is None:
            rows = list(store.rows())
            return Sweep(plan, lambda: rows)
        return Sweep(plan, partial(rows_of, path))
    except KeyboardInterrupt:
        raise SweepInterrupted(f"interrupted; {store.count()} of {len(plan)} trials are kept") from None
    finally:
        store.close()


def checked_path(out: Any, resume: bool) -> Path:
    """The file of a sweep; FileError if it exists and is not to be gone on with."""
    path = Path(file_name(out, "out"))
    if os.path.lexists(path) and not resume:
        raise FileError(f"{str(path)!r} exists; continue it with resume, or choose another name", str(path))
    return path


def _begin(store: Store, plan: Plan) -> None:
    """Check that a file belongs to the sweep, and write the sweep's plan."""
    earlier = store.plan()
    if earlier is not None:
        fields = ("function", "grid", "repeats", "seed", "common_noise")
        other = [name for name in fields if getattr(earlier, name) != getattr(plan, name)]
        if other:
            raise SweepError(f"{str(store.path)!r} is of another sweep: {', '.join(other)} differ; choose another file")
    store.write_plan(plan)


class _Chunks:
    """Trials that are left, handed out in chunks that take about as long as wanted; for several threads."""

    def __init__(self, tasks: Iterator[Task], size: int | None) -> None:
        self._tasks, self._size = tasks, size
        self._lock = threading.Lock()
        self._count, self._recent = 0, 0.0

    def note(self, seconds: float) -> None:
        """Learn how long a trial took."""
        self._count, self._recent = self._count + 1, 0.5 * (self._recent + seconds)

    def take(self) -> list[Task] | None:
        """Next chunk; None if there is none."""
        size = self._size
        if size is None:
            # the first chunks are short: their trials say how long the others may be
            size = 1 if self._count == 0 else max(1, min(_MOST, 4 * self._count, int(_CHUNK / (self._recent + 1e-6))))
        with self._lock:
            found = [task for _, task in zip(range(size), self._tasks, strict=False)]
        return found or None


def _carry_out(plan: Plan, known: set[str], store: Store, pool: Any, size: int | None, is_shown: bool) -> None:
    """Carry out what is not known yet; outcomes are written by this thread alone."""
    total = sum(task.key not in known for task in plan.tasks())
    chunks = _Chunks((task for task in plan.tasks() if task.key not in known), size)
    found: queue.Queue[tuple[Task, dict[str, Any]]] = queue.Queue(maxsize=2_000)
    closing = threading.Event()

    def done(task: Task, outcome: dict[str, Any]) -> None:
        chunks.note(outcome["seconds"])
        while not closing.is_set():
            try:
                return found.put((task, outcome), timeout=_WAIT)
            except queue.Full:
                continue

    count = failed = 0
    with Bar(is_shown, len(plan), len(plan) - total) as bar:
        pool.start(chunks.take, done)
        try:
            last = time.monotonic()
            while count < total:
                try:
                    task, outcome = found.get(timeout=_WAIT)
                except queue.Empty:
                    pool.check()
                    store.flush()
                else:
                    store.add(task, outcome, plan.version)
                    count, failed = count + 1, failed + (outcome["status"] == "failed")
                if time.monotonic() - last > _WAIT:
                    last = time.monotonic()
                    bar.at(count, failed, pool.words)
            bar.at(count, failed, pool.words)
        finally:
            closing.set()
