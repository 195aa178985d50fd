"""Traces as tables for other programs: one column for each number, one row for each sample."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from varichain.errors import MissingExtraError
from varichain.files import completed
from varichain.spatial.arrays import Array
from varichain.trace.labels import labels

if TYPE_CHECKING:
    from varichain.trace.epoch import Epoch
    from varichain.trace.trace import Trace


_BATCH = 10_000  # rows that are turned into text or columns at once


def to_numpy(trace: Trace) -> dict[str, NDArray[Any]]:
    """All columns (n,) by label, NaN where an epoch does not have one; first the epoch's index."""
    names = column_names(trace)
    table: dict[str, NDArray[Any]] = {"epoch": np.empty(len(trace), np.int64)}
    table |= {name: np.full(len(trace), np.nan) for name in names}
    row = 0
    for epoch in trace.epochs:
        rows = slice(row, row + len(epoch))
        table["epoch"][rows] = epoch.index
        samples = epoch.samples
        for column, name in enumerate(_names(epoch)):
            table[name][rows] = samples[:, column]
        row = rows.stop
    return table


def to_csv(trace: Trace, path: str, overwrite: bool) -> None:
    """Write a CSV file: numbers as the shortest text that gives the same float, empty cells where there is none."""
    names = column_names(trace)
    with completed(path, overwrite) as temporary, open(temporary, "w", encoding="utf-8", newline="") as file:
        head = io.StringIO()
        csv.writer(head, lineterminator="\n").writerow(["epoch", *map(_cell, names)])
        file.write(head.getvalue())
        for epoch, rows, order in _batches(trace, names):
            first = str(epoch.index)
            for row in rows.tolist():
                cells = [*map(repr, row), ""]
                file.write(",".join([first, *[cells[column] for column in order]]) + "\n")


def _cell(name: str) -> str:
    """A name that no spreadsheet takes for a formula."""
    return f"'{name}" if name[:1] in "=+-@\t\r" else name


def to_parquet(trace: Trace, path: str, overwrite: bool) -> None:
    """Write a Parquet file: columns of float64 with nulls where there is none, and what the run was as metadata."""
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        raise MissingExtraError("Parquet needs the package pyarrow: pip install 'varichain[parquet]'") from None
    names = column_names(trace)
    about = {"meta": trace.meta, "outcome": trace.outcome, "message": trace.message, "log": trace.log}
    fields = [pa.field("epoch", pa.int64()), *[pa.field(name, pa.float64()) for name in names]]
    schema = pa.schema(fields, metadata={"varichain": json.dumps(about)})
    with completed(path, overwrite) as temporary, pq.ParquetWriter(temporary, schema) as writer:
        for epoch, rows, order in _batches(trace, names):
            absent = pa.nulls(len(rows), pa.float64())
            columns = [absent if c < 0 else pa.array(np.ascontiguousarray(rows[:, c])) for c in order]
            epochs = pa.array(np.full(len(rows), epoch.index, np.int64))
            writer.write_table(pa.Table.from_arrays([epochs, *columns], schema=schema))


def column_names(trace: Trace) -> list[str]:
    """Labels of all columns of all epochs, in the order in which they first appear."""
    return list(dict.fromkeys(name for epoch in trace.epochs for name in _names(epoch)))


def _names(epoch: Epoch) -> list[str]:
    """Labels of an epoch's columns; where names of joints make two alike, the later ones get numbers."""
    taken: dict[str, None] = {"epoch": None}
    for block in labels(epoch).values():
        for label in block:
            name, number = label, 2
            while name in taken:
                name, number = f"{label} ({number})", number + 1
            taken[name] = None
    return list(taken)[1:]


def _batches(trace: Trace, names: list[str]) -> Iterator[tuple[Epoch, Array, list[int]]]:
    """Rows of samples with their epoch, and for each name its column there, -1 where it has none."""
    for epoch in trace.epochs:
        column = {name: i for i, name in enumerate(_names(epoch))}
        order = [column.get(name, -1) for name in names]
        for rows in epoch._samples.batches(_BATCH):
            yield epoch, rows, order
