"""A process that carries out trials: it reads pickles from its standard input and writes pickles to its output.

A trial that crashes or hangs takes this process with it, and nothing else. When the other end goes away, so does it.
"""

from __future__ import annotations

import os
import pickle
import struct
import sys
import time
import traceback
from collections.abc import Callable, Mapping
from typing import Any, BinaryIO

_LENGTH = struct.Struct("<Q")
_MOST_TEXT = 4000


def send(stream: BinaryIO, message: Any) -> None:
    """Write a message."""
    data = pickle.dumps(message)
    left = memoryview(_LENGTH.pack(len(data)) + data)
    while left:
        left = left[stream.write(left) or 0 :]
    stream.flush()


def receive(stream: BinaryIO) -> Any:
    """Read a message; EOFError at the end."""
    return pickle.loads(_whole(stream, _LENGTH.unpack(_whole(stream, _LENGTH.size))[0]))


def _whole(stream: BinaryIO, n: int) -> bytes:
    """So many bytes: a pipe may bring them in parts."""
    parts = []
    while n > 0:
        part = stream.read(n)
        if not part:
            raise EOFError
        parts.append(part)
        n -= len(part)
    return b"".join(parts)


def outcome(call: Callable[[], Any]) -> dict[str, Any]:
    """What came of a trial: status, result or error, and the seconds that it took."""
    begun = time.perf_counter()
    try:
        found: dict[str, Any] = {"status": "done", "result": plain(call()), "error": ""}
    except Exception:
        found = {"status": "failed", "result": {}, "error": traceback.format_exc()[-_MOST_TEXT:]}
    return found | {"seconds": time.perf_counter() - begun}


def plain(result: Any) -> dict[str, Any]:
    """Numbers, texts and lists by name, from a mapping or from what has `measures`."""
    values = result.measures() if hasattr(result, "measures") else result
    if not isinstance(values, Mapping):
        raise TypeError(f"a trial must return a mapping of names to numbers, not {type(values).__name__}")
    return {str(name): _plain_value(value) for name, value in values.items()}


def _plain_value(value: Any) -> Any:
    if hasattr(value, "tolist"):
        value = value.tolist()
    if isinstance(value, bool | int | float | str | None.__class__):
        return value
    if isinstance(value, list | tuple):
        return [_plain_value(each) for each in value]
    raise TypeError(f"a trial's results must be numbers, texts or lists of them, not {type(value).__name__}")


def carry_out(function: Callable[..., Any], work: list[tuple[dict[str, Any], int]], out: Callable[[Any], None]) -> None:
    """Carry out trials one after the other, or together if the function can; each outcome goes out as it comes."""
    together = getattr(function, "together", None)
    if together is not None and len(work) > 1:
        begun = time.perf_counter()
        try:
            results = [plain(result) for result in together([p for p, _ in work], [seed for _, seed in work])]
        except Exception:
            pass  # one of them fails: each by itself, so that it is known which
        else:
            seconds = (time.perf_counter() - begun) / len(work)
            for result in results:
                out({"status": "done", "result": result, "error": "", "seconds": seconds})
            return
    for parameters, seed in work:
        out(outcome(lambda parameters=parameters, seed=seed: function(**parameters, seed=seed)))  # type: ignore[misc]


def main() -> None:
    """Serve until the other end goes away; what trials print goes to the standard error."""
    pipe = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)
    source = sys.stdin.buffer
    setup = receive(source)
    sys.path[:] = setup["path"]
    from varichain.sweeps.trials import function_of

    function = function_of(setup["function"])
    send(pipe, "ready")  # the time of a trial does not count what Python takes to start
    while True:
        try:
            work = receive(source)
        except EOFError:
            return
        carry_out(function, work, lambda found: send(pipe, found))
