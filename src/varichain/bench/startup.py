"""Time from the start of a process to its first result, with an empty cache and with a filled one."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass

import numpy as np

from varichain.bench.interleave import Timings
from varichain.bench.rows import Row, row_alone
from varichain.bench.targets import IMPORTED, READY

BARE, NUMBA, IMPORT = "python alone", "import numba", "import varichain"
FRIENDLY, PREPARED = "vc.forward_dynamics", "m.prepare(), handle.forward_dynamics"

_FIGURE = "import varichain as vc; m = vc.figures.human40(); s = m.state(); "
_SCRIPTS = {
    BARE: "pass",
    NUMBA: "import numba",
    IMPORT: "import varichain",
    FRIENDLY: _FIGURE + "vc.forward_dynamics(m, s)",
    PREPARED: _FIGURE + "m.prepare().forward_dynamics(s.q, s.v, 0.0 * s.v, 0.0 * s.v)",
}


@dataclass(frozen=True)
class StartUp:
    """Seconds from the start of a process to its first result.

    Attributes:
        cold: With an empty cache, by script: the first process of all.
        ready: With a filled one, every script once a round.
        imports: `import varichain` alone, without the interpreter's own start.
        cold_lines, ready_lines: Lines on standard error of the first and of a later process.
    """

    cold: dict[str, float]
    ready: Timings
    imports: Timings
    cold_lines: int
    ready_lines: int


def measure_start_up(rounds: int = 7) -> StartUp:
    """Start processes, each with a cache folder of its own that is thrown away afterwards."""
    cold = {}
    with tempfile.TemporaryDirectory() as folder:
        cold[FRIENDLY], _ = _first_result(_SCRIPTS[FRIENDLY], folder)
    with tempfile.TemporaryDirectory() as folder:
        cold[PREPARED], cold_lines = _first_result(_SCRIPTS[PREPARED], folder)
        ready: dict[str, list[float]] = {name: [] for name in _SCRIPTS}
        ready_lines = 0
        for _ in range(rounds):
            for name, script in _SCRIPTS.items():
                seconds, lines = _first_result(script, folder)
                ready[name].append(seconds)
                ready_lines = max(ready_lines, lines)
    imports = [_import_seconds() for _ in range(rounds)]
    return StartUp(
        cold,
        Timings({name: np.array(seconds) for name, seconds in ready.items()}),
        Timings({IMPORT: np.array(imports)}),
        cold_lines,
        ready_lines,
    )


def start_up() -> list[Row]:
    """First process of all, later processes, and what of it is Python's and Numba's own."""
    measured = measure_start_up()
    rows = []
    for script, seconds in measured.cold.items():
        rows.append(Row("first start, empty cache", script, seconds, seconds, seconds, unit="s"))
    for script in (FRIENDLY, PREPARED):
        rows.append(row_alone("next start, filled cache", script, measured.ready, script, READY, "s"))
    rows.append(row_alone("inside a process", IMPORT, measured.imports, IMPORT, IMPORTED, "s"))
    for script in (IMPORT, NUMBA, BARE):
        rows.append(row_alone("for comparison, process start to", script, measured.ready, script, unit="s"))
    return rows


def _first_result(script: str, cache: str) -> tuple[float, int]:
    """Seconds until the script has done its work, and how many lines it wrote to standard error."""
    environment = os.environ | {"VARICHAIN_CACHE": cache, "NUMBA_DISABLE_JIT": "0"}
    command = [sys.executable, "-c", f"{script}; print('ready', flush=True)"]
    start = time.perf_counter()
    with subprocess.Popen(
        command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as process:
        assert process.stdout is not None and process.stderr is not None
        line = process.stdout.readline()
        seconds = time.perf_counter() - start
        messages = process.stderr.read()
    if line != "ready\n":
        raise RuntimeError(f"{script} failed:\n{messages}")
    return seconds, len(messages.splitlines())


def _import_seconds() -> float:
    """Seconds that the import takes, as the importing process sees it."""
    script = "import time; start = time.perf_counter(); import varichain; print(time.perf_counter() - start)"
    return float(subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True).stdout)
