"""A rod that swings."""

from __future__ import annotations

import numpy as np

from varichain.mechanism import Inertia, Mechanism, Revolute
from varichain.scenarios.parameters import Positive, checked
from varichain.scenarios.scenario import Scenario


@checked
def pendulum(*, length: Positive = 1.0, mass: Positive = 1.0, angle: float = 1.0) -> Scenario:
    """A uniform rod on a hinge, let go at an angle.

    Args:
        length: Of the rod [m].
        mass: Of the rod [kg].
        angle: From hanging straight down, at the start [rad].
    """
    m = Mechanism("pendulum")
    about_com = mass * length**2 * np.array([1 / 12, 1 / 12, 1e-4])  # with some thickness, for when it flies
    rod = Inertia(mass, com=(0, 0, -length / 2), about_com=about_com)
    m.add_link("rod", joint=Revolute("y", name="hinge"), inertia=rod)
    s = m.state()
    s["hinge"].q = angle
    return Scenario("pendulum", m, s, 10.0, settings={"method": "rk45", "step": 1e-2})
