"""Compile all kernels into the cache, on two cores, before many processes want them at once.

Each of the processes that run tests would compile what it needs for itself, and all of them the same.
"""

from __future__ import annotations

import os
import sys
from multiprocessing import get_context

os.environ["VARICHAIN_JIT"] = "1"  # the library has nothing to compile

from varichain.kernels import cache, jit, library


def compile_share(i: int) -> int:
    """Compile one of two shares: the kernel of whole runs, which takes as long as all others, or the others."""
    library.import_kernels()
    from varichain.kernels.running import run

    share = [kernel for kernel in jit.KERNELS if (kernel is run) == (i == 0)]
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
