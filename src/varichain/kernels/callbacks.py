"""Functions of the user that kernels call: by address, so that no kernel is ever compiled for one of them."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import carray, cfunc, njit, types
from numba.extending import intrinsic

from varichain.kernels.jit import JIT_DISABLED, helper
from varichain.kernels.tables import _pointer

_SIGNATURE = types.void(types.float64, types.int64, types.int64, types.int64, types.int64, types.int64)
# With the compiler off there are no addresses: each function has a number instead.
_PLAIN: dict[int, Any] = {}


def address_of(function: Any) -> tuple[int, Any]:
    """Address of a controller f(t, q, v, tau), and what must be kept as long as it is used.

    The function, plain or jitted, must be one that Numba can compile: it changes tau (n_v) in place.
    """
    if JIT_DISABLED:
        number = len(_PLAIN) + 1
        _PLAIN[number] = getattr(function, "py_func", function)
        return number, function
    inner = function if hasattr(function, "py_func") else njit(function)

    def bridge(t, q, n_q, v, n_v, tau):
        inner(
            t,
            carray(_pointer(q), (n_q,), types.float64),
            carray(_pointer(v), (n_v,), types.float64),
            carray(_pointer(tau), (n_v,), types.float64),
        )

    compiled = cfunc(_SIGNATURE)(bridge)
    return compiled.address, compiled


@intrinsic
def _call(typing_context: Any, address: Any, t: Any, q: Any, n_q: Any, v: Any, n_v: Any, tau: Any) -> Any:
    """Call the C function at an address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, integer = ir.DoubleType(), ir.IntType(64)
        kind = ir.FunctionType(ir.VoidType(), [number, integer, integer, integer, integer, integer])
        function = builder.inttoptr(arguments[0], kind.as_pointer())
        builder.call(function, arguments[1:])
        return context.get_dummy_value()

    return types.void(address, t, q, n_q, v, n_v, tau), generate


if JIT_DISABLED:

    def call_controller(address, t, q, v, tau):
        """Let a controller add to tau."""
        _PLAIN[int(address)](t, q, v, tau)

else:

    @helper
    def call_controller(address, t, q, v, tau):
        """Let a controller add to tau."""
        _call(address, t, q.ctypes.data, len(q), v.ctypes.data, len(v), tau.ctypes.data)
