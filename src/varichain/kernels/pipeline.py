"""Numba's compiler as kernels need it: parts stay intermediate code, and each kernel is optimized once, as a whole.

Numba makes machine code of every function, and optimizes it together with all that it calls, again at each level of a
call tree. Nobody calls the machine code of helpers and routines. Here they are *parts*: lowered to intermediate code
and left so. A kernel takes in all parts that it reaches, each once, and is optimized with them. That takes about half
the time.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numba
from llvmlite.binding import Linkage
from numba import _dynfunc, types
from numba.core.codegen import AOTCPUCodegen, JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder, _LowerResult
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes, NativeLowering

from varichain.kernels.fusing import fuse
from varichain.kernels.indexing import unwrap

# No liberties with numbers: what is fused is said in `fusing`, and NaN and infinity keep their meaning.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "nogil": True}

# Packs the short sums of 3-vectors and 6x6 inertias into vector instructions: forward dynamics takes 20 % less.
numba.config.SLP_VECTORIZE = 1

# What a part has in place of machine code: Python's own call of an object, which refuses to call the part.
_REFUSAL = ctypes.cast(ctypes.pythonapi.PyObject_Call, ctypes.c_void_p).value

# Attribute of functions that make arrays of their own: references to these are counted, so that they are given back.
ALLOCATES = "allocates"

_CODES = {types.int64: "i", types.float64: "d"}


class _Fused(JITCodeLibrary):  # type: ignore[misc]
    """Intermediate code in which products and sums are fused before anything else is done."""

    def add_ir_module(self, ir_module: Any) -> None:
        """Add functions."""
        unwrap(ir_module)
        fuse(ir_module)
        super().add_ir_module(ir_module)


class _Part(_Fused):
    """Intermediate code of a helper or routine, without optimization and without machine code."""

    def _optimize_functions(self, module: Any) -> None:
        module.data_layout = self._codegen._data_layout

    def finalize(self) -> None:
        """Nothing more can be added."""
        self._raise_if_finalized()
        self._finalized = True


class _Whole(_Fused):
    """A kernel with all parts that it reaches, each once; they are its own copies, which are optimized with it."""

    def finalize(self) -> None:
        """Link, optimize and make machine code."""
        reached: dict[Any, None] = dict.fromkeys(self._linking_libraries)
        waiting = list(reached)
        while waiting:
            library = waiting.pop()
            if isinstance(library, _Part):
                new = [inner for inner in library._linking_libraries if inner not in reached]
                reached |= dict.fromkeys(new)
                waiting += new
        self._linking_libraries[:] = reached
        super().finalize()

    def _optimize_final_module(self) -> None:
        for function in self._final_module.functions:
            if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                function.linkage = Linkage.internal
        super()._optimize_final_module()


class Ahead(_Whole):
    """Kernels with all parts that they reach, optimized, and left there: they are not for this process."""

    def __init__(self, cpu: str, name: str, exported: set[str]) -> None:
        """Begin with nothing; of all functions that will be added, those that are exported can be seen from outside."""
        super().__init__(AOTCPUCodegen(name, cpu), name)
        self._exported = exported

    @property
    def module(self) -> Any:
        """LLVM's module of the library, once it is finished."""
        return self._final_module

    def _optimize_final_module(self) -> None:
        module = self._final_module
        for value in (*module.functions, *module.global_variables):
            if not value.is_declaration:
                value.linkage = Linkage.external if value.name in self._exported else Linkage.internal
        super()._optimize_final_module()

    def _finalize_final_module(self) -> None:
        self._finalize_dynamic_globals()
        self._finalized = True


def codes_of(returned: Any) -> str:
    """Codes of what a kernel returns: i for an integer, d for a number, one after the other of a tuple.

    Raises:
        TypeError: There is no code for a value.
    """
    if returned == types.none:
        return ""
    values = returned.types if isinstance(returned, types.BaseTuple) else (returned,)
    codes = [_CODES.get(types.unliteral(value)) for value in values]
    if None in codes:
        raise TypeError(f"a kernel returns {returned}; valid are integers and numbers, and tuples of them")
    return "".join(code for code in codes if code)


def _begin(state: Any, kind: type[JITCodeLibrary]) -> None:
    """Make the library to lower into, and switch the counting of references off, unless the function `allocates`.

    Arrays belong to Python, which keeps them while a kernel runs. To count references to them took a third of the time
    of a four-bar's step.
    """
    library = state.library = kind(state.targetctx.codegen(), state.func_id.func_qualname)
    library.enable_object_caching()
    if not getattr(state.func_id.func, ALLOCATES, False):
        state.targetctx = state.targetctx.subtarget(enable_nrt=False)


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginWhole(LoweringPass):  # type: ignore[misc]
    """Lower into a library of a kernel."""

    _name = "varichain_begin_whole"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        _begin(state, _Whole)
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _BeginPart(LoweringPass):  # type: ignore[misc]
    """Lower into a library of a part, and no further."""

    _name = "varichain_begin_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        _begin(state, _Part)
        state.flags.no_compile = True
        return True


@register_pass(mutates_CFG=False, analysis_only=False)
class _EndPart(LoweringPass):  # type: ignore[misc]
    """Register a part under the entry point by which its callers find it; there is nothing to enter."""

    _name = "varichain_end_part"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        lowered, library = state["cr"], state.library
        name, described = lowered.fndesc.qualname.split(".")[-1], f"part {lowered.fndesc.qualname!r}"
        module = lowered.fndesc.lookup_module()
        entry = _dynfunc.make_function(module, name, described, _REFUSAL, lowered.env, (library,))
        state.targetctx.insert_user_function(entry, lowered.fndesc, [library])
        state.reload_init.extend(library._reload_init)
        state["cr"] = _LowerResult(lowered.fndesc, lowered.call_helper, cfunc=entry, env=lowered.env)
        return True


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for kernels."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes, into a library of a kernel."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_BeginWhole, AnnotateTypes)
        pipeline.finalize()
        return [pipeline]


class PartCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for helpers and routines."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes up to lowering, into a library of a part."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_BeginPart, AnnotateTypes)
        pipeline.add_pass_after(_EndPart, NativeLowering)
        pipeline.finalize()
        return [pipeline]
