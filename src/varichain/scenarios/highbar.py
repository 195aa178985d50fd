"""A gymnast on the high bar [NY, Fig. 20]: swing, let go with one hand, then the other; land, or catch it again."""

from __future__ import annotations

from collections.abc import Callable
from math import hypot, radians
from typing import TYPE_CHECKING, Any, Literal

import varichain as vc
from varichain import figures
from varichain.errors import InputError
from varichain.mechanism import Mechanism, Revolute, Spherical
from varichain.scenarios.muscles import muscles
from varichain.scenarios.parameters import NonNegative, Positive, checked
from varichain.scenarios.reaching import Reaching
from varichain.scenarios.scenario import Scenario
from varichain.spatial.pose import Pose

if TYPE_CHECKING:
    from varichain.instants import Connect
    from varichain.layout.state import State
    from varichain.simulation.controllers import PD
    from varichain.simulation.events import Action, Event


_HOP = (1.04, 1.06)  # [s] when right and left let go to catch the bar again: shortly before the first swing's end
_FLIGHT = 0.15  # [s] that a hand is off the bar
_AFTER = 0.8  # [s] from the release to the end: the flight and half a second on the ground
_READY = 0.05  # [s] after the release, when the muscles get ready for the ground
_FALLING = 3.0  # [s] that it takes to fall over and lie
_LANDING = 1000.0, 110.0  # [N m/rad] and [N m s/rad] of the muscles that catch the body
_NEAR = 0.014  # [m], the bar's radius: a hand whose middle is nearer to the bar's can close round it


@checked
def highbar(
    *,
    height: Positive = 1.70,
    mass: Positive = 65.0,
    angle: float = radians(75.0),
    release_right: NonNegative | None = None,
    release_left: NonNegative | None = None,
    regrasp: bool = False,
    landing: Literal["joints", "contact"] = "joints",
    stiffness: NonNegative = 150.0,
    damping: NonNegative = 8.0,
) -> Scenario:
    """A figure of 16 joint freedoms swings on the bar by both hands, lets go with the right, then the left, and lands.

    Each hand holds by a hinge along the bar. With both, N_J = 6 + 16 + 2 = 24 and N_F = 12; with the left alone, 23 and
    17; in flight, 22 and 22. Muscles hold the body as it hangs, like springs and dampers. Heels and toes that come down
    are connected to the ground, each by a ball joint, and muscles catch the body in a crouch: with the right toe, 25
    and 19.

    With `landing="contact"` the floor is a surface: the figure lands on whatever comes down, crouches, falls over and
    lies, by contact with friction. Nothing is connected then, and it runs three seconds longer.

    With `regrasp` the figure hops: near the front end of its first swing, where it has no weight, the right hand lets
    go, then the left; in flight both reach for the bar, and each closes round it as soon as it is there. N_J is 24, 23,
    22, 23, 24, N_F 12, 17, 22, 17, 12. A hand that does not come near the bar does not catch it.

    Args:
        height: Of the gymnast [m].
        mass: Of the gymnast [kg].
        angle: Of the body behind the vertical, at the start [rad].
        release_right: When the right hand lets go [s]; by default 2.72, or 1.04 to catch the bar again.
        release_left: When the left hand does [s]; by default 2.8, or 1.06.
        regrasp: Whether the hands catch the bar again.
        landing: What the ground does: "joints" holds heels and toes, "contact" pushes and rubs.
        stiffness: Of the muscles [N m/rad].
        damping: Of the muscles [N m s/rad].
    """
    if regrasp and landing == "contact":
        raise InputError("landing='contact' is for a figure that lands: leave out regrasp=True")
    m = figures.human16(height, mass, name="highbar")
    figures.bar(m)
    s = m.state()
    figures.place(m, s, "hanging", "grip", vc.pose(m, s, "bar") @ Pose(rpy=(0.0, angle, 0.0)))
    if regrasp:
        _bend_arms(m, s)
    for side in ("left", "right"):
        grip = _grip(m, s, side)
        m.connect(grip.a, grip.b, grip.joint, grip.at, state=s, name=grip.name)
    hanging = muscles(m, s, stiffness, damping)
    right, left = _HOP if regrasp else (2.72, 2.8)
    right = right if release_right is None else release_right
    left = left if release_left is None else release_left
    events: list[Event] = [
        vc.at(right, vc.cut("right hold"), name="right hand lets go"),
        vc.at(left, vc.cut("left hold"), name="left hand lets go"),
    ]
    if regrasp:
        arms = [f"{side} {joint}" for side in ("left", "right") for joint in ("shoulder", "elbow")]
        releases = {"right": right, "left": left}
        flying = [muscles(m, s, stiffness, damping, without=arms), Reaching(m, s, releases, _FLIGHT)]
        events.append(vc.at(min(right, left), vc.use(controller=flying)))
        for side, release in releases.items():
            events.append(
                vc.when(_nearing(side, release), _catch(side, hanging), direction=-1, name=f"{side} hand catches")
            )
    elif landing == "contact":
        m.add_floor(touched_by=[link for link in m.links if link.name != "bar"])
        events.append(vc.at(max(right, left) + _READY, vc.use(controller=_catching(m))))
    else:
        caught = _catching(m)
        ends = [f"{side} {end}" for side in ("left", "right") for end in ("heel", "toe")]
        events += [_landing(end, max(right, left), caught) for end in ends]
    settings: dict[str, Any] = {"method": "rk45", "step": 1e-2, "tolerance": 1e-8, "control_step": 2e-3}
    until = 4.0 if regrasp else max(right, left) + _AFTER
    if landing == "contact":
        settings = {"contacts": "stepping", "step": 1e-3, "sample": 1e-2, "control_step": 2e-3}
        until += _FALLING
    return Scenario("highbar", m, s, until, tuple(events), hanging, settings=settings)


