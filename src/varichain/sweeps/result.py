"""The result of a sweep: one row a trial, as a table, as means, as files for other programs."""

from __future__ import annotations

import csv
import math
import os
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import FileError, InputError, MissingExtraError, UnknownNameError
from varichain.files import completed, file_name
from varichain.spatial.report import Listing, Report, Reported
from varichain.sweeps.store import Store, rows_of
from varichain.sweeps.trials import Plan

Array = NDArray[np.float64]
_OTHERS = ("repeat", "seed", "status", "failure", "seconds", "key", "version")


class Sweep(Reported):
    """Trials of a sweep; those of a file are read when they are first needed.

    Attributes:
        plan: What was to be tried.
    """

    def __init__(self, plan: Plan, rows: Callable[[], Iterable[dict[str, Any]]]) -> None:
        """Take a plan and what gives the rows of its trials, in any order, as often as it is called."""
        self.plan = plan
        self._rows = rows

    @staticmethod
    def load(path: str | os.PathLike[str]) -> Sweep:
        """The sweep of a file, as it is now; another process may be writing to it.

        Raises:
            FileError: There is no such file, or it is none of a sweep.
        """
        place = Path(file_name(path))
        if not place.is_file():
            raise FileError(f"there is no file {str(place)!r}", str(place))
        store = Store(place, is_writer=False)
        try:
            plan = store.plan()
        finally:
            store.close()
        if plan is None:
            raise FileError(f"{str(place)!r} has no sweep in it yet", str(place))
        found = Sweep(plan, partial(rows_of, place))
        found.table  # noqa: B018  as the file is now
        return found

    @property
    def table(self) -> dict[str, list[Any]]:
        """Columns of equal length, one row a trial in the order of the grid.

        Parameters, repeat, seed, results, status ("done", "failed", "missing"), failure, seconds, key, version.
        """
        return self._columns[0]

    @property
    def earlier(self) -> int:
        """Number of trials in the file that are of an earlier version of the code."""
        return self._columns[1]

    @cached_property
    def _columns(self) -> tuple[dict[str, list[Any]], int]:
        """The table, and the number of rows that do not belong to the plan."""
        n = len(self.plan)
        defaults = {"status": "missing", "failure": "", "version": ""}
        given, more = (*self.plan.grid, *_OTHERS[:2]), _OTHERS[2:]
        table = {name: [defaults.get(name, math.nan)] * n for name in (*given, *more)}
        places = {}
        for i, task in enumerate(self.plan.tasks()):
            places[task.key] = i
            for name, value in (task.parameters | {"repeat": task.repeat, "seed": task.seed, "key": task.key}).items():
                table[name][i] = value
        results: dict[str, list[Any]] = defaultdict(lambda: [math.nan] * n)
        n_earlier = 0
        for row in self._rows():  # once: another process may be writing
            if row["key"] not in places:
                n_earlier += 1
                continue
            i = places[row["key"]]
            table["failure"][i] = row["error"]
            for name in ("status", "seconds", "version"):
                table[name][i] = row[name]
            for name, value in row["result"].items():
                results[f"{name} (result)" if name in table else name][i] = value
        parts = {name: table[name] for name in given}, results, {name: table[name] for name in more}
        return {name: column for part in parts for name, column in part.items()}, n_earlier

    def __len__(self) -> int:
        """Number of trials, also of those that are missing."""
        return len(self.plan)

    def column(self, name: str) -> list[Any]:
        """A column of the table."""
        if name not in self.table:
            raise UnknownNameError("column", str(name), self.table)
        return self.table[name]

    @property
    def counts(self) -> dict[str, int]:
        """Numbers of trials that are done, failed and missing, and of those done that have NaN or infinite results."""
        found = Counter(self.table["status"])
        odd = sum(
            status == "done" and not fine for status, fine in zip(self.table["status"], self._fine(), strict=True)
        )
        return {"done": found["done"], "failed": found["failed"], "missing": found["missing"], "not finite": odd}

    def _fine(self) -> list[bool]:
        """Whether each trial is done, finite and, where trials say so, stable."""
        names = self._measures()
        fine = []
        for i, status in enumerate(self.table["status"]):
            numbers = [self.table[name][i] for name in names]
            finite = all(math.isfinite(x) for x in numbers if isinstance(x, int | float))
            fine.append(status == "done" and finite and ("stable" not in names or bool(self.table["stable"][i])))
        return fine

    def _measures(self) -> list[str]:
        return [name for name in self.table if name not in (*self.plan.grid, *_OTHERS)]

    def values(self, measure: str, by: str, **where: Any) -> tuple[list[Any], Array]:
        """Levels of a parameter (n,), and a measure there (n, repeats); NaN where a trial failed, or was not stable.

        Args:
            measure: Name of a result.
            by: Name of the parameter.
            where: Values of the other parameters; those that are not given are taken together with the repeats.
        """
        column, levels = self.column(measure), self.column(by)
        fine = self._fine()
        for name, value in where.items():
            if value not in self.column(name):
                raise InputError(f"no trial has {name} = {value!r}")
        chosen = [i for i in range(len(self)) if all(self.table[name][i] == value for name, value in where.items())]
        found = {
            level: [column[i] if fine[i] else math.nan for i in chosen if levels[i] == level]
            for level in self.plan.grid[by]
        }
        return list(found), np.array(list(found.values()), dtype=np.float64)

    def mean(self, measure: str, by: str, **where: Any) -> dict[Any, float]:
        """Means of a measure at the levels of a parameter; no failed, infinite or unstable trials count."""
        levels, values = self.values(measure, by, **where)
        is_there = np.isfinite(values)
        counts = is_there.sum(axis=1)
        sums = np.where(is_there, values, 0.0).sum(axis=1)
        return {x: float(s / n) if n else math.nan for x, s, n in zip(levels, sums, counts, strict=True)}

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the table as comma-separated values; an existing file is not replaced."""
        with (
            completed(file_name(path), False, FileError) as part,
            open(part, "w", newline="", encoding="utf-8") as file,
        ):
            writer = csv.writer(file)
            writer.writerow(self.table)
            writer.writerows(zip(*self.table.values(), strict=True))

    def to_pandas(self) -> Any:
        """The table as a pandas DataFrame."""
        try:
            import pandas
        except ImportError as error:
            raise MissingExtraError("a table of pandas needs pandas: pip install pandas") from error
        return pandas.DataFrame(self.table)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write the table as Parquet, through pyarrow; an existing file is not replaced."""
        try:
            import pyarrow
            import pyarrow.parquet
        except ImportError as error:
            raise MissingExtraError("Parquet needs pyarrow: pip install 'varichain[parquet]'") from error
        with completed(file_name(path), False, FileError) as part:
            pyarrow.parquet.write_table(pyarrow.table(self.table), part)

    def plot(self, measures: Sequence[str] | None = None, by: str | None = None, **more: Any) -> Any:
        """The sweep as a matplotlib Figure: points for trials, lines for means; see `varichain.sweeps.plotting`."""
        from varichain.sweeps.plotting import plot_sweep

        return plot_sweep(self, measures, by, **more)

    def report(self) -> Report:
        """How many trials are done, failed, missing; the first errors."""
        counts = ", ".join(f"{n} {what}" for what, n in self.counts.items())
        older = f"; {self.earlier} more are of an earlier version" if self.earlier else ""
        errors = [(key[:8], text.strip().splitlines()[-1]) for key, text in self._errors()]
        return f"sweep of {self.plan.function}, {len(self)} trials: {counts}{older}", (
            Listing(("key", "error"), errors),
        )

    def _errors(self) -> list[tuple[str, str]]:
        return [(k, e) for k, e in zip(self.table["key"], self.table["failure"], strict=True) if e]
