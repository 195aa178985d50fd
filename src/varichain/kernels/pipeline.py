"""Numba's compiler as kernels need it: options of all compiled functions, and one more pass for kernels."""

from __future__ import annotations

from typing import Any

import numba
from llvmlite.binding import Linkage
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import LoweringPass, register_pass
from numba.core.typed_passes import AnnotateTypes

# Contraction alone: a * b + c may become one fused instruction; NaN and infinity keep their meaning.
OPTIONS: dict[str, Any] = {"error_model": "numpy", "fastmath": {"contract"}, "nogil": True}

# Packs the short sums of 3-vectors and 6x6 inertias into vector instructions: forward dynamics takes 20 % less.
numba.config.SLP_VECTORIZE = 1


@register_pass(mutates_CFG=False, analysis_only=False)
class _InternalizeCallees(LoweringPass):  # type: ignore[misc]
    """Give all functions that a kernel calls internal linkage, so that results are reproducible to the bit.

    Kernels that share a routine are compiled with a copy of it each, and copies differ in their last bits. Numba lets
    all of them use the copy that a process happens to load first: results would depend on what was called before.
    """

    _name = "varichain_internalize_callees"

    def __init__(self) -> None:
        LoweringPass.__init__(self)

    def run_pass(self, state: Any) -> bool:
        library = state.library = state.targetctx.codegen().create_library(state.func_id.func_qualname)
        library.enable_object_caching()
        optimize = library._optimize_final_module

        def internalize() -> None:
            for function in library._final_module.functions:
                if not function.is_declaration and function.linkage == Linkage.linkonce_odr:
                    function.linkage = Linkage.internal
            optimize()

        library._optimize_final_module = internalize
        return True


class KernelCompiler(CompilerBase):  # type: ignore[misc]
    """Numba's compiler, for kernels."""

    def define_pipelines(self) -> list[Any]:
        """Numba's own passes, and the one above as the last before lowering."""
        pipeline = DefaultPassBuilder.define_nopython_pipeline(self.state)
        pipeline.add_pass_after(_InternalizeCallees, AnnotateTypes)
        pipeline.finalize()
        return [pipeline]
