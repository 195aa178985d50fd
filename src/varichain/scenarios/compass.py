"""A passive walker down a slope [GOSWAMI]."""

from __future__ import annotations

from math import cos, pi, sin
from typing import TYPE_CHECKING, Annotated, Final

from annotated_types import Gt, Lt

import varichain as vc
from varichain import figures
from varichain.mechanism import Box, ContactPoint, Mechanism, Revolute
from varichain.scenarios.parameters import Positive, checked
from varichain.scenarios.scenario import Scenario

if TYPE_CHECKING:
    from varichain.layout.state import State
    from varichain.simulation.events import Action


_STONE: Final = (0.25, 0.3, 0.05)  # [m]
_STONES: Final = 40  # as long as the floor
_FRICTION: Final = 1.0  # of the stones
_AHEAD: Final = 0.1
"""How far ahead of the standing foot the other must be to land [m]: it passes through the floor on its way."""


@checked
def compass(
    *,
    slope: Annotated[float, Gt(-pi / 2), Lt(pi / 2)] = figures.COMPASS_SLOPE,
    start: tuple[float, float, float, float] = (0.21, -0.32, -1.07, -0.36),
    hip_mass: Positive = 10.0,
    leg_mass: Positive = 5.0,
    contact: bool = False,
) -> Scenario:
    """The compass walker goes down a slope; each step is a connection and a cut at one instant, or a contact.

    Nothing drives it: what gravity gives, the impacts of the landing feet take. It has a stable cycle on slopes up to
    some 4 degrees; started near it, as by default, it settles into it: legs swing like the last time, to more and more
    digits. N_J = 4 + 1 = 5, N_F = 2 throughout.

    With `contact` nothing is connected: soles land, stick and lift by contact with friction. Legs without knees swing
    through the floor, and so they walk on stones: each foot has its own, two steps apart. N_J = N_F = 4.

    Args:
        slope: Of the floor, down towards +x [rad].
        start: Angles of the standing and of the swinging leg from the vertical [rad], and their rates [rad/s].
        hip_mass: At the hip [kg].
        leg_mass: Of each leg [kg].
        contact: Whether soles touch the floor by contact rather than by connections.
    """
    m = figures.compass_walker(hip_mass, leg_mass, name="compass")
    figures.ground(m, slope, (40.0, 4.0))
    s = figures.compass_start(m, start)
    if contact:
        _lay_stones(m)
        return Scenario("compass", m, s, 20.0, settings={"contacts": "stepping", "step": 2.5e-4, "sample": 1e-2})
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


def _lay_stones(m: Mechanism) -> None:
    """Stones for either sole, two steps of the cycle apart, and soles that touch their own."""
    standing, swinging = figures.COMPASS_CYCLE[:2]
    step = 2.0 * sin(0.5 * (standing - swinging))
    for i, side in enumerate(("left", "right")):
        sole = m.frame(f"{side} sole")
        m.set_contact_shapes(sole.link, ContactPoint(sole.at))
        places = [(k * step, 0.0, -0.5 * _STONE[2]) for k in range(i, _STONES, 2)]
        stones = [Box(_STONE, at=place) for place in places]
        m.add_surface(f"{side} stones", "floor", stones, friction=_FRICTION, touched_by=sole.link)


def _feet(m: Mechanism) -> tuple[str, str]:
    """Sides of the standing and of the swinging leg."""
    is_left = any(link.joint is not None and link.joint.name == "left stance" for link in m.virtual_links)
    return ("left", "right") if is_left else ("right", "left")


def _step(m: Mechanism, s: State) -> list[Action]:
    """The swinging sole lands, and the other one lifts."""
    standing, swinging = _feet(m)
    stance = vc.connect(f"{swinging} sole", "floor", Revolute("y"), name=f"{swinging} stance")
    return [vc.cut(f"{standing} stance"), stance]
