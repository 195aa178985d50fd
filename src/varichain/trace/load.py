"""Loading a trace."""

from __future__ import annotations

import warnings

from varichain.errors import DamagedTraceWarning, TraceFileWarning
from varichain.trace.file import TraceFile
from varichain.trace.reader import Reader
from varichain.trace.trace import Trace


def load(path: str) -> Trace:
    """The trace in a file; see `Trace.load`."""
    reader = Reader(TraceFile(path))
    if not reader.damage:
        return reader.draft.trace()
    kind = DamagedTraceWarning if reader.damage.gaps else TraceFileWarning
    warnings.warn(f"{path!r} is damaged; {reader.damage}", kind, stacklevel=3)
    return reader.draft.trace(str(reader.damage))
