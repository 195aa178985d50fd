"""Settings of all tests."""

import signal

from hypothesis import HealthCheck, settings

from lane import IS_COMPILED, scaled

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
    *("trace", "viewer", "kernels/test_lint_kernels.py"),
)
collect_ignore_glob = [] if IS_COMPILED else ["test_*.py", *(f"{name}*" for name in _ONCE)]

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
