"""Kernels over many states: row after row in one call, so that threads work at the same time.

The kernels are called by address, as they are: none is compiled a second time for its rows, and a row has the same bits
as a single call. Each function takes rows from `first` to (not including) `end`.
"""

import functools
from typing import Any

from varichain.kernels.jit import (
    COMPILES,
    CONTROLS,
    CUBE,
    INTEGER,
    INTEGERS,
    JIT_DISABLED,
    KERNELS,
    MATRIX,
    NUMBER,
    RUNS,
    TABLE,
    VECTOR,
    kernel,
)

# Room for the result of a kernel: nothing, a number or two. The result is unused where the kernel has an `out`.
ROOM = (0.0, 0.0)
# What `actuator_torques` returns.
REPORT = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
# With the compiler off there are no addresses: each kernel has a number instead.
_PLAIN: list[Any] = []


@functools.lru_cache(maxsize=None, typed=True)  # 0 is not 0.0 here
def address_of_kernel(function: Any, like: Any) -> int:
    """Address of a kernel, compiled if it is not yet; it is good for the life of the process.

    `like` must be that of the `call` which gets the address: a value of the kernel's return type, or ROOM, if the
    result has up to two numbers and is not used.

    Raises:
        TypeError: The kernel returns another type, which `call` would write over other values.
    """
    if JIT_DISABLED:
        if function not in _PLAIN:
            _PLAIN.append(function)
        return _PLAIN.index(function)
    if COMPILES:
        address, returned = compiling.entry_of(function, KERNELS[function])
    else:
        address, returned = function.address, function.returned
    fits = len(returned) <= len(ROOM) if like is ROOM else returned == _codes(like)
    if not fits:
        room = f"at most {len(ROOM)} numbers" if like is ROOM else f"{_codes(like)!r}"
        raise TypeError(
            f"kernel {function.__name__} returns {returned!r} (i integer, d number), where {room} is expected"
        )
    return int(address)


def _codes(value: Any) -> str:
    """Codes of a result: i for an integer, d for a number, one after the other of a tuple, empty for None."""
    if value is None:
        return ""
    values = value if isinstance(value, tuple) else (value,)
    return "".join("i" if isinstance(one, int) else "d" for one in values)


if COMPILES:
    from numba.extending import intrinsic

    from varichain.kernels import compiling

    @intrinsic
    def call(typing_context: Any, address: Any, like: Any, arguments: Any) -> Any:
        """Call the kernel at an address that was made for `like` (see `address_of_kernel`)."""

        def generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
            unpacked = [builder.extract_value(values[2], i) for i in range(len(arguments.types))]
            convention = context.call_conv
            kind = convention.get_function_type(like, arguments.types)
            function = builder.inttoptr(values[0], kind.as_pointer())
            return convention.call_function(builder, function, like, arguments.types, unpacked)[1]

        return like(address, like, arguments), generate

else:

    def call(address, like, arguments):
        """Call the kernel at an address that was made for `like` (see `address_of_kernel`)."""
        return _PLAIN[address](*arguments)


@kernel(INTEGER, TABLE, MATRIX, MATRIX, MATRIX, INTEGER, INTEGER)
def rows_of_two(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    x,
    y,
    # out
    out,
    # in
    first,
    end,
):
    """Kernels (table, x, y, out)."""
    for i in range(first, end):
        call(address, ROOM, (table, x[i], y[i], out[i]))


@kernel(INTEGER, TABLE, MATRIX, MATRIX, MATRIX, MATRIX, INTEGER, INTEGER)
def rows_of_three(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    x,
    y,
    z,
    # out
    out,
    # in
    first,
    end,
):
    """Kernels (table, x, y, z, out)."""
    for i in range(first, end):
        call(address, ROOM, (table, x[i], y[i], z[i], out[i]))


@kernel(INTEGER, TABLE, MATRIX, CUBE, INTEGER, INTEGER)
def rows_to_matrices(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    x,
    # out
    out,
    # in
    first,
    end,
):
    """Kernels (table, x, out) whose `out` is a matrix."""
    for i in range(first, end):
        call(address, ROOM, (table, x[i], out[i]))


@kernel(INTEGER, TABLE, MATRIX, CUBE, CUBE, INTEGER, INTEGER)
def rows_to_pairs(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    x,
    # out
    out,
    other_out,
    # in
    first,
    end,
):
    """Kernels (table, x, out, other_out) that write two matrices."""
    for i in range(first, end):
        call(address, ROOM, (table, x[i], out[i], other_out[i]))


@kernel(INTEGER, TABLE, MATRIX, MATRIX, INTEGERS, INTEGER, INTEGER)
def rows_to_codes(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    x,
    y,
    # out
    codes_out,
    # in
    first,
    end,
):
    """Kernels (table, x, y) that return an integer."""
    for i in range(first, end):
        codes_out[i] = call(address, 0, (table, x[i], y[i]))


@kernel(INTEGER, TABLE, MATRIX, NUMBER, INTEGER, VECTOR, VECTOR, INTEGER, INTEGER)
def rows_closed(
    # in: address of the kernel
    address,
    # layout
    table,
    # in and out
    q,
    # in
    tolerance,
    most_steps,
    # work
    work,
    # out
    left_out,
    # in
    first,
    end,
):
    """The kernel `project_position`, q in place."""
    for i in range(first, end):
        left_out[i] = call(address, 0.0, (table, q[i], tolerance, most_steps, work))


@kernel(
    INTEGER, TABLE, MATRIX, MATRIX, MATRIX, NUMBER, INTEGER, INTEGER, CONTROLS, RUNS, MATRIX, MATRIX, INTEGER, INTEGER
)
def rows_advanced(
    # in: address of the kernel
    address,
    # layout
    table,
    # in and out
    q,
    v,
    # in
    tau,
    dt,
    steps,
    is_closed,
    # work
    controls,
    runs,
    node_matrix,
    work,
    # in
    first,
    end,
):
    """The kernel `advance`, q and v in place."""
    for i in range(first, end):
        call(address, ROOM, (table, q[i], v[i], tau[i], dt, steps, is_closed, controls, runs, node_matrix, work))


@kernel(
    INTEGER,
    TABLE,
    MATRIX,
    MATRIX,
    MATRIX,
    INTEGERS,
    VECTOR,
    VECTOR,
    VECTOR,
    MATRIX,
    MATRIX,
    VECTOR,
    INTEGERS,
    MATRIX,
    MATRIX,
    MATRIX,
    INTEGER,
    INTEGER,
)
def rows_driven(
    # in: address of the kernel
    address,
    # layout
    table,
    # in
    q,
    v,
    a,
    actuated,
    root_cost,
    scale,
    readiness,
    # work
    K,
    B,
    work,
    places,
    # out (n, n_all), (n, n_rows), (n, 6)
    tau_out,
    x_out,
    report_out,
    # in
    first,
    end,
):
    """The kernel `actuator_torques`."""
    for i in range(first, end):
        # 0: which rows are kept is to be decided
        setting = (0, actuated, root_cost, scale, readiness)
        found = call(
            address,
            REPORT,
            (table, q[i], v[i], a[i], *setting, K, B, work, places, tau_out[i], x_out[i]),
        )
        for k in range(len(found)):
            report_out[i, k] = found[k]
