"""A passive walker down a slope [GOSWAMI]."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, sin
from typing import TYPE_CHECKING, Final

import varichain as vc
from varichain import figures
from varichain.mechanism import Mechanism, Revolute
from varichain.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.simulation.events import Action


_AHEAD: Final = 0.1
"""How far ahead of the standing foot the other must be to land [m]: it passes through the floor on its way."""


def compass(
    *,
    slope: float = figures.COMPASS_SLOPE,
    start: Sequence[float] = (0.21, -0.32, -1.07, -0.36),
    hip_mass: float = 10.0,
    leg_mass: float = 5.0,
) -> Scenario:
    """The compass walker goes down a slope; each step is a connection and a cut at one instant.

    Nothing drives it: what gravity gives, the impacts of the landing feet take. It has a stable cycle on slopes up to
    some 4 degrees; started near it, as by default, it settles into it: legs swing like the last time, to more and more
    digits. N_J = 4 + 1 = 5, N_F = 2 throughout.

    Args:
        slope: Of the floor, down towards +x [rad].
        start: Angles of the standing and of the swinging leg from the vertical [rad], and their rates [rad/s].
        hip_mass: At the hip [kg].
        leg_mass: Of each leg [kg].
    """
    m = figures.compass_walker(hip_mass, leg_mass, name="compass")
    figures.ground(m, slope, (40.0, 4.0))
    s = figures.compass_start(m, start)
    m.connect("left sole", "floor", Revolute("y"), state=s, name="left stance")

    def landing(m: Mechanism, s: State) -> float:
        """Height of the swinging sole above the slope, as soon as it is well ahead."""
        standing, swinging = _feet(m)
        x, _, z = vc.pose(m, s, f"{swinging} sole").p
        ahead = x - vc.pose(m, s, f"{standing} sole").p[0]
        return max(float(x * sin(slope) + z * cos(slope)), _AHEAD - float(ahead))

    step = vc.when(landing, _step, direction=-1, once=False, name="step")
    settings = {"method": "rk45", "step": 1e-2, "tolerance": 1e-10}
    return Scenario("compass", m, s, 20.0, (step,), settings=settings)


def _feet(m: Mechanism) -> tuple[str, str]:
    """Sides of the standing and of the swinging leg."""
    is_left = any(link.joint is not None and link.joint.name == "left stance" for link in m.virtual_links)
    return ("left", "right") if is_left else ("right", "left")


def _step(m: Mechanism, s: State) -> list[Action]:
    """The swinging sole lands, and the other one lifts."""
    standing, swinging = _feet(m)
    stance = vc.connect(f"{swinging} sole", "floor", Revolute("y"), name=f"{swinging} stance")
    return [vc.cut(f"{standing} stance"), stance]
