"""AnimationSpace: a named list of functions in which motion is specified [PFB, (9)-(15)]."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from varichain.animation.function import Function, nodes_of
from varichain.animation.leaves import Given
from varichain.animation.nodes import Node
from varichain.animation.program import Evaluation, Program
from varichain.animation.reduced import Reduced, closed_copy, closures_of, follow, reduce
from varichain.dynamics.arguments import joint_vector, opened
from varichain.errors import InputError, UnknownNameError
from varichain.kernels.function_records import GRADIENTS, HESSIANS, VALUES
from varichain.layout.layout import Layout, layout_of
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import flag, instance, mapping, name_string, shown
from varichain.spatial.report import Listing, Report, Reported


class AnimationSpace(Reported):
    """Functions u = f(q, t) of a mechanism's configuration, with exact gradients and Hessians.

    `vc.AnimationSpace(m, {"hand": point("hand"), "elbow": coordinate("elbow") ** 2})` has the four *dimensions*
    "hand[0]", "hand[1]", "hand[2]" and "elbow". udot = G v + df/dt and uddot = G a + bias; functions name links, and
    follow the mechanism through connections and cuts as long as their links and joints are there.

    Attributes:
        mechanism: The mechanism, read as it is when a method is called.
        functions: The functions by name.
        slices: Places of each function's dimensions in u, by name.
        names: Names of the dimensions.
    """

    def __init__(self, m: Mechanism, functions: Mapping[str, Any]) -> None:
        """Name functions.

        Raises:
            InputError: Something that is no function, a function of nothing that moves, or no function at all.
            UnknownNameError: A link, frame or joint that the mechanism does not have.
        """
        self.mechanism = instance(m, Mechanism, "mechanism")
        self.functions: dict[str, Function] = {}
        self.slices: dict[str, slice] = {}
        names: list[str] = []
        self._nodes: list[Node] = []
        for name, value in mapping(functions, "functions").items():
            function = _function(name_string(name, "name of a function"), value)
            self.functions[name], n = function, len(names)
            names += [name] if function.shape == () else [f"{name}{list(i)}" for i in np.ndindex(function.shape)]
            self._nodes += function.nodes.ravel().tolist()
            self.slices[name] = slice(n, len(names))
        if not names:
            raise InputError("an animation space needs at least one function")
        self.names = tuple(names)
        self._program: Program | None = None
        self._holding: dict[tuple[str, ...], AnimationSpace] = {}
        self._aims: dict[tuple[tuple[str, bool], ...], AnimationSpace] = {}
        self._ranges: tuple[Layout, Any, Any] | None = None
        self._closures: tuple[Layout, AnimationSpace | None] | None = None
        self._joined: tuple[tuple[AnimationSpace, ...], Program] | None = None
        self._program_of(layout_of(m))

    def __len__(self) -> int:
        """Number of dimensions m."""
        return len(self.names)

    def report(self) -> Report:
        """Functions and their dimensions."""
        rows = [(name, str(f.shape), "rate" if f.is_rate else "function") for name, f in self.functions.items()]
        head = ("name", "shape", "kind")
        return f"animation space of {self.mechanism.name!r}: {len(self)} dimensions", (Listing(head, rows),)

    def function(self, name: str) -> Function:
        """The function of that name."""
        if not isinstance(name, str) or name not in self.functions:
            raise UnknownNameError("function", name, self.functions)
        return self.functions[name]

    def value(self, s: State) -> Array:
        """u (m,) in a state; NaN of rates, which have no position."""
        return self._at(s, VALUES).value

    def at(self, s: State) -> Evaluation:
        """Value, rate, bias and gradient at once, without Hessians."""
        return self._at(s, GRADIENTS)

    def gradient(self, s: State) -> Array:
        """G (m, n_v): udot = G v + df/dt [PFB, (10)]; the derivative along each freedom, G_k = E_k f."""
        return self._at(s, GRADIENTS).gradient

    def rate(self, s: State) -> Array:
        """udot (m,) of the state's velocities and time."""
        return self._at(s, GRADIENTS).rate

    def bias(self, s: State) -> Array:
        """uddot (m,) while all joint accelerations are zero: v^T H v, and what time adds."""
        return self._at(s, GRADIENTS).bias

    def acceleration(self, s: State, a: Any = None) -> Array:
        """uddot = G a + bias (m,) for joint accelerations a: an array (n_v,), or by joint name [PFB, (12)]."""
        layout, _ = opened(self.mechanism, s)
        vector = joint_vector(layout, a, "a")
        found = self._at(s, GRADIENTS)
        result: Array = found.gradient @ vector + found.bias
        return result

    def hessian(self, s: State) -> Array:
        """H (m, n_v, n_v), H_jk = E_j(E_k f): bias = v^T H v, Gdot = v^T H, the first index contracted.

        At ball and free joints velocities are no rates of coordinates, and H is not symmetric: the commutator of two
        freedoms moves the third. `symmetric_hessian` and `step_hessian` are its symmetric companions.

        Raises:
            InputError: A rate has no position, and no Hessian.
        """
        self._require_positions()
        return self._at(s, HESSIANS).hessian

    def symmetric_hessian(self, s: State) -> Array:
        """(H + H^T) / 2: second derivatives along motions with constant velocities of all joints."""
        H = self.hessian(s)
        return np.asarray(0.5 * (H + H.transpose(0, 2, 1)), dtype=np.float64)

    def step_hessian(self, s: State) -> Array:
        """Second derivatives of f(s.integrate(step)) at step 0, symmetric: for optimisers.

        `integrate` shifts a free joint along the axes at the start of its step: d^2 f = v^T H v - G_linear (w x v).
        """
        layout, _ = opened(self.mechanism, s)
        H, G = self.symmetric_hessian(s), self.gradient(s)
        for slot in layout.slots:
            if slot.kind == "free":
                turn, shift = slot.v.start, slot.v.start + 3
                for i in range(3):
                    j, k = (i + 1) % 3, (i + 2) % 3
                    for one, other, sign in ((i, j, -0.5), (j, i, 0.5)):
                        H[:, turn + one, shift + other] += sign * G[:, shift + k]
                        H[:, shift + other, turn + one] += sign * G[:, shift + k]
        return H

    def reduced(self, s: State, prefer: Iterable[str] = (), hessian: bool = False) -> Reduced:
        """The space over independent velocities, in which loops and couplings are: rank, blocked combinations, Gbar.

        Args:
            s: State with its loops closed to 1e-6; smaller gaps are closed first, on a copy.
            prefer: Joints or freedoms of the tree that must be independent.
            hessian: Whether to compute Hbar and dW.

        Raises:
            AssemblyError: The loops are open.
            PreferenceError: The preferred freedoms depend on each other.
        """
        layout, table = opened(self.mechanism, s)
        if flag(hessian, "hessian"):
            self._require_positions()
        closed = closed_copy(layout, table, s)
        following = follow(self._closures_of(layout), layout, table, closed, prefer, hessian)
        return reduce(self, layout, self._at(closed, HESSIANS if hessian else GRADIENTS), following, hessian)

    def _closures_of(self, layout: Layout) -> AnimationSpace | None:
        """Closure errors of the loops of a structure, made once for each."""
        if self._closures is None or self._closures[0] is not layout:
            self._closures = layout, closures_of(self, layout)
        return self._closures[1]

    def _require_positions(self) -> None:
        for name, function in self.functions.items():
            if function.is_rate:
                raise InputError(
                    f"{name!r} is a rate, such as an angular velocity: no position has it as its rate, so it has a "
                    "gradient and a bias, but no Hessian; leave it out of the space, or ask for at(s)"
                )

    def _program_of(self, layout: Layout) -> Program:
        """Tables of a structure, made once for each; the time of the last one."""
        program = self._program
        if program is None or program.layout is not layout:
            program = self._program = Program(self.mechanism, layout, self.names, self._nodes)
        return program

    def _program_with(self, layout: Layout, others: tuple[AnimationSpace, ...]) -> Program:
        """Tables of this space and others, one after the other; those of the last call are kept."""
        if not others:
            return self._program_of(layout)
        joined = self._joined
        if joined is None or joined[0] != others or joined[1].layout is not layout:
            parts = self, *others
            names, nodes = ([x for part in parts for x in of(part)] for of in (lambda p: p.names, lambda p: p._nodes))
            joined = self._joined = others, Program(self.mechanism, layout, names, nodes)
        return joined[1]

    def _at(self, s: State, depth: int) -> Evaluation:
        layout, table = opened(self.mechanism, s)
        return self._program_of(layout).evaluate(table, s.q, s.v, s.time, depth)


def _function(name: str, value: Any) -> Function:
    """A function of something that moves."""
    if not isinstance(value, Function):
        if not isinstance(value, list | tuple):
            raise InputError(f"function {name!r} must be a Function, such as animation.point(...), not {shown(value)}")
        value = Function(nodes_of(value))
    function: Function = value
    if not function.size:
        raise InputError(f"function {name!r} has no numbers: its shape is {function.shape}")
    for node in function.nodes.flat:
        if not _reads_configuration(node):
            raise InputError(f"function {name!r} reads nothing of the configuration: no freedom can move it")
    return function


def _reads_configuration(node: Node) -> bool:
    """Whether some leaf of an expression is more than the time."""
    stack, seen = [node], set()
    while stack:
        one = stack.pop()
        if one.leaf is not None and not isinstance(one.leaf, Given):
            return True
        if id(one) not in seen:
            seen.add(id(one))
            stack += one.operands
    return False
