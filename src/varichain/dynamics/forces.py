"""External forces on links."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.arguments import link_row
from varichain.dynamics.kinematics import poses
from varichain.errors import InputError
from varichain.kernels.wrenches import clear_wrenches, load_wrenches
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.link import Link
from varichain.spatial.checks import finite_array

_ZERO = (0.0, 0.0, 0.0)


@dataclass(frozen=True, eq=False)
class Force:
    """A force and a moment on a link.

    Attributes:
        link: Name of the link.
        force: (3,) [N].
        moment: (3,) [N m], besides the force's own.
        at: Point of the link, in its frame, where the force acts (3,) [m]; the link's origin by default.
        axes: Axes of force and moment: "world", or "local" for the link's own.
    """

    link: str | Link
    force: ArrayLike = _ZERO
    moment: ArrayLike = _ZERO
    at: ArrayLike = _ZERO
    axes: str = "world"

    def __post_init__(self) -> None:
        """Check the numbers; the link is looked up when the force is applied."""
        for field in ("force", "moment", "at"):
            object.__setattr__(self, field, finite_array(getattr(self, field), (3,), f"{field} on link {self.link!r}"))
        if self.axes not in ("world", "local"):
            raise InputError(f"axes must be 'world' or 'local', not {self.axes!r}")


@contextmanager
def applied(layout: Layout, table: NDArray[np.int64], s: State, forces: Iterable[Force]) -> Iterator[None]:
    """Let forces act on the bodies of a workspace while the block runs."""
    given = _checked(forces)
    if not given:
        yield
        return
    load_wrenches(table, s.q, _wrenches(layout, table, s, given))
    try:
        yield
    finally:
        clear_wrenches(table)


def _checked(forces: Any) -> tuple[Force, ...]:
    given = tuple(forces) if isinstance(forces, Iterable) else (forces,)
    for force in given:
        if not isinstance(force, Force):
            raise InputError(f"forces must be Force objects, such as Force('hand', force=(0, 0, 10)), not {force!r}")
    return given


def _wrenches(layout: Layout, table: NDArray[np.int64], s: State, forces: tuple[Force, ...]) -> NDArray[np.float64]:
    """Sum of the forces as wrenches [moment; force] in world axes at the links' origins, (n_links, 6)."""
    R, _ = poses(layout, table, s)
    wrenches = np.zeros((len(layout.link_index), 6))
    for given in forces:
        row = link_row(layout, given.link)
        R_WL = R[row].reshape(3, 3)
        turn = R_WL if given.axes == "local" else np.eye(3)
        force = turn @ np.asarray(given.force)
        wrenches[row, :3] += turn @ np.asarray(given.moment) + np.cross(R_WL @ np.asarray(given.at), force)
        wrenches[row, 3:] += force
    return wrenches
