"""Places in arrays without wrapping: kernels count from the front, so an index is the place.

Numba lets a negative index count from the end, as Python does: a comparison, a sum and a choice for each access to an
array. In inner loops these are half of all instructions.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir


def unwrap(module: ir.Module) -> None:
    """Replace the choice between an index and the same from the end by the index, in all functions of a module.

    Constants are left alone: the compiler knows their sign.
    """
    for function in list(module.functions):
        for block in function.blocks:
            block.instructions[:] = [_unwrapped(block, old) for old in block.instructions]


def _unwrapped(block: Any, old: Any) -> Any:
    """The instruction, or one of the same name that stands for it."""
    if old.opname != "select":
        return old
    is_negative, wrapped, index = old.operands
    if not _is_wrapping(is_negative, wrapped, index):
        return old
    new = ir.Instruction(block, old.type, "add", [index, ir.Constant(old.type, 0)])
    new._name = old.name  # by which its users refer to it
    return new


def _is_wrapping(is_negative: Any, wrapped: Any, index: Any) -> bool:
    """Whether a choice is Numba's: index + length where index < 0, else index."""
    if isinstance(index, ir.Constant) or getattr(is_negative, "opname", "") != "icmp" or is_negative.op != "slt":
        return False
    left, zero = is_negative.operands
    if left is not index or not (isinstance(zero, ir.Constant) and zero.constant == 0):
        return False
    return getattr(wrapped, "opname", "") == "add" and any(operand is index for operand in wrapped.operands)
