"""Lanes for the compiler: Numba's type of four numbers, and LLVM's instructions on them; see `lanes`."""

from __future__ import annotations

import operator
from typing import Any

from llvmlite import ir
from numba import types
from numba.core.typing.templates import AbstractTemplate, infer_global, signature
from numba.extending import intrinsic, lower_builtin, models, register_model

_VECTOR = ir.VectorType(ir.DoubleType(), 4)
_INDEX = ir.IntType(32)


class Lanes(types.Type):  # type: ignore[misc]
    """Numba's type of four numbers."""

    def __init__(self) -> None:
        """Only one is needed: LANES."""
        super().__init__("Lanes")


LANES = Lanes()


@register_model(Lanes)
class _LanesModel(models.PrimitiveModel):  # type: ignore[misc]
    def __init__(self, manager: Any, of_type: Any) -> None:
        super().__init__(manager, of_type, _VECTOR)


def _splat(builder: Any, x: Any) -> Any:
    one = builder.insert_element(ir.Constant(_VECTOR, ir.Undefined), x, ir.Constant(_INDEX, 0))
    everywhere = ir.Constant(ir.VectorType(_INDEX, 4), [0, 0, 0, 0])
    return builder.shuffle_vector(one, ir.Constant(_VECTOR, ir.Undefined), everywhere)


def _pointer(context: Any, builder: Any, sig: Any, args: Any, of_type: Any = _VECTOR) -> Any:
    """Pointer to numbers of an array, from a place on; arrays are aligned to numbers, not to lanes."""
    array = context.make_array(sig.args[0])(context, builder, args[0])
    place = context.cast(builder, args[1], sig.args[1], types.intp)
    return builder.bitcast(builder.gep(array.data, [place]), ir.PointerType(of_type))


def _arithmetic(operation: Any, name: str) -> None:
    """Register an operation on two lanes, and on lanes and a number, with the compiler."""

    @infer_global(operation)
    class _Operation(AbstractTemplate):  # type: ignore[misc]
        def generic(self, args: Any, kws: Any) -> Any:
            if len(args) == 2 and LANES in args and all(x == LANES or isinstance(x, types.Number) for x in args):
                return signature(LANES, *[x if x == LANES else types.float64 for x in args])
            return None

    def lower(context: Any, builder: Any, sig: Any, args: Any) -> Any:
        values = [x if of_type == LANES else _splat(builder, x) for x, of_type in zip(args, sig.args, strict=True)]
        return getattr(builder, name)(*values)

    for arguments in ((LANES, LANES), (LANES, types.float64), (types.float64, LANES)):
        lower_builtin(operation, *arguments)(lower)


for _operation, _name in (
    (operator.add, "fadd"),
    (operator.iadd, "fadd"),
    (operator.sub, "fsub"),
    (operator.isub, "fsub"),
    (operator.mul, "fmul"),
    (operator.imul, "fmul"),
):
    _arithmetic(_operation, _name)


@intrinsic
def load_lanes(typing_context, array, place):
    """Four numbers of an array, from a place on."""

    def generate(context, builder, sig, args):
        return builder.load(_pointer(context, builder, sig, args), align=8)

    return LANES(array, place), generate


@intrinsic
def spread(typing_context, array, place):
    """One number of an array, four times; unlike array[place] without a check for negative places."""

    def generate(context, builder, sig, args):
        return _splat(builder, builder.load(_pointer(context, builder, sig, args, ir.DoubleType()), align=8))

    return LANES(array, place), generate


@intrinsic
def store_lanes(typing_context, array, place, x):
    """Write four numbers into an array, from a place on."""

    def generate(context, builder, sig, args):
        builder.store(args[2], _pointer(context, builder, sig, args), align=8)
        return context.get_dummy_value()

    return types.void(array, place, x), generate


@intrinsic
def pack(typing_context, x0, x1, x2, x3):
    """Four numbers as lanes."""

    def generate(context, builder, sig, args):
        x = ir.Constant(_VECTOR, ir.Undefined)
        for i, one in enumerate(args):
            x = builder.insert_element(x, one, ir.Constant(_INDEX, i))
        return x

    return LANES(*[types.float64] * 4), generate


@intrinsic
def lane(typing_context, x, i):
    """One of the four numbers; i is a constant."""
    if not isinstance(i, types.IntegerLiteral):
        return None
    place = i.literal_value

    def generate(context, builder, sig, args):
        return builder.extract_element(args[0], ir.Constant(_INDEX, place))

    return types.float64(x, i), generate
