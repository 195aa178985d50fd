"""Compile all kernels into the cache, on two cores, before many processes want them at once.

Each of the processes that run tests would compile what it needs for itself, and all of them the same.
"""

from __future__ import annotations

import importlib
import pkgutil
import sys
from multiprocessing import get_context

import varichain.kernels
from varichain.kernels import cache, jit


def compile_share(i: int) -> int:
    """Compile one of two shares: the kernel of whole runs, which takes as long as all others, or the others."""
    for module in pkgutil.iter_modules(varichain.kernels.__path__, "varichain.kernels."):
        importlib.import_module(module.name)
    whole_runs = importlib.import_module("varichain.kernels.running").run
    share = [kernel for kernel in jit.KERNELS if (kernel is whole_runs) == (i == 0)]
    jit.seal(share)
    return len(share)


def main() -> None:
    """Compile, and tell how many."""
    if jit.JIT_DISABLED:
        sys.exit("the compiler is switched off: NUMBA_DISABLE_JIT is set")
    with get_context("spawn").Pool(2) as pool:
        print(f"{sum(pool.map(compile_share, range(2), chunksize=1))} kernels in {cache.cache_folder()}")


if __name__ == "__main__":
    main()
