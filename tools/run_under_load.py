"""Run the tests with the library many times in a row beside processes that keep the machine busy.

Tests that depend on a quiet machine fail here. It stops at the first run that is not green; the exit code is 0 if all
were.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager

from run_checks import ENVIRONMENT, ROOT, last_counts, library_tests

_SHOWN = 100  # lines of a run that failed


@contextmanager
def busy(n: int) -> Iterator[None]:
    """Keep the machine busy with a number of processes meanwhile."""
    idle_loops = [subprocess.Popen((sys.executable, "-c", "while True: pass")) for _ in range(n)]
    try:
        yield
    finally:
        for process in idle_loops:
            process.kill()
            process.wait()


def main() -> int:
    """Run the tests again and again; exit code 0 if all runs were green."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=10, help="runs in a row (default: 10)")
    parser.add_argument("--busy", type=int, default=4, help="busy processes beside them (default: 4)")
    parser.add_argument("--processes", type=int, default=7, help="processes that share the tests (default: 7)")
    given = parser.parse_args()
    check = library_tests(given.processes)
    with busy(given.busy):
        for i in range(1, given.runs + 1):
            begun = time.monotonic()
            done = subprocess.run(
                check.command,
                cwd=ROOT,
                env=os.environ | ENVIRONMENT | check.environment,
                capture_output=True,
                text=True,
            )
            verdict = "green" if done.returncode == 0 else f"FAILED ({done.returncode})"
            took, load = time.monotonic() - begun, os.getloadavg()[0]
            print(f"run {i}: {verdict}, {took:.0f} s, load {load:.1f}, {last_counts(done.stdout)}", flush=True)
            if done.returncode != 0:
                print("\n".join(done.stdout.splitlines()[-_SHOWN:]), done.stderr, sep="\n")
                return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
