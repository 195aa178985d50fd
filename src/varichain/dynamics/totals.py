"""Energy and momentum of the whole mechanism."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from varichain.dynamics.arguments import opened_with_center, opened_with_mass
from varichain.kernels.totals import energy as _energy
from varichain.kernels.totals import momentum as _momentum
from varichain.layout.state import State
from varichain.mechanism.mechanism import Mechanism
from varichain.spatial.arrays import Array
from varichain.spatial.checks import finite_array
from varichain.spatial.report import Listing, Report, Reported, numbers


@dataclass(frozen=True, slots=True, repr=False)
class Energy(Reported):
    """Energy of a mechanism [J].

    Attributes:
        kinetic: Of all links, and of the joints' armature.
        gravitational: Potential in uniform gravity, zero at the world's origin.
        elastic: In the joints' springs.
    """

    kinetic: float
    gravitational: float
    elastic: float

    @property
    def potential(self) -> float:
        """Gravitational and elastic [J]."""
        return self.gravitational + self.elastic

    @property
    def total(self) -> float:
        """Kinetic and potential [J]."""
        return self.kinetic + self.potential

    def report(self) -> Report:
        """Kinetic, potential and their sum."""
        kinds = ("kinetic", "gravitational", "elastic", "total")
        return "energy [J]", (Listing(kinds, [[f"{getattr(self, kind):.6g}" for kind in kinds]]),)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Momentum(Reported):
    """Momentum of a mechanism, world axes.

    Attributes:
        linear: (3,) [kg m/s].
        angular: (3,) [kg m^2/s] about `about`.
        about: The point (3,) [m].
    """

    linear: Array
    angular: Array
    about: Array

    def report(self) -> Report:
        """Both parts and the point."""
        head = ("linear [kg m/s]", "angular [kg m^2/s]", "about [m]")
        return "momentum", (Listing(head, [[numbers(part) for part in (self.linear, self.angular, self.about)]]),)


def energy(m: Mechanism, s: State) -> Energy:
    """Kinetic and potential energy."""
    _, table = opened_with_mass(m, s)
    parts = np.empty(3)
    _energy(table, s.q, s.v, parts)
    return Energy(*parts.tolist())


def momentum(m: Mechanism, s: State, about: ArrayLike | None = None) -> Momentum:
    """Linear momentum, and angular momentum about a world point (3,) [m]; about the centre of mass by default."""
    _, table = opened_with_center(m, s)
    h, center = np.empty(6), np.empty(3)
    _momentum(table, s.q, s.v, h, center)
    angular, linear = h[:3], h[3:]
    if about is None:
        return Momentum(linear, angular, center)
    point = finite_array(about, (3,), "about")
    return Momentum(linear, angular + np.cross(center - point, linear), point)
