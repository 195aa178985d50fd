"""The decorators of compiled functions: kernels, and the helpers, routines and fragments that they are made of."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeVar

import numba
import numpy as np
from numba.core import event

from varichain.kernels.cache import CompilationNotice, KernelCache
from varichain.kernels.pipeline import OPTIONS, KernelCompiler, PartCompiler
from varichain.kernels.run_records import CHANNEL, CONTROL, FORCE, IMPACT, RESTRAINT, RUN, TRANSITION

Function = TypeVar("Function", bound=Callable[..., Any])

JIT_DISABLED = bool(numba.config.DISABLE_JIT)

# Argument types of kernels: an address table, contiguous arrays, scalars; bytes that layouts are built from; records.
TABLE = INTEGERS = numba.int64[::1]
VECTOR, MATRIX, INTEGER, NUMBER = numba.float64[::1], numba.float64[:, ::1], numba.int64, numba.float64
SPECS = numba.types.Array(numba.uint8, 1, "C", readonly=True)
RESTRAINTS, FORCES, CHANNELS, CONTROLS, RUNS, TRANSITIONS, IMPACTS = [
    numba.from_dtype(record)[::1] for record in (RESTRAINT, FORCE, CHANNEL, CONTROL, RUN, TRANSITION, IMPACT)
]
KERNELS: dict[Any, tuple[Any, ...]] = {}

# Options of functions that kernels alone call: no way into them from Python.
_PART: dict[str, Any] = {**OPTIONS, "no_cpython_wrapper": True, "no_cfunc_wrapper": True}
if not JIT_DISABLED:
    _PART["pipeline_class"] = PartCompiler


def helper(function: Function) -> Function:
    """Compile a small function that only other kernels call; it is inlined into them."""
    return numba.njit(forceinline=True, **_PART)(function)  # type: ignore[no-any-return]


def routine(function: Function) -> Function:
    """Compile a function that other kernels call and that is too long to be copied into each of them."""
    return numba.njit(**_PART)(function)  # type: ignore[no-any-return]


def fragment(function: Function) -> Function:
    """A piece of one longer routine or kernel, put into it before compilation; the types of its arguments may vary."""
    return numba.njit(inline="always", **OPTIONS)(function)  # type: ignore[no-any-return]


def kernel(*argument_types: Any) -> Callable[[Function], Function]:
    """Compile a function that Python calls, on its first call; its machine code is kept on disk.

    `argument_types` are the only ones it is ever called with (see `seal`): TABLE, VECTOR, MATRIX, INTEGER, NUMBER.
    """

    def declare(function: Function) -> Function:
        dispatcher = numba.njit(pipeline_class=KernelCompiler, **OPTIONS)(function)
        if not JIT_DISABLED:
            dispatcher._cache = KernelCache(dispatcher.py_func)
        KERNELS[dispatcher] = argument_types
        return dispatcher  # type: ignore[no-any-return]

    return declare


def plain(function: Any) -> Any:
    """The Python function behind a compiled one: Python calls helpers that way, for nothing is to be compiled then."""
    return getattr(function, "py_func", function)


def seal(kernels: Iterable[Any]) -> None:
    """Make kernels ready, and refuse any further compilation of them.

    In a control loop an argument of another type is then a TypeError at once, not seconds of compiling.
    """
    if JIT_DISABLED:
        return
    for dispatcher in kernels:
        if not dispatcher.signatures:
            dispatcher.compile(KERNELS[dispatcher])
        dispatcher.disable_compile()


if not JIT_DISABLED:
    event.register("numba:compile", CompilationNotice())
else:
    # compiled kernels divide by zero in silence, and so must their plain Python: friendly functions look at the result
    np.seterr(divide="ignore", invalid="ignore")
