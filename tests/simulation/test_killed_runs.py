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
from lane import compiled_only, scaled
from moving import bits

PROGRAM = textwrap.dedent(
    """
    import sys
    sys.path.insert(0, TESTS)
    sys.path.insert(0, HERE)
    import varichain as vc
    from killed import run
    print("ready", flush=True)
    run(METHOD, END, FILE)
    """
)
HERE = Path(__file__).parent


@compiled_only
@pytest.mark.parametrize("method", ["rk4", "rk45"])
def test_a_killed_run_goes_on_with_the_same_bits(tmp_path, method):
    """A run that is killed at any moment leaves a readable file, from which it goes on to the bit."""
    from killed import options, run

    end = scaled(40.0, 1.0)
    whole = run(method, end)
    found_part = False
    for n, wait in enumerate((0.3, 1.3, 2.1)):
        file = tmp_path / f"{n}.h5"
        program = PROGRAM.replace("TESTS", repr(str(HERE.parent))).replace("HERE", repr(str(HERE)))
        program = program.replace("METHOD", repr(method)).replace("END", repr(1e5)).replace("FILE", repr(str(file)))
        process = subprocess.Popen([sys.executable, "-c", program], stdout=subprocess.PIPE, text=True)
        assert process.stdout.readline() == "ready\n"
        while not file.exists() and process.poll() is None:
            time.sleep(0.01)
        time.sleep(wait)
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
        process.stdout.close()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", vc.DamagedTraceWarning)
            trace = vc.Trace.load(file)
        if not trace.epochs or trace.checkpoint is None:
            continue
        found_part = True
        reached = trace.checkpoint["run"]["time"]
        if reached >= end:
            continue
        assert bits(vc.resume(trace, end, **options())) == bits(whole)
    assert found_part
