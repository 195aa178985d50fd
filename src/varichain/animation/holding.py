"""Squares that shall stay at zero: their arguments, which have a gradient there, in their place.

(phi - a)^2 has the gradient zero where it is zero: no motion is refused there, and a joint that it should hold drifts
[PFB, 5.1 holds a segment in this way]. Its argument phi - a holds it.
"""

from __future__ import annotations

from varichain.animation.function import Function
from varichain.animation.nodes import Node
from varichain.spatial.checks import instance


def argument_of(function: Function) -> Function:
    """Functions (n,) that are all zero where all numbers of a function are, with gradients there if there are any.

    Squares, even powers, absolute values, lengths, and sums of these are replaced by their arguments; other numbers
    stay as they are.
    """
    instance(function, Function, "function")
    roots: dict[int, Node] = {}
    for node in function.nodes.flat:
        for root in _roots(node) or [node]:
            roots[id(root)] = root
    return Function(list(roots.values()))


def _roots(node: Node) -> list[Node] | None:
    """Nodes that vanish together exactly where a node does, which is nowhere negative; None if it may be negative."""
    a, b = node.a, node.b
    if node.operation == "power" and a is not None:
        if node.constant > 0.0 and node.constant % 2.0 == 0.0:
            return _roots(a) or [a]
        return _roots(a) if node.constant > 0.0 else None
    if node.operation == "multiply" and a is not None and b is not None:
        if a is b:
            return _roots(a) or [a]
        for factor, other in ((a, b), (b, a)):
            if factor.is_constant and factor.constant > 0.0:
                return _roots(other)
    if node.operation == "add" and a is not None and b is not None:
        left, right = _roots(a), _roots(b)
        return None if left is None or right is None else left + right
    return None
