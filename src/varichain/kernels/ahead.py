"""Machine code of kernels for a library: object files with an entry for each, which glue.c calls.

An entry takes the numbers of a kernel's arguments as words of eight bytes: a scalar, or the address of an array and its
lengths. It returns a status, which is zero if nothing was raised. The kernel itself can be called by address (`rows`).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numba
from llvmlite import binding, ir
from numba.core import cgutils
from numba.core.compiler_lock import global_compiler_lock
from numba.core.registry import cpu_target

from varichain.kernels import compiling, library
from varichain.kernels.jit import Kind
from varichain.kernels.pipeline import Ahead, codes_of

_WORD, _STATUS = ir.IntType(64), ir.IntType(32)
# What machine code may ask for: of the C library, and of glue.c.
_MATHEMATICS = {
    "acos",
    "asin",
    "atan",
    "atan2",
    "cos",
    "exp",
    "fma",
    "fmod",
    "hypot",
    "log",
    "pow",
    "sin",
    "sincos",
    "sqrt",
}
_MATHEMATICS |= {"tan", "tanh", "memcpy", "memmove", "memset"}
_GLUE = {"NRT_MemInfo_alloc_aligned", "NRT_MemInfo_call_dtor", "NRT_MemInfo_data_fast", "numba_attempt_nocopy_reshape"}


@dataclass(frozen=True)
class Made:
    """A kernel in an object file.

    Attributes:
        name: By which Python finds it.
        entry, native: Symbols of the entry and of the kernel.
        returned: Codes of its result.
    """

    name: str
    entry: str
    native: str
    returned: str


def object_code(kernels: Iterable[tuple[Any, Iterable[Kind]]], cpus: Iterable[str]) -> tuple[list[Made], list[bytes]]:
    """What is made of functions and the kinds of their arguments, and an object file of it for each kind of processor.

    Parts that several kernels reach are optimized once for all of them: most of the time goes there, after what
    Numba needs to make intermediate code, which is the same for all processors.
    """
    found = []
    for function, kinds in kernels:
        types = compiling.types_of(kinds)
        dispatcher = compiling.part(function)
        dispatcher.compile(types)
        lowered = dispatcher.overloads[types]
        name, native = library.name_of(function), lowered.fndesc.llvm_func_name
        made = Made(name, "varichain_" + name.replace(".", "_"), native, codes_of(lowered.signature.return_type))
        found.append((made, lowered))
    return [made for made, _ in found], [_machine_code(found, cpu) for cpu in cpus]


def _machine_code(found: list[tuple[Made, Any]], cpu: str) -> bytes:
    """Object file of kernels that were lowered, for a kind of processor."""
    names = [made.name for made, _ in found]
    whole = Ahead(cpu, names[0], {symbol for made, _ in found for symbol in (made.entry, made.native)})
    for made, lowered in found:
        whole.add_linking_library(lowered.library)
        whole.add_ir_module(_entry(made, lowered.fndesc))
    with global_compiler_lock:
        whole.finalize()
    _require_known_symbols(whole, names)
    machine = binding.Target.from_default_triple().create_target_machine(
        cpu=cpu, opt=3, reloc="pic", codemodel="default"
    )
    return machine.emit_object(whole.module)  # type: ignore[no-any-return]


def _entry(made: Made, described: Any) -> ir.Module:
    """Module with the entry of a kernel: status = entry(words, results)."""
    context = cpu_target.target_context
    module = context.create_module(made.entry)
    kind = context.call_conv.get_function_type(described.restype, described.argtypes)
    native = ir.Function(module, kind, made.native)
    words = _WORD.as_pointer()
    entry = ir.Function(module, ir.FunctionType(_STATUS, [words, words]), made.entry)
    builder = ir.IRBuilder(entry.append_basic_block())
    place = 0
    arguments = []
    for of_type in described.argtypes:
        n = 1 + of_type.ndim if isinstance(of_type, numba.types.Array) else 1
        given = [builder.load(builder.gep(entry.args[0], [_WORD(place + i)])) for i in range(n)]
        arguments.append(_argument(context, builder, of_type, given))
        place += n
    status, result = context.call_conv.call_function(builder, native, described.restype, described.argtypes, arguments)
    for i, code in enumerate(made.returned):
        is_tuple = isinstance(described.restype, numba.types.BaseTuple)
        value = builder.extract_value(result, i) if is_tuple else result
        word = value if code == "i" else builder.bitcast(value, _WORD)
        builder.store(word, builder.gep(entry.args[1], [_WORD(i)]))
    builder.ret(status.code)
    return module


def _argument(context: Any, builder: Any, of_type: Any, words: list[Any]) -> Any:
    """Value that a kernel takes, from its words."""
    if not isinstance(of_type, numba.types.Array):
        return builder.bitcast(words[0], context.get_value_type(of_type))
    array = context.make_array(of_type)(context, builder)
    size = context.get_abi_sizeof(context.get_data_type(of_type.dtype))
    strides = [_WORD(size)]
    for length in reversed(words[2:]):
        strides.insert(0, builder.mul(strides[0], length))
    n_items = _WORD(1)
    for length in words[1:]:
        n_items = builder.mul(n_items, length)
    array.meminfo = array.parent = ir.Constant(cgutils.voidptr_t, None)
    array.nitems, array.itemsize = n_items, _WORD(size)
    array.data = builder.inttoptr(words[0], array.data.type)
    array.shape = cgutils.pack_array(builder, words[1:])
    array.strides = cgutils.pack_array(builder, strides)
    return array._getvalue()


def _require_known_symbols(whole: Ahead, names: list[str]) -> None:
    needed = {function.name for function in whole.module.functions if function.is_declaration}
    unknown = {symbol for symbol in needed if not symbol.startswith("llvm.")} - _MATHEMATICS - _GLUE
    if unknown or whole.has_dynamic_globals:
        raise RuntimeError(
            f"one of {', '.join(names)} needs {sorted(unknown) or 'addresses of this process'}, which no library has"
        )
