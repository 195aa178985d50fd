"""Trials for the tests of sweeps: quick, failing, crashing, hanging."""

import math
import os
import time
from pathlib import Path


def quick(x=0.0, y="a", seed=0):
    """A number of the parameters and of the seed."""
    return {"value": math.sin(x) + (seed % 1000) * 1e-3, "length": len(y)}


def slow(x=0.0, seed=0):
    """A tenth of a second."""
    time.sleep(0.1)
    return quick(x, seed=seed)


def raising(x=0.0, seed=0):
    """Raises for x = 2."""
    if x == 2:
        raise ValueError("x is two")
    return quick(x, seed=seed)


def crashing(x=0.0, seed=0):
    """Ends its process for x = 2."""
    if x == 2:
        os.kill(os.getpid(), 11)
    return quick(x, seed=seed)


def hanging(x=0.0, seed=0):
    """Never ends for x = 2."""
    if x == 2:
        time.sleep(3600.0)
    return quick(x, seed=seed)


def odd(x=0.0, seed=0):
    """NaN for x = 2, infinite for 3, and unstable for 4."""
    return {"value": {2: math.nan, 3: math.inf}.get(x, float(x)), "stable": x != 4}


def mended(x=0.0, folder="", seed=0):
    """Raises until a file is there."""
    if not (Path(folder) / "mended").exists():
        raise ValueError("not yet")
    return quick(x, seed=seed)


def wordless(x=0.0, seed=0):
    """Returns no mapping."""
    return 5


def bowl(x=0.0, seed=0):
    """Least at 1.5."""
    return {"depth": math.exp(0.2 * (x - 1.5) ** 2) * (1.0 + (seed % 7) * 1e-3)}
