"""Kernels, helpers, routines and fragments as Numba's dispatchers: where there is no library, and to build one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

import numba
from numba.core import event

from varichain.kernels.cache import KernelCache
from varichain.kernels.notice import CompilationNotice
from varichain.kernels.pipeline import OPTIONS, KernelCompiler, PartCompiler, codes_of

if TYPE_CHECKING:
    from varichain.kernels.jit import Kind


def part(function: Any, **options: Any) -> Any:
    """A function that kernels alone call: there is no way into it from Python."""
    wrappers = {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}
    return numba.njit(pipeline_class=PartCompiler, **OPTIONS, **wrappers, **options)(function)


def fragment(function: Any) -> Any:
    """A function that is put into its callers before their types are known."""
    return numba.njit(inline="always", **OPTIONS)(function)


def kernel(function: Any) -> Any:
    """A function that Python calls; its machine code is kept on disk."""
    dispatcher = numba.njit(pipeline_class=KernelCompiler, **OPTIONS)(function)
    dispatcher._cache = KernelCache(dispatcher.py_func)
    return dispatcher


def types_of(kinds: Iterable[Kind]) -> tuple[Any, ...]:
    """Numba's types of arguments."""
    return tuple(map(_type_of, kinds))


def _type_of(kind: Kind) -> Any:
    of_type = numba.from_dtype(kind.dtype)
    return numba.types.Array(of_type, kind.n_dims, "C", readonly=not kind.is_written) if kind.n_dims else of_type


def compiled(dispatcher: Any, kinds: Iterable[Kind]) -> Any:
    """Machine code of a kernel for the kinds of arguments that it was declared with, made if it is not there yet."""
    types = types_of(kinds)
    if types not in dispatcher.overloads:
        dispatcher.compile(types)
    return dispatcher.overloads[types]


def entry_of(dispatcher: Any, kinds: Iterable[Kind]) -> tuple[int, str]:
    """Address of a kernel, and the codes of its result; see `rows`."""
    made = compiled(dispatcher, kinds)
    address = made.library.get_pointer_to_function(made.fndesc.llvm_func_name)
    return address, codes_of(made.signature.return_type)


NOTICE = CompilationNotice()
event.register("numba:compile", NOTICE)
