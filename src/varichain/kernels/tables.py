"""The table of addresses that carries all record arrays of a workspace across a call in one argument.

Every array costs about 60 ns (a record array 150 ns) each time Python calls a kernel, so all of them travel as *one*
array of addresses and lengths; `open_bodies` and its sisters turn them back into arrays inside.
"""

from __future__ import annotations

import ctypes
from typing import Any

import numpy as np
from numba import carray
from numba.core import cgutils, types
from numba.extending import intrinsic

from varichain.kernels.jit import JIT_DISABLED, helper
from varichain.kernels.records import BODY, DOF, GROUP, LINK, LOOP, LOOP_SPEC, PAIR, ROW, SPEC

# What a table holds, in this order.
ENTITIES: dict[str, np.dtype[Any]] = {
    "bodies": BODY,
    "dofs": DOF,
    "links": LINK,
    "loops": LOOP,
    "rows": ROW,
    "pairs": PAIR,
    "support": np.dtype(np.int64),  # freedoms that each loop's rows need, loop after loop
    "shared": np.dtype(np.int64),  # of each pair: freedoms, their places in the later and the earlier loop's rows
    "propagated": np.dtype(np.float64),  # e_kr: (n_support, n_rows padded to fours) of each loop, loop after loop
    "gram": np.dtype(np.float64),  # K M^-1 K^T and its factor: tiles of groups, from each group's first on
    "multipliers": np.dtype(np.float64),  # right-hand sides, then forces or impulses of the rows
    "groups": GROUP,
    "answers": np.dtype(np.float64),  # multipliers by groups, four each
}
N_ROWS = 9  # where a table holds the number of rows
TREE = 3  # the first three belong to the tree, the others to its loops
_SIZES = tuple(dtype.itemsize for dtype in ENTITIES.values())  # all multiples of eight bytes: everything stays aligned
_SPEC_SIZE, _LOOP_SPEC_SIZE = SPEC.itemsize, LOOP_SPEC.itemsize


def as_records(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as kernels that take records directly want it: attributes work on np.recarray only without compiler."""
    return array.view(np.recarray) if JIT_DISABLED else array


@intrinsic
def _pointer(typing_context: Any, address: Any) -> Any:
    """Pointer from an integer address."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        return builder.inttoptr(arguments[0], cgutils.voidptr_t)

    return types.voidptr(address), generate


if JIT_DISABLED:

    def _array_at(address, length, dtype):
        """Array at an address; of records as np.recarray, since attributes must work as they do in compiled code."""
        if length == 0:
            return np.empty(0, dtype)
        memory = (ctypes.c_char * (int(length) * np.dtype(dtype).itemsize)).from_address(int(address))
        array = np.frombuffer(memory, dtype=dtype)
        return array.view(np.recarray) if array.dtype.names else array

else:

    @helper
    def _array_at(address, length, dtype):
        return carray(_pointer(address), (length,), dtype)


@helper
def open_specs(specs):
    """Records of links, from their bytes."""
    return _array_at(np.int64(specs.ctypes.data), len(specs) // _SPEC_SIZE, SPEC)


@helper
def open_loop_specs(specs):
    """Records of loops, from their bytes."""
    return _array_at(np.int64(specs.ctypes.data), len(specs) // _LOOP_SPEC_SIZE, LOOP_SPEC)


@helper
def memory_for(table, first, end):
    """Zeros for the arrays from `first` to (not including) `end`, whose lengths are in the table; addresses follow."""
    size = 0
    for i in range(first, end):
        size += table[2 * i + 1] * _SIZES[i]
    data = np.zeros(size, np.uint8)
    address = np.int64(data.ctypes.data)
    for i in range(first, end):
        table[2 * i] = address
        address += table[2 * i + 1] * _SIZES[i]
    return data


@helper
def open_bodies(table):
    """Bodies of an address table."""
    return _array_at(table[0], table[1], BODY)


@helper
def open_dofs(table):
    """Freedoms of an address table."""
    return _array_at(table[2], table[3], DOF)


@helper
def open_links(table):
    """Links of an address table."""
    return _array_at(table[4], table[5], LINK)


@helper
def open_loops(table):
    """Loops of an address table."""
    return _array_at(table[6], table[7], LOOP)


@helper
def open_rows(table):
    """Rows of an address table."""
    return _array_at(table[8], table[9], ROW)


@helper
def open_pairs(table):
    """Pairs of an address table."""
    return _array_at(table[10], table[11], PAIR)


@helper
def open_support(table):
    """Support list of an address table."""
    return _array_at(table[12], table[13], np.int64)


@helper
def open_shared(table):
    """Shared places of an address table."""
    return _array_at(table[14], table[15], np.int64)


@helper
def open_propagated(table):
    """Propagated rows of an address table."""
    return _array_at(table[16], table[17], np.float64)


@helper
def open_gram(table):
    """Packed Gram matrix of an address table."""
    return _array_at(table[18], table[19], np.float64)


@helper
def open_multipliers(table):
    """Multipliers of an address table."""
    return _array_at(table[20], table[21], np.float64)


@helper
def open_groups(table):
    """Groups of rows of an address table."""
    return _array_at(table[22], table[23], GROUP)


@helper
def open_answers(table):
    """Multipliers by groups of an address table."""
    return _array_at(table[24], table[25], np.float64)
