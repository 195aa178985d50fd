"""Real clusters for tests: a scheduler and workers as processes of their own, on the loopback."""

import contextlib
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from lane import PATIENCE

HERE = Path(__file__).parent


def environment(**more):
    """Environment in which processes find this varichain and the toys."""
    path = os.pathsep.join([*[entry for entry in sys.path if entry], str(HERE)])
    return os.environ | {"PYTHONPATH": path, "DASK_DISTRIBUTED__COMM__TIMEOUTS__CONNECT": "5s"} | more


def began(*command, **options):
    """A process that prints to nowhere."""
    quiet = {"stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL, "env": environment()} | options
    return subprocess.Popen([sys.executable, *command], start_new_session=True, **quiet)


class Cluster:
    """A scheduler and some workers."""

    def __init__(self, folder):
        self.processes = []
        place = Path(folder) / f"scheduler-{time.monotonic_ns()}.json"
        self.scheduler = self._begin(
            "-m", "distributed.cli.dask_scheduler", "--host", "127.0.0.1", "--port", "0", "--no-dashboard",
            "--scheduler-file", str(place),
        )  # fmt: skip
        end = time.monotonic() + PATIENCE
        while not (place.exists() and place.stat().st_size):
            assert time.monotonic() < end and self.scheduler.poll() is None
            time.sleep(0.05)
        self.address = json.loads(place.read_text())["address"]

    def _begin(self, *command, **options):
        process = began(*command, **options)
        self.processes.append(process)
        return process

    def worker(self, **more):
        """One more worker with one thread, which nobody restarts."""
        return self._begin(
            "-m", "distributed.cli.dask_worker", self.address, "--nthreads", "1", "--no-dashboard", "--no-nanny",
            "--local-directory", "/tmp", env=environment(**more),
        )  # fmt: skip

    def close(self):
        """End all processes."""
        for process in self.processes:
            kill(process)


def kill(process):
    """End a process as kill -9 does."""
    with contextlib.suppress(ProcessLookupError):
        os.kill(process.pid, signal.SIGKILL)
    process.wait()
