"""Compile kernels into the cache, on two cores, before many processes want them at once.

Each of the processes that run tests would compile what it needs for itself, and all of them the same. Kernels of
contacts, particles and functions of animation spaces are wanted by long tests alone.
"""

from __future__ import annotations

import os
import sys

os.environ["VARICHAIN_JIT"] = "1"  # the library has nothing to compile

from build_kernels import family_of, in_families, short_name

from varichain.kernels import cache, jit, library

_APART = ("contact_", "particle_", "function_")


def compile_family(family: str) -> int:
    """Compile the kernels of a family; returns their number."""
    library.import_kernels()
    wanted = [kernel for kernel in jit.KERNELS if not short_name(kernel).startswith(_APART)]
    kernels = [kernel for kernel in wanted if family_of(kernel) == family]
    jit.seal(kernels)
    return len(kernels)


def main() -> None:
    """Compile, and tell how many."""
    if jit.JIT_DISABLED:
        sys.exit("the compiler is switched off: NUMBA_DISABLE_JIT is set")
    n_compiled = in_families(compile_family)
    print(f"{n_compiled} kernels in {cache.cache_folder()}")


if __name__ == "__main__":
    main()
