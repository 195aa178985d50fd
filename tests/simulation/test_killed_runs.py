"""kill -9 while a run is written: the file is readable, and going on gives the bits of the whole run."""

import os
import signal
import subprocess
import sys
import textwrap
import time
import warnings
from pathlib import Path

import pytest

import varichain as vc
from lane import compiled_only
from moving import bits

PROGRAM = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, TESTS)
    sys.path.insert(0, HERE)
    import varichain as vc
    from killed import run
    run(METHOD, END, FILE)
    """
)
HERE = Path(__file__).parent


def loaded(file):
    """The trace in a file that is being written, or has been left; None before it has begun."""
    try:
        with warnings.catch_warnings(action="ignore", category=vc.DamagedTraceWarning):
            return vc.Trace.load(file)
    except vc.TraceFileError:
        return None


def killed(method, file, n):
    """What is left of a run that is killed some time after its n-th checkpoint."""
    program = PROGRAM.replace("TESTS", repr(str(HERE.parent))).replace("HERE", repr(str(HERE)))
    program = program.replace("METHOD", repr(method)).replace("END", repr(1e5)).replace("FILE", repr(str(file)))
    process = subprocess.Popen([sys.executable, "-c", program])
    seen = set()
    while len(seen) < n:
        assert process.poll() is None
        time.sleep(0.02)
        trace = loaded(file)
        if trace is not None and trace.checkpoint is not None:
            seen.add(trace.checkpoint["run"]["time"])
    time.sleep(0.1 * n)
    os.kill(process.pid, signal.SIGKILL)
    process.wait()
    return loaded(file)


@compiled_only
@pytest.mark.parametrize("method", ["rk4", "rk45"])
def test_a_killed_run_goes_on_with_the_same_bits(tmp_path, method):
    """A run that is killed at any moment leaves a readable file, from which it goes on to the bit."""
    from killed import options, run

    traces = [killed(method, tmp_path / f"{n}.h5", n) for n in (1, 2, 3)]
    end = max(trace.checkpoint["run"]["time"] for trace in traces) + 2.0
    whole = bits(run(method, end))
    for trace in traces:
        assert bits(vc.resume(trace, end, **options())) == whole
