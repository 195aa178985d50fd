"""Memory of a whole process, stage by stage."""

from __future__ import annotations

import subprocess
import sys

from varichain.bench.rows import Row
from varichain.bench.targets import MEMORY
from varichain.errors import VarichainError

# What getrusage tells of a new process is at least what its parent had: Linux is asked otherwise.
_SCRIPT = """
import sys
def tell(what):
    try:
        with open("/proc/self/status") as status:
            size = next(line.split()[1] for line in status if line.startswith("VmHWM"))
    except OSError:
        import resource
        size = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / (1024 if sys.platform == "darwin" else 1)
    print(what, size, sep="\\t", flush=True)
tell("Python alone")
import numpy
tell("numpy imported")
import numba
tell("Numba imported")
import varichain as vc, varichain.dynamics
tell("varichain's dynamics imported")
from varichain.bench.mechanisms import chain
given = chain(10, pinned=True)
vc.forward_dynamics(given.m, given.s)
tell("chain of 10, pinned")
for is_pinned in (False, True):
    given = chain(1000, is_pinned)
    vc.forward_dynamics(given.m, given.s)
    tell("chain of 1000" + (", pinned" if is_pinned else ""))
"""


def memory() -> list[Row]:
    """Largest memory in megabytes that a new process has had, until each of its stages."""
    done = subprocess.run([sys.executable, "-c", _SCRIPT], capture_output=True, text=True, check=False)
    if done.returncode:
        raise VarichainError(f"the process whose memory is measured failed:\n{done.stderr}")
    rows = []
    for line in done.stdout.splitlines():
        what, kilobytes = line.split("\t")
        found = float(kilobytes) / 1024.0
        is_judged = what.startswith("chain of 1000")
        target, met = (f"< {MEMORY:g} MB", found < MEMORY) if is_judged else ("", None)
        rows.append(Row("memory", what, found, found, found, target=target, met=met, unit="MB"))
    return rows