def _catching(m: Mechanism) -> PD:
    """Muscles that catch the body in a crouch."""
    crouching = m.state()
    figures.take_posture(crouching, "landing")
    return muscles(m, crouching, *_LANDING)


def _landing(end: str, release: float, caught: PD) -> Event:
    """The end of a foot comes down on the ground and stays there; muscles catch the body."""

    def height(m: Mechanism, s: State) -> float:
        return max(float(vc.pose(m, s, end).p[2]), release - s.time)

    def actions(m: Mechanism, s: State) -> list[Action]:
        return [vc.connect(end, "ground", Spherical(), name=f"{end} on the ground"), vc.use(controller=caught)]

    return vc.when(height, actions, direction=-1, name=f"{end} lands")


def _bend_arms(m: Mechanism, s: State) -> None:
    """Bend the arms of a hanging figure: straight ones could not follow the body when it falls away from the bar."""
    before = vc.pose(m, s, "left grip").p
    for side, sign in (("left", 1.0), ("right", -1.0)):
        s[f"{side} shoulder"].orientation = Pose(rpy=(sign * radians(5.0), radians(-143.0), sign * radians(15.0)))
        s[f"{side} elbow"].q = radians(60.0)
    moved = (before - vc.pose(m, s, "left grip").p) * (1.0, 0.0, 1.0)
    s["torso"].pose = Pose(p=s["torso"].pose.p + moved, R=s["torso"].pose.R)


def _grip(m: Mechanism, s: State, side: str) -> Connect:
    """A hinge along the bar through the grip, wherever the hand is and however it lies there."""
    along = Pose(R=vc.pose(m, s, f"{side} hand").R.T)
    return vc.connect(f"{side} grip", "bar", Revolute("y"), along, name=f"{side} hold")


def _catch(side: str, hanging: PD) -> Callable[[Mechanism, State], list[Action]]:
    """What a hand does that is at the bar: it closes; with the second, the muscles of the arms hold again."""

    def actions(m: Mechanism, s: State) -> list[Action]:
        return [_grip(m, s, side), *([vc.use(controller=hanging)] if m.virtual_links else [])]

    return actions


def _nearing(side: str, release: float) -> Callable[[Mechanism, State], float]:
    """Condition that passes zero downward when a hand, half its flight or more after its release, is at the bar."""

    def condition(m: Mechanism, s: State) -> float:
        x, _, z = vc.pose(m, s, f"{side} grip").p - vc.pose(m, s, "bar").p
        return max(hypot(x, z) - _NEAR, release + 0.5 * _FLIGHT - s.time)

    return condition
