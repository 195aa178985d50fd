"""Programs that are killed while they write: all that they had flushed is there."""

import contextlib
import math
import os
import random
import select
import signal
import subprocess
import sys
import time
import warnings
from pathlib import Path

import numpy as np
import pytest

from varichain.trace import Trace, TraceWriter

TESTS = Path(__file__).resolve().parent.parent

N_KILLS = 60
LONGEST = 0.03  # [s] that a writer lives after its first chunk; it writes some hundred chunks in that time
WIDTH = 40  # samples of an epoch

# A process that forks a writer for each line that it reads, so that only the first one has to import anything. A writer
# writes epochs of 40 samples in chunks of 1 to 30, with checkpoints, and tells after each flush what is in the file:
# samples, and samples at the last checkpoint. If it is told a number of epochs, it then finishes the file.
SERVER = """
import os, sys
import h5py
import numpy as np
from runs import columns_of, gymnast, random_rows
from varichain.mechanism import description
from varichain.trace import TraceWriter

m = gymnast()
columns, structure = columns_of(m), description(m)
block = random_rows(np.random.default_rng(0), m, columns, 0.0, 40)

def tell(*words):
    os.write(1, (" ".join(map(str, words)) + "\\n").encode())

def write(path, seed, n_epochs):
    rng = np.random.default_rng(seed)
    writer = TraceWriter(path, chunk_rows=10**9, chunk_seconds=1e9)
    writer.begin({"seed": seed})
    total = checkpoint = 0
    for epoch in range(n_epochs):
        writer.open_epoch(structure, columns)
        n = 0
        while n < 40:
            k = min(int(rng.integers(1, 30)), 40 - n)
            rows = block[:k].copy()
            rows[:, 0] = total + np.arange(k)
            writer.append(rows)
            n, total = n + k, total + k
            if rng.random() < 0.2:
                checkpoint = total
                writer.checkpoint({"total": total})
            else:
                writer.flush()
            tell(total, checkpoint)
        writer.end_epoch({"text": f"end of epoch {epoch}"})
    writer.flush()
    tell("finishing")
    writer.finish()
    tell("finished")

for line in sys.stdin:
    path, seed, n_epochs = line.split("\\t")
    pid = os.fork()
    if pid == 0:
        tell("pid", os.getpid())
        write(path, int(seed), int(n_epochs))
        os._exit(0)
    os.waitpid(pid, 0)
    tell("dead")
"""


class Server:
    """The process above, and what it tells."""

    def __init__(self):
        environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(TESTS), *filter(None, sys.path)])}
        pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
        self.process = subprocess.Popen([sys.executable, "-c", SERVER], env=environment, bufsize=0, **pipes)
        self.unread = b""

    def line(self, until=None):
        """The next line; None if it does not come in time."""
        while b"\n" not in self.unread:
            left = None if until in (None, math.inf) else max(0.0, until - time.monotonic())
            if not select.select([self.process.stdout], [], [], left)[0]:
                return None
            data = os.read(self.process.stdout.fileno(), 1 << 16)
            assert data, "the server has died"
            self.unread += data
        line, _, self.unread = self.unread.partition(b"\n")
        return line.decode().split()

    def kill_a_writer(self, path, seed, lifetime, n_epochs=10**9, after=lambda line: True):
        """Kill a writer so long after it has told a line that fits; all that it told."""
        self.process.stdin.write(f"{path}\t{seed}\t{n_epochs}\n".encode())
        pid, lines, until = int(self.line()[1]), [], None
        while (line := self.line(until)) != ["dead"]:
            if line is None:
                with contextlib.suppress(ProcessLookupError):  # it was quicker
                    os.kill(pid, signal.SIGKILL)
                until = math.inf
                continue
            lines.append(line)
            if until is None and after(line):
                until = time.monotonic() + lifetime
        return lines

    def close(self):
        """Let it end."""
        self.process.stdin.close()
        self.process.wait()
        self.process.stdout.close()


@pytest.fixture(scope="module")
def server():
    """One server for all writers."""
    running = Server()
    yield running
    running.close()


def load(path):
    """The trace in a file, and the warnings about it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        return Trace.load(path), [str(warning.message) for warning in caught]


def assert_whole(trace, n, checkpoint):
    """The trace has at least n samples, whole and in order, and at least that checkpoint."""
    time = trace.time
    assert len(time) >= n
    assert np.array_equal(time, np.arange(len(time)))
    for epoch in trace.epochs[:-1]:
        assert len(epoch) == WIDTH
        assert epoch.event == {"text": f"end of epoch {epoch.index}"}
        assert epoch.lost == ()
    if checkpoint:
        assert trace.checkpoint["total"] >= checkpoint
        assert len(trace.at_checkpoint()) == trace.checkpoint["total"]


def test_killed_while_it_writes(server, tmp_path):
    """Whenever a writer is killed, every chunk that it had flushed can be read, and a checkpoint has its samples."""
    rng = random.Random(1)
    n_cut_off = n_samples = 0
    for i in range(N_KILLS):
        path = tmp_path / f"{i}.h5"
        lines = server.kill_a_writer(path, i, rng.uniform(0.0, LONGEST))
        n, checkpoint = map(int, lines[-1])
        trace, told = load(path)
        assert_whole(trace, n, checkpoint)
        assert trace.outcome == "interrupted"
        assert bool(told) == (trace.damage is not None)
        assert all("lost: " in text for text in told)
        n_cut_off += bool(told)
        n_samples += n
    assert n_samples > 10 * N_KILLS  # they did write
    assert n_cut_off < N_KILLS  # most are killed between two frames


def test_killed_while_it_finishes(server, tmp_path):
    """A writer that is killed while it makes the file plain HDF5 leaves the grown file or the finished one, whole."""
    rng = random.Random(2)
    outcomes = set()
    for i in range(15):
        path = tmp_path / f"{i}.h5"
        server.kill_a_writer(path, i, rng.uniform(0.0, 0.1), n_epochs=20, after=lambda line: line == ["finishing"])
        trace, told = load(path)
        assert_whole(trace, 20 * WIDTH, 0)
        assert not told
        outcomes.add(trace.outcome)
    assert outcomes <= {"interrupted", "complete"}


def test_continued_after_a_kill(server, tmp_path):
    """What a killed run left is taken over up to its checkpoint into the same file, which then goes on."""
    path = tmp_path / "run.h5"
    server.kill_a_writer(path, 7, LONGEST, after=lambda line: line[-1] != "0")  # after a checkpoint
    trace, _ = load(path)
    total = trace.checkpoint["total"]
    writer = TraceWriter(path, overwrite=True)
    writer.resume(trace)
    again, told = load(path)
    assert (len(again), again.checkpoint, told) == (total, {"total": total}, [])
    columns = again.epochs[-1].columns
    writer.append(np.full((3, columns.width), float(total)))
    final = writer.finish()
    assert np.array_equal(final.time, [*range(total), *[total] * 3])
    assert len(final.epochs) == len(again.epochs)
