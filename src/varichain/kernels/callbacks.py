"""Functions of the user that kernels call: by address, so that no kernel is ever compiled for one of them."""

from __future__ import annotations

import contextlib
import functools
from collections.abc import Iterator
from typing import Any

import numpy as np

from varichain.errors import InputError
from varichain.kernels.jit import COMPILES, JIT_DISABLED, helper
from varichain.kernels.run_records import FORCE

# With the compiler off there are no addresses: each function has a number instead.
_PLAIN: dict[int, Any] = {}
_KEPT: list[Any] = []  # compiled forces: their addresses are good for the life of the process


def _number_of(function: Any) -> int:
    """Number that a function has in place of an address."""
    _PLAIN[len(_PLAIN) + 1] = getattr(function, "py_func", function)
    return len(_PLAIN)


@contextlib.contextmanager
def _compiling(function: Any) -> Iterator[None]:
    """Raise what Numba has against a function of the user as an InputError with its reason."""
    try:
        yield
    except Exception as error:  # Numba has many kinds of errors
        reason = " ".join(line.strip() for line in str(error).splitlines() if line.strip())[:400]
        raise InputError(f"Numba cannot compile {getattr(function, '__name__', 'the function')!r}: {reason}") from error


def jitted(function: Any) -> Any:
    """A function of the user, compiled when it is first called; itself where there is no compiler.

    Raises:
        InputError: It is nothing that Numba can compile.
    """
    if JIT_DISABLED:
        return getattr(function, "py_func", function)
    from numba import njit

    with _compiling(function):
        return function if hasattr(function, "py_func") else njit(function)


def address_of(function: Any) -> tuple[int, Any]:
    """Address of a controller f(t, q, v, tau), and what must be kept as long as it is used.

    The function, plain or jitted, changes tau (n_v) in place.

    Raises:
        InputError: Numba cannot compile it.
    """
    if JIT_DISABLED:
        return _number_of(function), function
    from numba import carray, cfunc, types

    inner, numbers = jitted(function), types.CPointer(types.float64)

    def bridge(t, q, n_q, v, n_v, tau):
        inner(t, carray(q, (n_q,)), carray(v, (n_v,)), carray(tau, (n_v,)))

    with _compiling(function):
        made = cfunc(types.void(types.float64, numbers, types.int64, numbers, types.int64, numbers))(bridge)
    return made.address, made


@functools.cache
def address_of_force(function: Any) -> int:
    """Address of a force f(length, rate) along a line; the function stays in memory with what it was compiled to.

    Raises:
        InputError: Numba cannot compile it.
    """
    if JIT_DISABLED:
        return _number_of(function)
    from numba import cfunc, types

    inner = jitted(function)

    def bridge(length, rate):
        return inner(length, rate)

    return _kept(function, cfunc(types.float64(types.float64, types.float64)), bridge)


@functools.cache
def address_of_link_forces(function: Any) -> int:
    """Address of a function f(t, links) that sets the wrenches of FORCE records; kept like a force along a line.

    Raises:
        InputError: Numba cannot compile it.
    """
    if JIT_DISABLED:
        return _number_of(function)
    from numba import carray, cfunc, types

    inner = jitted(function)

    def bridge(t, links, n):
        inner(t, carray(links, (n,), FORCE))

    return _kept(function, cfunc(types.void(types.float64, types.voidptr, types.int64)), bridge)


def _kept(function: Any, compile_bridge: Any, bridge: Any) -> int:
    """Address of a compiled bridge to a function of the user, which stays in memory."""
    with _compiling(function):
        made = compile_bridge(bridge)
    _KEPT.append(made)
    return int(made.address)


def address_of_law(function: Any, record: Any) -> tuple[int, Any]:
    """Address of a discrete controller f(t, q, v, tau, state, parameters, stream), and what must be kept.

    `record` is the dtype of its memory, whose fields are the last three arguments.

    Raises:
        InputError: Numba cannot compile it.
    """
    if JIT_DISABLED:
        law = getattr(function, "py_func", function)

        def apart(t: Any, q: Any, v: Any, tau: Any, memory: Any) -> None:
            parts = memory.view(record).view(np.recarray)[0]
            law(t, q, v, tau, parts.state, parts.parameters, parts.stream)

        number = len(_PLAIN) + 1
        _PLAIN[number] = apart
        return number, function
    from numba import carray, cfunc, types

    inner, numbers = jitted(function), types.CPointer(types.float64)

    def bridge(t, q, n_q, v, n_v, tau, memory):
        parts = carray(memory, (1,), record)[0]
        here = (carray(q, (n_q,)), carray(v, (n_v,)), carray(tau, (n_v,)))
        inner(t, here[0], here[1], here[2], parts.state, parts.parameters, parts.stream)

    arguments = (types.float64, numbers, types.int64, numbers, types.int64, numbers, types.voidptr)
    with _compiling(function):
        made = cfunc(types.void(*arguments))(bridge)
    return made.address, made


if COMPILES:
    from llvmlite import ir
    from numba import types
    from numba.extending import intrinsic

    @intrinsic
    def call_force(typing_context: Any, address: Any, length: Any, rate: Any) -> Any:
        """Force along a line, from the function at an address."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number = ir.DoubleType()
            kind = ir.FunctionType(number, [number, number])
            return builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])

        return types.float64(address, length, rate), generate

    @intrinsic
    def _call_links(typing_context: Any, address: Any, t: Any, links: Any, n: Any) -> Any:
        """Call the C function of forces on links at an address."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, integer = ir.DoubleType(), ir.IntType(64)
            kind = ir.FunctionType(ir.VoidType(), [number, integer, integer])
            builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
            return context.get_dummy_value()

        return types.void(address, t, links, n), generate

    @helper
    def call_links(address, t, links):
        """Let a function set the wrenches of links."""
        _call_links(address, t, links.ctypes.data, len(links))

    @intrinsic
    def _call_law(
        typing_context: Any, address: Any, t: Any, q: Any, n_q: Any, v: Any, n_v: Any, tau: Any, memory: Any
    ) -> Any:
        """Call the C function of a discrete controller at an address."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            number, integer = ir.DoubleType(), ir.IntType(64)
            kind = ir.FunctionType(ir.VoidType(), [number, *[integer] * 6])
            builder.call(builder.inttoptr(arguments[0], kind.as_pointer()), arguments[1:])
            return context.get_dummy_value()

        return types.void(address, t, q, n_q, v, n_v, tau, memory), generate

    @helper
    def call_law(address, t, q, v, tau, memory):
        """Let a discrete controller set tau, and change its memory."""
        _call_law(address, t, q.ctypes.data, len(q), v.ctypes.data, len(v), tau.ctypes.data, memory.ctypes.data)

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

    @helper
    def call_controller(address, t, q, v, tau):
        """Let a controller add to tau."""
        _call(address, t, q.ctypes.data, len(q), v.ctypes.data, len(v), tau.ctypes.data)

else:

    def call_force(address, length, rate):
        """Force along a line, from the function at an address."""
        return float(_PLAIN[int(address)](length, rate))

    def call_links(address, t, links):
        """Let a function set the wrenches of links."""
        _PLAIN[int(address)](t, links)

    def call_law(address, t, q, v, tau, memory):
        """Let a discrete controller set tau, and change its memory."""
        _PLAIN[int(address)](t, q, v, tau, memory)

    def call_controller(address, t, q, v, tau):
        """Let a controller add to tau."""
        _PLAIN[int(address)](t, q, v, tau)
