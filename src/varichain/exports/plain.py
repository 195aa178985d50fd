"""Traces as JSON: structure, samples and events of every epoch as plain values, every number exact."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from typing import Any

from varichain.trace import Epoch, Trace
from varichain.trace.labels import UNITS, labels


def write_json(trace: Trace, path: str) -> None:
    """Write a JSON object, an epoch at a time: runs may be larger than the memory for one text.

    Keys: `format`, `meta`, `outcome`, `message`, `damage`, `units`, `log`, `epochs`. An epoch has `index`, `structure`
    (as `varichain.mechanism.description` gives it), `event`, `lost`, `columns` (labels by block) and `samples`: a list
    of rows by block. Numbers that are not finite, which JSON has no place for, are null.
    """
    about = {
        "format": "varichain trace, as JSON",
        "meta": trace.meta,
        "outcome": trace.outcome,
        "message": trace.message,
        "damage": trace.damage,
        "units": UNITS,
        "log": trace.log,
    }
    with open(path, "w", encoding="utf-8", errors="backslashreplace") as file:
        file.write(_text(about)[:-1] + ',"epochs":[')
        for i, epoch in enumerate(trace.epochs):
            file.write("\n" if i == 0 else ",\n")
            file.writelines(_epoch(epoch))
        file.write("\n]}\n")


def _epoch(epoch: Epoch) -> Iterator[str]:
    head = {
        "index": epoch.index,
        "structure": epoch.description,
        "event": epoch.event,
        "lost": epoch.lost,
        "columns": {name: list(of) for name, of in labels(epoch).items()},
    }
    yield _text(head)[:-1] + ',"samples":{'
    for k, (name, _) in enumerate(epoch.columns):
        rows = epoch.samples[:, epoch.columns.slice(name)].tolist()
        yield f"{',' if k else ''}{_text(name)}:{_text(rows)}"
    yield "}}"


def _text(value: Any) -> str:
    try:
        return json.dumps(value, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    except ValueError:
        return json.dumps(_finite(value), separators=(",", ":"), allow_nan=False, ensure_ascii=False)


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(entry) for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(entry) for entry in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
