"""The table of addresses that carries all record arrays of a workspace across a call in one argument.

Every array costs about 60 ns (a record array 150 ns) each time Python calls a kernel, so all of them travel as *one*
array of addresses and lengths; `open_bodies` and its sisters turn them back into arrays inside.
"""

from __future__ import annotations

import ctypes
from enum import IntEnum
from typing import Any

import numpy as np

from varichain.kernels.jit import COMPILES, JIT_DISABLED, helper
from varichain.kernels.records import BODY, DOF, GROUP, LINK, LOOP, LOOP_SPEC, PAIR, ROW, SPEC


class Entity(IntEnum):
    """Arrays of a table, in their order there: those of the tree, then those of its loops."""

    BODIES = 0
    DOFS = 1
    LINKS = 2
    LOOPS = 3
    ROWS = 4
    PAIRS = 5
    SUPPORT = 6  # freedoms that each loop's rows need, loop after loop
    SHARED = 7  # of each pair: freedoms, their places in the later and the earlier loop's rows
    PROPAGATED = 8  # e_kr: (n_support, n_rows padded to fours) of each loop, loop after loop
    GRAM = 9  # K M^-1 K^T and its factor: tiles of groups, from each group's first on
    MULTIPLIERS = 10  # right-hand sides, then forces or impulses of the rows
    GROUPS = 11
    ANSWERS = 12  # multipliers by groups, four each


_INTEGER, _NUMBER = np.dtype(np.int64), np.dtype(np.float64)
DTYPES: dict[Entity, np.dtype[Any]] = {
    Entity.BODIES: BODY,
    Entity.DOFS: DOF,
    Entity.LINKS: LINK,
    Entity.LOOPS: LOOP,
    Entity.ROWS: ROW,
    Entity.PAIRS: PAIR,
    Entity.SUPPORT: _INTEGER,
    Entity.SHARED: _INTEGER,
    Entity.PROPAGATED: _NUMBER,
    Entity.GRAM: _NUMBER,
    Entity.MULTIPLIERS: _NUMBER,
    Entity.GROUPS: GROUP,
    Entity.ANSWERS: _NUMBER,
}
N_ENTITIES = len(Entity)
FIRST_OF_LOOPS = int(Entity.LOOPS)
_SIZES = tuple(DTYPES[entity].itemsize for entity in Entity)  # multiples of eight bytes: everything stays aligned
_SPEC_SIZE, _LOOP_SPEC_SIZE = SPEC.itemsize, LOOP_SPEC.itemsize


def as_records(array: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """The array as kernels that take records directly want it: attributes work on np.recarray only without compiler."""
    return array.view(np.recarray) if JIT_DISABLED else array


def memory_of(records: np.ndarray[Any, Any]) -> np.ndarray[Any, np.dtype[np.uint8]]:
    """The bytes of an array of records, in place: numpy copies records field by field, bytes at once."""
    return np.frombuffer(records, np.uint8)


if COMPILES:
    from numba import carray
    from numba.core import cgutils, types
    from numba.extending import intrinsic

    @intrinsic
    def _pointer(typing_context: Any, address: Any) -> Any:
        """Pointer from an integer address."""

        def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
            return builder.inttoptr(arguments[0], cgutils.voidptr_t)

        return types.voidptr(address), generate

    @helper
    def _array_at(address, length, dtype):
        return carray(_pointer(address), (length,), dtype)

else:

    def _array_at(address, length, dtype):
        """Array at an address; of records as np.recarray, since attributes must work as they do in compiled code."""
        if length == 0:
            return np.empty(0, dtype)
        memory = (ctypes.c_char * (int(length) * np.dtype(dtype).itemsize)).from_address(int(address))
        array = np.frombuffer(memory, dtype=dtype)
        return array.view(np.recarray) if array.dtype.names else array


@helper
def numbers_at(address, length):
    """Numbers at an address."""
    return _array_at(address, length, _NUMBER)


@helper
def open_specs(specs):
    """Records of links, from their bytes."""
    return _array_at(np.int64(specs.ctypes.data), len(specs) // _SPEC_SIZE, SPEC)


@helper
def open_loop_specs(specs):
    """Records of loops, from their bytes."""
    return _array_at(np.int64(specs.ctypes.data), len(specs) // _LOOP_SPEC_SIZE, LOOP_SPEC)


@helper
def set_length(table, entity, n):
    """Write the length of an array."""
    table[2 * entity + 1] = n


@helper
def length_of(table, entity):
    """Length of an array."""
    return table[2 * entity + 1]


@helper
def size_of(table, first, end):
    """Bytes of the arrays from `first` to (not including) `end`, whose lengths are in the table."""
    size = 0
    for i in range(first, end):
        size += table[2 * i + 1] * _SIZES[i]
    return size


@helper
def set_addresses(table, first, end, data):
    """Write the addresses of the arrays from `first` to (not including) `end`, one after the other in memory."""
    address = np.int64(data.ctypes.data)
    for i in range(first, end):
        table[2 * i] = address
        address += table[2 * i + 1] * _SIZES[i]


def _opener(entity):
    """Function that returns an array of a table."""
    place, dtype = 2 * int(entity), DTYPES[entity]

    @helper
    def opened(table):
        return _array_at(table[place], table[place + 1], dtype)

    return opened


open_bodies = _opener(Entity.BODIES)
open_dofs = _opener(Entity.DOFS)
open_links = _opener(Entity.LINKS)
open_loops = _opener(Entity.LOOPS)
open_rows = _opener(Entity.ROWS)
open_pairs = _opener(Entity.PAIRS)
open_support = _opener(Entity.SUPPORT)
open_shared = _opener(Entity.SHARED)
open_propagated = _opener(Entity.PROPAGATED)
open_gram = _opener(Entity.GRAM)
open_multipliers = _opener(Entity.MULTIPLIERS)
open_groups = _opener(Entity.GROUPS)
open_answers = _opener(Entity.ANSWERS)


@helper
def no_records(dtype):
    """Empty array of records."""
    return _array_at(np.int64(0), 0, dtype)
