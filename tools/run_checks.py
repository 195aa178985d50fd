"""Run every check of the project, and say at the end which passed.

Checks of the sources run beside the one that builds the library; the tests that need no library beside those that do,
which often wait for browsers and other programs. A failing check does not stop the others. The exit code is 0 if all
passed, else 1.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TAIL = 65536  # bytes of a check's output that are kept, to show them later or to find the counts in its last lines
# What needs the compiler itself: most tests run with the library, which has its bits (tests/kernels/test_library.py).
JIT_TESTS = (
    *(
        f"tests/kernels/test_{name}.py"
        for name in ("allocations", "fusing", "indexing", "inlining", "lanes", "no_compilation", "rows")
    ),
    *("tests/motion", "tests/batch", "tests/change/test_sequences.py"),
    *("tests/simulation/test_samples.py", "tests/simulation/test_simulated_controllers.py"),
)
# Hundreds of processes import the same modules: they compile them once, whatever the shell says about bytecode.
ENVIRONMENT = {"PYTHONDONTWRITEBYTECODE": ""}
COUNT = re.compile(r"\b(\d+) (passed|failed|errors?|skipped|xfailed|xpassed|deselected)\b")


@dataclass(frozen=True)
class Check:
    """A command to run, and the environment variables that it wants."""

    name: str
    command: tuple[str, ...]
    environment: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """How a check went: exit code, time [s], and the counts it printed last, if it is a test run."""

    check: Check
    code: int
    seconds: float
    counts: str

    def __str__(self) -> str:
        """One line of the table."""
        verdict = "passed" if self.code == 0 else f"FAILED ({self.code})"
        return f"{self.check.name:<16}{verdict:<14}{self.seconds:7.1f} s  {self.counts}".rstrip()


def source_checks() -> list[Check]:
    """Checks that only read the sources."""
    python = (sys.executable, "-m")
    lint_imports = str(Path(sys.executable).with_name("lint-imports"))
    return [
        Check("lint", (*python, "ruff", "check", ".")),
        Check("format", (*python, "ruff", "format", "--check", ".")),
        Check("types", (*python, "mypy")),
        Check("layers", (lint_imports,)),
        Check("kernel lint", (sys.executable, str(ROOT / "tools" / "lint_kernels.py"))),
    ]


def tests(processes: int) -> tuple[str, ...]:
    """The command that runs all tests; tests/conftest.py says which of them share a process."""
    return (sys.executable, "-m", "pytest", "-q", "-n", str(processes), "--durations", "30")


def library_tests(processes: int) -> Check:
    """The tests with the library of kernels."""
    return Check("tests, library", tests(processes), {"NUMBA_DISABLE_JIT": "0", "VARICHAIN_JIT": "0"})


def library() -> Check:
    """The library of kernels; the cache of those that are compiled on first use is filled beside it."""
    return Check("library", (sys.executable, str(ROOT / "tools" / "build_kernels.py"), "--cache"))


def other_tests(processes: int) -> list[Check]:
    """The wheel, and the tests without the library: those about the compiler, and those in plain Python."""
    return [
        Check("wheel", (sys.executable, str(ROOT / "tools" / "try_wheel.py"))),
        Check("tests, JIT", (*tests(processes), *JIT_TESTS), {"NUMBA_DISABLE_JIT": "0", "VARICHAIN_JIT": "1"}),
        Check("tests, JIT off", tests(processes), {"NUMBA_DISABLE_JIT": "1"}),
    ]


def run(check: Check, is_shown: bool = True) -> Outcome:
    """Run one check, with its output on the terminal at once or when it has ended."""
    heading = " ".join((*(f"{name}={value}" for name, value in check.environment.items()), *check.command))
    heading = f"\n--- {check.name}: {heading}\n"
    if is_shown:
        _show(heading.encode())
    start = time.monotonic()
    output = b""
    with subprocess.Popen(
        check.command,
        cwd=ROOT,
        env=os.environ | ENVIRONMENT | check.environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    ) as process:
        assert process.stdout is not None
        while chunk := os.read(process.stdout.fileno(), 65536):
            if is_shown:
                _show(chunk)
            output = (output + chunk)[-TAIL:]
    if not is_shown:
        _show(heading.encode() + output)
    counts = last_counts(output.decode(errors="replace")) if "pytest" in check.command else ""
    return Outcome(check, process.returncode, time.monotonic() - start, counts)


def side_by_side(shown: Check, others: list[Check]) -> list[Outcome]:
    """Run a check, with its output on the terminal, and others meanwhile, one after the other."""
    with ThreadPoolExecutor(1) as beside:
        waiting = [beside.submit(run, check, is_shown=False) for check in others]
        outcome = run(shown)
        return [outcome, *(found.result() for found in waiting)]


def _show(text: bytes) -> None:
    sys.stdout.buffer.write(text)
    sys.stdout.buffer.flush()


def last_counts(text: str) -> str:
    """The counts in the last line that has any: "12 passed, 1 skipped"."""
    for line in reversed(text.splitlines()):
        if found := COUNT.findall(line):
            return ", ".join(f"{number} {what}" for number, what in found)
    return ""


def main() -> int:
    """Run all checks; exit code 0 if all passed."""
    outcomes: list[Outcome] = []
    cores = os.cpu_count() or 1
    of_sources, others = source_checks(), other_tests(min(3, cores))
    with_library = library_tests(min(4, cores + 1))  # one more than cores: those of the browser wait much
    try:
        outcomes += side_by_side(library(), of_sources)
        outcomes += side_by_side(with_library, others)
    except KeyboardInterrupt:
        print("\ninterrupted")
    wanted = [*of_sources, library(), with_library, *others]
    print("\n--- summary")
    for outcome in outcomes:
        print(outcome)
    for check in wanted:
        if check not in [outcome.check for outcome in outcomes]:
            print(f"{check.name:<16}not run")
    passed = sum(outcome.code == 0 for outcome in outcomes)
    print(f"checks: {passed} passed, {len(wanted) - passed} failed")
    return 0 if passed == len(wanted) else 1


if __name__ == "__main__":
    sys.exit(main())
