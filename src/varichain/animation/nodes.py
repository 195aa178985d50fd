"""Nodes of expressions: one number each, computed from leaves by the operations that kernels know.

Constants are folded when an expression is written. Rates, which have no position, may only be added and scaled.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from varichain.errors import InputError

if TYPE_CHECKING:
    from varichain.animation.leaves import Leaf

_FOLDED = {
    "add": lambda x, y: x + y,
    "subtract": lambda x, y: x - y,
    "multiply": lambda x, y: x * y,
    "divide": lambda x, y: x / y,
    "arctan2": math.atan2,
    "sin": math.sin,
    "cos": math.cos,
    "tan": math.tan,
    "arcsin": math.asin,
    "arccos": math.acos,
    "arctan": math.atan,
    "exp": math.exp,
    "log": math.log,
    "tanh": math.tanh,
}


class Node:
    """One number of an expression.

    Attributes:
        operation: One of `OPERATIONS` of the kernels, or "leaf".
        a, b: Operands, as far as the operation has them.
        constant: Value of a constant, exponent of a power.
        leaf, component: Of a leaf: what it is, and which of its numbers.
        is_rate: Whether it is a rate without a position.
    """

    __slots__ = ("a", "b", "component", "constant", "is_rate", "leaf", "operation")

    def __init__(
        self,
        operation: str,
        a: Node | None = None,
        b: Node | None = None,
        constant: float = 0.0,
        leaf: Leaf | None = None,
        component: int = 0,
    ) -> None:
        """Take operands that are known to fit."""
        self.operation, self.a, self.b, self.constant = operation, a, b, constant
        self.leaf, self.component = leaf, component
        self.is_rate: bool = leaf.is_rate if leaf is not None else any(x is not None and x.is_rate for x in (a, b))

    @property
    def is_constant(self) -> bool:
        """Whether it is a number."""
        return self.operation == "constant"

    @property
    def operands(self) -> list[Node]:
        """Nodes that it is computed from."""
        return [x for x in (self.a, self.b) if x is not None]

    def __add__(self, other: Node) -> Node:
        """Sum, also for products of arrays of nodes."""
        return binary("add", self, other)

    def __mul__(self, other: Node) -> Node:
        """Product, also for products of arrays of nodes."""
        return binary("multiply", self, other)


def constant(value: float) -> Node:
    """A number as a node."""
    return Node("constant", constant=float(value))


def unary(operation: str, a: Node) -> Node:
    """Operation on one node."""
    if a.is_constant:
        return _folded(operation, a.constant)
    _refuse_rate(operation, a)
    return Node(operation, a)


def binary(operation: str, a: Node, b: Node) -> Node:
    """Operation on two nodes; sums with 0 and products with 1 and 0 are simplified."""
    if a.is_constant and b.is_constant:
        return _folded(operation, a.constant, b.constant)
    if operation in ("add", "subtract"):
        if b.is_constant and b.constant == 0.0:
            return a
        if operation == "add" and a.is_constant and a.constant == 0.0:
            return b
        if a.is_rate != b.is_rate:
            raise InputError("a rate, such as an angular velocity, can be added to rates alone, not to a function")
    elif operation == "multiply":
        for x, other in ((a, b), (b, a)):
            if x.is_constant and x.constant in (0.0, 1.0):
                return other if x.constant == 1.0 else x
            if other.is_rate and not x.is_constant:
                _refuse_rate(operation, other)
    elif operation == "divide" and b.is_constant:
        if b.constant == 0.0:
            raise InputError("a function cannot be divided by zero")
        return binary("multiply", a, constant(1.0 / b.constant))
    else:
        _refuse_rate(operation, a, b)
    return Node(operation, a, b)


def power(a: Node, exponent: Node) -> Node:
    """a^exponent; of an exponent that is no constant exp(exponent log(a))."""
    if not exponent.is_constant:
        return unary("exp", binary("multiply", exponent, unary("log", a)))
    c = exponent.constant
    if a.is_constant:
        try:
            return constant(float(a.constant**c))
        except (ArithmeticError, TypeError):
            raise InputError(f"{a.constant:g} to the power of {c:g} is not a number") from None
    if c == 0.0:
        return constant(1.0)
    if c == 1.0:
        return a
    _refuse_rate("power", a)
    return Node("power", a, constant=c)


def _folded(operation: str, *numbers: float) -> Node:
    """Operation on constants alone."""
    try:
        return constant(_FOLDED[operation](*numbers))  # type: ignore[operator]
    except (ArithmeticError, ValueError):
        raise InputError(f"{operation} of {', '.join(f'{x:g}' for x in numbers)} is not a number") from None


def _refuse_rate(operation: str, *nodes: Node) -> None:
    if any(node.is_rate for node in nodes):
        raise InputError(
            f"{operation} of a rate, such as an angular velocity, is not defined: a rate has no position; rates can be "
            "added, indexed and multiplied by numbers"
        )
