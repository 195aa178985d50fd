"""Dragging a link: a spring with a damper from one of its points to a moving target."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from varichain.dynamics.forces import Force
from varichain.dynamics.inertia import mass_matrix
from varichain.dynamics.kinematics import jacobian, pose, velocity
from varichain.errors import InputError
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.checks import finite_array, several

_FREQUENCY = 20.0  # [rad/s] of the spring with the effective mass at the point, critically damped
_PER_TICK = 0.2  # [rad] of oscillation between two calls: forces are constant in between
_TICK = 5e-3  # [s] between two calls, unless the run's own forces set it: every call costs wall time


class Drag:
    """A function (m, s) that returns the run's own forces and the force of the spring.

    Attributes:
        link: Name of the link.
        point: Point that is pulled, in the link's frame (3,) [m].
        target: Target of the point, in the world (3,) [m]; any thread may replace it.
        given: The run's own forces.
        mass: Effective mass at the point without loops [kg].
        tick: Time between two calls [s].
    """

    def __init__(
        self, m: Mechanism, s: State, link: str, point: ArrayLike, target: ArrayLike, given: Any, control_step: float
    ) -> None:
        """Drag a point of a link; `given` are the run's own forces, `control_step` is the run's control period [s].

        Raises:
            InputError: A number is not finite, or the link cannot move.
            UnknownNameError: No such link.
        """
        found = m.link(link)
        if found.is_ground or found.is_virtual:
            raise InputError(f"{found!r} cannot be dragged; choose a real link")
        self.link = found.name
        self.point, self.target = finite_array(point, (3,), "point"), finite_array(target, (3,), "target")
        self.mass = _felt_mass(m, s, self.link, self.point)
        self.tick = control_step if callable(given) else max(control_step, _TICK)
        frequency = min(_FREQUENCY, _PER_TICK / self.tick)
        self._stiffness, self._damping = self.mass * frequency**2, 2.0 * self.mass * frequency
        self.given = given

    def __call__(self, m: Mechanism, s: State) -> list[Force]:
        """Forces at this instant."""
        stretch = self.target - pose(m, s, self.link, self.point).p
        pull = self._stiffness * stretch - self._damping * velocity(m, s, self.link, self.point)[3:]
        given = self.given(m, s) if callable(self.given) else self.given
        others = () if given is None else several(given)
        return [*others, Force(self.link, pull, at=self.point)]


def _felt_mass(m: Mechanism, s: State, link: str, point: NDArray[np.float64]) -> float:
    """3 / trace(J M^-1 J^T) with the point's linear Jacobian J [kg]."""
    J = jacobian(m, s, link, point)[3:]
    mobile = float(np.trace(J @ np.linalg.solve(mass_matrix(m, s), J.T))) if m.n_v else 0.0
    if not mobile > 1e-12:
        raise InputError(f"link {link!r} cannot move at this point: nothing to drag")
    return 3.0 / mobile
