"""Settings of all tests."""

import os

# Tests run beside each other: threads of linear algebra would wait for each other at every small matrix. It is read
# when numpy is imported.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import gc
import signal
from itertools import groupby

import pytest
from hypothesis import HealthCheck, settings
from xdist.scheduler import LoadScopeScheduling

from cases import A_FEW, LONG_IN_PLAIN_PYTHON
from lane import IS_COMPILED, scaled
from places import watch

# What is not about the numbers of kernels is tested once, compiled: these folders, and the files beside this one.
_ONCE = (
    *(
        "bench",
        "browser",
        "cli",
        "export",
        "formats",
        "mechanism",
        "optimise",
        "oracles_check",
        "plots",
        "scene",
        "spatial",
        "sweeps",
    ),
    *("trace", "viewer", "kernels/test_lint_kernels.py", "simulation/test_live_run.py"),
)
collect_ignore_glob = [] if IS_COMPILED else ["test_*.py", *(f"{name}*" for name in _ONCE)]

if not IS_COMPILED:
    watch()

# Plain Python tells whether the sources mean what their machine code does. A few cases of each test show that; all of
# them are among the long tests (`make test-long`).
_CASES = 2
_ALL_CASES = os.environ.get("VARICHAIN_ALL_CASES") == "1"


def _spread(cases, n):
    """The places of n cases of a test: the first, the last, and evenly between."""
    return {round(i * (len(cases) - 1) / max(n - 1, 1)) for i in range(n)}


def _by_test(items):
    """Cases of each test: its name below the folder of all tests, and they."""
    for name, group in groupby(items, key=lambda item: item.nodeid.partition("[")[0]):
        yield name.partition("/")[2], list(group)


def pytest_collection_modifyitems(config, items):
    """Where a few cases stand for all, the others are long; in plain Python, leave out most cases, and long tests."""
    if _ALL_CASES:
        return
    for name, cases in _by_test(items):
        wanted = _spread(cases, A_FEW.get(name, len(cases)))
        for i, case in enumerate(cases):
            if i not in wanted:
                case.add_marker(pytest.mark.long)
    if IS_COMPILED:
        return
    kept, left_out = [], []
    for name, cases in _by_test(items):
        wanted = () if name in LONG_IN_PLAIN_PYTHON else _spread(cases, _CASES)
        for i, case in enumerate(cases):
            (kept if i in wanted else left_out).append(case)
    if left_out:
        config.hook.pytest_deselected(items=left_out)
        items[:] = kept


# Files whose tests share nothing that takes long to make.
_SPREAD = ("test_entries.py", "test_files.py", "test_examples.py", "test_docs.py", "test_sweeps.py", "test_clusters.py")


class _ByFile(LoadScopeScheduling):
    """Tests of a file go to one process, where they share what they make; so do all tests that need a browser.

    pytest-xdist's own groups (`--dist loadgroup`) have no effect with pytest 9.2: they rename tests by an attribute
    that it no longer has.
    """

    def _split_scope(self, nodeid):
        path, _, test = nodeid.partition("::")
        folder, _, name = path.rpartition("/")
        if folder.endswith("browser"):
            return "browser"
        if name == "test_every_scenario.py":
            return f"{path}{test.partition('[')[2]}"
        return nodeid if name in _SPREAD else path


def pytest_xdist_make_scheduler(config, log):
    """Distribute by file, the largest files first."""
    return _ByFile(config, log)


def pytest_collection_finish():
    """Let the garbage collector leave alone what stays to the end: thousands of tests, and all modules."""
    gc.collect()
    gc.freeze()


# Tests that run in the background (nohup, &) have Ctrl-C switched off, which some of them are about: switch it on.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# No deadlines: the first example of a process may load or compile kernels, and speed is no matter of the tests.
settings.register_profile(
    "varichain",
    deadline=None,
    derandomize=True,
    max_examples=scaled(100, 12),
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("varichain")
