"""Fused multiply-add, written out: a * b + c is rounded once wherever a source says so, and nowhere else.

A compiler that *may* fuse decides anew in every copy of a routine, for every processor and width of vectors, and copies
differ in their last bits. Here each function is fused by itself, before it is put into others: all copies of a routine
have the same bits, in every kernel, compiled on first use or ahead of time.
"""

from __future__ import annotations

import platform
from collections import Counter
from typing import Any

from llvmlite import binding, ir

# Processors from before 2013 would call a function for each; there, products and sums stay apart.
_IS_FAST = platform.machine() not in ("x86_64", "AMD64") or binding.get_host_cpu_features().get("fma", False)


def fuse(module: ir.Module) -> None:
    """Replace sums and differences of a product that nothing else uses, in all functions of a module."""
    if not _IS_FAST:
        return
    for function in list(module.functions):
        uses = Counter(
            id(value)
            for block in function.blocks
            for user in block.instructions
            for value in (*user.operands, *(value for value, _ in getattr(user, "incomings", ())))
        )
        for block in function.blocks:
            block.instructions[:] = [new for old in block.instructions for new in _fused(block, old, uses)]


def _fused(block: Any, old: Any, uses: Counter[int]) -> list[Any]:
    """Instructions that stand for an old one: itself, if there is nothing to fuse."""
    if old.opname not in ("fadd", "fsub"):
        return [old]
    left, right = old.operands
    is_right = _is_product(right, uses)  # of a b + c d, the first product is rounded
    if not is_right and not _is_product(left, uses):
        return [old]
    (a, b), c = (right.operands, left) if is_right else (left.operands, right)
    made = []
    if old.opname == "fsub":
        made.append(ir.Instruction(block, old.type, "fneg", [a if is_right else c]))
        a, c = (made[0], c) if is_right else (a, made[0])
    made.append(ir.CallInstr(block, _fma(block.module, old.type), [a, b, c]))
    made[-1]._name = old.name  # by which its users refer to it
    return made


def _fma(module: ir.Module, of_type: Any) -> Any:
    """LLVM's fused multiply-add of numbers or lanes."""
    lanes = f"v{of_type.count}" if isinstance(of_type, ir.VectorType) else ""
    number = getattr(of_type, "element", of_type)
    name = f"llvm.fma.{lanes}{number.intrinsic_name}"
    return module.globals.get(name) or ir.Function(module, ir.FunctionType(of_type, [of_type] * 3), name)


def _is_product(value: Any, uses: Counter[int]) -> bool:
    return getattr(value, "opname", "") == "fmul" and uses[id(value)] == 1
