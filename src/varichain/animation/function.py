"""Functions of the configuration as expressions: arrays of nodes that numpy's operators and ufuncs work on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from varichain.animation.nodes import Node, binary, constant, power, unary
from varichain.errors import InputError
from varichain.spatial.checks import is_sequence, real_scalar, shown

Nodes = NDArray[Any]

_MOST_AXES = 32  # of arrays, by any version of numpy


class Function:
    """Function of the configuration, of the time, or of both: a number or an array of numbers.

    Functions are made from leaves (`point`, `coordinate`, ...) by +, -, *, /, **, @, indexing, `sum`, `norm` and
    functions of numpy: sin, cos, tan, arcsin, arccos, arctan, arctan2, exp, log, sqrt, square, tanh, sinh, cosh, hypot,
    linalg.norm, dot, cross, sum, mean, stack, concatenate. They name links and belong to no mechanism.
    """

    __slots__ = ("_nodes",)

    def __init__(self, nodes: Any) -> None:
        """Take nodes; use `point`, `coordinate` and others to make functions."""
        self._nodes: Nodes = np.asarray(nodes, dtype=object)

    @property
    def nodes(self) -> Nodes:
        """Its numbers as nodes, an array of its shape."""
        return self._nodes

    @property
    def shape(self) -> tuple[int, ...]:
        """Lengths of its axes; () for one number."""
        return self._nodes.shape

    @property
    def ndim(self) -> int:
        """Number of its axes."""
        return self._nodes.ndim

    @property
    def size(self) -> int:
        """How many numbers it has."""
        return self._nodes.size

    @property
    def is_rate(self) -> bool:
        """Whether it is a rate without a position, such as an angular velocity."""
        return any(node.is_rate for node in self._nodes.flat)

    @property
    def T(self) -> Function:
        """Transpose."""
        return Function(self._nodes.T)

    def __len__(self) -> int:
        """Length of the first axis."""
        if not self.shape:
            raise TypeError("a function of one number has no length")
        return self.shape[0]

    def __getitem__(self, key: Any) -> Function:
        """Part of its numbers, as of an array."""
        try:
            return Function(self._nodes[key])
        except IndexError as error:
            raise IndexError(f"function of shape {self.shape}: {error}") from None

    def __iter__(self) -> Iterator[Function]:
        """Iterate over the first axis."""
        return (self[i] for i in range(len(self)))

    def __repr__(self) -> str:
        """Shape, and what it reads."""
        return f"<{'Rate' if self.is_rate else 'Function'} of shape {self.shape}>"

    def sum(self, axis: Any = None, **unused: Any) -> Function:
        """Sum of its numbers, over all axes or one."""
        return Function(np.sum(self._nodes, axis=axis)) if self.size else Function(constant(0.0))

    def mean(self, axis: Any = None, **unused: Any) -> Function:
        """Mean of its numbers, over all axes or one."""
        total = self.sum(axis)
        return total * (total.size / self.size)

    def norm(self) -> Function:
        """Euclidean length of all its numbers; where the length is zero, it has no gradient."""
        return np.sqrt((self * self).sum())  # type: ignore[no-any-return]

    def __array_ufunc__(self, ufunc: Any, method: str, *inputs: Any, **keywords: Any) -> Any:
        """Numpy's ufuncs: those that have a derivative."""
        if ufunc is np.matmul and method == "__call__":
            return _product(*inputs)
        if method == "reduce" and ufunc is np.add:
            return inputs[0].sum(keywords.get("axis"))
        if method != "__call__" or ufunc not in _UFUNCS or keywords:
            known = ", ".join(sorted(one.__name__ for one in _UFUNCS))
            raise InputError(f"np.{ufunc.__name__} cannot be applied to a function; valid: {known}")
        return _elementwise(_UFUNCS[ufunc], inputs)

    def __array_function__(self, function: Any, types: Any, arguments: Any, keywords: Any) -> Any:
        """Functions of numpy beside its ufuncs."""
        if function not in _FUNCTIONS:
            raise InputError(f"{function.__name__} of numpy cannot be applied to a function of the configuration")
        return _FUNCTIONS[function](*arguments, **keywords)

    def __neg__(self) -> Function:
        """Opposite."""
        return self * -1.0

    def __pos__(self) -> Function:
        """Itself."""
        return self

    def __abs__(self) -> Function:
        """Absolute value; it has no gradient at zero."""
        return np.sqrt(self * self)  # type: ignore[no-any-return]

    def __add__(self, other: Any) -> Function:
        """Sum."""
        return _elementwise(_two("add"), (self, other))

    def __radd__(self, other: Any) -> Function:
        """Sum."""
        return _elementwise(_two("add"), (other, self))

    def __sub__(self, other: Any) -> Function:
        """Difference."""
        return _elementwise(_two("subtract"), (self, other))

    def __rsub__(self, other: Any) -> Function:
        """Difference."""
        return _elementwise(_two("subtract"), (other, self))

    def __mul__(self, other: Any) -> Function:
        """Product, number by number."""
        return _elementwise(_two("multiply"), (self, other))

    def __rmul__(self, other: Any) -> Function:
        """Product, number by number."""
        return _elementwise(_two("multiply"), (other, self))

    def __truediv__(self, other: Any) -> Function:
        """Quotient."""
        return _elementwise(_two("divide"), (self, other))

    def __rtruediv__(self, other: Any) -> Function:
        """Quotient."""
        return _elementwise(_two("divide"), (other, self))

    def __pow__(self, other: Any) -> Function:
        """Power."""
        return _elementwise(power, (self, other))

    def __rpow__(self, other: Any) -> Function:
        """Power."""
        return _elementwise(power, (other, self))

    def __matmul__(self, other: Any) -> Function:
        """Product of matrices and vectors."""
        return _product(self, other)

    def __rmatmul__(self, other: Any) -> Function:
        """Product of matrices and vectors."""
        return _product(other, self)


