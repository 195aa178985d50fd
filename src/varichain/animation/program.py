"""Program: functions as tables for one structure of a mechanism, which one kernel evaluates."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from varichain.animation.nodes import Node
from varichain.animation.resolving import Resolver
from varichain.errors import FunctionError
from varichain.kernels import function_records as records
from varichain.kernels.function_evaluation import evaluate_functions
from varichain.kernels.tables import as_records
from varichain.layout.layout import Layout
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array

_CODES = {name: code for code, name in enumerate(records.OPERATIONS)}
_NOTHING = np.zeros((0, 0, 0))


class Evaluation(NamedTuple):
    """Functions in one state.

    Attributes:
        value: u (m,); NaN of rates, which have no position.
        rate: udot (m,).
        bias: uddot (m,) while joint accelerations are zero: uddot = G a + bias.
        gradient: G (m, n_v): udot = G v + df/dt.
        hessian: H (m, n_v, n_v), H_jk = E_j(E_k f); empty if it was not asked for.
    """

    value: Array
    rate: Array
    bias: Array
    gradient: Array
    hessian: Array


class Program:
    """Functions of one structure.

    Attributes:
        layout: The structure.
        names: Of the dimensions, for messages.
    """

    def __init__(self, m: Mechanism, layout: Layout, names: Sequence[str], nodes: Sequence[Node]) -> None:
        """Resolve all names.

        Raises:
            UnknownNameError, InputError: A function reads something that the mechanism does not have.
        """
        self.layout, self.names = layout, tuple(names)
        resolver = Resolver(m, layout)
        inputs: list[tuple[int, int]] = []
        steps: list[tuple[int, int, int, float]] = []
        blocks: list[tuple[int, ...]] = []
        results: list[int] = []
        longest = 1
        self._is_rate = [node.is_rate for node in nodes]
        for block, rows in _blocks(nodes, resolver):
            own_inputs, own_steps, own_results = _linearised(block, resolver)
            p, support = len(own_inputs), resolver.support_of(rows)
            counts = (len(inputs), p, len(steps), len(own_steps), len(results), len(own_results))
            blocks.append((*counts, *support))
            longest = max(longest, (p + len(own_steps)) * (3 + p + p * p))
            inputs += own_inputs
            steps += own_steps
            results += own_results
        self._curves = resolver.curves
        self.tables = (
            _table(records.LEAF, resolver.leaves),
            _table(records.TERM, resolver.terms),
            _table(records.INPUT, inputs),
            _table(records.STEP, steps),
            _table(records.BLOCK, blocks),
            np.array(results, dtype=np.int64),
            np.array(resolver.supports, dtype=np.int64),
        )
        self._n_numbers, self._longest = resolver.n_numbers, longest

    def work(self) -> tuple[Array, ...]:
        """Arrays that kernels work in: numbers of leaves, their gradients, moments; ways, nodes, weights."""
        n, numbers = self.layout.n_v, self._n_numbers
        of_leaves = np.empty((3, numbers)), np.zeros((numbers, n)), np.empty((len(self.layout.arrays["bodies"]), 4))
        return *of_leaves, np.empty((2, n)), np.empty(self._longest), np.empty(4)

    def evaluate(self, table: NDArray[np.int64], q: Array, v: Array, t: float, depth: int) -> Evaluation:
        """Evaluate all functions; `depth` is that of the kernel: VALUES, GRADIENTS or HESSIANS.

        Raises:
            FunctionError: A function has no value, or no derivative, in this state.
        """
        m, n = len(self.names), self.layout.n_v
        value, rate, bias, G = np.empty(m), np.empty(m), np.empty(m), np.zeros((m, n))
        H = np.empty((m, n, n)) if depth == records.HESSIANS else _NOTHING
        fault = evaluate_functions(
            table, q, v, self.given(t), *self.tables, depth, value, rate, bias, G, H, *self.work()
        )
        if fault:
            raise self.fault(fault, depth)
        value[self._is_rate] = np.nan
        return Evaluation(value, rate, bias, G, H)

    def fault(self, number: int, depth: int) -> FunctionError:
        """The error of a dimension, counted from 1, that has no value or no derivative."""
        name, what = self.names[number - 1], "no value"
        if depth > records.VALUES:
            what = "no value or no derivative"
        why = ": the length of something that is zero has none" if depth > records.VALUES else ""
        return FunctionError(f"function {name!r} has {what} in this state{why}", name)

    def given(self, t: float) -> Array:
        """Numbers that time alone changes, with rates and accelerations."""
        numbers = np.zeros((len(self._curves), 3))
        for i, curve in enumerate(self._curves):
            numbers[i] = (t, 1.0, 0.0) if curve is None else [float(curve(t, nu)) for nu in (0, 1, 2)]
        return numbers


def _blocks(nodes: Iterable[Node], resolver: Resolver) -> Iterator[tuple[list[Node], set[int]]]:
    """Nodes one after the other that read the same leaves, with the rows of these leaves."""
    reads = lambda node: {resolver.number(one)[1] for one in _ordered([node], resolver) if one.leaf is not None}  # noqa: E731
    found = [(node, reads(node)) for node in nodes]
    for _, block in groupby(found, key=lambda pair: sorted(pair[1])):
        own = list(block)
        yield [node for node, _ in own], own[0][1]


def _linearised(
    nodes: list[Node], resolver: Resolver
) -> tuple[list[tuple[int, int]], list[tuple[int, int, int, float]], list[int]]:
    """Inputs and steps of nodes, and the places of their results among them; equal steps are made once."""
    order = _ordered(nodes, resolver)
    inputs = sorted({resolver.number(one) for one in order if one.leaf is not None})
    place_of = {number: i for i, (number, _) in enumerate(inputs)}
    steps: dict[tuple[int, int, int, float], int] = {}
    places: dict[int, int] = {}
    for one in order:
        if one.leaf is not None:
            places[id(one)] = place_of[resolver.number(one)[0]]
            continue
        operands = [places[id(resolver.meaning(x))] for x in one.operands]
        a, b = (operands + operands[:1] * 2 + [0, 0])[:2]
        step = _CODES[one.operation], a, b, one.constant
        places[id(one)] = steps.setdefault(step, len(inputs) + len(steps))
    return inputs, list(steps), [places[id(resolver.meaning(node))] for node in nodes]


def _ordered(nodes: Iterable[Node], resolver: Resolver) -> list[Node]:
    """All nodes that some nodes need, these too, operands first; without recursion, for sums may be long."""
    order: list[Node] = []
    done: set[int] = set()
    stack = [(resolver.meaning(node), False) for node in nodes][::-1]
    while stack:
        one, are_operands_done = stack.pop()
        if id(one) in done:
            continue
        if are_operands_done:
            done.add(id(one))
            order.append(one)
        else:
            stack.append((one, True))
            stack += [(resolver.meaning(x), False) for x in one.operands]
    return order


def _table(record: np.dtype[Any], rows: Sequence[Any]) -> NDArray[Any]:
    """Array of records from rows, as tuples or by names of fields."""
    table = np.zeros(len(rows), record)
    for i, row in enumerate(rows):
        if isinstance(row, dict):
            for name, value in row.items():
                table[i][name] = value
        else:
            table[i] = row
    return as_records(table)
