"""External forces on links."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.arguments import Table, link_row
from varichain.errors import InputError, quoted
from varichain.kernels.callbacks import address_of_link_forces
from varichain.kernels.external_forces import add_forces
from varichain.kernels.run_records import FORCE
from varichain.kernels.tables import as_records
from varichain.kernels.wrenches import clear_wrenches
from varichain.layout.layout import Layout
from varichain.layout.state import State
from varichain.mechanism.frames import Frame
from varichain.mechanism.link import Link
from varichain.spatial.checks import finite_array, instance, listed, several, shown

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


@dataclass(frozen=True, eq=False)
class LinkForces:
    """Forces on links that a compiled function sets, at every stage of every step, from the motion of these links.

    The function, f(t, links), is one that Numba can compile. `links` are records, one for each link, in this order:
    `links[0].p` (3) and `links[0].R` (3, 3) are the pose of the first one in the world, `links[0].V` (6) its velocity
    [angular; linear] at its origin, in world axes. The function sets `links[0].wrench` (6), zeros before: [moment;
    force] on the link at its origin, in world axes.

    Attributes:
        function: The function.
        links: Names of the links.
    """

    function: Callable[[float, Any], None]
    links: tuple[str, ...]

    def __init__(self, function: Callable[[float, Any], None], links: Any) -> None:
        """Check the arguments and compile the function; links are looked up when the forces are applied."""
        if not callable(function):
            raise InputError(f"function of LinkForces must be a function of time and links, not {shown(function)}")
        given = (links,) if isinstance(links, str | Link) else tuple(listed(links, object, "links of LinkForces"))
        for link in given:
            instance(link, (str, Link), "link of LinkForces")
        names = tuple(str(getattr(link, "name", link)) for link in given)
        if not names:
            raise InputError("links of LinkForces must name at least one link")
        object.__setattr__(self, "function", function)
        object.__setattr__(self, "links", names)
        address_of_link_forces(function)


ExternalForce = Force | LinkForces


def force_records(layout: Layout, forces: Iterable[ExternalForce]) -> NDArray[Any]:
    """External forces as kernels read them (FORCE)."""
    found = []
    for force in forces:
        if isinstance(force, Force):
            record = np.zeros(1, FORCE)
            record["link"], record["local"] = link_row(layout, force.link), force._local
            record["point"], record["wrench"] = force._point, force._wrench
        else:
            record = np.zeros(len(force.links), FORCE)
            record["link"] = [link_row(layout, link) for link in force.links]
            record["function"][0], record["n_links"][0] = address_of_link_forces(force.function), len(force.links)
        found.append(record)
    return as_records(np.concatenate(found) if found else np.zeros(0, FORCE))


class applied:  # noqa: N801  reads as a word: with applied(...)
    """Let forces act on the bodies of a workspace while a block runs."""

    __slots__ = ("_records", "_state", "_table")

    def __init__(self, layout: Layout, table: Table, s: State, forces: Iterable[ExternalForce]) -> None:
        """Look up the links; nothing acts yet."""
        given = checked_forces(forces)
        self._records = force_records(layout, given) if given else None
        self._table, self._state = table, s

    def __enter__(self) -> None:
        """Put the forces on."""
        if self._records is not None:
            add_forces(self._table, self._state.q, self._state.v, self._state.time, self._records)

    def __exit__(self, *_: object) -> None:
        """Take them off."""
        if self._records is not None:
            clear_wrenches(self._table)


def checked_forces(forces: Any) -> tuple[ExternalForce, ...]:
    """The forces as a tuple."""
    given = tuple(several(forces))
    for force in given:
        if not isinstance(force, Force | LinkForces):
            raise InputError(
                "forces must be Force or LinkForces objects, such as Force('hand', force=(0, 0, 10)), not "
                f"{quoted(force)}"
            )
    return given


def constant_forces(forces: Any) -> tuple[Force, ...]:
    """The forces as a tuple, if none of them depends on the motion of links."""
    given = checked_forces(forces)
    for force in given:
        if isinstance(force, LinkForces):
            raise InputError("vc.LinkForces have no derivatives: give vc.Force objects")
    return given  # type: ignore[return-value]