def nodes_of(value: Any, depth: int = 0) -> Nodes:
    """Nodes of a function, of a number, or of an array or a list of them; `depth` counts lists in lists.

    Raises:
        InputError: Something else, numbers that are not finite, or more axes than arrays have.
    """
    if depth > _MOST_AXES:
        raise InputError(f"lists of functions may be nested {_MOST_AXES} deep at most")
    if isinstance(value, Function):
        return value.nodes
    if is_sequence(value):
        parts = [nodes_of(part, depth + 1) for part in value]
        if len({part.shape for part in parts}) > 1:
            raise InputError(f"parts of a function must have equal shapes, not {[part.shape for part in parts]}")
        return np.stack(parts) if parts else np.empty(0, dtype=object)
    number = real_scalar(value, "operand of a function")
    if not np.isfinite(number):
        raise InputError(f"operand of a function must be finite, not {number}")
    return np.asarray(constant(number), dtype=object)


def _two(operation: str) -> Callable[[Node, Node], Node]:
    return lambda a, b: binary(operation, a, b)


def _one(operation: str) -> Callable[[Node], Node]:
    return lambda a: unary(operation, a)


def _elementwise(operation: Callable[..., Node], operands: tuple[Any, ...]) -> Function:
    """Apply an operation number by number, with numpy's rules for shapes."""
    nodes = [nodes_of(operand) for operand in operands]
    try:
        return Function(np.frompyfunc(operation, len(nodes), 1)(*nodes))
    except ValueError as error:
        if isinstance(error, InputError):
            raise
        raise InputError(f"shapes {' and '.join(str(n.shape) for n in nodes)} do not fit each other") from None


def _product(a: Any, b: Any) -> Function:
    left, right = nodes_of(a), nodes_of(b)
    if not left.ndim or not right.ndim or left.shape[-1] != right.shape[-2 if right.ndim > 1 else 0]:
        raise InputError(f"shapes {left.shape} and {right.shape} cannot be multiplied as matrices")
    return Function(np.dot(left, right))


def _norm(x: Any, ord: Any = None, axis: Any = None) -> Function:
    if ord not in (None, 2) or not isinstance(x, Function):
        raise InputError(f"norm of a function is the Euclidean one: ord must be None or 2, not {shown(ord)}")
    return x.norm() if axis is None else np.sqrt((x * x).sum(axis))


def _cross(a: Any, b: Any) -> Function:
    x, y = Function(nodes_of(a)), Function(nodes_of(b))
    if x.shape != (3,) or y.shape != (3,):
        raise InputError(f"a cross product needs two functions of shape (3,), not {x.shape} and {y.shape}")
    return _stack([x[1] * y[2] - x[2] * y[1], x[2] * y[0] - x[0] * y[2], x[0] * y[1] - x[1] * y[0]])


def _stack(parts: Any, axis: int = 0) -> Function:
    return Function(np.stack([nodes_of(part) for part in parts], axis=axis))


def _concatenate(parts: Any, axis: int = 0) -> Function:
    return Function(np.concatenate([np.atleast_1d(nodes_of(part)) for part in parts], axis=axis))


def _hypot(a: Node, b: Node) -> Node:
    return power(a * a + b * b, constant(0.5))


def _sinh(a: Node, sign: float = -1.0) -> Node:
    grown = unary("exp", a)
    return constant(0.5) * (grown + constant(sign) * power(grown, constant(-1.0)))


_UFUNCS: dict[Any, Callable[..., Node]] = {
    np.add: _two("add"),
    np.subtract: _two("subtract"),
    np.multiply: _two("multiply"),
    np.divide: _two("divide"),
    np.power: power,
    np.arctan2: _two("arctan2"),
    np.hypot: _hypot,
    np.negative: lambda a: constant(-1.0) * a,
    np.positive: lambda a: a,
    np.square: lambda a: power(a, constant(2.0)),
    np.sqrt: lambda a: power(a, constant(0.5)),
    np.absolute: lambda a: power(a * a, constant(0.5)),
    np.sinh: _sinh,
    np.cosh: lambda a: _sinh(a, 1.0),
    **{
        ufunc: _one(ufunc.__name__)
        for ufunc in (np.sin, np.cos, np.tan, np.arcsin, np.arccos, np.arctan, np.exp, np.log, np.tanh)
    },
}
_FUNCTIONS: dict[Any, Callable[..., Function]] = {
    np.linalg.norm: _norm,
    np.dot: _product,
    np.inner: _product,
    np.cross: _cross,
    np.sum: lambda x, axis=None: x.sum(axis),
    np.mean: lambda x, axis=None: x.mean(axis),
    np.stack: _stack,
    np.concatenate: _concatenate,
}
