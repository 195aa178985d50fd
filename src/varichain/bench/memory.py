"""Memory of a whole process, stage by stage."""

from __future__ import annotations

import subprocess
import sys

from varichain.bench.rows import Row
from varichain.bench.targets import MEMORY
from varichain.errors import VarichainError

_SCRIPT = """
import resource, sys
def tell(what):
    print(what, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, sep="\\t", flush=True)
tell("Python alone")
import numpy
tell("numpy imported")
import numba
tell("Numba imported")
import varichain as vc
from varichain.bench.mechanisms import chain
tell("varichain imported")
given = chain(10, pinned=True)
vc.forward_dynamics(given.m, given.s)
tell("chain of 10, pinned")
for is_pinned in (False, True):
    given = chain(1000, is_pinned)
    vc.forward_dynamics(given.m, given.s)
    tell("chain of 1000" + (", pinned" if is_pinned else ""))
"""


def memory() -> list[Row]:
    """Largest memory [MB] that a new process has had, until each of its stages."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    if done.returncode:
        raise VarichainError(f"the process whose memory is measured failed:\n{done.stderr}")
    rows = []
    scale = 1024.0**2 if sys.platform == "darwin" else 1024.0  # ru_maxrss is in bytes there, in kilobytes elsewhere
    for line in done.stdout.splitlines():
        what, size = line.split("\t")
        found = float(size) / scale
        is_judged = what.startswith("chain of 1000")
        target, met = (f"< {MEMORY:g} MB", found < MEMORY) if is_judged else ("", None)
        rows.append(Row("memory", what, found, found, found, target=target, met=met, unit="MB"))
    return rows
