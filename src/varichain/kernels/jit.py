"""The decorators of compiled functions: kernels, and the helpers, routines and fragments that they are made of.

Kernels come from a library that was built ahead of time, if there is one of these very sources for this processor
(`library`). Otherwise Numba compiles them on their first call (`compiling`). With NUMBA_DISABLE_JIT=1 everything is
plain Python. Numba is imported only where it compiles.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Iterable
from typing import Any, NamedTuple, TypeVar

import numpy as np

from varichain.kernels import library
from varichain.kernels.run_records import CHANNEL, CONTROL, FORCE, LAW, RESTRAINT, RUN, TRANSITION

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED = os.environ.get("NUMBA_DISABLE_JIT", "0") not in ("", "0")
_LIBRARY = None if JIT_DISABLED else library.load()
COMPILES = not JIT_DISABLED and _LIBRARY is None
# Where the machine code of kernels is from: times depend on it.
ORIGIN = f"library for {_LIBRARY.PROCESSOR}" if _LIBRARY is not None else "compiled by Numba" if COMPILES else "none"
if COMPILES:
    from varichain.kernels import compiling
if JIT_DISABLED:
    # compiled kernels divide by zero in silence, and so must their plain Python: friendly functions look at the result
    np.seterr(divide="ignore", invalid="ignore")


class Kind(NamedTuple):
    """What an argument of a kernel is: a number, if it has no dimensions, or a C-contiguous array."""

    dtype: np.dtype[Any]
    n_dims: int = 1
    is_written: bool = True  # an array that a kernel only reads may be read-only


# An address table, arrays, numbers; bytes that layouts are built from, and the memory for them; records.
TABLE = INTEGERS = Kind(np.dtype(np.int64))
VECTOR, MATRIX, CUBE = [Kind(np.dtype(np.float64), n) for n in (1, 2, 3)]
INTEGER, NUMBER = Kind(np.dtype(np.int64), 0), Kind(np.dtype(np.float64), 0)
SPECS, BYTES = Kind(np.dtype(np.uint8), is_written=False), Kind(np.dtype(np.uint8))
RESTRAINTS, FORCES, CHANNELS, CONTROLS, LAWS, RUNS, TRANSITIONS = [
    Kind(record) for record in (RESTRAINT, FORCE, CHANNEL, CONTROL, LAW, RUN, TRANSITION)
]
KERNELS: dict[Any, tuple[Kind, ...]] = {}


def allocates(function: Function) -> Function:
    """Mark a function that makes arrays, or gets some that a helper or routine has made: they are freed at its end.

    All others use arrays that Python owns, and count no references to them.
    """
    function.allocates = True  # type: ignore[attr-defined]
    return function


def helper(function: Function) -> Function:
    """Compile a small function that only other kernels call; it is inlined into them."""
    return compiling.part(function, forceinline=True) if COMPILES else function


def routine(function: Function) -> Function:
    """Compile a function that other kernels call and that is too long to be copied into each of them."""
    # said outright: what is not said passes on from a helper in which the routine is first met
    return compiling.part(function, forceinline=False) if COMPILES else function


def fragment(function: Function) -> Function:
    """A piece of one longer routine or kernel, put into it before compilation; the types of its arguments may vary."""
    return compiling.fragment(function) if COMPILES else function


def kernel(*kinds: Kind) -> Callable[[Function], Function]:
    """Compile a function that Python calls, on its first call; its machine code is kept on disk.

    `kinds` are those of its arguments, the only ones it is ever called with (see `seal`): TABLE, VECTOR, MATRIX, ... A
    kernel that is not in the library, as those of tests, is plain Python where the library is used.
    """

    def declare(function: Function) -> Function:
        made: Any = function
        if COMPILES:
            made = compiling.kernel(function)
        elif _LIBRARY is not None and library.name_of(function) in _LIBRARY.KERNELS:
            made = functools.update_wrapper(_LIBRARY.Kernel(library.name_of(function), kinds), function)
        KERNELS[made] = kinds
        return made  # type: ignore[no-any-return]

    return declare


def plain(function: Any) -> Any:
    """The Python function behind a compiled one: Python calls helpers that way, for nothing is to be compiled then."""
    return getattr(function, "__wrapped__", function)


def seal(kernels: Iterable[Any]) -> None:
    """Make kernels ready, and refuse any further compilation of them.

    In a control loop an argument of another type is then a TypeError at once, not seconds of compiling.
    """
    if COMPILES:
        for dispatcher in kernels:
            compiling.compiled(dispatcher, KERNELS[dispatcher])
            dispatcher.disable_compile()
