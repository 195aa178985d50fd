"""The file of a sweep: an SQLite database with a row for each trial, written by one process.

SQLite keeps a journal beside the file while it writes, so that a killed program or a full disk leaves whole rows.
"""

from __future__ import annotations

import fcntl
import json
import math
import os
import sqlite3
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import Any

from varichain.errors import FileError, SweepError
from varichain.sweeps.trials import Plan, Task

_TABLES = """
CREATE TABLE IF NOT EXISTS plan (name TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS trials (key TEXT PRIMARY KEY, parameters TEXT NOT NULL, repeat INTEGER NOT NULL,
    seed INTEGER NOT NULL, status TEXT NOT NULL, finite INTEGER NOT NULL, result TEXT NOT NULL, error TEXT NOT NULL,
    seconds REAL NOT NULL, version TEXT NOT NULL);
"""
_HEAD = b"SQLite format 3\x00"
_EVERY = 0.5  # [s] between two transactions


class Store:
    """A sweep's rows, in a file or in memory."""

    def __init__(self, path: Path | None, is_writer: bool = True) -> None:
        """Open a file; a writer locks it.

        Raises:
            SweepError: Another process writes to the file.
            FileError: The file is none of a sweep, or cannot be opened.
        """
        self.path, self._lock = path, None
        self._pending: list[tuple[Any, ...]] = []
        self._written = time.monotonic()
        if path is not None:
            _check_head(path)
        if path is not None and is_writer:
            self._lock = _locked(path)
        try:
            name = ":memory:" if path is None else str(path)
            self._base = sqlite3.connect(name, isolation_level=None, check_same_thread=False)
            if is_writer:
                self._base.executescript(_TABLES)
            self._base.execute("SELECT count(*) FROM plan")
        except sqlite3.Error as error:
            self.close()
            raise FileError(f"{str(path)!r} cannot be used as a file of a sweep: {error}", str(path)) from error

    def plan(self) -> Plan | None:
        """The sweep of the file; None of a new one."""
        rows = self._base.execute("SELECT name, value FROM plan").fetchall()
        return Plan(**{name: json.loads(value) for name, value in rows}) if rows else None

    def write_plan(self, plan: Plan) -> None:
        """Write the sweep, or its new version."""
        rows = [(name, json.dumps(value)) for name, value in asdict(plan).items()]
        self._guarded("INSERT OR REPLACE INTO plan VALUES (?, ?)", rows)

    def keys(self, status: str | None = None) -> set[str]:
        """Keys of all rows, or of those with a status."""
        where = "" if status is None else " WHERE status = ?"
        return {row[0] for row in self._base.execute(f"SELECT key FROM trials{where}", (status,) if status else ())}

    def add(self, task: Task, found: dict[str, Any], version: str) -> None:
        """Add a row; it is in the file within half a second."""
        result = found["result"]
        row = (
            task.key,
            json.dumps(task.parameters),
            task.repeat,
            task.seed,
            found["status"],
            int(is_finite(result)),
            json.dumps(result),
            found["error"],
            float(found["seconds"]),
            version,
        )
        self._pending.append(row)
        if time.monotonic() - self._written > _EVERY or len(self._pending) > 5000:
            self.flush()

    def flush(self) -> None:
        """Write what is pending, wholly or not at all."""
        rows, self._pending = self._pending, []
        self._written = time.monotonic()
        if rows:
            self._guarded("INSERT OR REPLACE INTO trials VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", rows)

    def _guarded(self, statement: str, rows: list[tuple[Any, ...]]) -> None:
        try:
            self._base.execute("BEGIN")
            self._base.executemany(statement, rows)
            self._base.execute("COMMIT")
        except sqlite3.Error as error:
            if self._base.in_transaction:
                self._base.execute("ROLLBACK")
            raise SweepError(
                f"{str(self.path)!r} cannot be written: {error}; the {self.count()} trials that were written before "
                "are intact: free some space, and resume"
            ) from error

    def count(self, status: str | None = None) -> int:
        """Number of rows, or of those with a status."""
        where = "" if status is None else " WHERE status = ?"
        found = self._base.execute(f"SELECT count(*) FROM trials{where}", (status,) if status else ()).fetchone()
        return int(found[0])

    def rows(self) -> Iterator[dict[str, Any]]:
        """All rows, in the order of their parameters, repeats last."""
        names = ("key", "parameters", "repeat", "seed", "status", "finite", "result", "error", "seconds", "version")
        for row in self._base.execute(f"SELECT {', '.join(names)} FROM trials"):
            found = dict(zip(names, row, strict=True))
            yield found | {"parameters": json.loads(found["parameters"]), "result": json.loads(found["result"])}

    def close(self) -> None:
        """Close the file and give up the lock."""
        if hasattr(self, "_base"):
            self._base.close()
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def rows_of(path: Path) -> Iterator[dict[str, Any]]:
    """Rows of a file; FileError if it is gone."""
    if not path.is_file():  # SQLite would make an empty one
        raise FileError(f"the file of the sweep, {str(path)!r}, is gone", str(path))
    store = Store(path, is_writer=False)
    try:
        yield from store.rows()
    finally:
        store.close()


def is_finite(value: Any) -> bool:
    """Whether all numbers in a result are finite."""
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict | list):
        inner: Iterable[Any] = value.values() if isinstance(value, dict) else value
        return all(is_finite(each) for each in inner)
    return True


def _check_head(path: Path) -> None:
    try:
        head = _first_bytes(path)
    except OSError as error:
        raise FileError(f"{str(path)!r} cannot be read: {error}", str(path)) from error
    if head and head != _HEAD:
        raise FileError(f"{str(path)!r} is not a file of a sweep", str(path))
    if not path.parent.is_dir():
        raise FileError(f"the folder of {str(path)!r} does not exist", str(path))


def _first_bytes(path: Path) -> bytes:
    if not path.exists():
        return b""
    with path.open("rb") as file:
        return file.read(len(_HEAD))


def _locked(path: Path) -> int:
    """Descriptor that locks a file against other writers, until it is closed or its process ends."""
    lock = os.open(f"{path}.lock", os.O_CREAT | os.O_RDWR, 0o644)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(lock)
        raise SweepError(f"another process writes to {str(path)!r}; wait for it, or end it") from None
    return lock
