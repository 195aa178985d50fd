"""A swing that breaks [NY, Fig. 21]."""

from __future__ import annotations

from collections.abc import Callable
from math import radians, sin
from typing import TYPE_CHECKING, Final

import varichain as vc
from varichain import figures
from varichain.mechanism import Breaks, Mechanism, Prismatic, Spherical
from varichain.scenarios.muscles import muscles
from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.scenario import Scenario
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.instants import Cut
    from varichain.layout.state import State
    from varichain.simulation.events import Event


SIDES: Final = ("left", "right")

_HOLD = 0.8  # [m] of the hands above the plate
_LEAN = 15.0  # [deg] that the trunk leans back
_HALF_DEPTH = 0.11  # [m] of the plate
_FRICTION = 800.0  # [N s/m] of a thigh on the plate; viscous, for joints that close loops know no dry friction
_STEEPEST = 20.0  # [deg] that the plate may be tilted by before a thigh slips off sideways: friction of 0.36


@checked
def swing(
    *,
    height: Positive = 1.70,
    mass: Positive = 65.0,
    angle: float = radians(30.0),
    breaks_at: NonNegative = 2.4,
    stiffness: NonNegative = 150.0,
    damping: NonNegative = 10.0,
) -> Scenario:
    """A figure of 16 joint freedoms sits on a swing; the plate comes off the left rod, and the thighs slip off it.

    The rods hang on ball joints, the hands hold them by ball joints, each thigh lies on the plate by a slider, which
    pushes and cannot pull. A thigh leaves the plate when the plate falls away from under it, when it has slid over the
    edge, or when the plate is too steep. The figure then hangs on the rods by its hands.

    Joint freedoms: figure 22, hands 6, thighs 2, and the swing's own 8 (rods 6, hinges 2): N_J = 38, then 37 without
    the left hinge, 36, 35. [NY] counts 30 to 28, the figure's, hands' and thighs', without those of the swing: 30, 30,
    29, 28. N_F is 9, 14, 18, 23.

    Args:
        height: Of the figure [m].
        mass: Of the figure [kg].
        angle: Of the rods behind the vertical, at the start [rad].
        breaks_at: When the plate comes off the left rod [s].
        stiffness: Of the muscles, which hold the sitting posture [N m/rad].
        damping: Of the muscles [N m s/rad].
    """
    m = figures.human16(height, mass, name="swing")
    figures.swing(m, hold=_HOLD)
    s = _seated(m, angle)
    events: list[Event] = [vc.at(breaks_at, vc.cut("swing left hinge"), name="the plate comes off the left rod")]
    for side in SIDES:
        events.append(vc.when(_leaving(side), _slip(side), direction=1, name=f"the {side} thigh slips off"))
    settings = {"method": "rk45", "step": 1e-2, "tolerance": 1e-8}
    return Scenario("swing", m, s, 5.0, tuple(events), muscles(m, s, stiffness, damping), settings=settings)


def _seated(m: Mechanism, angle: float) -> State:
    """Connect the figure to the swing, and find the arms that reach the rods."""
    s = m.state()
    for side in SIDES:
        s[f"swing {side} rod"].orientation = (0.0, angle, 0.0)
    figures.place(m, s, "sitting", "seat", vc.pose(m, s, "swing seat"))
    s["torso"].pose = s["torso"].pose @ Pose(rpy=(0.0, -radians(_LEAN), 0.0))
    for side in SIDES:
        s[f"{side} hip"].orientation = (0.0, radians(_LEAN - 90.0), 0.0)
        slider = Prismatic("x", damping=_FRICTION, breaks=Breaks(one_sided="z"))
        m.connect(f"{side} seat", "swing plate", slider, state=s, name=f"{side} slide")
        m.connect(f"{side} grip", f"swing {side} hold", Spherical(), name=f"{side} hold")
        s[f"{side} shoulder"].orientation, s[f"{side} elbow"].q = (0.0, -1.2, 0.0), 1.9
    arms = [f"{side} {joint}" for side in SIDES for joint in ("shoulder", "elbow")]
    return vc.assemble(m, s, hold=[name for name in s.joints if name not in arms]).state


def _leaving(side: str) -> Callable[[Mechanism, State], float]:
    """Condition that passes zero upward when a thigh is over the edge, or the plate too steep."""

    def condition(m: Mechanism, s: State) -> float:
        plate = vc.pose(m, s, "swing seat")
        along = (plate.inverse() @ vc.pose(m, s, f"{side} seat").p)[0]
        return float(max(abs(along) - _HALF_DEPTH, abs(plate.R[2, 1]) - sin(radians(_STEEPEST))))

    return condition


def _slip(side: str) -> Callable[[Mechanism, State], list[Cut]]:
    """Cut of a thigh from the plate, unless that has fallen away already."""
    slide = f"{side} slide"

    def actions(m: Mechanism, s: State) -> list[Cut]:
        closing = [link.joint.name for link in m.virtual_links if link.joint is not None]
        return [vc.cut(slide)] if slide in closing else []

    return actions
