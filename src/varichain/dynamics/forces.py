"""External forces on links."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.arguments import Table, link_row
from varichain.errors import InputError, quoted
from varichain.kernels.wrenches import add_wrench, clear_wrenches
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.frames import Frame
from varichain.mechanism.link import Link
from varichain.spatial.checks import finite_array, instance

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Force:
    """A force and a moment on a link.

    Attributes:
        link: Name of the link; or a named frame, as `m.frame("left grip")`: `at` and "local" are then meant in it.
        force: (3,) [N].
        moment: (3,) [N m], besides the force's own.
        at: Point of the link, in its frame, where the force acts (3,) [m]; the link's origin by default.
        axes: Axes of force and moment: "world", or "local" for the link's own.
    """

    link: Any  # str | Link | Frame; after __init__ no Frame
    force: ArrayLike = _ZERO
    moment: ArrayLike = _ZERO
    at: ArrayLike = _ZERO
    axes: str = "world"
    _point: NDArray[np.float64] = field(init=False, repr=False)
    _wrench: NDArray[np.float64] = field(init=False, repr=False)
    _local: int = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """Check the numbers; the link is looked up when the force is applied. A named frame's are moved to its link."""
        instance(self.link, (str, Link, Frame), "link")
        for name in ("force", "moment", "at"):
            object.__setattr__(self, name, finite_array(getattr(self, name), (3,), f"{name} on link {self.link!r}"))
        if not isinstance(self.axes, str) or self.axes not in ("world", "local"):
            raise InputError(f"axes must be 'world' or 'local', not {quoted(self.axes)}")
        if isinstance(self.link, Frame):
            at, R = self.link.at, self.link.at.R if self.axes == "local" else np.eye(3)
            moved = {"link": self.link.link, "at": at @ self.at}
            moved |= {name: R @ np.asarray(getattr(self, name)) for name in ("force", "moment")}
            for name, value in moved.items():
                object.__setattr__(self, name, value)
        # as the kernel wants them
        object.__setattr__(self, "_point", np.array(self.at))
        object.__setattr__(self, "_wrench", np.concatenate((self.moment, self.force)))
        object.__setattr__(self, "_local", int(self.axes == "local"))


class applied:  # noqa: N801  reads as a word: with applied(...)
    """Let forces act on the bodies of a workspace while a block runs."""

    __slots__ = ("_given", "_q", "_table")

    def __init__(self, layout: Layout, table: Table, s: State, forces: Iterable[Force]) -> None:
        """Look up the links; nothing acts yet."""
        self._given = [(link_row(layout, force.link), force) for force in checked_forces(forces)] if forces else ()
        self._table, self._q = table, s.q

    def __enter__(self) -> None:
        """Put the forces on."""
        for row, force in self._given:
            add_wrench(self._table, self._q, row, force._point, force._wrench, force._local)

    def __exit__(self, *_: object) -> None:
        """Take them off."""
        if self._given:
            clear_wrenches(self._table)


def checked_forces(forces: Any) -> tuple[Force, ...]:
    """The forces as a tuple."""
    given = tuple(forces) if isinstance(forces, Iterable) else (forces,)
    for force in given:
        if not isinstance(force, Force):
            raise InputError(
                f"forces must be Force objects, such as Force('hand', force=(0, 0, 10)), not {quoted(force)}"
            )
    return given
