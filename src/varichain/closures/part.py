"""Closure functions: joints of a loop as explicit functions of others, q = gamma(y) [HYR, (9)]."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from varichain.errors import InputError
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array, listed


class Closure(ABC):
    """Joints that follow others by a function, in place of the loops that tie them.

    Attributes:
        follows: Names of the joints that follow, with one freedom each.
        leads: Names of the joints that lead, with one freedom each.
        loops: Names of the loops that it replaces.
    """

    follows: tuple[str, ...]
    leads: tuple[str, ...]
    loops: tuple[str, ...]

    @abstractmethod
    def evaluate(self, y: Array, v: Array, near: Array) -> tuple[Array, Array, Array]:
        """q = gamma(y), G = dgamma/dy and g = Gdot v of the joints that follow.

        Args:
            y: Coordinates of the joints that lead.
            v: Their velocities.
            near: Coordinates of the joints that follow; angles come out within half a turn of them.

        Raises:
            AssemblyError: The loop cannot be closed at y.
        """


@dataclass(frozen=True, eq=False)
class Given(Closure):
    """A closure of the user's own; `ClosureFunction` checks it against the loops that it replaces.

    Attributes:
        position: gamma: y (n_leads,) to q (n_follows,).
        jacobian: G: y to (n_follows, n_leads).
        bias: g: y and v to Gdot v (n_follows,).
    """

    follows: tuple[str, ...]
    leads: tuple[str, ...]
    loops: tuple[str, ...]
    position: Callable[[Array], Array]
    jacobian: Callable[[Array], Array]
    bias: Callable[[Array, Array], Array]

    def evaluate(self, y: Array, v: Array, near: Array) -> tuple[Array, Array, Array]:
        """What the functions say, checked for shape and finiteness."""
        n, n_leads = len(self.follows), len(self.leads)
        q = _numbers(self.position(y), (n,), "position")
        G = _numbers(self.jacobian(y), (n, n_leads), "jacobian")
        return q, G, _numbers(self.bias(y, v), (n,), "bias")


@dataclass(frozen=True, eq=False)
class Linear(Closure):
    """q = M y + b, as couplings and parallelograms have it.

    Attributes:
        M: Multipliers (n_follows, n_leads).
        b: Offsets (n_follows,).
    """

    follows: tuple[str, ...]
    leads: tuple[str, ...]
    M: Array
    b: Array
    loops: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Check names and numbers."""
        for name in ("follows", "leads", "loops"):
            object.__setattr__(self, name, listed(getattr(self, name), str, name))
        object.__setattr__(self, "M", finite_array(self.M, (len(self.follows), len(self.leads)), "M"))
        object.__setattr__(self, "b", finite_array(self.b, (len(self.follows),), "b"))

    def evaluate(self, y: Array, v: Array, near: Array) -> tuple[Array, Array, Array]:
        """M y + b, M, zero."""
        return self.M @ y + self.b, self.M, np.zeros(len(self.b))


def _numbers(value: object, shape: tuple[int, ...], what: str) -> Array:
    given = np.asarray(value, dtype=np.float64)
    if given.shape != shape and given.size == int(np.prod(shape)):
        given = given.reshape(shape)
    try:
        return finite_array(given, shape, f"{what} of the closure").copy()
    except InputError as error:
        raise InputError(f"{error}; it must have the shape {shape}") from None
